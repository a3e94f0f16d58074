//! The last step of the ladder: whole lines, all shifted by the same blanks.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::context::Call;
use crate::edit::checked;
use crate::edit::fold::Folded;
use crate::edit::occurrences::Occurrences;
use crate::edit::replacement::go_on;
use crate::error::Error;

/// Lines, or places, that are looked at before the call is asked whether to go on.
const ROUNDS: usize = 4096;

/// How the lines of the file stand to those of `old_text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shift {
    None,
    /// Every line of the file has these blanks before it.
    Deeper(String),
    /// Every line of `old_text` has these blanks too many.
    Shallower(String),
}

impl Shift {
    /// The blanks by which `file` and `old`, two indentations, differ; `None` if they differ
    /// otherwise or not at all.
    fn between(file: &[u8], old: &[u8]) -> Option<Shift> {
        let blanks = |blanks: &[u8]| String::from_utf8_lossy(blanks).into_owned();
        match (file.strip_suffix(old), old.strip_suffix(file)) {
            (Some([]), _) => None,
            (Some(more), _) => Some(Shift::Deeper(blanks(more))),
            (_, Some(less)) => Some(Shift::Shallower(blanks(less))),
            _ => None,
        }
    }

    /// The text with every line that is not blank shifted; `None` if a line lacks the blanks
    /// that are to go.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let mut shifted = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            let line = match self {
                Shift::Shallower(blanks) if !is_blank(line.as_bytes()) => {
                    line.strip_prefix(blanks.as_str())?
                }
                Shift::Deeper(blanks) if !is_blank(line.as_bytes()) => {
                    shifted.push_str(blanks);
                    line
                }
                _ => line,
            };
            shifted.push_str(line);
        }
        Some(shifted)
    }
}

fn is_blank(line: &[u8]) -> bool {
    let mut chunks = line.utf8_chunks();
    chunks.all(|chunk| chunk.invalid().is_empty() && chunk.valid().chars().all(char::is_whitespace))
}

/// A text that is the same however its lines are shifted together.
///
/// Before its content a line says only how its indentation differs from that of the line before:
/// what that one has more, NUL, what this one has more, NUL. Blank lines stay as they are.
pub(super) struct Relative(Vec<u8>);

impl Relative {
    pub(super) fn of(text: &[u8], call: &Call) -> Result<Relative, Error> {
        let mut relative = Vec::with_capacity(text.len() + text.len() / 8);
        for (round, line) in Lines::of(text).enumerate() {
            if round % ROUNDS == 0 {
                go_on(call)?;
            }
            if let Some((less, more)) = line.step {
                relative.extend_from_slice(less);
                relative.push(0);
                relative.extend_from_slice(more);
                relative.push(0);
            }
            relative.extend_from_slice(line.content);
        }
        Ok(Relative(relative))
    }
}

/// A line of a text, its end included.
struct Line<'a> {
    start: usize,
    indentation: &'a [u8],
    /// All after the indentation; of a blank line, all.
    content: &'a [u8],
    /// What the indentation of the line before has more, and what this has; of a blank line none.
    step: Option<(&'a [u8], &'a [u8])>,
}

impl Line<'_> {
    /// The bytes before the content in the relative text.
    fn prefix(&self) -> usize {
        self.step.map_or(0, |(less, more)| less.len() + more.len() + 2)
    }
}

/// The lines of a text.
struct Lines<'a> {
    text: &'a [u8],
    start: usize,
    /// The indentation of the last line that was not blank.
    before: &'a [u8],
}

impl<'a> Lines<'a> {
    fn of(text: &'a [u8]) -> Lines<'a> {
        Lines { text, start: 0, before: &[] }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let start = self.start;
        let rest = self.text.get(start..).filter(|rest| !rest.is_empty())?;
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = rest.get(..len)?;
        self.start += len;
        if is_blank(line) {
            return Some(Line { start, indentation: &[], content: line, step: None });
        }
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let (indentation, content) = line.split_at_checked(blanks)?;
        let pairs = self.before.iter().zip(indentation);
        let same = pairs.take_while(|(a, b)| a == b).count();
        let step = Some((self.before.get(same..)?, indentation.get(same..)?));
        self.before = indentation;
        Some(Line { start, indentation, content, step })
    }
}

/// The indentation of a line: its spaces and tabs before anything else.
pub(super) fn indentation(line: &str) -> &str {
    let content = line.trim_start_matches([' ', '\t']);
    line.strip_suffix(content).unwrap_or(line)
}

/// How `old_text` is indented with the other kind of blanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blanks {
    /// As the file is.
    Same,
    /// With spaces where the file has tabs; so many for a tab.
    ToTabs(usize),
    /// With tabs where the file has spaces; so many for a tab.
    ToSpaces(usize),
}

/// Spaces that may stand for a tab.
const WIDTHS: [usize; 3] = [4, 2, 8];

impl Blanks {
    /// The ways in which the indentation of `old` could be that of a file.
    pub(super) fn of(old: &str, file: &[u8]) -> Vec<Blanks> {
        let has = |blank: char| old.lines().any(|line| indentation(line).contains(blank));
        let file_has = |blank: u8| {
            file.first() == Some(&blank) || memchr::memmem::find(file, &[b'\n', blank]).is_some()
        };
        let mut kinds = vec![Blanks::Same];
        if has(' ') && file_has(b'\t') {
            kinds.extend(WIDTHS.map(Blanks::ToTabs));
        }
        if has('\t') && file_has(b' ') {
            kinds.extend(WIDTHS.map(Blanks::ToSpaces));
        }
        kinds
    }

