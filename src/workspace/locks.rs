//! One change of a file at a time, among all the calls of a workspace and its clones.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::context::{Call, Incomplete};
use crate::os::Identity;
use crate::sync::{Condvar, Mutex, MutexGuard};

/// How long a waiting call sleeps before it looks at its deadline again.
const PATIENCE: Duration = Duration::from_millis(10);

/// A name in a directory, whatever path led there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) directory: Identity,
    pub(super) name: Vec<u8>,
}

/// The names that some call is changing.
#[derive(Debug, Default)]
pub(super) struct FileLocks {
    held: Mutex<HashSet<Key>>,
    released: Condvar,
}

/// The right to change some names, until it is dropped.
#[derive(Debug)]
pub(super) struct FileLock {
    locks: Arc<FileLocks>,
    keys: Vec<Key>,
}

impl FileLocks {
    /// Waits until none of the names is held and takes all of them at once, so that two calls
    /// never wait for each other. A call that is over gets none.
    pub(super) fn lock(
        self: &Arc<Self>,
        keys: Vec<Key>,
        call: &Call,
    ) -> Result<FileLock, Incomplete> {
        let mut held = self.held();
        loop {
            if let Some(why) = call.stop_reason() {
                return Err(why);
            }
            if !keys.iter().any(|key| held.contains(key)) {
                break;
            }
            let waited = self.released.wait_timeout(held, PATIENCE);
            (held, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        held.extend(keys.iter().cloned());
        Ok(FileLock { locks: self.clone(), keys })
    }

    fn held(&self) -> MutexGuard<'_, HashSet<Key>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        let mut held = self.locks.held();
        self.keys.iter().for_each(|key| {
            held.remove(key);
        });
        self.locks.released.notify_all();
    }
}

#[cfg(test)]
#[cfg(ripkit_loom)]
mod models;

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    fn key(name: &str) -> Key {
        Key { directory: Identity { device: 1, inode: 2 }, name: name.into() }
    }

    #[test]
    fn a_name_is_held_by_one_call_and_the_next_gets_it_afterwards() {
        let locks = Arc::new(FileLocks::default());
        let first = locks.lock(vec![key("a"), key("b")], &Call::default()).unwrap();
        let other = locks.lock(vec![key("c")], &Call::default());
        assert!(other.is_ok(), "another name is free");
        let cancel = crate::Cancel::new();
        cancel.cancel();
        let over = Call::default().with_cancel(cancel);
        assert_eq!(locks.lock(vec![key("d")], &over).unwrap_err(), Incomplete::Cancelled);
        let hurried = Call::default().with_timeout(Duration::from_millis(30));
        assert_eq!(locks.lock(vec![key("b")], &hurried).unwrap_err(), Incomplete::Timeout);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| locks.lock(vec![key("b")], &Call::default()).is_ok());
            drop(first);
            assert!(waiting.join().unwrap());
        });
    }

    // Each wants two of three names, so that they wait for each other in a circle if each takes
    // one and then the next.
    #[test]
    fn of_those_who_want_the_same_names_one_has_them_and_all_get_them() {
        const ROUNDS: usize = if cfg!(miri) { 3 } else { 200 };
        let (locks, start) = (Arc::new(FileLocks::default()), Barrier::new(3));
        let users: [AtomicUsize; 3] = Default::default();
        let enter = |worker: usize| {
            let wanted = [worker, (worker + 1) % 3];
            let keys = wanted.map(|number| key(["a", "b", "c"][number])).to_vec();
            let lock = locks.lock(keys, &Call::default()).unwrap();
            // Relaxed: the lock alone makes one see what the other did.
            for user in wanted.map(|number| &users[number]) {
                assert_eq!(user.load(Ordering::Relaxed), 0, "somebody else has it");
                user.store(1, Ordering::Relaxed);
            }
            thread::yield_now();
            for user in wanted.map(|number| &users[number]) {
                user.store(0, Ordering::Relaxed);
            }
            drop(lock);
        };
        thread::scope(|scope| {
            for worker in 0..3 {
                let (start, enter) = (&start, &enter);
                scope.spawn(move || {
                    start.wait();
                    (0..ROUNDS).for_each(|_| enter(worker));
                });
            }
        });
        assert!(locks.held().is_empty());
    }
}
