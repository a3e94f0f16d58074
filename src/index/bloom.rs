//! The n-grams of a text as sets of bits, a fraction of the text in size.
//!
//! The bytes of a filter are its [`FilterTraits`], then for each block of the text the binary
//! logarithm of its number of bits, and the bits. A gram is one bit, at the low bits of its hash,
//! so a set of half the size is made by laying one half over the other.

use std::sync::Arc;

use crate::index::grams::{self, HASH_BITS, WINDOW};
use crate::index::normalized_block::NormalizedBlock;

/// The most bytes of a block of text, unless a line is longer. In smaller ones it is rarer that
/// all grams are there, but each at another place; in bigger ones grams repeat more.
const BLOCK: usize = 64 << 10;

/// Bytes of a text that get twice the room.
const SMALL: usize = 8 << 10;

/// The least density at which there is room for long grams.
const LONG_DENSITY: u8 = 5;

/// The logarithm of the smallest set: a byte.
const MIN_LOG2: u8 = 3;

/// The logarithm of the set that a word holds.
const WORD_LOG2: u8 = 6;

/// Room for filters in percent of the text, over many files of source code: 3 to 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BitsPerByte(u8);

impl BitsPerByte {
    /// The nearest density that there is.
    pub(crate) fn percent(percent: u8) -> BitsPerByte {
        BitsPerByte(percent.clamp(3, 8))
    }

    fn has_long(self) -> bool {
        self.0 >= LONG_DENSITY
    }

    /// How full a set may become by halving it, in percent; measured on trees of source code.
    fn fill(self) -> u64 {
        match self.0 {
            3 => 36,
            4 => 29,
            5 => 60,
            6 => 52,
            7 => 44,
            _ => 42,
        }
    }

    /// The logarithm of the most bits for a block, which bounds the filter of a text that hardly
    /// repeats itself. Small texts get more: nearly all of their grams are new, a set that is
    /// full tells nothing, and in all they are few bytes. The least is a word.
    fn most_log2(self, bytes: usize) -> u8 {
        let budget = bytes.saturating_add(bytes.min(SMALL)).saturating_mul(usize::from(self.0));
        let bits = (budget / 100).saturating_mul(2 * 8).max(1);
        let log2 = u8::try_from(bits.ilog2()).unwrap_or(HASH_BITS);
        log2.clamp(WORD_LOG2, HASH_BITS)
    }
}

impl Default for BitsPerByte {
    fn default() -> BitsPerByte {
        BitsPerByte(7)
    }
}

/// What is true of a whole filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilterTraits(u8);

impl FilterTraits {
    const LONG: u8 = 1;
    const FOLDING: u8 = 2;
    const ASCII: u8 = 4;

    fn of(text: &[u8], with_long: bool) -> FilterTraits {
        let is_ascii = text.is_ascii();
        let long = if with_long { FilterTraits::LONG } else { 0 };
        let folding = if !is_ascii && has_folding(text) { FilterTraits::FOLDING } else { 0 };
        let ascii = if is_ascii { FilterTraits::ASCII } else { 0 };
        FilterTraits(long | folding | ascii)
    }

    /// The traits, unless they are of another version.
    pub(super) fn read(byte: u8) -> Option<FilterTraits> {
        (byte & !(FilterTraits::LONG | FilterTraits::FOLDING | FilterTraits::ASCII) == 0)
            .then_some(FilterTraits(byte))
    }

    /// What [`FilterTraits::read`] takes.
    pub(super) fn byte(self) -> u8 {
        self.0
    }

    /// Whether long grams are in.
    pub(super) fn has_long(self) -> bool {
        self.0 & FilterTraits::LONG != 0
    }

    /// Whether the text has a character, not ASCII, that is an ASCII letter when case is ignored.
    pub(super) fn has_folding(self) -> bool {
        self.0 & FilterTraits::FOLDING != 0
    }

    /// Whether all of the text is ASCII.
    pub(super) fn is_ascii(self) -> bool {
        self.0 & FilterTraits::ASCII != 0
    }
}

/// The set of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block<'a> {
    bytes: &'a [u8],
    mask: u32,
}

impl<'a> Block<'a> {
    /// The first block of the bytes and those after it, or `None` if they are damaged.
    pub(super) fn split(bytes: &'a [u8]) -> Option<(Block<'a>, &'a [u8])> {
        let (&log2, rest) = bytes.split_first()?;
        if !(MIN_LOG2..=HASH_BITS).contains(&log2) {
            return None;
        }
        let (bytes, rest) = rest.split_at_checked(1 << (log2 - MIN_LOG2))?;
        Some((Block { bytes, mask: (1 << log2) - 1 }, rest))
    }

