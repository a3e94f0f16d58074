//! A copy of a file, made whole under a temporary name before it gets its own.

use std::io;

use crate::error::{Error, ErrorCode};
use crate::os::{Dir, File, Identity, Kind, Stat, Volume, split_at_count};
use crate::workspace::WorkspacePath;
use crate::workspace::parents::commit;
use crate::workspace::present::OpenFile;
use crate::workspace::refusal::changed;
use crate::workspace::remove::{remove_as_it_is, remove_if};
use crate::workspace::replace::place_exclusive;
use crate::workspace::route::Route;
use crate::workspace::temporary::{Temporary, sweep};

/// How much is copied between two looks at the clock.
const PIECE: usize = 1 << 20;

/// How far a file may go on behind the size that the file system reports, in bytes: files of
/// `/proc` report 0, others grow meanwhile, and some have no end.
const MAX_BEYOND_SIZE: u64 = 1 << 30;

/// A copy that has its name; dropped, it is removed again.
pub(super) struct Duplicate<'a> {
    route: &'a Route<'a>,
    identity: Identity,
    notes: Vec<String>,
    kept: bool,
}

impl<'a> Duplicate<'a> {
    /// Copies content and permissions; tells also what the source was when that began.
    pub(super) fn content(route: &'a Route<'a>) -> Result<(Duplicate<'a>, Stat), Error> {
        let failed = |error| Error::io("copy", route.source.as_str(), error);
        let (file, original) = open(route.source)?;
        sweep(&route.parents.dir, route.call);
        let mode = original.mode & 0o777;
        let temporary = Temporary::create(&route.parents.dir, mode).map_err(failed)?;
        fill(temporary.file(), &file, &original, route)?;
        route.durability.sync_file(temporary.file()).map_err(failed)?;
        commit(route.source, route.call)?;
        let mut duplicate = Duplicate::name(temporary, route)?;
        if !file.stat().is_ok_and(|now| now.is_alike(&original)) {
            duplicate.notes.push(format!("{} was written while it was copied", route.source));
        }
        Ok((duplicate, original))
    }

    /// Moves a file by copying all that it is; its copy is on stable storage before it goes.
    ///
    /// # Errors
    /// `CONFLICT` if the source was changed meanwhile, and why it cannot be copied or removed.
    /// There is no copy then.
    pub(super) fn replace_file(
        route: &'a Route<'a>,
        source: &OpenFile,
    ) -> Result<Vec<String>, Error> {
        let duplicate = Duplicate::whole(route, source)?;
        // Its lock, which we hold, keeps the source from being swept while it is set aside.
        let is_right = |now: &Stat| source.is_as_read(now);
        remove_if(route.source, is_right, || Ok(()), |error| not_removed(route, error))?;
        Ok(duplicate.keep())
    }

    /// Moves a link by making another one.
    ///
    /// # Errors
    /// As [`Duplicate::replace_file`].
    pub(super) fn replace_link(route: &'a Route<'a>) -> Result<Vec<String>, Error> {
        let (duplicate, original) = Duplicate::link(route)?;
        let is_right = |now: &Stat| Ok(now.is_alike(&original));
        // A link has no lock, so that a name aside would look abandoned, or never be swept.
        remove_as_it_is(route.source, is_right, |error| not_removed(route, error))?;
        Ok(duplicate.keep())
    }

    fn whole(route: &'a Route<'a>, source: &OpenFile) -> Result<Duplicate<'a>, Error> {
        let failed = |error| Error::io("move", route.source.as_str(), error);
        sweep(&route.parents.dir, route.call);
        let temporary = Temporary::create(&route.parents.dir, 0o600).map_err(failed)?;
        fill(temporary.file(), &source.file, &source.stat, route)?;
        let lost = temporary.file().take_attributes(&source.file).map_err(failed)?;
        temporary.file().take_times(&source.file).map_err(failed)?;
        route.durability.sync_file(temporary.file()).map_err(failed)?;
        let mut duplicate = Duplicate::name(temporary, route)?;
        let lost = lost.iter().map(|what| format!("the {what} of the file could not be kept"));
        duplicate.notes.extend(lost);
        Ok(duplicate)
    }

    fn link(route: &'a Route<'a>) -> Result<(Duplicate<'a>, Stat), Error> {
        let failed = |error| Error::io("move", route.source.as_str(), error);
        let (parent, name) = route.source.entry();
        let original = parent.stat(name).map_err(failed)?;
        let text = parent.read_link(name).map_err(failed)?;
        let (dir, own_name) = route.place();
        dir.make_link(&text, own_name).map_err(|error| route.not_placed("move", error))?;
        let made = dir.stat(own_name).map_err(|error| {
            // What cannot be examined could not be told from another's later.
            let _ = dir.remove_file(own_name);
            failed(error)
        })?;
        Ok((Duplicate::made(route, made.identity), original))
    }

    fn name(mut temporary: Temporary, route: &'a Route<'a>) -> Result<Duplicate<'a>, Error> {
        let not_placed = |error| route.not_placed("copy", error);
        let made = temporary.file().stat().map_err(not_placed)?;
        let from: &Dir = &route.parents.dir;
        place_exclusive(from, temporary.name(), route.place()).map_err(not_placed)?;
        temporary.renamed();
        Ok(Duplicate::made(route, made.identity))
    }

    fn made(route: &'a Route<'a>, identity: Identity) -> Duplicate<'a> {
        Duplicate { route, identity, notes: Vec::new(), kept: false }
    }

    /// Lets the copy stay.
    pub(super) fn keep(mut self) -> Vec<String> {
        self.kept = true;
        std::mem::take(&mut self.notes)
    }
}

