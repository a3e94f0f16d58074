//! What becomes of a whole index when its filters are put together.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use std::fs;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::index::IndexOptions;
use crate::index::record::{Content, DirectoryRecord};
use crate::workspace::Workspace;

/// How many files of one shape there are.
const FILES: usize = 2 * FILTERS + 5;

/// A tree whose stamps are believed.
fn tree() -> TempDir {
    let temporary = TempDir::new().unwrap();
    for number in 0..FILES {
        let directory = temporary.path().join(format!("d{}", number % 3));
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join(format!("{number:03}")), format!("fn f{number:03}()")).unwrap();
    }
    fs::write(temporary.path().join("binary"), b"\0").unwrap();
    fs::write(temporary.path().join("large"), "one two three\n".repeat(20_000)).unwrap();
    thread::sleep(Duration::from_millis(130));
    temporary
}

/// An index of it all that has made no bundles yet.
fn learned(tree: &TempDir, most: usize) -> Index {
    let options = IndexOptions::default().with_max_bytes(most).in_the_foreground();
    let index = Index::open(&Workspace::open(tree.path()).unwrap(), options, 2).unwrap();
    index.build(&Call::default()).unwrap();
    index
}

fn records(index: &Index) -> Vec<DirectoryRecord> {
    let directories = index.inner.cache.directories();
    directories.iter().map(|cached| index.inner.tables.of(cached).record(None)).collect()
}

/// How many filters are by themselves.
fn alone(index: &Index) -> usize {
    let mut alone = 0;
    for cached in index.inner.cache.directories() {
        index.inner.tables.of(&cached).for_each_alone(|_, _| alone += 1);
    }
    alone
}

fn made(index: &Index) -> usize {
    index.inner.tables.sliced.made()
}

#[test]
fn whatever_is_known_is_known_in_bundles_too_and_takes_hardly_more_room() {
    let tree = tree();
    let index = learned(&tree, 1 << 30);
    let (before, taken) = (records(&index), index.inner.budget.used());
    assert_eq!((made(&index), alone(&index)), (0, FILES + 1));
    make(&index, &Call::default(), || ());
    assert_eq!((made(&index), alone(&index)), (2, 5 + 1));
    assert_eq!(records(&index), before);
    let (status, budget) = (index.status(), index.inner.budget.used());
    assert_eq!(status.files, FILES as u64 + 2);
    assert!(budget <= taken + 2 * size_of::<BitSlices>(), "{budget} bytes instead of {taken}");
    index.clear().unwrap();
    assert_eq!(index.inner.budget.used(), 0);
}

#[test]
fn bundles_stay_as_they_are_and_only_new_filters_are_put_into_more() {
    let tree = tree();
    let index = learned(&tree, 1 << 30);
    assert!(!index.inner.tables.sliced.are_wanted());
    index.inner.tables.sliced.note(WORTH);
    assert!(index.inner.tables.sliced.are_wanted());
    for _ in 0..2 {
        make(&index, &Call::default(), || ());
        assert_eq!((made(&index), alone(&index)), (2, 5 + 1));
        assert!(!index.inner.tables.sliced.are_wanted());
    }
}

#[test]
fn without_room_or_time_filters_stay_by_themselves() {
    let tree = tree();
    let index = learned(&tree, 1 << 30);
    let call = Call::default().with_timeout(Duration::ZERO);
    make(&index, &call, || ());
    assert_eq!(made(&index), 0, "the call was over");
    let full = Index { inner: index.inner.clone(), owner: None };
    let rest = full.inner.budget.reserve((1 << 30) - full.inner.budget.used() - 4000, 0).unwrap();
    make(&full, &Call::default(), || ());
    assert_eq!((made(&full), alone(&full)), (0, FILES + 1), "there is no room");
    drop(rest);
}

#[test]
fn a_file_that_is_learned_anew_meanwhile_keeps_its_new_filter() {
    let tree = tree();
    let index = learned(&tree, 1 << 30);
    let cached = &index.inner.cache.directories()[1];
    let table = index.inner.tables.of(cached);
    let (position, shape, old) = loose(&table).swap_remove(0);
    let new: Arc<[u8]> = old.gathered().to_vec().into();
    let mut known = None;
    table.for_each(|one| known = known.take().or_else(|| Some(one.clone())));
    let content = Content::Filtered(Bits::Owned(new));
    let known = crate::index::record::KnownFile { content, ..known.unwrap() };
    assert!(index.learn(&table, position, known));
    let taken = index.inner.budget.reserve(0, 0).unwrap();
    let filters = std::iter::repeat_n(old.alone().unwrap(), FILTERS);
    let slices = Arc::new(BitSlices::new((0, taken), shape, filters));
    table.slices(position, &old, Column { slices, position: 0 });
    assert_eq!(loose(&table).len(), FILES.div_ceil(3));
}
