//! The segments of a JPEG file.

use memchr::memmem;

use super::big;

/// The size in pixels of a file that has its frame, a scan, and its end.
pub(super) fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    let mut pixels = None;
    loop {
        if *bytes.get(at)? != 0xFF {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            // Any number of these may fill the space before a marker.
            0xFF => {
                at += 1;
                continue;
            }
            0x01 | 0xD0..=0xD7 => {
                at += 2;
                continue;
            }
            0xD9 => return None,
            _ => {}
        }
        let length = big(bytes, at + 2, 2)? as usize;
        if is_frame(marker) {
            pixels = Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
        }
        at = at.checked_add(2)?.checked_add(length.max(2))?;
        // The scan; what follows it is searched for the end of the image.
        if marker == 0xDA {
            return memmem::rfind(bytes.get(at..)?, &[0xFF, 0xD9]).and(pixels);
        }
    }
}

/// Start of a frame: all of `C0` to `CF` but tables and the arithmetic conditioning.
fn is_frame(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC)
}
