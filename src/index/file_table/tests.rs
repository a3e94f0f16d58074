//! Rosters over a directory that is really there.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use tempfile::TempDir;

use super::*;
use crate::context::Call;
use crate::index::{Index, IndexOptions};
use crate::walk::MemoryBudget;
use crate::workspace::{Dir, Workspace};

struct Fixture {
    temporary: TempDir,
    index: Index,
}

impl Fixture {
    /// A directory with these files and the directory `d`.
    fn of(names: &[&str]) -> Fixture {
        let temporary = TempDir::new().unwrap();
        std::fs::create_dir(temporary.path().join("d")).unwrap();
        for name in names {
            std::fs::write(temporary.path().join(name), name).unwrap();
        }
        let workspace = Workspace::open(temporary.path()).unwrap();
        let options = IndexOptions::default().in_the_foreground();
        let fixture = Fixture { temporary, index: Index::open(&workspace, options, 2).unwrap() };
        fixture.index.build(&Call::default()).unwrap();
        fixture
    }

    fn cached(&self) -> Arc<CachedDir> {
        self.index.inner.cache.directory(b"").unwrap()
    }

    fn generation(&self) -> Generation {
        self.index.begin().generation
    }

    fn stat(&self, name: &str) -> io::Result<Stat> {
        Dir::open_ambient(self.temporary.path())?.stat(name.as_bytes())
    }

    fn known(&self, name: &str) -> KnownFile {
        let stamp = Fingerprint::of(&self.stat(name).unwrap());
        KnownFile { stamp, text_bytes: 1, content: Content::Binary }
    }
}

fn position(listing: &DirListing, name: &str) -> usize {
    (0..listing.len()).find(|index| listing.get(*index).unwrap().0 == name.as_bytes()).unwrap()
}

fn learn(table: &FileTable, name: &str, known: KnownFile) {
    let taken = MemoryBudget::new(100).reserve(1, 0).unwrap();
    table.learn(position(&table.listing, name), known, taken);
}

fn names_known(table: &FileTable) -> Vec<String> {
    let known = (0..table.listing.len()).filter(|index| table.knows(*index));
    let name = |index| String::from_utf8(table.listing.get(index).unwrap().0.to_vec()).unwrap();
    let mut names: Vec<_> = known.map(name).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_excluded_only_while_its_stamp_is_the_same() {
    let fixture = Fixture::of(&["a", "b"]);
    let cached = fixture.cached();
    let not_there = || Err(io::ErrorKind::NotFound.into());
    let other = || fixture.stat("b");
    let directory = || fixture.stat("d");
    let looks: [(&dyn Fn() -> io::Result<Stat>, bool); 4] =
        [(&|| fixture.stat("a"), true), (&other, false), (&directory, false), (&not_there, false)];
    for (look, is_same) in looks {
        let table = FileTable::new(cached.listing.clone());
        learn(&table, "a", fixture.known("a"));
        let file =
            FileRef { name: b"a", position: position(&cached.listing, "a"), cached: &cached };
        let excluded = table.exclude(file, None, fixture.generation(), look);
        assert_eq!(excluded, is_same.then_some(Excluded::Binary));
        assert_eq!(table.knows(file.position), is_same, "another file is forgotten");
        learn(&table, "a", fixture.known("a"));
        table.refresh(file, fixture.generation(), look);
        assert_eq!(table.knows(file.position), is_same);
    }
}

#[test]
fn what_says_nothing_excludes_nothing() {
    let fixture = Fixture::of(&["a"]);
    let (cached, table) = (fixture.cached(), FileTable::new(fixture.cached().listing.clone()));
    let file = FileRef { name: b"a", position: position(&cached.listing, "a"), cached: &cached };
    let exclude = || table.exclude(file, None, fixture.generation(), || fixture.stat("a"));
    assert_eq!(exclude(), None, "nothing is known");
    let filter = crate::index::record::Bits::Owned(Arc::from(&b"anything"[..]));
    for content in [Content::Opaque, Content::Filtered(filter)] {
        learn(&table, "a", KnownFile { content, ..fixture.known("a") });
        assert_eq!(exclude(), None, "without a question only what is binary is excluded");
        assert!(table.knows(file.position), "it was not even looked at");
    }
    assert_eq!(
        table.exclude(FileRef { position: 99, ..file }, None, fixture.generation(), || fixture
            .stat("a")),
        None
    );
}

#[test]
fn what_is_known_goes_to_the_same_name_of_a_newer_listing() {
    let fixture = Fixture::of(&["a", "b", "c"]);
    let old = FileTable::new(fixture.cached().listing.clone());
    for name in ["a", "b", "c"] {
        learn(&old, name, fixture.known(name));
    }
    let mut newer = DirListing::default();
    for (name, kind) in
        [("new", Kind::File), ("c", Kind::File), ("b", Kind::Link), ("a", Kind::File)]
    {
        newer.push(name.as_bytes(), kind);
    }
    let table = old.renewed(Arc::new(newer));
    assert_eq!(names_known(&table), ["a", "c"], "a link is no file");
    let mut stamps = Vec::new();
    table.for_each(|known| stamps.push(known.stamp));
    assert_eq!(stamps, ["c", "a"].map(|name| fixture.known(name).stamp), "each its own");
    assert_eq!(names_known(&old), ["b"], "what was handed on takes no room twice");
    assert!(!table.is_of(&old.listing));
}

#[test]
fn only_files_are_unknown() {
    let fixture = Fixture::of(&["a", "b"]);
    let table = FileTable::new(fixture.cached().listing.clone());
    assert_eq!((table.listing.len(), table.unknown()), (3, 2));
    learn(&table, "a", fixture.known("a"));
    assert_eq!(table.unknown(), 1);
}

#[test]
fn what_is_recorded_comes_back_in_its_place() {
    let fixture = Fixture::of(&["a", "b"]);
    let table = FileTable::new(fixture.cached().listing.clone());
    learn(&table, "b", fixture.known("b"));
    let again = FileTable::recorded(table.listing.clone(), table.record(None));
    assert_eq!(names_known(&again), ["b"]);
    let missing = FileTable::recorded(table.listing.clone(), DirectoryRecord::default());
    assert!(names_known(&missing).is_empty());
    assert!(!missing.knows(0));
}
