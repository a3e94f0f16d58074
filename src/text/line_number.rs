//! The line-number prefix of lines in answers, `  12 | text`: writing it and recognizing it.

use std::fmt;

/// The separator between a number and its line.
pub(crate) const MARK: &str = " | ";

/// The minimum width of a number, padded with spaces.
const DIGITS: usize = 4;

/// The prefix of a numbered line. A negative number counts from the end of a file: ` -12 | text`.
pub(crate) struct LineNumber<N>(pub(crate) N);

impl<N: Copy + Into<i128>> LineNumber<N> {
    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        let number: i128 = self.0.into();
        let digits = number.unsigned_abs().checked_ilog10().map_or(1, |digits| digits as usize + 1);
        (digits + usize::from(number < 0)).max(DIGITS) + MARK.len()
    }
}

impl<N: fmt::Display> fmt::Display for LineNumber<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>DIGITS$}{MARK}", self.0)
    }
}

/// Whether a text is a page as `read_file` shows it: consecutive numbers before every line, and
/// either a header or padded numbers, which distinguish it from a table.
pub(crate) fn is_page(text: &str) -> bool {
    let mut lines = text.lines().peekable();
    let has_header = lines.next_if(|line| is_header(line)).is_some();
    // Notices about the page and its file.
    let is_notice = |line: &&str| line.starts_with("... (") || line.starts_with("Note: ");
    let number_of =
        |line| if has_header { split(line).map(|(number, _)| number) } else { number(line) };
    let numbers = lines.filter(|line| !is_notice(line)).map(number_of);
    let Some(numbers) = numbers.collect::<Option<Vec<i64>>>() else { return false };
    let count_up = numbers.windows(2).all(|pair| matches!(pair, [a, b] if a + 1 == *b));
    let is_padded = text.starts_with(' ') && numbers.len() > 1;
    count_up && !numbers.is_empty() && (has_header || is_padded)
}

/// The text without the header of a page.
pub(crate) fn without_header(text: &str) -> &str {
    match text.split_once('\n') {
        Some((first, rest)) if is_header(first) => rest,
        _ => text,
    }
}

fn is_header(line: &str) -> bool {
    let inner = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
    inner.is_some_and(|inner| inner.starts_with("Lines ") || inner.contains(" line"))
}

fn number(line: &str) -> Option<i64> {
    let (number, _) = line.split_once(MARK.trim_end())?;
    (number.len() >= DIGITS).then(|| number.trim_start().parse().ok()).flatten()
}

/// The number and the text of a numbered line, `  12 | text` or `12<TAB>text`.
pub(crate) fn split(line: &str) -> Option<(i64, &str)> {
    let (number, text) = match line.split_once('\t') {
        Some((number, text))
            if number.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) =>
        {
            (number, text)
        }
        _ => {
            // Trailing whitespace may have been stripped.
            let (number, text) = line.split_once(MARK.trim_end())?;
            (number.len() >= DIGITS).then_some(())?;
            (number, text.strip_prefix(' ').unwrap_or(text))
        }
    };
    Some((number.trim_start().parse().ok()?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_known_by_numbers_that_count_up() {
        let page = |lines: &[&str]| is_page(&lines.join("\n"));
        assert!(page(&["[Lines 9-10 of 20]", "   9 | a", "  10 | b", "... (cut at 2 lines)"]));
        assert!(page(&["[1 lines]", "   1 | a", "Note: something"]));
        assert!(page(&["[Lines 9-10 of 20]", "9\ta", "10\tb"]));
        assert!(!page(&["9\ta", "10\tb"]), "a table");
        let cut = "... (line 1 has 99999 bytes and is cut; search shows windows of it)";
        assert!(page(&["[1 lines, CRLF]", "   1 | a…", cut, "... (incomplete: out of time)"]));
        assert!(page(&["   1 | a", "   2 |", "   3 | c"]));
        assert!(page(&["[Lines -2 to -1 of more than 70000]", "  -2 | a", "  -1 | b"]));
        assert!(page(&["[Lines 9999-10000 of 10000]", "9999 | a", "10000 | b"]));
        assert!(!page(&["2020 | founded", "2021 | moved"]), "a table");
        assert!(!page(&["   1 | a"]), "one line may be anything");
        assert!(!page(&["   1 | a", "   3 | b"]));
        assert!(!page(&["   1 | a", "text"]));
        assert!(!page(&["1 | a", "2 | b"]), "a table");
        assert!(!page(&["[3 lines]", "text"]));
        assert!(!page(&[]));
    }

    #[test]
    fn a_numbered_line_is_split_in_either_style() {
        let cases = [
            ("   7 | x", Some((7, "x"))),
            ("   7 |   x | y", Some((7, "  x | y"))),
            ("   7 |", Some((7, ""))),
            ("10000 | x", Some((10_000, "x"))),
            (" -12 | x", Some((-12, "x"))),
            ("7\tx\ty", Some((7, "x\ty"))),
            ("7\t", Some((7, ""))),
            ("7 | x", None),
            ("x\ty", None),
            ("\tx", None),
            ("99999999999999999999999\tx", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(split(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_number_has_room_for_four_digits_and_takes_more() {
        for (number, shown) in [
            (7, "   7 | "),
            (9999, "9999 | "),
            (10_000, "10000 | "),
            (-7, "  -7 | "),
            (-999, "-999 | "),
            (-1000, "-1000 | "),
        ] {
            assert_eq!(LineNumber(number).to_string(), shown);
            assert_eq!(LineNumber(number).len(), shown.len());
        }
    }
}
