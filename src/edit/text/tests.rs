use super::*;

#[test]
fn a_range_outside_of_the_text_is_an_error_and_not_an_empty_part() {
    assert_eq!(slice(b"abc", 1..3).unwrap(), b"bc");
    assert_eq!(slice(b"abc", 3..).unwrap(), b"");
    assert_eq!(slice(b"abc", 2..4).unwrap_err().code(), ErrorCode::Internal);
    assert_eq!(slice(b"abc", 4..).unwrap_err().code(), ErrorCode::Internal);
    assert_eq!(str_slice("é", 1..).unwrap_err().code(), ErrorCode::Internal);
}

#[test]
fn undecodable_bytes_are_counted_as_a_page_shows_them() {
    let cases: [&[u8]; 8] = [
        b"",
        b"plain",
        b"caf\xe9",
        b"\xff\xfe",
        b"\xe2\x82z\xf0\x9f\x98",
        b"\xed\xa0\x80",
        "a\u{FFFD}é".as_bytes(),
        b"\xe9\n\xe9",
    ];
    for bytes in cases {
        let shown = String::from_utf8_lossy(bytes);
        let count = shown.matches(REPLACEMENT_CHARACTER).count();
        assert_eq!(replacement_character_ranges(bytes, false).len(), count, "{bytes:?}");
    }
    assert_eq!(replacement_character_ranges(b"a\xed\xa0\x80b", true).first(), Some(&(1..4)));
}
