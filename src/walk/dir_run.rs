//! What follows from some directories that are listed in one go.

use std::sync::Mutex;

use crate::walk::batch::Batch;
use crate::walk::pending_dir::PendingDir;
use crate::walk::recorded_walk::WalkChunk;
use crate::walk::report::DirectoryReport;

/// How many directories are listed in one go at most: enough that handing results over costs
/// little beside, few enough that other threads have work too.
pub(super) const MOST: usize = 64;

/// What is known of consecutive entries, and needs no further look.
#[derive(Debug, Default)]
pub(super) struct Account<F> {
    pub(super) report: DirectoryReport,
    pub(super) found: Option<Mutex<F>>,
}

/// What follows from a part of a run.
pub(super) enum Step<F> {
    Done(Box<Account<F>>),
    Visit(Batch),
    List(PendingDir),
    Follow(WalkChunk),
}

/// Directories that are listed in one go, and what follows from them in path order.
pub(super) struct Run<F> {
    steps: Vec<Step<F>>,
    directories: usize,
    /// Whether a collector may have enough in the middle of what is known at once; then each
    /// piece is handed over by itself, so that nothing behind it is told of.
    may_be_cut: bool,
}

impl<F: Default> Run<F> {
    pub(super) fn new(may_be_cut: bool) -> Run<F> {
        Run { steps: Vec::new(), directories: 0, may_be_cut }
    }

    /// Whether nothing is in it yet.
    pub(super) fn is_empty(&self) -> bool {
        self.directories == 0
    }

    /// Whether one more directory would be too many.
    pub(super) fn is_full(&self) -> bool {
        self.directories >= MOST
    }

    /// Adds the account of a directory, before what is in it.
    pub(super) fn list(&mut self, report: DirectoryReport) {
        self.directories += 1;
        // What is behind a gap is handed over by itself.
        let last = if report.interrupted { None } else { self.last_open() };
        match last {
            Some(last) => last.report.absorb(report),
            None => self.push(Step::Done(Box::new(Account { report, found: None }))),
        }
    }

    /// Adds the account of a directory that an earlier walk made.
    pub(super) fn list_again(&mut self, report: &DirectoryReport) {
        match self.last_open() {
            Some(last) if report.is_bare() => {
                last.report.stats.count(&report.stats);
                self.directories += 1;
            }
            _ => self.list(report.clone()),
        }
    }

    /// Lets `add` add to what is known at once.
    pub(super) fn know<R>(&mut self, add: impl FnOnce(&Mutex<F>) -> R) -> R {
        if self.last_open().is_none() {
            self.push(Step::Done(Box::default()));
        }
        match self.last_open() {
            Some(last) => add(last.found.get_or_insert_default()),
            // Not so: what was pushed is open.
            None => add(&Mutex::default()),
        }
    }

    /// The last account, if more may be added to it.
    fn last_open(&mut self) -> Option<&mut Account<F>> {
        match self.steps.last_mut() {
            Some(Step::Done(last)) if !(self.may_be_cut && last.found.is_some()) => Some(last),
            _ => None,
        }
    }

    pub(super) fn push(&mut self, step: Step<F>) {
        self.steps.push(step);
    }

    /// All of it, in path order.
    pub(super) fn into_steps(self) -> Vec<Step<F>> {
        self.steps
    }
}
