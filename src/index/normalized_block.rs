//! A block of text in the form that grams are taken from.

use std::ops::Range;

use crate::index::grams::{BORDER, LONG, SHORT, WINDOW, is_word};

/// The most bytes that are kept for the next block after a line that was long.
const MOST_KEPT: usize = 1 << 20;

/// A block in lower case with borders put in; a line break is before it, and more bytes than a
/// window has are after it.
#[derive(Debug, Default)]
pub(super) struct NormalizedBlock {
    text: Vec<u8>,
    /// Of each byte one if it is of a word, or else zero.
    words: Vec<u8>,
}

impl NormalizedBlock {
    /// Takes another block.
    pub(super) fn fill(&mut self, block: &[u8]) {
        self.clear(block.len());
        self.text.push(b'\n');
        self.text.extend_from_slice(block);
        self.text.make_ascii_lowercase();
        self.text.extend_from_slice(&[0; WINDOW]);
        self.words.extend(self.text.iter().map(|byte| u8::from(is_word(*byte))));
        self.put_borders();
    }

    fn clear(&mut self, bytes: usize) {
        for buffer in [&mut self.text, &mut self.words] {
            buffer.clear();
            if buffer.capacity() > MOST_KEPT && bytes < MOST_KEPT / 2 {
                buffer.shrink_to(MOST_KEPT);
            }
        }
    }

    /// Without a branch, or it would take as long as all the rest.
    fn put_borders(&mut self) {
        let words = |from: usize| self.words.get(from..).unwrap_or_default();
        let beside = self.words.iter().zip(words(1)).zip(words(2));
        if let [first, text @ ..] = &mut self.text[..] {
            if words(1).first() == Some(&1) {
                *first = BORDER;
            }
            for (byte, ((before, word), after)) in text.iter_mut().zip(beside) {
                *byte = if *word < (before | after) { BORDER } else { *byte };
            }
        }
    }

    /// The windows of the grams of a line of the block: those of a long gram and a short one, then
    /// those of a short one alone.
    pub(super) fn windows(
        &self,
        line: Range<usize>,
        with_long: bool,
    ) -> [impl Iterator<Item = [u8; WINDOW]>; 2] {
        // The byte before the line and the one after it are borders if they are beside a word.
        let is_word = |at: usize| self.words.get(at).map_or(0, |word| usize::from(*word));
        let start = line.start + 1 - is_word(line.start + 1);
        let end = line.end + 1 + is_word(line.end);
        let middle = if with_long { end.saturating_sub(LONG - 1).max(start) } else { start };
        [start..middle, middle..end.saturating_sub(SHORT - 1)].map(|starts| self.from(starts))
    }

    fn from(&self, starts: Range<usize>) -> impl Iterator<Item = [u8; WINDOW]> {
        let text = self.text.get(starts.start..starts.end + WINDOW - 1).unwrap_or_default();
        text.windows(WINDOW).map(|window| window.try_into().unwrap_or_default())
    }
}
