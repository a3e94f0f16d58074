//! Every order in which workers end and their caller waits or leaves.

use std::panic::resume_unwind;
use std::sync::atomic::AtomicUsize as Tally;

use loom::thread;

use super::*;
use crate::context::Cancel;
use crate::sync::in_every_order;

/// Work whose effect only the lock of the latch makes visible to other threads.
#[derive(Default)]
struct Traced(AtomicUsize);

impl Job for Traced {
    fn work(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    fn stop(&self) {}

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Work that panics.
struct Panicking;

impl Job for Panicking {
    fn work(&self) {
        // Not through the panic hook, which would print in every order.
        resume_unwind(Box::new("the worker fell"));
    }

    fn stop(&self) {}

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Two workers, each at a job of its own.
struct Pair<J> {
    latch: Arc<JobLatch>,
    first: Arc<J>,
    second: Arc<Traced>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl<J: Job> Pair<J> {
    fn start(first: J) -> Pair<J> {
        let (latch, first) = (Arc::new(JobLatch::new(2)), Arc::new(first));
        let second = Arc::new(Traced::default());
        let threads = vec![start(&latch, &first), start(&latch, &second)];
        Pair { latch, first, second, threads }
    }

    fn join(self) {
        for worker in self.threads {
            worker.join().unwrap();
        }
    }
}

fn start(latch: &Arc<JobLatch>, job: &Arc<impl Job>) -> thread::JoinHandle<()> {
    let (latch, job) = (latch.clone(), job.clone());
    thread::spawn(move || latch.work(&*job))
}

/// Runs a model in every order; fails unless it returns true in some of them and false in others.
fn in_every_order_with_both_ends(model: impl Fn() -> bool + Send + Sync + 'static) {
    let tally = Arc::new(Tally::new(0));
    let held = tally.clone();
    let orders = in_every_order(move || {
        held.fetch_add(usize::from(model()), Ordering::Relaxed);
    });
    let held = tally.load(Ordering::Relaxed);
    assert!(0 < held && held < orders, "{held} of {orders}");
}

#[test]
fn the_count_of_abandoned_jobs_is_zero_after_the_last_one_ends() {
    in_every_order_with_both_ends(|| {
        let abandoned = Arc::new(AtomicUsize::new(0));
        let pair = Pair::start(Traced::default());
        pair.latch.abandon(&abandoned);
        let was_left = abandoned.load(Ordering::Relaxed) == 1;
        pair.join();
        assert_eq!(abandoned.load(Ordering::Relaxed), 0);
        was_left
    });
}

#[test]
fn a_waiting_caller_always_hears_of_the_end_and_sees_what_was_done() {
    in_every_order(|| {
        let pair = Pair::start(Traced::default());
        assert!(pair.latch.wait(&*pair.first, &Call::default()));
        assert_eq!(pair.first.0.load(Ordering::Relaxed), 1);
        assert_eq!(pair.second.0.load(Ordering::Relaxed), 1);
        assert!(pair.latch.outcome().is_ok());
        pair.join();
    });
}

#[test]
fn the_text_of_a_panic_is_there_when_the_caller_hears_of_the_end() {
    in_every_order(|| {
        let pair = Pair::start(Panicking);
        assert!(pair.latch.wait(&*pair.first, &Call::default()));
        let error = pair.latch.outcome().unwrap_err().to_string();
        assert_eq!(error, "a worker thread failed unexpectedly: the worker fell");
        pair.join();
    });
}

// Loom has no clock, so a thread wakes the caller as the end of a tick would: the first time it
// sees that it is cancelled, the second time that its grace is over.
#[test]
fn a_caller_whose_time_runs_out_at_any_moment_leaves_or_hears_of_the_end() {
    in_every_order_with_both_ends(|| {
        let abandoned = Arc::new(AtomicUsize::new(0));
        let cancel = Cancel::new();
        cancel.cancel();
        let pair = Pair::start(Traced::default());
        let latch = pair.latch.clone();
        let clock = thread::spawn(move || (0..2).for_each(|_| latch.all_done.notify_all()));
        let left = !pair.latch.wait(&*pair.first, &Call::default().with_cancel(cancel));
        if left {
            pair.latch.abandon(&abandoned);
        } else {
            assert_eq!(pair.second.0.load(Ordering::Relaxed), 1);
        }
        pair.join();
        clock.join().unwrap();
        assert_eq!(abandoned.load(Ordering::Relaxed), 0);
        left
    });
}
