use super::*;
use crate::context::Cancel;

/// Work that goes on until a gate is opened, whatever it is told.
#[derive(Default)]
struct Stuck {
    opened: Mutex<bool>,
    gate: Condvar,
}

impl Stuck {
    fn open(&self) {
        *lock(&self.opened) = true;
        self.gate.notify_all();
    }
}

impl Job for Stuck {
    fn work(&self) {
        let mut opened = lock(&self.opened);
        while !*opened {
            opened = self.gate.wait(opened).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn stop(&self) {}

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Work that is done at once.
struct Quick;

impl Job for Quick {
    fn work(&self) {}

    fn stop(&self) {}

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

/// Work that panics on one of its threads.
struct Broken;

impl Job for Broken {
    fn work(&self) {
        panic!("in a worker");
    }

    fn stop(&self) {}

    fn progress(&self) -> Progress {
        Progress::default()
    }
}

#[test]
fn g10_a_caller_leaves_a_stuck_worker_at_its_deadline_and_the_ninth_is_refused() {
    let pool = Pool::new(1);
    let job = Arc::new(Stuck::default());
    let deadline = Duration::from_millis(200);
    let mut quickest = Duration::MAX;
    for _ in 0..MAX_ABANDONED {
        let started = Instant::now();
        pool.run(&job, &Call::default().with_timeout(deadline)).unwrap();
        assert!(started.elapsed() >= deadline, "{:?}", started.elapsed());
        quickest = quickest.min(started.elapsed());
        // Others are served by teams of their own.
        if pool.abandoned.load(Ordering::Acquire) < MAX_ABANDONED {
            pool.run(&Arc::new(Quick), &Call::default()).unwrap();
        }
    }
    // The grace, and a tick; the best of them, since a loaded machine is no fault of ours.
    assert!(quickest < deadline + GRACE + Duration::from_millis(50), "{quickest:?}");
    let refused = pool.run(&Arc::new(Quick), &Call::default()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ResourceExhausted);
    let told = "8 earlier calls that ran out of time are still at work. Wait; a regular expression \
        is very slow, or a file system does not answer.";
    assert_eq!(refused.to_string(), told);
    job.open();
    for _ in 0..1000 {
        if pool.abandoned.load(Ordering::Acquire) == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    pool.run(&Arc::new(Quick), &Call::default()).unwrap();
}

#[test]
fn g10_a_caller_leaves_a_stuck_worker_when_it_is_cancelled() {
    let pool = Pool::new(2);
    let job = Arc::new(Stuck::default());
    let cancel = Cancel::new();
    cancel.cancel();
    let started = Instant::now();
    pool.run(&job, &Call::default().with_cancel(cancel)).unwrap();
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    job.open();
}

#[test]
fn g12_a_worker_that_panics_fails_its_call_and_no_other() {
    let pool = Pool::new(3);
    for _ in 0..20 {
        let error = pool.run(&Arc::new(Broken), &Call::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
        assert_eq!(error.to_string(), "a worker thread failed unexpectedly: in a worker");
        pool.run(&Arc::new(Quick), &Call::default()).unwrap();
    }
}