impl Drop for Duplicate<'_> {
    fn drop(&mut self) {
        let (dir, name) = self.route.place();
        let is_ours = dir.stat(name).is_ok_and(|now| now.identity == self.identity);
        if !self.kept && is_ours {
            // An error is on its way to the caller already.
            let _ = dir.remove_file(name);
        }
    }
}

fn not_removed(route: &Route<'_>, error: io::Error) -> Error {
    let source = route.source;
    let message = format!(
        "cannot move {source}: it was copied to another file system but cannot be removed: \
         {error}; the copy was removed"
    );
    Error::new(ErrorCode::of_io(&error), message).at(source.as_str()).because(error)
}

fn open(source: &WorkspacePath) -> Result<(File, Stat), Error> {
    let failed = |error| Error::io("read", source.as_str(), error);
    let (parent, name) = source.entry();
    let file = parent.open_file(name).map_err(failed)?;
    let stat = file.stat().map_err(failed)?;
    if stat.kind != Kind::File {
        return Err(changed(source, "it is not a file any more"));
    }
    Ok((file, stat))
}

/// Copies the content to its end, whatever size the file system reports; blocks are shared where
/// the file system can.
fn fill(to: &File, from: &File, original: &Stat, route: &Route<'_>) -> Result<(), Error> {
    if to.share_blocks(from) {
        return Ok(());
    }
    Filling { to, from, original, route, buffer: vec![0; PIECE] }.run()
}

/// Tells whether bytes are what a hole reads as.
fn is_zeros(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| ZEROS.starts_with(chunk))
}

/// The copying of the content of one file.
struct Filling<'a> {
    to: &'a File,
    from: &'a File,
    original: &'a Stat,
    route: &'a Route<'a>,
    buffer: Vec<u8>,
}

impl Filling<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let mut end = 0;
        // Other file systems may tell a wrong size, and call holes what they do not know.
        if self.from.volume() == Volume::Disk {
            end = self.copy_data()?;
        }
        while let Some(next) = self.copy_piece(end, None)? {
            if next.saturating_sub(self.original.size) > MAX_BEYOND_SIZE {
                return Err(self.endless());
            }
            end = next;
        }
        // What was not written is zeros at the end.
        self.to.set_size(end).map_err(|error| self.failed(error))
    }

    /// Copies what the file system calls data; tells where what is known of the file ends.
    fn copy_data(&mut self) -> Result<u64, Error> {
        let mut end = 0;
        while let Some((start, stop)) =
            self.from.next_data(end).map_err(|error| self.failed(error))?
        {
            end = start;
            if stop <= start {
                // Nonsense: from here on reading alone tells what there is.
                return Ok(end);
            }
            while end < stop {
                match self.copy_piece(end, Some(stop - end))? {
                    Some(next) => end = next,
                    // It was cut meanwhile.
                    None => return Ok(end),
                }
            }
        }
        // From there to the size is a hole, unless the file was cut meanwhile.
        let size = self.from.stat().map_err(|error| self.failed(error))?.size;
        Ok(end.max(size.min(self.original.size)))
    }

    /// Copies what one read gives, at most `most` bytes; tells where it ended, or `None` at the
    /// end of the file. Zeros are not written, so that holes stay holes.
    fn copy_piece(&mut self, at: u64, most: Option<u64>) -> Result<Option<u64>, Error> {
        if let Some(why) = self.route.call.stop_reason() {
            let source = self.route.source;
            return Err(Error::stopped(why, &format!("{source} was copied")).at(source.as_str()));
        }
        let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(PIECE);
        let most = most.min(self.buffer.len());
        let (room, _) = self.buffer.split_at_mut(most);
        let read = self.from.read_at(room, at).and_then(|count| {
            let (bytes, _) = split_at_count(room, count)?;
            if !is_zeros(bytes) {
                self.to.write_at(bytes, at)?;
            }
            Ok(count)
        });
        match read {
            Ok(0) => Ok(None),
            Ok(count) => Ok(Some(at + count as u64)),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("copy", self.route.source.as_str(), error)
    }

    fn endless(&self) -> Error {
        let (source, size) = (self.route.source, self.original.size);
        let message = format!(
            "{source} was not copied: its size is {size} bytes, and it goes on for more than \
             {MAX_BEYOND_SIZE} bytes after that"
        );
        Error::new(ErrorCode::TooLarge, message)
            .at(source.as_str())
            .with_hint("It may have no end; read a part of it with read_file.")
    }
}
