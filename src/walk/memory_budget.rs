//! How much memory what is kept from call to call may take.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that may be taken, and are given back when what took them goes.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBudget {
    taken: Arc<AtomicUsize>,
    max: usize,
}

/// Bytes that are taken.
#[derive(Debug)]
pub(crate) struct Reservation {
    from: Arc<AtomicUsize>,
    bytes: usize,
}

impl MemoryBudget {
    pub(crate) fn new(max: usize) -> MemoryBudget {
        MemoryBudget { taken: Arc::default(), max }
    }

    /// Bytes that are taken.
    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Takes so many bytes, if they are there besides `others`.
    pub(crate) fn take(&self, bytes: usize, others: usize) -> Option<Reservation> {
        let before = self.taken.fetch_add(bytes, Ordering::Relaxed);
        let taken = Reservation { from: self.taken.clone(), bytes };
        (before.saturating_add(bytes).saturating_add(others) <= self.max).then_some(taken)
    }
}

impl Reservation {
    /// Gives back all but so many bytes.
    pub(crate) fn keep(&mut self, bytes: usize) {
        let too_many = self.bytes.saturating_sub(bytes);
        self.from.fetch_sub(too_many, Ordering::Relaxed);
        self.bytes -= too_many;
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.from.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_there_again_when_what_took_it_goes() {
        let budget = MemoryBudget::new(10);
        let first = budget.take(6, 2).unwrap();
        assert!(budget.take(3, 2).is_none(), "6 + 3 + 2 are more than 10");
        let second = budget.take(2, 2).unwrap();
        drop(first);
        assert!(budget.take(8, 0).is_some() && budget.take(9, 0).is_none());
        drop(second);
        let mut max = budget.take(10, 0).unwrap();
        max.keep(4);
        max.keep(5);
        assert!(budget.take(6, 0).is_some() && budget.take(7, 0).is_none(), "of 10, 4 are kept");
        drop(max);
        assert!(budget.take(10, 0).is_some());
    }
}
