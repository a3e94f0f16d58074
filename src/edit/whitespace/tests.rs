use super::*;

#[test]
fn the_indentation_before_a_place_is_not_doubled_unless_the_lines_are_to_be_deeper() {
    let cases = [
        ("    a\n    b\n", "a\n    b", "    c\n    d", 4),
        ("    a\n", "a", "    c", 4),
        ("\ta\n", "a\n", "\tif b:\n\t\ta\n", 1),
        // The same line, only deeper; the same lines, all of them deeper.
        ("    a\n", "a", "    a", 0),
        ("    a\n        b\n", "a\n        b", "    a\n            b", 0),
        // Not the indentation of the file.
        ("    a\n", "a", "        c", 0),
        ("    a\n", "a", "  c", 0),
        ("\ta\n", "a", "    c", 0),
        // Not behind an indentation.
        ("a\n", "a", "    c", 0),
        ("x    a\n", "a", "    c", 0),
    ];
    for (file, old, new, expected) in cases {
        let start = file.find(old).unwrap();
        let edges = SharedBlanks::new(file.as_bytes(), &(start..start + old.len()), old, new);
        assert_eq!(edges, SharedBlanks { lead: expected, tail: 0 }, "{file:?} {new:?}");
    }
}

#[test]
fn white_space_that_follows_a_place_is_not_doubled() {
    let cases = [
        ("a  \n\nb\n", "c  \n\n", 4),
        ("a  \r\n\r\nb\n", "c  \n\n", 4),
        ("a  \n\nb\n", "c  \n", 3),
        ("a \n\nb\n", "c  \n\n", 0),
        ("a\n\nb\n", "c\n\n", 0),
    ];
    for (file, new, expected) in cases {
        let edges = SharedBlanks::new(file.as_bytes(), &(0..1), "a", new);
        assert_eq!(edges, SharedBlanks { lead: 0, tail: expected }, "{file:?} {new:?}");
    }
}

#[test]
fn the_terminator_of_the_file_stays_when_one_text_lacks_it() {
    let added = |text: &str| TerminatorFit::Added(text.to_owned());
    let removed = |text: &str| TerminatorFit::Removed(text.to_owned());
    let cases = [
        ("b\n", "B", Following::Text, added("B\n")),
        ("a\r\nb\r\n", "B", Following::LineEnd, added("B\r\n")),
        ("b\n\n", "B", Following::Text, added("B\n\n")),
        ("b\n", "B", Following::TextEnd, added("B\n")),
        ("b", "B\n", Following::LineEnd, removed("B")),
        ("b", "B\r\n", Following::LineEnd, removed("B")),
        // An empty line that is wanted.
        ("b", "B\n\n", Following::LineEnd, removed("B\n")),
        ("a", "a\nb\n", Following::LineEnd, removed("a\nb")),
        ("b", "\n", Following::LineEnd, removed("")),
    ];
    for (old, new, next, expected) in cases {
        assert_eq!(TerminatorFit::new(old, new, next), expected, "{old:?} {new:?}");
    }
}

#[test]
fn texts_that_say_what_they_mean_are_taken_as_they_are() {
    let cases = [
        ("b\n", "", Following::Text, TerminatorFit::Unchanged),
        ("\n", " ", Following::Text, TerminatorFit::Unchanged),
        ("b\n", "B\n", Following::Text, TerminatorFit::Unchanged),
        ("b\n", "B\n\n", Following::Text, TerminatorFit::Unchanged),
        ("b", "B", Following::LineEnd, TerminatorFit::Unchanged),
        ("foo(", "foo(\n", Following::Text, TerminatorFit::Unchanged),
        ("b", "B\n", Following::TextEnd, TerminatorFit::Unchanged),
        ("\nb", "B", Following::LineEnd, TerminatorFit::Unchanged),
        // Nothing else differs: an empty line is put in or taken out, or the last terminator.
        ("b", "b\n", Following::LineEnd, TerminatorFit::Unchanged),
        ("b\n", "b", Following::LineEnd, TerminatorFit::Unchanged),
        ("b\n", "b", Following::TextEnd, TerminatorFit::Unchanged),
        ("b\n", "b", Following::Text, TerminatorFit::JoinsLines),
    ];
    for (old, new, next, expected) in cases {
        assert_eq!(TerminatorFit::new(old, new, next), expected, "{old:?} {new:?}");
    }
}

