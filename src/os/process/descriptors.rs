//! Leaving no handle of the host to a new program.

use std::os::fd::{BorrowedFd, RawFd};

use rustix::io::FdFlags;
use rustix::process::Resource;

/// The first handle that is not standard input, output or error.
const FIRST: RawFd = 3;

/// Where there is no call for all of them, handles beyond this number are not looked for: that
/// would take longer than a command may.
const MOST: RawFd = 65_536;

/// Marks every handle but the first three to be closed when the program starts. Called between
/// fork and exec: system calls only.
pub(super) fn close_on_exec() {
    if !in_one_call() {
        one_by_one();
    }
}

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "rustix has no close_range")]
fn in_one_call() -> bool {
    let (number, last) = (libc::SYS_close_range, libc::c_uint::MAX);
    // SAFETY: three numbers; it only sets flags, so that no handle becomes invalid in here.
    // It fails before 5.11, and where a filter does not know it.
    unsafe { libc::syscall(number, FIRST, last, libc::CLOSE_RANGE_CLOEXEC) == 0 }
}

#[cfg(not(target_os = "linux"))]
fn in_one_call() -> bool {
    false
}

#[expect(unsafe_code, reason = "any number may be a handle, and only the system knows")]
fn one_by_one() {
    let limit = rustix::process::getrlimit(Resource::Nofile).current;
    let end = limit.and_then(|limit| RawFd::try_from(limit).ok()).unwrap_or(MOST).min(MOST);
    for number in FIRST..end {
        // SAFETY: it is used for this one call, which fails for a number that is no handle; there
        // is no other thread in this process that could close it meanwhile.
        let handle = unsafe { BorrowedFd::borrow_raw(number) };
        // Most numbers are none.
        let _ = rustix::io::fcntl_setfd(handle, FdFlags::CLOEXEC);
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, AsRawFd};

    use super::*;

    /// Other tests of this process open and close handles, but start nothing meanwhile that
    /// needs them: close on exec is the default of all of them.
    #[test]
    fn a_handle_that_would_be_inherited_is_not() {
        for close in [close_on_exec as fn(), one_by_one] {
            let file = tempfile::tempfile().unwrap();
            rustix::io::fcntl_setfd(file.as_fd(), FdFlags::empty()).unwrap();
            assert!(file.as_raw_fd() >= FIRST);
            close();
            let flags = rustix::io::fcntl_getfd(file.as_fd()).unwrap();
            assert!(flags.contains(FdFlags::CLOEXEC));
        }
    }
}
