//! The text of a file as edits see it: without its byte order mark, UTF-16 turned into UTF-8.

use std::borrow::Cow;
use std::char::decode_utf16;

use crate::edit::checked;
use crate::error::Error;
use crate::text::decode;

/// The decoded text, and what is needed to find a place of it in the file's bytes.
pub(super) struct Text<'a> {
    bytes: Cow<'a, [u8]>,
    encoding: Encoding,
    /// Length of the byte order mark.
    mark: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, Latin-1, whatever: the bytes are the text.
    Bytes,
    Utf16Little,
    Utf16Big,
}

impl Encoding {
    fn of_mark(content: &[u8]) -> Encoding {
        if content.starts_with(b"\xFF") { Encoding::Utf16Little } else { Encoding::Utf16Big }
    }

    fn read(self, pair: [u8; 2]) -> u16 {
        if self == Encoding::Utf16Big { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }

    fn write(self, unit: u16) -> [u8; 2] {
        if self == Encoding::Utf16Big { unit.to_be_bytes() } else { unit.to_le_bytes() }
    }
}

impl<'a> Text<'a> {
    pub(super) fn of(content: &'a [u8]) -> Text<'a> {
        if let Some(text) = content.strip_prefix(decode::UTF8_MARK) {
            let mark = decode::UTF8_MARK.len();
            return Text { bytes: Cow::Borrowed(text), encoding: Encoding::Bytes, mark };
        }
        if !decode::is_utf16(content) {
            return Text { bytes: Cow::Borrowed(content), encoding: Encoding::Bytes, mark: 0 };
        }
        let encoding = Encoding::of_mark(content);
        let bytes = decoded(content.get(2..).unwrap_or_default(), encoding);
        Text { bytes: Cow::Owned(bytes), encoding, mark: 2 }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn is_utf16(&self) -> bool {
        self.encoding != Encoding::Bytes
    }

    pub(super) fn has_mark(&self) -> bool {
        self.mark > 0
    }

    /// `text` in the encoding of the file.
    pub(super) fn encode<'t>(&self, text: &'t str) -> Cow<'t, [u8]> {
        match self.encoding {
            Encoding::Bytes => Cow::Borrowed(text.as_bytes()),
            encoding => {
                let units = text.encode_utf16();
                Cow::Owned(units.flat_map(|unit| encoding.write(unit)).collect())
            }
        }
    }

    /// Translates places of the text, asked for in order, into places of the file.
    pub(super) fn offsets(&self) -> Offsets<'_> {
        Offsets { text: self, at: 0, offset: self.mark }
    }
}

/// Unpaired surrogates become the three bytes that no UTF-8 has, so that no text matches them;
/// an odd last byte belongs to no character and is left out.
fn decoded(bytes: &[u8], encoding: Encoding) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let (pairs, _) = bytes.as_chunks::<2>();
    for unit in decode_utf16(pairs.iter().map(|&pair| encoding.read(pair))) {
        match unit {
            Ok(letter) => text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(error) => {
                let [high, low] = error.unpaired_surrogate().to_be_bytes();
                text.push(0xE0 | (high >> 4));
                text.push(0x80 | ((high & 0xF) << 2) | (low >> 6));
                text.push(0x80 | (low & 0x3F));
            }
        }
    }
    text
}

/// Where places of the text are in the file; each step goes on from the one before.
pub(super) struct Offsets<'a> {
    text: &'a Text<'a>,
    at: usize,
    offset: usize,
}

impl Offsets<'_> {
    /// The place in the file of the place `at`, which does not lie before the one asked last.
    ///
    /// # Errors
    /// `INTERNAL` if it does, or lies behind the text.
    pub(super) fn in_file(&mut self, at: usize) -> Result<usize, Error> {
        let passed = checked::bytes(&self.text.bytes, self.at..at)?;
        self.offset += match self.text.encoding {
            Encoding::Bytes => passed.len(),
            Encoding::Utf16Little | Encoding::Utf16Big => {
                passed.iter().map(|&byte| width(byte)).sum()
            }
        };
        self.at = at;
        Ok(self.offset)
    }

    /// The place in the text of the place `offset` of the file, which does not lie before the one
    /// asked last; a place inside a character is its end.
    pub(super) fn in_text(&mut self, offset: usize) -> usize {
        if self.text.encoding == Encoding::Bytes {
            return offset.saturating_sub(self.text.mark).min(self.text.bytes.len());
        }
        while self.offset < offset {
            let Some(&byte) = self.text.bytes.get(self.at) else { break };
            self.offset += width(byte);
            self.at += 1;
            while self.text.bytes.get(self.at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                self.at += 1;
            }
        }
        self.at
    }
}

/// The bytes that a character takes in UTF-16, told at the first of its bytes in UTF-8.
fn width(byte: u8) -> usize {
    match byte {
        0x80..0xC0 => 0,
        0xF0.. => 4,
        _ => 2,
    }
}
