//! The root of the workspace, and where one stands in it.

use std::env;
use std::path::Path;

use ripkit::workspace::OuterIgnores;
use ripkit::{Error, Workspace, path_text};
use serde_json::Value;

use super::globals::Globals;
use super::home;

/// Opens the workspace of the command line, in which files may be changed.
pub(super) fn open_workspace(globals: &Globals) -> Result<Workspace, Error> {
    let workspace = Workspace::open(globals.root())?;
    // Only a person's own program may look above the root and into the home directory.
    let mut outer = OuterIgnores::above(workspace.root());
    let excludes = home::may_be_asked().then(ignore::gitignore::gitconfig_excludes_path);
    if let Some(excludes) = excludes.flatten() {
        outer = outer.with_global_excludes(&excludes);
    }
    let workspace = workspace.with_outer_ignores(outer);
    Ok(if globals.relaxed { workspace.relaxed() } else { workspace })
}

/// The way from the root down to the current directory.
pub(super) struct Standing {
    /// With `/` and without an end slash; empty at the root and outside of it.
    below: String,
    /// Whether that is an escaped text, as its names are not all UTF-8.
    is_escaped: bool,
}

impl Standing {
    /// Looks where the process stands; outside of `root` paths are taken from the root.
    pub(super) fn below(root: &Path) -> Standing {
        let here = env::current_dir().and_then(|here| here.canonicalize());
        let (Ok(here), Ok(root)) = (here, root.canonicalize()) else {
            return Standing { below: String::new(), is_escaped: false };
        };
        let below = here.strip_prefix(&root).unwrap_or(Path::new(""));
        let names: Option<Vec<&str>> = below.iter().map(|name| name.to_str()).collect();
        match names {
            Some(names) => Standing { below: names.join("/"), is_escaped: false },
            None => Standing { below: path_text(below).into_owned(), is_escaped: true },
        }
    }

    /// Stands in a directory given as text.
    #[cfg(test)]
    pub(super) fn at(below: &str) -> Standing {
        Standing { below: below.to_owned(), is_escaped: false }
    }

    /// The path or paths of an argument, as the tools want them.
    pub(super) fn rooted(&self, paths: Value) -> Value {
        match paths {
            Value::String(path) if !self.below.is_empty() && Path::new(&path).is_relative() => {
                Value::String(self.rooted_path(&path))
            }
            Value::Array(paths) => paths.into_iter().map(|path| self.rooted(path)).collect(),
            other => other,
        }
    }

    /// A mention such as `@lib.rs` stays one, unless a file is called so.
    fn rooted_path(&self, path: &str) -> String {
        match path.strip_prefix('@') {
            Some(name) if Path::new(path).symlink_metadata().is_err() => {
                format!("@{}/{name}", self.below)
            }
            _ => self.joined(path),
        }
    }

    /// The tools take a path as it is or as escaped as a whole, so that its two parts must be alike.
    fn joined(&self, path: &str) -> String {
        let escape = |plain: &str| plain.replace('\\', "\\\\");
        let exists = || Path::new(path).symlink_metadata().is_ok();
        let is_plain = !cfg!(unix) || !path.contains('\\') || exists();
        match (self.is_escaped, is_plain) {
            (false, false) => format!("{}/{path}", escape(&self.below)),
            (true, true) => format!("{}/{}", self.below, escape(path)),
            _ => format!("{}/{path}", self.below),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn relative_paths_are_taken_from_where_one_stands() {
        let below = Standing::at("src/walk");
        assert_eq!(below.rooted(json!("mod.rs")), json!("src/walk/mod.rs"));
        assert_eq!(below.rooted(json!("../lib.rs")), json!("src/walk/../lib.rs"));
        assert_eq!(below.rooted(json!(["a", "/etc"])), json!(["src/walk/a", "/etc"]));
        assert_eq!(below.rooted(json!("@no-such.rs:3")), json!("@src/walk/no-such.rs:3"));
        let at_root = Standing::at("");
        assert_eq!(at_root.rooted(json!("mod.rs")), json!("mod.rs"));
    }
}
