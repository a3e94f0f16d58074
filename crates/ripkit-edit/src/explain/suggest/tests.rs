use super::*;
use crate::Options;

fn first(text: &str, old: &str) -> Option<usize> {
    match suggest(text.as_bytes(), old, TextSource::Arguments, Stop::never()).unwrap()? {
        Suggestion::Lines(lines) => (1..1000).find(|line| lines.overlaps(&(*line..line + 1))),
        Suggestion::Variant(_) => None,
    }
}

#[test]
fn the_nearest_lines_win_over_the_first_that_contain_a_line() {
    let text = "fn a() {\n    one();\n}\n\nfn a() {\n    two(x);\n    three();\n}\n";
    assert_eq!(first(text, "fn a() {\n    two(y);\n    three();\n}\n"), Some(5));
    assert_eq!(first(text, "    tow(x);\n    three();"), Some(6));
}

#[test]
fn the_first_line_within_a_line_is_enough() {
    let text = "alpha\npub fn start(now: u64) {\n    body\n}\n";
    assert_eq!(first(text, "fn start(\nnothing of this is there, whatever one says\n"), Some(2));
    assert_eq!(
        first(text, "\n\nfn start(\nnothing of this is there, whatever one says\n"),
        Some(1)
    );
}

#[test]
fn what_is_like_nothing_has_no_hint() {
    for old in ["zebra crossing", "{", "\n\n", "  ", "}"] {
        assert_eq!(first("fn main() {\n    call();\n}\n", old), None, "{old:?}");
    }
    assert_eq!(first("", "anything at all"), None);
}

#[test]
fn a_typing_error_in_every_line_does_not_hide_the_place() {
    let text = format!(
        "{}struct Widget {{\n    width: u32,\n    height: u32,\n}}\n",
        "x = 1\n".repeat(500)
    );
    assert_eq!(first(&text, "struct Widgte {\n    widht: u32,\n    heigth: u32,\n}\n"), Some(501));
}

#[test]
fn the_line_that_differs_is_shown_when_not_all_fit() {
    let lines: Vec<String> =
        (1..=100).map(|number| format!("some line of text, number {number}\n")).collect();
    let text = lines.concat();
    let old = text.replace("number 90\n", "number ninety\n");
    let near =
        suggest(text.as_bytes(), &old, TextSource::Arguments, Stop::never()).unwrap().unwrap();
    let advice = near.message(false, 1500);
    assert!(advice.len() <= 1500, "{}", advice.len());
    assert!(advice.contains("  90 | some line of text, number 90\n"), "{advice}");
    assert!(advice.contains("Line 90 differs: the file has `some line of text, number 90`"));
}

#[test]
fn the_end_of_the_file_is_reported() {
    let near = suggest(
        b"first line\nlast line\n",
        "last line\none more line\n",
        TextSource::Arguments,
        Stop::never(),
    );
    let advice = near.unwrap().unwrap().message(false, 1500);
    assert!(advice.ends_with("The file ends at line 2, the old text goes on."), "{advice}");
}

#[test]
fn a_text_that_begins_or_ends_within_a_line_differs_where_it_does() {
    let file = b"fn a(one: u8,\n     two: u8) {\n    three(one);\n    four(two); // 4\n}\n";
    let cases = [
        ("two: u8) {\n    thre(one);\n    four(two);", TextSource::Arguments, 3),
        ("u8) {\n    three(one);\n    for(two);", TextSource::Arguments, 4),
        // The line feed says that the line ends there.
        ("u8) {\n    three(one);\n    four(two);\n", TextSource::Arguments, 4),
        ("tow: u8) {\n    three(one);\n    for(two);", TextSource::Arguments, 2),
        // A hunk has whole lines.
        ("two: u8) {\n    thre(one);\n    four(two);", TextSource::Hunk, 2),
    ];
    for (old, source, line) in cases {
        let near = suggest(file, old, source, Stop::never()).unwrap().unwrap();
        let advice = near.message(false, 1500);
        assert!(advice.contains(&format!("\nLine {line} differs: ")), "{old:?}: {advice}");
    }
}

#[test]
fn a_cancelled_call_stops() {
    let stop = Options::new("f").with_stop(&|| true).stop();
    assert!(suggest(b"some words here", "some other words", TextSource::Arguments, stop).is_err());
}

