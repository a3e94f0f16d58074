//! Unified diffs, git's included. The numbers of a hunk are only hints: models count badly.

use crate::patch::lines::{HunkLines, PatchLines, Side};
use crate::patch::{Action, FilePatch, PatchHunk};

const NOWHERE: &str = "/dev/null";

/// Suffixes of old copies, as in `--- a.c.orig`.
const OLD_SUFFIXES: [&str; 4] = [".orig", ".old", ".bak", "~"];

/// Pairs of prefixes that git puts before the old and the new name.
const PREFIXES: [(&str, &str); 6] =
    [("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("b/", "a/")];

/// Whether a diff begins at a line.
pub(super) fn begins_at(lines: &[&str], at: usize) -> bool {
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    line(at).starts_with("diff --git ") || is_names(line(at), line(at + 1))
}

/// Whether the lines are `--- old` and `+++ new`.
fn is_names(first: &str, second: &str) -> bool {
    first.starts_with("--- ") && second.starts_with("+++ ")
}

/// A line `@@ -1,3 +1,4 @@ section`, in which the numbers may be missing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct HunkHeader<'a> {
    pub(super) old_start: Option<usize>,
    /// The numbers of old and of new lines.
    counts: Option<[usize; 2]>,
    /// The text behind the numbers.
    pub(super) section: &'a str,
}

/// Parses a line that begins with `@@`.
pub(super) fn hunk_header(line: &str) -> Option<HunkHeader<'_>> {
    let rest = line.strip_prefix("@@")?;
    let (numbers, section) = rest.split_once("@@").unwrap_or((rest, ""));
    let numbered = || {
        let mut ranges = numbers.split_whitespace();
        let (old_start, old) = range(ranges.next()?.strip_prefix('-')?)?;
        let (_, new) = range(ranges.next()?.strip_prefix('+')?)?;
        let start = Some(old_start).filter(|start| *start > 0);
        Some(HunkHeader { old_start: start, counts: Some([old, new]), section: section.trim() })
    };
    Some(numbered().unwrap_or(HunkHeader { section: section.trim(), ..HunkHeader::default() }))
}

/// The start and the count of `3,4` or `3`.
fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// The changes of files.
pub(super) fn parse(lines: PatchLines<'_>) -> Vec<FilePatch> {
    let last_signed = lines.last_number(|line| line.starts_with(['+', '-', ' ', '@']));
    let mut parser = Parser { lines, last_signed };
    let mut files = Vec::new();
    while let Some(line) = parser.lines.peek() {
        if line.starts_with("diff --git ") || parser.is_at_names() {
            files.push(parser.file());
        } else {
            parser.lines.skip();
        }
    }
    files
}

struct Parser<'a> {
    lines: PatchLines<'a>,
    /// The number of the last line that may be one of a hunk.
    last_signed: Option<usize>,
}

/// What stands above the hunks of a file.
#[derive(Default)]
struct FileHeader<'a> {
    /// The names behind `diff --git`.
    git: Option<&'a str>,
    /// The names behind `---` and `+++`.
    names: Option<(&'a str, &'a str)>,
    renamed: (Option<&'a str>, Option<&'a str>),
    old_mode: Option<&'a str>,
    new_mode: Option<&'a str>,
    is_created: bool,
    is_deleted: bool,
    is_copy: bool,
    is_binary: bool,
}

impl<'a> Parser<'a> {
    fn is_at_names(&self) -> bool {
        is_names(self.lines.peek().unwrap_or_default(), self.lines.ahead(1).unwrap_or_default())
    }

    fn file(&mut self) -> FilePatch {
        let line = self.lines.number();
        let header = self.header();
        let mut hunks = Vec::new();
        let mut refused = None;
        while let Some(next) = self.lines.peek() {
            if next.starts_with("@@@") {
                refused = Some("a diff of a merge (@@@) cannot be applied".to_owned());
                break;
            } else if next.starts_with("@@") {
                hunks.push(self.hunk());
            } else if next.trim().is_empty() {
                self.lines.skip();
            } else {
                break;
            }
        }
        let (path, action) = header.action(hunks);
        let action = refused.map_or(action, Action::Refused);
        FilePatch { path, line, action, notes: header.notes() }
    }

