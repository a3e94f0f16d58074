//! A copy of a file, made whole under a temporary name before it gets its own.

use std::io;

use crate::error::{Error, ErrorCode};
use crate::os::{Dir, File, Identity, Kind, Stat};
use crate::workspace::WorkspacePath;
use crate::workspace::parents::commit;
use crate::workspace::present::Present;
use crate::workspace::refusal::changed;
use crate::workspace::remove::{remove_as_it_is, remove_if};
use crate::workspace::replace::place_exclusive;
use crate::workspace::route::Route;
use crate::workspace::temporary::{Temporary, sweep};

/// How much is copied between two looks at the clock.
const PIECE: usize = 1 << 20;

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
        source: &Present,
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

    fn whole(route: &'a Route<'a>, source: &Present) -> Result<Duplicate<'a>, Error> {
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

/// Copies the content; holes stay holes, and blocks are shared where the file system can.
fn fill(to: &File, from: &File, original: &Stat, route: &Route<'_>) -> Result<(), Error> {
    let failed = |error| Error::io("copy", route.source.as_str(), error);
    if to.share_blocks(from) {
        return Ok(());
    }
    let mut buffer = vec![0; PIECE];
    let mut end = 0;
    while let Some((start, stop)) = from.next_data(end).map_err(failed)? {
        end = copy_range(to, from, (start, stop), &mut buffer, route)?;
        if end < stop {
            // It was cut meanwhile.
            return to.set_size(end).map_err(failed);
        }
    }
    // A hole at the end has no data to write.
    to.set_size(end.max(original.size)).map_err(failed)
}

/// Copies a range and tells where it ended: earlier than asked where the file does.
fn copy_range(
    to: &File,
    from: &File,
    (start, stop): (u64, u64),
    buffer: &mut [u8],
    route: &Route<'_>,
) -> Result<u64, Error> {
    let source = route.source;
    let failed = |error| Error::io("copy", source.as_str(), error);
    let mut offset = start;
    while offset < stop {
        if let Some(why) = route.call.stop_reason() {
            return Err(Error::stopped(why, &format!("{source} was copied")).at(source.as_str()));
        }
        let room = usize::try_from(stop - offset).unwrap_or(PIECE).min(buffer.len());
        let room = buffer.get_mut(..room).unwrap_or_default();
        let count = from.read_at(room, offset).map_err(failed)?;
        if count == 0 {
            break;
        }
        to.write_at(room.get(..count).unwrap_or_default(), offset).map_err(failed)?;
        offset += count as u64;
    }
    Ok(offset)
}
