//! The encoding of a file and its line ends: how they are named, recognised and decoded.

use std::borrow::Cow;

use encoding_rs::{UTF_16BE, UTF_16LE};
use schemars::JsonSchema;
use serde::Serialize;

use crate::read::units::Units;

/// How the text of a file is written down.
///
/// ```
/// use ripkit::tools::read_file::{ReadFileArgs, Encoding, ReadFile};
/// # use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let tools = Toolkit::new(Workspace::open(directory.path())?);
/// std::fs::write(directory.path().join("a.txt"), b"\xEF\xBB\xBFone\n")?;
/// let args = ReadFileArgs { path: "a.txt".into(), ..ReadFileArgs::default() };
/// let page = tools.run::<ReadFile>(args, &Call::default())?;
/// assert_eq!(page.encoding, Some(Encoding::Utf8Bom));
/// assert_eq!(page.content.as_deref(), Some("one\n"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-8 behind a byte order mark, which is not part of the text.
    #[serde(rename = "utf-8-bom")]
    Utf8Bom,
    /// UTF-16, the low byte first, behind a byte order mark.
    #[serde(rename = "utf-16le")]
    Utf16Le,
    /// UTF-16, the high byte first, behind a byte order mark.
    #[serde(rename = "utf-16be")]
    Utf16Be,
    /// Some bytes are not UTF-8; they are shown as U+FFFD.
    #[serde(rename = "unknown")]
    Unknown,
}

impl Encoding {
    /// What the first bytes of a file say.
    pub(super) fn of(head: &[u8]) -> Encoding {
        match head {
            [0xEF, 0xBB, 0xBF, ..] => Encoding::Utf8Bom,
            [0xFF, 0xFE, ..] => Encoding::Utf16Le,
            [0xFE, 0xFF, ..] => Encoding::Utf16Be,
            _ => Encoding::Utf8,
        }
    }

    pub(super) fn units(self) -> Units {
        match self {
            Encoding::Utf16Le => Units::Utf16Le,
            Encoding::Utf16Be => Units::Utf16Be,
            _ => Units::Bytes,
        }
    }

    /// Bytes of the byte order mark.
    pub(super) fn mark(self) -> u64 {
        match self {
            Encoding::Utf8Bom => 3,
            Encoding::Utf16Le | Encoding::Utf16Be => 2,
            _ => 0,
        }
    }
}

/// Whole lines of a file as text; what does not fit the encoding becomes U+FFFD.
pub(super) fn decoded(bytes: &[u8], units: Units) -> Cow<'_, str> {
    match units {
        Units::Bytes => String::from_utf8_lossy(bytes),
        Units::Utf16Le => UTF_16LE.decode_without_bom_handling(bytes).0,
        Units::Utf16Be => UTF_16BE.decode_without_bom_handling(bytes).0,
    }
}

/// How the lines of a file end.
///
/// ```
/// use ripkit::tools::read_file::{ReadFileArgs, LineEnding, ReadFile};
/// # use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let tools = Toolkit::new(Workspace::open(directory.path())?);
/// std::fs::write(directory.path().join("a.txt"), "one\r\ntwo\n")?;
/// let args = ReadFileArgs { path: "a.txt".into(), limit: Some(1), ..ReadFileArgs::default() };
/// let page = tools.run::<ReadFile>(args, &Call::default())?;
/// assert_eq!(page.line_ending, Some(LineEnding::Mixed)); // of the whole file
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum LineEnding {
    /// With a line feed.
    Lf,
    /// With a carriage return and a line feed.
    Crlf,
    /// Some so, some so.
    Mixed,
    /// There is at most one line, and no line feed.
    None,
}

impl LineEnding {
    /// Of a file with `feeds` line feeds, `pairs` of them behind a carriage return.
    pub(super) fn of(feeds: u64, pairs: u64) -> LineEnding {
        match (feeds, pairs) {
            (0, _) => LineEnding::None,
            (_, 0) => LineEnding::Lf,
            (feeds, pairs) if feeds == pairs => LineEnding::Crlf,
            _ => LineEnding::Mixed,
        }
    }
}

/// Checks block by block whether a file is UTF-8.
#[derive(Debug, Default)]
pub(super) struct Utf8Check {
    /// The beginning of a character that the last block cut.
    begun: Vec<u8>,
    refuted: bool,
}

impl Utf8Check {
    pub(super) fn add(&mut self, block: &[u8]) {
        let Some(rest) = self.finish_character(block).filter(|_| !self.refuted) else { return };
        // Most blocks are, and this is twice as fast.
        if rest.is_ascii() {
            return;
        }
        if let Err(error) = std::str::from_utf8(rest) {
            match error.error_len() {
                Some(_) => self.refuted = true,
                None => self.begun.extend(rest.iter().skip(error.valid_up_to())),
            }
        }
    }

    /// Whether everything so far is UTF-8; at the end of a file, also its last character.
    pub(super) fn holds(&self, at_end: bool) -> bool {
        !self.refuted && (!at_end || self.begun.is_empty())
    }

    /// What follows the character that the last block cut; nothing if that does not end here.
    fn finish_character<'a>(&mut self, block: &'a [u8]) -> Option<&'a [u8]> {
        let mut rest = block;
        while !self.begun.is_empty() {
            let (next, after) = rest.split_first()?;
            rest = after;
            self.begun.push(*next);
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => {
                    self.refuted = true;
                    return None;
                }
            }
        }
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_utf8(bytes: &[u8], block: usize) -> bool {
        let mut check = Utf8Check::default();
        bytes.chunks(block).for_each(|block| check.add(block));
        check.holds(true)
    }

    #[test]
    fn utf8_is_recognised_however_it_is_cut() {
        let cases: [&[u8]; 9] = [
            b"",
            b"plain",
            "aé€😀z".as_bytes(),
            b"a\xff",
            b"\xe2\x82",
            b"\xe2\x82z",
            b"\xc3\xa9\xc3",
            b"\xf0\x9f\x98\x80\xf0\x9f\x98",
            b"\xed\xa0\x80",
        ];
        for bytes in cases {
            for block in 1..6 {
                let wanted = std::str::from_utf8(bytes).is_ok();
                assert_eq!(is_utf8(bytes, block), wanted, "{bytes:?} {block}");
            }
        }
    }

    #[test]
    fn a_byte_order_mark_names_the_encoding() {
        let cases: [(&[u8], Encoding, u64); 5] = [
            (b"", Encoding::Utf8, 0),
            (b"\xEF\xBB", Encoding::Utf8, 0),
            (b"\xEF\xBB\xBFx", Encoding::Utf8Bom, 3),
            (b"\xFF\xFE", Encoding::Utf16Le, 2),
            (b"\xFE\xFF\0a", Encoding::Utf16Be, 2),
        ];
        for (head, encoding, mark) in cases {
            assert_eq!((Encoding::of(head), encoding.mark()), (encoding, mark), "{head:?}");
        }
    }

    #[test]
    fn line_endings_are_named_by_their_counts() {
        let cases = [
            (0, 0, LineEnding::None),
            (3, 0, LineEnding::Lf),
            (3, 3, LineEnding::Crlf),
            (3, 1, LineEnding::Mixed),
        ];
        for (feeds, pairs, ending) in cases {
            assert_eq!(LineEnding::of(feeds, pairs), ending);
        }
    }
}
