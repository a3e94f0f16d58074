//! The threads of one walk: who lists, who visits, and in which order results are collected.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, TryLockError};

use crossbeam_channel::{Receiver, Sender, TrySendError};

use crate::context::{Call, Incomplete, Progress};
use crate::error::{Error, ErrorCode};
use crate::pool::{Job, Pool, lock};
use crate::walk::batch::Batch;
use crate::walk::beginning::{self, Beginning};
use crate::walk::cached_dir::CachedDir;
use crate::walk::dir_reader::{DirReader, Part};
use crate::walk::dir_run::{Run, Step};
use crate::walk::options::WalkOptions;
use crate::walk::pending_dir::PendingDir;
use crate::walk::recorded_walk::{WalkChunk, WalkEvent};
use crate::walk::report::DirectoryReport;
use crate::walk::sequence::{Place, Sequence};
use crate::walk::turn::{Order, Piece, Taker};
use crate::walk::visitor::{ResultSink, SharedWork, Visitor, WalkControl};
use crate::walk::walk_replay::WalkReplay;
use crate::walk::work_queue::{Task, WorkQueue};
use crate::workspace::Workspace;

/// How much may wait for a result that comes before it, in bytes or so. Behind one slow file
/// everything else would pile up.
const MAX_WAITING: usize = 16 << 20;

/// How many batches the walk may be ahead of the visits, for each thread.
const AHEAD: usize = 4;

/// One walk in progress.
pub(crate) struct Walk<V: Visitor, C> {
    visitor: V,
    expander: DirReader,
    guide: WalkReplay,
    frontier: WorkQueue,
    sender: Sender<(Batch, Place)>,
    receiver: Receiver<(Batch, Place)>,
    order: Mutex<Order<V::Output>>,
    taker: Mutex<Taker<C>>,
    /// Nobody should go on: there is enough, or the call is over.
    stopped: AtomicBool,
    /// The call was over before everything was looked at.
    interrupted: AtomicBool,
    call: Call,
    threads: usize,
    /// Threads that are visiting a batch.
    busy: AtomicUsize,
    files: AtomicU64,
    results: AtomicU64,
}

impl<F> Step<F> {
    /// What is still to be done for it; what is done already takes its place.
    fn into_task(self, place: Place, sequence: &mut Sequence<Piece<F>>) -> Option<Task> {
        match self {
            Step::Visit(batch) => Some(Task::Visit(batch, place)),
            Step::List(directory) => Some(Task::List(directory, place)),
            Step::Follow(leg) => Some(Task::Follow(leg, place)),
            Step::Done(account) => {
                sequence.show(place, Piece::Account(account));
                sequence.settle(place);
                None
            }
        }
    }
}

impl<V: Visitor, C: ResultSink<V::Output>> Walk<V, C> {
    /// Walks, visits and collects; returns the collector, and why it is incomplete if it is.
    ///
    /// # Errors
    /// Those of [`Pool::run`].
    pub(crate) fn run(
        workspace: &Workspace,
        options: WalkOptions,
        (pool, call): (&Pool, &Call),
        (visitor, mut collector): (V, C),
    ) -> Result<(C, Option<Incomplete>), Error> {
        let (sequence, place) = Sequence::new();
        let mut report = DirectoryReport::default();
        let roots = beginning::all(workspace, &options, call, &mut report);
        collector.directory(report);
        let (sender, receiver) = crossbeam_channel::bounded(AHEAD * pool.threads());
        let scan = Arc::new(Walk {
            visitor,
            expander: DirReader::new(options, workspace.clone()),
            guide: WalkReplay::default(),
            frontier: WorkQueue::default(),
            sender,
            receiver,
            order: Mutex::new(Order { sequence, waiting: 0 }),
            taker: Mutex::new(Taker { collector: Some(collector), enough: false }),
            stopped: AtomicBool::new(false),
            interrupted: AtomicBool::new(false),
            call: call.clone(),
            threads: pool.threads(),
            busy: AtomicUsize::new(0),
            files: AtomicU64::new(0),
            results: AtomicU64::new(0),
        });
        scan.begin(place, roots);
        pool.run(&scan, call)?;
        if !scan.stopped.load(Ordering::Acquire) {
            scan.guide.end(&scan.expander);
        }
        scan.take().ok_or_else(|| {
            Error::new(ErrorCode::Internal, "the results of a walk were taken twice")
        })
    }

