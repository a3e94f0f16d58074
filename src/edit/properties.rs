//! Invariants for all files and changes, tested with seeds.

use std::ops::Range;

use crate::context::Call;
use crate::edit::matcher::IndentShift;
use crate::edit::{
    EditOptions, EditedFile, MatchKind, Matching, Replacement, TextSource, apply, diff,
};
use crate::error::ErrorCode;
use crate::test_rng::rounds;

/// A random number generator; a failure names the seed that reproduces it.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) % bound as u64).unwrap()
    }

    pub(super) fn text(&mut self, pieces: &[&str], max: usize) -> String {
        (0..self.below(max + 1)).map(|_| pieces[self.below(pieces.len())]).collect()
    }
}

const PIECES: [&str; 17] = [
    "a", "b", "a", "\n", "\n", "\r\n", " ", "\t", "  ", "“", "\"", "…", "...", "\u{a0}",
    "\u{200b}", "–", "-",
];

/// The only match of `old`, or the number of matches.
fn place(text: &[u8], old: &[u8]) -> Result<Range<usize>, usize> {
    let places: Vec<usize> = (0..text.len()).filter(|&at| text[at..].starts_with(old)).collect();
    match places[..] {
        [at] => Ok(at..at + old.len()),
        _ => Err(places.len()),
    }
}

fn run(content: &[u8], change: Replacement, matching: Matching) -> Result<EditedFile, ErrorCode> {
    let options = EditOptions {
        matching,
        replace_all: false,
        max_bytes: usize::MAX,
        source: TextSource::Arguments,
    };
    let edited = apply("f", content, &[change], &options, &Call::default());
    edited.map_err(|error| {
        let message = error.to_string();
        assert!(message.len() <= crate::error::MAX_MESSAGE_BYTES + 4, "{message}");
        error.code()
    })
}

#[test]
fn an_exact_edit_is_what_the_simplest_model_does() {
    let bytes = [b'a', b'a', b'b', b'\n', b'\r', 0xC3, 0xA9, 0xFF, 0x80];
    for seed in 0..4000 {
        let mut dice = Dice::new(seed);
        let content: Vec<u8> = (0..dice.below(30)).map(|_| bytes[dice.below(9)]).collect();
        let old_text = dice.text(&["a", "b", "\n", "é", "\r\n"], 3);
        let new_text = dice.text(&["a", "x", "\n", "é"], 3);
        let change = Replacement::new(old_text.clone(), new_text.clone());
        let edited = run(&content, change, Matching::Exact).map(|edited| edited.content);
        let expected = match place(&content, old_text.as_bytes()) {
            _ if old_text.is_empty() || old_text == new_text => Err(ErrorCode::InvalidArgument),
            Ok(at) => Ok([&content[..at.start], new_text.as_bytes(), &content[at.end..]].concat()),
            Err(0) => Err(ErrorCode::PatternNotFound),
            Err(_) => Err(ErrorCode::PatternNotUnique),
        };
        assert_eq!(edited, expected, "seed {seed}: {content:?} {old_text:?} {new_text:?}");
    }
}

/// Removes what each kind ignores, except indentation, in the simplest manner.
fn folded(text: &str, kind: MatchKind) -> String {
    let mut text = text.replace("\r\n", "\n");
    if kind >= MatchKind::Typography {
        let pairs = [("“", "\""), ("…", "..."), ("\u{a0}", " "), ("\u{200b}", ""), ("–", "-")];
        for (fancy, plain) in pairs {
            text = text.replace(fancy, plain);
        }
    }
    if kind >= MatchKind::TrailingBlanks {
        let lines = text.split('\n').map(|line| line.trim_end_matches([' ', '\t']));
        text = lines.collect::<Vec<_>>().join("\n");
    }
    text
}

