//! Searching one file: open, one read, reject by literals, then line by line.

use std::borrow::Cow;
use std::io;
use std::sync::Mutex;

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, SearcherBuilder};

use crate::index::{BINARY_PROBE, Enrolled, Inquiry};
use crate::pool::lock;
use crate::search::file_matches::FileMatches;
use crate::search::options::Report;
use crate::search::part;
use crate::search::searcher::{FIRST_READ, Found, Searcher, Worker};
use crate::search::sink::LineSink;
use crate::text::{decode, escape};
use crate::walk::{Batch, EntryRange, OpenDir, Visitor, WalkControl};
use crate::workspace::{File, Kind, Version, Volume};

impl Visitor for Searcher {
    type State = Worker;
    type Output = Found;

    fn weight(found: &Found) -> usize {
        found.files.iter().map(|file| file.lines.text().len() + 256).sum()
    }

    fn state(&self) -> Worker {
        Worker {
            pattern: self.pattern.clone(),
            lines: self.line_searcher().build(),
            buffer: vec![0; FIRST_READ],
            decoded: String::new(),
            learner: self.inquiry.as_ref().map(Inquiry::learner),
        }
    }

    fn visit_recorded(
        &self,
        (files, _): (&EntryRange, usize),
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> bool {
        self.pass_files(files, scan, found)
    }

    fn visit_unopened(&self, batch: &mut Batch, scan: &dyn WalkControl, found: &mut Found) -> bool {
        self.settle_batch(batch, scan, found)
    }

    fn visit(
        &self,
        worker: &mut Worker,
        batch: &Batch,
        scan: &dyn WalkControl,
        found: &Mutex<Found>,
    ) {
        let directory = match batch.handle.open() {
            Ok(directory) => directory,
            Err(error) => {
                let shown = escape::exact_path(&batch.prefix).into_owned();
                return lock(found).receipt.unreadable(shown, error.to_string());
            }
        };
        lock(found).interrupted = true;
        let enrolled = self.inquiry.as_ref().and_then(|inquiry| inquiry.enrolled(batch));
        let files = batch.entries().zip(batch.positions()).enumerate();
        for (index, ((name, _), position)) in
            files.filter(|(_, ((_, kind), _))| *kind == Kind::File)
        {
            if !scan.keeps_going() {
                return;
            }
            let enrolled = enrolled.as_ref().map(|enrolled| (enrolled, position));
            let file =
                self.excluded(&directory, name, enrolled, batch.is_done(index)).unwrap_or_else(
                    || self.search_entry(worker, &directory, (batch, name), enrolled, scan),
                );
            scan.count(1, file.files.len() as u64);
            let interrupted = file.interrupted;
            lock(found).add(file, (&batch.prefix, name));
            if interrupted {
                return;
            }
        }
        lock(found).interrupted = false;
    }
}

impl Searcher {
    pub(super) fn line_searcher(&self) -> SearcherBuilder {
        let mut builder = SearcherBuilder::new();
        builder
            .line_number(self.keep.report == Report::Content)
            .before_context(self.keep.context.0)
            .after_context(self.keep.context.1)
            .multi_line(self.pattern.is_multiline())
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false);
        builder
    }

