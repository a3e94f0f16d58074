//! How much memory the answers may take that the client has not read yet.

use std::sync::{Arc, Mutex};

use rmcp::model::RequestId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::requests::Requests;
use crate::pool::lock;

/// Bytes of answers that may wait for the client: 64 MiB. While there is no room, further calls
/// wait before they run.
pub(super) const MAX_UNSENT_BYTES: usize = 64 << 20;

/// What is set aside for the answer of a call before it runs: most answers are smaller.
const RESERVED: u32 = 256 << 10;

/// The most that one answer is charged, so that one of any size finds room.
const MAX_CHARGE: u32 = 32 << 20;

/// An answer is held twice for a moment: as a message and as its line.
const COPIES: usize = 2;

/// The room for answers, and the open requests, to which it is charged until they are answered.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    room: Arc<Semaphore>,
    requests: Arc<Mutex<Requests>>,
}

/// Room that is set aside for one answer; dropped, it is given back.
#[derive(Debug)]
pub(super) struct Reservation(OwnedSemaphorePermit);

impl Outbox {
    pub(super) fn new(requests: Arc<Mutex<Requests>>) -> Outbox {
        Outbox { room: Arc::new(Semaphore::new(MAX_UNSENT_BYTES)), requests }
    }

    /// Waits for room for the answer of a call that is about to run. Nobody overtakes.
    pub(super) async fn reserve(&self) -> Option<Reservation> {
        let permit = self.room.clone().acquire_many_owned(RESERVED).await;
        // It fails only once it is closed, which it never is.
        permit.ok().map(Reservation)
    }

    /// Waits until there is room for an answer of so many bytes, and keeps it until the answer to
    /// the request `id` is written.
    pub(super) async fn charge(
        &self,
        reservation: Option<Reservation>,
        id: &RequestId,
        bytes: usize,
    ) {
        let Some(Reservation(mut held)) = reservation else { return };
        let charge = u32::try_from(bytes.saturating_mul(COPIES))
            .map_or(MAX_CHARGE, |charge| charge.min(MAX_CHARGE));
        match charge.checked_sub(RESERVED) {
            // What is not needed is given back.
            None => drop(held.split((RESERVED - charge) as usize)),
            Some(more) => {
                if let Ok(rest) = self.room.clone().acquire_many_owned(more).await {
                    held.merge(rest);
                }
            }
        }
        lock(&self.requests).charge(id, held);
    }

    /// The same for an answer that was made without being waited for.
    pub(super) async fn charge_at_once(&self, id: &RequestId, bytes: usize) {
        let reservation = self.reserve().await;
        self.charge(reservation, id, bytes).await;
    }
}
