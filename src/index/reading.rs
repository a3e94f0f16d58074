//! What is known of the strings that an expression matches.

use crate::index::demand::Demand;
use crate::index::grams::LONG;
use crate::index::strings::Strings;

/// The bytes at an end of a string that make grams with what comes beside it.
const BESIDE: usize = LONG - 1;

/// What is known of all strings that match; it holds for more strings, never for fewer.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    /// How they begin; `None` if the ends are the whole strings.
    starts: Option<Strings>,
    /// How they end.
    ends: Strings,
    /// All that is demanded of a text with such a string in it, beside its start and its end.
    demands: Vec<Demand>,
}

impl Reading {
    /// These strings and no others.
    pub(super) fn exact(strings: Strings) -> Reading {
        Reading { starts: None, ends: strings, demands: Vec::new() }
    }

    /// Any string.
    pub(super) fn anything() -> Reading {
        let (starts, ends) = (Some(Strings::empty()), Strings::empty());
        Reading { starts, ends, demands: Vec::new() }
    }

    /// The strings, if they are all known.
    pub(super) fn strings(&self) -> Option<&Strings> {
        self.starts.is_none().then_some(&self.ends)
    }

    /// Bytes at its ends, about, which every later step may copy.
    pub(super) fn cost(&self) -> usize {
        self.ends.cost() + self.starts.as_ref().map_or(0, Strings::cost)
    }

    /// What is demanded of a text with such a string.
    pub(super) fn into_demand(self) -> Demand {
        let sides = self.starts.iter().chain([&self.ends]).map(Demand::one_of);
        Demand::all(sides.chain(self.demands).collect())
    }

    /// Strings that begin and end so, with anything between.
    pub(super) fn repeated(self) -> Reading {
        Reading { starts: Some(self.starts.unwrap_or_else(|| self.ends.clone())), ..self }
    }

    /// Each of these strings followed by each of those.
    pub(super) fn then(mut self, next: Reading) -> Reading {
        let Some(starts) = next.starts else { return self.then_exact(&next.ends) };
        self.demands.extend(next.demands);
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
        Reading { ends: next.ends, ..self }
    }

    fn then_exact(mut self, next: &Strings) -> Reading {
        if let Some(ends) = self.ends.joined(next) {
            return Reading { ends, ..self };
        }
        let meeting = |most| self.ends.ends(most).joined(next);
        let ends = [BESIDE, BESIDE / 2].into_iter().find_map(meeting);
        self.close();
        Reading { ends: ends.unwrap_or_else(|| next.clone()), ..self }
    }

    /// Demands the ends, which are about to be replaced.
    fn close(&mut self) {
        self.demand_one_of(&self.ends.clone());
        if self.starts.is_none() {
            self.starts = Some(self.ends.clone());
        }
    }

    fn demand_one_of(&mut self, strings: &Strings) {
        let demand = Demand::one_of(strings);
        if !demand.is_nothing() {
            self.demands.push(demand);
        }
    }

    /// The strings of any of the readings.
    pub(super) fn either(readings: Vec<Reading>) -> Reading {
        let exact: Option<Vec<&Strings>> = readings.iter().map(Reading::strings).collect();
        if let Some(strings) = exact.and_then(|sets| union(sets.into_iter().cloned())) {
            return Reading::exact(strings);
        }
        let starts =
            readings.iter().map(|reading| reading.starts.as_ref().unwrap_or(&reading.ends));
        let starts = union(starts.map(|starts| starts.starts(BESIDE)));
        let ends = union(readings.iter().map(|reading| reading.ends.ends(BESIDE)));
        let demand = Demand::any(readings.into_iter().map(Reading::into_demand).collect());
        Reading {
            starts: Some(starts.unwrap_or_else(Strings::empty)),
            ends: ends.unwrap_or_else(Strings::empty),
            demands: vec![demand],
        }
    }
}

/// What is where the ends and the starts meet, as far as that is few strings.
fn meeting(ends: &Strings, starts: &Strings) -> Strings {
    let joined = |most| ends.ends(most).joined(&starts.starts(most));
    [BESIDE, BESIDE / 2].into_iter().find_map(joined).unwrap_or_else(Strings::empty)
}

fn union(mut sets: impl Iterator<Item = Strings>) -> Option<Strings> {
    let first = sets.next()?;
    sets.try_fold(first, Strings::with)
}
