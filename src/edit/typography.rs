//! Typographic characters of `new_text` where the file has plain ones.
//!
//! A model, or what its text went through, may write curly quotes, dashes or no-break spaces for
//! plain ones. Where `old_text` was found because these were overlooked, `new_text` has them by the
//! same mistake: inserted as they are, they would break code.

use std::borrow::Cow;

use crate::edit::fold::typographic;

pub(super) const NOTE: &str = "Typographic quotes, dashes or blanks of new_text were replaced by \
                               plain ones, as in the file.";

/// `new` with those typographic characters made plain that `old` has, of kinds of which none of the
/// `matched` parts of the file has any, unless `new` has a plain one of that kind as well.
pub(super) fn plain_as_in_file<'n, 'm>(
    old: &str,
    matched: impl Iterator<Item = &'m [u8]>,
    new: &'n str,
) -> Cow<'n, str> {
    let mut foreign: Vec<(char, &'static str)> = characters(old).collect();
    if foreign.is_empty() {
        return Cow::Borrowed(new);
    }
    for part in matched {
        let part = String::from_utf8_lossy(part);
        for (_, plain) in characters(&part) {
            foreign.retain(|(_, known)| *known != plain);
        }
    }
    // A text that has both forms of a mark tells them apart; every text has plain blanks.
    foreign.retain(|(_, plain)| matches!(*plain, "" | " ") || !new.contains(plain));
    let plain = |letter: char| foreign.iter().find(|(known, _)| *known == letter);
    if !new.chars().any(|letter| plain(letter).is_some()) {
        return Cow::Borrowed(new);
    }
    let mut text = String::with_capacity(new.len());
    for letter in new.chars() {
        match plain(letter) {
            Some((_, plain)) => text.push_str(plain),
            None => text.push(letter),
        }
    }
    Cow::Owned(text)
}

/// The typographic characters of a text, each with the plain form of it.
fn characters(text: &str) -> impl Iterator<Item = (char, &'static str)> {
    let letters = text.chars().filter(|letter| !letter.is_ascii());
    letters.filter_map(|letter| {
        let (_, plain) = typographic(letter.encode_utf8(&mut [0; 4]).as_bytes())?;
        Some((letter, plain))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, matched: &str, new: &str, expected: &str) {
        let matched = std::iter::once(matched.as_bytes());
        assert_eq!(plain_as_in_file(old, matched, new), expected, "{old:?} {new:?}");
    }

    #[test]
    fn what_the_file_has_plain_is_plain_in_new_text() {
        check("‘a’", "'a'", "‘b’,\n‘a’", "'b',\n'a'");
        check("a\u{a0}= b", "a = b", "a\u{a0}= c", "a = c");
        check("a\u{200b}b", "ab", "a\u{200b}c", "ac");
        check("a…", "a...", "b…", "b...");
    }

    #[test]
    fn characters_that_the_file_has_or_that_only_new_text_has_stay() {
        check("“a”", "“a\"", "“b”", "“b”");
        check("‘a’", "'a'", "“b”", "“b”");
        check("'a'", "‘a’", "'b' ’", "'b' ’");
        check("a", "a", "b – c", "b – c");
        check("a–b", "a-b", "a-b – c", "a-b – c");
    }
}
