//! What a text must contain to have a match: a formula over short texts.

use crate::index::grams::{self, BORDER, SHORT};
use crate::index::literal_set::LiteralSet;

/// The most texts that are compared with each other to drop what follows from others.
const MOST_COMPARED: usize = 16;

/// A formula that holds for every text with a match; ASCII letters are in lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GramQuery {
    /// With or without a border at its ends, no line break in it, and long enough for a hash.
    Text(Vec<u8>),
    /// All of them; of none, nothing is demanded.
    All(Vec<GramQuery>),
    /// At least one of them; of none, there is no match in any text.
    Any(Vec<GramQuery>),
}

impl GramQuery {
    /// The query that every text satisfies.
    pub(super) fn nothing() -> GramQuery {
        GramQuery::All(Vec::new())
    }

    pub(super) fn is_nothing(&self) -> bool {
        matches!(self, GramQuery::All(parts) if parts.is_empty())
    }

    /// One of the strings.
    pub(super) fn one_of(strings: &LiteralSet) -> GramQuery {
        // Looked at first, because it is so for most sets that come from classes.
        if strings.iter().any(|string| string.len() < SHORT) {
            return GramQuery::nothing();
        }
        GramQuery::any(strings.iter().map(GramQuery::text).collect())
    }

    /// The grams of the string.
    fn text(string: &[u8]) -> GramQuery {
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
        GramQuery::all(told.map(GramQuery::Text).collect())
    }

    /// All of the demands.
    pub(super) fn all(gram_queries: Vec<GramQuery>) -> GramQuery {
        let mut parts = Vec::new();
        for gram_query in gram_queries {
            match gram_query {
                GramQuery::All(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        drop_implied(&mut parts, |part, other| holds(other, part));
        single(parts).unwrap_or_else(GramQuery::All)
    }

    /// At least one of the demands.
    pub(super) fn any(gram_queries: Vec<GramQuery>) -> GramQuery {
        let mut parts = Vec::new();
        for gram_query in gram_queries {
            match gram_query {
                gram_query if gram_query.is_nothing() => return gram_query,
                GramQuery::Any(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        // In order, so that the same choice is known again.
        parts.sort_unstable();
        drop_implied(&mut parts, holds);
        single(parts).unwrap_or_else(GramQuery::Any)
    }
}

/// The only part, or all of them back.
fn single(mut parts: Vec<GramQuery>) -> Result<GramQuery, Vec<GramQuery>> {
    match parts.pop() {
        Some(part) if parts.is_empty() => Ok(part),
        last => {
            parts.extend(last);
            Err(parts)
        }
    }
}

/// Drops every part that another one implies.
fn drop_implied(parts: &mut Vec<GramQuery>, implied: impl Fn(&GramQuery, &GramQuery) -> bool) {
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
fn holds(longer: &GramQuery, shorter: &GramQuery) -> bool {
    match (longer, shorter) {
        (GramQuery::Text(longer), GramQuery::Text(shorter)) => {
            memchr::memmem::find(longer, shorter).is_some()
        }
        _ => longer == shorter,
    }
}
