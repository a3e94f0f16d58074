//! The exit statuses, the same for every command.

use ripkit::{Answer, ErrorCode, Incomplete, Outcome};

/// The work is done, or something was found.
pub(super) const DONE: u8 = 0;
/// Everything was looked at and nothing was found.
pub(super) const NOTHING: u8 = 1;
/// An error, or a command line that makes no sense.
pub(super) const FAILED: u8 = 2;
/// Time ran out; what was found by then is printed.
pub(super) const OUT_OF_TIME: u8 = 124;
/// An interrupt stopped the work; what was found by then is printed.
pub(super) const INTERRUPTED: u8 = 130;

/// The status that tells a shell how the call ended.
pub(super) fn status(answer: &Answer) -> u8 {
    match (answer.outcome(), answer.error_code()) {
        (Some(Outcome::Partial(why)), _) => stopped(why),
        (_, Some(ErrorCode::Cancelled)) => INTERRUPTED,
        (_, Some(ErrorCode::Timeout)) => OUT_OF_TIME,
        (Some(Outcome::Empty), _) => answer.exit_status().unwrap_or(NOTHING),
        (Some(_), _) => answer.exit_status().unwrap_or(DONE),
        (None, _) => FAILED,
    }
}

/// The same for work that was stopped.
pub(super) fn stopped(why: Incomplete) -> u8 {
    match why {
        Incomplete::Cancelled => INTERRUPTED,
        _ => OUT_OF_TIME,
    }
}

#[cfg(test)]
mod tests {
    use ripkit::Error;

    use super::*;

    #[test]
    fn an_error_has_the_status_of_its_code() {
        let statuses = [
            (ErrorCode::FileNotFound, FAILED),
            (ErrorCode::Timeout, OUT_OF_TIME),
            (ErrorCode::Cancelled, INTERRUPTED),
        ];
        for (code, wanted) in statuses {
            assert_eq!(status(&Error::new(code, "x").into()), wanted);
        }
    }
}
