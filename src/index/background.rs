//! Background indexing: a thread that indexes what searches left.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::context::{Call, Cancel};
use crate::index::Index;
use crate::index::indexer::{self, ScanMode};
use crate::pool::{Pool, lock};

/// How long to wait, after learning, before what is still unknown is worth another look.
const FIRST_REST: Duration = Duration::from_secs(1);

/// The longest such wait, after there was nothing to index several times.
const LONGEST_REST: Duration = Duration::from_secs(64);

/// How long files must have stood still to be learned, so that there is a point in waiting.
const SETTLING: Duration = Duration::from_millis(150);

/// Whether a thread is indexing, and when the next run is worth while.
#[derive(Debug, Default)]
pub(super) struct BackgroundState(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_learning: bool,
    resting_until: Option<Instant>,
    rest: Option<Duration>,
}

impl BackgroundState {
    /// Starts a run, unless one is under way or it is too early.
    fn take(&self) -> bool {
        let mut state = lock(&self.0);
        let rests = state.resting_until.is_some_and(|until| Instant::now() < until);
        if state.is_learning || rests {
            return false;
        }
        state.is_learning = true;
        true
    }

    /// Gives the turn back; who learned nothing rests longer than the time before.
    fn give_back(&self, learned: u64) {
        let mut state = lock(&self.0);
        let longer = state.rest.map_or(FIRST_REST, |rest| (rest * 2).min(LONGEST_REST));
        let rest = if learned > 0 { FIRST_REST } else { longer };
        *state = State {
            is_learning: false,
            resting_until: Instant::now().checked_add(rest),
            rest: Some(rest),
        };
    }

    /// Whether a run has ever been started.
    #[cfg(test)]
    pub(super) fn has_begun(&self) -> bool {
        let state = lock(&self.0);
        state.is_learning || state.rest.is_some()
    }
}

/// Learns what searches left, on a thread of its own.
pub(super) fn begin(index: &Index, cancel: &Cancel) {
    if !index.inner.background.take() {
        return;
    }
    let (unowned, call) = (index.unowned(), Call::default().with_cancel(cancel.clone()));
    let learn = move || {
        let learned = learn(&unowned, &call);
        unowned.inner.background.give_back(learned);
    };
    let started = thread::Builder::new().name("ripkit-index".to_owned()).spawn(learn);
    // Without a thread nothing is learned, and searches open what they have to.
    if started.is_err() {
        index.inner.background.give_back(0);
    }
}

/// Indexes what is left, and returns how many files that was.
fn learn(index: &Index, call: &Call) -> u64 {
    thread::sleep(SETTLING);
    let studied =
        indexer::scan_tree(index, (&Pool::new(index.inner.threads), call), ScanMode::Background);
    let learned = studied.map_or(0, |(learned, _)| learned);
    // First, because the file has them compacted, too.
    index.files().signatures().compact();
    if learned > 0 {
        // An error has no caller to go to; the next save reports it.
        let _ = index.save_if_worth();
    }
    learned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_learns_at_a_time() {
        let background = BackgroundState::default();
        assert!(background.take());
        assert!(!background.take(), "somebody learns already");
        background.give_back(1);
        assert!(!background.take(), "it is too early");
    }

    #[test]
    fn who_learns_nothing_rests_longer_and_longer() {
        let background = BackgroundState::default();
        let rest = |learned| {
            background.give_back(learned);
            lock(&background.0).rest.unwrap().as_secs()
        };
        let rests: Vec<_> = [0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0].map(rest).to_vec();
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 64, 64, 1, 2, 4]);
    }

    #[test]
    fn after_its_rest_somebody_may_learn_again() {
        let background = BackgroundState::default();
        background.give_back(0);
        assert!(!background.take());
        lock(&background.0).resting_until = Some(Instant::now());
        assert!(background.take());
    }
}
