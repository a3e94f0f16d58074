//! What a call carries besides its arguments: cancellation, deadline, progress and limits.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::sync::AtomicUsize;

/// A flag that stops every call that was given a clone of it.
///
/// A tokio `CancellationToken` is bridged by one task:
/// `async move { token.cancelled().await; cancel.cancel() }`.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Makes a flag that is not yet raised.
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// Raises the flag for all clones; it cannot be lowered.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Tells whether the flag was raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// How far a long call has come, as passed to the callback of [`Call::on_progress`].
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Files looked at so far; never falls.
    pub files: u64,
    /// Results found so far; never falls.
    pub results: u64,
}

/// The callback that receives [`Progress`].
type OnProgress = Arc<dyn Fn(Progress) + Send + Sync>;

/// A writer that takes the text of an answer piece by piece, from whichever thread has it.
///
/// ```
/// use ripkit::{Call, TextStream, Toolkit, Workspace};
/// use serde_json::json;
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let text = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
/// let call = Call::default().with_text(TextStream::new(text.clone()));
/// tools.call("list_directory", json!({ "path": "src" }), &call);
/// assert!(text.lock().expect("nobody panics").contains("lib.rs"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TextStream(Arc<Mutex<dyn fmt::Write + Send>>);

impl TextStream {
    /// Shares a writer; keep a clone of the `Arc` to have it back after the call.
    pub fn new<W: fmt::Write + Send + 'static>(writer: Arc<Mutex<W>>) -> TextStream {
        TextStream(writer)
    }

    /// Writes a piece.
    ///
    /// # Errors
    /// That of the writer; the call then stops early.
    pub fn write(&self, text: fmt::Arguments<'_>) -> fmt::Result {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write_fmt(text)
    }
}

impl fmt::Debug for TextStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TextStream")
    }
}

/// A writer that can be closed: a call whose caller has left writes nothing more.
struct ClosableText {
    inner: TextStream,
    closed: bool,
}

impl fmt::Write for ClosableText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write_fmt(format_args!("{text}"))
    }

    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> fmt::Result {
        if self.closed { Err(fmt::Error) } else { self.inner.write(text) }
    }
}

/// Whether a call may still make its change: the thread that runs it and a caller that wants to
/// leave decide that once: the first of them wins.
#[derive(Debug, Default)]
struct CommitPoint(AtomicUsize);

/// Nothing is decided.
const OPEN: usize = 0;
/// The change is being made, or was made.
const COMMITTING: usize = 1;
/// The caller has left, and nothing must be changed any more.
const LEFT: usize = 2;

impl CommitPoint {
    /// Tells whether the state is `wanted` afterwards.
    fn decide(&self, wanted: usize) -> bool {
        let decided = self.0.compare_exchange(OPEN, wanted, Ordering::AcqRel, Ordering::Acquire);
        decided.is_ok() || decided == Err(wanted)
    }
}

/// What remains with the caller of a call that runs on another thread.
pub(crate) struct CallerSide {
    commit: Arc<CommitPoint>,
    text: Option<Arc<Mutex<ClosableText>>>,
    progress_closed: Option<Arc<Mutex<bool>>>,
}

impl CallerSide {
    /// Forbids the change; false if it has begun.
    pub(crate) fn leave(&self) -> bool {
        self.commit.decide(LEFT)
    }

    /// Tells whether a piece of text is being written to the host, who may be slow to take it.
    pub(crate) fn is_writing(&self) -> bool {
        let is_locked = |text: &Arc<Mutex<ClosableText>>| {
            matches!(text.try_lock(), Err(std::sync::TryLockError::WouldBlock))
        };
        self.text.as_ref().is_some_and(is_locked)
    }

    /// From now on, nothing is written or reported to the host. A piece that is being written, and
    /// a report that is being made, are waited for.
    pub(crate) fn close(&self) {
        if let Some(text) = &self.text {
            text.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        }
        if let Some(closed) = &self.progress_closed {
            *closed.lock().unwrap_or_else(PoisonError::into_inner) = true;
        }
    }
}

