//! Whether a text or a file may have a match, found out without printing anything. Most files have none.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;

use ripkit_fs::os::{File, ReadBuffer};

/// The size of a block in bytes: large enough that the parts of lines that are read twice do not count.
const BLOCK: usize = 1 << 20;

/// How far the last line of a block may go on before the file is searched from start to end.
const MAX_TAIL: usize = 4 << 20;

/// The bytes before a block that are read with it, to see where a line begins; a whole cache line.
const LEAD: usize = 64;

/// Whether a search of `text`, which is a whole file or whole lines of one, might find something. True
/// also where the bytes are not searched as they are: after a byte order mark, and where there are NULs.
pub(super) fn text(matcher: &RegexMatcher, text: &[u8]) -> bool {
    has_mark(text)
        || !matches!(matcher.find_candidate_line(text), Ok(None))
        || memchr::memchr(0, text).is_some()
}

/// Whether the text begins with a byte order mark.
fn has_mark(text: &[u8]) -> bool {
    let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFE\xFF", b"\xFF\xFE"];
    marks.iter().any(|mark| text.starts_with(mark))
}

/// The same for a large file of `size` bytes, whose blocks are searched by several threads.
pub(super) fn large(
    matcher: &RegexMatcher,
    file: &File,
    size: u64,
    threads: usize,
) -> io::Result<bool> {
    let (next, found) = (AtomicU64::new(0), AtomicBool::new(false));
    let blocks = size.div_ceil(BLOCK as u64);
    let search = || -> io::Result<()> {
        let (matcher, mut buffer) = (matcher.clone(), ReadBuffer::default());
        while !found.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= blocks {
                break;
            }
            if block(&matcher, file, number, &mut buffer)? {
                found.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    let helpers = usize::try_from(blocks - 1).unwrap_or(usize::MAX).min(threads - 1);
    thread::scope(|scope| {
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(search)).collect();
        let own = search();
        let joined = helpers.into_iter().map(|helper| helper.join().expect("it does not panic"));
        joined.fold(own, Result::and)
    })?;
    Ok(found.into_inner())
}

/// Whether the lines that begin in a block may match.
fn block(
    matcher: &RegexMatcher,
    file: &File,
    number: u64,
    buffer: &mut ReadBuffer,
) -> io::Result<bool> {
    let lead = if number == 0 { 0 } else { LEAD };
    let offset = number * BLOCK as u64 - lead as u64;
    // Where the bytes have the same place in a page as in the file.
    let origin = ReadBuffer::position(offset);
    buffer.grow(origin + lead + BLOCK);
    let begin = origin + lead;
    let mut end = origin + file.read_full_at(&mut buffer[origin..begin + BLOCK], offset)?;
    if end <= begin {
        return Ok(false);
    }
    let start = match number {
        0 => begin,
        _ => match memchr::memchr(b'\n', &buffer[begin - 1..end]) {
            Some(at) => begin + at,
            None => return Ok(false),
        },
    };
    let mut more = BLOCK / 16;
    while end >= begin + BLOCK && !buffer[..end].ends_with(b"\n") {
        if end > begin + BLOCK + MAX_TAIL {
            return Ok(true);
        }
        buffer.grow(end + more);
        let at = offset + (end - origin) as u64;
        let read = file.read_full_at(&mut buffer[end..end + more], at)?;
        if let Some(line_end) = memchr::memchr(b'\n', &buffer[end..end + read]) {
            end += line_end + 1;
            break;
        }
        end += read;
        if read < more {
            break;
        }
        more *= 2;
    }
    let text = &buffer[start.min(end)..end];
    Ok(match number {
        0 => self::text(matcher, text),
        _ => {
            !matches!(matcher.find_candidate_line(text), Ok(None))
                || memchr::memchr(0, text).is_some()
        }
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests are hosts")]
mod tests {
    use grep_regex::RegexMatcherBuilder;

    use super::*;
    use ripkit_fs::os::Dir;

    fn is_found(content: &[u8], pattern: &str) -> bool {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("f"), content).unwrap();
        let file = Dir::open_ambient(directory.path()).unwrap().open_file(b"f").unwrap();
        let mut builder = RegexMatcherBuilder::new();
        let matcher = builder.multi_line(true).line_terminator(Some(b'\n')).build(pattern).unwrap();
        large(&matcher, &file, content.len() as u64, 3).unwrap()
    }

    #[test]
    fn a_match_is_found_wherever_it_lies_and_nowhere_else() {
        let filler = b"a line of text\n".repeat(4 * BLOCK / 15);
        assert!(!is_found(&filler, "needle"));
        assert!(!is_found(&filler, "^ine"));
        for at in [0, 7, BLOCK - 3, BLOCK, 2 * BLOCK - 1, 3 * BLOCK + 17, filler.len() - 6] {
            let mut text = filler.clone();
            text[at..at + 6].copy_from_slice(b"needle");
            assert!(is_found(&text, "needle"), "{at}");
            text[at..at + 6].copy_from_slice(b"needl\n");
            assert!(!is_found(&text, "needle"), "{at}");
        }
    }

    #[test]
    fn what_is_not_searched_as_it_is_may_match() {
        let mut text = b"some text\n".repeat(BLOCK / 5);
        let at = text.len() - 9;
        text[at] = 0;
        assert!(is_found(&text, "needle"));
        assert!(is_found(&[b"\xEF\xBB\xBF", &*b"x\n".repeat(BLOCK)].concat(), "needle"));
        assert!(is_found(&vec![b'x'; 12 * BLOCK], "needle"));
    }
}
