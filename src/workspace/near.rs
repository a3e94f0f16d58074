//! Names like one that does not exist.

use std::ops::ControlFlow;

use crate::os::Dir;
use crate::text::{confusable, escape};
use crate::workspace::PathPolicy;

/// How many entries of a directory are looked at.
const MAX_ENTRIES: usize = 10_000;

/// Pairs of letters that are compared in all: the longest names would take a second otherwise.
const MAX_PAIRS: usize = 16 << 20;

/// How alike two names must be, from 0 to 1.
const SIMILARITY: f64 = 0.85;

/// How many names are suggested.
pub(super) const SUGGESTIONS: usize = 3;

/// Entries of `parent` with a name like the first of the last `missing` names of `path`, the
/// most alike first, as paths from where `path` starts.
pub(super) fn names(
    parent: &Dir,
    path: &[Vec<u8>],
    missing: usize,
    policy: &PathPolicy,
) -> Vec<String> {
    let (existing, absent) = path.split_at(path.len().saturating_sub(missing));
    let Some(wanted) = absent.first() else { return Vec::new() };
    let full = |name: &[u8]| {
        let names: Vec<&[u8]> = existing.iter().map(Vec::as_slice).chain([name]).collect();
        names.join(&b'/')
    };
    // Denied names do not count towards any limit either.
    let mut near =
        siblings(parent, wanted, |name| !policy.denial_of_entry(&full(name)).is_possible());
    near.sort_by(|(a, a_name), (b, b_name)| b.total_cmp(a).then_with(|| a_name.cmp(b_name)));
    let paths = near.into_iter().take(SUGGESTIONS).map(|(_, name)| full(&name));
    paths.map(|path| escape::display_path(&path).into_owned()).collect()
}

/// Paths like `path` in which the first of its last `missing` names is that of an entry that looks
/// the same: it is composed otherwise, or has characters that look alike or do not show. In byte
/// order. `is_allowed` is asked of each path that ends with the name of an entry.
pub(super) fn alike(
    parent: &Dir,
    path: &[Vec<u8>],
    missing: usize,
    is_allowed: impl Fn(&[u8]) -> bool,
) -> Vec<Vec<u8>> {
    let (existing, absent) = path.split_at(path.len().saturating_sub(missing));
    let Some((wanted, below)) = absent.split_first() else { return Vec::new() };
    let Ok(wanted) = str::from_utf8(wanted) else { return Vec::new() };
    let look = confusable::skeleton(wanted);
    let mut found = Vec::new();
    let entry = |name: &[u8]| {
        let names: Vec<&[u8]> = existing.iter().map(Vec::as_slice).chain([name]).collect();
        names.join(&b'/')
    };
    each_name(
        parent,
        |name| is_allowed(&entry(name)),
        |name| {
            let is_alike = |name: &str| {
                // Two names in ASCII look different.
                !(name.is_ascii() && wanted.is_ascii()) && confusable::skeleton(name) == look
            };
            if str::from_utf8(name).is_ok_and(is_alike) {
                found.push(name.to_owned());
            }
            ControlFlow::Continue(())
        },
    );
    found.sort_unstable();
    let path_with = |name: Vec<u8>| {
        let names = existing.iter().map(Vec::as_slice).chain([name.as_slice()]);
        names.chain(below.iter().map(Vec::as_slice)).collect::<Vec<_>>().join(&b'/')
    };
    found.into_iter().map(path_with).collect()
}

/// Calls `each` with the allowed names in a directory, of a large one with some of them.
fn each_name(
    parent: &Dir,
    is_allowed: impl Fn(&[u8]) -> bool,
    mut each: impl FnMut(&[u8]) -> ControlFlow<()>,
) {
    let mut looked_at = 0;
    let Ok(directory) = parent.open_dir(b".") else { return };
    // A directory that cannot be listed to its end only makes the suggestions fewer.
    let _ = directory.list(|name, _| {
        if !is_allowed(name) {
            return ControlFlow::Continue(());
        }
        looked_at += 1;
        each(name)?;
        if looked_at < MAX_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
}

fn siblings(
    parent: &Dir,
    wanted: &[u8],
    is_allowed: impl Fn(&[u8]) -> bool,
) -> Vec<(f64, Vec<u8>)> {
    let mut comparison = Comparison::with(wanted);
    let mut near = Vec::new();
    each_name(parent, is_allowed, |name| {
        let Some(similarity) = comparison.similarity(name) else { return ControlFlow::Break(()) };
        if similarity > SIMILARITY {
            near.push((similarity, name.to_vec()));
        }
        ControlFlow::Continue(())
    });
    near
}

/// Names held against one name.
struct Comparison {
    wanted: String,
    /// Pairs of letters that may still be compared.
    pairs: usize,
}

impl Comparison {
    fn with(wanted: &[u8]) -> Comparison {
        Comparison { wanted: folded(wanted), pairs: MAX_PAIRS }
    }

    /// How alike a name is; `None` when so much was compared that this is enough.
    fn similarity(&mut self, name: &[u8]) -> Option<f64> {
        let name = folded(name);
        self.pairs = self.pairs.checked_sub(name.len() * self.wanted.len())?;
        Some(strsim::jaro_winkler(&self.wanted, &name))
    }
}

fn folded(name: &[u8]) -> String {
    String::from_utf8_lossy(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_usual_length_are_all_compared_and_of_the_longest_only_some() {
        for (length, fewest, most) in [(40, MAX_ENTRIES, MAX_ENTRIES), (255, 200, 300)] {
            let mut comparison = Comparison::with(&vec![b'a'; length]);
            let name = vec![b'b'; length];
            let compared = (0..MAX_ENTRIES).map_while(|_| comparison.similarity(&name)).count();
            assert!((fewest..=most).contains(&compared), "{compared} of {length} bytes");
        }
    }
}