    fn begin(&self, place: Place, roots: Vec<Beginning>) {
        let first = Piece::Account(Box::default());
        let places = lock(&self.order).sequence.expand(place, first, roots.len());
        self.frontier.push(roots.into_iter().zip(places).map(|(start, place)| {
            let (index, task) = match start {
                Beginning::Directory(inner) => (inner.start, Task::List(inner, place)),
                Beginning::File(index, batch) => (index, Task::Visit(batch, place)),
            };
            (index, task.position(), task)
        }));
    }

    /// Lists, or hands a batch on; false if there is nothing to walk at the moment.
    fn walk(&self, state: &mut V::State) -> bool {
        match self.frontier.pop() {
            None => return false,
            Some(Task::List(directory, place)) => self.list(state, directory, place),
            Some(Task::Follow(leg, place)) => self.follow(state, &leg, place),
            Some(Task::Assist(work)) => {
                work(self);
                self.frontier.finish();
            }
            Some(Task::Visit(batch, place)) => match self.sender.try_send((batch, place)) {
                Ok(()) => self.frontier.nudge(),
                // Another thread filled the channel meanwhile.
                Err(TrySendError::Full(task) | TrySendError::Disconnected(task)) => {
                    self.visit(state, task);
                }
            },
        }
        true
    }

    /// Lists a directory, and at once those below it that are as they were kept.
    fn list(&self, state: &mut V::State, directory: PendingDir, place: Place) {
        let start = directory.start;
        let mut run = Run::new(self.visitor.may_be_cut());
        let keeps_going = || self.keeps_going();
        if let Some(route) = self.guide.route(&self.expander, &directory, &keeps_going) {
            WalkChunk::all(&route, start).for_each(|leg| run.push(Step::Follow(leg)));
            return self.begin_steps(run, start, place);
        }
        let mut ahead = vec![Part::Directory(directory)];
        while let Some(part) = ahead.pop() {
            match part {
                Part::Files(batch) => self.know(state, batch, &mut run),
                Part::Directory(directory) => {
                    let known = self.at_hand(&directory, &run);
                    if known.is_none() && !run.is_empty() {
                        run.push(Step::List(directory));
                        continue;
                    }
                    let expansion = self.expander.expand(&directory, known, &keeps_going);
                    run.list(expansion.report);
                    ahead.extend(expansion.parts.into_iter().rev());
                }
            }
        }
        self.begin_steps(run, start, place);
    }

    /// Goes a part of a way that an earlier walk went.
    fn follow(&self, state: &mut V::State, leg: &WalkChunk, place: Place) {
        let mut run = Run::new(self.visitor.may_be_cut());
        let base = self.expander.base(leg.start);
        for (index, stop) in leg.stops() {
            if !self.keeps_going() {
                run.push(Step::Follow(leg.from(index)));
                break;
            }
            match stop {
                WalkEvent::Directory(report) => run.list_again(report),
                WalkEvent::Files(files) => {
                    let pass = |found: &_| {
                        self.visitor.visit_recorded((files, base), self, &mut lock(found))
                    };
                    if !run.know(pass) {
                        let batch = self.expander.batch(files, leg.start);
                        self.know(state, batch, &mut run);
                    }
                }
            }
        }
        self.begin_steps(run, leg.start, place);
    }

    /// Gives the steps of a run the place of what it came from, and begins those that are not done.
    fn begin_steps(&self, run: Run<V::Output>, start: usize, place: Place) {
        let steps = run.into_steps();
        let tasks = self.settle(|sequence| {
            let places = sequence.expand(place, Piece::Account(Box::default()), steps.len());
            let steps = steps.into_iter().zip(places);
            steps.filter_map(|(step, place)| step.into_task(place, sequence)).collect::<Vec<_>>()
        });
        self.frontier.push(tasks.into_iter().map(|task| (start, task.position(), task)));
        self.frontier.finish();
    }

    /// A directory that costs nothing to list, if there is room for it in the run.
    fn at_hand(&self, directory: &PendingDir, run: &Run<V::Output>) -> Option<Arc<CachedDir>> {
        let has_room = !run.is_empty() && !run.is_full() && self.keeps_going();
        self.expander.at_hand(directory).filter(|_| has_room)
    }

    /// Takes what is known of some files at once, or leaves them for a visit.
    fn know(&self, state: &mut V::State, mut batch: Batch, run: &mut Run<V::Output>) {
        if V::INLINE {
            run.know(|found| self.visitor.visit(state, &batch, self, found));
        } else if !run.know(|found| self.visitor.visit_unopened(&mut batch, self, &mut lock(found)))
        {
            run.push(Step::Visit(batch));
        }
    }

