//! Whatever the directory holds, and whoever else is at work in it.

use std::collections::BTreeSet;
use std::fs;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use super::super::Unusable;
use super::super::temporary_file::{NAMES, TemporaryFile, sweep};
use super::*;

/// The names in a directory.
fn names(temporary: &TempDir) -> BTreeSet<String> {
    let listed = fs::read_dir(temporary.path()).unwrap();
    listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// An index that tells by every record which one it is.
fn marked(mark: u8) -> Records {
    (b'a'..=b'z').map(|name| (vec![name, b'/'], one_file(&[mark; 3000]))).collect()
}

fn mark(mapped: &MappedIndex) -> u8 {
    let marks: BTreeSet<u8> = read(mapped)
        .values()
        .flat_map(|record| record.entries[0].filter().unwrap().to_vec())
        .collect();
    assert_eq!(marks.len(), 1, "a mixture of two");
    *marks.first().unwrap()
}

#[test]
fn what_is_no_file_is_no_index() {
    let (temporary, dir) = fixture();
    let open = |name: &str| MappedIndex::open(&dir, name, &key()).unwrap_err();
    assert_eq!(open("none"), Unusable::Missing);
    fs::create_dir(temporary.path().join("directory")).unwrap();
    assert_eq!(open("directory"), Unusable::NotAFile);
    fs::write(temporary.path().join("empty"), "").unwrap();
    assert_eq!(open("empty"), Unusable::Foreign);
    let invalid = Unusable::Unreadable(std::io::ErrorKind::InvalidInput);
    for name in ["", ".", "..", "a/b", "/", "a\0b"] {
        assert_eq!(open(name), invalid, "{name:?}");
        assert!(write(&dir, name, &key(), Records::new()).is_err(), "{name:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_or_fifo_is_no_index() {
    let (temporary, dir) = fixture();
    write(&dir, NAME, &key(), Records::new()).unwrap();
    std::os::unix::fs::symlink(NAME, temporary.path().join("link")).unwrap();
    let fifo = temporary.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    for name in ["link", "fifo"] {
        assert_eq!(
            MappedIndex::open(&dir, name, &key()).unwrap_err(),
            Unusable::NotAFile,
            "{name}"
        );
    }
}

#[test]
fn what_has_the_name_is_replaced_unless_it_is_a_directory() {
    let (temporary, dir) = fixture();
    fs::write(temporary.path().join(NAME), "something else").unwrap();
    write(&dir, NAME, &key(), marked(1)).unwrap();
    assert_eq!(mark(&MappedIndex::open(&dir, NAME, &key()).unwrap()), 1);
    fs::create_dir(temporary.path().join("directory")).unwrap();
    assert!(write(&dir, "directory", &key(), marked(1)).is_err());
    assert_eq!(names(&temporary), ["directory", NAME].map(str::to_owned).into());
}

#[cfg(unix)]
#[test]
fn a_link_is_replaced_and_not_written_through() {
    let (temporary, dir) = fixture();
    fs::write(temporary.path().join("target"), "precious").unwrap();
    std::os::unix::fs::symlink("target", temporary.path().join(NAME)).unwrap();
    write(&dir, NAME, &key(), marked(1)).unwrap();
    assert_eq!(mark(&MappedIndex::open(&dir, NAME, &key()).unwrap()), 1);
    assert_eq!(fs::read(temporary.path().join("target")).unwrap(), b"precious");
}

#[cfg(unix)]
#[test]
fn an_index_is_for_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;

    let (temporary, dir) = fixture();
    write(&dir, NAME, &key(), marked(1)).unwrap();
    let path = temporary.path().join(NAME);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    for (mode, expected) in [(0o620, true), (0o602, true), (0o644, false)] {
        fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let refused = MappedIndex::open(&dir, NAME, &key()).err() == Some(Unusable::Exposed);
        assert_eq!(refused, expected, "{mode:o}");
    }
    // Who owns it may write it. Only root gives files away.
    if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
        assert_eq!(MappedIndex::open(&dir, NAME, &key()).unwrap_err(), Unusable::Exposed);
    }
}

/// So long a file without a lock may lie about before it counts as abandoned.
const HOUR: Duration = Duration::from_secs(3600 + 1);

/// A temporary file that its writer no longer has open, as after a kill.
fn left_behind(temporary: &TempDir) -> String {
    let name = String::from_utf8(NAMES.fresh()).unwrap();
    fs::write(temporary.path().join(&name), "half").unwrap();
    name
}

#[cfg(unix)]
#[test]
fn a_killed_writers_file_is_removed_by_the_next_write_and_a_living_ones_stays() {
    let (temporary, dir) = fixture();
    left_behind(&temporary);
    let living = TemporaryFile::create(&dir).unwrap();
    let long_ago = SystemTime::now() - 2 * HOUR;
    let mut expected = names(&temporary);
    expected.retain(|name| !fs::read(temporary.path().join(name)).unwrap().starts_with(b"half"));
    assert_eq!(expected.len(), 1);
    for name in &expected {
        let file = fs::File::options().write(true).open(temporary.path().join(name)).unwrap();
        file.set_modified(long_ago).unwrap();
    }
    write(&dir, NAME, &key(), marked(1)).unwrap();
    expected.insert(NAME.to_owned());
    assert_eq!(names(&temporary), expected, "the age of a locked file says nothing");
    living.rename(b"other").unwrap();
    assert_eq!(names(&temporary), [NAME, "other"].map(str::to_owned).into());
}

#[cfg(unix)]
#[test]
fn a_write_survives_sweeps_at_every_moment() {
    let (temporary, dir) = fixture();
    let writing = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let (dir, writing) = (&dir, &writing);
        for _ in 0..2 {
            scope.spawn(|| {
                while writing.load(Ordering::Relaxed) {
                    sweep(dir);
                }
            });
        }
        for mark in 0..200 {
            let written = write(dir, NAME, &key(), marked(mark));
            if written.is_err() || mark == 199 {
                writing.store(false, Ordering::Relaxed);
            }
            written.unwrap();
        }
    });
    assert_eq!(mark(&MappedIndex::open(&dir, NAME, &key()).unwrap()), 199);
    assert_eq!(names(&temporary), [NAME.to_owned()].into());
}

