//! Hearing what changed in directories, where the system tells at once.

#[cfg(test)]
mod tests;
#[cfg(not(all(target_os = "linux", not(ripkit_portable), feature = "watch")))]
mod unsupported;

#[cfg(all(target_os = "linux", not(ripkit_portable), feature = "watch"))]
pub(crate) use super::linux::Watcher;
#[cfg(not(all(target_os = "linux", not(ripkit_portable), feature = "watch")))]
pub(crate) use unsupported::Watcher;

/// A directory that is watched, until its [`Event::Gone`]. No other has the same meanwhile, and
/// a directory that is watched twice has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WatchId(pub(super) i32);

/// What happened in a watched directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(
    not(all(target_os = "linux", not(ripkit_portable), feature = "watch")),
    allow(dead_code, reason = "nothing is told where nobody can tell")
)]
pub(crate) enum Event<'a> {
    /// The content or the attributes of the entry of this name may have changed.
    Content(WatchId, &'a [u8]),
    /// This name was given, taken away, or given to something else.
    Listing(WatchId, &'a [u8]),
    /// The directory itself was moved, removed or unmounted, or its attributes changed. The
    /// watch holds if no [`Event::Gone`] follows, but the directory may have another path.
    Doubtful(WatchId),
    /// The watch is no more: nothing is told of the directory from here on.
    Gone(WatchId),
    /// Events were lost, of whichever directories.
    Overflow,
}
