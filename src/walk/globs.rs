//! A set of the caller's globs: what each is matched against, and the limits of one call.

use std::collections::HashSet;

use globset::{Candidate, ErrorKind, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::arguments::{MAX_GLOB_BYTES, MAX_GLOBS, too_many};
use crate::error::{Error, ErrorCode};
use crate::walk::scope::{GlobAnchor, invalid};

/// The deepest nesting of braces in a glob; compiling recurses that deep.
const MAX_BRACES: usize = 16;

/// A set of globs over workspace-relative paths.
///
/// A glob without `/` is matched against the file name at any depth. With a `/` it is matched
/// against the path from the workspace root or from the searched directory, and with a leading
/// `/` from the searched directory alone. A trailing `/` stands for everything under the
/// directories of that name or path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathGlobs {
    names: GlobSet,
    paths: GlobSet,
    from_start: GlobSet,
}

impl PathGlobs {
    /// Compiles `globs`.
    ///
    /// # Errors
    /// `INVALID_PATTERN` for one that is malformed, `INVALID_ARGUMENT` for one that is blank or
    /// longer than [`MAX_GLOB_BYTES`] and for more than [`MAX_GLOBS`] different ones.
    pub(crate) fn new<G: AsRef<str>>(globs: &[G]) -> Result<PathGlobs, Error> {
        let mut names = GlobSetBuilder::new();
        let mut paths = GlobSetBuilder::new();
        let mut from_start = GlobSetBuilder::new();
        let mut known = HashSet::new();
        for glob in globs {
            let glob = glob.as_ref();
            if !known.insert(glob) {
                continue;
            }
            if known.len() > MAX_GLOBS {
                return Err(too_many("globs", globs.len(), MAX_GLOBS)
                    .with_hint("Join them with braces: `*.{rs,toml}`."));
            }
            check_limits(glob)?;
            let (scope, normalized) = GlobAnchor::of(glob)?;
            let set = match scope {
                GlobAnchor::Name => &mut names,
                GlobAnchor::Path => &mut paths,
                GlobAnchor::FromStart => &mut from_start,
            };
            let compiled = GlobBuilder::new(&normalized)
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            set.add(compiled.map_err(|error| malformed(glob, error.kind()))?);
        }
        Ok(PathGlobs {
            names: built(&names)?,
            paths: built(&paths)?,
            from_start: built(&from_start)?,
        })
    }

    /// Whether the set holds no glob and so matches nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty() && self.from_start.is_empty()
    }

    /// Whether a glob matches `path`, which is relative to the workspace root; its first `start`
    /// bytes are the searched directory.
    pub(crate) fn matches(&self, path: &[u8], start: usize) -> bool {
        if !self.names.is_empty() {
            let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
            if self.names.is_match_candidate(&Candidate::from_bytes(name)) {
                return true;
            }
        }
        if self.paths.is_empty() && self.from_start.is_empty() {
            return false;
        }
        let below = below(path, start);
        let from_start = Candidate::from_bytes(below);
        self.from_start.is_match_candidate(&from_start)
            || self.paths.is_match_candidate(&from_start)
            || (below.len() < path.len()
                && self.paths.is_match_candidate(&Candidate::from_bytes(path)))
    }

    /// Whether `glob` is a plain path, without anything that could match another.
    pub(crate) fn is_literal(glob: &str) -> bool {
        !glob.contains(['*', '?', '[', ']', '{', '}', '\\'])
    }

    /// Whether `glob` names a file or directory that starts with a dot, as in `.github/**`.
    pub(crate) fn names_hidden(glob: &str) -> bool {
        // Where a segment may start: at the start, after `/`, and in braces that start there.
        let mut at_start = true;
        let mut braces = Vec::new();
        let mut chars = glob.chars().peekable();
        while let Some(ch) = chars.next() {
            match ch {
                '/' => at_start = true,
                '{' => braces.push(at_start),
                ',' if !braces.is_empty() => at_start = braces.last().copied().unwrap_or(false),
                '}' => {
                    braces.pop();
                    at_start = false;
                }
                '\\' => {}
                '.' if at_start => match chars.peek() {
                    // `.` and `..` are no names.
                    None | Some('/') => at_start = false,
                    Some('.') => {
                        chars.next();
                        at_start = false;
                    }
                    Some(_) => return true,
                },
                _ => at_start = false,
            }
        }
        false
    }
}

/// The part of `path` below the searched directory.
fn below(path: &[u8], start: usize) -> &[u8] {
    match path.get(start..) {
        Some([b'/', rest @ ..]) => rest,
        Some(rest) if !rest.is_empty() => rest,
        _ => path,
    }
}

fn built(builder: &GlobSetBuilder) -> Result<GlobSet, Error> {
    builder.build().map_err(|_| {
        invalid("the globs are too large when compiled").with_hint("Use fewer or shorter globs.")
    })
}