/// The conditions of one call: cancel flag, deadline and progress callback.
///
/// The default never cancels, has no deadline beyond the tool's own `timeout_ms`, and reports
/// no progress.
///
/// ```
/// use ripkit::{Call, Cancel};
/// use std::time::Duration;
///
/// let cancel = Cancel::new();
/// let call = Call::default().with_cancel(cancel.clone()).with_timeout(Duration::from_secs(5));
/// assert_eq!(call.stop_reason(), None);
/// ```
#[derive(Clone, Default)]
pub struct Call {
    cancel: Cancel,
    deadline: Option<Instant>,
    on_progress: Option<OnProgress>,
    text: Option<TextStream>,
    exact_lines: bool,
    /// `None` where the caller waits to the end in any case.
    commit: Option<Arc<CommitPoint>>,
}

impl Call {
    /// Stops the call when `cancel` is raised. Default: never.
    pub fn with_cancel(mut self, cancel: Cancel) -> Call {
        self.cancel = cancel;
        self
    }

    /// Stops the call when `timeout` from now has passed; an earlier deadline stays in force.
    /// Default: none.
    pub fn with_timeout(self, timeout: Duration) -> Call {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.until(deadline),
            None => self,
        }
    }

    /// Stops the call at `deadline`; an earlier one stays in force. Default: none.
    pub fn until(mut self, deadline: Instant) -> Call {
        self.deadline = Some(self.deadline.map_or(deadline, |earlier| earlier.min(deadline)));
        self
    }

    /// Calls `on_progress` now and then, at most ten times a second, while the call runs.
    /// Default: nobody is told.
    pub fn on_progress(mut self, on_progress: impl Fn(Progress) + Send + Sync + 'static) -> Call {
        self.on_progress = Some(Arc::new(on_progress));
        self
    }

    /// Writes the text of a success to `text` as it comes, and keeps neither text nor results in
    /// the answer: for answers that would be large in memory. Notes stay with the answer only.
    /// Default: the answer keeps all of it.
    pub fn with_text(mut self, text: TextStream) -> Call {
        self.text = Some(text);
        self
    }

    /// Keeps found lines byte for byte, with the places they have in their files, for
    /// [`Output::events`](crate::Output::events). Together with [`Call::with_text`], events are
    /// written instead of text, as they come. Default: lines are kept as shown.
    pub fn with_exact_lines(mut self) -> Call {
        self.exact_lines = true;
        self
    }

    /// Whether found lines are kept byte for byte.
    pub fn keeps_exact_lines(&self) -> bool {
        self.exact_lines
    }

    /// Where the text goes as it comes, if it does.
    pub fn text(&self) -> Option<&TextStream> {
        self.text.as_ref()
    }

    /// The moment at which the call stops, if there is one.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Why the call should stop now, or `None` to go on. Every loop asks.
    pub fn stop_reason(&self) -> Option<Incomplete> {
        if self.cancel.is_cancelled() {
            return Some(Incomplete::Cancelled);
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        late.then_some(Incomplete::Timeout)
    }

    /// Begins the change that this call is made for. A tool asks before the first step that others
    /// can see and makes the change only after `Ok`. From then on the caller waits for the change
    /// to be finished, also beyond the deadline; after `Err` the caller may have left, with the
    /// answer that nothing was changed. Asked again after `Ok`, it is `Ok`.
    ///
    /// # Errors
    /// Why the call should stop, if it should.
    pub fn commit(&self) -> Result<(), Incomplete> {
        let Some(commit) = &self.commit else {
            return self.stop_reason().map_or(Ok(()), Err);
        };
        let began = commit.0.load(Ordering::Acquire) == COMMITTING;
        match self.stop_reason() {
            Some(why) if !began => Err(why),
            _ if commit.decide(COMMITTING) => Ok(()),
            why => Err(why.unwrap_or(Incomplete::Timeout)),
        }
    }

    /// The same call for another thread, and what the caller keeps to leave that thread.
    pub(crate) fn for_another_thread(&self) -> (Call, CallerSide) {
        let commit = Arc::new(CommitPoint::default());
        let text = self
            .text
            .clone()
            .map(|inner| Arc::new(Mutex::new(ClosableText { inner, closed: false })));
        let progress_closed = self.on_progress.as_ref().map(|_| Arc::new(Mutex::new(false)));
        let on_progress = self.on_progress.clone().zip(progress_closed.clone());
        let call = Call {
            cancel: self.cancel.clone(),
            deadline: self.deadline,
            on_progress: on_progress.map(|(tell, closed)| -> OnProgress {
                Arc::new(move |progress| {
                    let closed = closed.lock().unwrap_or_else(PoisonError::into_inner);
                    if !*closed {
                        tell(progress);
                    }
                })
            }),
            text: text.clone().map(TextStream::new),
            exact_lines: self.exact_lines,
            commit: Some(commit.clone()),
        };
        (call, CallerSide { commit, text, progress_closed })
    }

    /// The same call after some work that told of `before`: what it tells comes on top.
    pub(crate) fn going_on_from(mut self, before: Progress) -> Call {
        self.on_progress = self.on_progress.map(|tell| -> OnProgress {
            Arc::new(move |Progress { files, results }| {
                let (files, results) = (before.files + files, before.results + results);
                tell(Progress { files, results });
            })
        });
        self
    }

    /// The same call, which tells nothing of how far it has come.
    pub(crate) fn in_silence(mut self) -> Call {
        self.on_progress = None;
        self
    }

    /// Tells the host how far the call has come.
    pub fn report(&self, progress: Progress) {
        if let Some(on_progress) = &self.on_progress {
            on_progress(progress);
        }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("cancel", &self.cancel)
            .field("deadline", &self.deadline)
            .field("on_progress", &self.on_progress.is_some())
            .field("text", &self.text.is_some())
            .field("exact_lines", &self.exact_lines)
            .finish_non_exhaustive()
    }
}

