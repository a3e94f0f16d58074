//! Hostile paths and links through every tool that changes files, and what a change keeps.
//!
//! The names begin with the row of the test matrix, as in `hostile`.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ripkit::workspace::Durability;
use ripkit::{Call, ErrorCode, Toolkit, Workspace};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use serde_json::{Value, json};

use crate::harness::{
    Said, TestWorkspace, Who, ask, ask_within, in_child, put, running_as_root, set_mode, tree_of,
};

/// Every way to change something at `path`; `from.txt` is a file of the workspace.
fn every_change_at(path: &str) -> [(&'static str, Value); 8] {
    [
        ("write_file", json!({ "path": path, "content": "new\n" })),
        ("edit_file", json!({ "path": path, "old_text": "SECRET", "new_text": "new" })),
        ("create_directory", json!({ "path": path })),
        ("delete_file", json!({ "path": path })),
        ("move_file", json!({ "source": path, "destination": "moved.txt" })),
        ("move_file", json!({ "source": "from.txt", "destination": path })),
        ("copy_file", json!({ "source": path, "destination": "copied.txt" })),
        ("copy_file", json!({ "source": "from.txt", "destination": path })),
    ]
}

fn workspace() -> TestWorkspace {
    TestWorkspace::new().file("from.txt", "from\n").outside_file("secret.txt", "SECRET\n")
}

/// What is outside, with its bytes.
fn outside(workspace: &TestWorkspace) -> Vec<(String, Vec<u8>)> {
    let paths = tree_of(&workspace.outside()).into_iter();
    let read =
        |path: String| (path.clone(), fs::read(workspace.outside().join(path)).unwrap_or_default());
    paths.map(read).collect()
}

#[track_caller]
fn every_change_is_refused(workspace: &TestWorkspace, path: &str, code: ErrorCode) {
    let (before, inside) = (outside(workspace), workspace.tree());
    for (tool, arguments) in every_change_at(path) {
        let said = workspace.call(tool, arguments.clone());
        assert_eq!(said.code, Some(code), "{tool} of {path:.100?}: {arguments:.200} {}", said.text);
        said.fails_with(code).never_mentions("SECRET");
    }
    assert_eq!(outside(workspace), before, "{path:?} changed what is outside");
    assert_eq!(workspace.tree(), inside, "{path:?} left something inside");
}

// A: paths.

#[test]
fn a1_an_empty_path_changes_nothing() {
    every_change_is_refused(&workspace(), "", ErrorCode::InvalidPath);
}

#[test]
fn a2_a_path_that_leaves_the_root_changes_nothing() {
    let workspace = workspace().file("a/b.txt", "x");
    put(&workspace.above().join("root-evil/s"), b"SECRET");
    let root = workspace.root().display().to_string();
    let outside = workspace.outside().display().to_string();
    let paths =
        ["../x", "a/../../x", "../outside/secret.txt", "/etc/ripkit-test", "../root-evil/s"];
    for path in paths {
        every_change_is_refused(&workspace, path, ErrorCode::InvalidPath);
    }
    every_change_is_refused(&workspace, &format!("{outside}/secret.txt"), ErrorCode::InvalidPath);
    every_change_is_refused(&workspace, &format!("{root}-evil/s"), ErrorCode::InvalidPath);
}

#[test]
fn a3_an_absolute_path_inside_is_the_same_file() {
    let workspace = workspace();
    let root = workspace.root().display().to_string();
    let at = |name: &str| format!("{root}/./d//{name}");
    workspace
        .call("write_file", json!({ "path": at("a"), "content": "one" }))
        .reads("Created d/a (1 line, 3 bytes)");
    workspace
        .call("edit_file", json!({ "path": at("a"), "old_text": "one", "new_text": "two" }))
        .succeeds();
    workspace
        .call("copy_file", json!({ "source": at("a"), "destination": at("b") }))
        .reads("Copied d/a to d/b");
    workspace
        .call("move_file", json!({ "source": at("b"), "destination": at("c") }))
        .reads("Moved d/b to d/c");
    workspace.call("delete_file", json!({ "path": at("c") })).reads("Deleted d/c");
    assert_eq!(workspace.content("d/a"), b"two");
}

#[test]
fn a3_the_root_itself_is_no_file() {
    let workspace = workspace();
    for (tool, arguments) in every_change_at(".") {
        let said = workspace.call(tool, arguments);
        let fine = match tool {
            "create_directory" => said.code.is_none(),
            _ => matches!(said.code, Some(ErrorCode::InvalidPath | ErrorCode::FileAlreadyExists)),
        };
        assert!(fine, "{tool}: {:?} {}", said.code, said.text);
    }
    assert_eq!(workspace.tree(), ["from.txt"]);
}

#[test]
fn a5_a_nul_byte_changes_nothing() {
    every_change_is_refused(&workspace(), "a\0b", ErrorCode::InvalidPath);
}

#[test]
fn a6_names_that_are_too_long_change_nothing() {
    let workspace = workspace();
    for path in ["n".repeat(256), format!("new/deep/{}", "n".repeat(256)), "d/".repeat(50_000)] {
        let before = workspace.tree();
        for (tool, arguments) in every_change_at(&path) {
            let said = workspace.call(tool, arguments);
            let documented =
                matches!(said.code, Some(ErrorCode::InvalidPath | ErrorCode::FileNotFound));
            assert!(documented, "{tool}: {:?} {}", said.code, said.text);
        }
        assert_eq!(workspace.tree(), before, "directories that were made for nothing are left");
    }
    let longest = "n".repeat(255);
    workspace.call("write_file", json!({ "path": longest, "content": "x" })).succeeds();
    workspace
        .call("edit_file", json!({ "path": longest, "old_text": "x", "new_text": "y" }))
        .succeeds();
}

#[test]
fn a7_strange_names_work_and_are_shown_escaped() {
    let workspace = workspace();
    for name in
        ["new\nline", "\u{1b}[31mred", "right\u{202e}left", "-rf", "trailing ", "~", "$HOME"]
    {
        let written =
            workspace.call("write_file", json!({ "path": name, "content": "one" })).succeeds();
        assert_eq!(written.details["relative_path"], name);
        assert!(!written.text.contains(['\u{1b}', '\u{202e}']), "{:?}", written.text);
        assert_eq!(written.text.lines().count(), 1, "{:?}", written.text);
        workspace
            .call("edit_file", json!({ "path": name, "old_text": "one", "new_text": "two" }))
            .succeeds();
        workspace
            .call("move_file", json!({ "source": name, "destination": format!("d/{name}") }))
            .succeeds();
        assert_eq!(workspace.content(format!("d/{name}")), b"two");
        workspace.call("delete_file", json!({ "path": format!("d/{name}") })).succeeds();
    }
    assert_eq!(workspace.tree(), ["d", "from.txt"]);
}

#[test]
fn a8_a_name_that_is_not_utf_8_is_changed_by_its_escaped_form() {
    let workspace = workspace();
    let name = std::ffi::OsStr::from_bytes(b"caf\xE9.txt");
    put(&workspace.root().join(name), b"one");
    let shown =
        workspace.call("find_files", json!({ "pattern": "caf*" })).succeeds().paths().remove(0);
    workspace
        .call("edit_file", json!({ "path": shown, "old_text": "one", "new_text": "two" }))
        .succeeds();
    assert_eq!(workspace.content(name), b"two");
    workspace.call("copy_file", json!({ "source": shown, "destination": "copy.txt" })).succeeds();
    workspace.call("write_file", json!({ "path": shown, "content": "three" })).succeeds();
    workspace.call("delete_file", json!({ "path": shown })).succeeds();
    assert_eq!(workspace.tree(), ["copy.txt", "from.txt"]);
}

// B: links.

#[test]
fn b1_a_link_that_leads_out_is_never_written_through() {
    let workspace = workspace().symlink("relative", "../outside/secret.txt");
    symlink(workspace.outside().join("secret.txt"), workspace.root().join("absolute")).unwrap();
    let before = outside(&workspace);
    for link in ["relative", "absolute"] {
        for tool in ["write_file", "edit_file"] {
            let arguments =
                json!({ "path": link, "content": "x", "old_text": "SECRET", "new_text": "x" });
            let arguments = only(arguments, tool);
            workspace
                .call(tool, arguments)
                .fails_with(ErrorCode::InvalidPath)
                .never_mentions("SECRET");
        }
        let copy = json!({ "source": link, "destination": "copy.txt" });
        workspace.call("copy_file", copy).fails_with(ErrorCode::InvalidPath);
        let moved = format!("{link}-moved");
        workspace.call("move_file", json!({ "source": link, "destination": moved })).succeeds();
        assert!(workspace.root().join(&moved).is_symlink(), "the link itself moves");
        workspace.call("delete_file", json!({ "path": moved })).succeeds();
    }
    assert_eq!(outside(&workspace), before);
    assert_eq!(workspace.tree(), ["from.txt"]);
}

/// The arguments that a tool knows.
fn only(mut arguments: Value, tool: &str) -> Value {
    let unknown: &[&str] =
        if tool == "write_file" { &["old_text", "new_text"] } else { &["content"] };
    for name in unknown {
        arguments.as_object_mut().unwrap().remove(*name);
    }
    arguments
}

#[test]
fn b2_b3_nothing_is_made_through_a_link_that_leads_out() {
    let workspace = workspace().symlink("new", "../outside/new").symlink("d", "../outside");
    for path in ["new", "d/a/b/c", "d/new", "d/secret.txt"] {
        let before = outside(&workspace);
        for (tool, arguments) in every_change_at(path) {
            // The link itself may be moved or deleted; these calls are made elsewhere.
            if path == "new" && (tool == "delete_file" || arguments["source"] == path) {
                continue;
            }
            workspace.call(tool, arguments).fails_with(ErrorCode::InvalidPath);
        }
        assert_eq!(outside(&workspace), before, "{path}");
    }
}

#[test]
fn b4_links_inside_are_written_through_and_stay() {
    let workspace = workspace().file("in.txt", "one").symlink("relative", "in.txt");
    symlink(workspace.root().join("in.txt"), workspace.root().join("absolute")).unwrap();
    symlink("in.txt", workspace.root().join("link1")).unwrap();
    for number in 2..=41 {
        let target = format!("link{}", number - 1);
        symlink(target, workspace.root().join(format!("link{number}"))).unwrap();
    }
    let edit = |path: &str, old: &str, new: &str| {
        workspace.call("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
    };
    edit("relative", "one", "two").succeeds();
    edit("absolute", "two", "three").succeeds();
    edit("link39", "three", "four").succeeds();
    edit("link41", "four", "five")
        .fails_with(ErrorCode::InvalidPath)
        .mentions("too many symbolic links");
    assert_eq!(workspace.content("in.txt"), b"four");
    for link in ["relative", "absolute", "link39"] {
        assert!(workspace.root().join(link).is_symlink(), "{link} was replaced by a file");
    }
}

#[test]
fn b5_links_in_a_circle_are_refused_at_once() {
    let workspace = workspace().symlink("self", "self").symlink("a", "b").symlink("b", "a");
    for path in ["self", "a", "self/x"] {
        for tool in ["write_file", "edit_file"] {
            let arguments =
                json!({ "path": path, "content": "x", "old_text": "x", "new_text": "y" });
            let said = {
                let (tools, call) = (workspace.tools(), Call::default());
                ask_within(Duration::from_secs(5), tools, tool, only(arguments, tool), call)
            };
            said.fails_with(ErrorCode::InvalidPath);
        }
    }
}

#[test]
fn b6_links_into_proc_and_dev_are_not_written_through() {
    let workspace = workspace()
        .symlink("proc", "/proc/self/root/etc/ripkit-test")
        .symlink("fd", "/proc/self/fd/1")
        .symlink("null", "/dev/null");
    for path in ["proc", "fd", "null"] {
        let arguments = json!({ "path": path, "content": "x" });
        workspace.call("write_file", arguments).fails_with(ErrorCode::InvalidPath);
        let arguments = json!({ "source": path, "destination": "copy" });
        workspace.call("copy_file", arguments).fails_with(ErrorCode::InvalidPath);
    }
}

#[test]
fn b10_a_hard_link_is_kept_and_can_be_denied() {
    let workspace = workspace().file("inside.txt", "in\n");
    fs::hard_link(workspace.outside().join("secret.txt"), workspace.root().join("hard.txt"))
        .unwrap();
    // Inside is inside, whatever other names it has.
    let edit = json!({ "path": "hard.txt", "old_text": "SECRET", "new_text": "PUBLIC" });
    let said = workspace.call("edit_file", edit).succeeds();
    assert_eq!(
        said.notes,
        ["the file was written in place, not atomically, because it has 2 hard links"]
    );
    assert_eq!(fs::read(workspace.outside().join("secret.txt")).unwrap(), b"PUBLIC\n");
    let tools = Toolkit::new(workspace.open().deny_hard_links());
    for (tool, arguments) in [
        ("read_file", json!({ "path": "hard.txt" })),
        ("write_file", json!({ "path": "hard.txt", "content": "x" })),
        ("edit_file", json!({ "path": "hard.txt", "old_text": "PUBLIC", "new_text": "x" })),
        ("copy_file", json!({ "source": "hard.txt", "destination": "copy.txt" })),
        ("move_file", json!({ "source": "hard.txt", "destination": "moved.txt" })),
        ("delete_file", json!({ "path": "hard.txt" })),
        ("search", json!({ "pattern": "PUBLIC", "path": "hard.txt" })),
    ] {
        ask(&tools, tool, arguments).fails_with(ErrorCode::PolicyDenied).never_mentions("PUBLIC");
    }
    let search = ask(&tools, "search", json!({ "pattern": "PUBLIC|in" })).finds(["inside.txt:1"]);
    search.skipped("denied", 1);
    ask(&tools, "read_file", json!({ "path": "inside.txt" })).succeeds();
}

#[test]
fn b11_changes_stay_in_the_directory_that_was_opened() {
    let workspace = workspace().file("d/a.txt", "one");
    let tools = workspace.tools().clone();
    fs::rename(workspace.root(), workspace.above().join("moved")).unwrap();
    put(&workspace.root().join("d/a.txt"), b"other");
    ask(&tools, "write_file", json!({ "path": "d/b.txt", "content": "two" })).succeeds();
    ask(&tools, "edit_file", json!({ "path": "d/a.txt", "old_text": "one", "new_text": "1" }))
        .succeeds();
    assert_eq!(fs::read(workspace.above().join("moved/d/b.txt")).unwrap(), b"two");
    assert_eq!(fs::read(workspace.above().join("moved/d/a.txt")).unwrap(), b"1");
    assert_eq!(workspace.tree(), ["d", "d/a.txt"]);
    assert_eq!(workspace.content("d/a.txt"), b"other");
}

#[test]
fn b12_what_became_something_else_is_refused_at_once() {
    let workspace = workspace().file("a", "x").file("b", "x").dir("socket");
    workspace.call("list_directory", json!({})).succeeds();
    fs::remove_file(workspace.root().join("a")).unwrap();
    fs::create_dir(workspace.root().join("a")).unwrap();
    fs::remove_file(workspace.root().join("b")).unwrap();
    let workspace = workspace.fifo("b");
    let _socket =
        std::os::unix::net::UnixListener::bind(workspace.root().join("socket/s")).unwrap();
    for path in ["a", "b", "socket/s"] {
        for (tool, arguments) in every_change_at(path) {
            if tool == "create_directory" || arguments["destination"] == path {
                continue;
            }
            let patience = Duration::from_secs(5);
            let said = ask_within(patience, workspace.tools(), tool, arguments, Call::default());
            said.fails_with(ErrorCode::InvalidPath);
        }
    }
    assert_eq!(workspace.tree(), ["a", "b", "from.txt", "socket", "socket/s"]);
}

// What the host denies is changed by no tool.

#[test]
fn what_is_denied_is_neither_changed_nor_made() {
    let workspace = workspace().file(".env", "KEY=1").symlink("door", ".env");
    let tools = Toolkit::new(workspace.open().deny([".env*"]).unwrap());
    for path in [".env", ".env.local", "d/.env", "d/.env.d/x"] {
        for (tool, arguments) in every_change_at(path) {
            ask(&tools, tool, arguments).fails_with(ErrorCode::PolicyDenied).never_mentions("KEY");
        }
    }
    let edit = json!({ "path": "door", "old_text": "KEY", "new_text": "x" });
    ask(&tools, "edit_file", edit).fails_with(ErrorCode::PolicyDenied);
    assert_eq!(workspace.tree(), [".env", "door", "from.txt"]);
}

#[test]
fn a_read_only_workspace_changes_nothing() {
    let workspace = workspace();
    let tools = Toolkit::new(workspace.open().read_only());
    for (tool, arguments) in every_change_at("from.txt") {
        ask(&tools, tool, arguments).fails_with(ErrorCode::ReadOnly);
    }
    assert_eq!(workspace.content("from.txt"), b"from\n");
}

// E7 and E8: what a change keeps.

fn edit(workspace: &TestWorkspace, path: &str, old: &str, new: &str) -> Said {
    workspace
        .call("edit_file", json!({ "path": path, "old_text": old, "new_text": new }))
        .succeeds()
}

#[test]
fn e7_permissions_are_kept() {
    let workspace = workspace().file("a.txt", "one");
    let path = workspace.root().join("a.txt");
    for mode in [0o600, 0o644, 0o755, 0o4750, 0o2755, 0o1644, 0o200 | 0o400] {
        set_mode(&path, mode);
        edit(&workspace, "a.txt", "one", "two");
        workspace.call("write_file", json!({ "path": "a.txt", "content": "one" })).succeeds();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, mode, "{mode:o}");
    }
}

#[test]
fn e7_a_file_without_write_permission_is_left_alone_by_the_user_root_too() {
    let workspace = workspace().file("a.txt", "one");
    set_mode(&workspace.root().join("a.txt"), 0o444);
    let said = workspace.call("write_file", json!({ "path": "a.txt", "content": "two" }));
    said.fails_with(ErrorCode::PermissionDenied)
        .mentions("cannot write a.txt: the file is read-only");
    let said = workspace
        .call("edit_file", json!({ "path": "a.txt", "old_text": "one", "new_text": "two" }));
    said.fails_with(ErrorCode::PermissionDenied);
    assert_eq!(workspace.content("a.txt"), b"one");
}

#[test]
fn e7_the_owner_is_kept() {
    if !running_as_root() {
        eprintln!("SKIPPED: only root gives files away");
        return;
    }
    let workspace = workspace().file("a.txt", "one");
    let path = workspace.root().join("a.txt");
    std::os::unix::fs::chown(&path, Some(1000), Some(1001)).unwrap();
    set_mode(&path, 0o4750);
    edit(&workspace, "a.txt", "one", "two");
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.uid(), metadata.gid()), (1000, 1001));
    assert_eq!(metadata.mode() & 0o7777, 0o4750);
}

