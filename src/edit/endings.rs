//! Which line ending the file has at a place.

use std::ops::Range;

/// The line endings of a text.
pub(super) enum Endings {
    /// It has none.
    None,
    /// All are the same.
    Uniform(&'static str),
    /// Where each `\n` is, and whether a `\r` stands before it.
    Mixed(Vec<(usize, bool)>),
}

impl Endings {
    pub(super) fn of(text: &[u8]) -> Endings {
        let ends = || memchr::memchr_iter(b'\n', text).map(|at| (at, is_after_return(text, at)));
        let Some((_, first)) = ends().next() else { return Endings::None };
        if ends().all(|(_, is_windows)| is_windows == first) {
            return Endings::Uniform(written(first));
        }
        Endings::Mixed(ends().collect())
    }

    /// The ending for lines put in place of `region`, a part of the matched `place`: one within
    /// the region or after it in the place, else the nearest before it in the place, else that of
    /// the line, else that of the line before.
    pub(super) fn near(&self, region: &Range<usize>, place: &Range<usize>) -> &'static str {
        let ends = match self {
            Endings::None => return "\n",
            Endings::Uniform(ending) => return ending,
            Endings::Mixed(ends) => ends,
        };
        let after = ends.partition_point(|(at, _)| *at < region.start);
        let next = ends.get(after);
        let before = after.checked_sub(1).and_then(|before| ends.get(before));
        let inside = next.filter(|(at, _)| *at < place.end);
        let inside = inside.or(before.filter(|(at, _)| *at >= place.start));
        inside.or(next).or(before).map_or("\n", |(_, is_windows)| written(*is_windows))
    }
}

fn is_after_return(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\r')
}

fn written(is_windows: bool) -> &'static str {
    if is_windows { "\r\n" } else { "\n" }
}
