//! Everything that a walk visits, known before it begins.

use std::borrow::Cow;
use std::collections::BTreeMap;
#[cfg(test)]
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use memchr::memmem;

use crate::walk::directory::{
    DirHandle, DirListing, DirectoryReport, EntryRef, FileId, OpenCount, PendingDir, parent_len,
};
use crate::walk::ignore_rules::IgnoreRules;
use ripkit_fs::os::{Dir, Volume};

/// How many directories a thread handles in one go at most: enough that handing results over costs
/// little in comparison, and few enough that other threads have work too.
const CHUNK_DIRS: usize = 32;

/// What a walk visits, in path order.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    items: Vec<SelectedItem>,
    chunks: Vec<Chunk>,
    directories: Vec<SelectedDir>,
}

/// At most [`CHUNK_DIRS`] consecutive directories.
#[derive(Debug)]
struct Chunk {
    /// Where it begins in the items of the selection.
    begin: usize,
    /// What its parts add up to, once the selection is whole.
    sums: Option<Arc<ChunkSums>>,
}

#[derive(Debug, Default)]
struct ChunkSums {
    /// The reports of all its directories.
    report: DirectoryReport,
    /// Its files; none if the index does not know one of them.
    files: Option<FileWords>,
    /// How many entries they are.
    len: usize,
}

impl ChunkSums {
    fn of(items: &[SelectedItem]) -> ChunkSums {
        let mut sums = ChunkSums { files: FileWords::of(file_ids(items)), ..ChunkSums::default() };
        for item in items {
            match item {
                SelectedItem::Directory(report) => {
                    sums.report.absorb(DirectoryReport::clone(report));
                }
                SelectedItem::Files(files) => sums.len += files.range.len(),
            }
        }
        sums
    }
}

impl Chunk {
    fn sums(&self) -> &ChunkSums {
        self.sums.as_ref().expect("the selection is whole")
    }
}

/// A directory of a selection.
#[derive(Clone, Debug)]
pub(crate) struct SelectedDir {
    prefix: Arc<[u8]>,
    /// The number of the root that it lies below, and how deep.
    root: usize,
    depth: usize,
    /// What remains of its listing.
    listing: Arc<DirListing>,
    /// The rules above and inside it.
    above: IgnoreRules,
    inside: IgnoreRules,
}

impl SelectedDir {
    /// A directory with what remains of its listing, and the rules inside it.
    pub(super) fn new(
        directory: &PendingDir,
        listing: Arc<DirListing>,
        inside: IgnoreRules,
    ) -> SelectedDir {
        let (prefix, above) = (directory.prefix().clone(), directory.rules().clone());
        let (root, depth) = (directory.root_number(), directory.depth());
        SelectedDir { prefix, root, depth, listing, above, inside }
    }

    /// The same directory, to be read again.
    fn pending(&self, root: &Arc<Dir>, count: &OpenCount) -> PendingDir {
        let path = self.prefix.strip_suffix(b"/").unwrap_or(&self.prefix);
        let (above, name) = path.split_at(parent_len(path));
        let parent = DirHandle::lazy(root, above.into(), Volume::Disk, count);
        PendingDir::reread(
            (parent, name.to_vec()),
            (self.prefix.clone(), self.above.clone()),
            (self.root, self.depth),
        )
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
    /// The same, and all of this one is still valid but for the directories at these paths.
    Outdated(Arc<Selection>, Vec<Arc<[u8]>>),
    Unknown,
}

/// A directory, or files of one.
#[derive(Debug)]
pub(super) enum SelectedItem {
    /// The report of a directory, before its entries.
    Directory(Arc<DirectoryReport>),
    Files(SelectedFiles),
}

/// Consecutive entries of a directory, as in a [`Batch`](crate::walk::Batch).
#[derive(Clone, Debug)]
pub(crate) struct SelectedFiles {
    prefix: Arc<[u8]>,
    /// The number of the root that they lie below, and how many bytes of the paths belong to it.
    root: usize,
    base_len: usize,
    listing: Arc<DirListing>,
    range: Range<usize>,
}

/// Files that perhaps need not be opened.
#[derive(Debug)]
pub(crate) struct UnopenedFiles<'a> {
    items: &'a [SelectedItem],
    /// The chunk that these are, if they are a whole one.
    chunk: Option<&'a Chunk>,
}

/// Files by their numbers, 64 to a word.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileWords(Vec<(u32, u64)>);