/// An access control list as the kernel stores it: the owner, user 1000, the group, the mask and
/// the others.
const ACCESS_LIST: &[u8] = b"\x02\0\0\0\x01\0\x06\0\xff\xff\xff\xff\x02\0\x06\0\xe8\x03\0\0\
    \x04\0\x04\0\xff\xff\xff\xff\x10\0\x06\0\xff\xff\xff\xff\x20\0\x04\0\xff\xff\xff\xff";

#[test]
#[cfg(target_os = "linux")]
fn e7_extended_attributes_and_access_lists_are_kept() {
    let workspace = workspace().file("a.txt", "one");
    let path = workspace.root().join("a.txt");
    let set = |name: &str, value: &[u8]| setxattr(&path, name, value, XattrFlags::empty());
    if set("user.note", b"kept").is_err() || set("system.posix_acl_access", ACCESS_LIST).is_err() {
        eprintln!("SKIPPED: this file system has no extended attributes");
        return;
    }
    let mode = fs::metadata(&path).unwrap().mode();
    edit(&workspace, "a.txt", "one", "two");
    let get = |name: &str| {
        let mut value = [0; 256];
        let length = getxattr(&path, name, &mut value[..]).unwrap();
        value[..length].to_vec()
    };
    assert_eq!(get("user.note"), b"kept");
    assert_eq!(get("system.posix_acl_access"), ACCESS_LIST);
    assert_eq!(fs::metadata(&path).unwrap().mode(), mode);
}

