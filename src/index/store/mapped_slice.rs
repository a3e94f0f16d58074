//! Slices of the mapped file, which keep it mapped.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::os::Mapping;

/// The bytes of an index, wherever they are.
pub(super) enum Source {
    Mapped(Mapping),
    #[cfg(any(test, fuzzing))]
    Held(Vec<u8>),
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Source::Mapped(mapping) => mapping,
            #[cfg(any(test, fuzzing))]
            Source::Held(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({} bytes)", self.len())
    }
}

/// A piece of an index file.
#[derive(Clone, Debug)]
pub(crate) struct MappedSlice {
    source: Arc<Source>,
    start: usize,
    length: u32,
}

impl MappedSlice {
    /// The piece of `length` bytes at `start`, and where the next one begins; nothing if it does
    /// not lie in `within`.
    pub(super) fn cut(
        source: &Arc<Source>,
        within: &Range<usize>,
        length: u32,
    ) -> Option<(MappedSlice, Range<usize>)> {
        let (start, budget) = (within.start, within.end.checked_sub(within.start)?);
        let length_here = usize::try_from(length).ok().filter(|length| *length <= budget)?;
        let part = MappedSlice { source: source.clone(), start, length };
        Some((part, start + length_here..within.end))
    }
}

impl Deref for MappedSlice {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.source.get(self.start..self.start + self.length as usize).unwrap_or_default()
    }
}
