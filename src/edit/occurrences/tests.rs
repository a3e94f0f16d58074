use super::*;
use crate::edit::properties::Dice;

/// Found by looking at every place.
fn places(needle: &[u8], text: &[u8]) -> Vec<usize> {
    (0..text.len()).filter(|&at| text[at..].starts_with(needle)).collect()
}

#[test]
fn every_place_is_found_whatever_overlaps() {
    for seed in 0..20_000 {
        let mut dice = Dice::new(seed);
        // Powers of a few short words, so that periods of all kinds meet.
        let words = ["a", "ab", "aab", "aaab", "abaab", "b"];
        let mut text = String::new();
        for _ in 0..dice.below(5) {
            text.push_str(&words[dice.below(6)].repeat(dice.below(8)));
        }
        let mut needle = words[dice.below(6)].repeat(1 + dice.below(4));
        needle.push_str(&dice.text(&words, 2));
        let (needle, text) = (needle.as_bytes(), text.as_bytes());
        let told = format!("seed {seed}");
        let found: Vec<usize> = Occurrences::of(needle, text).collect();
        assert_eq!(found, places(needle, text), "{told}");
        // Some left out after some of them.
        let (mut all, mut found, mut expected, mut from) =
            (places(needle, text), vec![], vec![], 0);
        all.retain(|&at| {
            let is_apart = at >= from;
            if is_apart {
                expected.push(at);
                from = if at % 3 == 0 { at + 1 + at % 5 } else { 0 };
            }
            is_apart
        });
        let mut occurrences = Occurrences::of(needle, text);
        while let Some(at) = occurrences.next() {
            found.push(at);
            if at % 3 == 0 {
                occurrences.skip_to(at + 1 + at % 5);
            }
        }
        assert_eq!(found, expected, "{told}");
    }
}

#[test]
fn the_work_is_linear_however_places_overlap() {
    let near = |word: &str| format!("{}{}", "a".repeat(999), word);
    let texts = [
        "a".repeat(300_000),
        "ab".repeat(150_000),
        near("b").repeat(300),
        format!("{}{}", near("b").repeat(7), near("c")).repeat(40),
        "aab".repeat(100_000),
    ];
    for text in &texts {
        for len in [1, 2, 3, 10, 999, 1000, 1001, 2000, 3500, 100_000, 299_999] {
            let needle = &text.as_bytes()[..len];
            let mut occurrences = Occurrences::of(needle, text.as_bytes());
            let count = occurrences.by_ref().count();
            assert!(count > 0);
            let most = 5 * (text.len() + len);
            assert!(occurrences.work() <= most, "{} of {most}, {len}", occurrences.work());
        }
    }
}
