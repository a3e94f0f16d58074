use crate::context::Call;
use crate::edit::{EditOptions, Matching, Replacement, TextSource, apply};
use crate::error::{ErrorCode, MAX_MESSAGE_BYTES};

const SAFE: EditOptions = EditOptions {
    matching: Matching::Safe,
    replace_all: false,
    max_bytes: usize::MAX,
    source: TextSource::Arguments,
};
const EXACT: EditOptions = EditOptions { matching: Matching::Exact, ..SAFE };

fn refused(content: &str, changes: &[(&str, &str)], options: &EditOptions) -> (ErrorCode, String) {
    refused_at("src/a.rs", content, changes, options)
}

fn refused_at(
    path: &str,
    content: &str,
    changes: &[(&str, &str)],
    options: &EditOptions,
) -> (ErrorCode, String) {
    let changes = changes
        .iter()
        .map(|(old, new)| Replacement { old_text: (*old).to_owned(), new_text: (*new).to_owned() });
    let changes: Vec<Replacement> = changes.collect();
    let error = apply(path, content.as_bytes(), &changes, options, &Call::default());
    let error = error.unwrap_err();
    assert_eq!(error.path(), Some(path));
    let message = error.to_string();
    assert!(message.len() <= MAX_MESSAGE_BYTES + 3, "{}", message.len());
    (error.code(), message)
}

#[test]
fn every_refusal_says_what_and_what_next() {
    let cases: [(&str, (&str, &str), &EditOptions, &str); 7] = [
        (
            "a",
            ("", "b"),
            &SAFE,
            "old_text must not be empty. To create a file or replace all of it, use write_file. \
             To insert, include a neighbouring line in both texts.",
        ),
        (
            "a",
            ("a", "a"),
            &SAFE,
            "old_text and new_text are the same. Nothing would change; give in new_text what is \
             to stand there instead.",
        ),
        (
            "a\r\nb\r\n",
            ("a\r\nb", "a\nb"),
            &SAFE,
            "nothing would change in src/a.rs: old_text was found, but it differs from new_text \
             only in what the file already has or in line endings, which stay as the file has \
             them. To change line endings, use match: exact.",
        ),
        (
            "fn main() {}\n",
            ("something else", "x"),
            &SAFE,
            "old_text not found in src/a.rs.\n\nTip: Use read_file to see contents of \
             src/a.rs.",
        ),
        (
            "fn main() {\n    renamed(1);\n}\n",
            ("    original(1);", "    renamed(1);"),
            &SAFE,
            "old_text not found in src/a.rs. new_text is already in src/a.rs at line 2: the edit \
             seems to be done.\n\nDid you mean:\n```\n   2 |     renamed(1);\n```\nLine 2 \
             differs: the file has `    renamed(1);`, the old text has `    original(1);`.",
        ),
        (
            "one\nlet value = compute(x);\nthree\n",
            ("let value = compute(y);\nthree\n", "x"),
            &SAFE,
            "old_text not found in src/a.rs.\n\nDid you mean:\n```\n   2 | let value = \
             compute(x);\n   3 | three\n```\nLine 2 differs: the file has `let value = \
             compute(x);`, the old text has `let value = compute(y);`.",
        ),
        (
            "if a:\n\tb = 1\n",
            ("if a:\n    b = 1\n", "x"),
            &EXACT,
            "old_text not found in src/a.rs.\n\nDid you mean:\n```\n   1 | if a:\n   2 | \tb = \
             1\n```\nLine 2 differs: the file has `→b·=·1`, the old text has `····b·=·1`. With match: safe \
             it would be found.",
        ),
    ];
    for (content, change, options, expected) in cases {
        assert_eq!(refused(content, &[change], options).1, expected);
    }
}

