//! The index of a workspace: its cached directories, and which n-grams its files contain.
//!
//! ```text
//! search ─> Index ─> IndexReader ─> FileTable (a directory) ─> KnownFile: fingerprint, filter
//!                                └─> BitSlices (64 filters)
//! walk ───> DirCache ─> CachedDir: fingerprint, listing, rules
//! ```
//!
//! Nothing is used that was not validated since the call began: a directory or a file counts as
//! unchanged only if its fingerprint is the same, or a watch reports no change. Neither shows what a
//! program stores through a memory mapping before the system writes it back.

mod background;
mod bit_slices;
pub(crate) mod bloom;
mod compiled_grams;
mod file_scan;
mod file_table;
mod file_tables;
pub(crate) mod filter_query;
mod gram_query;
mod grams;
mod indexer;
mod literal_info;
mod literal_set;
mod memoized_query;
mod normalized_block;
mod options;
mod planner;
mod reader;
mod record;
mod slicing;
mod status;
mod store;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::context::{Call, Cancel};
use crate::error::Error;
use crate::index::background::BackgroundState;
use crate::index::bloom::BitsPerByte;
pub(crate) use crate::index::file_scan::{BINARY_PROBE, FileScan, MAX_LINE, WHOLE};
pub(crate) use crate::index::file_table::Excluded;
use crate::index::file_table::FileTable;
use crate::index::file_tables::FileTables;
pub(crate) use crate::index::filter_query::FilterQuery;
use crate::index::indexer::ScanMode;
pub use crate::index::options::IndexOptions;
pub(crate) use crate::index::reader::{IndexReader, IndexedBatch, ScratchBuffers};
use crate::index::record::KnownFile;
pub use crate::index::status::IndexStatus;
use crate::index::store::IndexFile;
#[cfg(fuzzing)]
pub(crate) use crate::index::store::parse_all;
use crate::pool::Pool;
use crate::walk::{CacheView, DirCache, MemoryBudget, StoredListings};
use crate::workspace::Workspace;

/// The index is written when one part in this many is new.
const WORTH: u64 = 20;

/// How often background indexing checks whether calls are under way.
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
    tables: Arc<FileTables>,
    budget: MemoryBudget,
    background: BackgroundState,
    store: Option<Arc<IndexFile>>,
    /// Bytes of text that were learned and are not stored.
    unsaved: AtomicU64,
}

/// Ends background indexing when the last user of the index drops it.
#[derive(Debug, Default)]
struct Owner {
    cancel: Cancel,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

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
        let (_, incomplete) = indexer::scan_tree(self, (&pool, call), ScanMode::Thorough)?;
        // A walk that came to its end met everything that is still there.
        if incomplete.is_none() {
            self.forget_vanished();
        }
        self.store(incomplete.is_some())?;
        if self.inner.options.background {
            slicing::make(self, call, || ());
        }
        Ok(IndexStatus { incomplete, ..self.status() })
    }

    /// What the index holds now.
    pub fn status(&self) -> IndexStatus {
        let mut status = IndexStatus::default();
        for cached in self.inner.cache.directories() {
            let table = self.inner.tables.of(&cached);
            status.directories += 1;
            status.unknown_files += table.unknown() as u64;
            table.for_each(|known| known.count(&mut status));
        }
        let is_held = |prefix: &[u8]| self.inner.cache.directory(prefix).is_some();
        if let Some(store) = &self.inner.store {
            store.others(is_held, |record| record.count(&mut status));
        }
        status.stored_bytes = self.inner.store.as_deref().and_then(IndexFile::bytes);
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
        let known = self.inner.store.as_deref().map_or(0, IndexFile::text_bytes);
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
        self.inner.tables.retain(|_| false);
        self.inner.unsaved.store(0, Ordering::Relaxed);
        self.inner.store.as_deref().map_or(Ok(()), IndexFile::remove)
    }
}

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
        let tables = Arc::new(FileTables::default());
        let directory = options.directory.as_deref();
        let open = |directory| IndexFile::open(directory, workspace, (&options, &tables));
        let store = directory.map(open).transpose()?.map(Arc::new);
        cache.set_stored(store.clone().map(|store| store as Arc<dyn StoredListings>));
        let budget = MemoryBudget::new(options.max_bytes);
        let inner = Arc::new(Inner {
            workspace: workspace.clone(),
            options,
            threads,
            cache,
            tables,
            budget,
            background: BackgroundState::default(),
            store,
            unsaved: AtomicU64::new(0),
        });
        Ok(Index { inner, owner: Some(Arc::default()) })
    }

    /// Begins a call, which sees everything that happened before.
    pub(crate) fn begin(&self) -> CacheView {
        self.inner.cache.begin()
    }

    /// Starts background indexing of what a search found missing.
    pub(crate) fn learn_later(&self) {
        let Some(owner) = self.owner.as_ref().filter(|_| self.inner.options.background) else {
            return;
        };
        background::begin(self, &owner.cancel);
    }

    /// The same index, without keeping it alive.
    fn unowned(&self) -> Index {
        Index { inner: self.inner.clone(), owner: None }
    }

    /// Waits while calls are under way.
    fn give_way(&self, keep_going: &dyn Fn() -> bool) {
        while self.inner.cache.is_busy() && keep_going() {
            thread::sleep(PAUSE);
        }
    }

    fn bits_per_byte(&self) -> BitsPerByte {
        BitsPerByte::percent(self.inner.options.share)
    }

    /// Adds a file to the index; false if the memory budget is spent.
    fn learn(&self, table: &FileTable, position: usize, known: KnownFile) -> bool {
        let taken = self.inner.budget.reserve(known.bytes(), self.inner.cache.bytes());
        let Some(taken) = taken else { return false };
        self.inner.unsaved.fetch_add(known.text_bytes.max(1), Ordering::Relaxed);
        table.learn(position, known, taken);
        self.inner.tables.sliced.note(1);
        true
    }

    /// Forgets the files of directories that are gone.
    fn forget_vanished(&self) {
        let cache = &self.inner.cache;
        self.inner.tables.retain(|prefix| cache.directory(prefix).is_some());
    }
}
