//! What threads wait with where a model tries every order in which they can meet.
//!
//! These are the types of std. In the tests under `--cfg ripkit_loom` they are those of loom,
//! which work within a model alone; so only what a model runs takes them from here.

#[cfg(all(test, ripkit_loom))]
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};
#[cfg(not(all(test, ripkit_loom)))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Locks a mutex. A poisoned mutex is used nevertheless: the panic has been reported, and no code
/// leaves inconsistent data behind while it has a lock.
pub(crate) fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Runs a model in all distinguishable orders of its threads, and returns their number.
// Two attributes, here and above the models, since clippy recognizes tests only by a plain
// `cfg(test)`.
#[cfg(test)]
#[cfg(ripkit_loom)]
pub(crate) fn in_every_order(model: impl Fn() + Send + Sync + 'static) -> usize {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let tally = Arc::new(AtomicUsize::new(0));
    let orders = tally.clone();
    loom::model(move || {
        tally.fetch_add(1, Ordering::Relaxed);
        model();
    });
    orders.load(Ordering::Relaxed)
}
