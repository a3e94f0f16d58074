//! Commits as calls in five forms, the mistakes that each form can have, and retries after a refusal.

pub(crate) mod draft;
pub(crate) mod mistakes;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod subjects;
pub(crate) mod task;