#[test]
fn a_safe_edit_reads_as_the_model_of_its_step_says() {
    let mut applied = [0_u64; 5];
    for seed in 0..6000 * rounds(1) {
        let mut dice = Dice::new(seed);
        let content = dice.text(&PIECES, 16);
        let (old_text, new_text) = (dice.text(&PIECES, 5), dice.text(&PIECES, 5));
        let change = Replacement::new(old_text.clone(), new_text.clone());
        let Ok(edited) = run(content.as_bytes(), change, Matching::Safe) else { continue };
        let kind = edited.match_kinds[0];
        applied[kind as usize] += 1;
        let message = format!("seed {seed}, {kind:?}: {content:?} {old_text:?} {new_text:?}");
        let after = String::from_utf8(edited.content).expect("UTF-8 stays UTF-8");
        if kind == MatchKind::Indentation {
            continue;
        }
        // The same replacement made in the folded text.
        let kind = kind.max(MatchKind::LineEndings);
        let (file, old) = (folded(&content, kind), folded(&old_text, kind));
        assert!(file.contains(&old), "{message}");
        let (start, rest) = (file.find(&old).unwrap(), file.len());
        let places =
            (start..=rest).filter(|&at| file.is_char_boundary(at) && file[at..].starts_with(&old));
        let models: Vec<String> = places
            .map(|at| {
                let replaced = [&file[..at], &new_text, &file[at + old.len()..]].concat();
                folded(&replaced, MatchKind::Typography)
            })
            .collect();
        let read = folded(&after, MatchKind::Typography);
        // The terminator that only one of the texts has is the file's.
        let is_mixed = old_text.ends_with('\n') != new_text.ends_with('\n');
        let squeezed = |text: &str| {
            let text = squeezed(text);
            if is_mixed { text.replace('\n', "") } else { text }
        };
        let is_near = |model: &String| squeezed(model) == squeezed(&read);
        assert!(models.iter().any(is_near), "{message}: {after:?}");
    }
    // Most random texts contain too little evidence about their indentation.
    assert!(
        applied.iter().zip([20, 20, 20, 20, 3]).all(|(count, least)| 5 * count > least * rounds(1)),
        "{applied:?}"
    );
}

/// The position of a dropped blank is not defined.
fn squeezed(text: &str) -> String {
    text.replace([' ', '\t'], "")
}

#[test]
fn bytes_outside_the_splices_stay_and_the_diff_leads_to_the_new_content() {
    let mut applied = 0_u64;
    for seed in 0..4000 * rounds(1) {
        let mut dice = Dice::new(seed);
        let content = dice.text(&PIECES, 40);
        let mut content = content.into_bytes();
        if dice.below(4) == 0 {
            let at = dice.below(content.len() + 1);
            content.insert(at, 0xFF);
        }
        let mut changes = Vec::new();
        for _ in 0..=dice.below(3) {
            let old_text = dice.text(&PIECES, 4);
            changes.push(Replacement::new(old_text, dice.text(&PIECES, 4)));
        }
        let replace_all = dice.below(2) == 0;
        let options = EditOptions {
            matching: Matching::Safe,
            replace_all,
            max_bytes: usize::MAX,
            source: TextSource::Arguments,
        };
        let Ok(edited) = apply("f", &content, &changes, &options, &Call::default()) else {
            continue;
        };
        applied += 1;
        let message = format!("seed {seed}: {:?} {changes:?}", String::from_utf8_lossy(&content));
        let (mut old, mut new) = (0, 0);
        for splice in &edited.splices {
            let (kept, copied) = (&content[old..splice.old.start], new..splice.new.start);
            assert_eq!(*kept, edited.content[copied], "{message}");
            (old, new) = (splice.old.end, splice.new.end);
        }
        assert_eq!(content[old..], edited.content[new..], "{message}");
        let unified =
            diff::unified("f", &content, &edited.content, &edited.splices, usize::MAX).unwrap();
        let compared = diff::compare("f", Some(&content), &edited.content, usize::MAX).unwrap();
        for diff in [unified, compared] {
            let old = String::from_utf8_lossy(&content);
            let patched = diff::tests::patch(&old, &diff);
            assert_eq!(patched, String::from_utf8_lossy(&edited.content), "{message}\n{diff}");
        }
    }
    assert!(applied > 200 * rounds(1), "{applied}");
}

