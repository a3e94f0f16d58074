//! Pages of a mapped file, each checked when it is first read.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::os::Mapping;

/// Bytes of a page that has its own checksum: what the system reads at a time.
pub(super) const PAGE: usize = 4096;

/// What is known of a page.
const UNREAD: u8 = 0;
const SOUND: u8 = 1;
const DAMAGED: u8 = 2;

/// The bytes of an index, wherever they are.
pub(super) enum Source {
    Mapped(Mapping),
    #[cfg(any(test, fuzzing))]
    InMemory(Vec<u8>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({} bytes)", self.len())
    }
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Source::Mapped(mapping) => mapping,
            #[cfg(any(test, fuzzing))]
            Source::InMemory(bytes) => bytes,
        }
    }
}

/// A range of a mapped file, with a checksum for each page, the last of which may be shorter.
///
/// It keeps the file mapped. A process that asks for a few bytes reads the pages that they are in
/// and nothing else.
#[derive(Debug)]
pub(crate) struct Pages {
    source: Arc<Source>,
    range: Range<usize>,
    checksums: Box<[u32]>,
    states: Box<[AtomicU8]>,
}

impl Pages {
    /// The pages of a range of the file; `checksums` has one for each.
    pub(super) fn new(source: Arc<Source>, range: Range<usize>, checksums: Box<[u32]>) -> Pages {
        let states = checksums.iter().map(|_| AtomicU8::new(UNREAD)).collect();
        Pages { source, range, checksums, states }
    }

    /// All of its bytes.
    pub(crate) fn len(&self) -> usize {
        self.range.len()
    }

    /// Some of its bytes, or `None` if they do not exist or lie in a damaged page.
    pub(crate) fn get(&self, range: Range<usize>) -> Option<&[u8]> {
        let bytes = self.source.get(self.range.clone())?;
        let wanted = bytes.get(range.clone())?;
        let pages = range.start / PAGE..range.end.div_ceil(PAGE);
        pages.into_iter().all(|page| self.is_sound(bytes, page)).then_some(wanted)
    }

    fn is_sound(&self, bytes: &[u8], page: usize) -> bool {
        let Some(state) = self.states.get(page) else { return false };
        match state.load(Ordering::Relaxed) {
            UNREAD => {
                let start = page * PAGE;
                let content = bytes.get(start..bytes.len().min(start + PAGE)).unwrap_or(&[]);
                let is_sound = self.checksums.get(page) == Some(&crc32fast::hash(content));
                state.store(if is_sound { SOUND } else { DAMAGED }, Ordering::Relaxed);
                is_sound
            }
            known => known == SOUND,
        }
    }

    /// Takes all pages for sound, so that bytes made at random get as far as they can.
    #[cfg(any(test, fuzzing))]
    pub(super) fn trust(&mut self) {
        self.states.iter_mut().for_each(|state| *state = AtomicU8::new(SOUND));
    }
}