impl FileWords {
    /// These files; none if the index does not know one of them.
    pub(crate) fn of(files: impl Iterator<Item = Option<FileId>>) -> Option<FileWords> {
        let mut words = FileWords::default();
        for file in files {
            let (index, bit) = (file?.0 / u64::BITS, 1 << (file?.0 % u64::BITS));
            // Most files come in the order of their numbers.
            match words.0.last_mut() {
                Some((last, word)) if *last == index => *word |= bit,
                _ => words.0.push((index, bit)),
            }
        }
        words.0.sort_unstable_by_key(|(index, _)| *index);
        words.0.dedup_by(|(index, word), (before, all)| {
            *all |= if index == before { *word } else { 0 };
            index == before
        });
        words.0.shrink_to_fit();
        Some(words)
    }

    /// Which of the 64 files from `64 * index` on they are, as bits, by ascending index.
    pub(crate) fn words(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().copied()
    }
}

/// A part of a selection.
#[derive(Clone, Debug)]
pub(crate) struct SelectionChunk {
    selection: Arc<Selection>,
    /// Which of its chunks this is a part of.
    number: usize,
    items: Range<usize>,
}

impl Selection {
    /// Adds the next directory, whose files follow.
    pub(super) fn push_directory(&mut self, report: Arc<DirectoryReport>, dir: SelectedDir) {
        if self.directories.len().is_multiple_of(CHUNK_DIRS) {
            self.begin_chunk();
        }
        self.directories.push(dir);
        self.items.push(SelectedItem::Directory(report));
    }

    fn begin_chunk(&mut self) {
        let begin = self.items.len();
        if self.chunks.last().is_none_or(|last| last.begin < begin) {
            self.chunks.push(Chunk { begin, sums: None });
        }
    }

    /// Adds files of one of the directories before, or a file that is a root of the walk.
    pub(super) fn push_files(&mut self, files: SelectedFiles) {
        if self.chunks.is_empty() {
            self.begin_chunk();
        }
        self.items.push(SelectedItem::Files(files));
    }

    /// Adds up its parts, once it is whole. Those that are the same in `before` are not added up again.
    pub(super) fn finish(&mut self, before: &Selection) {
        for number in 0..self.chunks.len() {
            let items = self.items_of(number);
            let same = before.chunks.get(number).filter(|_| {
                let others = before.items_of(number);
                items.len() == others.len() && items.iter().zip(others).all(|(a, b)| a.is_same(b))
            });
            let sums = same.and_then(|chunk| chunk.sums.clone());
            let sums = sums.unwrap_or_else(|| Arc::new(ChunkSums::of(items)));
            self.chunks[number].sums = Some(sums);
        }
    }

    /// The items of the chunk of this number.
    fn items_of(&self, number: usize) -> &[SelectedItem] {
        let end = self.chunks.get(number + 1).map_or(self.items.len(), |next| next.begin);
        &self.items[self.chunks[number].begin..end]
    }

    /// The directory at this path, to be read again; none if it has none there.
    pub(super) fn pending(
        &self,
        prefix: &[u8],
        (root, count): (&Arc<Dir>, &OpenCount),
    ) -> Option<PendingDir> {
        let dir = self.directories.iter().find(|dir| *dir.prefix == *prefix)?;
        Some(dir.pending(root, count))
    }

    /// The same with directories that were read again, by their paths. None if one of them has other
    /// subdirectories or rules than before.
    pub(super) fn with_directories(
        &self,
        mut reread: BTreeMap<Arc<[u8]>, RereadDir>,
    ) -> Option<Selection> {
        let (mut selection, mut open) = (Selection::default(), Vec::new());
        let mut directories = self.directories.iter();
        for item in &self.items {
            match item {
                SelectedItem::Files(files) => {
                    end_outside(&files.prefix, &mut open, &mut selection)?;
                    // Those of a directory that was read again are replaced.
                    if open.last().is_none_or(|open| open.dir.prefix != files.prefix) {
                        selection.push_files(files.clone());
                    }
                }
                SelectedItem::Directory(report) => {
                    let dir = directories.next().expect("each has its report");
                    end_outside(&dir.prefix, &mut open, &mut selection)?;
                    if let Some(above) = open.last_mut().filter(|open| open.is_above(&dir.prefix)) {
                        above.push_files_before(&dir.prefix, &mut selection)?;
                    }
                    match reread.first_entry().filter(|next| *next.key() == dir.prefix) {
                        None => selection.push_directory(report.clone(), dir.clone()),
                        Some(next) if !next.get().dir.inside.is_same(&dir.inside) => return None,
                        Some(next) => {
                            let next = next.remove();
                            selection.push_directory(next.report.clone(), next.dir.clone());
                            open.push(next);
                        }
                    }
                }
            }
        }
        while let Some(done) = open.pop() {
            done.end(&mut selection)?;
        }
        selection.finish(self);
        reread.is_empty().then_some(selection)
    }

