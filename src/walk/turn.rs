//! Results that wait for their turn, and who takes them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::pool::lock;
use crate::walk::dir_run::Account;
use crate::walk::sequence::Sequence;
use crate::walk::visitor::ResultSink;

/// Results that wait for their turn.
pub(super) struct Order<F> {
    pub(super) sequence: Sequence<Piece<F>>,
    /// The weight of those that wait.
    pub(super) waiting: usize,
}

/// The collector, used by one thread at a time.
pub(super) struct Taker<C> {
    /// Gone once the caller has taken it away.
    pub(super) collector: Option<C>,
    pub(super) enough: bool,
}

/// What has a place.
pub(super) enum Piece<F> {
    Account(Box<Account<F>>),
    /// Shared with the thread that is still at it; the weight is known when it is done.
    Found(Arc<Mutex<F>>, Arc<AtomicUsize>),
}

impl<F> Order<F> {
    /// The first, if it is its turn.
    pub(super) fn pop(&mut self) -> Option<Piece<F>> {
        let piece = self.sequence.pop()?;
        if let Piece::Found(_, weight) = &piece {
            self.waiting = self.waiting.saturating_sub(weight.load(Ordering::Relaxed));
        }
        Some(piece)
    }
}

impl<C> Taker<C> {
    /// Hands it to the collector.
    pub(super) fn receive<F: Default>(&mut self, piece: Piece<F>)
    where
        C: ResultSink<F>,
    {
        let Some(collector) = &mut self.collector else { return };
        match piece {
            Piece::Account(account) => {
                let Account { report, found } = *account;
                if report.interrupted {
                    collector.gap();
                }
                collector.directory(report);
                let found =
                    found.map(|found| found.into_inner().unwrap_or_else(PoisonError::into_inner));
                self.enough = found.is_some_and(|found| collector.found(found).is_break());
            }
            Piece::Found(found, _) => {
                let found = std::mem::take(&mut *lock(&found));
                self.enough = collector.found(found).is_break();
            }
        }
    }
}