#[test]
fn e7_hard_links_stay_links() {
    let workspace = workspace().file("a.txt", "one\ntwo\n");
    fs::hard_link(workspace.root().join("a.txt"), workspace.root().join("b.txt")).unwrap();
    let said = edit(&workspace, "a.txt", "two", "three");
    assert_eq!(
        said.notes,
        ["the file was written in place, not atomically, because it has 2 hard links"]
    );
    assert_eq!(workspace.content("b.txt"), b"one\nthree\n");
    workspace.call("write_file", json!({ "path": "b.txt", "content": "short" })).succeeds();
    assert_eq!(workspace.content("a.txt"), b"short");
    assert_eq!(fs::metadata(workspace.root().join("a.txt")).unwrap().nlink(), 2);
}

#[test]
fn e7_no_moment_allows_more_than_the_file_does() {
    let workspace = workspace().file("d/a.txt", "0");
    let directory = workspace.root().join("d");
    set_mode(&directory.join("a.txt"), 0o600);
    let stop = Arc::new(AtomicBool::new(false));
    let (seen, watched) = (Arc::clone(&stop), directory.clone());
    let looking = thread::spawn(move || {
        let (mut looks, mut widest) = (0_u64, 0);
        while !seen.load(Ordering::Relaxed) {
            for entry in fs::read_dir(&watched).unwrap().flatten() {
                if let Ok(metadata) = entry.metadata() {
                    widest |= metadata.mode() & 0o777;
                    looks += 1;
                }
            }
        }
        (looks, widest)
    });
    let tools = Toolkit::new(workspace.open().with_durability(Durability::Fast));
    for round in 1..300 {
        let content = round.to_string();
        ask(&tools, "write_file", json!({ "path": "d/a.txt", "content": content })).succeeds();
    }
    stop.store(true, Ordering::Relaxed);
    let (looks, widest) = looking.join().unwrap();
    assert!(looks > 100, "{looks} looks");
    assert_eq!(widest, 0o600, "{widest:o}");
}

