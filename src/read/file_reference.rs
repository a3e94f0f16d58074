//! File references as models write them: `src/a.rs:42`, `@src/a.rs`.

use crate::error::{Error, ErrorCode};
use ripkit_fs::names as confusable;
use ripkit_fs::{Access, Workspace, WorkspacePath, escape};

/// A resolved file reference.
pub(crate) struct FileReference {
    pub(crate) path: WorkspacePath,
    /// The line number in the reference.
    pub(crate) line: Option<i64>,
    /// How the reference was interpreted, if not literally.
    pub(crate) note: Option<String>,
}

impl FileReference {
    /// Resolves the text as a path. If no such file exists, it tries the forms `src/a.rs:42` and
    /// `@src/a.rs`, then a name that is confusable with the path.
    pub(crate) fn resolve(workspace: &Workspace, text: &str) -> Result<FileReference, Error> {
        let error = match workspace.resolve(text, Access::Read) {
            Ok(path) => return Ok(FileReference { path, line: None, note: None }),
            Err(error) => error,
        };
        if error.code() != ErrorCode::FileNotFound {
            return Err(error);
        }
        let plain = text.strip_prefix('@').unwrap_or(text);
        // Compilers add the column: `src/a.rs:42:7`.
        let spellings = [split_line(text), Some((plain, None)), split_line(plain)];
        let lines = spellings.iter().flatten().filter_map(|(name, _)| split_line(name));
        let spellings: Vec<_> = spellings.iter().flatten().copied().chain(lines).collect();
        let mut others = spellings.into_iter().filter(|(name, _)| *name != text);
        let found = others.find_map(|(name, line)| {
            let path = workspace.resolve(name, Access::Read).ok()?;
            let place = line.map_or_else(String::new, |line| format!(", line {line}"));
            let note =
                format!("path: took {} as {path}{place}", escape::exact_path(text.as_bytes()));
            Some(FileReference { path, line, note: Some(note) })
        });
        if let Some(found) = found {
            return Ok(found);
        }
        // A model often cannot write the real name, because it reads both as the same tokens.
        let Ok(Some(path)) = workspace.find_lookalike(text) else { return Err(error) };
        let bytes = escape::unescape(text).unwrap_or_else(|| text.as_bytes().to_vec());
        let Ok(asked) = str::from_utf8(&bytes) else { return Err(error) };
        let real = confusable::escaped(path.as_str(), asked);
        let asked = confusable::escaped(asked, path.as_str());
        Ok(FileReference { path, line: None, note: Some(format!("path: took {asked} as {real}")) })
    }
}

/// Splits `name:line`, as a search prints it.
fn split_line(text: &str) -> Option<(&str, Option<i64>)> {
    let (name, line) = text.rsplit_once(':')?;
    let digits = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| Some((name, Some(line.parse().ok()?))))?
}
