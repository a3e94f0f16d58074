//! Everything that a walk visits, known before it begins.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::pool::lock;
use crate::walk::directory::{DirListing, DirectoryReport, EntryRef, FileId};
use crate::walk::ignore_rules::IgnoreRules;

/// How many directories a thread handles in one go at most: enough that handing results over costs
/// little in comparison, and few enough that other threads have work too.
const CHUNK_DIRS: usize = 64;

/// What a walk visits, in path order.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    items: Vec<SelectedItem>,
    /// The index in `items` at which each chunk of [`CHUNK_DIRS`] directories begins.
    chunks: Vec<usize>,
    directories: Vec<SelectedDir>,
}

/// A directory of a selection.
#[derive(Debug)]
pub(crate) struct SelectedDir {
    prefix: Arc<[u8]>,
    /// What remains of its listing.
    listing: Arc<DirListing>,
    /// The rules above and inside it.
    above: IgnoreRules,
    inside: IgnoreRules,
}

impl SelectedDir {
    /// A directory with what remains of its listing, and the rules above and inside it.
    pub(crate) fn new(
        prefix: Arc<[u8]>,
        listing: Arc<DirListing>,
        (above, inside): (IgnoreRules, IgnoreRules),
    ) -> SelectedDir {
        SelectedDir { prefix, listing, above, inside }
    }

    pub(crate) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// Whether it is a part of this reading of the directory.
    pub(crate) fn is_part_of(&self, listing: &DirListing) -> bool {
        self.listing.is_part_of(listing)
    }

    /// The rules above and inside it.
    pub(crate) fn rules(&self) -> (&IgnoreRules, &IgnoreRules) {
        (&self.above, &self.inside)
    }
}

/// What a source knows of a selection.
#[derive(Debug)]
pub(crate) enum SelectionLookup {
    Known(Arc<Selection>),
    /// One that is read now would be kept.
    Wanted,
    Unknown,
}

/// A directory, or files of one.
#[derive(Debug)]
pub(super) enum SelectedItem {
    /// The report of a directory, before its entries.
    Directory(DirectoryReport),
    Files(SelectedFiles),
}

/// Consecutive entries of a directory, as in a [`Batch`](crate::walk::Batch).
#[derive(Debug)]
pub(crate) struct SelectedFiles {
    prefix: Arc<[u8]>,
    /// The number of the root that they lie below, and how many bytes of the paths belong to it.
    root: usize,
    base_len: usize,
    listing: Arc<DirListing>,
    range: Range<usize>,
    /// What the index knew of all of them in an earlier call.
    totals: Mutex<Option<FileTotals>>,
}

/// What an index knows of files taken together, so that a search that has to open none of them need
/// not look at each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileTotals {
    texts: u64,
    /// The size of the texts that are searched as a whole, in bytes.
    text_bytes: u64,
    /// The size of the largest text, in bytes.
    max_text_bytes: u64,
    binaries: u64,
    /// The lowest and the highest of their numbers.
    range: (FileId, FileId),
    /// When the last of them was indexed, as counted by the index.
    recorded: u64,
    /// The generation of the call that added them up, and the earliest one in which one of them was
    /// last found unchanged.
    generation: u64,
    verified: u64,
}

impl FileTotals {
    /// Of no file, in a call of this generation.
    pub(crate) fn new(generation: u64) -> FileTotals {
        FileTotals {
            texts: 0,
            text_bytes: 0,
            max_text_bytes: 0,
            binaries: 0,
            range: (FileId(u32::MAX), FileId(0)),
            recorded: 0,
            generation,
            verified: generation,
        }
    }

    /// Adds a text of so many bytes, which is searched as a whole or in pieces.
    pub(crate) fn add_text(&mut self, bytes: u64, is_whole: bool) {
        self.texts += 1;
        self.text_bytes += if is_whole { bytes } else { 0 };
        self.max_text_bytes = self.max_text_bytes.max(bytes);
    }

    pub(crate) fn add_binary(&mut self) {
        self.binaries += 1;
    }

    /// Notes the number of a file that was added, when it was indexed, and in which generation it was
    /// last found unchanged.
    pub(crate) fn note(&mut self, file: FileId, recorded: u64, verified: u64) {
        let (first, last) = self.range;
        self.range = (first.min(file), last.max(file));
        self.recorded = self.recorded.max(recorded);
        self.verified = self.verified.min(verified);
    }

    /// The number of texts, and the bytes of those that are searched as a whole.
    pub(crate) fn texts(&self) -> (u64, u64) {
        (self.texts, self.text_bytes)
    }

    /// The size of the largest text, in bytes.
    pub(crate) fn max_text_bytes(&self) -> u64 {
        self.max_text_bytes
    }

    pub(crate) fn binaries(&self) -> u64 {
        self.binaries
    }

    /// The lowest and the highest number of the files.
    pub(crate) fn range(&self) -> (FileId, FileId) {
        self.range
    }

    /// When the last of them was indexed, as counted by the index.
    pub(crate) fn recorded(&self) -> u64 {
        self.recorded
    }

