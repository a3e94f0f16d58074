//! Which walks keep what they visit, and for how long.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::context::Call;
use crate::index::file_table::FileTable;
use crate::index::signatures::BitsPerByte;
use crate::index::snapshot::Snapshot;
use crate::pool::Pool;
use crate::test_rng::{TestRng, rounds};
use crate::walk::{
    Batch, DirectoryReport, ResultSink, Scope, Visitor, Walk, WalkControl, WalkRoot,
};
use ripkit_fs::Workspace;

/// Collects the paths of the files that a walk visits.
struct PathCollector;

impl Visitor for PathCollector {
    const INLINE: bool = true;
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

/// What a walk visited, and what it left out.
#[derive(Debug, Default, PartialEq)]
struct Visited {
    paths: Vec<String>,
    ignored: u64,
    directories: u64,
}

impl ResultSink<Vec<String>> for Visited {
    fn directory(&mut self, report: DirectoryReport) {
        self.ignored += report.stats.skipped.ignored_files;
        self.directories += report.stats.directories;
    }

    fn results(&mut self, paths: Vec<String>) -> ControlFlow<()> {
        self.paths.extend(paths);
        ControlFlow::Continue(())
    }
}

/// A tree with the files `a/x` and `b/.y`, and a snapshot of it.
struct Tree {
    temporary: TempDir,
    workspace: Workspace,
    snapshot: Arc<Snapshot>,
}

impl Tree {
    fn new(watched: bool) -> Tree {
        let temporary = TempDir::new().unwrap();
        for (directory, name) in [("a", "x"), ("b", ".y")] {
            std::fs::create_dir(temporary.path().join(directory)).unwrap();
            std::fs::write(temporary.path().join(directory).join(name), "").unwrap();
        }
        // The root is found unchanged by its fingerprint, which must not be racy.
        thread::sleep(Duration::from_millis(130));
        let workspace = Workspace::open(temporary.path()).unwrap();
        let files = Arc::new(FileTable::new(BitsPerByte::default()));
        let snapshot = Snapshot::new(workspace.root_handle(), files, usize::MAX, watched);
        Tree { temporary, workspace, snapshot: Arc::new(snapshot) }
    }

    /// Walks the tree; returns how many files were visited.
    fn walk(&self, options: WalkOptions) -> usize {
        let source = Arc::new(self.snapshot.begin());
        self.visited(WalkOptions { source: Some(source), ..options }).paths.len()
    }

    fn visited(&self, options: WalkOptions) -> Visited {
        let roots = WalkRoot::resolve(&self.workspace, &[]).unwrap();
        let (pool, call) = (Pool::new(1), Call::default());
        let scope = Scope::new(&self.workspace, &pool, &call);
        let sink = (PathCollector, Visited::default());
        let (visited, incomplete) =
            Walk::run(scope, WalkOptions { roots, ..options }, sink).unwrap();
        assert_eq!(incomplete, None);
        visited
    }

    fn states(&self) -> Vec<State> {
        let states = lock(&self.snapshot.selections().0);
        states.iter().map(|(_, state)| state.clone()).collect()
    }

