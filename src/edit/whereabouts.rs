//! Where `old_text` is in a file that has changed since it was read.

use std::fmt::Write;

use crate::context::Call;
use crate::edit::hint;
use crate::edit::ladder::Haystack;
use crate::edit::places::Places;
use crate::edit::replacement::{Matching, Options, Replacement};
use crate::edit::text::Text;
use crate::edit::undecodable::Wide;
use crate::error::Error;

/// Bytes of the lines that are shown.
const SHOWN_BYTES: usize = 1000;

/// Where `old_text` is now.
pub(crate) struct Whereabouts {
    /// A sentence that says it, and the lines.
    pub(crate) told: String,
    /// Whether it is there at all.
    pub(crate) is_there: bool,
}

/// Says where `old_text` is in the text of a file now, and these lines; or what of
/// the file is most like it.
///
/// # Errors
/// `CANCELLED`, `TIMEOUT`, `TOO_LARGE`.
pub(crate) fn whereabouts(
    content: &[u8],
    change: &Replacement,
    options: &Options,
    call: &Call,
) -> Result<Whereabouts, Error> {
    let text = Text::of(content);
    let mut haystack = Haystack::new(text.bytes(), Wide(text.is_utf16()));
    let mut told = String::new();
    if let Some(found) = haystack.find(&change.old_text, options, call)? {
        let places = Places::of(text.bytes(), &found);
        let lines = places.shown(SHOWN_BYTES);
        // Writing to a string cannot fail.
        let _ = match found.places.as_slice() {
            [_] => write!(told, "old_text is at line {} now:", places.first_line()),
            _ => write!(told, "old_text is in several places now. {}", places.named()),
        };
        let _ = write!(told, "\n```\n{lines}```\n");
        return Ok(Whereabouts { told, is_there: true });
    }
    told.push_str("old_text is not in it any more.");
    if let Some(near) = hint::nearest(text.bytes(), &change.old_text, call)? {
        let is_exact = options.matching == Matching::Exact;
        let _ = write!(told, " {}", near.advice(is_exact, SHOWN_BYTES));
    }
    Ok(Whereabouts { told, is_there: false })
}