    fn search_entry(
        &self,
        worker: &mut Worker,
        directory: &OpenDir,
        (batch, name): (&Batch, &[u8]),
        enrolled: Option<(&Enrolled<'_>, usize)>,
        scan: &dyn WalkControl,
    ) -> Found {
        let mut found = Found::default();
        let path = || batch.path(name);
        let searched = directory.open_file(name).and_then(|file| {
            if self.policy.asks_for_links() && self.policy.denies_links_of(&file.stat()?) {
                found.leave_denied();
                return Ok(());
            }
            let lesson = self.begin_lesson(enrolled, &file);
            // However large the buffer is: what was read before does not decide how a file is searched.
            if worker.buffer.len() < FIRST_READ {
                worker.buffer.resize(FIRST_READ, 0);
            }
            let start = worker.buffer.first_chunk_mut::<FIRST_READ>();
            let start = start.ok_or_else(|| io::Error::other("internal error: no buffer"))?;
            let length = read_start(&file, start, directory.volume)?;
            if length < FIRST_READ {
                self.end_lesson(lesson, enrolled, worker, length);
                return self.search_buffer(worker, length, &path, scan, &mut found);
            }
            self.search_large(worker, file, &path, scan, &mut found)
        });
        match searched {
            Ok(()) => {
                found.receipt.files += u64::from(!found.interrupted && !found.left_out);
            }
            Err(error) => {
                let shown = escape::exact_path(&self.spelling.shown(&path())).into_owned();
                found.receipt.unreadable(shown, error.to_string());
            }
        }
        found
    }

    /// Searches a file that is wholly in the buffer.
    pub(super) fn search_buffer(
        &self,
        worker: &mut Worker,
        length: usize,
        path: &dyn Fn() -> Vec<u8>,
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> io::Result<()> {
        let bytes = part(&worker.buffer, 0..length)?;
        let text = decode::text(bytes, &mut worker.decoded);
        if memchr::memchr(0, text.get(..BINARY_PROBE).unwrap_or(text)).is_some()
            && !self.is_named(&path())
        {
            found.leave_binary();
            return Ok(());
        }
        found.receipt.bytes += text.len() as u64;
        let Some(matcher) = worker.pattern.for_text(text) else { return Ok(()) };
        // Everything that can match passes here; most files do not, and cost nothing more.
        if !worker.pattern.may_match(matcher, text) {
            return Ok(());
        }
        let path = path();
        let nul = memchr::memchr(0, text);
        let searched = if self.is_named(&path) { text.len() } else { self.reach(text, nul) };
        if searched == 0 && nul.is_some() {
            found.leave_binary();
            return Ok(());
        }
        let mut file = FileMatches { searched: searched as u64, ..FileMatches::default() };
        found.receipt.skipped.binary += u64::from(nul.is_some() && !self.is_named(&path));
        file.binary_offset = nul.map(|offset| offset as u64);
        file.stopped = searched < text.len();
        let text = part(text, 0..searched)?;
        let with = (matcher, &mut worker.lines);
        let (count, interrupted) = self.search_lines(with, (&path, text), scan, &mut file)?;
        found.interrupted |= interrupted;
        if count > 0 && self.reports(interrupted) {
            file.version = self.versions.then(|| Version::of(bytes).to_string());
            self.report(&path, file, count, found);
        }
        Ok(())
    }

    /// Searches a text that may match, line by line; tells how many lines do, and whether the search
    /// was cut short.
    fn search_lines(
        &self,
        (matcher, lines): (&RegexMatcher, &mut grep_searcher::Searcher),
        (path, text): (&[u8], &[u8]),
        scan: &dyn WalkControl,
        file: &mut FileMatches,
    ) -> io::Result<(u64, bool)> {
        let keeps_going = || scan.keeps_going();
        let named = self.spelling.shown(path);
        let shown = escape::display_path(&named);
        let place = (&*shown, self.after_line(path));
        let mut sink = LineSink::new(self.keep, matcher, place, (file, &keeps_going));
        // With all lines in hand, a NUL byte past the first window counts only in a match.
        let quits = self.keep.multiline && !self.is_named(path);
        lines.set_binary_detection(if quits {
            BinaryDetection::quit(0)
        } else {
            BinaryDetection::none()
        });
        lines.search_slice(matcher, text, &mut sink)?;
        let (count, interrupted, binary) = (sink.count, sink.interrupted, sink.binary);
        file.stopped |= binary;
        Ok((count, interrupted))
    }

    /// How much of a text is searched, given where its first NUL byte is; as ripgrep has it.
    fn reach(&self, text: &[u8], nul: Option<usize>) -> usize {
        match nul {
            None => text.len(),
            // All lines are in hand at once, so only the first window decides.
            Some(nul) if self.keep.multiline && nul >= decode::WINDOW => text.len(),
            Some(_) if self.keep.multiline => 0,
            Some(nul) => decode::before_binary(text, nul),
        }
    }

    /// Whether what is known of a file is worth telling; half a count is wrong.
    pub(super) fn reports(&self, interrupted: bool) -> bool {
        !interrupted || self.keep.report != Report::Count
    }

    pub(super) fn report(&self, path: &[u8], mut file: FileMatches, count: u64, found: &mut Found) {
        let shown = self.spelling.shown(path);
        file.path = escape::exact_path(&shown).into_owned();
        if std::str::from_utf8(&shown).is_err() {
            file.bytes = shown.to_vec();
        }
        if let Cow::Owned(_) = shown {
            file.real = path.to_vec();
        }
        file.count = (self.keep.report == Report::Count).then_some(count);
        found.files.push(file);
    }

    pub(super) fn is_named(&self, path: &[u8]) -> bool {
        self.named.binary_search_by(|named| named.as_slice().cmp(path)).is_ok()
    }
}

/// Reads the start of a file; less than the buffer means that this is all of it.
fn read_start(file: &File, buffer: &mut [u8], volume: Volume) -> io::Result<usize> {
    let mut length = file.read(buffer)?;
    while volume != Volume::Disk && length > 0 {
        let Some(room) = buffer.get_mut(length..).filter(|room| !room.is_empty()) else { break };
        match file.read(room)? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}
