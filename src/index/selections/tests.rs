//! Which walks keep what they visit, and for how long.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use std::ops::ControlFlow;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::context::Call;
use crate::index::file_table::FileTable;
use crate::index::signatures::BitsPerByte;
use crate::index::snapshot::Snapshot;
use crate::pool::Pool;
use crate::walk::{
    Batch, DirectoryReport, ResultSink, Scope, Visitor, Walk, WalkControl, WalkRoot,
};
use ripkit_fs::Workspace;

/// Counts the files that a walk visits.
struct FileCounter;

impl Visitor for FileCounter {
    const INLINE: bool = true;
    type State = ();
    type Output = usize;

    fn weight(_: &usize) -> usize {
        0
    }

    fn state(&self) {}

    fn visit(&self, (): &mut (), batch: &Batch, _: &dyn WalkControl, count: &Mutex<usize>) {
        *lock(count) += batch.entries().count();
    }
}

struct Sum(usize);

impl ResultSink<usize> for Sum {
    fn directory(&mut self, _: DirectoryReport) {}

    fn results(&mut self, count: usize) -> ControlFlow<()> {
        self.0 += count;
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
        let options = WalkOptions {
            roots: WalkRoot::resolve(&self.workspace, &[]).unwrap(),
            source: Some(Arc::new(self.snapshot.begin())),
            ..options
        };
        let (pool, call) = (Pool::new(1), Call::default());
        let scope = Scope::new(&self.workspace, &pool, &call);
        let walk = Walk::run(scope, options, (FileCounter, Sum(0)));
        let (Sum(count), incomplete) = walk.unwrap();
        assert_eq!(incomplete, None);
        count
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
