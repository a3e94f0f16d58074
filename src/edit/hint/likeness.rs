//! How alike two texts are.

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::text::clip;

/// Bytes of a line that are compared.
pub(super) const MAX_LINE_BYTES: usize = 2000;

/// Words and signs that are compared.
const MAX_TOKENS: usize = 6000;

/// How much of the two texts is the same, from 0 to 1; blanks do not count.
pub(super) fn likeness(file: &[&[u8]], old: &[&str]) -> f64 {
    let lines: Vec<String> = file.iter().map(|line| lossy(line)).collect();
    let file: Vec<&str> = lines.iter().map(String::as_str).collect();
    let old: Vec<&str> = old.iter().map(|line| clip::truncate(line, MAX_LINE_BYTES)).collect();
    let is_short = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>() < 500;
    let by_letters = is_short(&file) && is_short(&old);
    let (file, old) = (tokens(&file, by_letters), tokens(&old, by_letters));
    let len = |tokens: &[&str]| tokens.iter().map(|token| token.len()).sum::<usize>();
    let operations = capture_diff_slices(Algorithm::Myers, &old, &file);
    let same = operations.iter().filter(|operation| operation.tag() == DiffTag::Equal);
    let same = same.map(|operation| len(old.get(operation.old_range()).unwrap_or_default()));
    2.0 * same.sum::<usize>() as f64 / (len(&old) + len(&file)).max(1) as f64
}

fn lossy(line: &[u8]) -> String {
    let start = line.get(..MAX_LINE_BYTES).unwrap_or(line);
    String::from_utf8_lossy(start).into_owned()
}

/// The letters, or the words and signs, of the lines.
fn tokens<'a>(lines: &[&'a str], by_letters: bool) -> Vec<&'a str> {
    let mut tokens = Vec::new();
    for line in lines {
        let mut rest = line.trim_start();
        while let Some(letter) = rest.chars().next().filter(|_| tokens.len() < MAX_TOKENS) {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let len = if is_word(letter) && !by_letters {
                rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
            } else {
                letter.len_utf8()
            };
            let Some((token, after)) = rest.split_at_checked(len) else { break };
            tokens.push(token);
            rest = after.trim_start();
        }
    }
    tokens
}