#[test]
fn an_edit_of_shifted_lines_is_the_shifted_edit() {
    let lines = ["a\n", "  b\n", "\tc\n", "\n", "    d“\n", "e\n", "f\n"];
    for seed in 0..4000 {
        let mut dice = Dice::new(seed);
        let blanks = ["  ", "\t", "    ", " \t"][dice.below(4)];
        let shift = IndentShift::Deeper(blanks.to_owned());
        let (head, tail) = (dice.text(&lines, 3), dice.text(&lines, 3));
        let (old, new) = (dice.text(&lines, 5), dice.text(&lines, 5));
        let deep = |text: &str| shift.apply(text).unwrap();
        let content = format!("{head}{}{tail}", deep(&old));
        let change = Replacement::new(old, new.clone());
        let Ok(edited) = run(content.as_bytes(), change, Matching::Safe) else { continue };
        if edited.match_kinds[0] == MatchKind::Indentation {
            let expected = format!("{head}{}{tail}", deep(&new));
            assert_eq!(String::from_utf8(edited.content).unwrap(), expected, "seed {seed}");
        }
    }
}

#[test]
fn periodic_text_is_counted_up_to_a_cap() {
    let content = vec![b'a'; 10 << 20];
    let change = Replacement::new("a".repeat(5 << 20), "b");
    assert_eq!(run(&content, change, Matching::Safe).unwrap_err(), ErrorCode::PatternNotUnique);
    let change = Replacement::new("a", "b");
    let options = EditOptions {
        matching: Matching::Safe,
        replace_all: false,
        max_bytes: usize::MAX,
        source: TextSource::Arguments,
    };
    let error = apply("f", &content, &[change], &options, &Call::default()).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("old_text matches at least 1000 locations. "), "{message}");
}

#[test]
fn places_that_are_all_refused_are_looked_at_once() {
    let (many, few) = (250_000, 25_000);
    let cases = [
        // At a line end only.
        ("a".repeat(many), "a".repeat(few) + " ", 1),
        ("ab".repeat(many), "ab".repeat(few) + " ", 1),
        ("a".repeat(many) + "\n" + &"a".repeat(many), "a".repeat(few) + "\t", 2),
        // Not inside the replacement of one character.
        ("…".repeat(many), ".".repeat(few), 0),
        ("…".repeat(many), "a".to_owned() + &".".repeat(few), 0),
        // Not between the two halves of a line end.
        ("\r\n".repeat(many), "\n".repeat(few) + "\r", 0),
    ];
    for (content, old_text, places) in cases {
        for replace_all in [false, true] {
            let started = std::time::Instant::now();
            let ends = old_text.chars().next().zip(old_text.chars().next_back());
            let change = Replacement::new(old_text.clone(), "x");
            let options = EditOptions {
                matching: Matching::Safe,
                replace_all,
                max_bytes: usize::MAX,
                source: TextSource::Arguments,
            };
            let call = Call::default();
            let edited = apply("f", content.as_bytes(), &[change], &options, &call);
            let code = edited.as_ref().err().map(crate::error::Error::code);
            let expected = match places {
                0 => Some(ErrorCode::PatternNotFound),
                2 if !replace_all => Some(ErrorCode::PatternNotUnique),
                _ => None,
            };
            assert_eq!(code, expected, "{ends:?}");
            assert!(edited.is_err() || edited.is_ok_and(|edited| edited.match_counts == [places]));
            assert!(started.elapsed().as_secs() < 60, "{ends:?}: {:?}", started.elapsed());
        }
    }
}
