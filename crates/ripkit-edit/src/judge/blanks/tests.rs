use super::*;

fn verdict(file: &str, matched: &str, old: &str, new: &str) -> BlankVerdict {
    let start = file.find(matched).unwrap();
    let range = start..start + matched.len();
    BlankMatch { text: file.as_bytes(), range: &range, old, new }.verdict()
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

#[test]
fn a_line_above_that_is_exactly_as_old_text_has_it_leaves_it_unclear() {
    let file = " *\n * \n */\n";
    let (matched, old, new) = (" * \n */\n", " *\n */\n", " * c\n * \n */\n");
    assert!(matches!(verdict(file, matched, old, new), BlankVerdict::Unclear(_)));
    assert_eq!(verdict(" x\n * \n */\n", matched, old, new), BlankVerdict::Apply);
}
