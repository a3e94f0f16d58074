//! Learning while nobody waits.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use crate::context::{Call, Cancel};
use crate::index::Index;
use crate::index::bundles;
use crate::index::study::{self, Manner};
use crate::pool::{Pool, lock};

/// How long to wait, after learning, before what is still unknown is worth another look.
const FIRST_REST: Duration = Duration::from_secs(1);

/// The longest such wait, when there was nothing to learn again and again.
const LONGEST_REST: Duration = Duration::from_secs(64);

/// How long files must have stood still to be learned, so that there is a point in waiting.
const SETTLING: Duration = Duration::from_millis(150);

/// Whether somebody learns, and when that is worth while again.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    is_learning: bool,
    resting_until: Option<Instant>,
    rest: Option<Duration>,
}

impl Idle {
    /// Takes the turn to learn, if it is nobody's and it is time.
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

    /// Whether somebody learns or ever has.
    #[cfg(test)]
    pub(super) fn has_begun(&self) -> bool {
        let state = lock(&self.0);
        state.is_learning || state.rest.is_some()
    }
}

/// Learns what searches left, on a thread of its own.
pub(super) fn begin(index: &Index, cancel: &Cancel) {
    if !index.inner.idle.take() {
        return;
    }
    let (unowned, call) = (index.unowned(), Call::default().with_cancel(cancel.clone()));
    let learn = move || {
        let learned = learn(&unowned, &call);
        unowned.inner.idle.give_back(learned);
    };
    let started = thread::Builder::new().name("ripkit-index".to_owned()).spawn(learn);
    // Without a thread nothing is learned, and searches open what they have to.
    if started.is_err() {
        index.inner.idle.give_back(0);
    }
}

/// Learns what is left, and tells how many files that was.
fn learn(index: &Index, call: &Call) -> u64 {
    thread::sleep(SETTLING);
    let studied = study::tree(index, (&Pool::new(1), call), Manner::Polite);
    if matches!(studied, Ok((_, None))) {
        index.forget_vanished();
    }
    let learned = studied.map_or(0, |(learned, _)| learned);
    if learned > 0 {
        // Nobody is there to be told; the next who saves is.
        let _ = index.save_if_worth();
    }
    bundles::make(index, call, || index.give_way(&|| call.stop_reason().is_none()));
    learned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_learns_at_a_time() {
        let idle = Idle::default();
        assert!(idle.take());
        assert!(!idle.take(), "somebody learns already");
        idle.give_back(1);
        assert!(!idle.take(), "it is too early");
    }

    #[test]
    fn who_learns_nothing_rests_longer_and_longer() {
        let idle = Idle::default();
        let rest = |learned| {
            idle.give_back(learned);
            lock(&idle.0).rest.unwrap().as_secs()
        };
        let rests: Vec<_> = [0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0].map(rest).to_vec();
        assert_eq!(rests, [1, 2, 4, 8, 16, 32, 64, 64, 1, 2, 4]);
    }

    #[test]
    fn after_its_rest_somebody_may_learn_again() {
        let idle = Idle::default();
        idle.give_back(0);
        assert!(!idle.take());
        lock(&idle.0).resting_until = Some(Instant::now());
        assert!(idle.take());
    }
}