    fn visit(&self, state: &mut V::State, (batch, place): (Batch, Place)) {
        let (found, weight) = (Arc::new(Mutex::default()), Arc::new(AtomicUsize::new(0)));
        lock(&self.order).sequence.show(place, Piece::Found(found.clone(), weight.clone()));
        self.busy.fetch_add(1, Ordering::AcqRel);
        self.visitor.visit(state, &batch, self, &found);
        self.busy.fetch_sub(1, Ordering::AcqRel);
        drop(batch);
        let bytes = V::weight(&lock(&found));
        weight.store(bytes, Ordering::Relaxed);
        lock(&self.order).waiting += bytes;
        self.settle(|sequence| sequence.settle(place));
        self.frontier.finish();
    }

    /// Whether too much waits already, and somebody else is at work on what it waits for. Tasks
    /// are begun from the left, so that what is waited for has been begun.
    fn must_wait(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0 && lock(&self.order).waiting > MAX_WAITING
    }

    /// Settles a place, then collects what has come to its turn.
    fn settle<R>(&self, change: impl FnOnce(&mut Sequence<Piece<V::Output>>) -> R) -> R {
        let result = change(&mut lock(&self.order).sequence);
        self.collect();
        result
    }

    /// Hands over what has come to its turn. Who finds the collector in use leaves that to its
    /// user, who looks again before going on, so nobody waits while results are written.
    fn collect(&self) {
        while lock(&self.order).sequence.is_ready() {
            let mut taker = match self.taker.try_lock() {
                Ok(taker) => taker,
                Err(TryLockError::Poisoned(taker)) => taker.into_inner(),
                Err(TryLockError::WouldBlock) => return,
            };
            self.hand_over(&mut taker);
            if taker.enough {
                self.stopped.store(true, Ordering::Release);
                return self.frontier.nudge();
            }
        }
    }

    fn hand_over(&self, taker: &mut Taker<C>) {
        while !taker.enough
            && let Some(piece) = lock(&self.order).pop()
        {
            taker.receive(piece);
        }
    }

    /// The collector with all that was found, behind gaps too, and why there are any.
    fn take(&self) -> Option<(C, Option<Incomplete>)> {
        let mut taker = lock(&self.taker);
        self.hand_over(&mut taker);
        let interrupted = !taker.enough && self.interrupted.load(Ordering::Acquire);
        while !taker.enough {
            // What a place has so far still follows what came before it.
            let open = lock(&self.order).sequence.take_open();
            if let Some(piece) = open {
                taker.receive(piece);
            }
            if !lock(&self.order).sequence.skip_open() {
                break;
            }
            if let Some(collector) = &mut taker.collector {
                collector.gap();
            }
            self.hand_over(&mut taker);
        }
        let why = || self.call.stop_reason().unwrap_or(Incomplete::Timeout);
        Some((taker.collector.take()?, interrupted.then(why)))
    }
}

impl<V: Visitor, C: ResultSink<V::Output>> Job for Walk<V, C> {
    fn work(&self) {
        let mut state = self.visitor.state();
        while self.keeps_going() {
            if self.must_wait() {
                self.frontier.assist_or_nap(self);
                continue;
            }
            if !self.sender.is_full() && self.walk(&mut state) {
                continue;
            }
            match self.receiver.try_recv() {
                Ok(task) => self.visit(&mut state, task),
                Err(_) if self.frontier.rest(|| !self.receiver.is_empty()) => {}
                Err(_) => break,
            }
        }
    }

    fn stop(&self) {
        if !self.frontier.is_done() {
            self.interrupted.store(true, Ordering::Release);
        }
        self.stopped.store(true, Ordering::Release);
        self.frontier.nudge();
    }

    fn progress(&self) -> Progress {
        Progress {
            files: self.files.load(Ordering::Relaxed),
            results: self.results.load(Ordering::Relaxed),
        }
    }
}

impl<V: Visitor, C: ResultSink<V::Output>> WalkControl for Walk<V, C> {
    fn keeps_going(&self) -> bool {
        if self.stopped.load(Ordering::Acquire) {
            return false;
        }
        if self.call.stop_reason().is_some() {
            self.stop();
            return false;
        }
        true
    }

    fn share_work(&self, work: SharedWork) {
        let help = (1..self.threads).map(|_| (0, Vec::new(), Task::Assist(work.clone())));
        self.frontier.push(help);
    }

    fn count(&self, files: u64, results: u64) {
        self.files.fetch_add(files, Ordering::Relaxed);
        self.results.fetch_add(results, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
