//! Properties of an answer that the `ripkit` program needs besides its text. Not part of the
//! library's interface: it may change at any time.

use std::time::Duration;

use serde_json::Value;

use crate::toolkit::Answer;
use crate::tools::load_skill::LoadSkillOutput;
use crate::tools::read_file::ReadFileOutput;
#[cfg(all(unix, feature = "command"))]
use crate::tools::run_command::RunCommandOutput;
use crate::tools::search::SearchOutput;

/// Whether the body is exactly the content of a file or the output of a command, so that no line end
/// is added to it.
pub fn is_verbatim(answer: &Answer) -> bool {
    #[cfg(all(unix, feature = "command"))]
    if answer.with_output(RunCommandOutput::is_verbatim) == Some(true) {
        return true;
    }
    let read = answer.with_output(ReadFileOutput::is_verbatim);
    read.or_else(|| answer.with_output(LoadSkillOutput::is_verbatim)).unwrap_or(false)
}

/// The exit status, if it does not follow from the outcome.
pub fn exit_status(answer: &Answer) -> Option<u8> {
    #[cfg(all(unix, feature = "command"))]
    if let Some(status) = answer.with_output(RunCommandOutput::exit_status) {
        return status;
    }
    // As in grep, a path that cannot be searched is an error even if other paths match.
    let misses = |output: &SearchOutput| !output.receipt.missing.is_empty();
    answer.with_output(misses).unwrap_or(false).then_some(2)
}

/// The results of a search as the events of `rg --json`, for a call with exact lines that took
/// `elapsed`. Those that were streamed are not repeated.
pub fn events(answer: &Answer, elapsed: Duration) -> Option<Vec<Value>> {
    answer.with_output(|output: &SearchOutput| output.events(elapsed)).flatten()
}
