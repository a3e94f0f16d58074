//! The query that a pattern makes to Bloom filters.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::index::bit_slices::BitSlices;
use crate::index::bloom::{Block, FilterTraits};
use crate::index::compiled_grams::CompiledGrams;
use crate::index::planner::Planner;

/// The query that a pattern makes to Bloom filters; compiled once for each search.
#[derive(Clone, Debug)]
pub(crate) struct FilterQuery {
    compiled: CompiledGrams,
    multiline: bool,
    drops_folding: bool,
    /// Whether every match holds a byte that is not ASCII.
    needs_wide: bool,
}

impl FilterQuery {
    /// The query of a pattern; none if a filter can exclude no text.
    pub(crate) fn of(hir: &Hir, multiline: bool) -> Option<FilterQuery> {
        let mut planner = Planner::new();
        let compiled = CompiledGrams::of(&planner.gram_query(hir));
        let needs_wide = needs_wide(hir);
        let asks = needs_wide || !compiled.is_nothing();
        let drops_folding = planner.drops_folding;
        asks.then_some(FilterQuery { compiled, multiline, drops_folding, needs_wide })
    }

    /// How many grams it asks for at most.
    #[cfg(test)]
    pub(super) fn grams(&self) -> usize {
        self.compiled.count()
    }

    /// False only if no match can be in the text that the filter was built of; damaged filters
    /// give any answer.
    pub(crate) fn may_match(&self, filter: &[u8]) -> bool {
        let Some((&traits, blocks)) = filter.split_first() else { return true };
        let Some(traits) = FilterTraits::read(traits) else { return true };
        if self.needs_wide && traits.is_ascii() {
            return false;
        }
        if self.drops_folding && traits.has_folding() {
            return true;
        }
        if self.multiline {
            return self.may_match_across(traits, blocks);
        }
        let mut rest = blocks;
        while !rest.is_empty() {
            let Some((block, after)) = Block::split(rest) else { return true };
            if self.compiled.is_met(traits.has_long(), &|gram| block.has(gram)) {
                return true;
            }
            rest = after;
        }
        false
    }

    /// Which of the sliced filters may be of a text with a match, as [`FilterQuery::may_match`].
    pub(super) fn may_match_in(&self, slices: &BitSlices) -> u64 {
        let traits = slices.shape.traits;
        if self.needs_wide && traits.is_ascii() {
            return 0;
        }
        if self.drops_folding && traits.has_folding() {
            return u64::MAX;
        }
        self.compiled.met(traits.has_long(), &|gram| slices.row(gram))
    }

    /// A match may begin in one block and end in another.
    fn may_match_across(&self, traits: FilterTraits, blocks: &[u8]) -> bool {
        self.compiled.is_met(traits.has_long(), &|gram| {
            let mut rest = blocks;
            while !rest.is_empty() {
                let Some((block, after)) = Block::split(rest) else { return true };
                if block.has(gram) {
                    return true;
                }
                rest = after;
            }
            false
        })
    }
}

/// Whether every match holds a byte that is not ASCII; recurses as deep as the parser allowed
/// groups to be nested.
fn needs_wide(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => !literal.0.is_ascii(),
        HirKind::Class(Class::Unicode(class)) => {
            class.iter().all(|range| !range.start().is_ascii())
        }
        HirKind::Class(Class::Bytes(class)) => class.iter().all(|range| !range.start().is_ascii()),
        HirKind::Repetition(repetition) => repetition.min > 0 && needs_wide(&repetition.sub),
        HirKind::Capture(capture) => needs_wide(&capture.sub),
        HirKind::Concat(parts) => parts.iter().any(needs_wide),
        HirKind::Alternation(parts) => parts.iter().all(needs_wide),
    }
}

#[cfg(test)]
mod tests;
