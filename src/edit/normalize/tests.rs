use super::*;

#[track_caller]
fn check(old: &str, matched: &str, new: &str, expected: &str) {
    let matched = std::iter::once(matched.as_bytes());
    assert_eq!(plain_as_in_file(old, matched, new), expected, "{old:?} {new:?}");
}

#[test]
fn what_the_file_has_plain_is_plain_in_new_text() {
    check("‘a’", "'a'", "‘b’,\n‘a’", "'b',\n'a'");
    check("a\u{a0}= b", "a = b", "a\u{a0}= c", "a = c");
    check("a\u{200b}b", "ab", "a\u{200b}c", "ac");
    check("a…", "a...", "b…", "b...");
}

#[test]
fn characters_that_the_file_has_or_that_only_new_text_has_stay() {
    check("“a”", "“a\"", "“b”", "“b”");
    check("‘a’", "'a'", "“b”", "“b”");
    check("'a'", "‘a’", "'b' ’", "'b' ’");
    check("a", "a", "b – c", "b – c");
    check("a–b", "a-b", "a-b – c", "a-b – c");
}
