//! One call of a tool: on a thread of its own, and left when nobody waits for it any more.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ErrorData};
use rmcp::service::RequestContext;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

use super::answer;
use super::ending::Stop;
use super::outbox::Outbox;
use super::progress::ProgressReporter;
use crate::context::{Call, Cancel, Progress};
use crate::toolkit::Toolkit;

/// How many calls may be running or waiting; more are refused.
const MAX_CALLS: u32 = 1024;

/// How long calls that were cancelled may take to end, before they are left behind.
const LAST_STEPS: Duration = Duration::from_millis(300);

/// The calls of one client.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    toolkit: Toolkit,
    places: Arc<Semaphore>,
    /// Those of calls that may take long, and those of all others, so that a short call never
    /// waits for long ones.
    long: Arc<Semaphore>,
    short: Arc<Semaphore>,
    outbox: Outbox,
    stop: Stop,
}

/// A call that has ended, and the place that it keeps until there is room for its answer.
struct Ended {
    result: CallToolResult,
    _running: OwnedSemaphorePermit,
}

/// Cancels the call when nobody waits for it any more, however that comes.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Calls {
    /// Calls of these tools, of which `most` long ones run at once and as many short ones.
    pub(super) fn new(toolkit: Toolkit, most: usize, outbox: Outbox, stop: Stop) -> Calls {
        let [long, short] = [most, most].map(|most| Arc::new(Semaphore::new(most)));
        let places = Arc::new(Semaphore::new(MAX_CALLS as usize));
        Calls { toolkit, places, long, short, outbox, stop }
    }

    /// Calls a tool and waits for its answer.
    pub(super) async fn run(
        &self,
        name: String,
        args: Value,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let cancel = CancelOnDrop(Cancel::new());
        let mut call = Call::default().with_cancel(cancel.0.clone());
        let mut reporter = None;
        if let Some(token) = context.meta.get_progress_token() {
            let (report, reports) = watch::channel(Progress::default());
            call = call.with_progress(move |progress| {
                report.send_replace(progress);
            });
            reporter = Some(ProgressReporter::new(token, context.peer.clone(), reports));
        }
        let place = self.places.clone().try_acquire_owned().map_err(|_| too_many())?;
        let is_long = self.toolkit.spec(&name).is_some_and(|spec| spec.is_long);
        let id = context.id.clone();
        let work = async {
            let running = if is_long { &self.long } else { &self.short };
            let running = running.clone().acquire_owned().await;
            let running = running.map_err(|_| ended("the server ends"))?;
            let reservation = self.outbox.reserve().await;
            let ended =
                answered(self.start((name, args, call), (place, running))?, reporter).await?;
            self.outbox.charge(reservation, &id, answer::size(&ended.result)).await;
            Ok(ended.result)
        };
        tokio::select! {
            biased;
            // What is returned here goes nowhere.
            () = context.ct.cancelled() => Err(ended("the call was cancelled")),
            () = self.stop.stopped() => Err(ended("the server ends")),
            answer = work => answer,
        }
    }

    fn start(
        &self,
        (name, args, call): (String, Value, Call),
        (place, running): (OwnedSemaphorePermit, OwnedSemaphorePermit),
    ) -> Result<JoinHandle<Ended>, ErrorData> {
        let toolkit = self.toolkit.clone();
        let work = move || {
            let _place = place;
            let result = answer::result(&toolkit.call(&name, args, &call));
            Ended { result, _running: running }
        };
        // It panics where not even the first thread can be had.
        catch_unwind(AssertUnwindSafe(|| spawn_blocking(work)))
            .map_err(|_| ErrorData::internal_error("no thread can be started for the call", None))
    }

    /// Waits for calls that were cancelled to end, though not for long.
    pub(super) async fn settle(&self) {
        // Either they are all back, or they are stuck.
        let _ = timeout(LAST_STEPS, self.places.acquire_many(MAX_CALLS)).await;
    }
}

/// The answer; until it is there, the client is told how far the call has come.
async fn answered(
    mut answer: JoinHandle<Ended>,
    mut reporter: Option<ProgressReporter>,
) -> Result<Ended, ErrorData> {
    loop {
        let progress = async {
            match &mut reporter {
                Some(reporter) => reporter.next().await,
                None => std::future::pending().await,
            }
        };
        let told = tokio::select! {
            biased;
            answer = &mut answer => {
                return answer.map_err(|_| ended("the call failed unexpectedly"));
            }
            told = progress => told,
        };
        if let Some(reporter) = &mut reporter {
            reporter.tell(told).await;
        }
    }
}

fn too_many() -> ErrorData {
    let reason = format!("{MAX_CALLS} calls are running or waiting; wait for answers");
    ErrorData::internal_error(reason, None)
}

fn ended(reason: &'static str) -> ErrorData {
    ErrorData::internal_error(reason, None)
}
