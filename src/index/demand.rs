//! What a text must hold for a match to be in it: a formula over short texts.

use crate::index::grams::{self, BORDER, SHORT};
use crate::index::strings::Strings;

/// The most texts that are compared with each other to drop what follows from others.
const MOST_COMPARED: usize = 16;

/// A formula that holds for every text with a match; ASCII letters are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Demand {
    /// With or without a border at its ends, no line break in it, and long enough for a hash.
    Text(Vec<u8>),
    /// All of them; of none, nothing is demanded.
    All(Vec<Demand>),
    /// At least one of them; of none, there is no match in any text.
    Any(Vec<Demand>),
}

impl Demand {
    /// What every text fulfils.
    pub(super) fn nothing() -> Demand {
        Demand::All(Vec::new())
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, Demand::All(parts) if parts.is_empty())
    }

    /// One of the strings.
    pub(super) fn one_of(strings: &Strings) -> Demand {
        // Looked at first, because it is so for most sets that come from classes.
        if strings.iter().any(|string| string.len() < SHORT) {
            return Demand::nothing();
        }
        Demand::any(strings.iter().map(Demand::text).collect())
    }

    /// The string, as far as it can be asked for.
    fn text(string: &[u8]) -> Demand {
        let mut lines: Vec<Vec<u8>> =
            string.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        // Where a line ends, a word ends.
        let last = lines.len() - 1;
        for (at, line) in lines.iter_mut().enumerate() {
            if at < last && line.last() != Some(&BORDER) {
                line.push(BORDER);
            }
            if at > 0 && line.first() != Some(&BORDER) {
                line.insert(0, BORDER);
            }
        }
        let told = lines.into_iter().filter(|line| grams::has_any(line));
        Demand::all(told.map(Demand::Text).collect())
    }

    /// All of the demands.
    pub(super) fn all(demands: Vec<Demand>) -> Demand {
        let mut parts = Vec::new();
        for demand in demands {
            match demand {
                Demand::All(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        drop_implied(&mut parts, |part, other| holds(other, part));
        single(parts).unwrap_or_else(Demand::All)
    }

    /// At least one of the demands.
    pub(super) fn any(demands: Vec<Demand>) -> Demand {
        let mut parts = Vec::new();
        for demand in demands {
            match demand {
                demand if demand.is_nothing() => return demand,
                Demand::Any(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        // In order, so that the same choice is known again.
        parts.sort_unstable();
        drop_implied(&mut parts, holds);
        single(parts).unwrap_or_else(Demand::Any)
    }
}

/// The only part, or all of them back.
fn single(mut parts: Vec<Demand>) -> Result<Demand, Vec<Demand>> {
    match parts.pop() {
        Some(part) if parts.is_empty() => Ok(part),
        last => {
            parts.extend(last);
            Err(parts)
        }
    }
}

/// Drops every part that `implied` tells to be superfluous beside another one.
fn drop_implied(parts: &mut Vec<Demand>, implied: impl Fn(&Demand, &Demand) -> bool) {
    if parts.len() > MOST_COMPARED {
        return;
    }
    let mut at = 0;
    while let Some(part) = parts.get(at) {
        let others = parts.iter().enumerate().filter(|(other, _)| *other != at);
        if others.into_iter().any(|(_, other)| implied(part, other)) {
            parts.remove(at);
        } else {
            at += 1;
        }
    }
}

/// Whether `longer` is a text that `shorter` is part of.
fn holds(longer: &Demand, shorter: &Demand) -> bool {
    match (longer, shorter) {
        (Demand::Text(longer), Demand::Text(shorter)) => {
            memchr::memmem::find(longer, shorter).is_some()
        }
        _ => longer == shorter,
    }
}
