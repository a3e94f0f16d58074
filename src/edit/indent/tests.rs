use super::*;
use crate::edit::MatchKind;
use crate::edit::properties::Dice;
use crate::edit::undecodable::Wide;

fn found(file: &str, old: &str) -> Vec<Hit> {
    let call = Call::default();
    let fold = |text: &str| {
        Folded::new(text.as_bytes(), MatchKind::Typography, Wide(false), &call).unwrap()
    };
    let (file, old) = (fold(file), fold(old));
    let relative = Relative::of(&file.text, &call).unwrap();
    let block = Block { file: &file, relative: &relative, old: &old, with_same: false };
    block.find(usize::MAX, false, &call).unwrap().0
}

/// Every shift of the block tried at every line, by plain comparison.
fn model(file: &str, old: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut start = 0;
    for line in file.split_inclusive('\n') {
        let rest = &file[start..];
        for blanks in ["\t", " ", "  ", "   ", "    ", " \t", "\t "] {
            for shift in [Shift::Deeper(blanks.into()), Shift::Shallower(blanks.into())] {
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
    let mut count = 0;
    for seed in 0..30_000 {
        let mut dice = Dice::new(seed);
        let (mut file, mut old) = (dice.text(&lines, 12), dice.text(&lines, 3));
        for text in [&mut file, &mut old] {
            if dice.below(3) == 0 {
                text.pop();
            }
        }
        let expected = model(&file, &old);
        count += expected.len();
        assert_eq!(found(&file, &old), expected, "seed {seed}: {file:?} {old:?}");
    }
    assert!(count > 5000, "{count}");
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
