use crate::context::Call;
use crate::edit::hint::nearest;

fn advice(text: &str, old: &str) -> String {
    let near = nearest(text.as_bytes(), old, &Call::default()).unwrap();
    near.map_or_else(String::new, |near| near.advice(false, 1500))
}

#[test]
fn a_short_line_that_differs_in_one_thing_is_shown_with_it() {
    let text = "one\n    foo(a, b);\ncall(\"x\\ty\", Bar)\n<b>\nx &lt; y\n";
    let cases = [
        (
            "foo(a,b)",
            "   2 |     foo(a, b);\n```\nLine 2 differs only in blanks: the file has `foo(a,·b)`, \
             old_text has `foo(a,b)`.",
        ),
        (
            "foo( a, b )",
            "   2 |     foo(a, b);\n```\nLine 2 differs only in blanks: the file has `foo(a,·b)`, \
             old_text has `foo(·a,·b·)`.",
        ),
        (
            "FOO(a, b)",
            "   2 |     foo(a, b);\n```\nLine 2 differs only in case: the file has `foo(a, b)`, \
             old_text has `FOO(a, b)`.",
        ),
        (
            "Foo(a,b)",
            "   2 |     foo(a, b);\n```\nLine 2 differs only in blanks and case: the file has \
             `foo(a,·b)`, old_text has `Foo(a,b)`.",
        ),
        (
            "&lt;b&gt;",
            "   4 | <b>\n```\nLine 4 is like it, but old_text has HTML entities where the file has \
             the characters.",
        ),
        (
            "x < y",
            "   5 | x &lt; y\n```\nLine 5 is like it, but the file has HTML entities where old_text \
             has the characters.",
        ),
        (
            "call(\\\"x\\\\ty\\\"",
            "   3 | call(\"x\\ty\", Bar)\n```\nLine 3 is like it, but old_text has escapes where the \
             file has the characters.",
        ),
        (
            "one\\n    foo(a",
            "   1 | one\n```\nLine 1 is like it, but old_text has escapes where the file has the \
             characters.",
        ),
    ];
    for (old, expected) in cases {
        assert_eq!(advice(text, old), format!("Did you mean:\n```\n{expected}"), "{old:?}");
    }
    let text = "say \\\"hi\\\"\nprint(\"a\\nb\")\n";
    assert!(advice(text, "say \"hi\"").contains("the file has escapes"));
    assert!(advice(text, "print(\"a\nb\")").contains("the file has `\\n` where"));
}

#[test]
fn lines_that_look_alike_are_told_by_their_code_points() {
    let near = nearest(
        "let drink = caf\u{e9}1\n".as_bytes(),
        "let drink = cafe\u{301}1",
        &Call::default(),
    );
    let advice = near.unwrap().unwrap().advice(true, 1500);
    let expected = "Line 1 differs: the file has `let drink = caf\u{e9}1` (U+00E9), old_text has `let drink = \
                    cafe\u{301}1` (U+0065 U+0301).";
    assert!(advice.ends_with(expected), "{advice}");
    let near = nearest(b"let drink = caf\xe91\n", "let drink = caf\u{FFFD}1", &Call::default());
    let advice = near.unwrap().unwrap().advice(true, 1500);
    let expected = "Line 1 differs: the file has `let drink = caf\u{FFFD}1` (byte E9), old_text has `let \
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
        let advice = advice(text, old);
        assert!(
            advice.starts_with("Did you mean:\n```\n   2 | fn start() {\n"),
            "{old:?}: {advice}"
        );
    }
}

#[test]
fn a_long_file_without_such_a_line_is_searched_once() {
    let text = "let value = compute(one, two);\n".repeat(1 << 20);
    let started = std::time::Instant::now();
    advice(&text, "zz(q,w)");
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
