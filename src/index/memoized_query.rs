//! The filter query of one search, with the answers of sliced filters.

use std::sync::OnceLock;

use crate::index::bit_slices::BitSlices;
use crate::index::filter_query::FilterQuery;
use crate::index::record::Bits;

/// A filter query, with its answers for sliced filters, each of which covers 64 files.
#[derive(Debug)]
pub(crate) struct MemoizedQuery {
    pub(super) filter_query: FilterQuery,
    /// One answer for each group of sliced filters that existed when the search began, once computed.
    answers: Box<[OnceLock<u64>]>,
}

impl MemoizedQuery {
    /// A query while `slices` groups of sliced filters exist.
    pub(super) fn new(filter_query: FilterQuery, sliced: usize) -> MemoizedQuery {
        MemoizedQuery { filter_query, answers: (0..sliced).map(|_| OnceLock::new()).collect() }
    }

    /// False only if no match can be in the text that the filter was built of.
    pub(super) fn may_match(&self, bits: &Bits) -> bool {
        match bits {
            Bits::Owned(filter) => self.filter_query.may_match(filter),
            Bits::Stored(filter) => self.filter_query.may_match(filter),
            Bits::Sliced(column) => self.may_match_in(&column.slices) >> column.position & 1 != 0,
        }
    }

    /// Which of the sliced filters may be of a text with a match, a bit for each.
    pub(super) fn may_match_in(&self, slices: &BitSlices) -> u64 {
        let ask = || self.filter_query.may_match_in(slices);
        let answer = self.answers.get(slices.number);
        answer.map_or_else(ask, |answer| *answer.get_or_init(ask))
    }
}
