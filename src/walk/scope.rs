//! What a glob is matched against, which follows from how it is written.

use crate::error::{Error, ErrorCode};

/// What a glob is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The name of the file, at any depth.
    Name,
    /// The path from the workspace root or from the searched directory.
    Path,
    /// The path from the searched directory.
    FromStart,
}

impl Scope {
    /// Brings the ways to write a glob into one form, and tells what that is matched against.
    pub(crate) fn of(glob: &str) -> Result<(Scope, String), Error> {
        if glob.trim().is_empty() {
            return Err(Error::new(ErrorCode::InvalidArgument, "a glob is blank")
                .with_hint("`**` matches all files."));
        }
        let is_anchored = glob.starts_with('/');
        let is_directory = glob.ends_with('/');
        let segments: Vec<&str> =
            glob.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
        if segments.contains(&"..") {
            return Err(invalid(format!("invalid glob `{glob}`: a path never has `..` in it"))
                .with_hint(
                    "Write the glob from the workspace root or from the searched directory.",
                ));
        }
        if segments.is_empty() {
            return Ok((Scope::Name, "*".to_owned()));
        }
        Ok(scoped(segments, is_anchored, is_directory))
    }
}

/// Joins the segments of a glob into the form that its scope is matched with.
fn scoped(mut segments: Vec<&str>, is_anchored: bool, is_directory: bool) -> (Scope, String) {
    // As in an ignore file, the name of a directory alone means it at any depth.
    let is_bare_directory = is_directory && !is_anchored && segments.len() == 1;
    let is_deep = is_bare_directory || segments.first() == Some(&"**");
    // `**/name` is the long way to write `name`, which is matched faster.
    while segments.len() > 1 && segments.first() == Some(&"**") {
        segments.remove(0);
    }
    if is_directory {
        segments.push("**");
    }
    let scope = match (is_anchored, segments.len()) {
        (true, _) => Scope::FromStart,
        (false, 1) => Scope::Name,
        (false, _) => Scope::Path,
    };
    if is_deep && scope != Scope::Name {
        segments.insert(0, "**");
    }
    (scope, segments.join("/"))
}

/// An `INVALID_PATTERN` with this message.
pub(crate) fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidPattern, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_glob_has_one_form() {
        let cases = [
            ("*.rs", Scope::Name, "*.rs"),
            ("./*.rs", Scope::Name, "*.rs"),
            ("**/**/*.rs", Scope::Name, "*.rs"),
            ("**", Scope::Name, "**"),
            ("./", Scope::Name, "*"),
            ("src//./*.rs", Scope::Path, "src/*.rs"),
            ("src/", Scope::Path, "**/src/**"),
            ("a/src/", Scope::Path, "a/src/**"),
            ("**/a/b", Scope::Path, "**/a/b"),
            ("/a", Scope::FromStart, "a"),
            ("/src/", Scope::FromStart, "src/**"),
            ("/**/a", Scope::FromStart, "**/a"),
        ];
        for (glob, scope, form) in cases {
            assert_eq!(Scope::of(glob).unwrap(), (scope, form.to_owned()), "{glob}");
        }
    }
}
