use super::*;

fn verdict(file: &str, matched: &str, old: &str, new: &str) -> Verdict {
    let start = file.find(matched).unwrap();
    let place = start..start + matched.len();
    Overlooked { text: file.as_bytes(), place: &place, old, new }.verdict()
}

#[test]
fn trailing_blanks_are_removed_only_where_the_file_has_some() {
    assert_eq!(verdict("a \nb\n", "a \nb\n", "a  \nb\n", "a\nb\n"), Verdict::Make);
    assert_eq!(verdict("a\nb\n", "a\nb\n", "a  \nb\n", "a\nb\n"), Verdict::Done);
    // Which blanks the file should have is not told by blanks that it has not.
    assert!(matches!(verdict("a\nb\n", "a\nb\n", "a  \nb\n", "a \nb\n"), Verdict::Unclear(_)));
    // Other edits may change blanks as well.
    assert_eq!(verdict("a\nb\n", "a\nb\n", "a  \nb\n", "c \nb\n"), Verdict::Make);
}

#[test]
fn blank_lines_are_removed_at_an_end_only_if_they_are_as_old_text_has_them() {
    for (file, matched, old, new) in [
        ("a\n  \nb\n", "a\n  \n", "a\n\n", "c\n"),
        ("a\n\nb\n", "a\n\n", "a\n  \n", "a\n"),
        ("z\n\na\nb\n", "\n\na\n", "\n\na \n", "\na \n"),
    ] {
        assert!(matches!(verdict(file, matched, old, new), Verdict::Unclear(_)), "{file:?}");
    }
    assert_eq!(verdict("a\n\n  b\n", "a\n", "a\n  ", "a\n"), Verdict::Done);
    assert_eq!(verdict("a \n\nb\n", "a \n\n", "a\n\n", "c\n"), Verdict::Make);
    assert_eq!(verdict("a\n  \nb\n", "a\n  \n", "a\n\n", "c\n\n"), Verdict::Make);
}

#[test]
fn a_line_that_is_exactly_as_old_text_has_it_beside_the_place_leaves_it_unclear() {
    let file = " *\n * \n */\n";
    let (matched, old, new) = (" * \n */\n", " *\n */\n", " * c\n * \n */\n");
    assert!(matches!(verdict(file, matched, old, new), Verdict::Unclear(_)));
    assert_eq!(verdict(" x\n * \n */\n", matched, old, new), Verdict::Make);
}