fn check_limits(glob: &str) -> Result<(), Error> {
    if glob.len() > MAX_GLOB_BYTES {
        let message = format!("a glob has {} bytes, more than {MAX_GLOB_BYTES}", glob.len());
        return Err(
            Error::new(ErrorCode::InvalidArgument, message).with_hint("Use several shorter globs.")
        );
    }
    let mut depth = 0_usize;
    for byte in glob.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACES {
            let message = format!("a glob nests braces more than {MAX_BRACES} deep");
            return Err(invalid(message).with_hint("Use several simpler globs."));
        }
    }
    Ok(())
}

fn malformed(glob: &str, kind: &ErrorKind) -> Error {
    let (reason, next_step) = match kind {
        ErrorKind::UnclosedClass => {
            ("a `[` is never closed", "For the character itself write `[[]` or `\\[`.")
        }
        ErrorKind::InvalidRange(..) => {
            ("a range runs backwards", "Write the smaller end first: `[a-z]`.")
        }
        ErrorKind::UnopenedAlternates => {
            ("a `}` closes nothing", "For the character itself write `[}]` or `\\}`.")
        }
        ErrorKind::UnclosedAlternates => {
            ("a `{` is never closed", "For the character itself write `[{]` or `\\{`.")
        }
        ErrorKind::DanglingEscape => (
            "it ends in a lone backslash",
            "Separate directories with `/`, and write `\\\\` for a backslash.",
        ),
        _ => ("it cannot be compiled", "Use a simpler glob."),
    };
    let shown = crate::text::clip::truncate(glob, 200);
    invalid(format!("invalid glob `{shown}`: {reason}")).with_hint(next_step)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn matches(glob: &str, path: &[u8], start: usize) -> bool {
        PathGlobs::new(&[glob]).unwrap().matches(path, start)
    }

    #[test]
    fn a_glob_matches_what_it_says_and_nothing_else() {
        // The glob, what it matches and what not; `|` ends the searched directory.
        let cases: [(&str, &[&str], &[&str]); 26] = [
            ("*.rs", &["a.rs", "src/a.rs", ".rs", "x/|y/a.rs"], &["a.rsx", "a.rs/b"]),
            ("Makefile", &["Makefile", "a/b/Makefile"], &["Makefile/x", "makefile"]),
            ("./a.rs", &["a.rs", "src/a.rs"], &[]),
            ("././src/*.rs", &["src/a.rs"], &["a.rs", "src/x/a.rs"]),
            ("src/*.rs", &["src/a.rs", "lib/|src/a.rs"], &["lib/src/a.rs", "src/b/a.rs"]),
            ("src//*.rs", &["src/a.rs"], &[]),
            ("src/./*.rs", &["src/a.rs"], &[]),
            ("lib/src/*.rs", &["lib/|src/a.rs", "lib/|lib/src/a.rs"], &["lib/x/|src/a.rs"]),
            ("/a.rs", &["a.rs", "src/|a.rs"], &["src/a.rs", "src/|x/a.rs"]),
            ("/src/*.rs", &["src/a.rs", "lib/|src/a.rs"], &["lib/src/a.rs", "src/|a.rs"]),
            ("src/", &["src/a", "src/a/b", "lib/src/a"], &["src", "asrc/b"]),
            ("/src/", &["src/a", "src/a/b"], &["lib/src/a", "src"]),
            ("lib/src/", &["lib/src/a", "lib/|src/a"], &["x/lib/src/a"]),
            ("src/**", &["src/a", "src/a/b", "lib/|src/a"], &["src", "lib/src/a"]),
            ("**", &["a", "a/b/c", ".x"], &[]),
            ("/", &["a", "a/b/c"], &[]),
            ("**/*.rs", &["a.rs", "b/c/a.rs"], &["a.rs/b"]),
            ("**/src/*.rs", &["src/a.rs", "x/y/src/a.rs"], &["src/b/a.rs"]),
            ("src/**/a.rs", &["src/a.rs", "src/x/y/a.rs"], &["a.rs"]),
            ("*.{rs,toml}", &["a.rs", "b/Cargo.toml"], &["a.py"]),
            ("{src,lib}/*.rs", &["src/a.rs", "lib/a.rs"], &["bin/a.rs"]),
            ("a[0-9]?.txt", &["a1b.txt", "x/a2_.txt"], &["ab1.txt"]),
            ("a\\[b\\].rs", &["a[b].rs"], &["ab.rs"]),
            ("**/src/", &["src/a", "x/src/a/b"], &["src", "asrc/b"]),
            ("/**/a.rs", &["a.rs", "src/|x/a.rs", "x/a.rs"], &["a.rs/b"]),
            ("?", &["a"], &["ab"]),
        ];
        for (glob, yes, no) in cases {
            for (path, expected) in
                yes.iter().map(|path| (path, true)).chain(no.iter().map(|path| (path, false)))
            {
                let start = path.find('|').unwrap_or(0);
                let path = path.replace('|', "");
                assert_eq!(
                    matches(glob, path.as_bytes(), start),
                    expected,
                    "{glob} {path} {start}"
                );
                let before_slash = start.saturating_sub(1);
                assert_eq!(matches(glob, path.as_bytes(), before_slash), expected, "{glob} {path}");
            }
        }
    }

    #[test]
    fn names_need_not_be_text() {
        assert!(matches("*.rs", b"\xff\xfe.rs", 0));
        assert!(matches("src/**", b"src/\xff", 0));
        assert!(!matches("*.rs", b"\xff", 7));
    }

    #[test]
    fn malformed_globs_are_told_with_the_way_round() {
        let cases = [
            (
                "a[b",
                "invalid glob `a[b`: a `[` is never closed. For the character itself write `[[]` or `\\[`.",
            ),
            (
                "[z-a]",
                "invalid glob `[z-a]`: a range runs backwards. Write the smaller end first: `[a-z]`.",
            ),
            (
                "a}",
                "invalid glob `a}`: a `}` closes nothing. For the character itself write `[}]` or `\\}`.",
            ),
            (
                "{a,b",
                "invalid glob `{a,b`: a `{` is never closed. For the character itself write `[{]` or `\\{`.",
            ),
            (
                "\\",
                "invalid glob `\\`: it ends in a lone backslash. Separate directories with `/`, and write `\\\\` for a backslash.",
            ),
            (
                "../*.rs",
                "invalid glob `../*.rs`: a path never has `..` in it. Write the glob from the workspace root or from the searched directory.",
            ),
        ];
        for (glob, expected) in cases {
            let error = PathGlobs::new(&[glob]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidPattern);
            assert_eq!(error.to_string(), expected);
        }
        for blank in ["", " ", "\t\n", "\u{a0}"] {
            let error = PathGlobs::new(&[blank]).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidArgument);
            assert_eq!(error.to_string(), "a glob is blank. `**` matches all files.");
        }
    }

    #[test]
    fn the_limits_of_a_call_are_told() {
        let cases = [
            (
                vec!["?".repeat(1 << 20)],
                "a glob has 1048576 bytes, more than 1024. Use several shorter globs.",
            ),
            (
                vec!["{".repeat(125) + &"}".repeat(125)],
                "a glob nests braces more than 16 deep. Use several simpler globs.",
            ),
            (
                (0..65).map(|number| format!("a{number}")).collect(),
                "globs: at max 64 different values are taken, got 65 values. \
                 Join them with braces: `*.{rs,toml}`.",
            ),
        ];
        for (globs, expected) in cases {
            assert_eq!(PathGlobs::new(&globs).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn hostile_globs_are_answered_soon() {
        let globs = [
            "{".repeat(125) + &"}".repeat(125),
            "{".repeat(16) + "a,b" + &"}".repeat(16),
            "?".repeat(1 << 20),
            "?".repeat(1024),
            "{a,b}".repeat(30),
            "{a,b}".repeat(200),
            "*a".repeat(25) + "b",
            "**/".repeat(300) + "x",
            "x/**/".repeat(200) + "x",
            "[!a]".repeat(250),
            "[z-a]".to_owned(),
            "\\".to_owned(),
            "é".repeat(500),
        ];
        let limit = Duration::from_millis(if cfg!(debug_assertions) { 1000 } else { 50 });
        let path = "x/".repeat(100) + &"a".repeat(200);
        for glob in &globs {
            let started = Instant::now();
            let _ = PathGlobs::new(&[glob]).map(|globs| globs.matches(path.as_bytes(), 2));
            let elapsed = started.elapsed();
            let start: String = glob.chars().take(20).collect();
            assert!(elapsed < limit, "{start}: {elapsed:?}");
        }
    }

    #[test]
    fn literal_globs_and_hidden_names_are_recognized() {
        for glob in ["src/main.rs", "a b", ".env", "!x"] {
            assert!(PathGlobs::is_literal(glob), "{glob}");
        }
        for glob in ["*", "a?", "[a]", "{a}", "\\a"] {
            assert!(!PathGlobs::is_literal(glob), "{glob}");
        }
        for glob in [
            ".env*",
            ".github/**",
            "**/.github/*",
            "/.x",
            "{a,.b}",
            "x/{.a,b}",
            "\\.a",
            "./.a",
            "{x,{y,.z}}",
        ] {
            assert!(PathGlobs::names_hidden(glob), "{glob}");
        }
        for glob in ["*.rs", "./a", "../a", "a.b/c", "*{.rs,.py}", "{a,b}.rs", "a,.b", ".", ".."] {
            assert!(!PathGlobs::names_hidden(glob), "{glob}");
        }
    }
}
