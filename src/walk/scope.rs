//! What a glob is matched against, which follows from how it is written.

use crate::error::{Error, ErrorCode};

/// What a glob is matched against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobAnchor {
    /// The name of the file, at any depth.
    Name,
    /// The path from the workspace root or from the searched directory.
    Path,
    /// The path from the searched directory.
    FromStart,
}

impl GlobAnchor {
    /// Brings the ways to write a glob into one form, and tells what that is matched against.
    pub(crate) fn of(glob: &str) -> Result<(GlobAnchor, String), Error> {
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
            return Ok((GlobAnchor::Name, "*".to_owned()));
        }
        Ok(scoped(segments, is_anchored, is_directory))
    }
}

/// Joins the segments of a glob into the form that its scope is matched with.
fn scoped(mut segments: Vec<&str>, is_anchored: bool, is_directory: bool) -> (GlobAnchor, String) {
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
        (true, _) => GlobAnchor::FromStart,
        (false, 1) => GlobAnchor::Name,
        (false, _) => GlobAnchor::Path,
    };
    if is_deep && scope != GlobAnchor::Name {
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
            ("*.rs", GlobAnchor::Name, "*.rs"),
            ("./*.rs", GlobAnchor::Name, "*.rs"),
            ("**/**/*.rs", GlobAnchor::Name, "*.rs"),
            ("**", GlobAnchor::Name, "**"),
            ("./", GlobAnchor::Name, "*"),
            ("src//./*.rs", GlobAnchor::Path, "src/*.rs"),
            ("src/", GlobAnchor::Path, "**/src/**"),
            ("a/src/", GlobAnchor::Path, "a/src/**"),
            ("**/a/b", GlobAnchor::Path, "**/a/b"),
            ("/a", GlobAnchor::FromStart, "a"),
            ("/src/", GlobAnchor::FromStart, "src/**"),
            ("/**/a", GlobAnchor::FromStart, "**/a"),
        ];
        for (glob, scope, form) in cases {
            assert_eq!(GlobAnchor::of(glob).unwrap(), (scope, form.to_owned()), "{glob}");
        }
    }
}