    fn header(&mut self) -> FileHeader<'a> {
        let mut header = FileHeader::default();
        if let Some(names) = self.lines.peek().and_then(|line| line.strip_prefix("diff --git ")) {
            header.git = Some(names);
            self.lines.skip();
        }
        while let Some(line) = self.lines.peek() {
            if self.is_at_names() {
                let new = self.lines.ahead(1).and_then(|line| line.strip_prefix("+++ "));
                header.names = line.strip_prefix("--- ").zip(new);
                self.lines.skip();
                self.lines.skip();
                break;
            }
            if header.git.is_none() || !header.extend(line) {
                break;
            }
            self.lines.skip();
        }
        header
    }

    fn hunk(&mut self) -> PatchHunk {
        let number = self.lines.number();
        let header = self.lines.peek().and_then(hunk_header).unwrap_or_default();
        self.lines.skip();
        let mut hunk = HunkLines::default();
        hunk.line = header.old_start;
        hunk.headers.extend(Some(header.section.to_owned()).filter(|text| !text.is_empty()));
        while let Some(line) = self.lines.peek() {
            let counts = hunk.counts();
            let is_complete = header.counts.is_some_and(|wanted| counts == wanted);
            if self.ends_hunk(
                line,
                is_complete,
                header.counts.map(|wanted| missing(wanted, counts)),
            ) {
                break;
            }
            if !hunk.push_signed(line) {
                let has_all_old = header.counts.is_none_or(|wanted| counts[0] >= wanted[0]);
                let is_fence = line.starts_with("```") && (has_all_old || !self.goes_on());
                if is_complete || is_fence {
                    break;
                }
                // An unchanged line without its space; it must be in the file like this.
                hunk.push(Side::Both, line);
            }
            self.lines.skip();
        }
        let line = number;
        PatchHunk { hunk: hunk.finish(header.counts.map(|counts| counts[0])), line }
    }

    /// Whether a line of a hunk is anywhere below the next one.
    fn goes_on(&self) -> bool {
        self.last_signed.is_some_and(|last| last > self.lines.number())
    }

    /// Whether a line does not belong to the hunk above it, which is complete by its numbers or lacks
    /// so many lines.
    fn ends_hunk(&self, line: &str, is_complete: bool, missing: Option<[usize; 2]>) -> bool {
        if line.starts_with("@@") || line.starts_with("diff --git ") {
            return true;
        }
        if self.is_at_names() {
            // Or a removed line `-- x` and an added one `++ x`, with which the hunk is complete.
            let follows_hunk = self.lines.ahead(2).is_some_and(|line| line.starts_with("@@"));
            let are_content = missing.is_some_and(|[old, new]| old > 0 && new > 0);
            return is_complete || (follows_hunk && missing != Some([1, 1])) || !are_content;
        }
        // An empty line, or the signature of a mail.
        is_complete && (line.trim().is_empty() || line.trim_end() == "--")
    }
}

/// How many old and new lines are missing.
fn missing(wanted: [usize; 2], counts: [usize; 2]) -> [usize; 2] {
    [wanted[0].saturating_sub(counts[0]), wanted[1].saturating_sub(counts[1])]
}

impl<'a> FileHeader<'a> {
    /// Adds a line below `diff --git`; `false` if it is none of the header.
    fn extend(&mut self, line: &'a str) -> bool {
        let known = [
            ("old mode ", &mut self.old_mode),
            ("new mode ", &mut self.new_mode),
            ("rename from ", &mut self.renamed.0),
            ("rename to ", &mut self.renamed.1),
        ];
        for (start, value) in known {
            if let Some(rest) = line.strip_prefix(start) {
                *value = Some(rest.trim_end());
                return true;
            }
        }
        if let Some(mode) = line.strip_prefix("new file mode ") {
            (self.is_created, self.new_mode) = (true, Some(mode.trim_end()));
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            self.is_copy = true;
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            self.is_binary = true;
        } else {
            let others = ["index ", "similarity index ", "dissimilarity index "];
            return others.iter().any(|start| line.starts_with(start));
        }
        true
    }

