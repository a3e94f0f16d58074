//! The log of changes: reviewed, reported and undone.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tree is read and changed by other means than those under test"
)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

use tempfile::TempDir;

use super::tree_text::{Tree, quick_directory, tree_with};
use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::test_rng::TestRng;
use crate::workspace::{Access, Change, Review, Workspace};

const ATTRIBUTE: &str = "user.ripkit-test";

fn tree(root: &Path) -> Tree {
    tree_with(root, |path, facts| {
        let content = fs::read_to_string(path).unwrap();
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(path, ATTRIBUTE, &mut value);
        let attribute = length.ok().map(|length| value[..length].to_vec());
        format!("{:o} {} {attribute:?} {content}", facts.mode(), facts.nlink())
    })
}

fn fixture() -> TempDir {
    let root = quick_directory();
    fs::create_dir_all(root.path().join("d/e")).unwrap();
    for (number, name) in ["a", "b", "c", "d/a", "d/e/a", "twice"].into_iter().enumerate() {
        let path = root.path().join(name);
        fs::write(&path, format!("first line of {name}\n")).unwrap();
        let mode = [0o644, 0o640, 0o755, 0o600][number % 4];
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        // Ignored if the file system has no extended attributes.
        let flags = rustix::fs::XattrFlags::empty();
        let _ = rustix::fs::setxattr(&path, ATTRIBUTE, name.as_bytes(), flags);
    }
    fs::hard_link(root.path().join("twice"), root.path().join("d/twice")).unwrap();
    symlink("d/a", root.path().join("link")).unwrap();
    root
}

fn logged(root: &TempDir) -> Workspace {
    Workspace::open(root.path()).unwrap().with_change_log()
}

fn undo_last(workspace: &Workspace) -> Result<(), Error> {
    let (steps, _) = workspace.change_log().unwrap().steps();
    workspace.undo(steps.last().unwrap().number, &Call::default()).map(drop)
}

const NAMES: [&str; 12] =
    ["a", "b", "c", "d/a", "d/b", "d/e/a", "twice", "d/twice", "link", "x/y/a", "x/b", "new"];

/// Makes a random change, which may be refused.
fn change(workspace: &Workspace, random: &mut TestRng) {
    let call = Call::default();
    let mut name = || NAMES[random.below(NAMES.len())];
    let (one, other) = (name(), name());
    let text = format!("text {}\n", random.below(1000));
    let _ = match random.below(10) {
        0 | 1 => workspace.write(one, text.as_bytes(), &call).map(drop),
        2 => workspace
            .update(one, &call, |old| Ok([old.unwrap_or_default(), text.as_bytes()].concat()))
            .map(drop),
        // A file with several names cannot be restored with all of them.
        3 if !has_several_names(workspace, one) => workspace.remove(one, &call),
        4 => workspace.rename(one, other, &call).map(drop),
        5 => workspace.copy_file(one, other, None, &call).map(drop),
        6 => workspace.make_directory(["new", "x/y/z", "d/f"][random.below(3)], &call).map(drop),
        7 => {
            let name = ["new", "x/y/z", "d/f", "d/e", "x/moved"][random.below(5)];
            if !workspace.root().join(name).is_dir() {
                return;
            }
            workspace.remove_entry(name, None, false, &call).map(drop)
        }
        8 => {
            let [from, to] = [0, 0].map(|_| ["d/e", "x/moved", "new/d", "d"][random.below(4)]);
            workspace.rename(from, to, &call).map(drop)
        }
        _ => transaction(workspace, random, &text),
    };
}

fn has_several_names(workspace: &Workspace, name: &str) -> bool {
    fs::symlink_metadata(workspace.root().join(name)).is_ok_and(|facts| facts.nlink() > 1)
}

fn transaction(workspace: &Workspace, random: &mut TestRng, text: &str) -> Result<(), Error> {
    let call = Call::default();
    let mut names = NAMES.to_vec();
    let mut name = || names.remove(random.below(names.len()));
    let [one, other, third, fourth] = [name(), name(), name(), name()];
    let paths = [
        (one, Access::Write),
        (other, Access::Entry),
        (third, Access::Entry),
        (fourth, Access::Create),
    ];
    let mut transaction =
        workspace.begin(&paths, &call).map_err(|mut errors| errors.remove(0).1)?;
    transaction.write(0, text.into())?;
    if !has_several_names(workspace, other) {
        transaction.remove(1)?;
    }
    let new = (random.below(2) == 0 && third != "link").then(|| text.as_bytes().to_vec());
    transaction.rename(2, 3, new)?;
    transaction.commit(&call).map(drop)
}

#[test]
fn random_changes_are_undone_and_the_tree_is_as_before() {
    let rounds = std::env::var("RIPKIT_ROUNDS").ok().and_then(|text| text.parse().ok());
    let rounds = rounds.unwrap_or(1_u64).max(1) * 100;
    let mut undone = 0_u64;
    for seed in 0..rounds {
        let root = fixture();
        let before = tree(root.path());
        let mut random = TestRng(seed + 1);
        let workspace = logged(&root);
        let mut trees = vec![before];
        for _ in 0..=random.below(12) {
            let count = workspace.change_log().unwrap().steps().0.len();
            change(&workspace, &mut random);
            let now = tree(root.path());
            let (steps, _) = workspace.change_log().unwrap().steps();
            if steps.len() > count {
                trees.push(now);
            } else {
                assert_eq!(Some(&now), trees.last(), "seed {seed}: a change is not in the log");
            }
        }
        while trees.len() > 1 {
            trees.pop();
            let (steps, _) = workspace.change_log().unwrap().steps();
            undo_last(&workspace).unwrap_or_else(|error| {
                panic!("seed {seed}: {error}: {:?} of {steps:?}", steps.last())
            });
            assert_eq!(Some(&tree(root.path())), trees.last(), "seed {seed}: {:?}", steps.last());
            undone += 1;
        }
        assert!(workspace.change_log().unwrap().steps().0.is_empty());
    }
    println!("{rounds} sequences, {undone} changes undone");
    assert!(undone > 3 * rounds, "{undone}");
}

