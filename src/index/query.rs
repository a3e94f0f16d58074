//! What one search asks of filters, and what bundles of them have answered.

use std::sync::OnceLock;

use crate::index::bundle::Bundle;
use crate::index::question::Question;
use crate::index::record::Bits;

/// A question, and the answers to it that hold for many files.
#[derive(Debug)]
pub(crate) struct Query {
    pub(super) question: Question,
    /// Of each bundle that there was when the search began, once somebody wanted to know.
    answers: Box<[OnceLock<u64>]>,
}

impl Query {
    /// A query where so many bundles have been made.
    pub(super) fn new(question: Question, bundles: usize) -> Query {
        Query { question, answers: (0..bundles).map(|_| OnceLock::new()).collect() }
    }

    /// How many bundles there were when the search began.
    pub(super) fn bundles(&self) -> usize {
        self.answers.len()
    }

    /// False only if no match can be in the text that the filter was built of.
    pub(super) fn may_match(&self, bits: &Bits) -> bool {
        match bits {
            Bits::Owned(filter) => self.question.may_match(filter),
            Bits::Stored(filter) => self.question.may_match(filter),
            Bits::Bundled(column) => self.may_match_in(&column.bundle) >> column.position & 1 != 0,
        }
    }

    /// Which filters of a bundle may be of a text with a match, a bit for each.
    pub(super) fn may_match_in(&self, bundle: &Bundle) -> u64 {
        let ask = || self.question.may_match_in(bundle);
        let answer = self.answers.get(bundle.number);
        answer.map_or_else(ask, |answer| *answer.get_or_init(ask))
    }
}
