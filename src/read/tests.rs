use std::fs;

use super::*;
use crate::context::Cancel;
use crate::workspace::{Access, Workspace};

fn options(offset: i64, lines: u64, bytes: usize) -> PageOptions {
    PageOptions { offset, lines, bytes, numbered: false, most_hashed: 1 << 20 }
}

/// The page of a file with this content.
fn page(content: &[u8], options: PageOptions, call: &Call) -> Result<TextPage, Error> {
    let directory = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "tests build the trees")]
    fs::write(directory.path().join("a"), content).unwrap();
    let workspace = Workspace::open(directory.path()).unwrap();
    let path = workspace.resolve("a", Access::Read).unwrap();
    match read(&path, &options, call)? {
        Content::Text(page) => Ok(page),
        Content::Image(image) => panic!("{:?}", image.format),
    }
}

#[test]
fn lines_across_blocks_are_counted_and_found() {
    // Lengths that share no factor with the blocks put line ends at all places of them.
    let line = |number: usize| format!("{number} {}\r\n", "é".repeat(number % 97));
    let lines: Vec<String> = (1..=20_000).map(line).collect();
    let text = lines.concat();
    assert!(text.len() > 3 * BLOCK);
    for offset in [1, 2, 3000, 7777, 15_000, 19_999, 20_000] {
        let page = page(text.as_bytes(), options(offset, 3, usize::MAX), &Call::default()).unwrap();
        let start = usize::try_from(offset).unwrap() - 1;
        assert_eq!(page.content, lines[start..lines.len().min(start + 3)].concat());
        assert_eq!((page.total_lines, page.line_ending), (20_000, LineEnding::Crlf));
        assert_eq!(page.encoding, Encoding::Utf8);
        assert_eq!(page.more, offset < 19_998);
    }
}

#[test]
fn a_line_longer_than_blocks_is_cut_and_measured() {
    let text = format!("short\n{}\nlast", "é".repeat(BLOCK));
    let cut = page(text.as_bytes(), options(2, 5, 11), &Call::default()).unwrap();
    assert_eq!((cut.content.as_str(), cut.cut_line), ("ééééé", Some(2 * BLOCK as u64)));
    assert_eq!((cut.start, cut.end, cut.total_lines, cut.more), (2, 2, 3, true));
    let before = page(text.as_bytes(), options(1, 5, 11), &Call::default()).unwrap();
    assert_eq!((before.content.as_str(), before.full, before.cut_line), ("short\n", true, None));
}

#[test]
fn a_page_that_was_reached_is_given_when_the_call_is_over() {
    let text = "line\n".repeat(2 * BLOCK);
    let cancel = Cancel::new();
    cancel.cancel();
    let over = Call::default().with_cancel(cancel);
    let first = page(text.as_bytes(), options(3, 2, 1000), &over).unwrap();
    assert_eq!((first.content.as_str(), first.start, first.end), ("line\nline\n", 3, 4));
    assert_eq!((first.stopped, first.more), (Some(Incomplete::Cancelled), true));
    assert_eq!(first.version, None);
    assert!(first.total_lines < 2 * BLOCK as u64, "at least {}", first.total_lines);
    for offset in [-1, 500_000] {
        let error = page(text.as_bytes(), options(offset, 2, 1000), &over).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Cancelled, "{offset}");
        let counted = first.total_lines;
        let wanted = format!("cancelled after {counted} lines of a, before the page was reached");
        assert_eq!(error.to_string(), wanted);
    }
}

#[test]
fn a_version_is_that_of_the_whole_file_up_to_the_limit() {
    for length in [0, 1, BLOCK, 1 << 20, (1 << 20) + 1] {
        let content = "x".repeat(length);
        let page = page(content.as_bytes(), options(1, 0, 10), &Call::default()).unwrap();
        let wanted = (length <= 1 << 20).then(|| Version::of(content.as_bytes()));
        assert_eq!(page.version, wanted, "{length}");
    }
}

#[test]
fn a_long_line_is_not_measured_to_its_end_when_the_call_is_over() {
    let text = "x".repeat(8 * BLOCK);
    let cancel = Cancel::new();
    cancel.cancel();
    let page = page(text.as_bytes(), options(1, 1, 10), &Call::default().with_cancel(cancel));
    let page = page.unwrap();
    assert_eq!((page.content.as_str(), page.stopped), ("xxxxxxxxxx", Some(Incomplete::Cancelled)));
    assert!(page.cut_line.unwrap() < 8 * BLOCK as u64);
}
