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
    /// The matches that begin in `bytes`, which may end in a later line of the same block; `None`
    /// for context.
    pub(super) places: Option<Vec<(usize, usize)>>,
    /// It belongs to the same block of a multi-line search as the line before.
    pub(super) joined: bool,
}

impl ExactLine {
    /// A match.
    pub(super) fn found(
        line: u64,
        offset: u64,
        bytes: &[u8],
        places: Vec<(usize, usize)>,
    ) -> ExactLine {
        ExactLine { line, offset, bytes: bytes.into(), places: Some(places), joined: false }
    }

    /// The same line as one that goes on the block of the line before.
    pub(super) fn joined(self) -> ExactLine {
        ExactLine { joined: true, ..self }
    }

    /// A line of context.
    pub(super) fn around(line: u64, offset: u64, bytes: &[u8]) -> ExactLine {
        ExactLine { line, offset, bytes: bytes.into(), places: None, joined: false }
    }
}
