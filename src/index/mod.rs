//! The index of a workspace: its directories, and which n-grams its files contain.
//!
//! ```text
//! walk ───> IndexView ──> Snapshot ────> SnapshotDir: fingerprint, listing, rules
//!               └───────> Selections ──> what whole walks visit
//! search ─> IndexReader ─> FileTable ──> by FileId: fingerprint, size, class
//!                              └───────> Signatures: a bit matrix over all files
//! ```
//!
//! A call has an [`IndexView`], which is the source of its directories. A search asks the signatures
//! once for its candidates; other files are not opened if they are unchanged.
//!
//! Nothing is used that was not validated since the call began: a directory or a file counts as
//! unchanged only if its fingerprint is the same, or a watch reports no change. Neither shows what a
//! program stores through a memory mapping before the system writes it back.

mod background;
mod dir_changes;
mod dir_source;
mod dir_table;
mod file_scan;
mod file_table;
pub(crate) mod grams;
mod ignore_fingerprints;
mod indexer;
mod lead_bytes;
mod options;
mod planner;
pub(crate) mod query;
mod reader;
mod selections;
pub(crate) mod signatures;
mod snapshot;
mod snapshot_dir;
mod status;
mod store;
mod stored_snapshot;
mod watch_set;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::context::{Call, Cancel};
use crate::error::Error;
use crate::index::background::BackgroundState;
pub(crate) use crate::index::file_scan::{BINARY_PROBE, FileScan, MAX_LINE};
use crate::index::file_table::{Content, FileTable, KnownFile};
pub(crate) use crate::index::file_table::{Excluded, WHOLE};
use crate::index::indexer::ScanMode;
pub use crate::index::options::IndexOptions;
pub(crate) use crate::index::query::FilterQuery;
pub(crate) use crate::index::reader::{IndexReader, ScratchBuffers};
use crate::index::signatures::BitsPerByte;
pub(crate) use crate::index::snapshot::IndexView;
use crate::index::snapshot::Snapshot;
pub use crate::index::status::{IndexStatus, OtherIndex};
#[cfg(fuzzing)]
pub(crate) use crate::index::store::parse_all;
use crate::index::store::{StoreFile, StoredIndex};
#[cfg(fuzzing)]
pub(crate) use crate::index::stored_snapshot::round_trip;
use crate::index::stored_snapshot::{DecodedSnapshot, EncodedSnapshot};
use crate::pool::Pool;
use crate::walk::FileId;
use ripkit_fs::Workspace;

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
    /// None for the background thread, which must not keep the index alive.
    owner: Option<Arc<Owner>>,
}

#[derive(Debug)]
struct Inner {
    workspace: Workspace,
    options: IndexOptions,
    threads: usize,
    snapshot: Arc<Snapshot>,
    background: BackgroundState,
    store: Option<StoreFile>,
    /// Bytes of the stored file; 0 if there is none.
    stored_bytes: AtomicU64,
    /// Bytes of text that were indexed and are not stored.
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
    /// Lists the whole workspace and indexes every file that changed or is not known, but for those
    /// that ignore rules leave out; then stores it, where it is stored. It takes as many threads
    /// as the toolkit had when it made the index.
    ///
    /// A call that is stopped keeps what it indexed, and says so in the status.
    ///
    /// # Errors
    /// Those of opening the root, and `IO_ERROR`, `NO_SPACE`, `PERMISSION_DENIED` or `READ_ONLY`
    /// if it cannot be stored.
    pub fn build(&self, call: &Call) -> Result<IndexStatus, Error> {
        let pool = Pool::new(self.inner.threads);
        let (_, incomplete) = indexer::scan_tree(self, (&pool, call), ScanMode::Thorough)?;
        // First, because the file has them compacted, too.
        self.files().signatures().compact();
        self.save()?;
        Ok(IndexStatus { incomplete, ..self.status() })
    }

    /// What the index holds now.
    pub fn status(&self) -> IndexStatus {
        let mut status = IndexStatus::default();
        for dir in self.inner.snapshot.directories() {
            status.directories += 1;
            self.files().count(dir.listing(), &mut status);
        }
        status.filter_bytes = self.files().signatures().signature_bytes() as u64;
        let stored = self.inner.stored_bytes.load(Ordering::Relaxed);
        status.stored_bytes = (stored > 0).then_some(stored);
        status.others = self.inner.store.as_ref().map_or_else(Vec::new, StoreFile::others);
        status.watched = self.inner.snapshot.is_watched();
        status
    }

