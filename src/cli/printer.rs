//! An answer in the form that was asked for, at once or as it comes.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ripkit::{Answer, Call, TextStream};

use super::globals::Globals;
use super::print::{self, Stream};
use super::render;
use super::view::View;

/// What is printed of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// All of it, as one line of JSON.
    Json,
    /// The events of `rg --json`, as they come.
    Events,
    /// Nothing but an error.
    Nothing,
    /// The text as it comes: what goes to a file or another program need not be held in memory.
    TextAsItComes,
    /// The text, safe for a terminal.
    Text,
    /// The same with colours.
    ColouredText,
}

impl Form {
    fn of(view: View, globals: &Globals) -> Form {
        match view {
            _ if globals.json => Form::Json,
            View { events: true, .. } => Form::Events,
            View { quiet: true, .. } => Form::Nothing,
            _ if globals.color => Form::ColouredText,
            _ if io::stdout().is_terminal() => Form::Text,
            _ => Form::TextAsItComes,
        }
    }
}

/// Prints one answer.
pub(super) struct Printer {
    form: Form,
    stream: Arc<Mutex<Stream>>,
}

impl Printer {
    pub(super) fn new(view: View, globals: &Globals) -> Printer {
        Printer { form: Form::of(view, globals), stream: Arc::new(Mutex::new(Stream::new())) }
    }

    /// The conditions of a call whose answer will be printed so.
    pub(super) fn call(&self) -> Call {
        let call = Call::default();
        let stream = || TextStream::new(Arc::clone(&self.stream));
        match self.form {
            Form::Events => call.with_exact_lines().with_text(stream()),
            Form::TextAsItComes => call.with_text(stream()),
            Form::Json | Form::Nothing | Form::Text | Form::ColouredText => call,
        }
    }

    /// Prints what was not printed as it came; `elapsed` is the time the call took.
    pub(super) fn print(&self, answer: &Answer, elapsed: Duration) -> io::Result<()> {
        match (self.form, answer.error()) {
            (Form::Json, _) => return print::json(answer),
            (_, Some(error)) => {
                print::error(error);
                return Ok(());
            }
            (Form::Nothing, None) => return Ok(()),
            (Form::Events, None) => {
                self.finish()?;
                print::json_lines(&answer.events(elapsed).unwrap_or_default())?;
            }
            (Form::TextAsItComes, None) => {
                if !answer.is_verbatim() {
                    self.lock().end_line();
                }
                self.finish()?;
            }
            (Form::Text | Form::ColouredText, None) if answer.is_verbatim() => {
                print::exact(&render::harmless(answer.body()))?;
            }
            (Form::Text, None) => print::text(&render::harmless(answer.body()))?,
            (Form::ColouredText, None) => {
                print::text(&render::coloured(answer.body(), answer.details()))?;
            }
        }
        answer.notes().iter().for_each(|note| print::note(note));
        Ok(())
    }

    fn finish(&self) -> io::Result<()> {
        self.lock().finish()
    }

    fn lock(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
