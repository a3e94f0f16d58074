//! The index as one search uses it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::context::Incomplete;
use crate::index::Index;
use crate::index::digest::Digest;
use crate::index::filter::FilterBuilder;
use crate::index::lesson::Lesson;
use crate::index::query::Query;
use crate::index::question::Question;
use crate::index::roster::{Asked, Excluded, Roster};
use crate::walk::{BATCH, Batch, CacheView, CachedDir, EntryRange};
use crate::workspace::{File, Stat};

/// One part in so many of a search's time goes into learning.
const SHARE: u64 = 16;

/// The index, and what a search wants to know of it.
#[derive(Clone, Debug)]
pub(crate) struct Inquiry {
    index: Index,
    view: CacheView,
    query: Option<Arc<Query>>,
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

impl Learning {
    fn new(threads: usize) -> Learning {
        Learning {
            started: Instant::now(),
            threads: threads as u64,
            nanoseconds: AtomicU64::new(0),
            unknown: AtomicBool::new(false),
        }
    }

    /// Whether a search that has lasted so long may learn one more file.
    fn has_time(&self, elapsed: Duration) -> bool {
        let allowed = (nanoseconds(elapsed) / SHARE).saturating_mul(self.threads);
        self.nanoseconds.load(Ordering::Relaxed) <= allowed
    }

    /// Notes that a thread learned for so long.
    fn spend(&self, time: Duration) {
        self.nanoseconds.fetch_add(nanoseconds(time), Ordering::Relaxed);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// What is known of the files of a batch.
#[derive(Debug)]
pub(crate) struct Enrolled<'a> {
    cached: &'a CachedDir,
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
        view: CacheView,
        question: Option<Question>,
        threads: usize,
    ) -> Inquiry {
        let bundles = index.inner.rosters.bundles.made();
        Inquiry {
            index: index.clone(),
            view,
            query: question.map(|question| Arc::new(Query::new(question, bundles))),
            learning: Arc::new(Learning::new(threads)),
        }
    }

    /// Ends the search; what it did not know is learned when there is time, unless somebody
    /// wanted it to stop.
    pub(crate) fn end(&self, incomplete: Option<Incomplete>) {
        let is_wanted = incomplete != Some(Incomplete::Cancelled);
        let unknown = self.learning.unknown.load(Ordering::Relaxed);
        if is_wanted && (unknown || self.index.inner.rosters.bundles.are_wanted()) {
            self.index.learn_later();
        }
    }

    /// Whether the pattern asks anything of filters.
    pub(crate) fn asks(&self) -> bool {
        self.query.is_some()
    }

    /// Whether files need no look to be believed.
    pub(crate) fn is_told_of_changes(&self) -> bool {
        self.view.generation.min_valid < self.view.generation.current
    }