    /// The only selection that is kept.
    fn kept(&self) -> Arc<KeptSelection> {
        match self.states().as_slice() {
            [State::Kept(kept)] => kept.clone(),
            states => panic!("{states:?}"),
        }
    }
}

fn all() -> WalkOptions {
    WalkOptions { hidden: true, contents: true, ..WalkOptions::default() }
}

#[test]
fn the_second_of_equal_walks_keeps_what_it_visits_until_a_listing_changes() {
    let tree = Tree::new(true);
    assert_eq!(tree.walk(all()), 2);
    assert!(matches!(tree.states().as_slice(), [State::Seen]));
    assert_eq!(tree.walk(all()), 2);
    let first = tree.kept();
    assert_eq!(tree.walk(all()), 2);
    assert!(Arc::ptr_eq(&tree.kept(), &first), "nothing changed");
    std::fs::write(tree.temporary.path().join("a/x"), "other content").unwrap();
    assert_eq!(tree.walk(all()), 2);
    assert!(Arc::ptr_eq(&tree.kept(), &first), "the entries are the same");
    std::fs::write(tree.temporary.path().join("a/new"), "").unwrap();
    assert_eq!(tree.walk(all()), 3);
    assert!(!Arc::ptr_eq(&tree.kept(), &first), "an entry was added");
}

#[test]
fn a_new_ignore_rule_makes_another_selection() {
    let tree = Tree::new(true);
    let rules = tree.temporary.path().join("a/.ignore");
    std::fs::write(&rules, "nothing").unwrap();
    assert_eq!([tree.walk(all()), tree.walk(all())], [3, 3]);
    let first = tree.kept();
    std::fs::write(&rules, "x").unwrap();
    assert_eq!(tree.walk(all()), 2);
    assert!(!Arc::ptr_eq(&tree.kept(), &first));
}

#[test]
fn walks_with_other_options_have_selections_of_their_own() {
    let tree = Tree::new(true);
    let visible = || WalkOptions { hidden: false, ..all() };
    let filtered =
        || WalkOptions { filter: PathFilter::new(&["x".into()], &[], &[]).unwrap(), ..all() };
    for round in 0..3 {
        let counts = [tree.walk(all()), tree.walk(visible()), tree.walk(filtered())];
        assert_eq!(counts, [2, 1, 1], "{round}");
    }
    assert_eq!(tree.states().len(), 3);
    assert!(tree.states().iter().all(|state| matches!(state, State::Kept(_))));
}

#[test]
fn the_selections_of_the_latest_walks_are_kept() {
    let tree = Tree::new(true);
    for depth in 1..=MAX_SELECTIONS + 2 {
        let limited = || WalkOptions { max_depth: Some(depth), ..all() };
        tree.walk(limited());
        tree.walk(limited());
    }
    assert_eq!(tree.states().len(), MAX_SELECTIONS);
}

#[test]
fn without_watches_nothing_is_kept() {
    let tree = Tree::new(false);
    assert_eq!([tree.walk(all()), tree.walk(all())], [2, 2]);
    assert!(tree.states().is_empty());
}

/// Makes a change of a tree of directories `a` to `c`, three levels deep.
fn change(dice: &mut TestRng, root: &Path) {
    let mut directory = || {
        let names = (0..dice.below(4)).map(|_| ["a", "b", "c"][dice.below(3)]);
        names.fold(root.to_path_buf(), |path, name| path.join(name))
    };
    let (from, to) = (directory(), directory());
    let name = ["0", "a!", "ab", "b.x", "z"][dice.below(5)];
    // Each of these may fail, as what it needs is not there.
    let _ = match dice.below(40) {
        0..16 => fs::write(to.join(name), "text"),
        16..24 => fs::remove_file(to.join(name)),
        24..30 => fs::rename(from.join(name), to.join(name)),
        30 => fs::create_dir_all(&to),
        31 => fs::rename(&from, to.join(["a", "b", "c"][dice.below(3)])),
        32 => fs::write(to.join(".ignore"), ["ab", "b", "z\n!ab"][dice.below(3)]),
        // Two directories change places.
        _ => fs::rename(to.join("a"), to.join("swap"))
            .and_then(|()| fs::rename(to.join("b"), to.join("a")))
            .and_then(|()| fs::rename(to.join("swap"), to.join("b"))),
    };
}

#[test]
fn a_selection_is_brought_up_to_date_after_any_change() {
    let (mut updated, mut steps) = (0, 0);
    for seed in 1..=rounds(3) {
        let mut dice = TestRng(seed * 0x9e37_79b9);
        let tree = Tree::new(true);
        for number in 0..27 {
            let name = |place: usize| ["a", "b", "c"][number / place % 3];
            let directory = [name(9), name(3), name(1)].iter().collect::<PathBuf>();
            fs::create_dir_all(tree.temporary.path().join(directory)).unwrap();
        }
        let mut before: Option<Arc<Selection>> = None;
        for step in 0..100 {
            for _ in 0..=dice.below(3) {
                change(&mut dice, tree.temporary.path());
            }
            let source = Arc::new(tree.snapshot.begin());
            let visited = tree.visited(WalkOptions { source: Some(source), ..all() });
            assert_eq!(visited, tree.visited(all()), "seed {seed}, step {step}");
            if let [State::Kept(kept)] = tree.states().as_slice() {
                let now = kept.selection();
                updated += u32::from(before.is_some_and(|before| now.is_update_of(&before)));
                before = Some(now.clone());
                steps += 1;
            }
        }
    }
    assert!(updated * 4 > steps, "of {steps} only {updated} were not made anew");
}
