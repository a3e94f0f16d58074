//! Directories of a walk: held open, or opened when they are needed.

use std::io;
use std::ops::Deref;
use std::sync::atomic::{self, AtomicUsize};
use std::sync::{Arc, OnceLock};

use crate::workspace::{Dir, Volume};

/// How many directories one scan keeps open before it opens them again by path.
const MAX_OPEN: usize = 256;

/// Counts the directories that a scan holds open.
pub(crate) type OpenCount = Arc<AtomicUsize>;

/// An open directory of a scan.
#[derive(Debug)]
pub(crate) struct OpenDir {
    dir: Dir,
    count: OpenCount,
    /// What a short read of its files means.
    pub(crate) volume: Volume,
}

impl OpenDir {
    pub(crate) fn new(dir: Dir, count: &OpenCount) -> Arc<OpenDir> {
        let volume = dir.volume();
        OpenDir::of_volume(dir, volume, count)
    }

    fn of_volume(dir: Dir, volume: Volume, count: &OpenCount) -> Arc<OpenDir> {
        count.fetch_add(1, atomic::Ordering::Relaxed);
        Arc::new(OpenDir { dir, count: count.clone(), volume })
    }
}

impl Deref for OpenDir {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.dir
    }
}

impl Drop for OpenDir {
    fn drop(&mut self) {
        self.count.fetch_sub(1, atomic::Ordering::Relaxed);
    }
}

/// A directory to come back to: held open, or by its path when too many are open.
#[derive(Clone, Debug)]
pub(crate) enum DirHandle {
    /// The directory itself.
    Open(Arc<OpenDir>),
    /// Its path below a directory that stays open.
    Path(Arc<Dir>, Arc<[u8]>, OpenCount),
    /// The same, opened when it is first needed, if ever.
    Later(Arc<LazyDir>),
}

/// A directory that is not opened before it has to be.
#[derive(Debug)]
pub(crate) struct LazyDir {
    opened: OnceLock<Arc<OpenDir>>,
    root: Arc<Dir>,
    prefix: Arc<[u8]>,
    volume: Volume,
    count: OpenCount,
}

impl DirHandle {
    /// Keeps `dir` open if there is room, else its path below `root`.
    pub(crate) fn keep(dir: &Arc<OpenDir>, root: &Arc<Dir>, prefix: &Arc<[u8]>) -> DirHandle {
        if dir.count.load(atomic::Ordering::Relaxed) <= MAX_OPEN {
            DirHandle::Open(dir.clone())
        } else {
            DirHandle::Path(root.clone(), prefix.clone(), dir.count.clone())
        }
    }

    /// A directory below `root` that may never be opened.
    pub(crate) fn later(
        (root, prefix): (&Arc<Dir>, &Arc<[u8]>),
        volume: Volume,
        count: &OpenCount,
    ) -> DirHandle {
        let (root, prefix, count) = (root.clone(), prefix.clone(), count.clone());
        DirHandle::Later(Arc::new(LazyDir { opened: OnceLock::new(), root, prefix, volume, count }))
    }

    pub(crate) fn open(&self) -> io::Result<Arc<OpenDir>> {
        match self {
            DirHandle::Open(dir) => Ok(dir.clone()),
            DirHandle::Path(root, prefix, count) => Ok(OpenDir::new(descend(root, prefix)?, count)),
            DirHandle::Later(later) => later.open(),
        }
    }
}

impl LazyDir {
    fn open(&self) -> io::Result<Arc<OpenDir>> {
        if let Some(dir) = self.opened.get() {
            return Ok(dir.clone());
        }
        let dir = descend(&self.root, &self.prefix)?;
        let dir = OpenDir::of_volume(dir, self.volume, &self.count);
        if self.count.load(atomic::Ordering::Relaxed) > MAX_OPEN {
            return Ok(dir);
        }
        Ok(self.opened.get_or_init(|| dir).clone())
    }
}

fn descend(root: &Dir, prefix: &[u8]) -> io::Result<Dir> {
    if prefix == b"/" {
        return Dir::root_of_host();
    }
    let path = prefix.strip_suffix(b"/").unwrap_or(prefix);
    match path.strip_prefix(b"/") {
        // Only a relaxed workspace walks outside its root.
        Some(outside) => Dir::root_of_host()?.descend(outside),
        None if path.is_empty() => root.traverse(b"."),
        None => root.descend(path),
    }
}
