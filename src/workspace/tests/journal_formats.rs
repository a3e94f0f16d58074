//! Two versions of the program on one tree: journals of other formats.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the journal is written as another version of the program would"
)]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::recovery::{DEEDS, ROLLED_BACK, interrupted};
use super::transaction::{Place, settled, tree};
use crate::context::Call;
use crate::error::ErrorCode;
use crate::workspace::Durability;

/// The first line of a journal of the present format.
const FORMAT_LINE: &str = "{\"ripkit_journal\":2}\n";

/// The error for a journal of the next format.
const REFUSAL: &str = "nothing can be changed here: .ripkit-journal~ was written by another version of \
                       ripkit (format 3; this program knows formats up to 2), which was interrupted \
                       while it changed several files together. Make a change with that version: it \
                       first restores the files. Do not remove .ripkit-journal~, which holds what is \
                       needed for that.";

/// The journal of an interrupted transaction: its path and what follows its first line.
fn interrupted_journal(place: &Place) -> (PathBuf, String) {
    interrupted(place);
    let path = place.root().join(".ripkit-journal~");
    let text = fs::read_to_string(&path).unwrap();
    let records = text.strip_prefix(FORMAT_LINE).expect("a journal begins with its format");
    (path, records.to_owned())
}

#[test]
fn a_journal_of_a_newer_version_is_left_alone_and_named() {
    let place = Place::new(Durability::File);
    let before = {
        place.make();
        tree(&place.root())
    };
    let (path, records) = interrupted_journal(&place);
    let unknown = "{\"moved_blocks\":{\"path\":\"a\",\"blocks\":[7]}}\n";
    let newer = [
        format!("{{\"ripkit_journal\":3}}\n{records}"),
        format!("{{\"ripkit_journal\":3,\"written_by\":\"0.9\"}}\n{records}{unknown}"),
        format!("{{\"ripkit_journal\":3}}\n{unknown}"),
        "{\"ripkit_journal\":3}\nno JSON at all".to_owned(),
        "{\"ripkit_journal\":3}".to_owned(),
    ];
    for text in newer {
        fs::write(&path, &text).unwrap();
        let left = tree(&place.root());
        for (number, deed) in DEEDS.into_iter().enumerate() {
            let error = deed(&place.open(), &Call::default()).unwrap_err();
            assert_eq!(
                (error.code(), error.path()),
                (ErrorCode::Conflict, Some(".ripkit-journal~"))
            );
            assert_eq!(error.to_string(), REFUSAL, "{number}: {text}");
        }
        let error = place.open().recover(&Call::default()).unwrap_err();
        assert_eq!(error.to_string(), REFUSAL, "{text}");
        assert_eq!(tree(&place.root()), left, "{text}");
        assert!(place.open().read("a").is_ok(), "reading goes on");
    }
    // For the version that wrote it, everything is still there.
    fs::write(&path, [FORMAT_LINE, &records].concat()).unwrap();
    assert!(place.open().recover(&Call::default()).unwrap());
    assert_eq!(settled(tree(&place.root())), before);
}

#[test]
fn a_newer_version_that_is_at_work_is_waited_for() {
    let place = Place::new(Durability::File);
    let (path, records) = interrupted_journal(&place);
    fs::write(&path, format!("{{\"ripkit_journal\":3}}\n{records}")).unwrap();
    let held = fs::File::open(&path).unwrap();
    held.lock().unwrap();
    let hurried = Call::default().with_timeout(Duration::from_millis(30));
    let error = place.open().write("b", b"x\n", &hurried).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
    fs::remove_file(&path).unwrap();
    drop(held);
    place.open().write("b", b"x\n", &Call::default()).unwrap();
}

#[test]
fn a_journal_of_the_format_without_a_version_is_recovered() {
    let place = Place::new(Durability::File);
    let before = {
        place.make();
        tree(&place.root())
    };
    let (path, records) = interrupted_journal(&place);
    fs::write(&path, records).unwrap();
    let call = Call::default();
    assert!(place.open().recover(&call).unwrap());
    assert_eq!(call.take_notes(), [ROLLED_BACK]);
    assert_eq!(settled(tree(&place.root())), before);
}
