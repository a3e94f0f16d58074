//! A file as it was found, to tell later whether it still is the same.

use std::io;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::context::Call;
use crate::error::Error;
use crate::os::{Dir, File, Kind, Leased, Stat, Volume, split_at_count};
use crate::workspace::WorkspacePath;
use crate::workspace::refusal::{changed, not_a_file, too_large};
use crate::workspace::version::Version;

/// How long another process may keep us from the lock of a file. Then we go on without: what it
/// does is noticed when the file is replaced.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);

/// How long another process may have a file open for writing before it is not waited for any more.
const WRITER_PATIENCE: Duration = Duration::from_millis(50);

/// How often a file that is replaced while it is opened is opened again.
const REOPENINGS: usize = 1000;

/// The file as it was found.
#[derive(Debug)]
pub(super) struct OpenFile {
    /// Open, so that its number is not given to another file.
    pub(super) file: File,
    pub(super) stat: Stat,
    /// What was read, if it was.
    pub(super) content: Option<Vec<u8>>,
    /// Of what was read, once it was asked for.
    version: Option<Version>,
    /// Whether it last changed so long ago that any further change shows in its times.
    pub(super) settled: bool,
}

impl OpenFile {
    /// Opens a file and takes its lock, which other processes see; `None` if there is nothing.
    pub(super) fn open(
        parent: &Dir,
        name: &[u8],
        path: &WorkspacePath,
        call: &Call,
    ) -> Result<Option<OpenFile>, Error> {
        // A path with missing parents has several names here, none of which exists.
        if name.contains(&b'/') {
            return Ok(None);
        }
        let failed = |error| Error::io("open", path.as_str(), error);
        for _ in 0..REOPENINGS {
            let seen = match parent.stat(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                seen => seen.map_err(failed)?,
            };
            check_kind(seen.kind, path)?;
            let file = match parent.open_file(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                file => file.map_err(failed)?,
            };
            wait_for_lock(&file, path, call)?;
            // Whoever had the lock may have put another file in its place.
            let stat = file.stat().map_err(failed)?;
            let is_current = parent.stat(name).is_ok_and(|now| now.identity == stat.identity);
            if is_current && stat.kind == Kind::File {
                let settled = is_settled(&stat, parent.volume());
                return Ok(Some(OpenFile { file, stat, content: None, version: None, settled }));
            }
        }
        Err(changed(path, "it is being replaced again and again"))
    }

    /// Keeps other processes from opening the file for writing, where the system can; one that has
    /// it open is waited for, for a moment.
    pub(super) fn lease(&self, call: &Call) -> Leased<'_> {
        let patience = Instant::now() + WRITER_PATIENCE;
        loop {
            match self.file.lease() {
                Leased::Busy if Instant::now() < patience && call.stop_reason().is_none() => {
                    // It wrote: there is nothing to wait for, the change is refused.
                    if !self.file.stat().is_ok_and(|now| self.is_unchanged(&now)) {
                        return Leased::Unknown;
                    }
                    thread::sleep(Duration::from_micros(500));
                }
                leased => return leased,
            }
        }
    }

    /// Reads the whole file and keeps what it holds.
    pub(super) fn read(&mut self, limit: usize, path: &WorkspacePath) -> Result<(), Error> {
        let failed = |error| Error::io("read", path.as_str(), error);
        if self.stat.size > limit as u64 {
            return Err(too_large(path, self.stat.size, limit));
        }
        let size = usize::try_from(self.stat.size).unwrap_or(limit);
        let content = read_whole(&self.file, size, limit).map_err(failed)?;
        if content.len() > limit {
            return Err(too_large(path, content.len() as u64, limit));
        }
        self.content = Some(content);
        Ok(())
    }

    /// The version of the content, which is read for it unless it was read before.
    pub(super) fn version(&mut self, call: &Call, path: &WorkspacePath) -> Result<Version, Error> {
        if let Some(content) = &self.content {
            return Ok(*self.version.get_or_insert_with(|| Version::of(content)));
        }
        let version = self.version_now(|| match call.stop_reason() {
            Some(_) => Err(io::ErrorKind::TimedOut.into()),
            None => Ok(()),
        });
        let version = version.map_err(|error| match call.stop_reason() {
            Some(why) => Error::stopped(why, &format!("{path} was read")).at(path.as_str()),
            None => Error::io("read", path.as_str(), error),
        })?;
        Ok(*self.version.insert(version))
    }

    /// Refuses a file that is not the one which was read before.
    pub(super) fn expect(
        &mut self,
        expected: Version,
        call: &Call,
        path: &WorkspacePath,
    ) -> Result<(), Error> {
        let version = self.version(call, path)?;
        if version == expected {
            return Ok(());
        }
        let why = format!("its version is {version} now, not {expected}");
        Err(changed(path, &why))
    }

    /// Tells whether a name still leads to this file, unchanged since it was found.
    pub(super) fn is_unchanged(&self, now: &Stat) -> bool {
        self.is_same(now) && now.changed == self.stat.changed
    }

    /// The same after a rename, which sets the time of the last change of anything.
    pub(super) fn is_same(&self, now: &Stat) -> bool {
        now.is_alike(&self.stat)
    }

    /// Tells whether what came out of a rename is this file, with the content that was read.
    pub(super) fn is_as_read(&self, now: &Stat) -> io::Result<bool> {
        Ok(self.is_same(now) && self.content_is_same()?)
    }

    /// Tells whether the content is still that which was read, where its times cannot tell.
    pub(super) fn content_is_same(&self) -> io::Result<bool> {
        match (&self.content, self.version) {
            _ if self.settled => Ok(true),
            (Some(content), _) => holds(&self.file, content),
            (None, Some(version)) => Ok(self.version_now(|| Ok(()))? == version),
            (None, None) => Ok(true),
        }
    }

    /// The version of what the file holds now, read as long as `check` is content.
    fn version_now(&self, check: impl Fn() -> io::Result<()>) -> io::Result<Version> {
        let mut offset = 0;
        Version::of_stream(|buffer| {
            check()?;
            let count = self.file.read_at(buffer, offset)?;
            offset += count as u64;
            Ok(count)
        })
    }
}

