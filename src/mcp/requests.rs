//! Which requests are open, by their ids.

use std::collections::{HashMap, HashSet};

use rmcp::model::{ErrorData, RequestId};
use tokio::sync::OwnedSemaphorePermit;

/// How many requests of one client may be open; more are refused.
const MAX_OPEN: usize = 1024;

/// The requests that have no answer yet, and those that will never have one.
#[derive(Debug, Default)]
pub(super) struct Requests {
    open: HashSet<RequestId>,
    /// An answer that comes late must find no other request under its id, so they stay taken.
    cancelled: HashSet<RequestId>,
    /// Answers that the client has not taken yet.
    unwritten: usize,
    /// The room that the answers of open requests take, until they are written.
    charges: HashMap<RequestId, OwnedSemaphorePermit>,
}

impl Requests {
    /// Opens a request, unless its id cannot be told from that of another one.
    pub(super) fn open(&mut self, id: &RequestId) -> Result<(), ErrorData> {
        if self.open.len() + self.unwritten >= MAX_OPEN {
            let reason = format!("{MAX_OPEN} requests are open; wait for answers");
            return Err(ErrorData::internal_error(reason, None));
        }
        if self.cancelled.contains(id) || !self.open.insert(id.clone()) {
            let reason = format!("the id {id} is taken by an earlier request");
            return Err(ErrorData::invalid_request(reason, None));
        }
        Ok(())
    }

    /// Keeps the room for an answer that is on its way; of a request that is not open any more,
    /// there will be no answer.
    pub(super) fn charge(&mut self, id: &RequestId, room: OwnedSemaphorePermit) {
        if self.open.contains(id) {
            self.charges.insert(id.clone(), room);
        }
    }

    /// The answer is about to be written; once the client has it, its id may come again. Gives the
    /// room that it takes, to be kept until then.
    pub(super) fn answered(&mut self, id: &RequestId) -> Option<OwnedSemaphorePermit> {
        self.open.remove(id);
        self.refused();
        self.charges.remove(id)
    }

    /// A refusal is about to be written. The request that is open under its id, if there is one,
    /// stays open.
    pub(super) fn refused(&mut self) {
        self.unwritten += 1;
    }

    /// An answer or a refusal is written.
    pub(super) fn written(&mut self) {
        self.unwritten = self.unwritten.saturating_sub(1);
    }

    /// The client wants no answer; one that is answered already is left as it is.
    pub(super) fn cancelled(&mut self, id: &RequestId) {
        self.cancelled.extend(self.open.take(id));
        self.charges.remove(id);
    }

    /// Whether every answer is at least on its way.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_free_again_once_answered_and_never_once_cancelled() {
        let (one, two) = (RequestId::Number(1), RequestId::String("1".into()));
        let mut requests = Requests::default();
        requests.open(&one).unwrap();
        requests.open(&one).unwrap_err();
        requests.open(&two).expect("a text is no number");
        requests.answered(&one);
        requests.cancelled(&one);
        requests.open(&one).expect("a cancellation that comes too late changes nothing");
        requests.answered(&one);
        requests.cancelled(&two);
        assert!(requests.is_idle());
        let taken = requests.open(&two).unwrap_err();
        assert_eq!(taken.message, "the id 1 is taken by an earlier request");
    }

    #[test]
    fn only_so_many_requests_are_open_at_once() {
        let mut requests = Requests::default();
        let ids: Vec<RequestId> = (0..=1024).map(RequestId::Number).collect();
        for id in &ids[..1024] {
            requests.open(id).unwrap();
        }
        let refused = requests.open(&ids[1024]).unwrap_err();
        assert_eq!(refused.message, "1024 requests are open; wait for answers");
        requests.answered(&ids[7]);
        requests.open(&ids[1024]).expect_err("one answer waits for the client");
        requests.written();
        requests.open(&ids[1024]).unwrap();
    }
}
