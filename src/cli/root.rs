//! The root of the workspace, and where one stands in it.

use std::env;
use std::path::Path;

use ripkit::workspace::OuterIgnores;
use ripkit::{Error, ErrorCode, Workspace};
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
}

impl Standing {
    /// Looks where the process stands; outside of `root` paths are taken from the root.
    pub(super) fn below(root: &Path) -> Result<Standing, Error> {
        let here = env::current_dir().and_then(|here| here.canonicalize());
        let (Ok(here), Ok(root)) = (here, root.canonicalize()) else {
            return Ok(Standing { below: String::new() });
        };
        let names = here.strip_prefix(&root).into_iter().flat_map(Path::iter);
        let names =
            names.map(|name| name.to_str()).collect::<Option<Vec<_>>>().ok_or_else(|| {
                let message = "the name of the current directory is not UTF-8";
                Error::new(ErrorCode::InvalidPath, message)
                    .with_hint("Stand elsewhere and give paths relative to the root.")
            })?;
        Ok(Standing { below: names.join("/") })
    }

    /// Stands in a directory given as text.
    #[cfg(test)]
    pub(super) fn at(below: &str) -> Standing {
        Standing { below: below.to_owned() }
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