#[test]
fn signs_without_end_are_compared_in_part() {
    let line = |signs: &str| signs.repeat(800) + "abc\n";
    let (file, old) = (line("#$%&").repeat(300), line("%$#!").repeat(200));
    let started = std::time::Instant::now();
    assert!(suggest(file.as_bytes(), &old, TextSource::Arguments, Stop::never()).is_ok());
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

mod variant {
    use crate::explain::suggest::suggest;
    use crate::options::{Stop, TextSource};

    fn message(text: &str, old: &str) -> String {
        let near = suggest(text.as_bytes(), old, TextSource::Arguments, Stop::never()).unwrap();
        near.map_or_else(String::new, |near| near.message(false, 1500))
    }

    #[test]
    fn a_text_with_escapes_or_entities_is_shown_without() {
        let text = "one\n    foo(a, b);\ncall(\"x\\ty\", Bar)\n<b>\nx &lt; y\n";
        let cases = [
            (
                "&lt;b&gt;",
                "   4 | <b>\n```\nLine 4 is like it, but the old text has HTML entities where the file has \
                 the characters.",
            ),
            (
                "call(\\\"x\\\\ty\\\"",
                "   3 | call(\"x\\ty\", Bar)\n```\nLine 3 is like it, but the old text has escapes where the \
                 file has the characters.",
            ),
            (
                "one\\n    foo(a",
                "   1 | one\n```\nLine 1 is like it, but the old text has escapes where the file has the \
                 characters.",
            ),
        ];
        for (old, expected) in cases {
            assert_eq!(message(text, old), format!("Did you mean:\n```\n{expected}"), "{old:?}");
        }
    }

    #[test]
    fn confusable_lines_are_distinguished_by_their_code_points() {
        let near = suggest(
            "let drink = caf\u{e9}1\n".as_bytes(),
            "let drink = cafe\u{301}1",
            TextSource::Arguments,
            Stop::never(),
        );
        let advice = near.unwrap().unwrap().message(true, 1500);
        let expected = "Line 1 differs: the file has `let drink = caf\u{e9}1` (U+00E9), the old text has `let drink = \
                        cafe\u{301}1` (U+0065 U+0301).";
        assert!(advice.ends_with(expected), "{advice}");
        let near = suggest(
            b"let drink = caf\xe91\n",
            "let drink = caf\u{FFFD}1",
            TextSource::Arguments,
            Stop::never(),
        );
        let advice = near.unwrap().unwrap().message(true, 1500);
        let expected = "Line 1 differs: the file has `let drink = caf\u{FFFD}1` (byte E9), the old text has `let \
                        drink = caf\u{FFFD}1` (U+FFFD).";
        assert!(advice.ends_with(expected), "{advice}");
    }

    #[test]
    fn dots_for_left_out_lines_do_not_move_the_place() {
        let text = "a()\nfn start() {\n    one();\n    two();\n    three();\n}\n";
        for old in [
            "...\nfn start() {\n    one(x);\n",
            "    ...\nfn start() {\n    one(x);\n    ...\n",
            "// ...\nfn start() {\n    ...\n    three();\n}\n",
            "fn start() {\n    ...\n    three(x);\n}\n",
            "fn start() {\n...\n}\n",
        ] {
            let advice = message(text, old);
            assert!(
                advice.starts_with("Did you mean:\n```\n   2 | fn start() {\n"),
                "{old:?}: {advice}"
            );
        }
    }

    #[test]
    fn a_long_file_without_such_a_line_is_searched_once() {
        let text = "let value = compute(one, two);\n".repeat(1 << 18);
        let started = std::time::Instant::now();
        message(&text, "zz(q,w)");
        assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
    }
}

#[test]
fn signs_are_those_of_a_diff_only_if_both_texts_or_whole_lines_have_them() {
    let text = "* foo\nbar\r\nbar\n";
    let signed = |old: &str, new: &str| signed(text.as_bytes(), &Replacement::new(old, new));
    let both = "Both texts have signs before their lines, as a diff has: give them without.";
    let one = "The old text has signs before its lines, as a diff has: give it without.";
    // (old text, new text, the number of the line and the sentence)
    let table = [
        ("- foo", "+ bar", Some((1, both))),
        ("-bar\n", "+baz\n", Some((2, both))),
        ("-bar\n", "", Some((2, one))),
        ("-bar\n", "\n", Some((2, one))),
        (" bar\n", " bar\n+baz\n", Some((2, both))),
        // An item of a list.
        ("- foo", "", None),
        ("- foo", "  foo", None),
        ("-bar", " * bar", None),
        (" bar", "+ bar", None),
        ("-ba", "", None),
        ("-ar", "", None),
        (" bar", "", None),
    ];
    for (old, new, expected) in table {
        let said = signed(old, new);
        let wanted = expected.map(|(number, sentence)| {
            let line = if number == 1 { "* foo" } else { "bar" };
            format!("Did you mean:\n```\n   {number} | {line}\n```\n{sentence}")
        });
        assert_eq!(said, wanted, "{old:?} {new:?}");
    }
}
