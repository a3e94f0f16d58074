//! The unified diff of an edit or of a replaced file, as `patch` and `git apply` read it. A byte
//! order mark is not shown.

#[cfg(test)]
pub(super) mod tests;

use std::fmt::Write;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::edit::replacement::Splice;
use crate::edit::text::Text;
use crate::text::{clip, escape};

/// Unchanged lines shown on each side of a change.
const CONTEXT: usize = 3;

/// Bytes shown of a line, round the change, where long lines do not fit.
const WINDOW_BYTES: usize = 240;

/// Parts with more lines on both sides together than this are shown as replaced whole.
const MAX_COMPARED: usize = 20_000;

/// Pairs of lines, old and new, that all parts together may have; parts after those that had so
/// many are shown as replaced whole.
const MAX_PAIRS: usize = 1 << 30;

/// The diff of an edit, from its `splices`; empty if no line changed. A diff of more than
/// `limit_bytes` is cut after a line, and says so in its last.
pub(crate) fn unified(
    path: &str,
    old: &[u8],
    new: &[u8],
    splices: &[Splice],
    limit_bytes: usize,
) -> String {
    let (old, new) = (Text::of(old), Text::of(new));
    let (mut in_old, mut in_new) = (old.offsets(), new.offsets());
    let splices = splices.iter().map(|splice| Splice {
        old: in_old.in_text(splice.old.start)..in_old.in_text(splice.old.end),
        new: in_new.in_text(splice.new.start)..in_new.in_text(splice.new.end),
    });
    let splices: Vec<Splice> = splices.collect();
    let sides = Sides::around(old.bytes(), new.bytes(), &splices);
    sides.show((&name("a", path), &name("b", path)), limit_bytes)
}

/// The diff of a file that was replaced, or made if `old` is `None`; empty if no line changed.
/// Cut as [`unified`] is.
pub(crate) fn compare(path: &str, old: Option<&[u8]>, new: &[u8], limit_bytes: usize) -> String {
    let old_name = if old.is_some() { name("a", path) } else { "/dev/null".to_owned() };
    let (old, new) = (Text::of(old.unwrap_or_default()), Text::of(new));
    let (old, new) = (old.bytes(), new.bytes());
    let head = common(old.iter(), new.iter());
    let (old_rest, new_rest) = (old.get(head..), new.get(head..));
    let (old_rest, new_rest) = (old_rest.unwrap_or_default(), new_rest.unwrap_or_default());
    let tail = common(old_rest.iter().rev(), new_rest.iter().rev());
    let splice = Splice { old: head..old.len() - tail, new: head..new.len() - tail };
    Sides::around(old, new, &[splice]).show((&old_name, &name("b", path)), limit_bytes)
}

/// How many bytes both begin with.
fn common<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> usize {
    one.zip(other).take_while(|(one, other)| one == other).count()
}

/// The name of a file in a header, as git writes it: a tab ends one that has blanks, and one with
/// signs that could not be seen is quoted.
fn name(side: &str, path: &str) -> String {
    if escape::display_path(path.as_bytes()) != path {
        return quoted(&format!("{side}/{path}"));
    }
    let end = if path.contains(' ') { "\t" } else { "" };
    format!("{side}/{path}{end}")
}

fn quoted(name: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in name.bytes() {
        // Writing to a string cannot fail.
        let _ = match byte {
            b'"' | b'\\' => write!(quoted, "\\{}", char::from(byte)),
            b' '..=b'~' => write!(quoted, "{}", char::from(byte)),
            _ => write!(quoted, "\\{byte:03o}"),
        };
    }
    quoted + "\""
}

/// The lines of a text, ends included.
struct Lines<'a> {
    text: &'a [u8],
    /// Where each line starts, and where the last ends.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a [u8]) -> Lines<'a> {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text).map(|at| at + 1));
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        Lines { text, starts }
    }

    fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn get(&self, line: usize) -> &'a [u8] {
        match (self.starts.get(line), self.starts.get(line + 1)) {
            (Some(&start), Some(&end)) => self.text.get(start..end).unwrap_or_default(),
            _ => &[],
        }
    }

    fn all(&self, lines: Range<usize>) -> Vec<&'a [u8]> {
        lines.map(|line| self.get(line)).collect()
    }

    /// The lines that a range of the text lies on, the one in which it ends included.
    fn around(&self, range: &Range<usize>) -> Range<usize> {
        let is_open = self.text.last().is_some_and(|&byte| byte != b'\n');
        let line = |at: usize| {
            // The end of a text without a final newline lies on its last line.
            if at >= self.text.len() {
                return self.count() - usize::from(is_open);
            }
            self.starts.partition_point(|&start| start <= at).saturating_sub(1)
        };
        line(range.start)..(line(range.end) + 1).min(self.count())
    }
}

