//! A server for the Model Context Protocol over a [`Toolkit`]: the tools for clients in other
//! processes, one message a line, usually on standard input and output.
//!
//! ```no_run
//! use ripkit::mcp::Server;
//! use ripkit::{Toolkit, Workspace};
//!
//! # fn main() -> Result<(), ripkit::Error> {
//! let tools = Toolkit::new(Workspace::open("path/to/repo")?).read_only();
//! Server::new(tools).serve_stdio()
//! # }
//! ```
//!
//! Every revision of the protocol is spoken that the SDK knows, from 2024-11-05 to 2025-11-25 after
//! `initialize`, and 2026-07-28 without it; which one is up to each request. What a tool tells of
//! itself and what it answers is rendered, never changed: [`crate::schema::mcp`] makes the listing.
//!
//! - A tool that fails answers with `isError` and the text that a model reads. Errors of the
//!   protocol are for messages that are none, unknown methods and unknown tools.
//! - Calls run side by side, each on a thread of its own: [`DEFAULT_CALLS`] that may take long, such
//!   as searches, and as many others; the rest wait. One that is stuck delays nobody, and a short
//!   one never waits for long ones.
//! - Answers that the client does not read take 64 MiB at most, besides those of the calls that are
//!   running; while there is no room, further calls wait before they run.
//! - A request whose id an earlier one has, which is open or was cancelled, is answered with the
//!   error -32600 under that id, and not carried out. The open request is answered all the same, so
//!   the client then has two answers with one id: it has to use an id once.
//! - `notifications/cancelled` raises the flag of that call, and nothing more is sent for it.
//! - Progress is told to those who sent a token, at most ten times a second.
//! - A line over [`MAX_LINE_BYTES`], or one that is no message, is answered with an error; the
//!   connection lives on.
//! - Skills are resources, `skill://NAME/SKILL.md` and the files beside it, with the extension
//!   that lists them.
//! - When the input ends, running calls have a quarter of a second to answer. Then they are
//!   cancelled, and [`Server::serve`] returns within a second, whatever is stuck.

mod answer;
mod call;
mod encoding;
mod ending;
mod instructions;
mod lines;
mod message;
mod outbox;
mod progress;
mod requests;
mod service;
mod skills;
mod transport;

use std::any::Any;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread;

use rmcp::service::serve_directly;
use tokio::runtime::{Builder, Runtime};

pub use self::ending::Stop;
pub use self::lines::MAX_LINE_BYTES;
use self::outbox::Outbox;
use self::service::ToolService;
use self::transport::Lines;
use crate::error::{Error, ErrorCode};
use crate::pool::panic_text;
use crate::skills::SkillCatalog;
use crate::toolkit::Toolkit;

/// How many calls of each kind, long and short, run at once where the host says nothing.
pub const DEFAULT_CALLS: usize = 32;

/// How many threads read skills for resources.
const SKILL_THREADS: usize = 4;

/// A server over one toolkit, for one client.
///
/// ```
/// use ripkit::mcp::Server;
/// use ripkit::{Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let (reader, mut client) = std::io::pipe()?;
/// let (answers, writer) = std::io::pipe()?;
/// let server = std::thread::spawn(|| Server::new(tools).serve(reader, writer));
///
/// use std::io::{BufRead, BufReader, Write};
/// client.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")?;
/// let mut answer = String::new();
/// BufReader::new(answers).read_line(&mut answer)?;
/// assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
///
/// drop(client);
/// server.join().expect("no panic")?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    toolkit: Toolkit,
    skills: SkillCatalog,
    calls: usize,
    stop: Stop,
}

impl Server {
    /// Makes a server of the tools of `toolkit`.
    pub fn new(toolkit: Toolkit) -> Server {
        let skills = SkillCatalog::default();
        Server { toolkit, skills, calls: DEFAULT_CALLS, stop: Stop::new() }
    }

    /// Serves skills as resources too, and tells of them by the protocol's extension for skills.
    /// The tool that loads them comes with the toolkit. Default: none.
    pub fn with_skills(mut self, skills: SkillCatalog) -> Server {
        self.skills = skills;
        self
    }

    /// Sets how many calls run at once that may take long ([`Tool::LONG`](crate::Tool::LONG)), and
    /// how many others, at least 1; the rest wait for their turn. Default: [`DEFAULT_CALLS`].
    pub fn with_calls(mut self, calls: usize) -> Server {
        self.calls = calls.max(1);
        self
    }

    /// What ends the server from another thread.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Serves one client over standard input and output, until the input ends, the output is
    /// closed or the server is stopped. Nothing but messages may be written to standard output
    /// meanwhile.
    ///
    /// # Errors
    /// As [`Server::serve`].
    pub fn serve_stdio(self) -> Result<(), Error> {
        self.serve(io::stdin(), io::stdout())
    }

    /// Serves one client, until `reader` ends, `writer` is closed or the server is stopped.
    ///
    /// It blocks, and runs an async runtime of its own meanwhile. When it returns, every call is
    /// over or cancelled; a thread that is stuck in the operating system, or in `reader` or
    /// `writer`, is left behind.
    ///
    /// # Errors
    /// `RESOURCE_EXHAUSTED` or `IO_ERROR` if no thread can be started, `INTERNAL` if the server
    /// panicked. That the client is gone is no error.
    pub fn serve<R, W>(self, reader: R, writer: W) -> Result<(), Error>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        let serve = move || {
            let runtime = runtime(self.calls)?;
            let served = runtime.block_on(self.session(reader, writer));
            // Threads that are stuck must not hold the host.
            runtime.shutdown_background();
            served
        };
        // A thread that belongs to another runtime may wait for this one, but not be it.
        let started = thread::Builder::new().name("ripkit-mcp".to_owned()).spawn(serve);
        let ended = started.map_err(no_thread)?.join().map_err(|payload| panicked(&*payload))?;
        ended.map_err(no_thread)
    }

    async fn session<R, W>(self, reader: R, writer: W) -> io::Result<()>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        let Server { toolkit, skills, calls, stop } = self;
        let requests = Arc::default();
        let outbox = Outbox::new(Arc::clone(&requests));
        let lines = Lines::start(reader, writer, requests, stop.clone())?;
        let service = ToolService::new((toolkit, skills), calls, outbox, stop.clone());
        let calls = service.calls();
        let running = serve_directly(service, lines, None);
        tokio::select! {
            _ = running.waiting() => {}
            () = stop.overdue() => {}
        }
        stop.stop();
        calls.settle().await;
        Ok(())
    }
}

fn runtime(calls: usize) -> io::Result<Runtime> {
    Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(calls.saturating_mul(2).saturating_add(SKILL_THREADS))
        .thread_name("ripkit-mcp-call")
        .build()
}

fn no_thread(reason: io::Error) -> Error {
    let code = ErrorCode::of_io(&reason);
    Error::new(code, format!("cannot start a thread of the server: {reason}")).because(reason)
}

fn panicked(payload: &(dyn Any + Send)) -> Error {
    Error::new(ErrorCode::Internal, format!("the server failed: {}", panic_text(payload)))
}
