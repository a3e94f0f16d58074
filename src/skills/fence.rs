//! The lines between two lines of `---` at the top of a file, read without what follows them.

use std::io::{self, BufRead, Read};

use crate::error::{Error, ErrorCode};
use crate::text::decode::{UTF8_MARK, is_utf16};

/// The most bytes of front matter that are read, its fences included.
pub const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;

/// What stands between the fences, and where it stands.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) yaml: String,
    /// Bytes of the file up to the end of the closing fence.
    pub(super) end: u64,
    /// Lines of the file before the first line of `yaml`.
    pub(super) lines_before: usize,
    /// Lines of the file up to the closing fence.
    pub(super) lines: u64,
    /// Whether a byte order mark comes first.
    pub(super) has_mark: bool,
}

impl Block {
    /// Reads as far as the line that closes the front matter and not a byte more.
    ///
    /// # Errors
    /// `NO_FRONTMATTER`, `UNTERMINATED_FRONTMATTER`, `INVALID_FRONTMATTER` for bytes that are not
    /// UTF-8, and failures to read.
    pub(super) fn read(reader: &mut impl BufRead) -> Result<Block, Error> {
        let mut block = Block::default();
        block.open(reader)?;
        let mut yaml = Vec::new();
        loop {
            let line = block.line(reader)?;
            if line.is_empty() {
                return Err(block.unterminated());
            }
            if is_fence(&line) {
                break;
            }
            yaml.extend_from_slice(&line);
        }
        block.yaml = String::from_utf8(yaml).map_err(|reason| {
            let message = "the front matter is not UTF-8";
            Error::new(ErrorCode::InvalidFrontmatter, message).because(reason)
        })?;
        Ok(block)
    }

    /// Passes the first line that is not blank, which must be a fence.
    fn open(&mut self, reader: &mut impl BufRead) -> Result<(), Error> {
        loop {
            let line = self.line(reader)?;
            let first = self.lines_before == 0;
            let text = line.strip_prefix(UTF8_MARK).filter(|_| first);
            self.has_mark |= text.is_some();
            let text = text.unwrap_or(&line);
            self.lines_before += 1;
            if is_fence(text) {
                return Ok(());
            }
            if line.is_empty() || !text.trim_ascii().is_empty() {
                let is_utf16 = first && is_utf16(&line);
                let hint = "It is UTF-16: save it as UTF-8.";
                return Err(if is_utf16 { missing().with_hint(hint) } else { missing() });
            }
        }
    }

    /// The next line with its end; empty at the end of the file, or where too much was read.
    fn line(&mut self, reader: &mut impl BufRead) -> Result<Vec<u8>, Error> {
        let room = (MAX_FRONTMATTER_BYTES as u64).saturating_sub(self.end);
        let mut line = Vec::new();
        let read = reader.by_ref().take(room).read_until(b'\n', &mut line);
        self.end += read.map_err(unreadable)? as u64;
        self.lines += 1;
        Ok(line)
    }

    fn unterminated(&self) -> Error {
        let message = if self.end < MAX_FRONTMATTER_BYTES as u64 {
            "the front matter has no closing line of ---".to_owned()
        } else {
            format!("the front matter has no closing line of --- in {MAX_FRONTMATTER_BYTES} bytes")
        };
        Error::new(ErrorCode::UnterminatedFrontmatter, message)
    }
}

fn is_fence(line: &[u8]) -> bool {
    line.trim_ascii_end() == b"---"
}

fn missing() -> Error {
    let message = "the file does not begin with a line of ---, and front matter after it";
    Error::new(ErrorCode::NoFrontmatter, message)
}

fn unreadable(reason: io::Error) -> Error {
    Error::new(ErrorCode::of_io(&reason), format!("cannot read the file: {reason}")).because(reason)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn the_reader_stands_behind_the_closing_line() {
        let texts = [
            ("---\na: 1\n---\nbody", "a: 1\n", 13),
            ("---\r\na: 1\r\n---\r\nbody", "a: 1\r\n", 16),
            ("\u{feff}---\na: 1\n---\nbody", "a: 1\n", 16),
            ("\n  \n---  \na: 1\n---\t\nbody", "a: 1\n", 20),
            ("---\n---\n", "", 8),
            ("---\na: |\n  ---\n ---\n----\n---", "a: |\n  ---\n ---\n----\n", 28),
            ("---\na: 1\n---\n---\n", "a: 1\n", 13),
        ];
        for (text, yaml, end) in texts {
            let mut reader = Cursor::new(text);
            let block = Block::read(&mut reader).unwrap();
            assert_eq!(block.yaml, yaml, "{text:?}");
            assert_eq!((block.end, reader.position()), (end, end), "{text:?}");
        }
    }

    #[test]
    fn what_has_no_fences_is_refused() {
        let long = format!("---\n{}", "a".repeat(MAX_FRONTMATTER_BYTES * 2));
        let texts: [(&[u8], ErrorCode); 9] = [
            (b"", ErrorCode::NoFrontmatter),
            (b"# Title\n---\n", ErrorCode::NoFrontmatter),
            (b"----\na: 1\n---\n", ErrorCode::NoFrontmatter),
            (b" ---\na: 1\n---\n", ErrorCode::NoFrontmatter),
            (b"\xff\xfe-\0-\0-\0\n\0", ErrorCode::NoFrontmatter),
            (b"---", ErrorCode::UnterminatedFrontmatter),
            (b"---\na: 1\n --- \nbody", ErrorCode::UnterminatedFrontmatter),
            (long.as_bytes(), ErrorCode::UnterminatedFrontmatter),
            (b"---\na: \xff\n---\n", ErrorCode::InvalidFrontmatter),
        ];
        for (text, code) in texts {
            let error = Block::read(&mut Cursor::new(text)).unwrap_err();
            let shown = String::from_utf8_lossy(text.get(..20).unwrap_or(text)).into_owned();
            assert_eq!(error.code(), code, "{shown:?}");
        }
    }

    #[test]
    fn the_search_for_the_end_stops_at_the_limit() {
        let mut reader = Cursor::new(format!("---\n{}", "a\n".repeat(MAX_FRONTMATTER_BYTES)));
        Block::read(&mut reader).unwrap_err();
        assert_eq!(reader.position(), MAX_FRONTMATTER_BYTES as u64);
    }
}
