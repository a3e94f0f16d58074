//! A gram query compiled to hashes, for many filters.

use crate::index::gram_query::GramQuery;
use crate::index::grams;

/// The most grams of a kind that are looked up; more would exclude hardly anything.
const MOST_GRAMS: usize = 32;

/// Grams that are looked up before an answer is looked at. One by one, each answer is a guess for
/// the processor, and each wrong guess waits for memory.
const AT_ONCE: usize = 2;

/// Grams that must all be there, and choices that must all be met.
#[derive(Clone, Debug)]
pub(super) struct CompiledGrams {
    /// The hashes of the long grams, then those of the short ones.
    grams: Box<[u32]>,
    long: usize,
    /// Of each of these at least one.
    choices: Box<[Box<[CompiledGrams]>]>,
}

impl CompiledGrams {
    pub(super) fn of(gram_query: &GramQuery) -> CompiledGrams {
        GramSets::of(gram_query).finish()
    }

    /// Whether every set meets it.
    pub(super) fn is_nothing(&self) -> bool {
        self.grams.is_empty() && self.choices.is_empty()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.grams.len() + self.choices.iter().flatten().map(CompiledGrams::count).sum::<usize>()
    }

    /// Whether a set satisfies the query; `has` returns whether a hash is in the set.
    pub(super) fn is_met(&self, with_long: bool, has: &impl Fn(u32) -> bool) -> bool {
        self.met(with_long, &|gram| u64::from(has(gram)).wrapping_neg()) != 0
    }

    /// Which of 64 sets satisfy the query; `have` returns in which sets a hash is.
    pub(super) fn met(&self, with_long: bool, have: &impl Fn(u32) -> u64) -> u64 {
        let mut all = u64::MAX;
        for grams in self.grams(with_long).chunks(AT_ONCE) {
            all = grams.iter().fold(all, |all, gram| all & have(*gram));
            if all == 0 {
                return 0;
            }
        }
        for choice in &self.choices {
            let any = |any: u64, one: &CompiledGrams| any | one.met(with_long, have);
            all &= choice.iter().fold(0, any);
        }
        all
    }

    /// The hashes that the filter can answer.
    fn grams(&self, with_long: bool) -> &[u32] {
        let first = if with_long { 0 } else { self.long };
        self.grams.get(first..).unwrap_or_default()
    }
}

/// A query that is being compiled; the hashes are sorted and distinct.
#[derive(Debug, Default)]
struct GramSets {
    long: Vec<u32>,
    short: Vec<u32>,
    choices: Vec<Vec<GramSets>>,
}

impl GramSets {
    fn of(gram_query: &GramQuery) -> GramSets {
        match gram_query {
            GramQuery::Text(text) => {
                let (short, long) = grams::of_text(text);
                GramSets { long, short, choices: Vec::new() }
            }
            GramQuery::All(parts) => GramSets::all(parts.iter().map(GramSets::of)),
            GramQuery::Any(parts) => GramSets::any(parts.iter().map(GramSets::of).collect()),
        }
    }

    fn all(parts: impl Iterator<Item = GramSets>) -> GramSets {
        let mut all = GramSets::default();
        for part in parts {
            all.long.extend(part.long);
            all.short.extend(part.short);
            all.choices.extend(part.choices);
        }
        for hashes in [&mut all.long, &mut all.short] {
            hashes.sort_unstable();
            hashes.dedup();
        }
        all
    }

    /// One of the branches; grams that all of them need are looked up first.
    fn any(mut branches: Vec<GramSets>) -> GramSets {
        let long = take_common(&mut branches, |branch| &mut branch.long);
        let short = take_common(&mut branches, |branch| &mut branch.short);
        let open = branches.iter().any(GramSets::is_nothing);
        GramSets { long, short, choices: if open { Vec::new() } else { vec![branches] } }
    }

    fn is_nothing(&self) -> bool {
        self.long.is_empty() && self.short.is_empty() && self.choices.is_empty()
    }

    /// The order of hashes is a random order of grams, so cutting leaves some from everywhere.
    fn finish(mut self) -> CompiledGrams {
        self.long.truncate(MOST_GRAMS);
        self.short.truncate(MOST_GRAMS);
        let branches = |choice: Vec<GramSets>| choice.into_iter().map(GramSets::finish).collect();
        CompiledGrams {
            long: self.long.len(),
            grams: self.long.into_iter().chain(self.short).collect(),
            choices: self.choices.into_iter().map(branches).collect(),
        }
    }
}

/// Takes out the grams that every branch has.
fn take_common(
    branches: &mut [GramSets],
    grams: impl Fn(&mut GramSets) -> &mut Vec<u32>,
) -> Vec<u32> {
    let Some((first, others)) = branches.split_first_mut() else { return Vec::new() };
    let mut common = grams(first).clone();
    for other in others {
        let other = grams(other);
        common.retain(|gram| other.binary_search(gram).is_ok());
    }
    if !common.is_empty() {
        for branch in branches {
            grams(branch).retain(|gram| common.binary_search(gram).is_err());
        }
    }
    common
}
