//! When a way is gone again, and when not.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use std::fs;
use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::context::Call;
use crate::pool::Pool;
use crate::walk::{Batch, DirCache, ResultSink, Visitor, Walk, WalkControl, WalkOptions, WalkRoot};
use crate::workspace::Workspace;

/// Collects the paths of all files.
struct Paths;

impl Visitor for Paths {
    type State = ();
    type Output = Vec<String>;

    fn weight(_: &Vec<String>) -> usize {
        0
    }

    fn state(&self) {}

    fn visit(&self, (): &mut (), batch: &Batch, _: &dyn WalkControl, found: &Mutex<Vec<String>>) {
        let paths = batch.entries().map(|(name, _)| batch.path(name));
        lock(found).extend(paths.map(|path| String::from_utf8(path).unwrap()));
    }
}

#[derive(Default)]
struct All {
    paths: Vec<String>,
    directories: u64,
    ignored: u64,
}

impl ResultSink<Vec<String>> for All {
    fn directory(&mut self, report: DirectoryReport) {
        self.directories += report.stats.directories;
        self.ignored += report.stats.skipped.ignored_files;
    }

    fn results(&mut self, found: Vec<String>) -> ControlFlow<()> {
        self.paths.extend(found);
        ControlFlow::Continue(())
    }
}

struct Tree {
    temporary: TempDir,
    workspace: Workspace,
    cache: Arc<DirCache>,
    pool: Pool,
}

impl Tree {
    /// Directories `d000` to `d149`, each with a file and a directory with another one.
    fn new() -> Tree {
        let temporary = TempDir::new().unwrap();
        for number in 0..150 {
            let inner = temporary.path().join(format!("d{number:03}/inner"));
            fs::create_dir_all(&inner).unwrap();
            fs::write(inner.join("leaf.rs"), "").unwrap();
            fs::write(inner.join("../file.rs"), "").unwrap();
        }
        let workspace = Workspace::open(temporary.path()).unwrap();
        let cache = Arc::new(DirCache::new(workspace.root_handle(), usize::MAX, true));
        thread::sleep(Duration::from_millis(130));
        Tree { temporary, workspace, cache, pool: Pool::new(2) }
    }

    fn put(&self, path: &str, content: &str) {
        fs::write(self.temporary.path().join(path), content).unwrap();
    }

    /// A walk with the cache, compared to one without.
    fn walk(&self) -> All {
        self.walk_as(&WalkOptions::default())
    }

    fn walk_as(&self, options: &WalkOptions) -> All {
        let cache = Some(self.cache.begin());
        let recalled = self.walk_with(WalkOptions { cache, ..options.clone() });
        let plain = self.walk_with(options.clone());
        assert_eq!(recalled.paths, plain.paths);
        let counts = |all: &All| (all.directories, all.ignored);
        assert_eq!(counts(&recalled), counts(&plain));
        recalled
    }

    fn walk_with(&self, options: WalkOptions) -> All {
        let roots = WalkRoot::resolve(&self.workspace, &[]).unwrap();
        let options = WalkOptions { roots, ..options };
        let with = (&self.pool, &Call::default());
        let (all, incomplete) =
            Walk::run(&self.workspace, options, with, (Paths, All::default())).unwrap();
        assert_eq!(incomplete, None);
        all
    }

    /// The recorded walks.
    fn recorded(&self) -> Vec<Arc<RecordedWalk>> {
        let walks = lock(&self.cache.walks.0);
        walks.iter().filter_map(|(_, recorded)| Some(recorded.as_ref()?.0.clone())).collect()
    }
}

#[test]
fn a_walk_is_recorded_once_nothing_had_to_be_looked_at() {
    let tree = Tree::new();
    // One lists, one looks again since watches are there, one has nothing to look at.
    for _ in 0..3 {
        tree.walk();
        assert!(tree.recorded().is_empty());
    }
    tree.walk();
    let [route] = &tree.recorded()[..] else { panic!("it is not recorded") };
    assert_eq!(
        (route.directories.len(), route.chunks.len()),
        (301, 301_usize.div_ceil(CHUNK_DIRS))
    );
    assert_eq!(tree.walk().paths.len(), 300);
    assert!(Arc::ptr_eq(route, &tree.recorded()[0]), "it is replayed, not recorded again");
}

