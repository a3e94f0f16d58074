//! One line on the terminal while a call takes long.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ripkit::{Call, Progress};

/// Shorter calls show nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Back to the first column, and away with what stands there.
const CLEAR: &str = "\r\x1b[K";

/// Shows how far a call has come, on standard error and only if that is a terminal.
pub(super) struct ProgressLine {
    state: Arc<Mutex<State>>,
    started: Instant,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Hidden,
    Shown,
    /// A worker that comes late must not write below the answer.
    Over,
}

impl ProgressLine {
    pub(super) fn new() -> ProgressLine {
        ProgressLine { state: Arc::new(Mutex::new(State::Hidden)), started: Instant::now() }
    }

    /// The same call, watched.
    pub(super) fn watch(&self, call: Call) -> Call {
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if dumb || !io::stderr().is_terminal() {
            return call;
        }
        let (state, started) = (Arc::clone(&self.state), self.started);
        call.on_progress(move |progress| {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if *state != State::Over && started.elapsed() >= PATIENCE {
                *state = State::Shown;
                draw(&format!("{CLEAR}{}", line(progress)));
            }
        })
    }

    /// Takes the line away; nothing is shown after that.
    pub(super) fn clear(self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Shown {
            draw(CLEAR);
        }
        *state = State::Over;
    }
}

fn line(progress: Progress) -> String {
    format!("{} files, {} results", progress.files, progress.results)
}

/// A terminal that is gone needs no progress.
fn draw(text: &str) {
    let mut stderr = io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}
