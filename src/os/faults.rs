//! Failing system calls and others' deeds between them, for tests: the n-th call of a thread from
//! now on fails, or something happens right before it.

use std::cell::RefCell;
use std::io;

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// What is to happen.
struct Plan {
    /// How many calls are still to succeed before.
    calls: u32,
    then: Then,
}

enum Then {
    Fail(i32),
    Run(Box<dyn FnOnce()>),
}

/// Lets `after` calls of this thread succeed and the next one fail with the number `errno`, while
/// `work` runs; tells whether that call was reached.
pub(crate) fn failing<T>(after: u32, errno: i32, work: impl FnOnce() -> T) -> (T, bool) {
    let (result, calls) = planned(after, Then::Fail(errno), work);
    (result, calls.is_none())
}

/// Runs `deed` right before the call of this thread that comes after `after` others, while `work`
/// runs; tells whether that call was reached.
pub(crate) fn disturbed<T>(
    after: u32,
    deed: impl FnOnce() + 'static,
    work: impl FnOnce() -> T,
) -> (T, bool) {
    let (result, calls) = planned(after, Then::Run(Box::new(deed)), work);
    (result, calls.is_none())
}

/// How many calls this thread makes while `work` runs.
pub(crate) fn counted<T>(work: impl FnOnce() -> T) -> (T, u32) {
    let (result, calls) = planned(u32::MAX, Then::Fail(0), work);
    (result, u32::MAX - calls.unwrap_or(0))
}

/// Runs `work` with a plan; tells how many calls were missing for it, if it did not happen.
fn planned<T>(calls: u32, then: Then, work: impl FnOnce() -> T) -> (T, Option<u32>) {
    PLAN.replace(Some(Plan { calls, then }));
    let result = work();
    (result, PLAN.take().map(|plan| plan.calls))
}

/// Fails, or lets happen what is to happen, if it is time to.
pub(super) fn strike() -> io::Result<()> {
    // Taken out, so that a deed makes its calls undisturbed.
    match PLAN.take() {
        None => Ok(()),
        Some(Plan { calls: 0, then: Then::Fail(errno) }) => {
            Err(io::Error::from_raw_os_error(errno))
        }
        Some(Plan { calls: 0, then: Then::Run(deed) }) => {
            deed();
            Ok(())
        }
        Some(Plan { calls, then }) => {
            PLAN.replace(Some(Plan { calls: calls - 1, then }));
            Ok(())
        }
    }
}
