//! Everything that a walk visits, known before it begins.

use std::ops::Range;
use std::sync::{Arc, Mutex};

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
    pub(crate) prefix: Arc<[u8]>,
    /// What remains of its listing.
    pub(crate) listing: Arc<DirListing>,
    /// The rules above and inside it.
    pub(crate) above: IgnoreRules,
    pub(crate) inside: IgnoreRules,
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
    pub(crate) prefix: Arc<[u8]>,
    /// The number of the root that they lie below, and how many bytes of the paths belong to it.
    pub(crate) root: usize,
    pub(crate) base_len: usize,
    pub(crate) listing: Arc<DirListing>,
    pub(crate) range: Range<usize>,
    /// What the index knew of all of them in an earlier call.
    pub(crate) totals: Mutex<Option<FileTotals>>,
}

/// What an index knows of files taken together, so that a search that has to open none of them need
/// not look at each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileTotals {
    pub(crate) texts: u64,
    /// The size of the texts that are searched as a whole, in bytes.
    pub(crate) text_bytes: u64,
    /// The size of the largest text, in bytes.
    pub(crate) max_text_bytes: u64,
    pub(crate) binaries: u64,
    /// The lowest and the highest of their numbers.
    pub(crate) range: (FileId, FileId),
    /// When the last of them was indexed, as counted by the index.
    pub(crate) recorded: u64,
    /// The generation of the call that added them up, and the earliest one in which one of them was
    /// last found unchanged.
    pub(crate) generation: u64,
    pub(crate) verified: u64,
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
        files.map_or_else(Default::default, |files| (files.root, files.first_path()))
    }
}

impl SelectedFiles {
    /// Their names, in path order.
    pub(crate) fn names(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.range.clone().filter_map(|index| self.listing.get(index).map(|(name, _)| name))
    }

    /// The last of them; none if there are none.
    pub(crate) fn last(&self) -> Option<EntryRef> {
        let index = self.range.clone().next_back()?;
        Some(EntryRef::new(&self.prefix, &self.listing, index))
    }

    fn first_path(&self) -> Vec<u8> {
        let name = self.listing.get(self.range.start).map(|(name, _)| name);
        [&*self.prefix, name.unwrap_or_default()].concat()
    }
}
