//! From a message to its line.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes a message as one line of JSON, with its line end.
///
/// Besides what JSON wants escaped, so are the characters that some programs take for a line end.
pub(super) fn line(message: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut line = Vec::with_capacity(256);
    message.serialize(&mut Serializer::with_formatter(&mut line, OneLine))?;
    line.push(b'\n');
    Ok(line)
}

/// Next line, line separator and paragraph separator.
const LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + Write,
    {
        if fragment.is_ascii() {
            return writer.write_all(fragment.as_bytes());
        }
        for piece in fragment.split_inclusive(LINE_ENDS) {
            match piece.char_indices().next_back() {
                Some((end, last)) if LINE_ENDS.contains(&last) => {
                    let plain = piece.get(..end).unwrap_or_default();
                    write!(writer, "{plain}\\u{:04x}", u32::from(last))?;
                }
                _ => writer.write_all(piece.as_bytes())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn whatever_a_text_holds_it_is_one_line_to_everybody() {
        let cases = [
            ("plain", r#""plain""#),
            ("a\nb\r\u{1b}[0m", r#""a\nb\r\u001b[0m""#),
            ("a\u{2028}b\u{2029}", r#""a\u2028b\u2029""#),
            ("\u{85}\u{85}é", r#""\u0085\u0085é""#),
            ("ä\u{2028}", r#""ä\u2028""#),
            ("{\"jsonrpc\":\"2.0\"}\n", r#""{\"jsonrpc\":\"2.0\"}\n""#),
        ];
        for (text, wanted) in cases {
            let written = line(&text).unwrap();
            assert_eq!(String::from_utf8(written.clone()).unwrap(), format!("{wanted}\n"));
            assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), text);
        }
    }
}
