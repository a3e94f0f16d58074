//! The last lines of a file, found from its end.

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::read::source::Source;
use crate::read::units::Units;

/// Where the last lines of a file begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Behind `skipped` line feeds that follow a place of the file.
    At { offset: u64, skipped: u64 },
    /// The file has fewer lines.
    Fewer,
    /// The call was over after so many lines.
    Stopped(Incomplete, u64),
}

/// Finds where the last `lines` lines of a file of `size` bytes begin, block by block from its end.
/// `buffer` is one block; its size is even, so that no unit of UTF-16 is cut.
pub(super) fn find(
    source: &Source<'_>,
    units: Units,
    size: u64,
    lines: u64,
    buffer: &mut [u8],
    call: &Call,
) -> Result<Found, Error> {
    let block = (buffer.len() as u64).max(1);
    // Line feeds behind the place, and how many of them come behind the start of the lines.
    let (mut feeds, mut wanted) = (0, lines);
    let mut offset = size;
    while offset > 0 {
        let start = (offset - 1) / block * block;
        let length = usize::try_from(offset - start).unwrap_or(buffer.len());
        let room = buffer.get_mut(..length).unwrap_or_default();
        let count = source.fill(room, start)?;
        let read = room.get(..count).unwrap_or_default();
        if offset == size && units.ends_with(read, b'\n') {
            // It ends the last line and begins none.
            wanted = wanted.saturating_add(1);
        }
        feeds += units.feeds(read);
        if feeds >= wanted {
            return Ok(Found::At { offset: start, skipped: feeds - wanted + 1 });
        }
        if let Some(why) = call.stop_reason() {
            return Ok(Found::Stopped(why, feeds));
        }
        offset = start;
    }
    Ok(Found::Fewer)
}

/// How many line feeds a text has, and how many of them follow a carriage return.
pub(super) fn feeds(text: &str) -> (u64, u64) {
    let bytes = text.as_bytes();
    (Units::Bytes.feeds(bytes), Units::Bytes.pairs(bytes, false))
}
