//! What a pattern asks of filters.

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::index::asked::Asked;
use crate::index::filter::{Block, Traits};
use crate::index::planner::Planner;

/// What a pattern asks of filters; made once for a search and asked of every file's.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    asked: Asked,
    multiline: bool,
    drops_folding: bool,
    /// Whether every match holds a byte that is not ASCII.
    needs_wide: bool,
}

impl Question {
    /// What the pattern asks, or `None` if every text may match for all that a filter knows.
    pub(crate) fn of(hir: &Hir, multiline: bool) -> Option<Question> {
        let mut planner = Planner::new();
        let asked = Asked::of(&planner.demand(hir));
        let needs_wide = needs_wide(hir);
        let asks = needs_wide || !asked.is_nothing();
        let drops_folding = planner.drops_folding;
        asks.then_some(Question { asked, multiline, drops_folding, needs_wide })
    }

    /// How many grams it asks for at most.
    #[cfg(test)]
    pub(super) fn grams(&self) -> usize {
        self.asked.count()
    }

    /// False only if no match can be in the text that the filter was built of; damaged filters
    /// give any answer.
    pub(crate) fn may_match(&self, filter: &[u8]) -> bool {
        let Some((&traits, blocks)) = filter.split_first() else { return true };
        let Some(traits) = Traits::read(traits) else { return true };
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
            if self.asked.is_met(traits.has_long(), &|gram| block.has(gram)) {
                return true;
            }
            rest = after;
        }
        false
    }

    /// False only if [`Question::may_match`] is. Asked of many filters in a row it is much faster:
    /// memory is fetched for some of them at a time.
    pub(crate) fn seems_to_match(&self, filter: &[u8]) -> bool {
        let Some((&traits, blocks)) = filter.split_first() else { return true };
        let Some(traits) = Traits::read(traits) else { return true };
        let (mut seems, mut rest) = (self.drops_folding & traits.has_folding(), blocks);
        while !rest.is_empty() {
            let Some((block, after)) = Block::split(rest) else { return true };
            seems |= self.asked.seems_met(traits.has_long(), &|gram| block.has(gram));
            seems |= self.multiline & !after.is_empty();
            rest = after;
        }
        seems
    }

    /// A match may begin in one block and end in another.
    fn may_match_across(&self, traits: Traits, blocks: &[u8]) -> bool {
        self.asked.is_met(traits.has_long(), &|gram| {
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
