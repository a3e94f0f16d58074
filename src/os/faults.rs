//! Failing system calls, for tests: the n-th call of a thread from now on fails.

use std::cell::Cell;
use std::io;

thread_local! {
    /// How many calls are still to succeed, and the error after them.
    static PLAN: Cell<Option<(u32, i32)>> = const { Cell::new(None) };
}

/// Lets `after` calls of this thread succeed and the next one fail with the number `errno`, while
/// `work` runs; tells whether that call was reached.
pub(crate) fn failing<T>(after: u32, errno: i32, work: impl FnOnce() -> T) -> (T, bool) {
    PLAN.set(Some((after, errno)));
    let result = work();
    let reached = PLAN.replace(None).is_none();
    (result, reached)
}

/// Fails if it is time to.
pub(super) fn strike() -> io::Result<()> {
    match PLAN.get() {
        None => Ok(()),
        Some((0, errno)) => {
            PLAN.set(None);
            Err(io::Error::from_raw_os_error(errno))
        }
        Some((calls, errno)) => {
            PLAN.set(Some((calls - 1, errno)));
            Ok(())
        }
    }
}
