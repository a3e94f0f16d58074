//! What a file has besides its content: owner, permissions, extended attributes, times.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{Gid, Mode, Timespec, Timestamps, Uid};
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
use rustix::{
    fs::{XattrFlags, fgetxattr, flistxattr, fsetxattr},
    io::Errno,
};

/// Bits that give the rights of the owner or group to whoever runs the file.
const SET_ID: u32 = 0o6000;

/// The largest value of an extended attribute, and of the list of their names, on Linux.
const MAX_VALUE: usize = 64 * 1024;

/// Gives `to` the owner, extended attributes and permissions of `from`, and names what could not
/// be given. Permissions come last: a change of the owner clears bits of them, and no moment may
/// allow more than `from` does.
pub(super) fn take(to: BorrowedFd<'_>, from: BorrowedFd<'_>) -> io::Result<Vec<&'static str>> {
    let (had, has) = (rustix::fs::fstat(from)?, rustix::fs::fstat(to)?);
    let mut lost = Vec::new();
    // Its type differs from system to system.
    #[allow(clippy::useless_conversion, reason = "16 bits where the kernel is Darwin's")]
    let mut mode = u32::from(had.st_mode) & 0o7777;
    if (had.st_uid, had.st_gid) != (has.st_uid, has.st_gid) && !take_owner(to, &had) {
        lost.push("owner");
        // Or a file that ran with the rights of its owner would run with ours.
        mode &= !SET_ID;
    }
    match take_extended(to, from) {
        Extended::Taken => {}
        Extended::Lost => lost.push("extended attributes"),
        Extended::LostAccessList => {
            lost.push("access control list");
            // With a list, the bits of the group are what anybody on the list may do at most.
            mode &= !0o070;
        }
    }
    rustix::fs::fchmod(to, Mode::from_raw_mode(mode as _))?;
    Ok(lost)
}

/// Tells whether a file belongs to the user of this process, or to root, who may do anything.
pub(super) fn is_own(file: BorrowedFd<'_>) -> io::Result<bool> {
    let owner = Uid::from_raw(rustix::fs::fstat(file)?.st_uid);
    Ok(owner.is_root() || owner == rustix::process::geteuid())
}

/// The group alone may be ours to give when the owner is not.
fn take_owner(to: BorrowedFd<'_>, had: &rustix::fs::Stat) -> bool {
    let (user, group) = (Uid::from_raw(had.st_uid), Gid::from_raw(had.st_gid));
    let both = rustix::fs::fchown(to, Some(user), Some(group)).is_ok();
    if !both {
        // Whether this works or not, the owner is lost, and that is told.
        let _ = rustix::fs::fchown(to, None, Some(group));
    }
    both
}

/// How the extended attributes fared.
#[cfg_attr(not(any(target_os = "linux", target_vendor = "apple")), expect(dead_code))]
enum Extended {
    Taken,
    Lost,
    LostAccessList,
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn take_extended(to: BorrowedFd<'_>, from: BorrowedFd<'_>) -> Extended {
    let mut names = vec![0; MAX_VALUE];
    let length = match flistxattr(from, &mut names[..]) {
        Ok(length) => length,
        // A file system without them has none to lose.
        Err(Errno::NOTSUP) => return Extended::Taken,
        Err(_) => return Extended::Lost,
    };
    let Some(names) = names.get(..length) else { return Extended::Lost };
    let mut fared = Extended::Taken;
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if take_one(to, from, name).is_ok() {
            continue;
        }
        if name == b"system.posix_acl_access" {
            return Extended::LostAccessList;
        }
        fared = Extended::Lost;
    }
    fared
}

#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn take_one(to: BorrowedFd<'_>, from: BorrowedFd<'_>, name: &[u8]) -> rustix::io::Result<()> {
    let mut value = vec![0; MAX_VALUE];
    let length = fgetxattr(from, name, &mut value[..])?;
    let value = value.get(..length).ok_or(Errno::RANGE)?;
    fsetxattr(to, name, value, XattrFlags::empty())
}

#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn take_extended(_: BorrowedFd<'_>, _: BorrowedFd<'_>) -> Extended {
    Extended::Taken
}

/// Gives `to` the times of `from`.
#[expect(clippy::cast_possible_wrap, reason = "nanoseconds are below 2^30")]
pub(super) fn take_times(to: BorrowedFd<'_>, from: BorrowedFd<'_>) -> io::Result<()> {
    let stat = rustix::fs::fstat(from)?;
    let (accessed, modified) = (stat.st_atime_nsec as _, stat.st_mtime_nsec as _);
    let times = Timestamps {
        last_access: Timespec { tv_sec: stat.st_atime, tv_nsec: accessed },
        last_modification: Timespec { tv_sec: stat.st_mtime, tv_nsec: modified },
    };
    Ok(rustix::fs::futimens(to, &times)?)
}
