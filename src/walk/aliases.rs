//! How paths below a start are shown: as the caller named it, where a link leads from there.

use std::borrow::Cow;

/// The starts that were named by a path with links, with the path that each really has. A walk works
/// with real paths; only what is shown is spelled as the caller did.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathAliases {
    /// The real path and the named one, in order of the real ones; none lies below another.
    named: Vec<(Vec<u8>, Vec<u8>)>,
}

impl PathAliases {
    /// The spelling of what lies below these starts, each its real path and the named one.
    pub(super) fn new(mut named: Vec<(Vec<u8>, Vec<u8>)>) -> PathAliases {
        named.sort();
        PathAliases { named }
    }

    /// The path as it is shown.
    pub(crate) fn shown<'a>(&self, path: &'a [u8]) -> Cow<'a, [u8]> {
        if self.named.is_empty() {
            return path.into();
        }
        let found = match self.named.binary_search_by(|(real, _)| real.as_slice().cmp(path)) {
            Ok(at) => self.named.get(at),
            Err(_) => above(path).find_map(|real| {
                let at = self.named.binary_search_by(|(own, _)| own.as_slice().cmp(real)).ok()?;
                self.named.get(at)
            }),
        };
        match found.filter(|(real, _)| holds(real, path)) {
            Some((real, named)) => {
                // With the slash of a directory, if it has one.
                let rest = path.get(real.len()..).unwrap_or_default();
                let slash = if real.is_empty() { &b"/"[..] } else { b"" };
                [named, slash, rest].concat().into()
            }
            None => path.into(),
        }
    }
}

/// The directories above a path, the nearest first, down to the empty path of the root.
fn above(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(parent(path), |path| parent(path))
}

fn parent(path: &[u8]) -> Option<&[u8]> {
    let end = path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    if path.is_empty() { None } else { path.get(..end) }
}

/// Tells whether a path is `real` or lies below it.
fn holds(real: &[u8], path: &[u8]) -> bool {
    let rest = path.strip_prefix(real);
    real.is_empty() || rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_a_start_is_spelled_as_the_start_was() {
        let pair = |real: &str, named: &str| (real.into(), named.into());
        let named = vec![pair("a b", "space"), pair("d", "link/to"), pair("d-/f", "file")];
        let aliases = PathAliases { named };
        let cases = [
            ("d", "link/to"),
            ("d/", "link/to/"),
            ("d/x/y", "link/to/x/y"),
            ("d-", "d-"),
            ("d-/f", "file"),
            ("d-/f2", "d-/f2"),
            ("d-/x", "d-/x"),
            ("dx", "dx"),
            ("a", "a"),
            ("a b/c", "space/c"),
        ];
        for (path, shown) in cases {
            let path = path.as_bytes();
            assert_eq!(String::from_utf8_lossy(&aliases.shown(path)), shown);
        }
        let root = PathAliases { named: vec![pair("", "link")] };
        assert_eq!(&*root.shown(b"a/b"), b"link/a/b");
        assert_eq!(&*PathAliases::default().shown(b"a/b"), b"a/b");
    }
}
