//! Directories from call to call.

#![allow(
    clippy::disallowed_methods,
    reason = "tests build trees by other means than the ones they test"
)]

use std::path::Path;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::*;

fn settle() {
    thread::sleep(Duration::from_millis(130));
}

fn memory(root: &Path, most: usize) -> Arc<Memory> {
    Arc::new(Memory::new(&Arc::new(Dir::open_ambient(root).unwrap()), most, false))
}

/// The root as a call that begins now keeps it.
fn on_the_way(memory: &Arc<Memory>, root: &Path) -> Option<Arc<Kept>> {
    let dir = Dir::open_ambient(root).unwrap();
    memory.begin().on_the_way(&Arc::from(&b""[..]), &dir)
}

#[test]
fn a_directory_is_listed_again_only_when_it_changed() {
    let temporary = TempDir::new().unwrap();
    let root = temporary.path();
    let memory = memory(root, usize::MAX);
    let first = on_the_way(&memory, root).unwrap();
    assert!(first.stamp.is_none(), "it was made just now");
    let second = on_the_way(&memory, root).unwrap();
    assert!(!Arc::ptr_eq(&first, &second), "it had not settled");
    settle();
    let third = on_the_way(&memory, root).unwrap();
    assert!(Arc::ptr_eq(&third, &on_the_way(&memory, root).unwrap()));
    std::fs::write(root.join("a"), "").unwrap();
    let fourth = on_the_way(&memory, root).unwrap();
    assert_eq!((third.listing.len(), fourth.listing.len()), (0, 1));
    assert!(Arc::ptr_eq(&fourth, &memory.directory(b"").unwrap()));
}

#[test]
fn what_a_stat_does_not_confirm_is_not_recalled() {
    let temporary = TempDir::new().unwrap();
    let root = temporary.path();
    std::fs::create_dir(root.join("d")).unwrap();
    std::fs::write(root.join("f"), "").unwrap();
    settle();
    let memory = memory(root, usize::MAX);
    let kept = on_the_way(&memory, root).unwrap();
    let dir = Dir::open_ambient(root).unwrap();
    let recalled = |stat: &dyn Fn() -> io::Result<Stat>| {
        memory.begin().directory(&kept.prefix, true, stat).is_some()
    };
    assert!(recalled(&|| dir.stat(b".")));
    assert!(!recalled(&|| dir.stat(b"d")), "another directory");
    assert!(!recalled(&|| dir.stat(b"f")), "no directory");
    assert!(!recalled(&|| Err(io::ErrorKind::NotFound.into())));
    let recall = memory.begin();
    kept.verify(recall.era.epoch);
    let never = || Err(io::ErrorKind::NotFound.into());
    assert!(recall.directory(&kept.prefix, true, &never).is_some(), "this call looked already");
    assert!(recall.directory(&kept.prefix, false, &never).is_none(), "but perhaps elsewhere");
}

#[test]
fn a_huge_directory_above_a_beginning_is_not_kept() {
    let temporary = TempDir::new().unwrap();
    for number in 0..=MAX_ON_THE_WAY {
        std::fs::create_dir(temporary.path().join(format!("{number}"))).unwrap();
    }
    let memory = memory(temporary.path(), usize::MAX);
    assert!(on_the_way(&memory, temporary.path()).is_none());
    assert!(memory.directories().is_empty());
}

#[test]
fn without_room_a_directory_is_known_to_its_call_alone() {
    let temporary = TempDir::new().unwrap();
    let memory = memory(temporary.path(), 10);
    let kept = on_the_way(&memory, temporary.path()).unwrap();
    assert!(!kept.is_held() && memory.directory(b"").is_none());
    assert_eq!(memory.bytes(), 0);
}

#[test]
fn calls_have_numbers_of_their_own_and_are_counted_while_they_last() {
    let temporary = TempDir::new().unwrap();
    let memory = memory(temporary.path(), usize::MAX);
    assert!(!memory.is_busy());
    let (first, second) = (memory.begin(), memory.begin());
    assert!(first.era.epoch < second.era.epoch);
    assert_eq!((first.era.floor, second.era.floor), (first.era.epoch, second.era.epoch));
    let clone = second.clone();
    drop((first, second));
    assert!(memory.is_busy(), "a part of the call goes on");
    let clone = clone.unhurried();
    assert!(!memory.is_busy(), "nobody waits for it");
    drop(clone);
}

#[derive(Debug)]
struct Stored(Stamp);

impl Earlier for Stored {
    fn directory(&self, _: &Arc<[u8]>) -> Option<(Stamp, Arc<Listing>)> {
        let mut listing = Listing::default();
        listing.push(b".ignore", Kind::File);
        Some((self.0, Arc::new(listing)))
    }
}

#[test]
fn what_another_process_left_is_held_against_the_stamp_too() {
    let temporary = TempDir::new().unwrap();
    let dir = Dir::open_ambient(temporary.path()).unwrap();
    let prefix: Arc<[u8]> = Arc::from(&b""[..]);
    let stamp = Stamp::of(&dir.stat(b".").unwrap());
    let recalled = |stamp| {
        let memory = memory(temporary.path(), usize::MAX);
        memory.look_into(Some(Arc::new(Stored(stamp))));
        let kept = memory.begin().directory(&prefix, true, &|| dir.stat(b"."));
        assert_eq!(kept.is_some(), memory.directory(&prefix).is_some());
        kept
    };
    assert!(recalled(Stamp { modified: 1, ..stamp }).is_none());
    let kept = recalled(stamp).unwrap();
    assert!(!kept.found.is_empty() && kept.is_held());
}

#[test]
fn what_is_forgotten_is_not_found() {
    let temporary = TempDir::new().unwrap();
    let memory = memory(temporary.path(), usize::MAX);
    on_the_way(&memory, temporary.path()).unwrap();
    assert!(memory.bytes() > 0);
    memory.clear();
    assert!(memory.directory(b"").is_none() && memory.bytes() == 0);
}

#[cfg(feature = "watch")]
#[test]
fn a_watched_call_believes_its_forerunners_for_thirty_seconds() {
    let temporary = TempDir::new().unwrap();
    let root = Arc::new(Dir::open_ambient(temporary.path()).unwrap());
    let memory = Arc::new(Memory::new(&root, usize::MAX, true));
    let age = |seconds| memory.watching.as_ref().unwrap().age(Duration::from_secs(seconds));
    let believes = || {
        let era = memory.begin().era;
        era.floor < era.epoch
    };
    age(29);
    assert!(believes());
    age(1);
    assert!(!believes());
    assert!(believes());
}
