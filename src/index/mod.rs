//! Memory of a tree: what lies where, and what its files cannot match.
//!
//! ```text
//! search ─> Index ─> Inquiry ─> Roster (a directory) ─> Known (a file): stamp, filter
//!                            └─> Digest (files on a known way) ─> Bundle (64 filters)
//! walk ───> Memory ─> Kept (a directory): stamp, listing, rules
//! ```
//!
//! Nothing is believed that was not looked at since the call began: a directory and a file are
//! what they were only if their stamps say so, or a watcher that would have told. What neither
//! shows is what a program stores through a memory mapping before the system writes it back.

mod asked;
mod bordered;
mod bundle;
mod bundles;
mod demand;
mod digest;
pub(crate) mod filter;
mod grams;
mod idle;
mod inquiry;
mod lesson;
mod options;
mod planner;
mod query;
pub(crate) mod question;
mod reading;
mod record;
mod roster;
mod rosters;
mod status;
mod store;
mod strings;
mod study;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::context::{Call, Cancel};
use crate::error::Error;
pub(crate) use crate::index::digest::Digest;
use crate::index::filter::Density;
use crate::index::idle::Idle;
pub(crate) use crate::index::inquiry::{Enrolled, Inquiry, Learner};
pub(crate) use crate::index::lesson::{BINARY_PROBE, Lesson, MAX_LINE, WHOLE};
pub use crate::index::options::IndexOptions;
pub(crate) use crate::index::question::Question;
use crate::index::record::Known;
pub(crate) use crate::index::roster::Excluded;
use crate::index::roster::Roster;
use crate::index::rosters::Rosters;
pub use crate::index::status::IndexStatus;
use crate::index::store::Store;
#[cfg(fuzzing)]
pub(crate) use crate::index::store::parse_all;
use crate::index::study::Manner;
use crate::pool::Pool;
use crate::walk::{CacheView, DirCache, MemoryBudget, StoredListings};
use crate::workspace::Workspace;

/// Writing everything is worth while when one part in so many is new.
const WORTH: u64 = 20;

/// How long one who has time waits for a call that has none.
const PAUSE: Duration = Duration::from_millis(2);

/// What is remembered of a workspace from call to call; a [`Toolkit`](crate::Toolkit) makes it.
///
/// Answers are the same with and without it; they only come sooner.
///
/// ```
/// use ripkit::{Call, IndexOptions, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// # let workspace = Workspace::open("src/text")?;
/// let tools = Toolkit::new(workspace).with_index(IndexOptions::default())?;
/// let index = tools.index().expect("it was just made");
/// let status = index.build(&Call::default())?;
/// assert!(status.files + status.unknown_files > 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Index {
    inner: Arc<Inner>,
    /// None for the thread that learns, which must not keep the index alive.
    owner: Option<Arc<Owner>>,
}

#[derive(Debug)]
struct Inner {
    workspace: Workspace,
    options: IndexOptions,
    threads: usize,
    cache: Arc<DirCache>,
    rosters: Arc<Rosters>,
    budget: MemoryBudget,
    idle: Idle,
    store: Option<Arc<Store>>,
    /// Bytes of text that were learned and are not stored.
    unsaved: AtomicU64,
}

/// Whoever uses the index; when the last one goes, learning ends.
#[derive(Debug, Default)]
struct Owner {
    cancel: Cancel,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

/// For hosts.
impl Index {
    /// Lists the whole workspace and learns every file that changed or is not known, but for those
    /// that ignore rules leave out; then stores it, where it is stored. It takes as many threads
    /// as the toolkit had when it made the index.
    ///
    /// A call that is stopped keeps what was learned, and says so in the status.
    ///
    /// # Errors
    /// Those of opening the root, and `IO_ERROR`, `NO_SPACE`, `PERMISSION_DENIED` or `READ_ONLY`
    /// if it cannot be stored.
    pub fn build(&self, call: &Call) -> Result<IndexStatus, Error> {
        let pool = Pool::new(self.inner.threads);
        let (_, incomplete) = study::tree(self, (&pool, call), Manner::Thorough)?;
        // A walk that came to its end met everything that is still there.
        if incomplete.is_none() {
            self.forget_vanished();
        }
        self.store(incomplete.is_some())?;
        if self.inner.options.background {
            bundles::make(self, call, || ());
        }
        Ok(IndexStatus { incomplete, ..self.status() })
    }

