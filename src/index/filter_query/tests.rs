//! Questions asked of filters.

use std::collections::BTreeMap;
use std::sync::Arc;

use regex_syntax::ParserBuilder;

use super::*;
use crate::index::bit_slices::{FILTERS, Shape};
use crate::index::bloom::{BitsPerByte, BloomBuilder};
use crate::walk::MemoryBudget;

fn parsed(pattern: &str, multiline: bool) -> Option<FilterQuery> {
    let hir = ParserBuilder::new().utf8(false).multi_line(true).build().parse(pattern).unwrap();
    FilterQuery::of(&hir, multiline)
}

fn filter_query(pattern: &str, multiline: bool) -> FilterQuery {
    parsed(pattern, multiline).unwrap()
}

fn compiled(pattern: &str, text: &str) -> bool {
    let filter = BloomBuilder::new(BitsPerByte::default()).build(text.as_bytes());
    let filter_query = filter_query(pattern, false);
    let may = filter_query.may_match(&filter);
    may
}

/// A small generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn word(&mut self) -> String {
        const LETTERS: &[u8; 32] = b"aaabcddeeeefghiiiklmnnooprrssttu";
        let letters = (0..3 + self.below(6)).map(|_| char::from(LETTERS[self.below(32)]));
        letters.collect()
    }

    /// A pattern of one of several kinds.
    fn pattern(&mut self, [one, two, three]: [&str; 3]) -> String {
        match self.below(7) {
            0 => format!("{one}|{two}|{three}"),
            1 => format!("(?i){one}_"),
            2 => format!("(?:{one}|{two})_(?:{two}|{three})"),
            3 => format!("{one}.*(?:{two}|{three})"),
            4 => format!("{one}\\p{{Greek}}"),
            5 => format!("(?i)sk|{one}"),
            _ => one.to_owned(),
        }
    }

    /// Lines of names that are made of some of the words.
    fn source(&mut self, words: &[String], lines: usize) -> String {
        let first = self.below(words.len() - 200);
        let mut name = || {
            let [one, other] = [(); 2].map(|()| &words[first + self.below(200)]);
            format!("{one}_{other}")
        };
        let lines: Vec<String> =
            (0..lines).map(|_| format!("\t{} = {}({});\n", name(), name(), name())).collect();
        lines.concat()
    }
}

fn words(random: &mut Random) -> Vec<String> {
    (0..2000).map(|_| random.word()).collect()
}

#[test]
fn a_filter_answers_as_its_text_does() {
    let text = "static int foo_probe(struct device *dev)\n{\n\treturn 0;\n}\n";
    for pattern in ["foo_probe", "(?i)FOO_P", "static.*probe", "retur|zzzzz", "(?:dev|xyz)\\)"] {
        assert!(compiled(pattern, text), "{pattern}");
    }
    for pattern in
        ["foo_remove", "(?i)BAR_PROBE", "probe.*void_x", "zebra_stripes|quagmires", "[a&&b]"]
    {
        assert!(!compiled(pattern, text), "{pattern}");
    }
    assert!(!compiled("abc", ""));
    assert!(!compiled("abcdefgh", "abcd\nefgh"));
}

#[test]
fn texts_with_characters_that_fold_to_ascii_are_left_to_the_search() {
    assert!(compiled("(?i)mask", "ma\u{17f}k"));
    assert!(compiled("(?i)mask", "mas\u{212a}"));
    assert!(!compiled("mask", "ma\u{17f}k"));
    assert!(!compiled("(?i)none", "ma\u{17f}k"));
}

#[test]
fn a_pattern_that_needs_more_than_ascii_excludes_ascii_texts() {
    let patterns = [
        "\\p{Greek}",
        "é",
        "[α-ω]+x",
        "(?:é|\\p{Greek}x)?ü",
        "(?i)é",
        "\\bé",
        "(é){2,}",
        "(?-u:\\xff)",
        "(?-u)[\\x80-\\xff]",
    ];
    for pattern in patterns {
        assert!(!compiled(pattern, "plain text, of ASCII\n"), "{pattern}");
        assert!(!compiled(pattern, ""), "{pattern}");
    }
    for (pattern, text) in [("\\p{Greek}", "λ"), ("é", "é"), ("[α-ω]+x", "λx"), ("(?i)é", "É")]
    {
        assert!(compiled(pattern, &format!("some text\n{text}\n")), "{pattern}");
    }
    // Nothing is asked for where ASCII will do.
    for pattern in ["é?", "é*", "é|a", "[éa]", "(?i)k", "(?i)\u{17f}", "\\w", "(?-u:[\\x7f-\\xff])"]
    {
        assert!(parsed(pattern, false).is_none(), "{pattern}");
    }
}

#[test]
fn a_word_excludes_texts_that_have_it_in_longer_words_only() {
    let mut random = Random(5);
    let words = words(&mut random);
    let (mut excluded, mut all) = (0, 0);
    for word in ["lock", "probe", "mutex", "data_1", "handle", "k2_x"] {
        let others = random.source(&words, 100);
        let text = format!("un{word}ed = 0;\n9{word}9(_{word})\nun{word}\n{others}");
        for (start, end) in [("\\b", "\\b"), ("\\<", "\\>"), ("^", "$"), ("(?-u:\\b)", "(?-u:\\b)")]
        {
            all += 1;
            excluded += usize::from(!compiled(&format!("{start}{word}{end}"), &text));
        }
    }
    // Some bits are there by chance.
    assert!(excluded * 4 >= all * 3, "{excluded} of {all}");
    let texts = ["lock", "a\nlock\r\nb", "\nlock\n", "(Lock)", "un-lock", "“lock”", "élock é"];
    for text in texts {
        assert!(compiled(r"(?i)\block\b|\wlock\b", text), "{text}");
        assert!(compiled(r"(?-u:\b)lock(?-u:\b)", text), "{text}");
    }
    for text in ["if", "if x", "diff\nif", "a\n\nif\r\n", "\tif(", "“if”"] {
        assert!(compiled(r"\bif\b", text), "{text}");
    }
}

