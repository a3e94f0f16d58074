//! Messages over a reader and a writer, each with a thread of its own.

use std::fmt;
use std::io::{self, BufReader, Read, Write};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage,
    RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::encoding;
use super::ending::Stop;
use super::lines::{self, Line, MAX_LINE_BYTES};
use super::message::{self, Received};
use super::requests::Requests;
use crate::pool::lock;

/// How long calls may still answer after the end of the input.
const GRACE: Duration = Duration::from_millis(250);

/// How many lines may wait for the writer.
const QUEUE: usize = 16;

/// One client, as the SDK sees it.
pub(super) struct Lines {
    input: mpsc::Receiver<Line>,
    /// `None` once the SDK has closed it.
    output: Option<mpsc::Sender<Outgoing>>,
    requests: Arc<Mutex<Requests>>,
    stop: Stop,
    /// Whether the client asked for a revision to speak.
    opened: bool,
    /// The last error of ours that is still to be written.
    refusal: Option<JoinHandle<()>>,
    /// When those who still work are left, once the input has ended.
    leave_at: Option<Instant>,
}

/// A line, and who wants to know that it is written.
struct Outgoing {
    line: Vec<u8>,
    written: oneshot::Sender<()>,
}

/// The client is gone.
#[derive(Debug)]
pub(super) struct Gone;

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client is gone")
    }
}

impl std::error::Error for Gone {}

impl Lines {
    /// Starts both threads. The first failure to write stops the server.
    pub(super) fn start<R, W>(
        reader: R,
        writer: W,
        requests: Arc<Mutex<Requests>>,
        stop: Stop,
    ) -> io::Result<Lines>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        let (incoming, input) = mpsc::channel(1);
        let (output, outgoing) = mpsc::channel(QUEUE);
        thread::Builder::new()
            .name("ripkit-mcp-in".to_owned())
            .spawn(move || read_all(reader, &incoming))?;
        let closed = stop.clone();
        thread::Builder::new()
            .name("ripkit-mcp-out".to_owned())
            .spawn(move || write_all(writer, outgoing, &closed))?;
        Ok(Lines {
            input,
            output: Some(output),
            requests,
            stop,
            opened: false,
            refusal: None,
            leave_at: None,
        })
    }

    /// The next line, or `None` when the server should end.
    async fn next_line(&mut self) -> Option<Line> {
        if self.leave_at.is_none() {
            tokio::select! {
                biased;
                () = self.stop.stopped() => return None,
                line = self.input.recv() => if line.is_some() { return line },
            }
        }
        let leave_at = *self.leave_at.get_or_insert_with(|| Instant::now() + GRACE);
        // Every answer that goes out drops this future and asks again.
        if !lock(&self.requests).is_idle() {
            tokio::select! {
                () = self.stop.stopped() => {}
                () = sleep_until(leave_at) => {}
            }
        }
        self.stop.stop();
        None
    }

    /// The error that answers a message in place of the SDK, if one does.
    fn refusal(
        &mut self,
        message: &ClientJsonRpcMessage,
    ) -> Option<(ErrorData, Option<RequestId>)> {
        match message {
            JsonRpcMessage::Request(asked) if !self.may_ask(&asked.request) => {
                Some((unopened(), Some(asked.id.clone())))
            }
            JsonRpcMessage::Request(asked) => {
                let refused = lock(&self.requests).open(&asked.id).err();
                refused.map(|why| (why, Some(asked.id.clone())))
            }
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    lock(&self.requests).cancelled(id);
                }
                None
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => None,
        }
    }

    /// Whether it is known which revision of the protocol the request speaks, or does not matter.
    fn may_ask(&mut self, request: &ClientRequest) -> bool {
        self.opened |= matches!(request, ClientRequest::InitializeRequest(_));
        let any =
            matches!(request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_));
        self.opened || any || request.get_meta().protocol_version().is_some()
    }

    /// Writes a message of the SDK.
    fn write(
        &self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        let answered = answered(&message).map(|id| lock(&self.requests).answered(id));
        let (counts, room) = (answered.is_some(), answered.flatten());
        let (sending, requests) = (send(self.output.clone(), message), self.requests.clone());
        async move {
            sending.await?;
            drop(room);
            if counts {
                lock(&requests).written();
            }
            Ok(())
        }
    }

    /// Writes an error of ours. It answers no request that is open, even if one has its id.
    fn refuse(
        &self,
        error: ErrorData,
        id: Option<RequestId>,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        lock(&self.requests).refused();
        let sending = send(self.output.clone(), JsonRpcMessage::error(error, id));
        let requests = self.requests.clone();
        async move {
            sending.await?;
            lock(&requests).written();
            Ok(())
        }
    }
}

/// Hands a message to the writer and waits until it is written.
async fn send(
    output: Option<mpsc::Sender<Outgoing>>,
    message: ServerJsonRpcMessage,
) -> Result<(), Gone> {
    let output = output.ok_or(Gone)?;
    // Only then: a line that has no place in the queue would be a second copy that waits.
    let place = output.reserve().await.map_err(|_| Gone)?;
    let line = encoding::line(&message).map_err(|_| Gone)?;
    drop(message);
    let (written, done) = oneshot::channel();
    place.send(Outgoing { line, written });
    done.await.map_err(|_| Gone)
}

impl Transport<RoleServer> for Lines {
    type Error = Gone;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Gone>> + Send + 'static {
        self.write(message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            // Those who do not read what they did wrong are not read either.
            if let Some(refusal) = &mut self.refusal {
                // It never panics; and if it did, there would be nothing to do.
                let _ = refusal.await;
                self.refusal = None;
            }
            let received = match self.next_line().await? {
                Line::Whole(line) => message::read(&line),
                Line::TooLong => Received::Refused(too_long(), None),
            };
            let (error, id) = match received {
                Received::Nothing => continue,
                Received::Refused(error, id) => (error, id),
                Received::Message(message) => match self.refusal(&message) {
                    None => return Some(*message),
                    Some(refused) => refused,
                },
            };
            // This future may be dropped at any time, and the answer must not be.
            let refusal = self.refuse(error, id);
            self.refusal = Some(tokio::spawn(async {
                // Only a client that is gone cannot be told.
                let _ = refusal.await;
            }));
        }
    }

    async fn close(&mut self) -> Result<(), Gone> {
        self.output = None;
        Ok(())
    }
}

fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(answer) => Some(&answer.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

fn unopened() -> ErrorData {
    let reason = "send initialize first, or name the protocol version of the request in its _meta";
    ErrorData::invalid_params(reason, None)
}

fn too_long() -> ErrorData {
    let reason = format!("the line is longer than {MAX_LINE_BYTES} bytes");
    ErrorData::invalid_request(reason, None)
}

/// Reads until the input ends or nobody listens any more.
fn read_all(reader: impl Read, to: &mpsc::Sender<Line>) {
    let mut reader = BufReader::with_capacity(64 * 1024, reader);
    // An input that cannot be read any more has ended.
    while let Ok(Some(line)) = lines::next(&mut reader, MAX_LINE_BYTES) {
        if to.blocking_send(line).is_err() {
            return;
        }
    }
}

/// Writes until there is nothing more to say or nobody reads any more.
fn write_all(mut writer: impl Write, mut from: mpsc::Receiver<Outgoing>, stop: &Stop) {
    while let Some(Outgoing { line, written }) = from.blocking_recv() {
        if writer.write_all(&line).and_then(|()| writer.flush()).is_err() {
            stop.stop();
            return;
        }
        // Whoever asked may have left.
        let _ = written.send(());
    }
}
