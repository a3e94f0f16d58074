//! How far a call has come, told to a client that asked for it.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::ClientSink;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::context::Progress;
use crate::output::counted;

/// The shortest time between two notifications.
const INTERVAL: Duration = Duration::from_millis(100);

/// Passes on what a call reports; rising, and not too often.
pub(super) struct ProgressReporter {
    token: ProgressToken,
    client: ClientSink,
    reports: watch::Receiver<Progress>,
    told: u64,
    not_before: Instant,
}

impl ProgressReporter {
    /// Tells of `reports`, the first after one interval.
    pub(super) fn new(
        token: ProgressToken,
        client: ClientSink,
        reports: watch::Receiver<Progress>,
    ) -> ProgressReporter {
        let not_before = Instant::now() + INTERVAL;
        ProgressReporter { token, client, reports, told: 0, not_before }
    }

    /// The next report that is worth telling; it may be dropped at any time.
    pub(super) async fn next(&mut self) -> ProgressNotificationParam {
        loop {
            if self.reports.changed().await.is_err() {
                // The call is over, and its answer is on the way.
                std::future::pending::<()>().await;
            }
            sleep_until(self.not_before).await;
            let progress = *self.reports.borrow_and_update();
            let sum = progress.files.saturating_add(progress.results);
            if sum > self.told {
                self.told = sum;
                return self.notification(progress);
            }
        }
    }

    /// Sends it, and waits until it is written: an answer must not overtake it.
    pub(super) async fn tell(&mut self, notification: ProgressNotificationParam) {
        // Only a client that is gone cannot be told.
        let _ = self.client.notify_progress(notification).await;
        self.not_before = Instant::now() + INTERVAL;
    }

    /// The number rises whenever files or results do; the words say which.
    fn notification(&self, Progress { files, results }: Progress) -> ProgressNotificationParam {
        let files = counted(files, "file", "files");
        let results = counted(results, "result", "results");
        ProgressNotificationParam::new(self.token.clone(), self.told as f64)
            .with_message(format!("{files}, {results}"))
    }
}
