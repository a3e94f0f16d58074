//! What differs between a line of the file and the line that was looked for.

use std::fmt::Write;

use crate::text::clip;

/// Bytes shown of each of two lines that differ.
const DIFFERENCE_BYTES: usize = 120;

/// How many bytes two texts begin with alike.
pub(super) fn same(file: &[u8], old: &str) -> usize {
    file.iter().zip(old.as_bytes()).take_while(|(a, b)| a == b).count()
}

/// What each of the two has, in a window round where they differ first.
pub(super) fn told(file: &[u8], old: &str, with_signs: bool) -> String {
    let same = same(file, old);
    let part = |text: &[u8]| {
        let text = if text.len() > same { text } else { text.get(..same).unwrap_or(text) };
        let part = clip::window(text, &[(same, same)], DIFFERENCE_BYTES).text;
        if with_signs { visible(&part) } else { part }
    };
    format!("the file has `{}`, old_text has `{}`", part(file), part(old.as_bytes()))
}

/// Whether the texts differ only in blanks.
pub(super) fn is_blank(file: &[u8], old: &str) -> bool {
    let file = String::from_utf8_lossy(file);
    letters(&file).eq(letters(old))
}

/// Whether the text begins with `old` but for blanks.
pub(super) fn begins_but_for_blanks(file: &[u8], old: &str) -> bool {
    let start = file.get(..2 * old.len()).unwrap_or(file);
    let start = String::from_utf8_lossy(start);
    let mut file = letters(&start);
    letters(old).all(|letter| file.next() == Some(letter))
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|letter| !letter.is_whitespace())
}

/// The text with its blanks as signs.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(2 * text.len());
    for letter in text.chars() {
        match letter {
            ' ' => shown.push('·'),
            '\t' => shown.push('→'),
            '\r' => shown.push('␍'),
            _ if letter.is_whitespace() => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "<U+{:04X}>", u32::from(letter));
            }
            _ => shown.push(letter),
        }
    }
    shown
}