#[test]
fn e7_a_copy_has_the_permissions_of_its_source() {
    let workspace = workspace();
    let path = workspace.root().join("from.txt");
    for mode in [0o600, 0o755, 0o4700] {
        set_mode(&path, mode);
        let name = format!("copy-{mode:o}");
        workspace
            .call("copy_file", json!({ "source": "from.txt", "destination": name }))
            .succeeds();
        let copied = fs::metadata(workspace.root().join(name)).unwrap().mode() & 0o7777;
        assert_eq!(copied, mode & 0o755, "a copy gives nobody the rights of its owner");
    }
}

#[cfg(feature = "cli")]
#[test]
fn e8_new_files_and_directories_follow_the_umask() {
    let workspace = workspace();
    let script = format!(
        "umask 027 && '{}' --root '{}' write new/sub/a.txt x",
        env!("CARGO_BIN_EXE_ripkit"),
        workspace.root().display()
    );
    let done = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(done.status.success(), "{done:?}");
    let mode = |path: &str| fs::metadata(workspace.root().join(path)).unwrap().permissions().mode();
    assert_eq!(mode("new/sub/a.txt") & 0o7777, 0o640);
    assert_eq!(mode("new/sub") & 0o7777, 0o750);
    assert_eq!(mode("new") & 0o7777, 0o750);
}