/// Lines of the old text and the lines that stand in their place.
#[derive(Clone, Debug)]
struct Block {
    old: Range<usize>,
    new: Range<usize>,
}

/// Both texts, as much of them as the changes and their surroundings take.
struct Sides<'a> {
    old: Lines<'a>,
    new: Lines<'a>,
    /// Lines of the files before these.
    before: usize,
    /// What changed, as ranges of these.
    splices: Vec<Splice>,
}

impl<'a> Sides<'a> {
    /// Lines at each end that may be shown, and one on which a change may border.
    const MARGIN: usize = CONTEXT + 2;

    /// Cuts off what is the same before the first splice and behind the last, but for a margin.
    fn around(old: &'a [u8], new: &'a [u8], splices: &[Splice]) -> Sides<'a> {
        let first = splices.first().map_or(0, |splice| splice.old.start);
        let kept = splices.last().map_or(0, |splice| splice.old.end);
        let (head, tail) = (old.get(..first), old.get(kept..));
        let (head, tail) = (head.unwrap_or_default(), tail.unwrap_or_default());
        let start = memchr::memrchr_iter(b'\n', head).nth(Self::MARGIN).map_or(0, |at| at + 1);
        let end = memchr::memchr_iter(b'\n', tail).nth(Self::MARGIN);
        let behind = end.map_or(0, |at| tail.len() - at - 1);
        let inner = |text: &'a [u8]| text.get(start..text.len() - behind).unwrap_or_default();
        let moved = |range: &Range<usize>| range.start - start..range.end - start;
        let moved = |splice: &Splice| Splice { old: moved(&splice.old), new: moved(&splice.new) };
        Sides {
            old: Lines::of(inner(old)),
            new: Lines::of(inner(new)),
            before: memchr::memchr_iter(b'\n', old.get(..start).unwrap_or_default()).count(),
            splices: splices.iter().map(moved).collect(),
        }
    }

    fn show(&self, names: (&str, &str), limit_bytes: usize) -> String {
        let (mut blocks, mut pairs) = (Vec::new(), MAX_PAIRS);
        for part in self.parts(&self.splices) {
            self.compare(&part, &mut pairs, &mut blocks);
        }
        self.render(names.0, names.1, &blocks, limit_bytes)
    }

    /// The lines that the splices touch; splices that touch the same line are one part.
    fn parts(&self, splices: &[Splice]) -> Vec<Block> {
        let mut parts: Vec<Block> = Vec::new();
        for splice in splices {
            let (old, new) = (self.old.around(&splice.old), self.new.around(&splice.new));
            match parts.last_mut() {
                Some(last) if old.start < last.old.end || new.start < last.new.end => {
                    last.old.end = last.old.end.max(old.end);
                    last.new.end = last.new.end.max(new.end);
                }
                _ => parts.push(Block { old, new }),
            }
        }
        parts
    }

    /// Adds the lines of the part that differ, as far as there are `pairs` left to compare.
    fn compare(&self, part: &Block, pairs: &mut usize, blocks: &mut Vec<Block>) {
        let part = self.trimmed(part);
        let (old, new) = (part.old.len(), part.new.len());
        if old == 0 && new == 0 {
            return;
        }
        let is_compared = old > 0 && new > 0 && old + new <= MAX_COMPARED;
        let Some(left) = pairs.checked_sub(old.saturating_mul(new)).filter(|_| is_compared) else {
            blocks.push(part);
            return;
        };
        *pairs = left;
        let (old, new) = (self.old.all(part.old.clone()), self.new.all(part.new.clone()));
        for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if operation.tag() != DiffTag::Equal {
                blocks.push(Block {
                    old: shifted(&operation.old_range(), part.old.start),
                    new: shifted(&operation.new_range(), part.new.start),
                });
            }
        }
    }

    /// The part without the lines that both sides begin and end with.
    fn trimmed(&self, part: &Block) -> Block {
        let is_same = |(old, new): &(usize, usize)| self.old.get(*old) == self.new.get(*new);
        let head = part.old.clone().zip(part.new.clone()).take_while(is_same).count();
        let rest = (part.old.start + head..part.old.end, part.new.start + head..part.new.end);
        let tail = rest.0.clone().rev().zip(rest.1.clone().rev()).take_while(is_same).count();
        Block { old: rest.0.start..rest.0.end - tail, new: rest.1.start..rest.1.end - tail }
    }

    fn render(&self, old: &str, new: &str, blocks: &[Block], limit_bytes: usize) -> String {
        if blocks.is_empty() {
            return String::new();
        }
        let page = |is_windowed: bool| {
            let mut page = Page::new(limit_bytes, is_windowed);
            page.line(&format!("--- {old}\n"));
            page.line(&format!("+++ {new}\n"));
            let near = |one: &Block, other: &Block| other.old.start - one.old.end <= 2 * CONTEXT;
            for hunk in blocks.chunk_by(near) {
                self.hunk(hunk, &mut page);
            }
            page
        };
        let whole = page(false);
        if whole.missing > 0 && whole.has_long_lines {
            return page(true).finish();
        }
        whole.finish()
    }

    /// Where the lines of a block differ first from those on the other side, if they have any.
    fn differs_at(&self, block: &Block, index: usize) -> usize {
        if index >= block.old.len().min(block.new.len()) {
            return 0;
        }
        let (old, new) =
            (self.old.get(block.old.start + index), self.new.get(block.new.start + index));
        common(old.iter(), new.iter())
    }

    fn hunk(&self, blocks: &[Block], page: &mut Page) {
        let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return };
        let before = first.old.start.min(CONTEXT);
        let after = (self.old.count() - last.old.end).min(CONTEXT);
        let old = first.old.start - before..last.old.end + after;
        let new = first.new.start - before..last.new.end + after;
        let (old_span, new_span) = (span(&old, self.before), span(&new, self.before));
        page.line(&format!("@@ -{old_span} +{new_span} @@\n"));
        let mut at = old.start;
        for block in blocks {
            page.lines(' ', &self.old, at..block.old.start, |_| 0);
            let differs_at = |index| self.differs_at(block, index);
            page.lines('-', &self.old, block.old.clone(), differs_at);
            page.lines('+', &self.new, block.new.clone(), differs_at);
            at = block.old.end;
        }
        page.lines(' ', &self.old, at..old.end, |_| 0);
    }
}

