//! SEARCH/REPLACE blocks: a path, and below it the text to replace and the text in its place.

use crate::edit::Replacement;
use crate::edit::hunks::Hunk;
use crate::error::{Error, ErrorCode};
use crate::patch::lines::PatchLines;
use crate::patch::{Action, FilePatch, PatchHunk};

/// Whether a block begins at the line.
pub(super) fn is_search(line: &str) -> bool {
    is_marker(line, &['<', '-'], "SEARCH")
}

fn is_replace(line: &str) -> bool {
    is_marker(line, &['>', '+'], "REPLACE")
}

fn is_divider(line: &str) -> bool {
    is_marker(line, &['='], "")
}

/// Whether a line is one of these signs, five to nine times, and a word.
fn is_marker(line: &str, signs: &[char], word: &str) -> bool {
    let Some(sign) = signs.iter().find(|sign| line.starts_with(**sign)) else { return false };
    let rest = line.trim_start_matches(*sign);
    (5..10).contains(&(line.len() - rest.len())) && rest.trim().trim_end_matches('>') == word
}

/// The changes of files.
///
/// # Errors
/// `INVALID_ARGUMENT` for a block without a path, without its end, or with several dividers.
pub(super) fn parse(mut lines: PatchLines<'_>) -> Result<Vec<FilePatch>, Error> {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut above: Vec<&str> = Vec::new();
    while let Some(line) = lines.peek() {
        if !is_search(line) {
            above.push(line);
            lines.skip();
            continue;
        }
        let number = lines.number();
        let path = path_above(&above);
        above.clear();
        let block = block(&mut lines);
        let last = files.last_mut();
        let path = match (&path, &last) {
            (Some(path), _) => path.clone(),
            (None, Some(last)) => last.path.clone(),
            (None, None) => {
                let message = format!("line {number} of the patch: no path stands above the block");
                let error = Error::new(ErrorCode::InvalidArgument, message);
                return Err(error.with_hint("Give the path alone on the line above SEARCH."));
            }
        };
        let Some(block) = block else {
            return Err(Error::new(
                ErrorCode::InvalidArgument,
                format!(
                    "line {number} of the patch: the block has no single line ======= followed by \
                     >>>>>>> REPLACE"
                ),
            ));
        };
        let hunk = PatchHunk { hunk: Hunk { texts: block, ..Hunk::default() }, line: number };
        match last {
            Some(FilePatch { path: same, action: Action::Update { hunks, .. }, .. })
                if *same == path && !hunk.hunk.texts.old_text.is_empty() =>
            {
                hunks.push(hunk);
            }
            _ => files.push(FilePatch {
                path,
                line: number,
                action: if hunk.hunk.texts.old_text.is_empty() {
                    Action::Create(hunk.hunk.texts.new_text)
                } else {
                    Action::Update { hunks: vec![hunk], are_blocks: true, move_to: None }
                },
                notes: Vec::new(),
            }),
        }
    }
    Ok(files)
}

/// The texts of a block; `None` if it is not well formed.
fn block(lines: &mut PatchLines<'_>) -> Option<Replacement> {
    lines.skip();
    let mut texts = [String::new(), String::new()];
    let mut dividers = 0;
    while let Some(line) = lines.peek().filter(|line| !is_search(line)) {
        lines.skip();
        if is_replace(line) {
            let [old, new] = texts;
            return (dividers == 1).then(|| Replacement::new(old, new));
        }
        if is_divider(line) {
            dividers += 1;
            continue;
        }
        let text = if dividers == 0 { &mut texts[0] } else { &mut texts[1] };
        text.extend([line, "\n"]);
    }
    None
}

/// The path in the nearest line above a block, without the marks that surround it.
fn path_above(above: &[&str]) -> Option<String> {
    let filled = above.iter().rev().map(|line| line.trim());
    let line = filled.clone().find(|line| !line.is_empty() && !is_fence(line));
    // Some write the path behind the fence.
    let fenced = filled.clone().find_map(|line| line.strip_prefix("```"));
    let fenced = fenced.filter(|path| path.contains(['/', '.']) && !path.contains(' '));
    let line = line.and_then(path_of);
    line.or_else(|| fenced.map(str::to_owned))
}

fn is_fence(line: &str) -> bool {
    line.starts_with("```") || line.starts_with("~~~")
}

/// The path that a line consists of, if it is one.
fn path_of(line: &str) -> Option<String> {
    let marks = ['*', '`', '"', '\'', '#', ' '];
    let mut path = line.trim_matches(marks);
    for word in ["File:", "file:", "Path:", "path:", "Filename:", "filename:"] {
        path = path.strip_prefix(word).unwrap_or(path).trim();
    }
    let path = path.trim_matches(marks).trim_end_matches(':').trim_matches(marks);
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_extension = name.contains('.') && !name.ends_with('.');
    (!path.is_empty() && (has_extension || !path.contains(' '))).then(|| path.to_owned())
}

#[cfg(test)]
mod tests;