    /// Writes the index into its directory, where it has one.
    ///
    /// # Errors
    /// `IO_ERROR`, `NO_SPACE`, `PERMISSION_DENIED` or `READ_ONLY`.
    pub fn save(&self) -> Result<(), Error> {
        let Some(store) = &self.inner.store else { return Ok(()) };
        let unsaved = self.inner.unsaved.load(Ordering::Relaxed);
        let dirs = self.inner.snapshot.directories();
        let snapshot = EncodedSnapshot::of(&dirs, self.files());
        let number = |file| snapshot.number_of(file);
        let bytes = store.save(snapshot.bytes(), self.files().signatures(), &number)?;
        self.inner.stored_bytes.store(bytes, Ordering::Relaxed);
        self.inner.unsaved.fetch_sub(unsaved, Ordering::Relaxed);
        Ok(())
    }

    /// The same, if at least a twentieth of what is known is not written yet.
    ///
    /// # Errors
    /// As [`Index::save`].
    pub fn save_if_worth(&self) -> Result<(), Error> {
        let unsaved = self.inner.unsaved.load(Ordering::Relaxed);
        // Signatures are most of the file, and take about a sixteenth of the text.
        let known = self.inner.stored_bytes.load(Ordering::Relaxed) * 16;
        if unsaved > 0 && unsaved >= known / WORTH { self.save() } else { Ok(()) }
    }

    /// Forgets everything, and removes the stored file, but none in the format of another version.
    ///
    /// # Errors
    /// `IO_ERROR`, `PERMISSION_DENIED` or `READ_ONLY` if it cannot be removed.
    pub fn clear(&self) -> Result<(), Error> {
        self.inner.snapshot.clear();
        self.inner.unsaved.store(0, Ordering::Relaxed);
        self.inner.stored_bytes.store(0, Ordering::Relaxed);
        self.inner.store.as_ref().map_or(Ok(()), StoreFile::remove)
    }
}

impl Index {
    /// Makes an index of a workspace, with what was stored before.
    pub(crate) fn open(
        workspace: &Workspace,
        options: IndexOptions,
        threads: usize,
    ) -> Result<Index, Error> {
        let bits_per_byte = BitsPerByte::percent(options.share);
        let find = |directory| StoreFile::find(directory, workspace.root(), &[options.share]);
        let store = options.directory.as_deref().map(find).transpose()?;
        let stored = store.as_ref().and_then(|store| store.open().ok());
        let stored_bytes = stored.as_ref().map_or(0, StoredIndex::bytes);
        let (dirs, files) = stored
            .and_then(|stored| {
                let snapshot = DecodedSnapshot::of(stored.snapshot())?;
                let (dirs, files) = snapshot.into_parts();
                let signatures = stored.into_signatures(bits_per_byte, files.len()).ok()?;
                Some((dirs, FileTable::stored(files, signatures)))
            })
            .unwrap_or_else(|| (Vec::new(), FileTable::new(bits_per_byte)));
        let (root, max) = (workspace.root_handle(), options.max_bytes / 4);
        let snapshot = Snapshot::new(root, Arc::new(files), max, options.watched);
        snapshot.load(dirs);
        let inner = Arc::new(Inner {
            workspace: workspace.clone(),
            options,
            threads,
            snapshot: Arc::new(snapshot),
            background: BackgroundState::default(),
            store,
            stored_bytes: AtomicU64::new(stored_bytes),
            unsaved: AtomicU64::new(0),
        });
        Ok(Index { inner, owner: Some(Arc::default()) })
    }

    /// An index like this one of another workspace, in the place of this one, which forgets everything.
    pub(crate) fn moved_to(&self, workspace: &Workspace) -> Result<Index, Error> {
        self.inner.snapshot.clear();
        self.inner.unsaved.store(0, Ordering::Relaxed);
        Index::open(workspace, self.inner.options.clone(), self.inner.threads)
    }

    /// Begins a call, which sees everything that happened before.
    pub(crate) fn begin(&self) -> IndexView {
        self.inner.snapshot.begin()
    }

    /// Starts background indexing of what a search found missing.
    pub(crate) fn index_later(&self) {
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
        while self.inner.snapshot.is_busy() && keep_going() {
            thread::sleep(PAUSE);
        }
    }

    fn bits_per_byte(&self) -> BitsPerByte {
        BitsPerByte::percent(self.inner.options.share)
    }

    /// Adds a file to the index; false if the memory budget is spent.
    fn record(&self, file: FileId, known: KnownFile, current: u64) -> bool {
        let held = self.files().signatures().bytes() + self.inner.snapshot.bytes();
        let bytes = match known.content() {
            Content::Text(filters) => filters.bytes(),
            Content::Binary | Content::Opaque => 0,
        };
        let has_room = held + bytes <= self.inner.options.max_bytes;
        if has_room {
            self.inner.unsaved.fetch_add(known.text_bytes().max(1), Ordering::Relaxed);
            self.files().record(file, known, current);
        }
        has_room
    }

    /// What is known of files.
    fn files(&self) -> &FileTable {
        self.inner.snapshot.files()
    }
}
