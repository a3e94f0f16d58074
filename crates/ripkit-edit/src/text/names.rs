//! Names of files in messages and in the headers of diffs.

/// Bytes shown of a name.
const NAME_BYTES: usize = 300;

/// The name for a message that has little room: more than 300 bytes are cut off its start.
pub(crate) fn short_name(name: &str) -> String {
    match name.len().checked_sub(NAME_BYTES).filter(|over| *over > 0) {
        None => name.to_owned(),
        Some(over) => format!("…{}", &name[name.ceil_char_boundary(over)..]),
    }
}

/// Whether a character can move the cursor, end the line or reorder the text around it.
pub fn is_unsafe(ch: char) -> bool {
    ch.is_control()
        || matches!(ch,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
