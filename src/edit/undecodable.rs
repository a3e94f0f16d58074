//! Bytes that are no text: they are shown as U+FFFD, and an edit keeps them.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// What stands for such bytes in a text that is shown.
pub(super) const STAND_IN: &str = "\u{FFFD}";

/// Characters of two texts that are compared to tell which of such bytes stay.
const MAX_COMPARED: usize = 20_000;

/// Whether the bytes were decoded from UTF-16. Then an unpaired surrogate is three bytes, which
/// are shown as one U+FFFD; otherwise each of these bytes is shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wide(pub(super) bool);

/// How many of the first bytes of `text`, which may be empty, are shown as one U+FFFD because they
/// are not UTF-8; 0 if it begins with a character. The same as `read_file` does.
pub(super) fn invalid_len(text: &[u8], wide: Wide) -> usize {
    let Some(chunk) = text.utf8_chunks().next().filter(|chunk| chunk.valid().is_empty()) else {
        return 0;
    };
    match text {
        [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] if wide.0 => 3,
        _ => chunk.invalid().len(),
    }
}

/// The ranges of `text` that are shown as U+FFFD, one for each; also of the character itself.
pub(super) fn stand_ins(text: &[u8], wide: Wide) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(chunk) = text.get(at..).and_then(|rest| rest.utf8_chunks().next()) {
        let own = chunk.valid().match_indices(STAND_IN);
        found.extend(own.map(|(start, sign)| at + start..at + start + sign.len()));
        at += chunk.valid().len();
        let len = invalid_len(text.get(at..).unwrap_or(&[]), wide);
        if len > 0 {
            found.push(at..at + len);
            at += len;
        }
    }
    found
}

/// Whether `new` has U+FFFD between the same characters as `old` has such bytes, which are `kept`:
/// then the first stands for the first of them, and so on.
pub(super) fn are_in_order(old: &[u8], new: &str, kept: &[Range<usize>]) -> bool {
    let mut shown = String::new();
    let mut from = 0;
    for range in kept {
        shown.push_str(&String::from_utf8_lossy(old.get(from..range.start).unwrap_or(&[])));
        shown.push_str(STAND_IN);
        from = range.end;
    }
    shown.push_str(&String::from_utf8_lossy(old.get(from..).unwrap_or(&[])));
    let (old, new): (Vec<char>, Vec<char>) = (shown.chars().collect(), new.chars().collect());
    if old.len() + new.len() > MAX_COMPARED {
        return false;
    }
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let same = operations.iter().filter(|operation| operation.tag() == DiffTag::Equal);
    let same = same.flat_map(|operation| old.get(operation.old_range()).unwrap_or(&[]));
    same.filter(|letter| **letter == char::REPLACEMENT_CHARACTER).count() == kept.len()
}

/// Whether a text has bytes that are not UTF-8.
pub(super) fn has_any(text: &[u8]) -> bool {
    str::from_utf8(text).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stand_ins_are_those_that_a_page_shows() {
        let cases: [&[u8]; 8] = [
            b"",
            b"plain",
            b"caf\xe9",
            b"\xff\xfe",
            b"\xe2\x82z\xf0\x9f\x98",
            b"\xed\xa0\x80",
            "a\u{FFFD}é".as_bytes(),
            b"\xe9\n\xe9",
        ];
        for bytes in cases {
            let shown = String::from_utf8_lossy(bytes);
            let count = shown.matches(STAND_IN).count();
            assert_eq!(stand_ins(bytes, Wide(false)).len(), count, "{bytes:?}");
        }
        assert_eq!(stand_ins(b"a\xed\xa0\x80b", Wide(true)).first(), Some(&(1..4)));
    }
}
