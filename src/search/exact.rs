//! A found line byte for byte, for programs that cannot do with the line as shown.

/// A match or a line of context, as it is in the text of its file.
#[derive(Clone, Debug)]
pub(super) struct ExactLine {
    /// The number of the line, from 1.
    pub(super) line: u64,
    /// Where it begins in the text, in bytes; a byte order mark does not count.
    pub(super) offset: u64,
    /// With its line end.
    pub(super) bytes: Box<[u8]>,
    /// Where the pattern matches in `bytes`; `None` for context.
    pub(super) places: Option<Vec<(usize, usize)>>,
}

impl ExactLine {
    /// A match.
    pub(super) fn found(
        line: u64,
        offset: u64,
        bytes: &[u8],
        places: Vec<(usize, usize)>,
    ) -> ExactLine {
        ExactLine { line, offset, bytes: bytes.into(), places: Some(places) }
    }

    /// A line of context.
    pub(super) fn around(line: u64, offset: u64, bytes: &[u8]) -> ExactLine {
        ExactLine { line, offset, bytes: bytes.into(), places: None }
    }
}
