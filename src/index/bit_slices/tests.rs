//! Filters side by side, and by themselves again.

use super::*;
use crate::index::bloom::{BitsPerByte, BloomBuilder};
use crate::walk::MemoryBudget;

/// A small generator of pseudo-random bytes.
struct Noise(u64);

impl Noise {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 56) as u8
    }

    /// A filter of a single block.
    fn filter(&mut self, log2: u8) -> Vec<u8> {
        [1, log2].into_iter().chain((0..1 << (log2 - 3)).map(|_| self.byte())).collect()
    }
}

fn slices(filters: &[Vec<u8>]) -> Arc<BitSlices> {
    let shape = Shape::of(&filters[0]).unwrap();
    let taken = MemoryBudget::new(1 << 30).reserve(shape.bytes(), 0).unwrap();
    Arc::new(BitSlices::new((0, taken), shape, filters.iter().map(Vec::as_slice)))
}

#[test]
fn every_filter_comes_out_of_a_bundle_as_it_went_in() {
    let mut noise = Noise(7);
    for log2 in 3..13 {
        let filters: Vec<_> = (0..FILTERS).map(|_| noise.filter(log2)).collect();
        let slices = slices(&filters);
        for (position, filter) in filters.iter().enumerate() {
            let column = Column { slices: slices.clone(), position };
            assert_eq!(column.filter(), *filter, "{log2} {position}");
            assert_eq!(column.bytes(), filter.len());
        }
    }
}

#[test]
fn a_row_has_a_bit_for_each_filter_that_has_the_gram() {
    let mut noise = Noise(8);
    for log2 in [3, 6, 11] {
        let filters: Vec<_> = (0..FILTERS).map(|_| noise.filter(log2)).collect();
        let slices = slices(&filters);
        for hash in (0..1 << 24).step_by(4099) {
            let one_by_one = filters.iter().enumerate().fold(0, |row, (position, filter)| {
                let (block, _) = Block::split(&filter[1..]).unwrap();
                row | u64::from(block.has(hash)) << position
            });
            assert_eq!(slices.row(hash), one_by_one, "{log2} {hash}");
        }
    }
}

#[test]
fn only_filters_of_one_block_that_is_not_large_have_a_shape() {
    let mut noise = Noise(9);
    let whole = noise.filter(6);
    assert_eq!(Shape::of(&whole), Some(Shape { traits: FilterTraits::read(1).unwrap(), log2: 6 }));
    assert!(Shape::of(&noise.filter(MOST_LOG2)).is_some());
    let two_blocks = [&whole[..], &whole[1..]].concat();
    let foreign = [&[0xFF], &whole[1..]].concat();
    let large = noise.filter(MOST_LOG2 + 1);
    let of_nothing = BloomBuilder::new(BitsPerByte::default()).build(b"");
    for other in [&two_blocks[..], &whole[..9], &[], &[1], &of_nothing, &foreign, &large] {
        assert_eq!(Shape::of(other), None, "{} bytes", other.len());
    }
}