/// Tells whether a file holds exactly this.
fn holds(file: &File, content: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; (content.len() + 1).min(256 * 1024)];
    let mut offset = 0;
    loop {
        let count = file.read_at(&mut buffer, offset as u64)?;
        let (read, _) = split_at_count(&buffer, count)?;
        let (_, rest) = split_at_count(content, offset)?;
        match read {
            [] => return Ok(rest.is_empty()),
            read if rest.starts_with(read) => offset += count,
            _ => return Ok(false),
        }
    }
}

/// Reads a file to its end, or one byte past `limit`. `size` is a guess.
pub(super) fn read_whole(file: &File, size: usize, limit: usize) -> io::Result<Vec<u8>> {
    // One byte more tells the end without another buffer.
    let mut content = vec![0; size + 1];
    let mut length = 0;
    loop {
        if length == content.len() {
            if length > limit {
                break;
            }
            content.resize((length * 2).min(limit + 1).max(length + 1), 0);
        }
        let room = content.get_mut(length..).ok_or(io::ErrorKind::InvalidData)?;
        match file.read_at(room, length as u64)? {
            0 => break,
            count => length += count,
        }
    }
    content.truncate(length);
    Ok(content)
}

/// Clocks of file systems tick more slowly than they count: a file that was changed just now may
/// change again and show the same time.
fn is_settled(stat: &Stat, volume: Volume) -> bool {
    let tick = if volume == Volume::Disk { 20 } else { 2000 };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX));
    let last = stat.modified.max(stat.changed);
    last + tick * 1_000_000 < now
}

fn check_kind(kind: Kind, path: &WorkspacePath) -> Result<(), Error> {
    match kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(not_a_file(path, "is a directory")),
        Kind::Special => Err(not_a_file(path, "is a FIFO, socket or device")),
        Kind::Link => Err(changed(path, "it has become a link")),
    }
}

/// Waits for the lock of a file for a while.
fn wait_for_lock(file: &File, path: &WorkspacePath, call: &Call) -> Result<(), Error> {
    let patience = Instant::now() + LOCK_PATIENCE;
    let mut pause = Duration::from_micros(100);
    while matches!(file.try_lock(), Ok(false)) && Instant::now() < patience {
        if let Some(why) = call.stop_reason() {
            let waited = format!("another process that changes {path} had ended");
            return Err(Error::stopped(why, &waited).at(path.as_str()));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
    Ok(())
}
