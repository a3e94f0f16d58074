//! Code that the adapters for agent frameworks share: calls block, while frameworks are
//! asynchronous.

use ripkit::{Answer, Call, Cancel, Error, ErrorCode, Toolkit};
use serde_json::Value;
use tokio::task::spawn_blocking;

/// Raises its flag when it is dropped: after the call, or when its future is dropped.
#[derive(Default)]
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Calls a tool on a blocking thread.
///
/// When `cancelled` is ready, the tool is asked to stop, and returns a partial answer. If this
/// future is dropped, the tool is asked to stop too. Frameworks without a cancel token of their own
/// pass [`std::future::pending`].
pub async fn call(
    tools: Toolkit,
    name: String,
    arguments: Value,
    cancelled: impl Future<Output = ()>,
) -> Answer {
    let guard = CancelOnDrop::default();
    let call = Call::default().with_cancel(guard.0.clone());
    let mut work = spawn_blocking(move || tools.call(&name, arguments, &call));
    let done = tokio::select! {
        done = &mut work => done,
        () = cancelled => {
            guard.0.cancel();
            work.await
        }
    };
    done.unwrap_or_else(|lost| Answer::from(Error::new(ErrorCode::Internal, lost.to_string())))
}

#[cfg(test)]
mod waiting;

#[cfg(test)]
mod tests {
    use std::future::pending;

    use serde_json::json;
    use tokio::time::{sleep, timeout};

    use super::waiting::{A_MOMENT, stops, waiting};
    use super::*;

    #[tokio::test]
    async fn a_cancelled_call_is_stopped_and_answers() {
        let (tools, _) = waiting();
        let answer = call(tools, "wait".into(), json!({}), sleep(A_MOMENT)).await;
        assert_eq!(answer.text(), "the waiting was cancelled [CANCELLED]");
    }

    #[tokio::test]
    async fn a_call_for_which_nobody_waits_is_stopped() {
        let (tools, stopped) = waiting();
        let late = timeout(A_MOMENT, call(tools, "wait".into(), json!({}), pending())).await;
        assert!(late.is_err());
        stops(&stopped);
    }
}
