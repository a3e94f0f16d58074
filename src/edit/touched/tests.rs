use super::*;
use crate::context::Call;
use crate::edit::{Edited, Matching, Options, Replacement, apply};

fn edit(content: &str, changes: &[(&str, &str)], replace_all: bool) -> Edited {
    let changes = changes
        .iter()
        .map(|(old, new)| Replacement { old_text: (*old).to_owned(), new_text: (*new).to_owned() });
    let changes: Vec<Replacement> = changes.collect();
    let options = Options { matching: Matching::Safe, replace_all, max_bytes: usize::MAX };
    apply("f", content.as_bytes(), &changes, &options, &Call::default()).unwrap()
}

fn touched(content: &str, old: &str, new: &str) -> (usize, usize) {
    let lines = edit(content, &[(old, new)], true).lines;
    (lines.old, lines.new)
}

#[test]
fn lines_are_counted_as_they_stand_in_the_file() {
    let cases = [
        // Whole lines, with and without the last newline.
        ("a\nb\nc\n", "a\nb", "1\n2\n3", (2, 3)),
        ("a\nb\nc\n", "a\nb\n", "1\n2\n3\n", (2, 3)),
        ("a\nb\nc", "b\nc", "x", (2, 1)),
        ("one\ntwo\n", "two\n", "", (1, 0)),
        ("one\ntwo", "one\ntwo", "", (2, 0)),
        ("a\nb", "b", "c\n", (1, 1)),
        ("a\nb\n", "b\n", "c", (1, 1)),
        // A part of a line: what stays of it is a line.
        ("one\ntwo\n", "two", "", (1, 1)),
        ("one two\n", "two", "", (1, 1)),
        ("one two three\n", " two", "\n", (1, 2)),
        ("b\nc\n", "b", "x\ny\n", (1, 2)),
        ("b c\n", "b", "x\n", (1, 2)),
        // Lines that are joined.
        ("a\nb\n", "\n", " ", (2, 1)),
        ("two\nthree\nfour\n", "wo\n", "", (2, 1)),
        ("a\nb\nc\n", "b\nc", "x", (2, 1)),
        // Several places on a line are one line, next to each other or not.
        ("a a a\nb\na\n", "a", "x", (2, 2)),
        ("aaa\n", "a", "", (1, 1)),
        ("aaa\n", "a", "b\n", (1, 3)),
        ("a\na\na\nb\n", "a\n", "", (3, 0)),
        ("a\r\nb\r\n", "a\nb", "a\nx\nb", (2, 3)),
        ("a \nb\n", "a\nb\n", "a\nc\n", (2, 2)),
    ];
    for (content, old, new, expected) in cases {
        assert_eq!(touched(content, old, new), expected, "{content:?} {old:?} {new:?}");
    }
}

#[test]
fn edits_that_touch_one_line_count_it_once() {
    let lines = edit("a b c\nd\n", &[("c", "x"), ("a", "y\nz"), ("d\n", "")], false).lines;
    assert_eq!((lines.old, lines.new), (2, 2));
}

#[test]
fn a_long_line_with_many_places_is_gone_through_once() {
    let text = "ab".repeat(8 << 20);
    let places: Vec<Range<usize>> = (0..40_000).map(|at| 2 * at..2 * at + 1).collect();
    let piece = |range: &Range<usize>| Piece {
        place: range.start,
        range: range.clone(),
        text: String::new(),
    };
    let pieces: Vec<Piece> = places.iter().map(piece).collect();
    let started = std::time::Instant::now();
    assert_eq!(count(text.as_bytes(), &places, &pieces), Lines { old: 1, new: 1 });
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