    /// What is known of the files of a batch, if its directory is kept.
    pub(crate) fn enrolled<'a>(&self, batch: &'a Batch) -> Option<Enrolled<'a>> {
        let cached = batch.cached.as_deref()?;
        Some(Enrolled { cached, roster: self.index.inner.rosters.of(cached) })
    }

    /// Tells whether a file need not be opened, and why.
    pub(crate) fn exclude(
        &self,
        enrolled: &Enrolled<'_>,
        (name, position): (&[u8], usize),
        stat: impl FnOnce() -> io::Result<Stat>,
    ) -> Option<Excluded> {
        let asked = Asked { name, position, cached: enrolled.cached };
        enrolled.roster.exclude(asked, self.query.as_deref(), self.view.generation, stat)
    }

    /// Tells of each entry of a batch whether it is a file that needs no look, and why.
    pub(crate) fn exclude_all(&self, batch: &Batch) -> [Option<Excluded>; BATCH] {
        let Some(enrolled) = self.enrolled(batch) else { return [None; BATCH] };
        let entries = batch.entries().zip(batch.positions());
        let asked =
            entries.map(|((name, _), position)| Asked { name, position, cached: enrolled.cached });
        enrolled.roster.exclude_all(asked, self.query.as_deref(), self.view.generation)
    }

    /// Calls `pass` with what is known of files on a known way, and tells what it gave, if none of
    /// them has to be looked at.
    pub(crate) fn pass<R>(
        &self,
        files: &EntryRange,
        mut pass: impl FnMut(&Digest) -> R,
    ) -> Option<R> {
        let (query, generation, inner) =
            (self.query.as_ref()?, self.view.generation, &self.index.inner);
        let mut ask = |digest: &Digest| (!digest.may_match(query)).then(|| pass(digest));
        // None if nothing is known of them together, or not any more.
        let asked = files.memo.read(|digest: &Digest| {
            digest.holds(files, query.bundles(), generation).then(|| ask(digest))
        });
        asked.flatten().unwrap_or_else(|| {
            let digest = Digest::new(files, &inner.rosters, (generation, &inner.budget));
            let passed = digest.as_ref().and_then(ask);
            files.memo.put(digest);
            passed
        })
    }

    /// Forgets a file that is not the one that was learned.
    pub(super) fn refresh(
        &self,
        enrolled: &Enrolled<'_>,
        (name, position): (&[u8], usize),
        stat: impl FnOnce() -> io::Result<Stat>,
    ) {
        let asked = Asked { name, position, cached: enrolled.cached };
        enrolled.roster.refresh(asked, self.view.generation, stat);
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
        if enrolled.roster.knows(position) {
            return None;
        }
        self.learning.unknown.store(true, Ordering::Relaxed);
        self.learning.has_time(self.learning.started.elapsed()).then_some(())?;
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
        self.learning.spend(started.elapsed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::IndexOptions;
    use crate::workspace::Workspace;

    const LESSON: Duration = Duration::from_millis(3);

    /// Searches with threads that learn whatever they may, and counts the lessons.
    fn lessons(threads: usize, milliseconds: u64) -> u32 {
        let learning = Learning::new(threads);
        let mut lessons = 0;
        for elapsed in (0..milliseconds).map(Duration::from_millis) {
            if learning.has_time(elapsed) {
                learning.spend(LESSON);
                lessons += 1;
            }
            let most = elapsed * u32::try_from(threads).unwrap() / 16 + LESSON;
            assert!(LESSON * lessons <= most, "{lessons} lessons in {elapsed:?}");
        }
        lessons
    }

    // Of which the last may have begun before the sixteenth was used up.
    #[test]
    fn learning_takes_a_sixteenth_of_the_time_of_all_threads() {
        assert_eq!(lessons(1, 4800), 100);
        assert_eq!(lessons(4, 4800), 400);
    }

    #[test]
    fn a_lesson_that_took_long_is_made_up_for() {
        let learning = Learning::new(1);
        assert!(learning.has_time(Duration::ZERO), "the first is free");
        learning.spend(Duration::from_secs(2));
        assert!(!learning.has_time(Duration::from_secs(31)));
        assert!(learning.has_time(Duration::from_secs(32)));
        learning.spend(Duration::from_nanos(1));
        assert!(!learning.has_time(Duration::from_secs(32)));
        assert!(learning.has_time(Duration::MAX));
    }

    #[test]
    fn nothing_is_learned_behind_a_search_that_was_cancelled() {
        for (unknown, incomplete, learns) in [
            (false, None, false),
            (true, Some(Incomplete::Cancelled), false),
            (true, Some(Incomplete::Timeout), true),
            (true, None, true),
        ] {
            let temporary = tempfile::TempDir::new().unwrap();
            let workspace = Workspace::open(temporary.path()).unwrap();
            let index = Index::open(&workspace, IndexOptions::default(), 1).unwrap();
            let inquiry = Inquiry::new(&index, index.begin(), None, 1);
            inquiry.learning.unknown.store(unknown, Ordering::Relaxed);
            inquiry.end(incomplete);
            assert_eq!(index.inner.idle.has_begun(), learns, "{unknown} {incomplete:?}");
        }
    }
}
