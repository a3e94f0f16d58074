//! The blocks of one large file, put together in their order.

use crate::search::file_matches::FileMatches;
use crate::search::lines::Style;
use crate::search::options::Report;
use crate::search::sink::Keep;

/// What a search knows of a file beside its content.
pub(super) struct Place {
    /// The path as shown.
    pub(super) shown: String,
    /// Lines up to this one were in an earlier answer.
    pub(super) after_line: u64,
    /// The file was named by the caller, so a NUL byte does not end the search.
    pub(super) named: bool,
}

/// What one block gave; line numbers count from its first line.
#[derive(Default)]
pub(super) struct Block {
    pub(super) file: FileMatches,
    pub(super) count: u64,
    pub(super) lines: u64,
    pub(super) nul: Option<u64>,
    pub(super) long_line: bool,
    pub(super) last: bool,
    pub(super) interrupted: bool,
}

/// The blocks from the first on, put together.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) file: FileMatches,
    pub(super) count: u64,
    /// A NUL byte was found in a file that was not named.
    pub(super) binary: bool,
    pub(super) long_line: bool,
    pub(super) interrupted: bool,
    /// How many blocks it holds.
    pub(super) blocks: u64,
    lines: u64,
    /// Matching lines that an earlier answer has shown.
    seen: u64,
}

impl Merged {
    /// Adds the next block in order, as long as blocks can change the answer.
    pub(super) fn append(&mut self, block: &Block, keep: Keep, place: &Place) {
        // Looked at here, so that it depends on the order of blocks and not on that in which
        // threads come to them.
        self.binary |= block.nul.is_some() && !place.named && !self.is_enough(keep);
        let before = self.lines;
        self.blocks += 1;
        self.lines += block.lines;
        self.long_line |= block.long_line;
        self.interrupted |= block.interrupted;
        self.file.binary_offset = self.file.binary_offset.or(block.nul);
        if self.is_enough(keep) {
            return;
        }
        if keep.report != Report::Content {
            self.count += block.count;
            return;
        }
        let most = keep.lines.min(keep.per_file.saturating_sub(self.seen));
        let room = usize::try_from(most.saturating_sub(self.count)).unwrap_or(usize::MAX);
        let style = Style { path: &place.shown, line_bytes: keep.line_bytes, grouped: false };
        let lines = &block.file.lines;
        let appended = self.file.lines.append(lines, style, (before, place.after_line), room);
        self.seen += appended.seen as u64;
        self.count += appended.added as u64;
        self.file.more = appended.left || (appended.added == room && block.file.more);
    }

    /// No further block can change the answer.
    pub(super) fn is_enough(&self, keep: Keep) -> bool {
        if self.binary {
            return true;
        }
        match keep.report {
            Report::Files => self.count > 0,
            Report::Count => false,
            Report::Content => self.file.more,
        }
    }
}
