//! What differs between a line of the file and the line that was looked for.

use std::fmt::Write;

use unicode_normalization::char::is_combining_mark;

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
    let (of_file, of_old) = code_points(file, old, same);
    format!(
        "the file has `{}`{of_file}, old_text has `{}`{of_old}",
        part(file),
        part(old.as_bytes())
    )
}

/// The code points that differ first, in brackets, where they may look alike or like nothing.
fn code_points(file: &[u8], old: &str, same: usize) -> (String, String) {
    let valid = str::from_utf8(file.get(..same).unwrap_or(file))
        .map_or_else(|error| error.valid_up_to(), str::len);
    let at = old.floor_char_boundary(same.min(valid));
    let (file, old) = (file.get(at..).unwrap_or(&[]), old.get(at..).unwrap_or(""));
    let is_sign =
        |byte: Option<&u8>| byte.is_some_and(|byte| !byte.is_ascii() || byte.is_ascii_control());
    let is_combined = |text: &[u8]| {
        let second = text.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().nth(1));
        second.is_some_and(is_combining_mark)
    };
    let is_hidden = is_sign(file.first())
        || is_sign(old.as_bytes().first())
        || is_combined(file)
        || is_combined(old.as_bytes());
    let is_blank = |text: &[u8]| text.first().is_some_and(u8::is_ascii_whitespace);
    // Blanks are shown as signs.
    if !is_hidden || is_blank(file) || is_blank(old.as_bytes()) {
        return (String::new(), String::new());
    }
    (named(file), named(old.as_bytes()))
}

/// " (U+0065 U+0301)": the first character, with a mark on it.
fn named(text: &[u8]) -> String {
    let Some(chunk) = text.utf8_chunks().next() else { return String::new() };
    if chunk.valid().is_empty() {
        let bytes: Vec<String> = chunk.invalid().iter().map(|byte| format!("{byte:02X}")).collect();
        let bytes = bytes.join(" ");
        return if chunk.invalid().len() == 1 {
            format!(" (byte {bytes})")
        } else {
            format!(" (bytes {bytes})")
        };
    }
    let mut letters = chunk.valid().chars();
    let mut points: Vec<String> = Vec::new();
    if let Some(first) = letters.next() {
        points.push(format!("U+{:04X}", u32::from(first)));
    }
    let marks = letters.take_while(|letter| is_combining_mark(*letter)).take(3);
    points.extend(marks.map(|mark| format!("U+{:04X}", u32::from(mark))));
    format!(" ({})", points.join(" "))
}

/// Whether the texts differ only in blanks.
pub(super) fn is_blank(file: &[u8], old: &str) -> bool {
    let file = String::from_utf8_lossy(file);
    file != old && letters(&file).eq(letters(old))
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
pub(super) fn visible(text: &str) -> String {
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