    /// Whether some of it was taken over from another one.
    #[cfg(test)]
    pub(crate) fn is_update_of(&self, before: &Selection) -> bool {
        let reports = |selection: &Selection| -> HashSet<*const DirectoryReport> {
            let report = |item: &SelectedItem| match item {
                SelectedItem::Directory(report) => Some(Arc::as_ptr(report)),
                SelectedItem::Files(_) => None,
            };
            selection.items.iter().filter_map(report).collect()
        };
        !reports(self).is_disjoint(&reports(before))
    }

    /// Its directories in path order.
    pub(crate) fn directories(&self) -> &[SelectedDir] {
        &self.directories
    }

    /// Estimated memory in bytes, without the listings.
    pub(crate) fn bytes(&self) -> usize {
        let skipped = |item: &SelectedItem| match item {
            SelectedItem::Directory(report) => {
                size_of::<DirectoryReport>() + report.skipped_bytes()
            }
            SelectedItem::Files(_) => 0,
        };
        let items: usize =
            self.items.iter().map(|item| size_of::<SelectedItem>() + skipped(item)).sum();
        let words = self.chunks.iter().filter_map(|chunk| chunk.sums().files.as_ref());
        let words = words.map(|words| words.0.len() * size_of::<(u32, u64)>()).sum::<usize>();
        items + words + self.directories.len() * size_of::<SelectedDir>()
    }

    /// All of it, in path order.
    pub(super) fn chunks(self: &Arc<Selection>) -> impl Iterator<Item = SelectionChunk> {
        self.chunks.iter().enumerate().map(|(number, chunk)| {
            let end = chunk.begin + self.items_of(number).len();
            SelectionChunk { selection: self.clone(), number, items: chunk.begin..end }
        })
    }
}

/// A directory of a selection that was read again.
#[derive(Debug)]
pub(super) struct RereadDir {
    dir: SelectedDir,
    report: Arc<DirectoryReport>,
    items: std::vec::IntoIter<RereadItem>,
}

/// What it holds: files, or a subdirectory at this path.
#[derive(Debug)]
pub(super) enum RereadItem {
    Files(SelectedFiles),
    Directory(Arc<[u8]>),
}

/// Ends those of the `open` directories in which `prefix` does not lie; none if one has another subdirectory.
fn end_outside(prefix: &[u8], open: &mut Vec<RereadDir>, to: &mut Selection) -> Option<()> {
    while let Some(done) = open.pop_if(|open| !prefix.starts_with(&open.dir.prefix)) {
        done.end(to)?;
    }
    Some(())
}

impl RereadDir {
    pub(super) fn new(
        dir: SelectedDir,
        report: DirectoryReport,
        items: Vec<RereadItem>,
    ) -> RereadDir {
        RereadDir { dir, report: Arc::new(report), items: items.into_iter() }
    }

    /// Whether the directory at this path, which lies below it, is one of its subdirectories.
    fn is_above(&self, below: &[u8]) -> bool {
        let name = &below[self.dir.prefix.len()..];
        memchr::memchr(b'/', name) == name.len().checked_sub(1)
    }

    /// Adds the files up to a subdirectory; none if that is not the next one.
    fn push_files_before(&mut self, subdirectory: &[u8], to: &mut Selection) -> Option<()> {
        loop {
            match self.items.next()? {
                RereadItem::Files(files) => to.push_files(files),
                RereadItem::Directory(next) => return (*next == *subdirectory).then_some(()),
            }
        }
    }

    /// Adds the files behind the last subdirectory; none if there is another one.
    fn end(self, to: &mut Selection) -> Option<()> {
        for item in self.items {
            let RereadItem::Files(files) = item else { return None };
            to.push_files(files);
        }
        Some(())
    }
}

/// What the index knows each of the files by.
fn file_ids(items: &[SelectedItem]) -> impl Iterator<Item = Option<FileId>> {
    let files = items.iter().filter_map(SelectedItem::files);
    files.flat_map(|files| files.range.clone().map(|index| files.listing.file(index)))
}

impl SelectedItem {
    /// Whether both come from the same reading of a directory.
    fn is_same(&self, other: &SelectedItem) -> bool {
        match (self, other) {
            (SelectedItem::Directory(own), SelectedItem::Directory(other)) => {
                Arc::ptr_eq(own, other)
            }
            (SelectedItem::Files(own), SelectedItem::Files(other)) => {
                Arc::ptr_eq(&own.listing, &other.listing) && own.range == other.range
            }
            _ => false,
        }
    }

    fn files(&self) -> Option<&SelectedFiles> {
        match self {
            SelectedItem::Directory(_) => None,
            SelectedItem::Files(files) => Some(files),
        }
    }

    /// Its files.
    pub(super) fn unopened(&self) -> UnopenedFiles<'_> {
        UnopenedFiles { items: std::slice::from_ref(self), chunk: None }
    }
}

