//! Bit-sliced signatures: the Bloom filters of 64 texts side by side, as in `BitFunnel` and COBS.
//!
//! A query of a single filter waits for its memory. Here a word holds the same bit of 64 filters,
//! so one look answers for all of them.

use std::sync::Arc;

use crate::index::bloom::{Block, FilterTraits};
use crate::walk::Reservation;

/// How many filters are sliced together.
pub(super) const FILTERS: usize = u64::BITS as usize;

/// The logarithm of the largest set of a bundle; larger ones are rare, and a bundle of them takes
/// as long as many others.
const MOST_LOG2: u8 = 17;

/// Where in a filter of a single block its bits begin.
const START: usize = 2;

/// What filters that are sliced together have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) traits: FilterTraits,
    log2: u8,
}

impl Shape {
    /// The shape of a filter, if it can be sliced: it must have a single block.
    pub(super) fn of(filter: &[u8]) -> Option<Shape> {
        let [traits, log2, ..] = filter else { return None };
        let shape = Shape { traits: FilterTraits::read(*traits)?, log2: *log2 };
        let (_, rest) = Block::split(filter.get(1..)?)?;
        (rest.is_empty() && shape.log2 <= MOST_LOG2).then_some(shape)
    }

    /// Memory of the slices of such filters, in bytes.
    pub(super) fn bytes(self) -> usize {
        size_of::<BitSlices>() + (size_of::<u64>() << self.log2)
    }
}

/// Filters of one shape, bit by bit.
#[derive(Debug)]
pub(super) struct BitSlices {
    /// Which one it is of all that an index ever made.
    pub(super) number: usize,
    pub(super) shape: Shape,
    /// For each bit of a filter a word: that bit of each of them.
    rows: Box<[u64]>,
    _taken: Reservation,
}

/// One of the filters that are sliced together.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(super) slices: Arc<BitSlices>,
    pub(super) position: usize,
}

impl BitSlices {
    /// Puts filters together, all of this shape.
    pub(super) fn new<'a>(
        (number, taken): (usize, Reservation),
        shape: Shape,
        filters: impl Iterator<Item = &'a [u8]>,
    ) -> BitSlices {
        let mut sets: [&[u8]; FILTERS] = [&[]; FILTERS];
        for (set, filter) in sets.iter_mut().zip(filters) {
            *set = filter.get(START..).unwrap_or_default();
        }
        let rows = (0..1_usize << shape.log2 >> 3).flat_map(|at| {
            let columns = sets.map(|set| set.get(at).copied().unwrap_or_default());
            rows(&columns)
        });
        BitSlices { number, shape, rows: rows.collect(), _taken: taken }
    }

    /// Which of the filters have a gram of this hash, a bit for each.
    pub(super) fn row(&self, hash: u32) -> u64 {
        // Of as many rows as there are bits in a set, so none is missing.
        let at = hash as usize & (self.rows.len() - 1);
        self.rows.get(at).copied().unwrap_or(u64::MAX)
    }
}

/// The eight bits of a byte of each filter as eight rows.
fn rows(bytes: &[u8; FILTERS]) -> [u64; 8] {
    let (eights, _) = bytes.as_chunks::<8>();
    let mut rows = [0; 8];
    for (eight, shift) in eights.iter().zip((0..).step_by(8)) {
        let bits = transposed(u64::from_le_bytes(*eight)).to_le_bytes();
        for (row, bits) in rows.iter_mut().zip(bits) {
            *row |= u64::from(bits) << shift;
        }
    }
    rows
}

/// Eight rows of eight bits, turned round: three times smaller squares beside the diagonal are
/// exchanged.
fn transposed(square: u64) -> u64 {
    let exchange = |square: u64, distance: u32, mask: u64| {
        let moved = (square ^ square >> distance) & mask;
        square ^ moved ^ moved << distance
    };
    let square = exchange(square, 7, 0x00aa_00aa_00aa_00aa);
    let square = exchange(square, 14, 0x0000_cccc_0000_cccc);
    exchange(square, 28, 0x0000_0000_f0f0_f0f0)
}

impl Column {
    /// Bytes of the filter.
    pub(super) fn bytes(&self) -> usize {
        START + self.slices.rows.len() / 8
    }

    /// The filter as it was by itself.
    pub(super) fn filter(&self) -> Vec<u8> {
        let Shape { traits, log2 } = self.slices.shape;
        let (eights, _) = self.slices.rows.as_chunks::<8>();
        let bit = |row: &u64| u8::from(row >> self.position & 1 != 0);
        let byte = |rows: &[u64; 8]| rows.iter().rev().fold(0, |byte, row| byte << 1 | bit(row));
        [traits.byte(), log2].into_iter().chain(eights.iter().map(byte)).collect()
    }
}

#[cfg(test)]
mod tests;
