//! How a server ends before its client does.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::sleep;

/// How long what is still to be said may take once the server is stopped.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What ends a server from another thread, such as one that waits for a signal.
///
/// Cloning is cheap; every clone ends the same server.
///
/// ```
/// use ripkit::mcp::Server;
/// use ripkit::{Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Toolkit::new(Workspace::open(".")?));
/// let (reader, _client) = std::io::pipe()?;
/// let stop = server.stop();
/// let serving = std::thread::spawn(|| server.serve(reader, std::io::sink()));
/// stop.stop();
/// serving.join().expect("no panic")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    pub(super) fn new() -> Stop {
        Stop(Arc::new(watch::Sender::new(false)))
    }

    /// Cancels every call and ends the server; a second time changes nothing.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the server is stopped.
    pub(super) async fn stopped(&self) {
        // It fails only without a sender, and here is one.
        let _ = self.0.subscribe().wait_for(|stopped| *stopped).await;
    }

    /// Waits until the server is stopped and had time for its last words.
    pub(super) async fn overdue(&self) {
        self.stopped().await;
        sleep(LAST_WORDS).await;
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stop").field(&*self.0.borrow()).finish()
    }
}
