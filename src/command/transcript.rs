//! The output of a command as text, with a line where its middle is missing.

use memchr::{memchr, memrchr};

use super::capture::Captured;
use super::spool::Spooled;

/// How much is left out beside a cut so that lines stay whole, in bytes.
const MAX_PART: usize = 500;

/// What a reader gets to see of an output.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Transcript {
    /// The output, or its two ends and a line between them.
    pub(crate) text: String,
    /// Bytes of the whole output.
    pub(crate) bytes: u64,
    /// Bytes that are not in the text.
    pub(crate) dropped: u64,
    /// The file that holds the whole, relative to the workspace.
    pub(crate) file: Option<String>,
    /// Whether something in the text stands for bytes that are not UTF-8.
    pub(crate) is_lossy: bool,
}

impl Transcript {
    pub(super) fn new(captured: &Captured, spooled: Option<Spooled>) -> Transcript {
        let (head, tail) = match captured.dropped() {
            0 => (captured.head.as_slice(), captured.tail.as_slice()),
            _ => (without_part_at_end(&captured.head), without_part_at_start(&captured.tail)),
        };
        let bytes = captured.total;
        let dropped = bytes - (head.len() + tail.len()) as u64;
        let mut text = String::with_capacity(head.len() + tail.len() + 200);
        let mut is_lossy = push(&mut text, head);
        if dropped > 0 {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&cut(dropped, spooled.as_ref()));
            text.push('\n');
        }
        is_lossy |= push(&mut text, tail);
        Transcript { text, bytes, dropped, file: spooled.map(|file| file.path), is_lossy }
    }
}

/// The line that stands for what is missing.
fn cut(dropped: u64, spooled: Option<&Spooled>) -> String {
    let kept = match spooled {
        None => String::new(),
        Some(Spooled { path, cut_at: None }) => format!("; the whole output is in {path}"),
        Some(Spooled { path, cut_at: Some(bytes) }) => {
            format!("; the first {bytes} bytes of the output are in {path}")
        }
    };
    format!("[... {dropped} bytes left out{kept} ...]")
}

/// Appends bytes as text, and tells whether some are not UTF-8.
fn push(text: &mut String, bytes: &[u8]) -> bool {
    let mut is_lossy = false;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            is_lossy = true;
        }
    }
    is_lossy
}

/// Leaves out the beginning of a line, or at least of a character, whose rest was dropped.
fn without_part_at_end(bytes: &[u8]) -> &[u8] {
    let last = bytes.get(bytes.len().saturating_sub(MAX_PART)..).unwrap_or(bytes);
    match memrchr(b'\n', last) {
        Some(end) => bytes.get(..=bytes.len() - last.len() + end).unwrap_or(bytes),
        None => without_broken_end(bytes),
    }
}

/// Leaves out the rest of a line, or at least of a character, whose beginning was dropped.
fn without_part_at_start(bytes: &[u8]) -> &[u8] {
    let first = bytes.get(..MAX_PART).unwrap_or(bytes);
    match memchr(b'\n', first) {
        Some(end) if end + 1 < bytes.len() => bytes.get(end + 1..).unwrap_or(bytes),
        _ => without_broken_start(bytes),
    }
}

/// Leaves out a character at the end whose rest was dropped.
fn without_broken_end(bytes: &[u8]) -> &[u8] {
    let last = (1..=3.min(bytes.len())).find_map(|back| {
        let rest = bytes.get(bytes.len() - back..)?;
        let is_start = rest.first().is_some_and(|byte| *byte >= 0xc0);
        let is_broken = || str::from_utf8(rest).is_err_and(|error| error.error_len().is_none());
        (is_start && is_broken()).then_some(bytes.len() - back)
    });
    bytes.get(..last.unwrap_or(bytes.len())).unwrap_or(bytes)
}

