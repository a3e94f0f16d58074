//! The literals that an expression matches, begins with and ends with.

use crate::index::gram_query::GramQuery;
use crate::index::grams::LONG;
use crate::index::literal_set::LiteralSet;

/// The bytes at an end of a string that make grams with what comes beside it.
const BESIDE: usize = LONG - 1;

/// What is known of all strings that match; it holds for more strings, never for fewer.
#[derive(Clone, Debug)]
pub(super) struct LiteralInfo {
    /// How they begin; `None` if the ends are the whole strings.
    starts: Option<LiteralSet>,
    /// How they end.
    ends: LiteralSet,
    /// All that is demanded of a text with such a string in it, beside its start and its end.
    gram_queries: Vec<GramQuery>,
}

impl LiteralInfo {
    /// These strings and no others.
    pub(super) fn exact(strings: LiteralSet) -> LiteralInfo {
        LiteralInfo { starts: None, ends: strings, gram_queries: Vec::new() }
    }

    /// Any string.
    pub(super) fn anything() -> LiteralInfo {
        let (starts, ends) = (Some(LiteralSet::empty()), LiteralSet::empty());
        LiteralInfo { starts, ends, gram_queries: Vec::new() }
    }

    /// The strings, if they are all known.
    pub(super) fn strings(&self) -> Option<&LiteralSet> {
        self.starts.is_none().then_some(&self.ends)
    }

    /// Bytes at its ends, about, which every later step may copy.
    pub(super) fn cost(&self) -> usize {
        self.ends.cost() + self.starts.as_ref().map_or(0, LiteralSet::cost)
    }

    /// What is demanded of a text with such a string.
    pub(super) fn into_demand(self) -> GramQuery {
        let sides = self.starts.iter().chain([&self.ends]).map(GramQuery::one_of);
        GramQuery::all(sides.chain(self.gram_queries).collect())
    }

    /// Strings that begin and end so, with anything between.
    pub(super) fn repeated(self) -> LiteralInfo {
        LiteralInfo { starts: Some(self.starts.unwrap_or_else(|| self.ends.clone())), ..self }
    }

    /// Each of these strings followed by each of those.
    pub(super) fn then(mut self, next: LiteralInfo) -> LiteralInfo {
        let Some(starts) = next.starts else { return self.then_exact(&next.ends) };
        self.gram_queries.extend(next.gram_queries);
        let joined = self.ends.joined(&starts);
        match (joined, self.starts.is_some()) {
            (Some(joined), true) => self.demand_one_of(&joined),
            (Some(joined), false) => self.starts = Some(joined),
            (None, _) => {
                self.demand_one_of(&meeting(&self.ends, &starts));
                self.demand_one_of(&starts);
                self.close();
            }
        }
        LiteralInfo { ends: next.ends, ..self }
    }

    fn then_exact(mut self, next: &LiteralSet) -> LiteralInfo {
        if let Some(ends) = self.ends.joined(next) {
            return LiteralInfo { ends, ..self };
        }
        let meeting = |most| self.ends.ends(most).joined(next);
        let ends = [BESIDE, BESIDE / 2].into_iter().find_map(meeting);
        self.close();
        LiteralInfo { ends: ends.unwrap_or_else(|| next.clone()), ..self }
    }

    /// Demands the ends, which are about to be replaced.
    fn close(&mut self) {
        self.demand_one_of(&self.ends.clone());
        if self.starts.is_none() {
            self.starts = Some(self.ends.clone());
        }
    }

    fn demand_one_of(&mut self, strings: &LiteralSet) {
        let gram_query = GramQuery::one_of(strings);
        if !gram_query.is_nothing() {
            self.gram_queries.push(gram_query);
        }
    }

    /// The strings of any of the readings.
    pub(super) fn either(infos: Vec<LiteralInfo>) -> LiteralInfo {
        let exact: Option<Vec<&LiteralSet>> = infos.iter().map(LiteralInfo::strings).collect();
        if let Some(strings) = exact.and_then(|sets| union(sets.into_iter().cloned())) {
            return LiteralInfo::exact(strings);
        }
        let starts = infos.iter().map(|info| info.starts.as_ref().unwrap_or(&info.ends));
        let starts = union(starts.map(|starts| starts.starts(BESIDE)));
        let ends = union(infos.iter().map(|info| info.ends.ends(BESIDE)));
        let gram_query = GramQuery::any(infos.into_iter().map(LiteralInfo::into_demand).collect());
        LiteralInfo {
            starts: Some(starts.unwrap_or_else(LiteralSet::empty)),
            ends: ends.unwrap_or_else(LiteralSet::empty),
            gram_queries: vec![gram_query],
        }
    }
}

/// What is where the ends and the starts meet, as far as that is few strings.
fn meeting(ends: &LiteralSet, starts: &LiteralSet) -> LiteralSet {
    let joined = |most| ends.ends(most).joined(&starts.starts(most));
    [BESIDE, BESIDE / 2].into_iter().find_map(joined).unwrap_or_else(LiteralSet::empty)
}

fn union(mut sets: impl Iterator<Item = LiteralSet>) -> Option<LiteralSet> {
    let first = sets.next()?;
    sets.try_fold(first, LiteralSet::with)
}
