//! Every order in which a call commits, ends, and is left by its caller.

use std::sync::atomic::AtomicUsize as Tally;

use loom::thread;

use super::*;
use crate::context::Cancel;
use crate::sync::in_every_order;

/// A call that makes a change if it may, as [`CallThreads::run`] hands it over.
struct Changing {
    caller: CallHandle,
    call: Call,
    handover: Arc<Handover<bool>>,
    changed: Arc<AtomicUsize>,
    blocked: Arc<AtomicUsize>,
}

impl Changing {
    fn new(cancel: &Cancel) -> Changing {
        let call = Call::default().with_cancel(cancel.clone());
        let (call, caller) = call.detached();
        let (changed, blocked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        Changing { caller, call, handover: Arc::default(), changed, blocked }
    }

    fn start(&self) -> thread::JoinHandle<()> {
        let (call, handover) = (self.call.clone(), self.handover.clone());
        let changed = self.changed.clone();
        thread::spawn(move || {
            let may_change = call.commit().is_ok();
            if may_change {
                changed.store(1, Ordering::Relaxed);
            }
            handover.finish(may_change);
        })
    }

    fn changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed) == 1
    }
}

// Loom has no clock, so a thread wakes the caller as the end of a tick would: the first time it
// sees that it is cancelled, the second time that its grace is over.
#[test]
fn what_a_caller_that_leaves_at_any_moment_says_of_the_change_holds() {
    let (left, returned) = (Arc::new(Tally::new(0)), Arc::new(Tally::new(0)));
    let tallies = (left.clone(), returned.clone());
    in_every_order(move || {
        let cancel = Cancel::new();
        let work = Changing::new(&cancel);
        let worker = work.start();
        cancel.cancel();
        let handover = work.handover.clone();
        let clock = thread::spawn(move || (0..2).for_each(|_| handover.finished.notify_all()));
        let ended = work.handover.wait(&work.call, &work.caller, &work.blocked);
        worker.join().unwrap();
        clock.join().unwrap();
        match ended {
            Ok(changed) => {
                assert_eq!(changed, work.changed());
                tallies.1.fetch_add(1, Ordering::Relaxed);
            }
            Err(Unfinished::Left(_)) => {
                assert!(!work.changed(), "a call that was left changed something");
                tallies.0.fetch_add(1, Ordering::Relaxed);
            }
            Err(Unfinished::LeftCommitting(_)) => {}
            Err(other) => panic!("{other:?}"),
        }
        assert_eq!(work.blocked.load(Ordering::Relaxed), 0);
    });
    assert!(left.load(Ordering::Relaxed) > 0 && returned.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_caller_that_waits_always_hears_of_the_end() {
    in_every_order(|| {
        let work = Changing::new(&Cancel::new());
        let worker = work.start();
        assert!(work.handover.wait(&work.call, &work.caller, &work.blocked).unwrap());
        assert!(work.changed());
        worker.join().unwrap();
    });
}
