//! Searching a file that did not fit into the first read.

use std::io;
use std::sync::Arc;

use grep_searcher::BinaryDetection;

use crate::index::WHOLE;
use crate::search::blocks::{self, Blocks};
use crate::search::file_matches::FileMatches;
use crate::search::merged::Place;
use crate::search::part;
use crate::search::searcher::{FIRST_READ, Found, Searcher, Worker};
use crate::search::sink::LineSink;
use crate::text::{decode, escape};
use crate::walk::WalkControl;
use crate::workspace::{File, Kind};

/// The largest buffer that a thread keeps from file to file, in bytes.
const KEPT: usize = 4 << 20;

impl Searcher {
    /// Searches a file that did not fit into the first read.
    pub(super) fn search_large(
        &self,
        worker: &mut Worker,
        file: File,
        path: &dyn Fn() -> Vec<u8>,
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> io::Result<()> {
        let stat = file.stat()?;
        if stat.kind != Kind::File {
            found.leave_special();
            return Ok(());
        }
        let multiline = self.pattern.is_multiline();
        let most = if multiline { self.multiline_bytes as u64 } else { WHOLE };
        if stat.size <= most {
            let length = read_rest(&file, &mut worker.buffer, most)?;
            if length as u64 <= most {
                self.search_buffer(worker, length, path, scan, found)?;
                // A buffer for one huge file is not kept for the small ones that follow.
                if worker.buffer.len() > KEPT {
                    worker.buffer = vec![0; FIRST_READ];
                }
                return Ok(());
            }
        }
        if multiline {
            found.leave_too_large();
            return Ok(());
        }
        let binary = memchr::memchr(0, part(&worker.buffer, 0..decode::WINDOW)?);
        let utf16 = decode::is_utf16(&worker.buffer);
        if binary.is_some() && !utf16 && !self.is_named(&path()) {
            found.leave_binary();
            return Ok(());
        }
        if utf16 || self.keep.exact || self.keep.context != (0, 0) {
            return self.search_stream(worker, &file, &path(), scan, found);
        }
        self.search_blocks(worker, file, &path(), scan, found)
    }

    /// Searches a large file block by block, with the help of other threads.
    fn search_blocks(
        &self,
        worker: &mut Worker,
        file: File,
        path: &[u8],
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> io::Result<()> {
        let version = self.versions.then(|| blocks::version(&file)).transpose()?;
        let blocks = Arc::new(Blocks::new(
            file,
            worker.pattern.clone(),
            self.keep,
            Place {
                shown: escape::display_path(&self.spelling.shown(path)).into_owned(),
                after_line: self.after_line(path),
                named: self.is_named(path),
            },
        ));
        let mut outcome = blocks.search(scan)?;
        if outcome.binary {
            // How much comes before the NUL byte is for the one who reads in order to say.
            return self.search_stream(worker, blocks.file(), path, scan, found);
        }
        found.interrupted |= outcome.interrupted;
        if outcome.long_line {
            found.receipt.warnings.push(long_line(path, "was searched in pieces"));
        }
        if outcome.count > 0 && self.reports(outcome.interrupted) {
            outcome.file.version = version;
            self.report(path, outcome.file, outcome.count, found);
        }
        Ok(())
    }

    /// Searches a large file from its start to its end, for context lines and UTF-16.
    fn search_stream(
        &self,
        worker: &mut Worker,
        file: &File,
        path: &[u8],
        scan: &dyn WalkControl,
        found: &mut Found,
    ) -> io::Result<()> {
        let mut result = FileMatches::default();
        let matcher = worker.pattern.matcher();
        let keeps_going = || scan.keeps_going();
        let named = self.spelling.shown(path);
        let shown = escape::display_path(&named);
        let place = (&*shown, self.after_line(path));
        let mut sink = LineSink::new(self.keep, matcher, place, (&mut result, &keeps_going));
        let named = self.is_named(path);
        let binary = if named { BinaryDetection::none() } else { BinaryDetection::quit(0) };
        let mut lines = self
            .line_searcher()
            .binary_detection(binary)
            .bom_sniffing(true)
            .heap_limit(Some(blocks::MAX_LINE))
            .build();
        let mut reader = Reading { file, offset: 0, scan };
        let searched = lines.search_reader(matcher, &mut reader, &mut sink);
        let (count, binary) = (sink.count, sink.binary);
        found.receipt.bytes += reader.offset;
        let interrupted = sink.interrupted || !scan.keeps_going();
        found.receipt.skipped.binary += u64::from(binary);
        found.interrupted |= interrupted;
        if searched.is_err() && !interrupted {
            found.receipt.warnings.push(long_line(path, "ends its search with context lines"));
        }
        if count > 0 && self.reports(interrupted) {
            result.searched = reader.offset;
            result.stopped = binary;
            if self.versions {
                result.version = Some(blocks::version(file)?);
            }
            self.report(path, result, count, found);
        }
        if interrupted { Ok(()) } else { searched }
    }
}

fn long_line(path: &[u8], what: &str) -> String {
    format!(
        "{} has a line over {} bytes, which {what}",
        escape::display_path(path),
        blocks::MAX_LINE
    )
}

/// Reads on from the first read to the end of the file, but not far past `most` bytes.
fn read_rest(file: &File, buffer: &mut Vec<u8>, most: u64) -> io::Result<usize> {
    let mut length = FIRST_READ.min(buffer.len());
    loop {
        if length == buffer.len() {
            if length as u64 > most {
                return Ok(length);
            }
            buffer.resize(length * 2, 0);
        }
        let room = buffer.get_mut(length..);
        let room = room.ok_or_else(|| io::Error::other("internal error: no room in the buffer"))?;
        match file.read(room)? {
            0 => return Ok(length),
            more => length += more,
        }
    }
}

/// A file as a stream that ends early when the call is over.
struct Reading<'a> {
    file: &'a File,
    offset: u64,
    scan: &'a dyn WalkControl,
}

impl io::Read for Reading<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.scan.keeps_going() {
            // An end here would make half a line look like the last one.
            return Err(io::ErrorKind::Other.into());
        }
        let count = self.file.read_at(buffer, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}
