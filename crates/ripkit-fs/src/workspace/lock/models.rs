//! Models of calls that lock and release overlapping names, run in every order.

use std::sync::atomic::Ordering;

use loom::sync::atomic::AtomicUsize;
use loom::thread;

use super::*;
use crate::sync::in_every_order;

/// Three names, and how many calls are at work on each.
struct Names {
    locks: Arc<FileLocks>,
    users: [AtomicUsize; 3],
}

impl Names {
    fn new() -> Arc<Names> {
        Arc::new(Names { locks: Arc::default(), users: Default::default() })
    }

    fn take(&self, wanted: &[usize]) -> FileLock {
        let directory = Identity { device: 1, inode: 2 };
        let names = wanted.iter().map(|number| vec![b"abc"[*number]]);
        let keys = names.map(|name| LockKey { directory, name }).collect();
        self.locks.lock(keys, &Call::default()).unwrap()
    }

    /// Locks names, works on them and releases them.
    fn work_on(&self, wanted: &[usize]) {
        let lock = self.take(wanted);
        // Relaxed: only the lock makes the writes of one call visible to the other.
        for user in wanted.iter().map(|number| &self.users[*number]) {
            assert_eq!(user.load(Ordering::Relaxed), 0, "another call has it");
            user.store(1, Ordering::Relaxed);
        }
        for user in wanted.iter().map(|number| &self.users[*number]) {
            user.store(0, Ordering::Relaxed);
        }
        drop(lock);
    }

    fn start(self: &Arc<Self>, wanted: &'static [usize]) -> thread::JoinHandle<()> {
        let names = self.clone();
        thread::spawn(move || names.work_on(wanted))
    }
}

// Here and in the cycle one name is locked at first: a call that locked names one by one would wait
// for it with another name locked.
#[test]
fn two_calls_that_name_the_same_two_files_crosswise_both_get_them() {
    in_every_order(|| {
        let names = Names::new();
        let first = names.take(&[0]);
        let other = names.start(&[1, 0]);
        drop(first);
        names.work_on(&[0, 1]);
        other.join().unwrap();
        assert!(names.locks.locked().is_empty());
    });
}

#[test]
fn three_calls_that_want_two_of_three_names_in_a_circle_all_get_them() {
    in_every_order(|| {
        let names = Names::new();
        let first = names.take(&[0]);
        let others = [names.start(&[1, 2]), names.start(&[2, 0])];
        drop(first);
        names.work_on(&[0, 1]);
        for call in others {
            call.join().unwrap();
        }
        assert!(names.locks.locked().is_empty());
    });
}

#[test]
fn a_call_whose_names_are_free_waits_for_no_other() {
    in_every_order(|| {
        let names = Names::new();
        let (first, second) = (names.take(&[0]), names.take(&[1]));
        let calls = [names.start(&[1]), names.start(&[0])];
        drop(first);
        let [late, early] = calls;
        early.join().unwrap();
        drop(second);
        late.join().unwrap();
        assert!(names.locks.locked().is_empty());
    });
}
