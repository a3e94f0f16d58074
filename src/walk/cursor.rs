//! Where an answer ended, as text that goes on from there.

use std::fmt;

use crate::arguments::MAX_CURSOR_CHARS;
use crate::error::{Error, ErrorCode};
use crate::text::{clip, escape};

/// How much of a text that is no cursor is repeated, in bytes.
const MAX_SHOWN_BYTES: usize = 80;

/// A position in the order of results. It holds all that is needed to go on, so nothing has to
/// be remembered between two calls.
///
/// The text is `LINE:PATH`, with an empty line for the end of the file, `mTIME:` in front where
/// the order is by time, and `;` for `:` before a path that is escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The file's time of change in nanoseconds, where the order is by time.
    pub(crate) modified: Option<i128>,
    /// The last line that was shown; none if the whole entry was.
    pub(crate) line: Option<u64>,
    /// The path of the entry in the workspace.
    pub(crate) path: Vec<u8>,
}

impl Cursor {
    /// The end of an entry, in path order.
    pub(crate) fn after(path: Vec<u8>) -> Cursor {
        Cursor { modified: None, line: None, path }
    }

    /// Reads a cursor that an answer gave.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for any other text.
    fn parse(text: &str) -> Result<Cursor, Error> {
        let known = (text.len() <= 4 * MAX_CURSOR_CHARS).then(|| Cursor::read(text)).flatten();
        known.ok_or_else(|| {
            let text = clip::truncate(text, MAX_SHOWN_BYTES);
            Error::new(ErrorCode::InvalidArgument, format!("cursor: {text:?} is not a cursor"))
                .with_hint("Pass the cursor of an earlier answer unchanged, or leave it out.")
        })
    }

    /// Reads a cursor of results in path order, or in the order of time.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a cursor of the other order and for any other text.
    pub(crate) fn parse_for(text: &str, newest_first: bool) -> Result<Cursor, Error> {
        let cursor = Cursor::parse(text)?;
        if cursor.modified.is_some() == newest_first { Ok(cursor) } else { Err(foreign(text)) }
    }

    /// Reads a cursor of a listing, which ends after an entry and never within one.
    ///
    /// # Errors
    /// Those of [`Cursor::parse_for`], and `INVALID_ARGUMENT` for a cursor that names a line.
    pub(crate) fn parse_for_listing(text: &str, newest_first: bool) -> Result<Cursor, Error> {
        let cursor = Cursor::parse_for(text, newest_first)?;
        if cursor.line.is_none() { Ok(cursor) } else { Err(foreign(text)) }
    }

    fn read(text: &str) -> Option<Cursor> {
        let (modified, rest) = match text.strip_prefix('m') {
            Some(timed) => {
                let (time, rest) = timed.split_once(':')?;
                (Some(time.parse().ok()?), rest)
            }
            None => (None, text),
        };
        let (line, rest) = rest.split_at(rest.find([':', ';'])?);
        let line = match line {
            "" => None,
            digits => Some(digits.parse().ok()?),
        };
        let path = match rest.strip_prefix(';') {
            Some(escaped) => escape::unescape(escaped)?,
            None => rest.strip_prefix(':')?.as_bytes().to_vec(),
        };
        (!path.is_empty()).then_some(Cursor { modified, line, path })
    }
}

/// The error for a cursor that is one, but not of these results.
fn foreign(text: &str) -> Error {
    let text = clip::truncate(text, MAX_SHOWN_BYTES);
    let message = format!("cursor: {text:?} belongs to another order of results");
    Error::new(ErrorCode::InvalidArgument, message)
        .with_hint("Pass the cursor of an earlier answer with the same arguments.")
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(modified) = self.modified {
            write!(f, "m{modified}:")?;
        }
        if let Some(line) = self.line {
            write!(f, "{line}")?;
        }
        match std::str::from_utf8(&self.path) {
            Ok(path) => write!(f, ":{path}"),
            Err(_) => write!(f, ";{}", escape::exact_path(&self.path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_as_it_was() {
        for (modified, line, path) in [
            (None, Some(12), b"src/lib.rs".to_vec()),
            (None, None, b"a:b;c/".to_vec()),
            (Some(-5), Some(1), b"m1:x".to_vec()),
            (None, Some(u64::MAX), b"bad\xFFname\\x".to_vec()),
            (Some(i128::MIN), None, b"gone".to_vec()),
        ] {
            let cursor = Cursor { modified, line, path };
            assert_eq!(Cursor::parse(&cursor.to_string()).ok(), Some(cursor));
        }
    }

    #[test]
    fn a_cursor_of_another_order_is_refused() {
        let of_paths = [":a", "12:a", ";a\\xff"];
        let of_times = ["m123:5:a", "m123::a", "m-1:;a\\xff"];
        for (texts, newest_first) in [(of_paths, false), (of_times, true)] {
            for text in texts {
                assert!(Cursor::parse_for(text, newest_first).is_ok(), "{text:?}");
                let refused = Cursor::parse_for(text, !newest_first).unwrap_err();
                assert_eq!(refused.code(), ErrorCode::InvalidArgument, "{text:?}");
                assert!(refused.to_string().contains("another order of results"), "{refused}");
            }
        }
    }

    #[test]
    fn a_listing_takes_no_cursor_that_names_a_line() {
        assert!(Cursor::parse_for_listing(":a", false).is_ok());
        assert!(Cursor::parse_for_listing("m5::a", true).is_ok());
        for (text, newest_first) in [("1:a", false), ("m5:1:a", true), (":a", true)] {
            assert!(Cursor::parse_for_listing(text, newest_first).is_err(), "{text:?}");
        }
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["", "x", "12", "12:", ":", "m:1:x", "-1:x", ";x"] {
            assert!(Cursor::parse(text).is_err(), "{text:?}");
        }
    }
}
