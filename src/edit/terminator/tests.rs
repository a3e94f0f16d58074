use super::*;

#[test]
fn the_terminator_of_the_file_stays_when_one_text_lacks_it() {
    let added = |text: &str| Fitted::Added(text.to_owned());
    let removed = |text: &str| Fitted::Removed(text.to_owned());
    let cases = [
        ("b\n", "B", Next::Text, added("B\n")),
        ("a\r\nb\r\n", "B", Next::LineEnd, added("B\r\n")),
        ("b\n\n", "B", Next::Text, added("B\n\n")),
        ("b\n", "B", Next::TextEnd, added("B\n")),
        ("b", "B\n", Next::LineEnd, removed("B")),
        ("b", "B\r\n", Next::LineEnd, removed("B")),
        // An empty line that is wanted.
        ("b", "B\n\n", Next::LineEnd, removed("B\n")),
        ("a", "a\nb\n", Next::LineEnd, removed("a\nb")),
        ("b", "\n", Next::LineEnd, removed("")),
    ];
    for (old, new, next, expected) in cases {
        assert_eq!(fit(old, new, next), expected, "{old:?} {new:?}");
    }
}

#[test]
fn texts_that_say_what_they_mean_are_taken_as_they_are() {
    let cases = [
        ("b\n", "", Next::Text, Fitted::Same),
        ("\n", " ", Next::Text, Fitted::Same),
        ("b\n", "B\n", Next::Text, Fitted::Same),
        ("b\n", "B\n\n", Next::Text, Fitted::Same),
        ("b", "B", Next::LineEnd, Fitted::Same),
        ("foo(", "foo(\n", Next::Text, Fitted::Same),
        ("b", "B\n", Next::TextEnd, Fitted::Same),
        ("\nb", "B", Next::LineEnd, Fitted::Same),
        // Nothing else differs: an empty line is put in or taken out, or the last terminator.
        ("b", "b\n", Next::LineEnd, Fitted::Same),
        ("b\n", "b", Next::LineEnd, Fitted::Same),
        ("b\n", "b", Next::TextEnd, Fitted::Same),
        ("b\n", "b", Next::Text, Fitted::Joins),
    ];
    for (old, new, next, expected) in cases {
        assert_eq!(fit(old, new, next), expected, "{old:?} {new:?}");
    }
}

#[test]
fn what_follows_a_place_is_told_behind_blanks() {
    let text = b"a \r\nb\tc\nd ";
    let next = [1, 4, 5, 7, 9].map(|end| Next::at(text, end));
    let expected = [Next::LineEnd, Next::Text, Next::Text, Next::LineEnd, Next::TextEnd];
    assert_eq!(next, expected);
    // Of the place of a text that ends with a terminator, the next line counts.
    assert_eq!(Next::at(b"b\nc", 2), Next::Text);
    assert_eq!(Next::at(b"b\n\nc", 2), Next::LineEnd);
}
