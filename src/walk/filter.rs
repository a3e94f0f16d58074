//! The caller's filter: globs and file types that narrow what the walk found.

use crate::error::{Error, ErrorCode};
use crate::walk::file_types::FileTypes;
use crate::walk::globs::PathGlobs;

/// Which files the caller wants; every part must let a file pass, and none lets in a file that
/// another rule left out. The default lets everything pass.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathFilter {
    include: PathGlobs,
    exclude: PathGlobs,
    file_types: Option<FileTypes>,
    names_hidden: bool,
}

impl PathFilter {
    /// Compiles the filter, or fails with `INVALID_PATTERN` for a glob and `INVALID_ARGUMENT` for a
    /// file type. A glob in `include` that starts with `!` excludes.
    pub(crate) fn new(
        include: &[String],
        exclude: &[String],
        file_types: &[String],
    ) -> Result<PathFilter, Error> {
        if let Some(glob) = exclude.iter().find(|glob| glob.starts_with('!')) {
            let shown = crate::text::clip::truncate(glob, 200);
            let message = format!("invalid glob `{shown}`: `exclude` excludes without `!`");
            return Err(Error::new(ErrorCode::InvalidPattern, message)
                .with_hint("Leave out the `!`, or write `\\!` for the character itself."));
        }
        let negated = include.iter().filter_map(|glob| glob.strip_prefix('!'));
        let excluded: Vec<&str> = exclude.iter().map(String::as_str).chain(negated).collect();
        let mut included = include.iter().map(String::as_str).collect::<Vec<_>>();
        included.retain(|glob| !glob.starts_with('!'));
        Ok(PathFilter {
            include: PathGlobs::new(&included)?,
            exclude: PathGlobs::new(&excluded)?,
            file_types: (!file_types.is_empty()).then(|| FileTypes::new(file_types)).transpose()?,
            names_hidden: included.iter().any(|glob| PathGlobs::names_hidden(glob)),
        })
    }

    /// Whether everything passes.
    pub(crate) fn is_everything(&self) -> bool {
        self.include.is_empty() && self.exclude.is_empty() && self.file_types.is_none()
    }

    /// Whether the file passes; `path` is relative to the workspace root, and its first `start`
    /// bytes are the searched directory (0 for the root).
    pub(crate) fn passes(&self, path: &[u8], start: usize) -> bool {
        if let Some(file_types) = &self.file_types {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            if !file_types.matches(name) {
                return false;
            }
        }
        (self.include.is_empty() || self.include.matches(path, start))
            && !self.exclude.matches(path, start)
    }

    /// Whether a directory is left out with all that is below it.
    pub(crate) fn prunes(&self, path: &[u8], start: usize) -> bool {
        self.exclude.matches(path, start)
    }

    /// Whether an included glob names a file or directory that starts with a dot.
    pub(crate) fn names_hidden(&self) -> bool {
        self.names_hidden
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(
        include: &[&str],
        exclude: &[&str],
        file_types: &[&str],
    ) -> Result<PathFilter, Error> {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        PathFilter::new(&owned(include), &owned(exclude), &owned(file_types))
    }

    #[test]
    fn the_default_lets_everything_pass() {
        assert!(PathFilter::default().passes(b"any/\xff", 0));
    }

    #[test]
    fn every_part_must_let_a_file_pass() {
        type Globs = &'static [&'static str];
        let cases: [(Globs, Globs, Globs, &str, bool); 9] = [
            (&["*.rs"], &[], &[], "src/a.rs", true),
            (&["*.rs", "*.py"], &[], &[], "a.py", true),
            (&["*.rs"], &["src/**"], &[], "src/a.rs", false),
            (&["*.rs"], &[], &["py"], "a.rs", false),
            (&["src/**"], &[], &["py"], "src/a.py", true),
            (&["!*.rs"], &[], &[], "a.rs", false),
            (&["!*.rs"], &[], &[], "a.py", true),
            (&["src/**", "!*.py"], &[], &[], "src/a.py", false),
            (&[], &["node_modules/"], &[], "web/node_modules/x/y.js", false),
        ];
        for (include, exclude, file_types, path, passes) in cases {
            let filter = filter(include, exclude, file_types).unwrap();
            assert_eq!(filter.passes(path.as_bytes(), 0), passes, "{include:?} {exclude:?} {path}");
        }
    }

    #[test]
    fn an_exclude_cannot_include() {
        assert_eq!(
            filter(&[], &["!a"], &[]).unwrap_err().to_string(),
            "invalid glob `!a`: `exclude` excludes without `!`. \
             Leave out the `!`, or write `\\!` for the character itself."
        );
    }

    #[test]
    fn only_an_included_glob_names_hidden_files() {
        assert!(filter(&[".env*"], &[], &[]).unwrap().names_hidden());
        assert!(!filter(&["!.env*", "*"], &[".git/**"], &[]).unwrap().names_hidden());
    }
}
