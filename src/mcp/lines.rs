//! Lines of an input that may be anything.

use std::io::{self, BufRead, Read};

/// The longest line that is read as a message, in bytes: 16 MiB. Longer ones are passed over, and
/// answered with an error.
pub const MAX_LINE_BYTES: usize = 16 << 20;

/// One line of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it; its line end may be there or not.
    Whole(Vec<u8>),
    /// It was over the limit and is gone.
    TooLong,
}

/// The next line of at most `limit` bytes, or `None` at the end of the input. What stands after
/// the last line end is a line too.
pub(super) fn next(input: &mut impl BufRead, limit: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    input.by_ref().take(limit as u64).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    let ends = line.len() < limit || line.last() == Some(&b'\n');
    if ends || input.fill_buf()?.is_empty() {
        return Ok(Some(Line::Whole(line)));
    }
    drop(line);
    input.skip_until(b'\n')?;
    Ok(Some(Line::TooLong))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over_and_the_next_one_is_read() {
        let cases = [
            ("", vec![]),
            ("a\nb\n", vec![whole("a\n"), whole("b\n")]),
            ("a\nb", vec![whole("a\n"), whole("b")]),
            ("\n\n", vec![whole("\n"), whole("\n")]),
            ("12345678", vec![whole("12345678")]),
            ("1234567\n", vec![whole("1234567\n")]),
            ("12345678\nb", vec![Line::TooLong, whole("b")]),
            ("123456789", vec![Line::TooLong]),
            ("1234567890123456789012345678\nb\n", vec![Line::TooLong, whole("b\n")]),
        ];
        for (text, wanted) in cases {
            // A small buffer, so that lines come in pieces.
            let mut input = BufReader::with_capacity(3, text.as_bytes());
            let mut lines = Vec::new();
            while let Some(line) = next(&mut input, 8).unwrap() {
                lines.push(line);
            }
            assert_eq!(lines, wanted, "{text:?}");
        }
    }
}