#[test]
fn e8_directories_made_for_a_file_that_could_not_be_written_are_removed() {
    let workspace = workspace();
    let path = format!("new/sub/{}", "n".repeat(256));
    workspace
        .call("write_file", json!({ "path": path, "content": "x" }))
        .fails_with(ErrorCode::InvalidPath);
    workspace
        .call("move_file", json!({ "source": "from.txt", "destination": path }))
        .fails_with(ErrorCode::InvalidPath);
    workspace
        .call("copy_file", json!({ "source": "from.txt", "destination": path }))
        .fails_with(ErrorCode::InvalidPath);
    assert_eq!(workspace.tree(), ["from.txt"]);
}

#[test]
fn e9_directories_are_not_written_and_nothing_is_made_below_a_file() {
    let workspace = workspace().dir("d");
    let write = |path: &str| workspace.call("write_file", json!({ "path": path, "content": "x" }));
    write("d").fails_with(ErrorCode::InvalidPath);
    write("d/").fails_with(ErrorCode::InvalidPath);
    write("from.txt/").fails_with(ErrorCode::InvalidPath);
    write("from.txt/x").fails_with(ErrorCode::FileNotFound);
    assert_eq!(workspace.tree(), ["d", "from.txt"]);
}

#[test]
fn a_directory_that_cannot_be_written_still_lets_its_files_be_edited() {
    let workspace = TestWorkspace::new().file("d/a.txt", "one");
    set_mode(&workspace.root().join("d/a.txt"), 0o666);
    set_mode(&workspace.root().join("d"), 0o555);
    let test = "hostile_changes::a_directory_that_cannot_be_written_still_lets_its_files_be_edited";
    in_child(test, Who::Nobody, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap());
        let edit = json!({ "path": "d/a.txt", "old_text": "one", "new_text": "two" });
        let said = ask(&tools, "edit_file", edit).succeeds();
        let why = "its directory cannot be written";
        let note = format!("the file was written in place, not atomically, because {why}");
        assert_eq!(said.notes, [note]);
        let write = json!({ "path": "d/new.txt", "content": "x" });
        ask(&tools, "write_file", write).fails_with(ErrorCode::PermissionDenied);
        assert_eq!(fs::read(root.join("d/a.txt")).unwrap(), b"two");
    });
}

