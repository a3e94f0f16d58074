//! One large file, searched block by block by several threads.
//!
//! A block is a range of bytes; it owns the lines that begin in it. So blocks can be searched in
//! any order and their line numbers follow from the line counts of those before.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use grep_matcher::Matcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};

pub(super) use crate::index::MAX_LINE;
use crate::pool::lock;
use crate::search::lines::Style;
use crate::search::matcher::Pattern;
use crate::search::merged::{Block, Merged, Place};
use crate::search::options::Report;
use crate::search::part;
use crate::search::sink::{Keep, LineSink};
use crate::walk::WalkControl;
use crate::workspace::{File, Version};

/// Bytes of a block: few enough that all passes over it find it in the processor's cache.
const BLOCK: usize = 256 << 10;

/// How much of a piece is searched again with the next, so that a match across the cut is seen.
const OVERLAP: usize = 64 << 10;

/// How much more is read at a time to find the end of a block's last line.
const TAIL: usize = 64 << 10;

/// How long the thread that waits for the others sleeps at most.
const NAP: Duration = Duration::from_millis(5);

/// The version token of a file, read from its start.
pub(super) fn version(file: &File) -> io::Result<String> {
    let mut offset = 0;
    let version = Version::of_stream(|buffer| {
        let count = file.read_at(buffer, offset)?;
        offset += count as u64;
        Ok(count)
    })?;
    Ok(version.to_string())
}

/// A large file, and what its blocks gave so far.
pub(super) struct Blocks {
    file: File,
    pattern: Pattern,
    keep: Keep,
    place: Place,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    next: u64,
    working: usize,
    ended: bool,
    interrupted: bool,
    error: Option<io::Error>,
    /// Blocks that came before their turn.
    waiting: BTreeMap<u64, Block>,
    merged: Merged,
}

impl Blocks {
    pub(super) fn new(file: File, pattern: Pattern, keep: Keep, place: Place) -> Blocks {
        let (state, changed) = Default::default();
        Blocks { file, pattern, keep, place, state, changed }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Searches the file together with threads that have nothing else to do.
    pub(super) fn search(self: &Arc<Blocks>, scan: &dyn WalkControl) -> io::Result<Merged> {
        let helpers = self.clone();
        scan.share_work(Arc::new(move |scan| helpers.work(scan)));
        self.work(scan);
        let mut state = lock(&self.state);
        while state.working > 0 {
            let (next, _) =
                self.changed.wait_timeout(state, NAP).unwrap_or_else(PoisonError::into_inner);
            state = next;
        }
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        let interrupted = state.interrupted;
        let mut merged = std::mem::take(&mut state.merged);
        merged.interrupted = (interrupted || merged.interrupted) && !merged.is_enough(self.keep);
        Ok(merged)
    }

    fn work(&self, scan: &dyn WalkControl) {
        let Some(mut number) = self.begin() else { return };
        let _shift = Shift(self);
        let mut reader = BlockReader::new(self);
        loop {
            let block = reader.search(number, scan);
            let mut state = lock(&self.state);
            match block {
                Ok(block) => self.settle(&mut state, number, block),
                Err(error) => (state.error, state.ended) = (Some(error), true),
            }
            if !state.ended && !scan.keeps_going() {
                (state.interrupted, state.ended) = (true, true);
            }
            if state.ended {
                return;
            }
            number = state.next;
            state.next += 1;
        }
    }

    fn begin(&self) -> Option<u64> {
        let mut state = lock(&self.state);
        if state.ended {
            return None;
        }
        state.working += 1;
        state.next += 1;
        Some(state.next - 1)
    }

    fn settle(&self, state: &mut State, number: u64, block: Block) {
        state.ended |= block.last || block.interrupted;
        state.interrupted |= block.interrupted;
        state.waiting.insert(number, block);
        // What comes after a block that was left early is not known to follow it.
        while !state.merged.interrupted
            && let Some(block) = state.waiting.remove(&state.merged.blocks)
        {
            state.merged.append(&block, self.keep, &self.place);
        }
        state.ended |= state.merged.is_enough(self.keep);
    }
}

/// A thread at work on the blocks; when it panics, the others must not wait for it.
struct Shift<'a>(&'a Blocks);

impl Drop for Shift<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.0.state);
        state.working -= 1;
        state.ended |= std::thread::panicking();
        self.0.changed.notify_all();
    }
}

/// The buffers with which one thread searches blocks.
struct BlockReader<'a> {
    blocks: &'a Blocks,
    pattern: Pattern,
    lines: Searcher,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    begin: u64,
}