    /// What the index holds now.
    pub fn status(&self) -> IndexStatus {
        let mut status = IndexStatus::default();
        for cached in self.inner.cache.directories() {
            let roster = self.inner.rosters.of(&cached);
            status.directories += 1;
            status.unknown_files += roster.unknown() as u64;
            roster.for_each(|known| known.count(&mut status));
        }
        let is_held = |prefix: &[u8]| self.inner.cache.directory(prefix).is_some();
        if let Some(store) = &self.inner.store {
            store.others(is_held, |record| record.count(&mut status));
        }
        status.stored_bytes = self.inner.store.as_deref().and_then(Store::bytes);
        status.watched = self.inner.cache.is_watched();
        status
    }

    /// Writes the index into its directory, where it has one.
    ///
    /// # Errors
    /// `IO_ERROR`, `NO_SPACE`, `PERMISSION_DENIED` or `READ_ONLY`.
    pub fn save(&self) -> Result<(), Error> {
        self.store(true)
    }

    /// The same, if at least a twentieth of what is known is not written yet.
    ///
    /// # Errors
    /// As [`Index::save`].
    pub fn save_if_worth(&self) -> Result<(), Error> {
        let unsaved = self.inner.unsaved.load(Ordering::Relaxed);
        let known = self.inner.store.as_deref().map_or(0, Store::text_bytes);
        let is_worth = unsaved > 0 && unsaved >= known / WORTH;
        if is_worth { self.save() } else { Ok(()) }
    }

    fn store(&self, others: bool) -> Result<(), Error> {
        let Some(store) = &self.inner.store else { return Ok(()) };
        let unsaved = self.inner.unsaved.load(Ordering::Relaxed);
        store.save(self, others)?;
        self.inner.unsaved.fetch_sub(unsaved, Ordering::Relaxed);
        Ok(())
    }

    /// Forgets everything, and removes the stored file.
    ///
    /// # Errors
    /// `IO_ERROR`, `PERMISSION_DENIED` or `READ_ONLY` if it cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        self.inner.cache.clear();
        self.inner.rosters.retain(|_| false);
        self.inner.unsaved.store(0, Ordering::Relaxed);
        self.inner.store.as_deref().map_or(Ok(()), Store::remove)
    }
}

/// For calls.
impl Index {
    /// Makes an index of a workspace, with what was stored before.
    pub(crate) fn open(
        workspace: &Workspace,
        options: IndexOptions,
        threads: usize,
    ) -> Result<Index, Error> {
        let cache = Arc::new(DirCache::new(
            workspace.root_handle(),
            options.max_bytes / 4,
            options.watched,
        ));
        let rosters = Arc::new(Rosters::default());
        let directory = options.directory.as_deref();
        let open = |directory| Store::open(directory, workspace, (&options, &rosters));
        let store = directory.map(open).transpose()?.map(Arc::new);
        cache.look_into(store.clone().map(|store| store as Arc<dyn StoredListings>));
        let budget = MemoryBudget::new(options.max_bytes);
        let inner = Arc::new(Inner {
            workspace: workspace.clone(),
            options,
            threads,
            cache,
            rosters,
            budget,
            idle: Idle::default(),
            store,
            unsaved: AtomicU64::new(0),
        });
        Ok(Index { inner, owner: Some(Arc::default()) })
    }

    /// Begins a call, which sees everything that happened before.
    pub(crate) fn begin(&self) -> CacheView {
        self.inner.cache.begin()
    }

    /// Has what a search did not know learned, once nobody waits any more.
    pub(crate) fn learn_later(&self) {
        let Some(owner) = self.owner.as_ref().filter(|_| self.inner.options.background) else {
            return;
        };
        idle::begin(self, &owner.cancel);
    }

    /// The same index, for somebody who does not keep it alive.
    fn unowned(&self) -> Index {
        Index { inner: self.inner.clone(), owner: None }
    }

    /// Waits while calls are under way for which somebody waits.
    fn give_way(&self, keep_going: &dyn Fn() -> bool) {
        while self.inner.cache.is_busy() && keep_going() {
            thread::sleep(PAUSE);
        }
    }

    fn density(&self) -> Density {
        Density::percent(self.inner.options.share)
    }

    /// Keeps what was learned of a file; false if there is no room.
    fn learn(&self, roster: &Roster, position: usize, known: Known) -> bool {
        let taken = self.inner.budget.take(known.bytes(), self.inner.cache.bytes());
        let Some(taken) = taken else { return false };
        self.inner.unsaved.fetch_add(known.text_bytes.max(1), Ordering::Relaxed);
        roster.learn(position, known, taken);
        self.inner.rosters.bundles.note(1);
        true
    }

    /// Forgets the files of directories that are gone.
    fn forget_vanished(&self) {
        let cache = &self.inner.cache;
        self.inner.rosters.retain(|prefix| cache.directory(prefix).is_some());
    }
}
