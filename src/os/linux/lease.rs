//! Read leases: while one is held, another process that opens the file for writing waits, and we are told.
//!
//! The kernel tells the holder by a signal that the lease is being broken. The default one, SIGIO,
//! ends a process that does not handle it. A library must not handle signals, so the lease is given
//! SIGURG first, which does nothing by default, and then no process at all to send it to.

use std::io;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

use super::File;
use super::attempt;
use crate::os::Leased;

/// Which signal a handle sends; the same number on every architecture.
const F_SETSIG: libc::c_int = 10;

/// A read lease; dropped, it is released, and processes that wait for it go on.
#[derive(Debug)]
pub(crate) struct Lease<'a>(&'a File);

impl File {
    /// Takes a read lease, which the kernel gives only while nobody has the file open for writing.
    /// This file must be open for reading only.
    pub(crate) fn lease(&self) -> Leased<'_> {
        let taken = control(self, F_SETSIG, libc::SIGURG)
            .and_then(|_| control(self, libc::F_SETLEASE, libc::c_int::from(libc::F_RDLCK)));
        match taken {
            Ok(_) => {
                let lease = Lease(self);
                // Without this SIGURG would be sent, which is harmless.
                let _ = control(self, libc::F_SETOWN, 0);
                Leased::Held(lease)
            }
            Err(error) if error.raw_os_error() == Some(Errno::AGAIN.raw_os_error()) => Leased::Busy,
            // Another user's file, or a file system without leases.
            Err(_) => Leased::Unknown,
        }
    }
}

impl Lease<'_> {
    /// Tells whether somebody waits to open the file for writing.
    pub(crate) fn is_awaited(&self) -> bool {
        let kind = control(self.0, libc::F_GETLEASE, 0);
        kind.is_ok_and(|kind| kind != libc::c_int::from(libc::F_RDLCK))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // What fails here is given back when the file is closed.
        let _ = control(self.0, libc::F_SETLEASE, libc::c_int::from(libc::F_UNLCK));
    }
}

#[expect(unsafe_code, reason = "rustix has no leases")]
fn control(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<libc::c_int> {
    let handle = file.handle().as_raw_fd();
    attempt(|| {
        // SAFETY: these commands take a number and leave memory alone; the handle is open.
        match unsafe { libc::fcntl(handle, command, argument) } {
            -1 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)),
            result => Ok(result),
        }
    })
}