fn shifted(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// First line and count; of no lines, the line before.
fn span(lines: &Range<usize>, before: usize) -> String {
    let first = before + lines.start + usize::from(!lines.is_empty());
    format!("{first},{}", lines.len())
}

/// A diff as far as it fits.
struct Page {
    text: String,
    limit: usize,
    /// Lines that found no room.
    missing: usize,
    /// Whether lines over [`WINDOW_BYTES`] are cut to a window.
    is_windowed: bool,
    has_long_lines: bool,
}

impl Page {
    /// Room for the line that tells about the cut.
    const RESERVE: usize = 80;

    const WINDOWED: &str = "... (long lines are cut to what is round the change)\n";

    fn new(limit: usize, is_windowed: bool) -> Page {
        Page { text: String::new(), limit, missing: 0, is_windowed, has_long_lines: false }
    }

    /// Adds lines; `differs_at` says where in the first, second and so on something differs.
    fn lines(
        &mut self,
        sign: char,
        side: &Lines<'_>,
        lines: Range<usize>,
        differs_at: impl Fn(usize) -> usize,
    ) {
        for (index, line) in lines.enumerate() {
            if self.missing > 0 {
                self.missing += 1;
                continue;
            }
            let line = side.get(line);
            let is_long = line.len() > WINDOW_BYTES;
            self.has_long_lines |= is_long;
            if is_long && self.is_windowed {
                let at = differs_at(index);
                let line = line.strip_suffix(b"\n").unwrap_or(line);
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let window = clip::window(line, &[(at, at)], WINDOW_BYTES).text;
                self.line(&format!("{sign}{window}\n"));
                continue;
            }
            let text = String::from_utf8_lossy(line);
            let end = if text.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            self.line(&format!("{sign}{text}{end}"));
        }
    }

    fn line(&mut self, line: &str) {
        let told = if self.is_windowed { Page::WINDOWED.len() } else { 0 };
        let room = self.limit.saturating_sub(Page::RESERVE + told);
        if self.missing > 0 || self.text.len() + line.len() > room {
            self.missing += 1;
        } else {
            self.text.push_str(line);
        }
    }

    fn finish(mut self) -> String {
        if self.is_windowed {
            self.text.push_str(Page::WINDOWED);
        }
        if self.missing > 0 {
            let lines = if self.missing == 1 { "line" } else { "lines" };
            // Writing to a string cannot fail.
            let (limit, missing) = (self.limit, self.missing);
            let _ = writeln!(self.text, "... (diff cut at {limit} bytes; {missing} more {lines})");
        }
        self.text
    }
}