#[test]
fn e7_an_owner_that_cannot_be_kept_is_told_and_takes_its_rights_along() {
    let workspace = TestWorkspace::new().file("d/a.txt", "one");
    let test =
        "hostile_changes::e7_an_owner_that_cannot_be_kept_is_told_and_takes_its_rights_along";
    if !running_as_root() {
        eprintln!("SKIPPED: only root has files that another user may write");
        return;
    }
    set_mode(&workspace.root().join("d"), 0o777);
    set_mode(&workspace.root().join("d/a.txt"), 0o4777);
    in_child(test, Who::Nobody, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap());
        let edit = json!({ "path": "d/a.txt", "old_text": "one", "new_text": "two" });
        let said = ask(&tools, "edit_file", edit).succeeds();
        assert_eq!(said.notes, ["the owner of the file could not be kept"]);
        let mode = fs::metadata(root.join("d/a.txt")).unwrap().mode() & 0o7777;
        assert_eq!(mode, 0o777, "a file of ours must not run with rights that were another's");
    });
}

#[cfg(all(target_os = "linux", not(ripkit_portable)))]
#[test]
fn holes_stay_holes_in_a_copy() {
    let workspace = workspace();
    let path = workspace.root().join("sparse");
    let file = fs::File::create(&path).unwrap();
    file.set_len(64 << 20).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, b"end", (64 << 20) - 3).unwrap();
    std::os::unix::fs::FileExt::write_at(&file, b"middle", 32 << 20).unwrap();
    workspace.call("copy_file", json!({ "source": "sparse", "destination": "copy" })).succeeds();
    let copy = fs::metadata(workspace.root().join("copy")).unwrap();
    assert_eq!(copy.len(), 64 << 20);
    assert!(copy.blocks() * 512 < 1 << 20, "{} bytes are used", copy.blocks() * 512);
    assert!(same_bytes(&path, &workspace.root().join("copy")));
}

#[cfg(all(target_os = "linux", not(ripkit_portable)))]
fn same_bytes(one: &Path, other: &Path) -> bool {
    fs::read(one).unwrap() == fs::read(other).unwrap()
}