/// Why a call returned before it had looked at everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Incomplete {
    /// The caller raised the cancel flag.
    Cancelled,
    /// The deadline or the tool's own time limit passed.
    Timeout,
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Incomplete::Cancelled => "cancelled",
            Incomplete::Timeout => "out of time",
        })
    }
}

/// The bounds that a host can change; everything over them is cut and said.
///
/// ```
/// use ripkit::{Call, Limits, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let mut limits = Limits::default();
/// limits.page_lines = 3;
/// let tools = Toolkit::new(Workspace::open(".")?).with_limits(limits);
/// let path = serde_json::json!({ "path": "Cargo.toml" });
/// let answer = tools.call("read_file", path, &Call::default());
/// assert_eq!(answer.details()["end_line"], 3);
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most results that one call may ask for. Default: 100,000.
    pub results: usize,
    /// Bytes of the text that a model reads. Default: 51,200.
    pub text_bytes: usize,
    /// Bytes shown of one line; a longer one becomes a window round its match. Default: 500.
    pub line_bytes: usize,
    /// The longest time one call may take, whatever it asks for. Default: 10 minutes.
    pub time: Duration,
    /// Threads of one search or listing. With 0, a toolkit starts no threads for its calls: each is
    /// done on the thread of its caller, which then cannot leave a call that is blocked in the file
    /// system. Default: as many as the machine runs at once.
    pub threads: usize,
    /// The longest regular expression, in bytes. Default: 4,096.
    pub pattern_bytes: usize,
    /// The largest file that is read whole for a multi-line search, in bytes. Default: 64 MiB.
    pub multiline_bytes: usize,
    /// The largest file that is edited or written, and for which `read_file` gives a version, in
    /// bytes. Default: 64 MiB.
    pub file_bytes: usize,
    /// Lines of one page of a file where the call names no number. Default: 2,000.
    pub page_lines: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            results: 100_000,
            text_bytes: 50 * 1024,
            line_bytes: 500,
            time: Duration::from_mins(10),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            pattern_bytes: 4096,
            multiline_bytes: 64 << 20,
            file_bytes: 64 << 20,
            page_lines: 2000,
        }
    }
}

impl Limits {
    /// No bound on results, text or lines: for programs and terminals rather than models.
    /// Time, threads and pattern length stay at their defaults.
    pub fn unbounded() -> Limits {
        Limits {
            results: usize::MAX,
            text_bytes: usize::MAX,
            line_bytes: usize::MAX,
            page_lines: usize::MAX,
            ..Limits::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn what_goes_on_is_told_on_top_of_what_was_done_and_in_silence_nothing() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let keep = told.clone();
        let call = Call::default().on_progress(move |Progress { files, results }| {
            keep.lock().unwrap().push((files, results));
        });
        call.report(Progress { files: 1, results: 2 });
        let later = call.clone().going_on_from(Progress { files: 10, results: 20 });
        later.report(Progress { files: 1, results: 2 });
        later.going_on_from(Progress { files: 5, results: 5 }).report(Progress::default());
        call.in_silence().report(Progress { files: 99, results: 99 });
        assert_eq!(*told.lock().unwrap(), [(1, 2), (11, 22), (15, 25)]);
    }
}
