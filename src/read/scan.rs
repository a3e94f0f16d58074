//! The first pass over a file: how many lines, where they are, and what kind of text it is.

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::read::encoding::{Encoding, LineEnding, Utf8Check};
use crate::read::index::Index;
use crate::read::source::Source;
use crate::read::units::Units;
use crate::workspace::{Version, VersionHasher};

/// Bytes of one read; even, so that no unit of UTF-16 is cut.
pub(super) const BLOCK: usize = 256 * 1024;

/// What one pass over a file found.
pub(super) struct Scan {
    pub(super) encoding: Encoding,
    pub(super) index: Index,
    /// Line feeds that were counted.
    pub(super) feeds: u64,
    /// Bytes that were read.
    pub(super) bytes: u64,
    /// Why the pass was stopped before the end of the file.
    pub(super) stopped: Option<Incomplete>,
    /// Whether the pass came to the end of the file.
    pub(super) whole: bool,
    pairs: u64,
    after_return: bool,
    after_feed: bool,
    utf8: Utf8Check,
    /// Of a file that is small enough for a version.
    hasher: Option<VersionHasher>,
    most_hashed: u64,
}

/// How far a pass goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// The largest file that gets a version.
    pub(super) most_hashed: u64,
    /// Bytes after which the pass ends if it has counted `feeds` line feeds; `None` for the whole
    /// file.
    pub(super) bytes: Option<u64>,
    /// Line feeds before the page.
    pub(super) feeds: u64,
    /// Bytes of the file.
    pub(super) size: u64,
}

impl Extent {
    /// Whether this much is enough. At the end of a file, the pass goes on until it sees that end.
    fn is_reached(&self, bytes: u64, feeds: u64) -> bool {
        let most = self.bytes.is_some_and(|most| bytes >= most);
        most && feeds >= self.feeds && bytes < self.size
    }
}

impl Scan {
    /// Reads a file as far as `extent` says, or to where the call is over; `head` is its first
    /// block, and a shorter one than `buffer` is the only one.
    pub(super) fn run(
        source: &Source<'_>,
        buffer: &mut [u8],
        head: usize,
        extent: Extent,
        call: &Call,
    ) -> Result<Scan, Error> {
        let known = buffer.get(..head).ok_or_else(|| source.overrun())?;
        let mut scan = Scan::new(known, buffer.len());
        scan.most_hashed = extent.most_hashed;
        if extent.bytes.is_some() {
            scan.hasher = None;
        }
        let mut count = head;
        loop {
            scan.add(buffer.get(..count).ok_or_else(|| source.overrun())?);
            if count < buffer.len() {
                scan.whole = true;
                return Ok(scan);
            }
            if extent.is_reached(scan.bytes, scan.feeds) {
                return Ok(scan);
            }
            scan.stopped = call.stop_reason();
            if scan.stopped.is_some() {
                return Ok(scan);
            }
            count = source.fill(buffer, scan.bytes)?;
        }
    }

    fn new(head: &[u8], block: usize) -> Scan {
        Scan {
            encoding: Encoding::of(head),
            index: Index::new(block),
            feeds: 0,
            bytes: 0,
            stopped: None,
            whole: false,
            pairs: 0,
            after_return: false,
            after_feed: false,
            utf8: Utf8Check::default(),
            hasher: Some(VersionHasher::default()),
            most_hashed: 0,
        }
    }

    fn add(&mut self, block: &[u8]) {
        if block.is_empty() {
            return;
        }
        let units = self.encoding.units();
        self.index.add(self.bytes, self.feeds);
        // Once both kinds of line ends were seen, no more can be learnt.
        if LineEnding::of(self.feeds, self.pairs) != LineEnding::Mixed {
            self.pairs += units.pairs(block, self.after_return);
        }
        self.feeds += units.feeds(block);
        self.bytes += block.len() as u64;
        self.after_return = units.ends_with(block, b'\r');
        self.after_feed = units.ends_with(block, b'\n');
        if units == Units::Bytes {
            self.utf8.add(block);
        }
        if self.bytes > self.most_hashed {
            self.hasher = None;
        }
        if let Some(hasher) = &mut self.hasher {
            hasher.update(block);
        }
    }

    /// How many lines there are, or at least are where the pass ended earlier; the last one need
    /// not end in a line feed.
    pub(super) fn lines(&self) -> u64 {
        let open = self.bytes > self.encoding.mark() && !self.after_feed;
        self.feeds + u64::from(open)
    }

    pub(super) fn encoding(&self) -> Encoding {
        let is_text = self.utf8.holds(self.whole);
        if is_text { self.encoding } else { Encoding::Unknown }
    }

    /// How lines end, in what was read and in `others` that follow it: their line feeds, and how
    /// many of those follow a carriage return.
    pub(super) fn line_ending(&self, others: (u64, u64)) -> LineEnding {
        LineEnding::of(self.feeds + others.0, self.pairs + others.1)
    }

    /// The version of the content, if all of it was read and it is not too large.
    pub(super) fn version(&self) -> Option<Version> {
        let hasher = self.hasher.as_ref().filter(|_| self.whole)?;
        Some(hasher.finish())
    }
}