type Deed = fn(&Workspace, &Call) -> Result<(), Error>;

#[test]
fn what_others_changed_since_is_a_conflict_and_stays() {
    let call = Call::default();
    let cases: [(&str, Deed, &str); 5] = [
        ("modified", |workspace, call| workspace.write("a", b"new\n", call).map(drop), "a"),
        ("created", |workspace, call| workspace.write("new", b"new\n", call).map(drop), "new"),
        ("deleted", |workspace, call| workspace.remove("a", call), "a"),
        ("moved", |workspace, call| workspace.rename("a", "new", call).map(drop), "new"),
        ("moved from", |workspace, call| workspace.rename("a", "new", call).map(drop), "a"),
    ];
    for (what, deed, theirs) in cases {
        let root = fixture();
        let workspace = logged(&root);
        deed(&workspace, &call).unwrap();
        fs::write(root.path().join(theirs), "by another process\n").unwrap();
        let before = tree(root.path());
        let error = undo_last(&workspace).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Conflict, "{what}");
        assert_eq!(
            error.to_string(),
            format!(
                "{} is not what change 1 left; that change cannot be undone, and nothing was \
                 changed. Undo later changes of it first, or edit it.",
                if what == "moved from" { "a" } else { theirs }
            ),
            "{what}"
        );
        assert_eq!(tree(root.path()), before, "{what}");
    }
}

#[test]
fn what_cannot_be_kept_is_said_when_it_is_undone() {
    let root = fixture();
    let workspace = logged(&root);
    workspace.remove("twice", &Call::default()).unwrap();
    let error = undo_last(&workspace).unwrap_err();
    let wanted = "the change of twice cannot be undone: the file had several hard links";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn the_log_drops_its_oldest_changes_and_counts_them() {
    let root = fixture();
    let workspace = logged(&root);
    for number in 0..200 {
        let name = format!("file{number}");
        workspace.write(&name, b"x\n", &Call::default()).unwrap();
        workspace.remove(&name, &Call::default()).unwrap();
    }
    let (steps, dropped) = workspace.change_log().unwrap().steps();
    // 128 deleted files are kept, each with the change that created it.
    assert_eq!((steps.len() as u64 + dropped, steps.len()), (400, 256));
    assert_eq!(steps.last().map(|step| step.number), Some(400));
}

#[test]
fn a_review_sees_what_is_written_and_can_refuse_it() {
    let root = fixture();
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (reviewed, reported) = (seen.clone(), seen.clone());
    let show = |verb: &str, change: &Change<'_>| {
        let text =
            |text: Option<&[u8]>| text.map(|text| String::from_utf8_lossy(text).into_owned());
        let (old, new) = (text(change.old_content()), text(change.new_content()));
        format!("{verb} {}: {change}: {old:?} {new:?}", change.call_id().unwrap_or("-"))
    };
    let workspace = Workspace::open(root.path())
        .unwrap()
        .with_review(move |change| {
            reviewed.lock().unwrap().push(show("review", change));
            match change.path() {
                "c" => Review::Deny("c is not to be changed".to_owned()),
                _ => Review::Allow,
            }
        })
        .with_on_change(move |change| reported.lock().unwrap().push(show("made", change)));
    let call = Call::default().with_id("call 7");
    workspace.write("a", b"new\n", &call).unwrap();
    workspace.remove("link", &Call::default()).unwrap();
    let before = tree(root.path());
    let mut transaction =
        workspace.begin(&[("b", Access::Change), ("c", Access::Entry)], &call).unwrap();
    transaction.write(0, b"new\n".to_vec()).unwrap();
    transaction.remove(1).unwrap();
    let error = transaction.commit(&call).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (
            ErrorCode::PolicyDenied,
            "the review refused to delete c: c is not to be changed; nothing was changed"
        )
    );
    assert_eq!(tree(root.path()), before);
    let wanted = [
        "review call 7: modify a: Some(\"first line of a\\n\") Some(\"new\\n\")",
        "made call 7: modify a: Some(\"first line of a\\n\") Some(\"new\\n\")",
        "review -: delete link: None None",
        "made -: delete link: None None",
        "review call 7: modify b: Some(\"first line of b\\n\") Some(\"new\\n\")",
        "review call 7: delete c: Some(\"first line of c\\n\") None",
    ];
    assert_eq!(*seen.lock().unwrap(), wanted);
}

#[test]
fn what_was_reviewed_is_what_is_written_or_nothing_is() {
    let root = fixture();
    let file = root.path().join("a");
    let theirs = file.clone();
    let workspace = Workspace::open(root.path()).unwrap().with_review(move |_| {
        fs::write(&theirs, "by another process, after the review began\n").unwrap();
        Review::Allow
    });
    let error = workspace.write("a", b"new\n", &Call::default()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Conflict);
    assert_eq!(fs::read_to_string(&file).unwrap(), "by another process, after the review began\n");
}