    /// The text with its indentation converted; `None` if a line mixes both kinds in a way that
    /// can mean several things.
    pub(super) fn apply(self, text: &str) -> Option<String> {
        let mut converted = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            let blanks = indentation(line);
            if is_blank(line.as_bytes()) {
                converted.push_str(line);
                continue;
            }
            converted.push_str(&self.converted(blanks)?);
            converted.push_str(line.strip_prefix(blanks)?);
        }
        Some(converted)
    }

    fn converted(self, blanks: &str) -> Option<String> {
        match self {
            Blanks::Same => Some(blanks.to_owned()),
            Blanks::ToTabs(_) if blanks.contains('\t') => None,
            Blanks::ToTabs(width) => {
                Some("\t".repeat(blanks.len() / width) + &" ".repeat(blanks.len() % width))
            }
            Blanks::ToSpaces(width) => {
                let rest = blanks.trim_start_matches('\t');
                let tabs = blanks.len() - rest.len();
                (!rest.contains('\t')).then(|| " ".repeat(tabs * width + rest.len()))
            }
        }
    }
}

/// How `old_text` becomes the lines of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) blanks: Blanks,
    pub(super) shift: Shift,
}

impl Fit {
    pub(super) const EXACT: Fit = Fit { blanks: Blanks::Same, shift: Shift::None };

    /// The text as it is in the file; `None` if a line cannot be told.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        self.shift.apply(&self.blanks.apply(text)?)
    }
}

/// A range of the folded file, and how its lines stand to those of `old_text`.
pub(super) type Hit = (Range<usize>, Shift);

/// The lines of `old_text` that are looked for in a file; both are folded.
pub(super) struct Block<'a> {
    pub(super) file: &'a Folded,
    /// The text of the file.
    pub(super) relative: &'a Relative,
    pub(super) old: &'a Folded,
    /// Whether lines that are indented alike count, too.
    pub(super) with_same: bool,
}

impl Block<'_> {
    /// The whole lines of the file that are those of the block but for one shift, at most `most`
    /// of them, and whether there are more; only such as are `apart` from each other if so asked.
    pub(super) fn find(
        &self,
        most: usize,
        apart: bool,
        call: &Call,
    ) -> Result<(Vec<Hit>, bool), Error> {
        let mut hits: Vec<Hit> = Vec::new();
        let old = &self.old.text;
        let Some(first) = Lines::of(old).find(|line| line.step.is_some()) else {
            return Ok((hits, false));
        };
        let lines = Lines::of(old).filter(|line| line.step.is_some()).count();
        let Relative(needle) = Relative::of(old, call)?;
        // What stands before the first line that says something is compared at each place.
        let needle = checked::bytes(&needle, first.start + first.prefix()..)?;
        let mut cursor = Cursor::of(&self.file.text);
        let (mut rounds, mut asked) = (0, 0);
        let mut occurrences = Occurrences::of(needle, &self.relative.0);
        while let Some(at) = occurrences.next() {
            rounds += 1;
            if rounds % ROUNDS == 0 || occurrences.work() > asked {
                go_on(call)?;
                asked = occurrences.work() + (1 << 20);
            }
            let Some(line) = cursor.line_with(at, call)? else { continue };
            let Some(hit) = self.hit(&first, lines, line) else { continue };
            if apart && hits.last().is_some_and(|(last, _)| hit.0.start < last.end) {
                continue;
            }
            if hits.len() == most {
                return Ok((hits, true));
            }
            hits.push(hit);
        }
        occurrences.check()?;
        Ok((hits, false))
    }

    /// The block at the `line` of the file that has the content of its `first` line, `lines` of
    /// the block being not blank.
    fn hit(&self, first: &Line<'_>, lines: usize, line: &Line<'_>) -> Option<Hit> {
        let (file, old) = (&self.file.text, &self.old.text);
        let shift = if self.with_same && line.indentation == first.indentation {
            Shift::None
        } else {
            Shift::between(line.indentation, first.indentation)?
        };
        let start = line.start.checked_sub(first.start)?;
        // From the end, so that no blank line is compared for more than one place.
        let blank = old.get(..first.start)?.iter().rev();
        let above = file.get(start..line.start)?;
        let is_start = start == 0 || file.get(start - 1) == Some(&b'\n');
        if !is_start || !blank.eq(above.iter().rev()) {
            return None;
        }
        let end = match &shift {
            Shift::None => start + old.len(),
            Shift::Deeper(blanks) => start + old.len() + lines * blanks.len(),
            Shift::Shallower(blanks) => (start + old.len()).checked_sub(lines * blanks.len())?,
        };
        let is_whole = old.ends_with(b"\n") && !self.old.ends_in_blanks();
        (is_whole || self.file.ends_line(end)).then_some((start..end, shift))
    }
}

/// Goes through the lines of a text by places in its relative text.
struct Cursor<'a> {
    lines: Lines<'a>,
    line: Option<Line<'a>>,
    /// Where the content of the line begins and ends in the relative text.
    content: Range<usize>,
}

impl<'a> Cursor<'a> {
    fn of(text: &'a [u8]) -> Cursor<'a> {
        Cursor { lines: Lines::of(text), line: None, content: 0..0 }
    }

    /// The line whose content begins at `at`, which does not lie before the place asked last.
    fn line_with(&mut self, at: usize, call: &Call) -> Result<Option<&Line<'a>>, Error> {
        let mut rounds = 0;
        while self.content.end <= at {
            let Some(line) = self.lines.next() else { return Ok(None) };
            let start = self.content.end + line.prefix();
            self.content = start..start + line.content.len();
            self.line = Some(line);
            rounds += 1;
            if rounds % ROUNDS == 0 {
                go_on(call)?;
            }
        }
        Ok(self.line.as_ref().filter(|_| self.content.start == at))
    }
}