#[test]
fn text_after_a_match_is_classified_behind_blanks() {
    let text = b"a \r\nb\tc\nd ";
    let next = [1, 4, 5, 7, 9].map(|end| Following::at(text, end));
    let expected = [
        Following::LineEnd,
        Following::Text,
        Following::Text,
        Following::LineEnd,
        Following::TextEnd,
    ];
    assert_eq!(next, expected);
    // Of the place of a text that ends with a terminator, the next line counts.
    assert_eq!(Following::at(b"b\nc", 2), Following::Text);
    assert_eq!(Following::at(b"b\n\nc", 2), Following::LineEnd);
}

fn verdict(file: &str, matched: &str, old: &str, new: &str) -> BlankVerdict {
    let start = file.find(matched).unwrap();
    let range = start..start + matched.len();
    BlankMatch { text: file.as_bytes(), range: &range, old, new }.verdict().unwrap()
}

#[test]
fn trailing_blanks_are_removed_only_where_the_file_has_some() {
    assert_eq!(verdict("a \nb\n", "a \nb\n", "a  \nb\n", "a\nb\n"), BlankVerdict::Apply);
    assert_eq!(verdict("a\nb\n", "a\nb\n", "a  \nb\n", "a\nb\n"), BlankVerdict::AlreadyApplied);
    // Blanks that the file does not have are no evidence for those that it should have.
    assert!(matches!(verdict("a\nb\n", "a\nb\n", "a  \nb\n", "a \nb\n"), BlankVerdict::Unclear(_)));
    // Other edits may change blanks as well.
    assert_eq!(verdict("a\nb\n", "a\nb\n", "a  \nb\n", "c \nb\n"), BlankVerdict::Apply);
}

#[test]
fn blank_lines_are_removed_at_an_end_only_if_they_are_as_old_text_has_them() {
    for (file, matched, old, new) in [
        ("a\n  \nb\n", "a\n  \n", "a\n\n", "c\n"),
        ("a\n\nb\n", "a\n\n", "a\n  \n", "a\n"),
        ("z\n\na\nb\n", "\n\na\n", "\n\na \n", "\na \n"),
    ] {
        assert!(matches!(verdict(file, matched, old, new), BlankVerdict::Unclear(_)), "{file:?}");
    }
    assert_eq!(verdict("a\n\n  b\n", "a\n", "a\n  ", "a\n"), BlankVerdict::AlreadyApplied);
    assert_eq!(verdict("a \n\nb\n", "a \n\n", "a\n\n", "c\n"), BlankVerdict::Apply);
    assert_eq!(verdict("a\n  \nb\n", "a\n  \n", "a\n\n", "c\n\n"), BlankVerdict::Apply);
}

#[test]
fn a_line_that_is_exactly_as_old_text_has_it_beside_the_place_leaves_it_unclear() {
    let file = " *\n * \n */\n";
    let (matched, old, new) = (" * \n */\n", " *\n */\n", " * c\n * \n */\n");
    assert!(matches!(verdict(file, matched, old, new), BlankVerdict::Unclear(_)));
    assert_eq!(verdict(" x\n * \n */\n", matched, old, new), BlankVerdict::Apply);
}

#[test]
fn blank_lines_of_new_text_with_blanks_must_be_those_of_the_file() {
    let (file, old) = ("a\n\n\t\nb\n", "a\n\n\n");
    for new in ["c\n\n\t\n", "c\n\t\n\n", "c\n\n\t\n\n"] {
        assert!(
            matches!(verdict(file, "a\n\n\t\n", old, new), BlankVerdict::Unclear(_)),
            "{new:?}"
        );
    }
    assert_eq!(verdict("a\n\t\nb\n", "a\n\t\n", "a\n\n", "c\n\t\n"), BlankVerdict::Apply);
}

#[test]
fn lines_are_deleted_only_with_the_trailing_blanks_that_old_text_has() {
    for (matched, old) in [("a \nb\n", "a\nb\n"), ("a\nb\n", "a\nb \n"), ("a\nb \n", "a \nb\n")] {
        assert!(matches!(verdict(matched, matched, old, ""), BlankVerdict::Unclear(_)), "{old:?}");
        assert!(
            matches!(verdict(matched, matched, old, "\n"), BlankVerdict::Unclear(_)),
            "{old:?}"
        );
    }
    assert_eq!(verdict("a “b” \n", "a “b” \n", "a \"b\" \n", ""), BlankVerdict::Apply);
    assert_eq!(verdict("a\n \n\nb\n", " \n\n", "\n\n", "\n"), BlankVerdict::Apply);
}
