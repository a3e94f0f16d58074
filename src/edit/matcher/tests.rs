use super::*;
use crate::edit::MatchKind;
use crate::edit::properties::Dice;
use crate::test_rng::rounds;

fn found(file: &str, old: &str) -> Vec<IndentedMatch> {
    let call = Call::default();
    let fold =
        |text: &str| Normalized::new(text.as_bytes(), MatchKind::Typography, false, &call).unwrap();
    let (file, old) = (fold(file), fold(old));
    let relative = RelativeIndentText::new(&file.text, &call).unwrap();
    let block = IndentedSearch { file: &file, relative: &relative, old: &old, with_same: false };
    block.find(usize::MAX, false, &call).unwrap().0
}

/// Tries every shift of the block at every line, by plain comparison.
fn model(file: &str, old: &str) -> Vec<IndentedMatch> {
    let mut hits = Vec::new();
    let mut start = 0;
    for line in file.split_inclusive('\n') {
        let rest = &file[start..];
        for blanks in ["\t", " ", "  ", "   ", "    ", " \t", "\t "] {
            for shift in [IndentShift::Deeper(blanks.into()), IndentShift::Shallower(blanks.into())]
            {
                let Some(block) = shift.apply(old).filter(|block| block != old) else { continue };
                let after = rest.strip_prefix(block.as_str());
                let ends =
                    |rest: &str| block.ends_with('\n') || rest.is_empty() || rest.starts_with('\n');
                if after.is_some_and(ends) {
                    hits.push((start..start + block.len(), shift));
                }
            }
        }
        start += line.len();
    }
    hits
}

#[test]
fn lines_are_found_exactly_where_one_shift_makes_them_equal() {
    let lines =
        ["a\n", " a\n", "  a\n", "\ta\n", " \ta\n", "\n", "\u{b}\n", " b\n", "b\n", "a b\n"];
    let mut count = 0_u64;
    for seed in 0..6000 * rounds(1) {
        let mut dice = Dice::new(seed);
        let (mut file, mut old) = (dice.text(&lines, 12), dice.text(&lines, 3));
        for text in [&mut file, &mut old] {
            if dice.below(3) == 0 {
                text.pop();
            }
        }
        let expected = model(&file, &old);
        count += expected.len() as u64;
        assert_eq!(found(&file, &old), expected, "seed {seed}: {file:?} {old:?}");
    }
    assert!(count > 1000 * rounds(1), "{count}");
}

#[test]
fn lines_that_alternate_or_repeat_are_compared_once() {
    let (many, few) = (60_000, 30_000);
    let cases = [
        ("  x\n x\n".repeat(many), "x\n".repeat(few) + "y\n"),
        (" x\n".repeat(many), "x\n".repeat(few) + "y"),
        (" x\n".repeat(many), "  x\n".repeat(few) + "  y"),
        ("\n".repeat(many) + &" x\n".repeat(many), "\n".repeat(many - 1) + "x\nx\ny"),
        ("\n".repeat(many) + &" x\n".repeat(many), "\n".repeat(many - 1) + "x\n"),
        ("x\n".repeat(many), "x\n".repeat(few)),
        (" aaaa".repeat(many) + "\n", "aaaa aaaa".repeat(few)),
    ];
    for (file, old) in cases {
        let started = std::time::Instant::now();
        let hits = found(&file, &old);
        assert!(hits.len() <= 2, "{} places of {:?}", hits.len(), &old[..8]);
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }
}

/// Found by comparison at every offset.
fn places(needle: &[u8], text: &[u8]) -> Vec<usize> {
    (0..text.len()).filter(|&at| text[at..].starts_with(needle)).collect()
}

#[test]
fn every_place_is_found_whatever_overlaps() {
    for seed in 0..20_000 {
        let mut dice = Dice::new(seed);
        // Powers of a few short words, so that all kinds of periods occur together.
        let words = ["a", "ab", "aab", "aaab", "abaab", "b"];
        let mut text = String::new();
        for _ in 0..dice.below(5) {
            text.push_str(&words[dice.below(6)].repeat(dice.below(8)));
        }
        let mut needle = words[dice.below(6)].repeat(1 + dice.below(4));
        needle.push_str(&dice.text(&words, 2));
        let (needle, text) = (needle.as_bytes(), text.as_bytes());
        let context = format!("seed {seed}");
        let call = Call::default();
        let mut occurrences = Occurrences::new(needle, text, &call);
        let found: Vec<usize> = std::iter::from_fn(|| occurrences.find_next().unwrap()).collect();
        assert_eq!(found, places(needle, text), "{context}");
        // Sometimes skips ahead after some of them.
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
        let mut occurrences = Occurrences::new(needle, text, &call);
        while let Some(at) = occurrences.find_next().unwrap() {
            found.push(at);
            if at % 3 == 0 {
                occurrences.skip_to(at + 1 + at % 5);
            }
        }
        assert_eq!(found, expected, "{context}");
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
            let call = Call::default();
            let mut occurrences = Occurrences::new(needle, text.as_bytes(), &call);
            let count = std::iter::from_fn(|| occurrences.find_next().unwrap()).count();
            assert!(count > 0);
            let max = 5 * (text.len() + len);
            assert!(occurrences.work <= max, "{} of {max}, {len}", occurrences.work);
        }
    }
}