impl UnopenedFiles<'_> {
    /// By their numbers; none if the index does not know one of them.
    pub(crate) fn files(&self) -> Option<Cow<'_, FileWords>> {
        match self.chunk {
            Some(chunk) => chunk.sums().files.as_ref().map(Cow::Borrowed),
            None => FileWords::of(file_ids(self.items)).map(Cow::Owned),
        }
    }

    /// Whether they are no more than those of one batch, so that each may be looked at.
    pub(crate) fn is_batch(&self) -> bool {
        self.chunk.is_none()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        let count = || self.items.iter().filter_map(SelectedItem::files);
        self.chunk.map_or_else(|| count().map(|it| it.range.len()).sum(), |chunk| chunk.sums().len)
    }

    /// Whether a name in one of their directories has these bytes.
    pub(crate) fn have_name_with(&self, bytes: &memmem::Finder<'_>) -> bool {
        let mut before = None;
        self.items.iter().filter_map(SelectedItem::files).any(|files| {
            let listing = Arc::as_ptr(&files.listing);
            before.replace(listing) != Some(listing) && files.listing.have_name_with(bytes)
        })
    }

    /// Their paths in the workspace, in path order, and what the index knows each by.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (Vec<u8>, Option<FileId>)> {
        self.items.iter().filter_map(SelectedItem::files).flat_map(SelectedFiles::entries)
    }

    /// The last of them; none if there are none.
    pub(crate) fn last(&self) -> Option<EntryRef> {
        self.items.iter().rev().filter_map(SelectedItem::files).find_map(SelectedFiles::last)
    }
}

impl SelectionChunk {
    /// Its items, each with its index in the selection.
    pub(super) fn items(&self) -> impl Iterator<Item = (usize, &SelectedItem)> {
        self.items.clone().filter_map(|index| Some((index, self.selection.items.get(index)?)))
    }

    /// The rest of it, from the item at `index` of the selection.
    pub(super) fn from(&self, index: usize) -> SelectionChunk {
        SelectionChunk { items: index..self.items.end, ..self.clone() }
    }

    /// All reports and all files of the whole chunk.
    pub(super) fn whole(&self) -> (&DirectoryReport, UnopenedFiles<'_>) {
        let (chunk, items) = (&self.selection.chunks[self.number], self.items.clone());
        let items = &self.selection.items[items];
        (&chunk.sums().report, UnopenedFiles { items, chunk: Some(chunk) })
    }

    /// The number of the root of its first files, and the path of the first of them; without files, which takes
    /// no time, the first place of all.
    pub(super) fn place(&self) -> (usize, Vec<u8>) {
        // The report of a directory has no path; its files follow next.
        let files = self.items().find_map(|(_, item)| match item {
            SelectedItem::Files(files) => Some(files),
            SelectedItem::Directory(_) => None,
        });
        files.map_or_else(Default::default, |files| {
            let (path, _) = files.entries().next().expect("there are files in it");
            (files.root, path)
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
        SelectedFiles { prefix, root, base_len, listing, range }
    }

    /// The directory, empty or ending in `/`, and how many bytes of it belong to the root of the walk.
    pub(super) fn place(&self) -> (&Arc<[u8]>, usize) {
        (&self.prefix, self.base_len)
    }

    /// The listing, and which of its entries these are.
    pub(super) fn listing(&self) -> (&Arc<DirListing>, Range<usize>) {
        (&self.listing, self.range.clone())
    }

    /// The number of the root that they lie below.
    pub(super) fn root(&self) -> usize {
        self.root
    }

    /// Their paths in the workspace, in path order, and what the index knows each by.
    fn entries(&self) -> impl Iterator<Item = (Vec<u8>, Option<FileId>)> {
        self.range.clone().filter_map(|index| {
            let (name, _) = self.listing.get(index)?;
            Some(([&*self.prefix, name].concat(), self.listing.file(index)))
        })
    }

    /// The last of them; none if there are none.
    fn last(&self) -> Option<EntryRef> {
        let index = self.range.clone().next_back()?;
        Some(EntryRef::new(&self.prefix, &self.listing, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_in_the_order_of_their_numbers_in_words_of_64() {
        let words = |files: &[u32]| {
            let files = files.iter().map(|file| Some(FileId(*file)));
            FileWords::of(files).unwrap().words().collect::<Vec<_>>()
        };
        assert_eq!(words(&[]), []);
        assert_eq!(words(&[1, 0, 63]), [(0, 1 << 63 | 3)]);
        assert_eq!(words(&[130, 0, 64, 1, 129, 130]), [(0, 3), (1, 1), (2, 6)]);
        assert!(FileWords::of([Some(FileId(1)), None].into_iter()).is_none());
    }
}
