//! Images: recognised by their content, with their size in pixels, and checked to be whole.

use crate::error::{Error, ErrorCode};
use crate::read::source::Source;

mod jpeg;

/// The largest image that is handed on, in bytes.
pub(crate) const MAX_IMAGE_BYTES: u64 = 20 << 20;

/// An image format that models can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Jpeg,
    Gif,
    Webp,
    Bmp,
}

impl Format {
    pub(crate) fn mime(self) -> &'static str {
        match self {
            Format::Png => "image/png",
            Format::Jpeg => "image/jpeg",
            Format::Gif => "image/gif",
            Format::Webp => "image/webp",
            Format::Bmp => "image/bmp",
        }
    }

    /// What the extension of a name promises.
    pub(crate) fn of_extension(extension: &str) -> Option<Format> {
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Format::Png),
            "jpg" | "jpeg" => Some(Format::Jpeg),
            "gif" => Some(Format::Gif),
            "webp" => Some(Format::Webp),
            "bmp" => Some(Format::Bmp),
            _ => None,
        }
    }
}

/// A whole image.
#[derive(Debug)]
pub(crate) struct Image {
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
    /// Width and height in pixels.
    pub(crate) pixels: (u32, u32),
}

impl Image {
    /// Reads an image, or tells why it is none.
    pub(super) fn read(
        source: &Source<'_>,
        format: Format,
        size: u64,
    ) -> Result<Result<Image, &'static str>, Error> {
        if size > MAX_IMAGE_BYTES {
            return Err(too_large(source, size));
        }
        // The size is where to begin: it may have grown, or the file system tells a wrong one.
        let mut bytes = Vec::new();
        let mut room = usize::try_from(size).unwrap_or_default() + 1;
        loop {
            let length = bytes.len();
            bytes.resize(length + room, 0);
            let count = source.fill(bytes.get_mut(length..).unwrap_or_default(), length as u64)?;
            bytes.truncate(length + count);
            if bytes.len() as u64 > MAX_IMAGE_BYTES {
                return Err(too_large(source, bytes.len() as u64));
            }
            if count < room {
                break;
            }
            room = bytes.len().max(64 * 1024);
        }
        Ok(pixels(format, &bytes).map(|pixels| Image { format, bytes, pixels }))
    }
}

fn too_large(source: &Source<'_>, size: u64) -> Error {
    let path = source.path;
    let message = format!("Image too large: {path} has {size} bytes, over {MAX_IMAGE_BYTES}");
    Error::new(ErrorCode::TooLarge, message).at(path.as_str())
}

/// The format that the first bytes of a file promise.
pub(super) fn recognise(head: &[u8]) -> Option<Format> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Format::Png),
        [0xFF, 0xD8, 0xFF, ..] => Some(Format::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Format::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Format::Webp),
        // Two letters are little; the length of the second header is one of a few.
        [b'B', b'M', ..] => {
            let header = little(head, 14, 4)?;
            matches!(header, 12 | 40 | 52 | 56 | 64 | 108 | 124).then_some(Format::Bmp)
        }
        _ => None,
    }
}

/// The size of a whole image in pixels, or what is wrong with it.
fn pixels(format: Format, bytes: &[u8]) -> Result<(u32, u32), &'static str> {
    let pixels = match format {
        Format::Png => png(bytes),
        Format::Jpeg => jpeg::pixels(bytes),
        Format::Gif => gif(bytes),
        Format::Webp => webp(bytes),
        Format::Bmp => bmp(bytes),
    };
    match pixels {
        Some((0, _) | (_, 0)) => Err("its size in pixels is zero"),
        Some(pixels) => Ok(pixels),
        None => Err("it is cut short or damaged"),
    }
}

/// Chunks from the header to the end, with some data between.
fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    let pixels = (big(bytes, 16, 4)?, big(bytes, 20, 4)?);
    if bytes.get(8..16)? != b"\0\0\0\x0DIHDR" {
        return None;
    }
    let (mut at, mut data) = (8, false);
    loop {
        let length = big(bytes, at, 4)? as usize;
        let kind = bytes.get(at + 4..at + 8)?;
        data |= kind == b"IDAT";
        let end = at.checked_add(length)?.checked_add(8)?;
        if crc32fast::hash(bytes.get(at + 4..end)?) != big(bytes, end, 4)? {
            return None;
        }
        at = end + 4;
        if kind == b"IEND" {
            return data.then_some(pixels);
        }
    }
}

/// Blocks from the screen to the trailer, with an image between.
fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let pixels = (little(bytes, 6, 2)?, little(bytes, 8, 2)?);
    let mut at = 13 + colours(*bytes.get(10)?);
    let mut image = false;
    loop {
        match *bytes.get(at)? {
            0x2C => {
                at += 10 + colours(*bytes.get(at + 9)?) + 1;
                image = true;
            }
            0x21 => at += 2,
            0x3B => return image.then_some(pixels),
            _ => return None,
        }
        // Data comes in pieces; an empty one ends it.
        while let length @ 1.. = *bytes.get(at)? {
            at += 1 + usize::from(length);
        }
        at += 1;
    }
}

/// Bytes of the colour table that the flags of a GIF tell of.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

/// The first chunk tells the size, and the file is as long as it says.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let length = little(bytes, 4, 4)? as usize;
    if bytes.len() < length.checked_add(8)? {
        return None;
    }
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" if *bytes.get(20)? == 0x2F => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8 " if bytes.get(23..26)? == [0x9D, 0x01, 0x2A] => {
            Some((little(bytes, 26, 2)? & 0x3FFF, little(bytes, 28, 2)? & 0x3FFF))
        }
        _ => None,
    }
}

fn bmp(bytes: &[u8]) -> Option<(u32, u32)> {
    let pixels_at = little(bytes, 10, 4)? as usize;
    if pixels_at >= bytes.len() {
        return None;
    }
    if little(bytes, 14, 4)? == 12 {
        return Some((little(bytes, 18, 2)?, little(bytes, 20, 2)?));
    }
    // A negative height means that the first row is the upper one.
    let height = little(bytes, 22, 4)?.cast_signed().unsigned_abs();
    Some((little(bytes, 18, 4)?, height))
}

/// A number of up to four bytes, the low one first.
fn little(bytes: &[u8], at: usize, width: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

/// A number of up to four bytes, the high one first.
fn big(bytes: &[u8], at: usize, width: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
}

#[cfg(test)]
mod tests;
