//! Filters by themselves.

use super::*;

fn build(bits_per_byte: u8, text: &[u8]) -> Arc<[u8]> {
    BloomBuilder::new(BitsPerByte::percent(bits_per_byte)).build(text)
}

fn blocks(filter: &[u8]) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = &filter[1..];
    while !rest.is_empty() {
        let (block, after) = Block::split(rest).unwrap();
        blocks.push(block);
        rest = after;
    }
    blocks
}

#[test]
fn every_gram_of_every_line_is_in_one_block_at_any_density() {
    let long_line = "0123456789 Zaphod".repeat(9000);
    let texts = [
        "abc".to_owned(),
        "ab\ncde\n\nfghij\r\n".to_owned(),
        "one two three\n".repeat(20_000),
        format!("short\n{long_line}\nshort again\n{long_line}"),
        (0..9000)
            .flat_map(|line| ["line ".to_owned(), line.to_string(), "\n".to_owned()])
            .collect(),
    ];
    for bits_per_byte in [3, 5, 8] {
        for text in &texts {
            let filter = build(bits_per_byte, text.as_bytes());
            let blocks = blocks(&filter);
            let with_long = FilterTraits::read(filter[0]).unwrap().has_long();
            assert_eq!(with_long, bits_per_byte >= LONG_DENSITY);
            for line in text.to_ascii_lowercase().lines() {
                let (short, long) = grams::of_text(line.as_bytes());
                let all_in = |block: &Block| {
                    short.iter().all(|gram| block.has(*gram))
                        && (!with_long || long.iter().all(|gram| block.has(*gram)))
                };
                assert!(blocks.iter().any(all_in), "{bits_per_byte}");
            }
        }
    }
}

#[test]
fn a_text_is_cut_at_line_ends_only() {
    let line = "x".repeat(99) + "\n";
    assert_eq!(blocks(&build(7, line.repeat(700).as_bytes())).len(), 2);
    assert_eq!(blocks(&build(7, "x".repeat(5 * BLOCK).as_bytes())).len(), 1);
    assert_eq!(blocks(&build(7, &[])).len(), 0);
    assert_eq!(block_end("x".repeat(BLOCK).as_bytes()), BLOCK);
    let long = "x".repeat(BLOCK) + "\nabc";
    assert_eq!(block_end(long.as_bytes()), BLOCK + 1);
    assert_eq!(block_end(format!("abc\n{long}").as_bytes()), 4);
    assert_eq!(block_end(format!("{long}\n{long}").as_bytes()), BLOCK + 1);
}

#[test]
fn the_characters_that_fold_to_ascii_are_noted() {
    let cases = [("s k S K", false), ("ſ", true), ("\u{212a}", true), ("é\u{2122}\u{17e}", false)];
    for (text, expected) in cases {
        let filter = build(7, text.as_bytes());
        assert_eq!(FilterTraits::read(filter[0]).unwrap().has_folding(), expected, "{text}");
    }
}

#[test]
fn a_set_is_as_small_as_its_fill_allows_and_bounded_when_nothing_repeats() {
    let same = build(7, "the same line again\n".repeat(3000).as_bytes());
    assert!(same.len() < 40, "{}", same.len());
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 56) as u8
    })
    .take(1_000_000)
    .collect();
    for bits_per_byte in 3..=8 {
        for bytes in [20_000, 60_000, 1_000_000] {
            let filter = build(bits_per_byte, &noise[..bytes]);
            let most =
                (bytes + bytes.div_ceil(BLOCK) * SMALL) * 2 * usize::from(bits_per_byte) / 100;
            assert!(filter.len() <= most + 8, "{bits_per_byte} {bytes} {}", filter.len());
        }
    }
}

#[test]
fn halving_keeps_what_was_set() {
    for log2 in [WORD_LOG2, 9, 14] {
        let mut bits = vec![0; 1 << (log2 - WORD_LOG2)];
        let hashes = [0, 5, 77, 4097, 0x00ab_cdef, 0x00ff_ffff];
        for hash in hashes {
            set(&mut bits, hash);
        }
        let small = shrink(&mut bits, log2, 100);
        assert_eq!(small, MIN_LOG2);
        for hash in hashes {
            assert_ne!(bits[0] >> (hash & ((1 << small) - 1)) & 1, 0, "{hash}");
        }
    }
}