    /// The generation in which they were added up, and the earliest one in which one of them was last
    /// found unchanged.
    pub(crate) fn times(&self) -> (u64, u64) {
        (self.generation, self.verified)
    }
}

/// A part of a selection.
#[derive(Clone, Debug)]
pub(crate) struct SelectionChunk {
    selection: Arc<Selection>,
    items: Range<usize>,
}

impl Selection {
    /// Adds the next directory, whose files follow.
    pub(crate) fn push_directory(&mut self, report: DirectoryReport, dir: SelectedDir) {
        if self.directories.len().is_multiple_of(CHUNK_DIRS)
            && self.chunks.last() != Some(&self.items.len())
        {
            self.chunks.push(self.items.len());
        }
        self.directories.push(dir);
        self.items.push(SelectedItem::Directory(report));
    }

    /// Adds files of one of the directories before, or a file that is a root of the walk.
    pub(crate) fn push_files(&mut self, files: SelectedFiles) {
        if self.chunks.is_empty() {
            self.chunks.push(0);
        }
        self.items.push(SelectedItem::Files(files));
    }

    /// Its directories in path order.
    pub(crate) fn directories(&self) -> &[SelectedDir] {
        &self.directories
    }

    /// Estimated memory in bytes, without the listings.
    pub(crate) fn bytes(&self) -> usize {
        let skipped = |item: &SelectedItem| match item {
            SelectedItem::Directory(report) => report.skipped_bytes(),
            SelectedItem::Files(_) => 0,
        };
        let items: usize =
            self.items.iter().map(|item| size_of::<SelectedItem>() + skipped(item)).sum();
        items + self.directories.len() * size_of::<SelectedDir>()
    }

    /// All of it, in path order.
    pub(super) fn chunks(self: &Arc<Selection>) -> impl Iterator<Item = SelectionChunk> {
        let ends = self.chunks.iter().skip(1).copied().chain([self.items.len()]);
        let chunk = |(begin, end): (&usize, usize)| SelectionChunk {
            selection: self.clone(),
            items: *begin..end,
        };
        self.chunks.iter().zip(ends).map(chunk)
    }
}

impl SelectionChunk {
    /// Its items, each with its index in the selection.
    pub(super) fn items(&self) -> impl Iterator<Item = (usize, &SelectedItem)> {
        self.items.clone().filter_map(|index| Some((index, self.selection.items.get(index)?)))
    }

    /// The rest of it, from the item at `index` of the selection.
    pub(super) fn from(&self, index: usize) -> SelectionChunk {
        SelectionChunk { selection: self.selection.clone(), items: index..self.items.end }
    }

    /// The number of the root of its first files, and the path of the first of them.
    pub(super) fn place(&self) -> (usize, Vec<u8>) {
        // The report of a directory has no path; its files follow next.
        let files = self.items().find_map(|(_, item)| match item {
            SelectedItem::Files(files) => Some(files),
            SelectedItem::Directory(_) => None,
        });
        files.map_or_else(Default::default, |files| {
            (files.root, files.paths().next().unwrap_or_default())
        })
    }
}

impl SelectedFiles {
    /// Entries below the root of this number; the others as for [`Batch::new`](crate::walk::Batch::new).
    pub(super) fn new(
        root: usize,
        (prefix, base_len): (Arc<[u8]>, usize),
        (listing, range): (Arc<DirListing>, Range<usize>),
    ) -> SelectedFiles {
        SelectedFiles { prefix, root, base_len, listing, range, totals: Mutex::default() }
    }

    /// The directory, empty or ending in `/`, and how many bytes of it belong to the root of the walk.
    pub(super) fn place(&self) -> (&Arc<[u8]>, usize) {
        (&self.prefix, self.base_len)
    }

    /// The listing, and which of its entries these are.
    pub(super) fn listing(&self) -> (&Arc<DirListing>, Range<usize>) {
        (&self.listing, self.range.clone())
    }

    /// What the index knows each of them by; none if there are fewer.
    pub(crate) fn file_ids(&self) -> Option<impl Iterator<Item = Option<FileId>> + '_> {
        self.listing.file_ids(self.range.clone())
    }

    /// What the index knew of all of them in an earlier call.
    pub(crate) fn totals(&self) -> MutexGuard<'_, Option<FileTotals>> {
        lock(&self.totals)
    }

    /// The number of the root that they lie below.
    pub(super) fn root(&self) -> usize {
        self.root
    }

    /// Their paths in the workspace, in path order.
    pub(crate) fn paths(&self) -> impl Iterator<Item = Vec<u8>> {
        let names = self.range.clone().filter_map(|index| self.listing.get(index));
        names.map(|(name, _)| [&*self.prefix, name].concat())
    }

    /// The last of them; none if there are none.
    pub(crate) fn last(&self) -> Option<EntryRef> {
        let index = self.range.clone().next_back()?;
        Some(EntryRef::new(&self.prefix, &self.listing, index))
    }
}
