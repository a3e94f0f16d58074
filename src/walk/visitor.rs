//! What a walk is for: who looks at the files, and who takes what was found.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use crate::walk::batch::Batch;
use crate::walk::recorded_walk::EntryRange;
use crate::walk::report::DirectoryReport;

/// What is done with the files of a batch.
pub(crate) trait Visitor: Send + Sync + 'static {
    /// Whether a visit costs so little that it is made on the spot, without handing batches over.
    const INLINE: bool = false;
    /// What a thread keeps from batch to batch, such as its buffers.
    type State;
    /// What a batch gives.
    type Output: Default + Send + 'static;

    /// How much memory results take while they wait for their turn, in bytes or so.
    fn weight(found: &Self::Output) -> usize;

    /// Makes the state of one thread.
    fn state(&self) -> Self::State;

    /// Whether the collector may have enough in the middle of what is known at once.
    fn may_be_cut(&self) -> bool {
        false
    }

    /// Adds what a batch gives if nothing of it has to be opened; false if something has, and then
    /// what has not is marked.
    fn visit_unopened(
        &self,
        _batch: &mut Batch,
        _scan: &dyn WalkControl,
        _found: &mut Self::Output,
    ) -> bool {
        false
    }

    /// Adds what files on a known way give if nothing of them has to be looked at, be it that an
    /// earlier visit left a note there. Bytes of their paths that belong to where the walk began
    /// are `base`.
    fn visit_recorded(
        &self,
        (_files, _base): (&EntryRange, usize),
        _scan: &dyn WalkControl,
        _found: &mut Self::Output,
    ) -> bool {
        false
    }

    /// Looks at the files of a batch; checks [`WalkControl::keeps_going`] between them, and puts
    /// results into `found` as soon as it has them: the caller may take it away when it has
    /// waited too long.
    fn visit(
        &self,
        state: &mut Self::State,
        batch: &Batch,
        scan: &dyn WalkControl,
        found: &Mutex<Self::Output>,
    );
}

/// Who takes the results, in path order and one at a time.
pub(crate) trait ResultSink<F>: Send + 'static {
    /// Takes the account of a directory, before anything in it.
    fn directory(&mut self, report: DirectoryReport);

    /// Takes the results of a batch; breaks when it has enough.
    fn found(&mut self, found: F) -> ControlFlow<()>;

    /// Results are missing here; what comes now lies behind them.
    fn gap(&mut self) {}
}

/// A walk as seen from a visit.
pub(crate) trait WalkControl {
    /// False when the visit should return with what it has.
    fn keeps_going(&self) -> bool;

    /// Lets threads that have nothing to do run `work` too.
    fn share_work(&self, work: SharedWork);

    /// Counts for the progress report.
    fn count(&self, files: u64, results: u64);
}

/// Work that a thread shares with those that have nothing to do.
pub(crate) type SharedWork = Arc<dyn Fn(&dyn WalkControl) + Send + Sync>;