#[test]
fn a_match_over_several_lines_may_lie_in_several_blocks() {
    let mut random = Random(7);
    let words = words(&mut random);
    let between = random.source(&words, 4000);
    let text = format!("the_first_half\n{between}the_second_half\n");
    let filter = BloomBuilder::new(BitsPerByte::default()).build(text.as_bytes());
    let pattern = "the_first_half(?s:.)*the_second_half";
    assert!(filter_query(pattern, true).may_match(&filter));
    assert!(!filter_query(pattern, false).may_match(&filter));
    assert!(!filter_query("the_first_half\\n+zebra_stripes", true).may_match(&filter));
}

#[test]
fn few_files_are_opened_in_vain() {
    let mut random = Random(11);
    let words = words(&mut random);
    for (bits_per_byte, most_percent) in [(3, 10), (5, 2), (7, 1)] {
        let mut builder = BloomBuilder::new(BitsPerByte::percent(bits_per_byte));
        let (mut compiled, mut vain, mut text_bytes, mut filter_bytes) = (0, 0, 0, 0);
        let texts: Vec<String> =
            (0..80_usize).map(|file| random.source(&words, 20 + file * 9)).collect();
        let filters: Vec<_> = texts.iter().map(|text| builder.build(text.as_bytes())).collect();
        for _ in 0..200 {
            let [one, other] = [(); 2].map(|()| &words[random.below(words.len())]);
            let word = format!("{one}_{other}");
            let filter_query = filter_query(&word, false);
            for (text, filter) in texts.iter().zip(&filters) {
                let (may, does) = (filter_query.may_match(filter), text.contains(&word));
                assert!(may || !does, "{word}");
                compiled += usize::from(!does);
                vain += usize::from(may && !does);
            }
        }
        for (text, filter) in texts.iter().zip(&filters) {
            text_bytes += text.len();
            filter_bytes += filter.len();
        }
        assert!(vain * 100 <= compiled * most_percent, "{bits_per_byte}: {vain} of {compiled}");
        // Small files of words made by chance take about twice of what source code does.
        let most_bytes = text_bytes * usize::from(bits_per_byte) * 2 / 100;
        assert!(filter_bytes <= most_bytes, "{bits_per_byte}: {filter_bytes} for {text_bytes}");
    }
}

#[test]
fn a_bundle_answers_for_each_filter_as_it_would_by_itself() {
    let mut random = Random(13);
    let words = words(&mut random);
    let mut builder = BloomBuilder::new(BitsPerByte::default());
    let (mut sliced, mut some) = (0, 0);
    for tail in ["plain", "λ", "ma\u{17f}k"] {
        let mut by_shape: BTreeMap<Shape, Vec<Arc<[u8]>>> = BTreeMap::new();
        for _ in 0..300 {
            let text = random.source(&words, 6) + tail;
            let filter = builder.build(text.as_bytes());
            by_shape.entry(Shape::of(&filter).unwrap()).or_default().push(filter);
        }
        for (shape, filters) in by_shape.iter().filter(|(_, filters)| filters.len() >= FILTERS) {
            let taken = MemoryBudget::new(1 << 30).reserve(shape.bytes(), 0).unwrap();
            let these = filters.iter().map(|filter| &**filter);
            let planes = BitSlices::new((0, taken), *shape, these);
            sliced += 1;
            for _ in 0..100 {
                let [one, two, three] = [(); 3].map(|()| &words[random.below(words.len())]);
                let pattern = random.pattern([one, two, three]);
                let Some(filter_query) = parsed(&pattern, false) else { continue };
                let by_itself = |(at, filter): (usize, &Arc<[u8]>)| {
                    u64::from(filter_query.may_match(filter)) << at
                };
                let answers = filters.iter().take(FILTERS).enumerate().map(by_itself);
                let answers = answers.fold(0, |all, answer| all | answer);
                assert_eq!(filter_query.may_match_in(&planes), answers, "{pattern}");
                some += usize::from(answers != 0 && answers != u64::MAX);
            }
        }
    }
    assert!(sliced >= 3 && some > 50, "{sliced} bundles, {some} patterns that tell them apart");
}

#[test]
fn damaged_and_foreign_filters_are_answered() {
    let mut random = Random(3);
    let words = words(&mut random);
    let text = random.source(&words, 5000);
    let filter = BloomBuilder::new(BitsPerByte::default()).build(text.as_bytes());
    let questions: Vec<FilterQuery> = [("get_lock_dev", false), ("zzzzz|qqqqq\\n", true)]
        .map(|(pattern, multiline)| filter_query(pattern, multiline))
        .into();
    for filter_query in &questions {
        for end in (0..filter.len()).step_by(7) {
            // The end of a block is no damage; anything else leaves the answer to the search.
            filter_query.may_match(&filter[..end]);
        }
        assert!(filter_query.may_match(&[]));
        for log2 in [0, 1, 2, 25, 31, 32, 63, 64, 255] {
            assert!(filter_query.may_match(&[1, log2, 0, 0]), "{log2}");
        }
        assert!(filter_query.may_match(&[1, 24, 0]));
        assert!(filter_query.may_match(&[0xff, 3, 0]));
        for _ in 0..2000 {
            let bytes = 1 + random.below(64);
            let noise: Vec<u8> =
                (0..bytes).filter_map(|_| random.below(256).try_into().ok()).collect();
            filter_query.may_match(&noise);
        }
    }
}
