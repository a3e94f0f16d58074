//! Spreads a page of matching lines over files, so that one file does not take all of it.
//!
//! The results of a search with a cap have an order of two passes: first the first ten matching
//! lines of each file, in path order, then the lines that are left, in path order. A page is a range
//! of this order, so a page that holds everything is in path order, and whatever is shown of a file
//! begins with its first lines. The order depends only on the tree and the query, and not on the size
//! of a page, so the position of the last line shown is all that a cursor needs:
//!
//! | cursor | what was shown | what follows |
//! |---|---|---|
//! | `12:a.rs` | everything before it | both passes, over what lies behind it |
//! | `12+:a.rs` | the first pass before it | the rest of the first pass, then all of the second |
//! | `12r:a.rs` | the first pass, and the second before it | the rest of the second pass |
//! | `12s:a.rs` | everything before it in path order | the rest in path order |
//!
//! The last one is of a search without a cap, or with a very high one, that ran out of time. Such a
//! search streams its results in path order and pays for nothing here.
//!
//! The first page needs one walk. It keeps the lines of the first pass, and as many of the second as
//! could fit, at most the cap of each. When the first pass does not fill the page, lines of the
//! second do, in path order; else the walk goes on and counts, up to four times the cap. A page that
//! begins at `+` and has room behind the first pass needs a second walk from the beginning.

use std::ops::ControlFlow;

use crate::output::Truncation;
use crate::search::definition_hint::{DefinitionHint, DefinitionLine};
use crate::search::lines::FileMatches;
use crate::search::options::{FIRST_LINES, OutputMode, SearchOptions};
use crate::walk::Pass;
use ripkit_fs::escape;

/// Bytes of the line between groups of lines.
const SEPARATOR: usize = "--\n".len();

/// Bytes of the notice on lines that are not shown, besides the path.
const NOTICE: usize = 40;

/// The files of a page, until it is known how many lines of each are shown.
#[derive(Debug)]
pub(super) struct Spread {
    files: Vec<SpreadFile>,
    max_results: u64,
    after_context: u64,
    bytes_left: usize,
    /// How much of the second pass may still be kept; none if that is left to another walk.
    extra: Option<Extra>,
    /// Lines of the first pass.
    first: u64,
    /// Why the first pass ended within this page, if it did.
    cut: Option<Truncation>,
    counts: Counts,
    /// Up to how many lines of a file are counted.
    counted: u64,
    /// Definitions behind the end of the page.
    definitions: DefinitionHint,
}

#[derive(Debug)]
struct Extra {
    lines: u64,
    bytes: usize,
}

/// How far results are counted, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    /// The maximum of `lines`; none if they are not counted behind the end of the page.
    pub(super) max: Option<u64>,
    pub(super) lines: u64,
    pub(super) files: u64,
}

#[derive(Debug)]
struct SpreadFile {
    file: FileMatches,
    /// How many lines are of the first pass.
    first: u64,
    /// How many lines are shown.
    shown: usize,
    /// The bytes that these may take.
    room: usize,
}

/// A page that is complete.
#[derive(Debug, Default)]
pub(super) struct SpreadPage {
    pub(super) files: Vec<FileMatches>,
    pub(super) lines: u64,
    pub(super) cut: Option<Truncation>,
    /// Files of the page have lines that are not shown.
    pub(super) has_rest: bool,
    /// The file and line that the second pass has reached, if it has begun.
    pub(super) in_rest: Option<(Vec<u8>, Option<u64>)>,
    /// Lines that are only counted and define what matched in them.
    pub(super) definitions: Vec<DefinitionLine>,
}

impl Counts {
    pub(super) fn new(options: &SearchOptions) -> Counts {
        Counts { max: options.max_counted(), lines: 0, files: 0 }
    }

