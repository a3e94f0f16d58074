//! A file as people name it: `src/a.rs:42`, `@src/a.rs`.

use crate::error::{Error, ErrorCode};
use crate::text::{confusable, escape};
use crate::workspace::{Access, Workspace, WorkspacePath};

/// A file as a model names it.
pub(crate) struct Named {
    pub(crate) path: WorkspacePath,
    /// The line that the name told.
    pub(crate) line: Option<i64>,
    /// How the name was understood, if not as it stands.
    pub(crate) note: Option<String>,
}

impl Named {
    /// Finds the file; where no such one exists, `src/a.rs:42` and `@src/a.rs` are understood.
    pub(crate) fn find(workspace: &Workspace, text: &str) -> Result<Named, Error> {
        let error = match workspace.resolve(text, Access::Read) {
            Ok(path) => return Ok(Named { path, line: None, note: None }),
            Err(error) => error,
        };
        if error.code() != ErrorCode::FileNotFound {
            return Err(error);
        }
        let plain = text.strip_prefix('@').unwrap_or(text);
        // A compiler adds the column: `src/a.rs:42:7`.
        let spellings = [split_line(text), Some((plain, None)), split_line(plain)];
        let lines = spellings.iter().flatten().filter_map(|(name, _)| split_line(name));
        let spellings: Vec<_> = spellings.iter().flatten().copied().chain(lines).collect();
        let mut others = spellings.into_iter().filter(|(name, _)| *name != text);
        let found = others.find_map(|(name, line)| {
            let path = workspace.resolve(name, Access::Read).ok()?;
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            let note =
                format!("path: took {} as {path}{place}", escape::exact_path(text.as_bytes()));
            Some(Named { path, line, note: Some(note) })
        });
        if let Some(found) = found {
            return Ok(found);
        }
        // A model often cannot write the other name: it reads both as the same words.
        let Ok(Some(path)) = workspace.find_lookalike(text) else { return Err(error) };
        let bytes = escape::unescape(text).unwrap_or_else(|| text.as_bytes().to_vec());
        let Ok(asked) = str::from_utf8(&bytes) else { return Err(error) };
        let real = confusable::escaped(path.as_str(), asked);
        let asked = confusable::escaped(asked, path.as_str());
        Ok(Named { path, line: None, note: Some(format!("path: took {asked} as {real}")) })
    }
}

/// The name and the line of `name:line`, as a search prints them.
fn split_line(text: &str) -> Option<(&str, Option<i64>)> {
    let (name, line) = text.rsplit_once(':')?;
    let digits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Some((name, Some(line.parse().ok()?))))?
}
