use std::sync::atomic::AtomicBool;
use std::thread;

use super::*;
use crate::context::Cancel;

/// How often what depends on the order of threads is tried; fewer under Miri, which tries another
/// order with each seed.
const ROUNDS: usize = if cfg!(miri) { 2 } else { 300 };

/// Work that is stuck, whoever asks it to stop, until the gate opens.
#[derive(Default)]
struct Stuck {
    is_open: Mutex<bool>,
    opened: Condvar,
    stopped: AtomicBool,
}

impl Stuck {
    fn open(&self) {
        *lock(&self.is_open) = true;
        self.opened.notify_all();
    }
}

impl Job for Stuck {
    fn work(&self) {
        let is_open = lock(&self.is_open);
        drop(self.opened.wait_while(is_open, |is_open| !*is_open));
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Work of which one thread panics and the others go on until they are asked to stop.
#[derive(Default)]
struct Panicking {
    has_panicked: AtomicBool,
    stopped: AtomicBool,
}

impl Job for Panicking {
    fn work(&self) {
        assert!(self.has_panicked.swap(true, Ordering::Relaxed), "the first one fails");
        while !self.stopped.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

fn cancelled() -> Call {
    let cancel = Cancel::new();
    cancel.cancel();
    Call::default().with_cancel(cancel)
}

/// A job at which `threads` threads work, while `caller` does what a caller does.
fn shift(threads: usize, job: &impl Job, caller: impl FnOnce(&Shift)) {
    let shift = Shift::new(threads);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| shift.work(job));
        }
        caller(&shift);
    });
}

// The caller leaves and the last thread ends in whatever order.
#[test]
fn a_job_that_was_left_behind_counts_until_it_ends_and_no_longer() {
    for round in 0..ROUNDS {
        let (job, abandoned) = (Stuck::default(), Arc::new(AtomicUsize::new(0)));
        shift(2, &job, |shift| {
            job.open();
            (0..round % 20).for_each(|_| thread::yield_now());
            shift.abandon(&abandoned);
        });
        assert_eq!(abandoned.load(Ordering::Acquire), 0, "in round {round}");
    }
}

#[test]
fn a_caller_is_released_from_a_stuck_job_and_that_is_counted() {
    let (job, abandoned) = (Stuck::default(), Arc::new(AtomicUsize::new(0)));
    shift(2, &job, |shift| {
        assert!(!shift.wait(&job, &cancelled()), "nobody handed anything in");
        assert!(job.stopped.load(Ordering::Relaxed), "it was asked to stop");
        shift.abandon(&abandoned);
        assert_eq!(abandoned.load(Ordering::Acquire), 1);
        job.open();
    });
    assert_eq!(abandoned.load(Ordering::Acquire), 0);
}

#[test]
fn a_caller_hears_of_the_end_however_late_it_comes_to_wait() {
    for round in 0..ROUNDS {
        let job = Stuck::default();
        job.open();
        shift(3, &job, |shift| {
            (0..round % 20).for_each(|_| thread::yield_now());
            assert!(shift.wait(&job, &Call::default()));
            assert!(shift.outcome().is_ok());
        });
    }
}

#[test]
fn a_thread_that_panics_stops_the_others_and_fails_the_call() {
    let job = Panicking::default();
    shift(3, &job, |shift| {
        assert!(shift.wait(&job, &Call::default()));
        let error = shift.outcome().unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
        assert!(error.to_string().contains("the first one fails"), "{error}");
    });
}

#[test]
// Under Miri, rayon's own threads are too slow to be worth it.
#[cfg_attr(miri, ignore)]
fn as_many_stuck_jobs_as_are_put_up_with_are_told_and_forgotten_when_they_end() {
    let (pool, job) = (Pool::new(2), Arc::new(Stuck::default()));
    for _ in 0..MAX_ABANDONED {
        pool.run(&job, &cancelled()).unwrap();
    }
    let refused = pool.run(&job, &Call::default()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ResourceExhausted);
    assert!(refused.to_string().contains("8 earlier calls that ran out of time"), "{refused}");
    job.open();
    let until = Instant::now() + Duration::from_mins(1);
    while pool.abandoned.load(Ordering::Acquire) > 0 {
        assert!(Instant::now() < until, "they never ended");
        thread::sleep(TICK);
    }
    pool.run(&job, &Call::default()).unwrap();
    assert_eq!(lock(&pool.idle).len(), 1, "its team waits for the next");
}
