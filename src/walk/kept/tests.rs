//! What is kept of a directory, and for how long it is believed.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use std::path::Path;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::walk::handle::OpenCount;
use crate::walk::memory::Memory;
use crate::walk::rules::Verdict;
use crate::workspace::{Dir, RecentStamp};

/// A call of this epoch that believes what was looked at from `floor` on.
fn at(epoch: u64, floor: u64) -> Era {
    Era { epoch, floor }
}

/// A directory as it is now.
fn kept(root: &Path, changes: Arc<Changes>) -> Kept {
    let dir = Dir::open_ambient(root).unwrap();
    let (mut listing, mut found) = (Listing::default(), Found::default());
    let listed = dir.open_dir(b".").unwrap().list(|name, kind| {
        listing.push(name, kind);
        found.note(name, kind);
        std::ops::ControlFlow::Continue(())
    });
    listed.unwrap();
    let stamp = RecentStamp::of(&dir);
    let facts = (Volume::Disk, stamp.settled(), stamp.identity());
    Kept::new(Arc::from(&b""[..]), (Arc::new(listing), found), facts, changes)
}

#[test]
fn only_the_call_that_looked_believes_what_nobody_watches() {
    let temporary = TempDir::new().unwrap();
    let kept = kept(temporary.path(), Arc::default());
    assert!(!kept.is_current(at(1, 1)));
    kept.verify(5);
    let calls: Vec<_> = (3..8).filter(|epoch| kept.is_current(at(*epoch, *epoch))).collect();
    assert_eq!(calls, [5]);
    kept.verify(4);
    assert!(kept.is_current(at(5, 5)), "an earlier call takes nothing back");
    assert!(!kept.is_unchanged(b"a", 5, at(5, 5)), "an entry is another matter");
}

#[test]
fn who_watches_is_believed_from_its_beginning_to_the_next_change() {
    let temporary = TempDir::new().unwrap();
    let changes = Arc::new(Changes::default());
    let kept = kept(temporary.path(), changes.clone());
    kept.verify(5);
    changes.watched_since(6);
    assert!(!kept.is_current(at(7, 0)), "it was looked at before the watch began");
    kept.verify(7);
    assert!(kept.is_current(at(9, 0)));
    assert!(kept.is_current(at(9, 7)) && !kept.is_current(at(9, 8)), "all is in doubt from 8 on");
    changes.note_listing(8);
    assert!(!kept.is_current(at(9, 0)));
    kept.verify(9);
    assert!(kept.is_current(at(10, 0)));
    changes.note_name(b"a", 10);
    assert!(kept.is_current(at(11, 0)), "the names are the same");
    let unchanged = |name: &[u8], verified| kept.is_unchanged(name, verified, at(11, 0));
    assert!(!unchanged(b"a", 9) && unchanged(b"a", 10) && unchanged(b"b", 9));
    assert!(!unchanged(b"b", 5), "nobody watched then");
    changes.forget();
    assert!(!kept.is_current(at(11, 0)) && !unchanged(b"b", 10));
}

#[test]
fn a_way_to_walk_is_remembered_and_only_the_last_few() {
    let temporary = TempDir::new().unwrap();
    let kept = kept(temporary.path(), Arc::default());
    let (counted, room) = (AtomicU64::new(0), Room::new(10_000));
    let sieve = |hidden, no_ignore, drop_noise, contents| {
        let rules = Rules::default();
        let key = SieveKey { rules, hidden, no_ignore, drop_noise, contents };
        kept.sieved(key, &room, || {
            counted.fetch_add(1, Ordering::Relaxed);
            Sieved { listing: Arc::default(), report: DirectoryReport::default() }
        });
        counted.load(Ordering::Relaxed)
    };
    assert_eq!(sieve(true, false, false, false), 1);
    assert_eq!(sieve(false, true, false, false), 2);
    assert_eq!(sieve(false, false, true, false), 3);
    assert_eq!(sieve(false, false, false, true), 4);
    assert_eq!(sieve(true, false, false, false), 4);
    assert_eq!(sieve(false, false, false, false), 5);
    assert_eq!(sieve(true, false, false, false), 6, "it had to go");
    assert_eq!(lock(&kept.sieved).len(), MAX_SIEVED);
    drop(kept);
    assert_eq!(room.taken(), 0);
}

