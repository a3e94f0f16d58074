//! One thread of a search: opens the files of a job, and prints what is found in them.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;

use grep_printer::{JSON, Standard, Stats, Summary};
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink};
use termcolor::{Ansi, ColorSpec, HyperlinkSpec, NoColor, WriteColor};

use super::Shared;
use super::files::{Job, NamedFile, NamedKind};
use super::may_match;
use super::order::JobWriter;
use crate::pool::lock;
use crate::search::{FIRST_READ, read_start};
use crate::walk::OpenDir;
use ripkit_fs::byte_path::as_path;
use ripkit_fs::os::{File, Kind, ReadBuffer};
use ripkit_fs::{Workspace, escape};

/// Up to this size, a named file is searched as a whole, as `rg` searches one that it maps; beyond, in
/// parts. Only in binary files does that make a difference.
const MAX_WHOLE: u64 = 64 << 20;

/// Where output goes, with colours or without.
pub(super) struct Paint<W> {
    to: Painted<W>,
    /// Whether control characters in what is found are escaped.
    escapes: bool,
}

enum Painted<W> {
    Plain(NoColor<W>),
    Coloured(Ansi<W>),
}

impl<W: Write> Paint<W> {
    pub(super) fn new(writer: W, is_coloured: bool, escapes: bool) -> Paint<W> {
        let to = if is_coloured {
            Painted::Coloured(Ansi::new(writer))
        } else {
            Painted::Plain(NoColor::new(writer))
        };
        Paint { to, escapes }
    }

    fn inner(&mut self) -> &mut W {
        match &mut self.to {
            Painted::Plain(writer) => writer.get_mut(),
            Painted::Coloured(writer) => writer.get_mut(),
        }
    }
}

/// Calls the method of the writer in it.
macro_rules! inside {
    ($paint:expr, $writer:ident => $call:expr) => {
        match $paint {
            Painted::Plain($writer) => $call,
            Painted::Coloured($writer) => $call,
        }
    };
}

impl<W: Write> Write for Paint<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.escapes {
            // Colours do not come this way.
            let text = String::from_utf8_lossy(bytes);
            if let Cow::Owned(escaped) = escape::printable(&text) {
                self.inner().write_all(escaped.as_bytes())?;
                return Ok(bytes.len());
            }
        }
        self.inner().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner().flush()
    }
}

impl<W: Write> WriteColor for Paint<W> {
    fn supports_color(&self) -> bool {
        inside!(&self.to, writer => writer.supports_color())
    }

    fn supports_hyperlinks(&self) -> bool {
        inside!(&self.to, writer => writer.supports_hyperlinks())
    }

    fn set_color(&mut self, spec: &ColorSpec) -> io::Result<()> {
        inside!(&mut self.to, writer => writer.set_color(spec))
    }

    fn set_hyperlink(&mut self, link: &HyperlinkSpec<'_>) -> io::Result<()> {
        inside!(&mut self.to, writer => writer.set_hyperlink(link))
    }

    fn reset(&mut self) -> io::Result<()> {
        inside!(&mut self.to, writer => writer.reset())
    }
}

/// The printer of the mode.
pub(super) enum Printer {
    Standard(Standard<Paint<JobWriter>>),
    Summary(Summary<Paint<JobWriter>>),
    Json(JSON<Paint<JobWriter>>),
}

impl Printer {
    fn job(&mut self) -> &mut JobWriter {
        match self {
            Printer::Standard(printer) => printer.get_mut().inner(),
            Printer::Summary(printer) => printer.get_mut().inner(),
            Printer::Json(printer) => printer.get_mut().inner(),
        }
    }
}

/// What is searched.
enum Source<'a> {
    Whole(&'a [u8]),
    Parts(&'a mut dyn Read),
}

impl Source<'_> {
    fn search<S: Sink<Error = io::Error>>(
        self,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        sink: S,
    ) -> io::Result<()> {
        match self {
            Source::Whole(text) => searcher.search_slice(matcher, text, sink),
            Source::Parts(reader) => searcher.search_reader(matcher, reader, sink),
        }
    }
}

/// The state of one thread.
pub(super) struct Worker {
    shared: Arc<Shared>,
    matcher: RegexMatcher,
    searcher: Searcher,
    printer: Printer,
    buffer: ReadBuffer,
    /// What was counted and is not in the totals yet.
    stats: Option<Stats>,
}

impl Worker {
    pub(super) fn new(shared: &Arc<Shared>) -> Worker {
        Worker {
            shared: shared.clone(),
            matcher: shared.matcher.clone(),
            searcher: shared.query.searcher(),
            printer: shared.printer(),
            buffer: ReadBuffer::new(FIRST_READ),
            stats: shared.stats.is_some().then(Stats::new),
        }
    }

    /// Searches the files of a job and hands over its output.
    pub(super) fn run(&mut self, number: u64, job: Job) {
        self.printer.job().begin_job(number);
        match job {
            Job::Below { shown, batch, workspace } => {
                let prefix = [&*shown, &batch.prefix()[batch.base_len()..]].concat();
                match batch.handle().open() {
                    Ok(directory) => {
                        let files = batch.entries().filter(|(_, kind)| *kind == Kind::File);
                        for (name, _) in files {
                            let open = || self::open(&directory, batch.prefix(), name, &workspace);
                            self.search(&[&*prefix, name].concat(), false, open);
                        }
                    }
                    Err(error) => self.shared.report(&prefix, &error),
                }
            }
            Job::Named(NamedFile { shown, kind }) => match kind {
                NamedKind::Regular(path, workspace) => {
                    let open = || {
                        let path = path.as_os_str().as_encoded_bytes();
                        let found = workspace.look_up(path).map_err(io::Error::other)?;
                        let found = found.ok_or(io::ErrorKind::NotFound)?;
                        found.open_file().map_err(io::Error::other)
                    };
                    self.search(&shown, true, open);
                }
                NamedKind::Special(path) => {
                    let opened = (self.shared.host.special)(&path);
                    let searched = opened.and_then(|mut reader| {
                        self.begin(true);
                        self.print(as_path(&shown).as_ref(), Source::Parts(&mut *reader))
                    });
                    self.end(&shown, searched);
                }
            },
        }
        self.printer.job().end_job();
        if let (Some(stats), Some(total)) = (&mut self.stats, &self.shared.stats) {
            *lock(total) += std::mem::replace(stats, Stats::new());
        }
    }

