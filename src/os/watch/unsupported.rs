//! No watcher: the system has none that tells before the change returns, or the build has none.

use std::convert::Infallible;
use std::io;

use super::{Event, WatchId};
use crate::os::Dir;

/// What nobody can make here.
#[derive(Debug)]
pub(crate) struct Watcher(Infallible);

impl Watcher {
    /// Always `Unsupported`.
    pub(crate) fn new() -> io::Result<Watcher> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Never called.
    pub(crate) fn watch(&self, _dir: &Dir) -> io::Result<WatchId> {
        match self.0 {}
    }

    /// Never called.
    pub(crate) fn forget(&self, _id: WatchId) {
        match self.0 {}
    }

    /// Never called.
    pub(crate) fn drain(&self, _each: &mut dyn FnMut(Event<'_>)) -> io::Result<()> {
        match self.0 {}
    }
}
