//! A summary of consecutive files, which spares a search the look at each of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::index::bit_slices::BitSlices;
use crate::index::file_scan::WHOLE;
use crate::index::file_table::FileRef;
use crate::index::file_tables::FileTables;
use crate::index::memoized_query::MemoizedQuery;
use crate::index::record::{Bits, Content, KnownFile};
use crate::walk::{EntryRange, Generation, MemoryBudget, Reservation};
use crate::workspace::Kind;

/// Consecutive files of a directory, as they were when all of them were known and unchanged.
#[derive(Debug)]
pub(crate) struct RangeSummary {
    /// How many groups of sliced filters existed then.
    sliced: usize,
    /// The epoch of the call that made it.
    verified: u64,
    contents: Contents,
    /// The path of the last of them; empty if there is none.
    last: Box<[u8]>,
    _taken: Reservation,
}

/// What the files hold, and what would exclude them.
#[derive(Debug, Default)]
struct Contents {
    totals: Totals,
    /// Whether one of them has to be looked at by itself for any query.
    is_odd: bool,
    /// The sliced filters, a bit for each.
    columns: Vec<(Arc<BitSlices>, u64)>,
    /// Those that are in none.
    alone: Vec<Bits>,
}

/// What some files hold, as a search would report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Files that hold text.
    pub(crate) text_files: u64,
    /// Bytes of their texts.
    pub(crate) text_bytes: u64,
    /// Bytes of the longest of them.
    pub(crate) longest: u64,
    pub(crate) binary_files: u64,
}

impl RangeSummary {
    /// A summary of files, if all of them are indexed and a watch would have reported a change.
    pub(super) fn new(
        files: &EntryRange,
        tables: &FileTables,
        (generation, budget): (Generation, &MemoryBudget),
    ) -> Option<RangeSummary> {
        let mut contents = Contents::default();
        let mut columns = BTreeMap::new();
        let (sliced, table) = (tables.sliced.made(), tables.of(&files.cached));
        let is_whole =
            table.tell(file(files), generation, |known| contents.add(known, &mut columns));
        contents.columns = columns.into_values().collect();
        let name = file(files).last().map(|last| last.name);
        let last = name.map_or(Vec::new(), |name| [&*files.cached.prefix, name].concat());
        let bytes = size_of::<RangeSummary>() + contents.bytes() + last.len();
        let taken = budget.reserve(bytes, 0).filter(|_| is_whole)?;
        Some(RangeSummary {
            sliced,
            verified: generation.current,
            contents,
            last: last.into(),
            _taken: taken,
        })
    }

    /// Whether the files still are as they were, and no bundle was made that may hold their filters.
    /// What is known of a file changes only when the file does, or comes into a bundle.
    pub(super) fn holds(&self, files: &EntryRange, sliced: usize, generation: Generation) -> bool {
        self.sliced == sliced && files.cached.are_all_unchanged(self.verified, generation)
    }

    /// What the files hold, together.
    pub(crate) fn totals(&self) -> Totals {
        self.contents.totals
    }

    /// The path of the last of the files; empty if there is none.
    pub(crate) fn last(&self) -> &[u8] {
        &self.last
    }

    /// False only if none of the files has to be opened.
    pub(super) fn may_match(&self, query: &MemoizedQuery) -> bool {
        let Contents { is_odd, columns, alone, .. } = &self.contents;
        *is_odd
            || columns.iter().any(|(slices, these)| query.may_match_in(slices) & these != 0)
            || alone.iter().any(|bits| query.may_match(bits))
    }
}

/// The files among the entries.
fn file(files: &EntryRange) -> impl Iterator<Item = FileRef<'_>> {
    let EntryRange { cached, listing, range, .. } = files;
    range.clone().filter_map(|index| {
        let (name, kind) = listing.get(index)?;
        let position = listing.position(index)?;
        (kind == Kind::File).then_some(FileRef { name, position, cached })
    })
}

impl Contents {
    fn add(&mut self, known: &KnownFile, sliced: &mut BTreeMap<usize, (Arc<BitSlices>, u64)>) {
        if known.content == Content::Binary {
            self.totals.binary_files += 1;
            return;
        }
        self.totals.text_files += 1;
        self.totals.text_bytes += known.text_bytes;
        self.totals.longest = self.totals.longest.max(known.text_bytes);
        self.is_odd |= known.text_bytes > WHOLE;
        match &known.content {
            Content::Filtered(Bits::Sliced(column)) => {
                let number = column.slices.number;
                let (_, columns) = sliced.entry(number).or_insert((column.slices.clone(), 0));
                *columns |= 1 << column.position;
            }
            Content::Filtered(bits) => self.alone.push(bits.clone()),
            Content::Binary | Content::Opaque => self.is_odd = true,
        }
    }

    /// Bytes that it takes in memory besides itself.
    fn bytes(&self) -> usize {
        self.columns.len() * size_of::<(Arc<BitSlices>, u64)>()
            + self.alone.len() * size_of::<Bits>()
    }
}