#[test]
fn rules_are_read_again_only_when_their_files_or_those_above_change() {
    let temporary = TempDir::new().unwrap();
    let root = temporary.path();
    std::fs::create_dir_all(root.join(".git/info")).unwrap();
    std::fs::write(root.join(".gitignore"), "*.a\n").unwrap();
    thread::sleep(Duration::from_millis(130));
    let (kept, plenty) = (kept(root, Arc::default()), Room::new(usize::MAX));
    let workspace = Workspace::open(root).unwrap();
    let enter = |above: &Rules| {
        let count = OpenCount::default();
        let open = || Ok(OpenDir::new(Dir::open_ambient(root)?, &count));
        kept.enter(&workspace, above, &open, &mut Vec::new(), (at(1, 1), &plenty)).unwrap()
    };
    let ignores = |rules: &Rules, path: &[u8]| rules.verdict(path, false) == Verdict::Ignored;
    let above = Rules::default();
    let first = enter(&above);
    assert!(enter(&above).is(&first) && ignores(&first, b"x.a"));
    std::fs::write(root.join(".gitignore"), "*.b\n").unwrap();
    let second = enter(&above);
    assert!(ignores(&second, b"x.b") && !ignores(&second, b"x.a"));
    assert!(!enter(&above).is(&second), "what changed just now is not believed");
    thread::sleep(Duration::from_millis(130));
    let third = enter(&above);
    assert!(enter(&above).is(&third));
    std::fs::write(root.join(".git/info/exclude"), "*.c\n").unwrap();
    assert!(ignores(&enter(&above), b"x.c"), "no listing tells of it");
    thread::sleep(Duration::from_millis(130));
    let fourth = enter(&above);
    assert!(enter(&above).is(&fourth));
    assert!(!enter(&first).is(&fourth), "other rules are above");
}

#[test]
fn without_ignore_files_the_rules_above_go_on() {
    let temporary = TempDir::new().unwrap();
    let kept = kept(temporary.path(), Arc::default());
    let never = || Err(io::ErrorKind::NotFound.into());
    let with = (at(1, 1), &Room::new(0));
    let workspace = Workspace::open(temporary.path()).unwrap();
    let rules = kept.enter(&workspace, &Rules::default(), &never, &mut Vec::new(), with).unwrap();
    assert!(rules.is(&Rules::default()));
}

#[test]
fn without_room_rules_are_read_each_time() {
    let temporary = TempDir::new().unwrap();
    let root = temporary.path();
    std::fs::write(root.join(".gitignore"), "*.a\n").unwrap();
    thread::sleep(Duration::from_millis(130));
    for (most, is_kept) in [(100, false), (100_000, true)] {
        let dir = Arc::new(Dir::open_ambient(root).unwrap());
        let memory = Arc::new(Memory::new(&dir, most, false));
        let (kept, with) = (kept(root, Arc::default()), (at(1, 1), memory.room()));
        let count = OpenCount::default();
        let open = || Ok(OpenDir::new(Dir::open_ambient(root)?, &count));
        let (workspace, none) = (Workspace::open(root).unwrap(), Rules::default());
        let enter = || kept.enter(&workspace, &none, &open, &mut Vec::new(), with).unwrap();
        let rules = enter();
        assert_eq!((rules.are_kept(), enter().is(&rules)), (is_kept, is_kept));
        let key = || {
            let rules = rules.clone();
            SieveKey { rules, hidden: true, no_ignore: false, drop_noise: true, contents: true }
        };
        let sieved = |report| Sieved { listing: Arc::default(), report };
        let first = kept.sieved(key(), memory.room(), || sieved(DirectoryReport::default()));
        let second = kept.sieved(key(), memory.room(), || sieved(DirectoryReport::default()));
        assert_eq!(Arc::ptr_eq(&first, &second), is_kept);
        assert_eq!(memory.bytes() > 0, is_kept);
    }
}