impl<'a> BlockReader<'a> {
    fn new(blocks: &'a Blocks) -> BlockReader<'a> {
        let lines = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .build();
        let pattern = blocks.pattern.clone();
        BlockReader { blocks, pattern, lines, buffer: Vec::new(), begin: 0 }
    }

    /// Reads and searches the lines that begin in a block.
    fn search(&mut self, number: u64, scan: &dyn WalkControl) -> io::Result<Block> {
        let begin = number * BLOCK as u64;
        // One byte before the block tells whether a line begins at its first.
        let lead = usize::from(number > 0);
        let from = begin - lead as u64;
        let length = self.read(from, 0, BLOCK + lead)?;
        self.begin = from;
        let mut block = Block { last: length < BLOCK + lead, ..Block::default() };
        let bytes = part(&self.buffer, 0..length)?;
        if !self.blocks.place.named {
            block.nul = memchr::memchr(0, bytes).map(|at| from + at as u64);
        }
        let start = match (number, memchr::memchr(b'\n', bytes)) {
            (0, _) if bytes.starts_with(b"\xEF\xBB\xBF") => 3,
            (0, _) => 0,
            (_, Some(at)) => at + 1,
            // The whole block is the inside of a line that began before.
            (_, None) => return Ok(block),
        };
        if start >= length && lead == 1 {
            return Ok(block);
        }
        let end = self.complete(from, length)?;
        let whole = end - start <= BLOCK + MAX_LINE && end < length + MAX_LINE;
        if whole {
            self.search_lines(start, end, &mut block, scan)?;
            return Ok(block);
        }
        let bytes = part(&self.buffer, start..length)?;
        let long = start + memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        self.search_lines(start, long, &mut block, scan)?;
        self.search_long_line(from + long as u64, &mut block, scan)?;
        Ok(block)
    }

    /// Fills the buffer from `at` on with up to `count` bytes; returns where they end.
    fn read(&mut self, from: u64, at: usize, count: usize) -> io::Result<usize> {
        if self.buffer.len() < at + count {
            self.buffer.resize(at + count, 0);
        }
        let mut end = at;
        while let Some(room) = self.buffer.get_mut(end..at + count).filter(|room| !room.is_empty())
        {
            match self.blocks.file.read_at(room, from + end as u64)? {
                0 => break,
                more => end += more,
            }
        }
        Ok(end)
    }

    /// Reads on until the line that the block ends in is complete, or too long.
    fn complete(&mut self, from: u64, length: usize) -> io::Result<usize> {
        let mut end = length;
        if self.buffer.get(length.wrapping_sub(1)) == Some(&b'\n') {
            return Ok(end);
        }
        while end < length + MAX_LINE {
            let more = self.read(from, end, TAIL)?;
            let added = part(&self.buffer, end..more)?;
            if let Some(at) = memchr::memchr(b'\n', added) {
                return Ok(end + at + 1);
            }
            if more == end {
                break;
            }
            end = more;
        }
        Ok(end)
    }

    fn search_lines(
        &mut self,
        start: usize,
        end: usize,
        block: &mut Block,
        scan: &dyn WalkControl,
    ) -> io::Result<()> {
        let text = part(&self.buffer, start..end)?;
        if self.blocks.keep.report == Report::Content {
            block.lines += memchr::memchr_iter(b'\n', text).count() as u64;
        }
        let Some(matcher) = self.pattern.for_text(text) else { return Ok(()) };
        if !self.pattern.may_match(matcher, text) {
            return Ok(());
        }
        // Which lines were shown before is known only when the blocks are put together.
        let keep = Keep { per_file: u64::MAX, ..self.blocks.keep };
        let lines = if self.blocks.place.after_line > 0 { u64::MAX } else { keep.lines };
        let keeps_going = || scan.keeps_going();
        let keep = Keep { lines, ..keep };
        let mut sink = LineSink::new(keep, matcher, ("", 0), (&mut block.file, &keeps_going));
        self.lines.search_slice(matcher, text, &mut sink)?;
        block.count += sink.count;
        block.interrupted |= sink.interrupted;
        if block.count > 0 && block.nul.is_none() {
            let before = self.begin + start as u64;
            block.nul = memchr::memchr(0, text).map(|at| before + at as u64);
        }
        Ok(())
    }

    /// A line that is too long for the buffer is searched in overlapping pieces, and reported
    /// once, by its first match.
    fn search_long_line(
        &mut self,
        begin: u64,
        block: &mut Block,
        scan: &dyn WalkControl,
    ) -> io::Result<()> {
        block.long_line = true;
        block.lines += 1;
        let mut from = begin;
        let mut found = false;
        loop {
            if !scan.keeps_going() {
                block.interrupted = true;
                return Ok(());
            }
            let length = self.read(from, 0, MAX_LINE)?;
            let piece = part(&self.buffer, 0..length)?;
            let end = memchr::memchr(b'\n', piece);
            let last = end.is_some() || length < MAX_LINE;
            let piece = part(piece, 0..end.unwrap_or(length))?;
            if !found && let Some(place) = self.match_in_piece(piece, from == begin, last) {
                found = true;
                self.report_long_line(place, from - begin, block);
            }
            if last {
                return Ok(());
            }
            from += (MAX_LINE - OVERLAP) as u64;
        }
    }

    /// The first match in a piece of a line. What touches an edge that is not the line's own may
    /// be none; the overlap with the next piece shows, or an edge elsewhere if it is longer.
    fn match_in_piece(&self, piece: &[u8], first: bool, last: bool) -> Option<(usize, usize)> {
        let matcher = self.pattern.for_text(piece)?;
        // A piece may begin inside a letter, which has up to four bytes.
        let start = if first { 0 } else { piece.len().min(4) };
        let find = |piece| matcher.find_at(piece, start).ok().flatten();
        let found = find(piece)?;
        let (from, to) = (found.start(), found.end());
        let elsewhere = || find(piece.get(..to - 1)?).filter(|other| other.start() == from);
        let holds = last || to < piece.len() || (from + OVERLAP < to && elsewhere().is_some());
        holds.then_some((from, to))
    }

    fn report_long_line(&mut self, place: (usize, usize), before: u64, block: &mut Block) {
        block.count += 1;
        let keep = self.blocks.keep;
        if keep.report != Report::Content {
            return;
        }
        // The piece reaches far enough round its match for what is shown of a line.
        let style = Style { path: "", line_bytes: keep.line_bytes.min(MAX_LINE), grouped: false };
        let column = before + place.0 as u64 + 1;
        let lines = &mut block.file.lines;
        lines.push_piece(style, block.lines, (&self.buffer, place), column);
    }
}
