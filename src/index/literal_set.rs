//! A small set of byte strings.

use crate::index::grams::BORDER;

/// The most strings of a set.
const MOST: usize = 256;

/// The most strings that are made by putting the strings of two sets together.
const MOST_JOINED: usize = 16;

/// The most bytes of such strings.
const MOST_BYTES: usize = 8 << 10;

/// Byte strings, each once; small enough to be put together with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LiteralSet(Vec<Vec<u8>>);

impl LiteralSet {
    /// The empty string alone: what every string begins and ends with.
    pub(super) fn empty() -> LiteralSet {
        LiteralSet(vec![Vec::new()])
    }

    /// A place that is not inside a word.
    pub(super) fn border() -> LiteralSet {
        LiteralSet(vec![vec![BORDER]])
    }

    /// These strings with ASCII letters in lower case, or `None` if they are too many.
    pub(super) fn folded(strings: impl IntoIterator<Item = Vec<u8>>) -> Option<LiteralSet> {
        let strings = strings.into_iter().map(|mut string| {
            string.make_ascii_lowercase();
            string
        });
        LiteralSet::distinct(strings.take(MOST + 1).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// What making a set like this costs, roughly in bytes.
    pub(super) fn cost(&self) -> usize {
        self.0.iter().map(|string| string.len() + 16).sum()
    }

    /// Each of these strings followed by each of `next`, or `None` if that is too much.
    ///
    /// Few are made at a time, or the sets would grow with every class of a pattern.
    pub(super) fn joined(&self, next: &LiteralSet) -> Option<LiteralSet> {
        let (before, after) = (self.0.len(), next.0.len());
        let bytes = self.bytes() * after + next.bytes() * before;
        let alone = before == 1 || after == 1;
        if before * after > (if alone { MOST } else { MOST_JOINED }) || bytes > MOST_BYTES {
            return None;
        }
        let pairs = self.0.iter().flat_map(|one| next.0.iter().map(move |other| (one, other)));
        LiteralSet::distinct(pairs.map(|(one, other)| joined(one, other)).collect())
    }

    /// The strings of both, or `None` if they are too many.
    pub(super) fn with(mut self, others: LiteralSet) -> Option<LiteralSet> {
        if self.0.len() + others.0.len() > 2 * MOST {
            return None;
        }
        self.0.extend(others.0);
        LiteralSet::distinct(self.0)
    }

    /// The last `most` bytes of each.
    pub(super) fn ends(&self, most: usize) -> LiteralSet {
        self.cut(|string| string.get(string.len().saturating_sub(most)..))
    }

    /// The first `most` bytes of each.
    pub(super) fn starts(&self, most: usize) -> LiteralSet {
        self.cut(|string| string.get(..most))
    }

    fn cut(&self, part: impl Fn(&[u8]) -> Option<&[u8]>) -> LiteralSet {
        let parts = self.0.iter().map(|string| part(string).unwrap_or(string).to_vec());
        let mut strings: Vec<Vec<u8>> = parts.collect();
        strings.sort_unstable();
        strings.dedup();
        LiteralSet(strings)
    }

    fn bytes(&self) -> usize {
        self.0.iter().map(Vec::len).sum()
    }

    fn distinct(mut strings: Vec<Vec<u8>>) -> Option<LiteralSet> {
        if strings.len() > 1 {
            strings.sort_unstable();
            strings.dedup();
        }
        (strings.len() <= MOST).then_some(LiteralSet(strings))
    }
}

/// One string followed by the other. A border between them adds nothing.
fn joined(one: &[u8], other: &[u8]) -> Vec<u8> {
    let start = one.strip_suffix(&[BORDER]).unwrap_or(one);
    let end = other.strip_prefix(&[BORDER]).unwrap_or(other);
    match (start, end) {
        ([], _) if !one.is_empty() => [one, end].concat(),
        (_, []) if !other.is_empty() => [start, other].concat(),
        ([], _) => other.to_vec(),
        (_, []) => one.to_vec(),
        _ => [start, end].concat(),
    }
}
