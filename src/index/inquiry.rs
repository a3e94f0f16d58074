//! The index as one search uses it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::index::Index;
use crate::index::filter::FilterBuilder;
use crate::index::lesson::Lesson;
use crate::index::question::Question;
use crate::index::roster::{Asked, Excluded, Roster};
use crate::walk::{BATCH, Batch, Kept, Recall};
use crate::workspace::{File, Stat};

/// One part in so many of a search's time goes into learning.
const SHARE: u64 = 16;

/// The index, and what a search wants to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Inquiry {
    index: Index,
    recall: Recall,
    question: Option<Arc<Question>>,
    learning: Arc<Learning>,
}

/// How much time a search has spent on learning.
#[derive(Debug)]
struct Learning {
    started: Instant,
    threads: u64,
    nanoseconds: AtomicU64,
    /// Whether a file was opened of which nothing was known.
    unknown: AtomicBool,
}

/// What is known of the files of a batch.
#[derive(Debug)]
pub(crate) struct Enrolled<'a> {
    kept: &'a Kept,
    pub(super) roster: Arc<Roster>,
}

/// The scratch memory of one thread that learns.
#[derive(Debug)]
pub(crate) struct Learner(FilterBuilder);

impl Enrolled<'_> {
    /// What a file is that was excluded before, in the same call.
    pub(crate) fn excluded(&self, position: usize) -> Option<Excluded> {
        self.roster.excluded(position)
    }
}

impl Inquiry {
    pub(crate) fn new(
        index: &Index,
        recall: Recall,
        question: Option<Question>,
        threads: usize,
    ) -> Inquiry {
        let started = Instant::now();
        let learning = Learning {
            started,
            threads: threads as u64,
            nanoseconds: AtomicU64::new(0),
            unknown: AtomicBool::new(false),
        };
        Inquiry {
            index: index.clone(),
            recall,
            question: question.map(Arc::new),
            learning: Arc::new(learning),
        }
    }

    /// Ends the search; what it did not know is learned when there is time.
    pub(crate) fn end(&self) {
        if self.learning.unknown.load(Ordering::Relaxed) {
            self.index.learn_later();
        }
    }

    /// Whether the pattern asks anything of filters.
    pub(crate) fn asks(&self) -> bool {
        self.question.is_some()
    }

    /// Whether files need no look to be believed.
    pub(crate) fn is_told_of_changes(&self) -> bool {
        self.recall.era.floor < self.recall.era.epoch
    }

    /// What is known of the files of a batch, if its directory is kept.
    pub(crate) fn enrolled<'a>(&self, batch: &'a Batch) -> Option<Enrolled<'a>> {
        let kept = batch.kept.as_deref()?;
        Some(Enrolled { kept, roster: self.index.inner.rosters.of(kept) })
    }

    /// Tells whether a file need not be opened, and why.
    pub(crate) fn exclude(
        &self,
        enrolled: &Enrolled<'_>,
        (name, position): (&[u8], usize),
        stat: impl FnOnce() -> io::Result<Stat>,
    ) -> Option<Excluded> {
        let asked = Asked { name, position, kept: enrolled.kept };
        enrolled.roster.exclude(asked, self.question.as_deref(), self.recall.era, stat)
    }

    /// Tells of each entry of a batch whether it is a file that needs no look, and why.
    pub(crate) fn exclude_all(&self, batch: &Batch) -> [Option<Excluded>; BATCH] {
        let Some(enrolled) = self.enrolled(batch) else { return [None; BATCH] };
        let entries = batch.entries().zip(batch.positions());
        let asked =
            entries.map(|((name, _), position)| Asked { name, position, kept: enrolled.kept });
        enrolled.roster.exclude_all(asked, self.question.as_deref(), self.recall.era)
    }

    /// Forgets a file that is not the one that was learned.
    pub(super) fn refresh(
        &self,
        enrolled: &Enrolled<'_>,
        (name, position): (&[u8], usize),
        stat: impl FnOnce() -> io::Result<Stat>,
    ) {
        let asked = Asked { name, position, kept: enrolled.kept };
        enrolled.roster.refresh(asked, self.recall.era, stat);
    }

    pub(crate) fn learner(&self) -> Learner {
        Learner(FilterBuilder::new(self.index.density()))
    }

    /// Looks at a file of which nothing is known, before it is read; none if there is no time to
    /// learn it now.
    pub(crate) fn begin_lesson(
        &self,
        enrolled: &Enrolled<'_>,
        position: usize,
        file: &File,
    ) -> Option<Lesson> {
        if !enrolled.roster.knows(position) {
            self.learning.unknown.store(true, Ordering::Relaxed);
        }
        let has_time = || {
            let elapsed = self.learning.started.elapsed().as_nanos();
            let allowed =
                u64::try_from(elapsed).unwrap_or(u64::MAX) / SHARE * self.learning.threads;
            self.learning.nanoseconds.load(Ordering::Relaxed) <= allowed
        };
        (!enrolled.roster.knows(position) && has_time()).then_some(())?;
        Lesson::begin(file).ok().flatten()
    }

    /// Learns a file that was read.
    pub(crate) fn end_lesson(
        &self,
        lesson: Lesson,
        (enrolled, position): (&Enrolled<'_>, usize),
        (bytes, decoded): (&[u8], &mut String),
        learner: &mut Learner,
    ) {
        let started = Instant::now();
        if let Some(known) = lesson.finish(bytes, decoded, &mut learner.0) {
            self.index.learn(&enrolled.roster, position, known);
        }
        let spent = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.learning.nanoseconds.fetch_add(spent, Ordering::Relaxed);
    }
}