    /// The path and what happens to it.
    fn action(&self, hunks: Vec<PatchHunk>) -> (String, Action) {
        let (old, new) = self.paths();
        let is_deleted = self.is_deleted || new == NOWHERE;
        let is_created = self.is_created || (old == NOWHERE && !is_deleted);
        let path = if is_created { new.clone() } else { old.clone() };
        let refused = |why: &str| (path.clone(), Action::Refused(why.to_owned()));
        if self.is_copy {
            return refused("a copy cannot be applied; add the file with its whole content");
        }
        if self.is_binary {
            return (path, Action::Binary);
        }
        match self.new_mode {
            Some("120000") => return refused("a link (mode 120000) cannot be made"),
            Some("160000") => return refused("a submodule (mode 160000) cannot be changed"),
            _ => {}
        }
        if is_deleted {
            return (path, Action::Delete(hunks));
        }
        if is_created {
            return match hunks.as_slice() {
                [] => (path, Action::Create(String::new())),
                [only] if only.hunk.texts.old_text.is_empty() => {
                    (path, Action::Create(only.hunk.texts.new_text.clone()))
                }
                _ => refused("a new file is one hunk, in which every line begins with +"),
            };
        }
        if old == new {
            return match (hunks.is_empty(), self.new_mode) {
                (true, Some(_)) => refused("it changes only the mode, which is not supported"),
                (true, None) => refused("it has no hunk"),
                _ => (path, Action::Update { hunks, are_blocks: false, move_to: None }),
            };
        }
        let is_old_copy = OLD_SUFFIXES.iter().any(|suffix| old.strip_suffix(suffix) == Some(&new));
        if is_old_copy {
            return (new, Action::Update { hunks, are_blocks: false, move_to: None });
        }
        if self.renamed == (None, None) {
            return (
                path,
                Action::Refused(format!(
                    "it has two names, {old} and {new}; a move has the lines rename from and rename to"
                )),
            );
        }
        (path, Action::Update { hunks, are_blocks: false, move_to: Some(new) })
    }

    /// The old and the new path.
    fn paths(&self) -> (String, String) {
        if let (Some(from), Some(to)) = self.renamed {
            return (unquoted(from), unquoted(to));
        }
        let names = self.names.map(|(old, new)| (name(old), name(new)));
        let (old, new) = match (names, self.git) {
            (Some(names), _) => names,
            (None, Some(git)) => git_names(git),
            (None, None) => (String::new(), String::new()),
        };
        let has_old = |prefix: &str| old == NOWHERE || old.starts_with(prefix);
        let has_new = |prefix: &str| new == NOWHERE || new.starts_with(prefix);
        let prefixes = PREFIXES.iter().find(|(one, other)| has_old(one) && has_new(other));
        let Some((one, other)) = prefixes else { return (old, new) };
        let without =
            |name: &str, prefix: &str| name.strip_prefix(prefix).unwrap_or(name).to_owned();
        (without(&old, one), without(&new, other))
    }

    fn notes(&self) -> Vec<String> {
        let mode = match (self.old_mode, self.new_mode) {
            (Some(old), Some(new)) => format!("the mode was not changed from {old} to {new}"),
            (None, Some(new)) if new != "100644" => format!("the mode {new} was not set"),
            _ => return Vec::new(),
        };
        vec![mode]
    }
}

/// The name behind `---` or `+++`, without the time behind a tab.
fn name(text: &str) -> String {
    if text.starts_with('"') {
        return unquoted(text);
    }
    let name = text.split_once('\t').map_or(text, |(name, _)| name);
    name.trim_end().to_owned()
}

/// The names behind `diff --git`, which are the same but for their prefixes if nothing else tells.
fn git_names(text: &str) -> (String, String) {
    let text = text.trim_end();
    if text.starts_with('"')
        && let Some((old, new)) = text.split_once("\" ")
    {
        return (unquoted(&format!("{old}\"")), unquoted(new));
    }
    let spaces = text.match_indices(' ').filter_map(|(at, _)| {
        let (old, new) = text.split_at_checked(at)?;
        Some((old, new.strip_prefix(' ')?))
    });
    let below =
        |name: &str| name.split_once('/').map_or(name.to_owned(), |(_, path)| path.to_owned());
    let halves = spaces.into_iter().find(|(old, new)| old == new || below(old) == below(new));
    let (old, new) = halves.or_else(|| text.split_once(' ')).unwrap_or((text, text));
    (unquoted(old), unquoted(new))
}

/// A name without the quotes and escapes with which git writes names that are not plain ASCII.
fn unquoted(text: &str) -> String {
    let text = text.trim_end();
    let inner = text.strip_prefix('"').and_then(|text| text.split_once('"').map(|_| text));
    let Some(inner) = inner else { return text.to_owned() };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => {}
            byte => {
                bytes.push(byte);
                continue;
            }
        }
        let Some(escape) = rest.next() else { break };
        bytes.push(match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'v' => 11,
            b'f' => 12,
            digit @ b'0'..=b'3' => {
                let digits = [Some(digit), rest.next(), rest.next()];
                let digits = digits.into_iter().flatten().map(|digit| digit.wrapping_sub(b'0') & 7);
                digits.fold(0_u8, |code, digit| code.wrapping_mul(8).wrapping_add(digit))
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
