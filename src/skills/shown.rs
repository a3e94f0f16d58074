//! Names and texts from files, shown without surprises.

use crate::text::clip;
use crate::text::escape::{self, is_unsafe};

/// Bytes of a name in a message.
const LONGEST: usize = 128;

/// A name from a file, in quotes, without surprises and not too long.
pub(super) fn shown(name: &str) -> String {
    let start = clip::truncate(name, LONGEST);
    let more = if start.len() < name.len() { "…" } else { "" };
    format!("`{}{more}`", escape::display_path(start.as_bytes()))
}

/// The text without characters that could end the line, turn it round or be no XML, and with one
/// blank where there are several.
pub(super) fn one_line(text: &str) -> String {
    let is_blank = |letter: char| letter.is_whitespace() || letter == '\u{85}';
    let words = text.split(is_blank).map(|word| word.replace(is_not_shown, ""));
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_not_shown(letter: char) -> bool {
    is_unsafe(letter) || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_descriptions_are_one_line_without_controls() {
        let cases = [
            ("a\nb\r\n\tc", "a b c"),
            ("\u{1b}[31mred\u{7}", "[31mred"),
            ("x\u{202e}y\u{2066}z", "xyz"),
            ("a\u{0} \u{ffff}b", "a b"),
            ("  a   b ", "a b"),
            ("a\u{2028}b\u{85}c", "a b c"),
            ("grüße", "grüße"),
        ];
        for (text, wanted) in cases {
            assert_eq!(one_line(text), wanted, "{text:?}");
        }
    }
}