#[test]
fn a_change_in_the_tree_is_seen_and_ends_the_record() {
    type Change<'a> = &'a dyn Fn(&Tree);
    let changes: [(&str, Change<'_>); 5] = [
        ("a file comes", &|tree| tree.put("d100/inner/new.rs", "")),
        ("a file goes", &|tree| {
            fs::remove_file(tree.temporary.path().join("d149/inner/leaf.rs")).unwrap();
        }),
        ("rules come", &|tree| tree.put("d070/.ignore", "*.rs\n")),
        ("a directory moves", &|tree| {
            let at = |path| tree.temporary.path().join(path);
            fs::rename(at("d001/inner"), at("d002/moved")).unwrap();
        }),
        ("a directory is another one", &|tree| {
            let at = |path| tree.temporary.path().join(path);
            fs::create_dir(at("other")).unwrap();
            fs::rename(at("d003"), at("gone")).unwrap();
            fs::rename(at("other"), at("d003")).unwrap();
        }),
    ];
    for (name, change) in changes {
        let tree = Tree::new();
        for _ in 0..4 {
            tree.walk();
        }
        let before = tree.recorded();
        assert_eq!(before.len(), 1, "{name}");
        change(&tree);
        tree.walk();
        assert!(tree.recorded().is_empty(), "{name}: it is still believed");
        thread::sleep(Duration::from_millis(130));
        for _ in 0..4 {
            tree.walk();
        }
        assert_eq!(tree.recorded().len(), 1, "{name}: another one is found");
    }
}

#[test]
fn rules_that_change_on_the_way_are_read_again() {
    let tree = Tree::new();
    tree.put("d070/.ignore", "file.rs\n");
    thread::sleep(Duration::from_millis(130));
    for _ in 0..4 {
        assert_eq!(tree.walk().ignored, 1);
    }
    assert_eq!(tree.recorded()[0].ruled.len(), 1);
    tree.put("d070/.ignore", "leaf.rs\nfile.rs\n");
    assert_eq!(tree.walk().ignored, 2);
    assert!(tree.recorded().is_empty());
}

#[test]
fn rules_that_another_walk_read_again_are_not_those_of_the_way() {
    let tree = Tree::new();
    tree.put("d070/.ignore", "file.rs\n");
    thread::sleep(Duration::from_millis(130));
    let other = WalkOptions { contents: true, ..WalkOptions::default() };
    for _ in 0..4 {
        tree.walk();
        tree.walk_as(&other);
    }
    assert_eq!(tree.recorded().len(), 2);
    tree.put("d070/.ignore", "leaf.rs\nfile.rs\n");
    assert_eq!(tree.walk_as(&other).ignored, 2);
    assert_eq!(tree.walk().ignored, 2);
}

#[test]
fn content_that_changes_leaves_the_way_as_it_is() {
    let tree = Tree::new();
    for _ in 0..4 {
        tree.walk();
    }
    let before = tree.recorded();
    tree.put("d100/inner/leaf.rs", "fn main() {}\n");
    tree.walk();
    assert!(Arc::ptr_eq(&before[0], &tree.recorded()[0]));
}

#[test]
fn only_a_few_walks_are_recorded_and_none_without_memory() {
    let tree = Tree::new();
    let names: Vec<_> = (0..6).map(|number| format!("d{number:03}")).collect();
    for path in &names {
        for _ in 0..4 {
            let roots = WalkRoot::resolve(&tree.workspace, std::slice::from_ref(path)).unwrap();
            let cache = Some(tree.cache.begin());
            let options = WalkOptions { roots, cache, ..WalkOptions::default() };
            let with = (&tree.pool, &Call::default());
            Walk::run(&tree.workspace, options, with, (Paths, All::default())).unwrap();
        }
    }
    assert_eq!(tree.recorded().len(), MAX_WALKS);
    let narrow =
        Tree { cache: Arc::new(DirCache::new(tree.workspace.root_handle(), 90_000, true)), ..tree };
    for _ in 0..5 {
        narrow.walk();
    }
    assert!(narrow.recorded().is_empty());
}
