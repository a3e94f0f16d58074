use super::*;
use crate::index::signatures::SignatureBuilder;
use ripkit_fs::os::Identity;

const OLD: Generation = Generation::new(1, 1);

fn table() -> FileTable {
    FileTable::new(BitsPerByte::default())
}

/// A listing of files with these names, known to the table.
fn listed(table: &FileTable, names: &[&str], old: Option<&DirListing>) -> DirListing {
    let mut listing = DirListing::default();
    for name in names {
        listing.push(name.as_bytes(), Kind::File);
    }
    table.assign(&mut listing, old, &Arc::default());
    listing
}

fn file(listing: &DirListing, name: &str) -> FileId {
    listing.find(name.as_bytes()).and_then(|(_, file)| file).unwrap()
}

fn stat(size: u64) -> Stat {
    Stat {
        kind: Kind::File,
        identity: Identity { device: 1, inode: 2 },
        size,
        modified: 3,
        changed: 4,
        mode: 0o644,
        links: 1,
    }
}

fn known(content: Content, size: u64) -> KnownFile {
    let fingerprint = Fingerprint::of(&stat(size));
    KnownFile { fingerprint, text_bytes: size, content, has_one_name: true }
}

fn text(text: &str) -> Content {
    Content::Text(SignatureBuilder::new(BitsPerByte::default()).build(text.as_bytes()))
}

/// The candidates of a search for a word that no text here has.
fn candidates(table: &FileTable) -> Candidates {
    let hir = regex_syntax::parse("zebra_stripes").unwrap();
    table.candidates(FilterQuery::of(&hir, false).as_ref(), &|| true)
}

#[test]
fn a_file_is_excluded_only_while_its_fingerprint_is_the_same() {
    let not_there = || Err(io::ErrorKind::NotFound.into());
    let looks: [(&dyn Fn() -> io::Result<Stat>, bool); 3] =
        [(&|| Ok(stat(5)), true), (&|| Ok(stat(6)), false), (&not_there, false)];
    for (look, is_same) in looks {
        let table = table();
        let a = file(&listed(&table, &["a"], None), "a");
        table.record(a, known(Content::Binary, 5), 0);
        let excluded = table.exclude(a, &candidates(&table), OLD, look);
        assert_eq!(excluded, is_same.then_some(Excluded::Binary));
        assert_eq!(table.knows(a), is_same, "another file is forgotten");
    }
}

#[test]
fn a_text_is_excluded_by_searches_that_began_after_it_was_recorded() {
    let table = table();
    let a = file(&listed(&table, &["a"], None), "a");
    let before = candidates(&table);
    table.record(a, known(text("some other words"), 5), 0);
    let exclude = |candidates: &Candidates| table.exclude(a, candidates, OLD, || Ok(stat(5)));
    assert_eq!(exclude(&before), None, "its signatures were not asked");
    assert_eq!(exclude(&candidates(&table)), Some(Excluded::Text(5)));
    assert_eq!(exclude(&table.candidates(None, &|| true)), None, "the pattern asks for nothing");
    table.record(a, known(Content::Opaque, 5), 0);
    assert_eq!(exclude(&candidates(&table)), None, "it has to be opened");
}

#[test]
fn files_keep_their_numbers_in_a_newer_listing_of_the_same_directory() {
    let table = table();
    let old = listed(&table, &["a", "b"], None);
    table.record(file(&old, "a"), known(Content::Binary, 5), 0);
    let new = listed(&table, &["c", "a"], Some(&old));
    table.release(&old, &new);
    assert_eq!(file(&new, "a"), file(&old, "a"));
    assert!(table.knows(file(&new, "a")) && !table.knows(file(&new, "c")));
    assert_ne!(file(&new, "c"), file(&old, "b"), "a call may still use the number");
}

#[test]
fn numbers_of_files_that_are_gone_are_used_again_without_what_was_known() {
    let table = table();
    let old = listed(&table, &["a"], None);
    let gone = file(&old, "a");
    table.release(&old, &DirListing::default());
    // By a call that read the listing before.
    table.record(gone, known(text("some zebra_stripes"), 5), 0);
    table.recycle();
    let new = listed(&table, &["b"], None);
    assert_eq!(file(&new, "b"), gone);
    assert!(!table.knows(gone));
    table.record(gone, known(text("some other words"), 5), 0);
    let excluded = table.exclude(gone, &candidates(&table), OLD, || Ok(stat(5)));
    assert_eq!(excluded, Some(Excluded::Text(5)));
}

#[test]
fn totals_hold_until_a_file_changes_or_may_have_changed_unnoticed() {
    let (table, changes) = (table(), Arc::new(DirChanges::default()));
    changes.watched_since(1);
    let mut listing = DirListing::default();
    for name in ["a", "b", "c"] {
        listing.push(name.as_bytes(), Kind::File);
    }
    table.assign(&mut listing, None, &changes);
    let early = candidates(&table);
    for (name, content) in [("a", text("one")), ("b", Content::Binary), ("c", text("three"))] {
        table.record(file(&listing, name), known(content, 5), 1);
    }
    let add = |candidates: &Candidates, generation: Generation| {
        let ids = listing.file_ids(0..3).unwrap();
        table.exclude_all(ids, candidates, generation)
    };
    let call = |current, min_valid| Generation::new(current, min_valid);
    let late = candidates(&table);
    assert!(add(&early, call(2, 1)).is_none(), "their signatures were not asked");
    let totals = add(&late, call(2, 1)).unwrap();
    assert_eq!((totals.texts(), totals.max_text_bytes(), totals.binaries()), ((2, 10), 5, 1));

    let holds = |candidates: &Candidates, generation: Generation| {
        table.has_totals(&totals, candidates, generation)
    };
    assert!(holds(&late, call(9, 1)));
    assert!(!holds(&early, call(9, 1)), "their signatures were not asked");
    assert!(!holds(&table.candidates(None, &|| true), call(9, 1)), "the pattern asks for nothing");
    assert!(!holds(&late, call(9, 9)), "everything has to be checked");
    let word = regex_syntax::parse("three").unwrap();
    let three = table.candidates(FilterQuery::of(&word, false).as_ref(), &|| true);
    assert!(!holds(&three, call(9, 1)), "one of them may match");
    changes.note_name(b"c", 9);
    assert!(!holds(&late, call(9, 1)), "one of them changed");

    let totals = add(&late, call(10, 1)).unwrap();
    assert!(table.has_totals(&totals, &late, call(11, 1)));
    changes.forget();
    assert!(!table.has_totals(&totals, &late, call(11, 1)), "nothing is reported any more");
}