#[test]
fn a_sweep_takes_only_files_with_names_of_its_own() {
    let (temporary, dir) = fixture();
    let others = [".0123456789abcdef.ripkit~", "x.ripkit-index~", ".012345.ripkit-index~"];
    for name in others {
        let file = fs::File::create(temporary.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
    }
    let directory = ".0123456789abcdef.ripkit-index~";
    fs::create_dir(temporary.path().join(directory)).unwrap();
    let before = names(&temporary);
    sweep(&dir);
    assert_eq!(names(&temporary), before);
}

/// Where there are no locks.
#[cfg(windows)]
#[test]
fn what_a_killed_writer_left_is_removed_an_hour_later() {
    let (temporary, dir) = fixture();
    let (old, young) = (left_behind(&temporary), left_behind(&temporary));
    let file = fs::File::options().write(true).open(temporary.path().join(old)).unwrap();
    file.set_modified(SystemTime::now() - 2 * HOUR).unwrap();
    drop(file);
    write(&dir, NAME, &key(), marked(1)).unwrap();
    assert_eq!(names(&temporary), [NAME.to_owned(), young].into());
}

#[cfg(unix)]
#[test]
fn of_two_writers_one_wins_and_readers_see_one_or_the_other() {
    let (temporary, dir) = fixture();
    write(&dir, NAME, &key(), marked(1)).unwrap();
    let held = MappedIndex::open(&dir, NAME, &key()).unwrap();
    std::thread::scope(|scope| {
        for number in [2, 3] {
            let dir = &dir;
            scope.spawn(move || {
                for _ in 0..20 {
                    write(dir, NAME, &key(), marked(number)).unwrap();
                }
            });
        }
        for _ in 0..200 {
            mark(&MappedIndex::open(&dir, NAME, &key()).unwrap());
            assert_eq!(mark(&held), 1, "a replaced index changed");
        }
    });
    assert!([2, 3].contains(&mark(&MappedIndex::open(&dir, NAME, &key()).unwrap())));
    assert_eq!(names(&temporary), [NAME.to_owned()].into());
}

#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod failing_calls {
    use super::*;
    use crate::os::faults::failing;

    const DENIED: i32 = 13;
    const NO_SPACE: i32 = 28;

    #[test]
    fn a_write_that_fails_anywhere_leaves_the_old_index_and_nothing_else() {
        let mut calls = 0;
        loop {
            let (temporary, dir) = fixture();
            write(&dir, NAME, &key(), marked(1)).unwrap();
            let (result, reached) =
                failing(calls, NO_SPACE, || write(&dir, NAME, &key(), marked(2)));
            let expected = if result.is_ok() { 2 } else { 1 };
            assert_eq!(
                mark(&MappedIndex::open(&dir, NAME, &key()).unwrap()),
                expected,
                "call {calls}"
            );
            assert_eq!(names(&temporary), [NAME.to_owned()].into(), "call {calls}");
            if !reached {
                assert!(result.is_ok() && calls > 7, "{calls} calls");
                break;
            }
            calls += 1;
        }
    }

    #[test]
    fn a_refusal_of_the_system_makes_it_unusable() {
        let (_temporary, dir) = fixture();
        write(&dir, NAME, &key(), marked(1)).unwrap();
        for call in 0..3 {
            let (opened, reached) = failing(call, DENIED, || MappedIndex::open(&dir, NAME, &key()));
            let denied = Unusable::Unreadable(std::io::ErrorKind::PermissionDenied);
            assert!(reached && opened.unwrap_err() == denied, "call {call}");
        }
    }
}
