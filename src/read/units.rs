//! Line ends in bytes and in UTF-16, found without decoding.

use memchr::{memchr, memchr_iter};

/// What a character of a file is made of. A block of UTF-16 begins at an even place of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Units {
    Bytes,
    Utf16Le,
    Utf16Be,
}

impl Units {
    /// Bytes of one unit.
    pub(super) fn width(self) -> usize {
        if self == Units::Bytes { 1 } else { 2 }
    }

    /// How many line feeds a block holds.
    pub(super) fn feeds(self, block: &[u8]) -> u64 {
        let count = match self {
            Units::Bytes => memchr_iter(b'\n', block).count(),
            _ => block.chunks_exact(2).filter(|unit| self.is(unit, b'\n')).count(),
        };
        count as u64
    }

    /// How many line feeds of a block follow a carriage return; `after_return` tells whether one
    /// ends the block before.
    pub(super) fn pairs(self, block: &[u8], after_return: bool) -> u64 {
        let width = self.width();
        let first = block.get(..width).is_some_and(|unit| self.is(unit, b'\n'));
        let inner = match self {
            // Most files have none, and this is far faster than looking for pairs.
            Units::Bytes if memchr(b'\r', block).is_none() => 0,
            Units::Bytes => byte_pairs(block),
            _ => {
                let next = block.chunks_exact(2).skip(1);
                let pairs = block.chunks_exact(2).zip(next);
                pairs.filter(|(one, two)| self.is(one, b'\r') && self.is(two, b'\n')).count() as u64
            }
        };
        inner + u64::from(first && after_return)
    }

    /// Whether the last whole unit of a block is this ASCII character.
    pub(super) fn ends_with(self, block: &[u8], letter: u8) -> bool {
        let whole = block.len() - block.len() % self.width();
        let last = block.get(whole.saturating_sub(self.width())..whole);
        whole == block.len() && last.is_some_and(|unit| self.is(unit, letter))
    }

    /// Where the first line of `bytes` ends, behind its line feed.
    pub(super) fn line_end(self, bytes: &[u8]) -> Option<usize> {
        let (inside, zero) = match self {
            Units::Bytes => return memchr(b'\n', bytes).map(|at| at + 1),
            Units::Utf16Le => (0, 1),
            Units::Utf16Be => (1, 0),
        };
        let starts = memchr_iter(b'\n', bytes).filter_map(|at| at.checked_sub(inside));
        let mut feeds =
            starts.filter(|start| start.is_multiple_of(2) && bytes.get(start + zero) == Some(&0));
        feeds.next().map(|start| start + 2)
    }

    fn is(self, unit: &[u8], letter: u8) -> bool {
        match self {
            Units::Bytes => unit == [letter],
            Units::Utf16Le => unit == [letter, 0],
            Units::Utf16Be => unit == [0, letter],
        }
    }
}

/// Counts `\r\n` in steps that the compiler turns into vector instructions.
fn byte_pairs(block: &[u8]) -> u64 {
    // A byte counts up to 255 of them.
    const STEP: usize = 255;
    let next = block.get(1..).unwrap_or_default();
    let steps = block.chunks(STEP).zip(next.chunks(STEP));
    let counts = steps.map(|(these, those)| {
        let pairs = these.iter().zip(those);
        let count: u8 =
            pairs.map(|(one, two)| u8::from(*one == b'\r') & u8::from(*two == b'\n')).sum();
        u64::from(count)
    });
    counts.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, units: Units) -> Vec<u8> {
        let bytes = |unit: u16| match units {
            Units::Utf16Be => unit.to_be_bytes(),
            _ => unit.to_le_bytes(),
        };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn line_ends_are_counted_alike_in_bytes_and_utf16() {
        // U+0A0A and U+0D0A hold the bytes of line ends and are none.
        let cases = [
            ("", 0, 0),
            ("a\nb\n", 2, 0),
            ("a\r\nb\r\n\n", 3, 2),
            ("\r\r\n\n\r", 2, 1),
            ("\u{a0a}\u{d0a}\u{a0d}\n\u{a00}", 1, 0),
        ];
        for (text, feeds, pairs) in cases {
            assert_eq!(Units::Bytes.feeds(text.as_bytes()), feeds, "{text:?}");
            assert_eq!(Units::Bytes.pairs(text.as_bytes(), false), pairs, "{text:?}");
            for units in [Units::Utf16Le, Units::Utf16Be] {
                let bytes = utf16(text, units);
                assert_eq!(units.feeds(&bytes), feeds, "{text:?} {units:?}");
                assert_eq!(units.pairs(&bytes, false), pairs, "{text:?} {units:?}");
            }
        }
    }

    #[test]
    fn a_pair_may_lie_across_two_blocks() {
        for units in [Units::Bytes, Units::Utf16Le, Units::Utf16Be] {
            let bytes =
                |text| if units == Units::Bytes { Vec::from(text) } else { utf16(text, units) };
            assert!(units.ends_with(&bytes("a\r"), b'\r'));
            assert!(!units.ends_with(&bytes("\ra"), b'\r'));
            assert!(!units.ends_with(&[], b'\r'));
            assert_eq!(units.pairs(&bytes("\nb"), true), 1);
            assert_eq!(units.pairs(&bytes("b\n"), true), 0);
        }
    }

    #[test]
    fn many_pairs_are_all_counted() {
        for length in [0, 1, 126, 127, 128, 254, 255, 256, 5000] {
            assert_eq!(Units::Bytes.pairs("\r\n".repeat(length).as_bytes(), false), length as u64);
        }
    }

    #[test]
    fn a_line_ends_behind_its_line_feed() {
        assert_eq!(Units::Bytes.line_end(b"ab\nc\n"), Some(3));
        assert_eq!(Units::Bytes.line_end(b"ab"), None);
        for units in [Units::Utf16Le, Units::Utf16Be] {
            assert_eq!(units.line_end(&utf16("\u{a0a}\u{a00}b\nc\n", units)), Some(8));
            assert_eq!(units.line_end(&utf16("\u{a0a}\u{a00}\u{d0a}", units)), None);
        }
    }
}