    /// Goes on until the maximum is passed.
    pub(super) fn flow(&self) -> ControlFlow<()> {
        match self.max {
            Some(max) if self.lines <= max => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    }
}

impl Spread {
    pub(super) fn new(options: &SearchOptions, bytes_left: usize) -> Spread {
        let extra = Extra { lines: options.max_results, bytes: bytes_left };
        Spread {
            files: Vec::new(),
            max_results: options.max_results,
            after_context: options.context.1 as u64,
            bytes_left,
            extra: (options.pass == Pass::First).then_some(extra),
            first: 0,
            cut: None,
            counts: Counts::new(options),
            counted: options.line_range().counted,
            definitions: DefinitionHint::default(),
        }
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Whether the first pass goes on in this page.
    pub(super) fn is_open(&self) -> bool {
        self.cut.is_none()
    }

    /// Whether the second pass needs another walk.
    pub(super) fn leaves_rest(&self) -> bool {
        self.extra.is_none() && self.cut.is_none()
    }

    /// Adds the next file; returns its last line of the first pass that is shown. Breaks when the
    /// page is full and enough is counted.
    pub(super) fn add(&mut self, mut file: FileMatches) -> (Option<u64>, ControlFlow<()>) {
        self.counts.lines += file.total;
        self.counts.files += 1;
        if self.cut.is_some() {
            self.definitions.add(&file, 0);
            return (None, self.counts.flow());
        }
        let (stored, after) = (file.lines.count(), self.after_context);
        let first_lines = FIRST_LINES.saturating_sub(file.seen);
        let first = usize::try_from(first_lines).unwrap_or(usize::MAX).min(stored);
        let path = escape::display_path(file.path.as_bytes()).len();
        let remainder = if file.total > first_lines { path + NOTICE } else { 0 };
        let said = file.notices(OutputMode::Content).len() + remainder + SEPARATOR;
        let room = self.bytes_left.saturating_sub(said);
        // The first match is shown even if it is too long, so that every answer makes progress.
        let least = usize::from(self.first == 0).min(first);
        if least > 0 {
            file.lines.trim_leading_context(room);
        }
        let max = (self.max_results - self.first).min(first as u64);
        let shown = file.lines.fitting(max, room).max(least);
        if shown < first {
            let is_full = shown as u64 == max;
            self.cut = Some(if is_full { Truncation::Results } else { Truncation::Bytes });
        }
        let bytes = file.lines.bytes_of_first(shown, after);
        let mut kept = shown;
        if let (Some(extra), None) = (&mut self.extra, self.cut) {
            let max = (shown as u64).saturating_add(extra.lines);
            kept = file.lines.fitting(max, bytes.saturating_add(extra.bytes)).max(shown);
            extra.lines -= (kept - shown) as u64;
            let kept_bytes = file.lines.bytes_of_first(kept, after);
            extra.bytes = extra.bytes.saturating_sub(kept_bytes.saturating_sub(bytes));
        }
        if kept < stored {
            self.definitions.add(&file, kept);
            file.lines.keep_first(kept, after);
        }
        self.first += shown as u64;
        let line = shown.checked_sub(1).and_then(|last| file.lines.line_of_match(last));
        if kept > 0 {
            self.bytes_left = room.saturating_sub(bytes);
            self.files.push(SpreadFile { file, first: first_lines, shown, room });
        }
        let flow = if self.cut.is_none() { ControlFlow::Continue(()) } else { self.counts.flow() };
        (line, flow)
    }

    /// The page. If everything was searched, lines of the second pass fill it.
    pub(super) fn finish(mut self, is_complete: bool) -> SpreadPage {
        let mut page = SpreadPage { cut: self.cut, ..SpreadPage::default() };
        if self.extra.is_some() && self.cut.is_none() && is_complete {
            self.fill(&mut page);
        }
        let tells_remaining = self.extra.is_some() || self.cut.is_some();
        for SpreadFile { mut file, first, shown, room } in self.files {
            let remaining = file.total.saturating_sub(shown as u64);
            // A file that the first pass has not left yet is not behind the position.
            page.has_rest |= file.total > first && shown as u64 >= first;
            if shown == 0 {
                continue;
            }
            if shown < file.lines.count() {
                self.definitions.add(&file, shown);
                file.lines.keep_first(shown, self.after_context);
            }
            file.lines.trim_trailing_context(room);
            if remaining > 0 && tells_remaining {
                (file.remaining, file.more) = (Some(remaining), false);
                file.remaining_is_least = file.total >= self.counted;
            }
            page.lines += shown as u64;
            page.files.push(file);
        }
        if page.cut.is_some() && self.counts.max.is_some() {
            page.definitions = self.definitions.into_lines();
        }
        page
    }

    /// Fills the page with lines of the second pass, file after file.
    fn fill(&mut self, page: &mut SpreadPage) {
        let mut left = self.max_results - self.first;
        for SpreadFile { file, shown, room, .. } in &mut self.files {
            let before = file.lines.bytes_of_first(*shown, self.after_context);
            let stored = file.lines.count();
            let max = (stored as u64).min((*shown as u64).saturating_add(left));
            let bytes = before.saturating_add(self.bytes_left);
            let filled = file.lines.fitting(max, bytes).max(*shown);
            if filled > *shown {
                left -= (filled - *shown) as u64;
                *room = bytes;
                let after = file.lines.bytes_of_first(filled, self.after_context);
                self.bytes_left = bytes.saturating_sub(after);
                *shown = filled;
                let line = file.lines.line_of_match(filled - 1);
                page.in_rest = Some((file.resolved_path().to_vec(), line));
            }
            if (filled as u64) < file.total {
                let is_full = left == 0 || filled == stored;
                page.cut = Some(if is_full { Truncation::Results } else { Truncation::Bytes });
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::lines::tests::file_of;

    /// A first page of at most `max_results` lines in `bytes` bytes, with 5 lines of the first pass.
    fn spread(max_results: u64, bytes: usize) -> Spread {
        Spread {
            files: Vec::new(),
            max_results,
            after_context: 0,
            bytes_left: bytes,
            extra: Some(Extra { lines: max_results, bytes }),
            first: 0,
            cut: None,
            counts: Counts { max: Some(4 * max_results), lines: 0, files: 0 },
            counted: 4 * max_results + 1,
            definitions: DefinitionHint::default(),
        }
    }

    /// Adds files with these numbers of lines, and returns what is shown of each and of the rest.
    fn page(mut spread: Spread, files: &[u64]) -> (Vec<(usize, Option<u64>)>, SpreadPage, usize) {
        let mut added = 0;
        for (number, lines) in files.iter().enumerate() {
            added += 1;
            if spread.add(file_of(&format!("{number}"), *lines)).1.is_break() {
                break;
            }
        }
        let page = spread.finish(true);
        let shown = page.files.iter().map(|file| (file.lines.count(), file.remaining)).collect();
        (shown, page, added)
    }

    #[test]
    fn what_fits_is_shown_as_it_is() {
        let (shown, page, _) = page(spread(50, 9999), &[30, 1, 19]);
        assert_eq!(shown, [(30, None), (1, None), (19, None)]);
        assert_eq!((page.lines, page.cut), (50, None));
    }

    #[test]
    fn room_that_the_first_lines_leave_is_filled_in_order() {
        let (shown, page, _) = page(spread(30, 9999), &[12, 9, 40, 1]);
        assert_eq!(shown, [(10, Some(2)), (9, None), (10, Some(30)), (1, None)]);
        assert_eq!((page.lines, page.cut), (30, Some(Truncation::Results)));
        let (shown, page, _) = self::page(spread(34, 9999), &[12, 9, 40, 1]);
        assert_eq!(shown, [(12, None), (9, None), (12, Some(28)), (1, None)]);
        assert_eq!(page.in_rest, Some((b"2".to_vec(), Some(12))));
    }

    #[test]
    fn a_full_page_is_counted_on_up_to_four_times_the_cap() {
        let (shown, page, added) = page(spread(12, 9999), &[11, 3, 20, 20, 20, 20]);
        assert_eq!(shown, [(10, Some(1)), (2, Some(1))]);
        assert_eq!((page.cut, page.has_rest, added), (Some(Truncation::Results), true, 4));
        let (_, page, added) = self::page(spread(12, 9999), &[1; 40]);
        assert_eq!((page.cut, page.has_rest, added), (Some(Truncation::Results), false, 40));
    }

    #[test]
    fn bytes_end_a_page_in_either_pass() {
        // A line takes 6 bytes or more.
        let (shown, page, _) = page(spread(50, 70), &[8, 8]);
        assert_eq!((page.cut, page.in_rest), (Some(Truncation::Bytes), None));
        assert!(matches!(shown[..], [(8, None), (1..=7, Some(_))]), "{shown:?}");
        let (shown, page, _) = self::page(spread(50, 200), &[40]);
        assert_eq!(page.cut, Some(Truncation::Bytes));
        assert!(matches!(shown[..], [(11..=35, Some(_))]), "{shown:?}");
        // The first line is shown even if there is no room.
        let (shown, ..) = self::page(spread(50, 0), &[3]);
        assert_eq!(shown, [(1, Some(2))]);
    }
}