    fn begin(&mut self, is_named: bool) {
        self.shared.note_searched();
        self.printer.job().begin_file();
        let binary = self.shared.query.binary_detection(is_named);
        self.searcher.set_binary_detection(binary);
    }

    fn end(&self, shown: &[u8], searched: io::Result<bool>) {
        match searched {
            Ok(is_match) => self.shared.note_match(is_match),
            // The output is closed, which is noted elsewhere.
            Err(_) if self.shared.output.is_closed() => {}
            Err(error) => self.shared.report(shown, &error),
        }
    }

    /// Searches one file.
    fn search(&mut self, shown: &[u8], is_named: bool, open: impl FnOnce() -> io::Result<File>) {
        if self.shared.output.is_closed() {
            return;
        }
        let searched = open().and_then(|file| {
            let max = self.shared.query.max_filesize.filter(|_| !is_named);
            if let Some(max) = max
                && file.stat()?.size > max
            {
                return Ok(false);
            }
            self.begin(is_named);
            self.search_open(shown, &file)
        });
        self.end(shown, searched);
    }

    fn search_open(&mut self, shown: &[u8], file: &File) -> io::Result<bool> {
        let volume = file.volume();
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.grow(FIRST_READ);
        let searched = (|| {
            let length = read_start(file, &mut buffer[..FIRST_READ], volume)?;
            let rejects = self.shared.rejects();
            if length < FIRST_READ {
                let text = &buffer[..length];
                if rejects && !may_match::text(&self.matcher, text) {
                    self.count_rejected(length as u64);
                    return Ok(false);
                }
                return self.print_text(shown, text);
            }
            let size = file.stat()?.size;
            let may_reject = rejects && !self.shared.query.multiline;
            let is_binary = memchr::memchr(0, &buffer[..FIRST_READ]).is_some();
            if may_reject
                && !is_binary
                && !may_match::large(&self.matcher, file, size, self.shared.threads)?
            {
                self.count_rejected(size);
                return Ok(false);
            }
            if self.shared.query.is_mapped && size <= MAX_WHOLE {
                let size = usize::try_from(size).expect("it is at most MAX_WHOLE");
                buffer.grow(size);
                let length = file.read_full_at(&mut buffer[..size], 0)?;
                return self.print_text(shown, &buffer[..length]);
            }
            let mut rest = FileReader(file);
            let mut reader = buffer[..length].chain(&mut rest);
            self.print(as_path(shown).as_ref(), Source::Parts(&mut reader))
        })();
        buffer.release_if_large();
        self.buffer = buffer;
        searched
    }

    fn print_text(&mut self, shown: &[u8], mut text: &[u8]) -> io::Result<bool> {
        let source = if self.shared.query.is_mapped {
            Source::Whole(text)
        } else {
            Source::Parts(&mut text)
        };
        self.print(as_path(shown).as_ref(), source)
    }

    /// Counts a file that was searched without a match.
    fn count_rejected(&mut self, bytes: u64) {
        if let Some(stats) = &mut self.stats {
            stats.add_searches(1);
            stats.add_bytes_searched(bytes);
        }
    }

    fn print(&mut self, path: &Path, source: Source<'_>) -> io::Result<bool> {
        let (searcher, matcher) = (&mut self.searcher, &self.matcher);
        let (is_match, stats) = match &mut self.printer {
            Printer::Standard(printer) => {
                let mut sink = printer.sink_with_path(matcher, path);
                source.search(searcher, matcher, &mut sink)?;
                (sink.has_match(), sink.stats().cloned())
            }
            Printer::Summary(printer) => {
                let mut sink = printer.sink_with_path(matcher, path);
                source.search(searcher, matcher, &mut sink)?;
                (sink.has_match(), sink.stats().cloned())
            }
            Printer::Json(printer) => {
                let mut sink = printer.sink_with_path(matcher, path);
                source.search(searcher, matcher, &mut sink)?;
                (sink.has_match(), Some(sink.stats().clone()))
            }
        };
        if let (Some(total), Some(stats)) = (&mut self.stats, stats) {
            *total += stats;
        }
        Ok(is_match)
    }
}

/// Opens a file of a directory, or what a link that is followed leads to.
fn open(
    directory: &OpenDir,
    prefix: &[u8],
    name: &[u8],
    workspace: &Workspace,
) -> io::Result<File> {
    directory.open_file(name).or_else(|error| {
        let is_link = directory.stat(name).is_ok_and(|stat| stat.kind == Kind::Link);
        let found = is_link.then(|| workspace.look_up(&[prefix, name].concat()).ok().flatten());
        match found.flatten() {
            Some(found) => found.open_file().map_err(io::Error::other),
            None => Err(error),
        }
    })
}

/// Reads on where the file was read last.
struct FileReader<'a>(&'a File);

impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}