#[test]
fn new_text_that_is_there_for_other_reasons_is_not_taken_for_the_edit() {
    let file = "from latest import thing\n\ndef load(path):\n    with open(path) as file:\n        \
                data = file.read()\n    return data\n\ndef save(path):\n    return None\n";
    for (old, new) in [
        // In another place, within a word, of another function.
        ("    data = file.red()\n    return data", "    return None"),
        ("    with open(path, \"r\") as file:", "test"),
        ("def lod(path):", "def save("),
        ("def lod(path):", "def save(path):"),
    ] {
        let (code, message) = refused(file, &[(old, new)], &SAFE);
        assert_eq!(code, ErrorCode::PatternNotFound);
        assert!(!message.contains("seems to be done"), "{new}: {message}");
        assert!(message.contains("Did you mean:"), "{message}");
    }
}

#[test]
fn a_refused_exact_edit_suggests_a_safe_one() {
    let (_, message) = refused("a\r\nb\r\n", &[("a\nb", "x")], &EXACT);
    let expected = "old_text not found in src/a.rs.\n\nDid you mean:\n```\n   1 | a\n   2 | \
                    b\n```\nLine 1 differs: the file has `a␍`, the old text has `a`. With match: safe \
                    it would be found.";
    assert_eq!(message, expected);
}

#[test]
fn a_text_that_is_not_unique_is_shown_where_it_is() {
    let (code, message) = refused("x\ny\nx\nz\n", &[("x", "w")], &SAFE);
    assert_eq!(code, ErrorCode::PatternNotUnique);
    let expected = "old_text matches 2 locations. Include more context to make match unique.\n\n\
                    Lines 1 and 3.\n\n```\n   1 | x\n   2 | y\n   3 | x\n   4 | z\n```\nTo \
                    replace every one, set replace_all.";
    assert_eq!(message, expected);
    let (_, message) = refused("xx\n1\n2\n3\n4\n5\nx\n", &[("x", "w")], &SAFE);
    let shown = "Lines 1 (2 times) and 7.\n\n```\n   1 | xx\n   2 | 1\n   3 | 2\n...\n   5 | 4\n   6 | 5\n   \
                 7 | x\n```\n";
    assert!(message.contains(shown), "{message}");
    let many = "“x”\n".repeat(32);
    let (_, message) = refused(&many, &[("\"x\"", "w")], &SAFE);
    let named =
        ", 29, 30 and 2 more, found by overlooking typographic punctuation and spaces.\n\n```\n";
    assert!(message.contains(named), "{message}");
    assert!(message.ends_with("To replace every one, set replace_all."), "{message}");
}

#[test]
fn the_first_of_several_failures_is_named_and_the_others_are_counted() {
    let changes = [("a", "b"), ("none such", "c"), ("", "d"), ("nor this", "e")];
    let (code, message) = refused("a\n", &changes, &SAFE);
    assert_eq!(code, ErrorCode::PatternNotFound);
    let expected = "edits[1]: old_text not found in src/a.rs.\n\nTip: Use read_file to see \
                    contents of src/a.rs. 2 other edits fail too.";
    assert_eq!(message, expected);
    let (_, message) = refused("a\n", &[("a", "b"), ("", "d")], &SAFE);
    assert!(message.starts_with("edits[1]: old_text must not be empty. "), "{message}");
}

#[test]
fn long_paths_and_lines_leave_room_for_what_matters() {
    let path = format!("{}/end.rs", "long/".repeat(800));
    let line = "word ".repeat(400);
    let content = format!("{line}same\n").repeat(3);
    let (_, message) = refused_at(&path, &content, &[("same\n", "x")], &SAFE);
    assert!(message.contains("Lines 1, 2 and 3."), "{message}");
    assert!(message.ends_with("To replace every one, set replace_all."), "{message}");
    let old = format!("{line}other\n").repeat(3);
    let (_, message) = refused_at(&path, &content, &[(&old, "x")], &SAFE);
    assert!(message.contains("Line 1 differs: the file has `…"), "{message}");
    assert!(message.ends_with("other`."), "{message}");
}

#[test]
fn a_file_of_long_lines_is_to_be_searched() {
    let content = format!("one\n{}\n", "abc ".repeat(600));
    let (_, message) = refused(&content, &[("an unheard-of sentence", "x")], &SAFE);
    let expected = "old_text not found in src/a.rs.\n\nTip: Use read_file to see contents of \
                    src/a.rs. It has long lines: search shows windows of them.";
    assert_eq!(message, expected);
}