/// Leaves out the rest of a character at the start whose beginning was dropped.
fn without_broken_start(bytes: &[u8]) -> &[u8] {
    let is_inside = |byte: &u8| byte & 0xc0 == 0x80;
    let rest = bytes.iter().take(4).take_while(|byte| is_inside(byte)).count();
    // Four of them in a row are no part of a character.
    if rest > 3 { bytes } else { bytes.get(rest..).unwrap_or(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(head: &[u8], tail: &[u8], dropped: u64, file: Option<Spooled>) -> Transcript {
        let total = (head.len() + tail.len()) as u64 + dropped;
        Transcript::new(&Captured { head: head.to_vec(), tail: tail.to_vec(), total }, file)
    }

    fn file(cut_at: Option<u64>) -> Spooled {
        Spooled { path: "d/a.log".to_owned(), cut_at }
    }

    #[test]
    fn the_cut_is_a_line_of_its_own_that_says_where_the_whole_is() {
        type Row = (&'static str, &'static str, u64, Option<Spooled>, &'static str);
        let table: [Row; 9] = [
            ("all\n", "", 0, None, "all\n"),
            ("", "", 0, None, ""),
            ("a\nb\n", "yy\nz\n", 9, None, "a\nb\n[... 12 bytes left out ...]\nz\n"),
            ("a\nbb", "z\n", 9, None, "a\n[... 11 bytes left out ...]\nz\n"),
            ("a\nbb", "\nz", 9, None, "a\n[... 12 bytes left out ...]\nz"),
            ("a", "z", 1, None, "a\n[... 1 bytes left out ...]\nz"),
            ("", "z", 1, None, "[... 1 bytes left out ...]\nz"),
            (
                "a\n",
                "z",
                5,
                Some(file(None)),
                "a\n[... 5 bytes left out; the whole output is in d/a.log ...]\nz",
            ),
            (
                "a\n",
                "z",
                5,
                Some(file(Some(7))),
                "a\n[... 5 bytes left out; the first 7 bytes of the output are in d/a.log ...]\nz",
            ),
        ];
        for (head, tail, dropped, file, text) in table {
            let path = file.as_ref().map(|file| file.path.clone());
            let said = transcript(head.as_bytes(), tail.as_bytes(), dropped, file);
            assert_eq!(said.text.as_str(), text);
            let told = text.contains(&format!("{} bytes left out", said.dropped));
            assert!(told || said.dropped == 0, "{said:?}");
            assert_eq!((said.file, said.is_lossy), (path, false));
        }
    }

    #[test]
    fn a_character_that_was_cut_is_left_out_and_counted() {
        let euro = "€".as_bytes();
        for cut in 1..3 {
            let head = [b"a", &euro[..cut]].concat();
            let said = transcript(&head, b"z", 10, None);
            assert_eq!(said.dropped, 10 + cut as u64);
            assert!(said.text.starts_with("a\n[") && !said.is_lossy, "{}", said.text);
            let tail = [&euro[cut..], b"z"].concat();
            let said = transcript(b"a", &tail, 10, None);
            assert_eq!(said.dropped, 10 + 3 - cut as u64);
            assert!(said.text.ends_with("]\nz") && !said.is_lossy, "{}", said.text);
        }
        let whole = transcript("a€".as_bytes(), "€z".as_bytes(), 1, None);
        assert!(whole.text.starts_with("a€\n") && whole.text.ends_with("\n€z"), "{}", whole.text);
    }

    #[test]
    fn a_line_that_is_too_long_to_leave_out_is_cut_in_the_middle() {
        let (long, short) = ("x".repeat(MAX_PART), "x".repeat(MAX_PART - 1));
        let dropped =
            |head: &str, tail: &str| transcript(head.as_bytes(), tail.as_bytes(), 1, None).dropped;
        assert_eq!(dropped(&format!("a\n{short}"), ""), MAX_PART as u64);
        assert_eq!(dropped(&format!("a\n{long}"), ""), 1);
        assert_eq!(dropped("", &format!("{short}\na")), 1 + MAX_PART as u64);
        assert_eq!(dropped("", &format!("{long}\na")), 1);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_told() {
        let said = transcript(b"a\xff\0\x1b[0m", b"", 0, None);
        assert_eq!((said.text.as_str(), said.is_lossy), ("a\u{fffd}\0\u{1b}[0m", true));
        // Nothing was cut, so what is broken at the end was printed so.
        assert!(transcript(b"a\xe2\x82", b"", 0, None).is_lossy);
        assert!(transcript(b"a", b"\x80\x80\x80\x80", 3, None).is_lossy);
    }
}