    /// Whether a gram of this hash may be in the block.
    pub(super) fn has(self, hash: u32) -> bool {
        let at = hash & self.mask;
        self.bytes.get((at >> 3) as usize).is_none_or(|byte| byte >> (at & 7) & 1 != 0)
    }
}

/// Makes filters, one after the other, in memory that it keeps.
#[derive(Debug)]
pub(crate) struct BloomBuilder {
    bits_per_byte: BitsPerByte,
    text: NormalizedBlock,
    bits: Vec<u64>,
}

impl BloomBuilder {
    pub(crate) fn new(bits_per_byte: BitsPerByte) -> BloomBuilder {
        BloomBuilder { bits_per_byte, text: NormalizedBlock::default(), bits: Vec::new() }
    }

    /// The filter of a text, which need not be valid UTF-8.
    pub(crate) fn build(&mut self, text: &[u8]) -> Arc<[u8]> {
        let traits = FilterTraits::of(text, self.bits_per_byte.has_long());
        let mut filter = vec![traits.0];
        let mut rest = text;
        while !rest.is_empty() {
            let (block, after) = rest.split_at(block_end(rest));
            self.add(block, &mut filter);
            rest = after;
        }
        filter.into()
    }

    fn add(&mut self, block: &[u8], filter: &mut Vec<u8>) {
        self.text.fill(block);
        let most = self.bits_per_byte.most_log2(block.len());
        self.bits.clear();
        self.bits.resize(1 << (most - WORD_LOG2), 0);
        let with_long = self.bits_per_byte.has_long();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block).chain([block.len()]) {
            insert(&mut self.bits, self.text.windows(start..end, with_long));
            start = end + 1;
        }
        let log2 = shrink(&mut self.bits, most, self.bits_per_byte.fill());
        filter.push(log2);
        let bytes = self.bits.iter().flat_map(|word| word.to_le_bytes());
        filter.extend(bytes.take(1 << (log2 - MIN_LOG2)));
    }
}

/// The characters that are `s` and `k` when case is ignored: U+017F and U+212A.
fn has_folding(text: &[u8]) -> bool {
    ["\u{17f}", "\u{212a}"]
        .iter()
        .any(|character| memchr::memmem::find(text, character.as_bytes()).is_some())
}

/// Where the first block of a text ends.
fn block_end(text: &[u8]) -> usize {
    let Some((first, after)) = text.split_at_checked(BLOCK) else { return text.len() };
    let before = memchr::memrchr(b'\n', first).map(|at| at + 1);
    let end = before.or_else(|| memchr::memchr(b'\n', after).map(|at| BLOCK + at + 1));
    end.unwrap_or(text.len())
}

/// Sets the bits of the grams of a line: of both kinds, then of short ones.
fn insert(bits: &mut [u64], [both, short]: [impl Iterator<Item = [u8; WINDOW]>; 2]) {
    for window in both {
        set(bits, grams::long(window));
        set(bits, grams::short(window));
    }
    for window in short {
        set(bits, grams::short(window));
    }
}

fn set(bits: &mut [u64], hash: u32) {
    let at = (hash >> WORD_LOG2) as usize & (bits.len() - 1);
    if let Some(word) = bits.get_mut(at) {
        *word |= 1 << (hash % u64::BITS);
    }
}

/// Halves a set, of `2^log2` bits, as long as it stays less full than `fill` percent; tells the
/// logarithm of its size.
fn shrink(bits: &mut Vec<u64>, log2: u8, fill: u64) -> u8 {
    let mut log2 = log2;
    while log2 > MIN_LOG2 {
        let half = 1_u64 << (log2 - 1);
        if ones_of_half(bits, half) * 100 > half * fill {
            break;
        }
        halve(bits, half);
        log2 -= 1;
    }
    log2
}

/// Lays the upper half of a set over the lower one, of `half` bits.
fn halve(bits: &mut Vec<u64>, half: u64) {
    if let [word] = &mut bits[..] {
        *word = over(*word, half);
        return;
    }
    let middle = bits.len() / 2;
    let (low, high) = bits.split_at_mut(middle);
    for (low, high) in low.iter_mut().zip(high) {
        *low |= *high;
    }
    bits.truncate(middle);
}

/// How many bits would be set after halving.
fn ones_of_half(bits: &[u64], half: u64) -> u64 {
    if let [word] = bits {
        return over(*word, half).count_ones().into();
    }
    let (low, high) = bits.split_at(bits.len() / 2);
    low.iter().zip(high).map(|(low, high)| u64::from((low | high).count_ones())).sum()
}

/// The halves of a set that is smaller than a word, one over the other.
fn over(word: u64, half: u64) -> u64 {
    (word | word >> half) & !(u64::MAX << half)
}

#[cfg(test)]
mod tests;
