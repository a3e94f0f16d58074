//! Hostile trees, paths, patterns and surroundings.
//!
//! The names of the tests begin with the row of the test matrix that they cover. Every call is
//! made in a thread of its own with a deadline, so that a hang is a failure and not a wait.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use ripkit::{
    Call, Cancel, Effect, Error, ErrorCode, Limits, Output, Tool, ToolContext, Toolkit, Workspace,
};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::harness::{
    PATIENCE, Said, TestWorkspace, Who, ask, ask_within, in_child, is_child, pages, put, rounds,
    run_program, running_as_root, with_threads, within,
};

/// Every tool that takes a path, asked for `path`.
fn every_tool_on(path: &str) -> [(&'static str, Value); 5] {
    [
        ("search", json!({ "pattern": "", "path": path })),
        ("list_files", json!({ "path": path })),
        ("find_files", json!({ "pattern": "*", "path": path })),
        ("list_directory", json!({ "path": path })),
        ("read_file", json!({ "path": path })),
    ]
}

#[track_caller]
fn every_tool_refuses(workspace: &TestWorkspace, path: &str, code: ErrorCode) {
    for (tool, arguments) in every_tool_on(path) {
        let said = workspace.call(tool, arguments);
        assert_eq!(said.code, Some(code), "{tool} of {path:.100?}: {}", said.text);
        said.fails_with(code).never_mentions("is a SECRET line");
    }
}

// A: paths.

#[test]
fn a1_an_empty_path_is_invalid() {
    every_tool_refuses(&TestWorkspace::new(), "", ErrorCode::InvalidPath);
}

#[test]
fn a1_spaces_are_a_name_and_never_trimmed() {
    let workspace = TestWorkspace::new().file("a.txt", "x");
    every_tool_refuses(&workspace, "   ", ErrorCode::FileNotFound);
    let workspace = workspace.file("   /b.txt", "x");
    workspace.call("list_directory", json!({ "path": "   " })).lists(["b.txt"]);
}

#[test]
fn a2_a_path_that_leaves_the_root_is_invalid() {
    let workspace = TestWorkspace::new()
        .file("a/b.txt", "x")
        .outside_file("secret.txt", "this is a SECRET line\n");
    // A sibling whose name begins like the root's.
    put(&workspace.above().join("root-evil/s"), b"this is a SECRET line\n");
    let root = workspace.root().display().to_string();
    let outside = workspace.outside().display().to_string();
    for path in [
        "..",
        "../",
        "../outside",
        "../outside/secret.txt",
        "a/../../outside",
        "a/b/../../../outside/secret.txt",
        "./../root",
        "/",
        "/etc/passwd",
        &outside,
        &format!("{root}/../outside/secret.txt"),
        &format!("{root}-evil/s"),
        &format!("{root}-evil"),
        "//etc",
    ] {
        every_tool_refuses(&workspace, path, ErrorCode::InvalidPath);
    }
}

#[test]
fn a3_an_absolute_path_inside_the_root_is_the_same_as_a_relative_one() {
    let workspace = TestWorkspace::new().file("a/b.txt", "needle\n").file("c.txt", "needle\n");
    let root = workspace.root().display().to_string();
    for path in [format!("{root}/a"), format!("{root}/./a//"), "a/".into(), "./a/../a".into()] {
        let search = json!({ "pattern": "needle", "path": path });
        workspace.call("search", search).reads("a/b.txt:1:needle");
        workspace.call("list_files", json!({ "path": path })).lists(["a/b.txt"]);
        workspace.call("find_files", json!({ "pattern": "*", "path": path })).lists(["a/b.txt"]);
        workspace.call("list_directory", json!({ "path": path })).lists(["b.txt"]);
    }
    for path in [root.clone(), format!("{root}/"), ".".into(), "a/..".into()] {
        workspace.call("list_files", json!({ "path": path })).lists(["a/b.txt", "c.txt"]);
        workspace.call("list_directory", json!({ "path": path })).lists(["a", "c.txt"]);
    }
    let file = json!({ "pattern": "needle", "path": format!("{root}/a//b.txt") });
    workspace.call("search", file).finds(["a/b.txt:1"]);
    for path in [format!("{root}/a//b.txt"), "./a/../a/b.txt".into()] {
        let said = workspace.call("read_file", json!({ "path": path }));
        assert_eq!(said.reads("[1 lines]\n   1 | needle").details["path"], "a/b.txt");
    }
}

#[test]
fn a4_a_root_that_is_reached_through_a_link_accepts_both_spellings() {
    let workspace = TestWorkspace::new().file("a/b.txt", "needle\n");
    let link = workspace.above().join("link-to-root");
    symlink(workspace.root(), &link).unwrap();
    let tools = Toolkit::new(Workspace::open(&link).unwrap());
    for spelling in [link, fs::canonicalize(workspace.root()).unwrap()] {
        let path = spelling.join("a").display().to_string();
        ask(&tools, "list_files", json!({ "path": path })).lists(["a/b.txt"]);
    }
}

#[test]
fn a5_a_nul_byte_in_a_path_is_invalid() {
    let workspace = TestWorkspace::new().file("a", "x");
    for path in ["\0", "a\0", "a\0b", "a/\0/b"] {
        every_tool_refuses(&workspace, path, ErrorCode::InvalidPath);
    }
}

#[test]
fn a6_a_name_of_255_bytes_is_fine_and_one_of_256_is_invalid() {
    let longest = "n".repeat(255);
    let workspace = TestWorkspace::new().file(format!("{longest}/a.txt"), "x");
    workspace.call("list_files", json!({ "path": longest })).lists([&format!("{longest}/a.txt")]);
    every_tool_refuses(&workspace, &"n".repeat(256), ErrorCode::InvalidPath);
}

#[test]
fn a6_a_long_path_is_fine_while_the_system_takes_it() {
    let deep = vec!["d".repeat(200); 19].join("/");
    let workspace = TestWorkspace::new().file(format!("{deep}/a.txt"), "needle");
    let search = json!({ "pattern": "needle", "path": deep });
    workspace.call("search", search).finds([&format!("{deep}/a.txt:1")]);
}

#[test]
fn a6_a_path_of_100_kilobytes_is_refused_with_a_short_message() {
    let workspace = TestWorkspace::new();
    for path in ["x".repeat(100_000), "x/".repeat(50_000)] {
        every_tool_refuses(&workspace, &path, ErrorCode::InvalidPath);
    }
}

const ODD_NAMES: [&str; 8] =
    [" lead", "-rf", "a\nb:1:forged", "e\u{1b}[31mred", "r\u{202e}txt.exe", "tab\t", "trail ", "ü"];

#[test]
fn a7_odd_names_are_exact_in_details_and_harmless_in_text() {
    let mut workspace = TestWorkspace::new();
    for name in ODD_NAMES {
        workspace = workspace.file(name, "needle\n");
    }
    for (tool, arguments) in [
        ("search", json!({ "pattern": "needle" })),
        ("search", json!({ "pattern": "needle", "output": "files" })),
        ("list_files", json!({})),
        ("find_files", json!({ "pattern": "*" })),
        ("list_directory", json!({})),
    ] {
        let said = workspace.call(tool, arguments.clone()).lists(ODD_NAMES);
        assert_eq!(said.text.lines().count(), ODD_NAMES.len(), "{tool}: {:?}", said.text);
        for control in ['\u{1b}', '\u{202e}'] {
            assert!(!said.text.contains(control), "{tool} {arguments}: {:?}", said.text);
        }
    }
    for name in ODD_NAMES {
        let search = json!({ "pattern": "needle", "path": name });
        let found = workspace.call("search", search).succeeds().matches();
        assert_eq!(found.len(), 1, "{name:?}");
        assert_eq!(found[0].path, name);
    }
}

#[test]
fn a8_a_name_that_is_not_utf8_is_shown_escaped_and_accepted_back() {
    let workspace = TestWorkspace::new().file("plain.txt", "other\n");
    let name = std::ffi::OsStr::from_bytes(b"odd-\xff\xfe.txt");
    fs::write(workspace.root().join(name), "needle\n").unwrap();
    for (tool, arguments) in [
        ("search", json!({ "pattern": "needle" })),
        ("list_files", json!({ "pattern": "odd*" })),
        ("find_files", json!({ "pattern": "odd*" })),
    ] {
        let shown = workspace.call(tool, arguments).succeeds().paths();
        assert_eq!(shown.len(), 1, "{tool}: {shown:?}");
        assert!(shown[0].starts_with("odd-") && !shown[0].contains('\u{fffd}'), "{shown:?}");
        let again = workspace.call("search", json!({ "pattern": "needle", "path": shown[0] }));
        assert_eq!(again.succeeds().matches().len(), 1, "{tool}: {shown:?}");
    }
    let names = workspace.call("list_directory", json!({})).succeeds().paths();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a8_names_that_are_written_alike_are_each_on_a_page_of_their_own() {
    let workspace = TestWorkspace::new().file(r"odd-\xff", "");
    fs::write(workspace.root().join(std::ffi::OsStr::from_bytes(b"odd-\xff")), "").unwrap();
    for (tool, arguments) in [
        ("list_files", json!({})),
        ("list_files", json!({ "sort": "modified" })),
        ("find_files", json!({ "pattern": "*" })),
        ("list_directory", json!({})),
    ] {
        let pages = pages(workspace.tools(), tool, &arguments, Some(1));
        let paths: Vec<_> = pages.iter().flat_map(Said::paths).collect();
        assert_eq!(paths, [r"odd-\xff"; 2], "{tool} {arguments}");
    }
}

#[test]
fn a9_nothing_in_a_path_is_expanded_or_decoded() {
    let workspace = TestWorkspace::new();
    for path in ["~", "~/x", "~root/x", "$HOME", "$HOME/x", "%2e%2e/", "file:///etc/passwd"] {
        every_tool_refuses(&workspace, path, ErrorCode::FileNotFound);
    }
    let workspace = workspace.file("~/a.txt", "x").file("$HOME/b.txt", "x");
    workspace.call("list_files", json!({ "path": "~" })).lists(["~/a.txt"]);
    workspace.call("list_files", json!({ "path": "$HOME" })).lists(["$HOME/b.txt"]);
}

#[test]
fn a10_names_that_are_special_elsewhere_are_ordinary_names_here() {
    let names = ["C:x", "COM¹", "NUL", "PROGRA~1", r"\\?\C:\", r"\\localhost\c$", "aux.txt", "f."];
    let mut workspace = TestWorkspace::new();
    for name in names {
        workspace = workspace.file(format!("in/{name}"), "needle\n");
    }
    for name in names {
        let search = json!({ "pattern": "needle", "path": format!("in/{name}") });
        workspace.call("search", search).finds([&format!("in/{name}:1")]);
    }
}

// B: links and races.

fn secretive() -> TestWorkspace {
    TestWorkspace::new()
        .file("in.txt", "needle\n")
        .outside_file("secret.txt", "this is a SECRET line\n")
        .outside_file("sub/secret.txt", "this is a SECRET line\n")
}

#[test]
fn b1_a_link_to_the_outside_is_refused_as_a_path() {
    let workspace = secretive();
    let absolute = workspace.outside().join("secret.txt");
    let workspace = workspace.symlink("l", "../outside/secret.txt").symlink("m", absolute);
    every_tool_refuses(&workspace, "l", ErrorCode::InvalidPath);
    every_tool_refuses(&workspace, "m", ErrorCode::InvalidPath);
}

#[test]
fn b1_a_link_to_the_outside_is_counted_and_not_entered() {
    let workspace = secretive();
    let outside = workspace.outside();
    let workspace = workspace.symlink("l", "../outside/secret.txt").symlink("d", outside);
    let said = workspace.search("SECRET|needle").finds(["in.txt:1"]).skipped("links", 2);
    said.never_mentions("SECRET line");
    let listed = workspace.call("list_files", json!({})).succeeds().paths();
    assert!(!listed.iter().any(|path| path.contains("secret")), "{listed:?}");
}

#[test]
fn b2_a_dangling_link_to_the_outside_is_refused() {
    let workspace = secretive().symlink("l", "../outside/new");
    every_tool_refuses(&workspace, "l", ErrorCode::InvalidPath);
    assert!(!workspace.outside().join("new").exists());
}

#[test]
fn b3_a_path_through_a_link_to_the_outside_is_refused() {
    let workspace = secretive().symlink("d", "../outside");
    for path in ["d", "d/", "d/sub", "d/sub/secret.txt", "d/none/of/these"] {
        every_tool_refuses(&workspace, path, ErrorCode::InvalidPath);
    }
}

#[test]
fn b4_a_link_inside_is_followed_when_it_is_the_path() {
    let workspace = secretive();
    let absolute = workspace.root().join("in.txt");
    let workspace = workspace.symlink("l", "in.txt").symlink("sub/l2", absolute);
    for path in ["l", "sub/l2"] {
        let said = workspace.call("search", json!({ "pattern": "needle", "path": path }));
        assert_eq!(said.succeeds().matches().len(), 1, "{path}");
    }
}

#[test]
fn b4_a_chain_of_39_links_is_followed_and_one_of_41_is_not() {
    let mut workspace = secretive().symlink("l1", "in.txt");
    for number in 2..=41 {
        workspace = workspace.symlink(&format!("l{number}"), format!("l{}", number - 1));
    }
    let said = workspace.call("search", json!({ "pattern": "needle", "path": "l39" })).succeeds();
    assert_eq!(said.matches().len(), 1);
    every_tool_refuses(&workspace, "l41", ErrorCode::InvalidPath);
}

#[test]
fn b5_links_in_a_circle_are_refused_at_once() {
    let workspace = secretive().symlink("l", "l").symlink("a", "b").symlink("b", "a");
    let started = Instant::now();
    for path in ["l", "a", "b", "l/x"] {
        every_tool_refuses(&workspace, path, ErrorCode::InvalidPath);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    workspace.search("needle").finds(["in.txt:1"]).skipped("links", 3);
}

#[test]
fn b6_links_into_proc_and_dev_are_refused() {
    let targets =
        ["/proc/self/root/etc/passwd", "/proc/self/fd/3", "/proc/self/cwd", "/dev/stdin", "/"];
    for target in targets {
        every_tool_refuses(&secretive().symlink("l", target), "l", ErrorCode::InvalidPath);
    }
}

/// Runs `attack` over and over in a thread until `work` is done.
pub(crate) fn under_attack(attack: impl Fn() + Send + 'static, work: impl FnOnce()) {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let attacker = thread::spawn(move || {
        let mut rounds = 0_u64;
        while !seen.load(Ordering::Relaxed) {
            attack();
            rounds += 1;
        }
        rounds
    });
    let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    stop.store(true, Ordering::Relaxed);
    let rounds = attacker.join().unwrap();
    if let Err(panic) = worked {
        std::panic::resume_unwind(panic);
    }
    assert!(rounds > 10, "the attacker came to act only {rounds} times");
}

pub(crate) fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

#[track_caller]
fn assert_nothing_leaked(said: &Said) {
    let details = said.details.to_string();
    assert!(!said.text.contains("SECRET"), "{}", said.text);
    assert!(!details.contains("SECRET"), "{details}");
    assert!(!details.contains("secret"), "{details}");
    let documented = matches!(
        said.code,
        None | Some(ErrorCode::InvalidPath | ErrorCode::FileNotFound | ErrorCode::IoError)
    );
    assert!(documented, "{:?}: {}", said.code, said.text);
}

// The names outside differ from those inside, so that a listing would tell them apart.
fn contested() -> TestWorkspace {
    let mut workspace = TestWorkspace::new();
    for number in 0..30 {
        workspace = workspace
            .file(format!("d/{number:02}/f.txt"), "inside\n")
            .outside_file(&format!("{number:02}/f.txt"), "SECRET\n")
            .outside_file(&format!("{number:02}/secret.txt"), "SECRET\n");
    }
    workspace.file("leaf.txt", "inside\n").outside_file("leaf.txt", "SECRET\n")
}

#[test]
fn b7_a_directory_swapped_with_a_link_never_shows_the_outside() {
    let workspace = contested().symlink("swap", "../outside");
    let (one, other) = (workspace.root().join("d"), workspace.root().join("swap"));
    under_attack(
        move || exchange(&one, &other),
        || {
            for number in 0..rounds(300) {
                let path = format!("d/{:02}", number % 30);
                for (tool, mut arguments) in every_tool_on(&path) {
                    assert_nothing_leaked(&workspace.call(tool, arguments.clone()));
                    arguments["path"] = json!(format!("d/../{path}"));
                    assert_nothing_leaked(&workspace.call(tool, arguments));
                }
            }
        },
    );
}

#[test]
fn b7_a_file_swapped_with_a_link_never_shows_the_outside() {
    let workspace = contested().symlink("swap", "../outside/leaf.txt");
    let (one, other) = (workspace.root().join("leaf.txt"), workspace.root().join("swap"));
    under_attack(
        move || exchange(&one, &other),
        || {
            for _ in 0..rounds(1000) {
                let search = json!({ "pattern": "", "path": "leaf.txt" });
                assert_nothing_leaked(&workspace.call("search", search));
                let read = json!({ "path": "leaf.txt" });
                assert_nothing_leaked(&workspace.call("read_file", read));
            }
        },
    );
}

#[test]
fn b7_a_parent_that_is_renamed_away_never_shows_the_outside() {
    let workspace = contested();
    let (inside, away) = (workspace.root().join("d"), workspace.above().join("away"));
    put(&away.join("00/secret.txt"), b"SECRET\n");
    under_attack(
        move || exchange(&inside, &away),
        || {
            for _ in 0..rounds(300) {
                // What was moved in is inside; but `..` after it must not climb out of the root.
                for path in ["d/00/../../../outside", "d/../../outside/leaf.txt"] {
                    for (tool, arguments) in every_tool_on(path) {
                        assert_nothing_leaked(&workspace.call(tool, arguments));
                    }
                }
            }
        },
    );
}

#[test]
fn b7_a_root_that_is_renamed_stays_the_root() {
    let workspace = contested();
    workspace.tools();
    let (root, outside) = (workspace.root(), workspace.outside());
    under_attack(
        move || exchange(&root, &outside),
        || {
            for _ in 0..rounds(300) {
                let said = workspace.call("search", json!({ "pattern": "", "path": "leaf.txt" }));
                said.reads("leaf.txt:1:inside");
            }
        },
    );
}

#[test]
fn b8_swaps_during_a_recursive_search_or_listing_never_show_the_outside() {
    let mut workspace = contested();
    for number in 0..30 {
        let target = format!("../../outside/{number:02}");
        workspace = workspace.symlink(&format!("links/{number:02}"), target);
    }
    let root = workspace.root();
    let attack = move || {
        for number in 0..30 {
            let name = format!("{number:02}");
            exchange(&root.join("d").join(&name), &root.join("links").join(&name));
        }
    };
    under_attack(attack, || {
        for _ in 0..rounds(60) {
            for (tool, arguments) in [
                ("search", json!({ "pattern": "", "max_results": 1000 })),
                ("search", json!({ "pattern": "SECRET" })),
                ("list_files", json!({})),
                ("find_files", json!({ "pattern": "*", "kind": "any" })),
            ] {
                assert_nothing_leaked(&workspace.call(tool, arguments));
            }
        }
    });
}

#[test]
fn b11_a_root_that_is_replaced_stays_the_original_directory() {
    let workspace = TestWorkspace::new().file("a.txt", "original\n");
    workspace.tools();
    let moved = workspace.above().join("moved");
    fs::rename(workspace.root(), &moved).unwrap();
    workspace.put("a.txt", "SECRET\n");
    workspace.put("b.txt", "SECRET\n");
    workspace.search("").reads("a.txt:1:original");
    workspace.call("list_files", json!({})).lists(["a.txt"]);
    workspace.call("find_files", json!({ "pattern": "*" })).lists(["a.txt"]);
    workspace.call("list_directory", json!({})).lists(["a.txt"]);
}

// C: special and strange files.

#[test]
fn c1_a_fifo_in_the_tree_is_skipped_and_counted() {
    let workspace = TestWorkspace::new().file("a.txt", "needle\n").fifo("pipe");
    workspace.search("needle").finds(["a.txt:1"]).skipped("special", 1);
}

#[test]
fn c1_a_fifo_as_a_path_is_refused_at_once() {
    let workspace = TestWorkspace::new().fifo("pipe");
    let started = Instant::now();
    every_tool_refuses(&workspace, "pipe", ErrorCode::InvalidPath);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn c1_many_fifos_do_not_delay_another_search() {
    let mut workspace = TestWorkspace::new().file("z.txt", "needle\n");
    for number in 0..64 {
        workspace = workspace.fifo(&format!("pipe{number}"));
    }
    workspace.tools();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| workspace.search("needle").finds(["z.txt:1"]).skipped("special", 64));
        }
    });
}

#[test]
fn c2_sockets_and_devices_are_skipped_and_counted() {
    let workspace = TestWorkspace::new().file("a.txt", "needle\n");
    let _socket = UnixListener::bind(workspace.root().join("socket")).unwrap();
    let mut special = 1;
    for (name, major, minor) in [("zero", "1", "5"), ("tty", "5", "0")] {
        let node = workspace.root().join(name).display().to_string();
        let made = Command::new("mknod").args([&node, "c", major, minor]).output().unwrap();
        if made.status.success() {
            special += 1;
            every_tool_refuses(&workspace, name, ErrorCode::InvalidPath);
        } else {
            let reason = String::from_utf8_lossy(&made.stderr).into_owned();
            assert!(!running_as_root() || reason.contains("not permitted"), "{reason}");
            eprintln!("SKIPPED in part: no device can be made here: {reason}");
        }
    }
    every_tool_refuses(&workspace, "socket", ErrorCode::InvalidPath);
    workspace.search("needle").finds(["a.txt:1"]).skipped("special", special);
}

/// The most memory that this process ever held, in megabytes.
#[cfg(target_os = "linux")]
pub(crate) fn peak_megabytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn c3_a_sparse_file_of_8_gigabytes_is_binary_and_costs_no_memory() {
    let workspace = TestWorkspace::new().file("a.txt", "needle\n");
    if !is_child() {
        let sparse = fs::File::create(workspace.root().join("sparse")).unwrap();
        sparse.set_len(8 << 30).unwrap();
    }
    let test = "hostile::c3_a_sparse_file_of_8_gigabytes_is_binary_and_costs_no_memory";
    in_child(test, Who::Same, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap());
        let before = peak_megabytes();
        let search = json!({ "pattern": "needle" });
        ask(&tools, "search", search).finds(["a.txt:1"]).skipped("binary", 1);
        let used = peak_megabytes() - before;
        assert!(used < 100, "{used} MB");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn c4_a_root_in_proc_never_blocks() {
    let tools = Toolkit::new(Workspace::open("/proc").unwrap());
    for path in ["kmsg", "self/mem", "self/pagemap", "kcore", "version", "sys/kernel"] {
        let arguments = json!({ "pattern": "SECRET|Linux", "path": path, "timeout_ms": 2000 });
        let said = ask_within(PATIENCE, &tools, "search", arguments, Call::default());
        let bounded = matches!(
            said.code,
            None | Some(
                ErrorCode::InvalidPath
                    | ErrorCode::FileNotFound
                    | ErrorCode::PermissionDenied
                    | ErrorCode::IoError
            )
        );
        assert!(bounded, "{path}: {:?} {}", said.code, said.text);
    }
    ask(&tools, "list_directory", json!({ "path": "self" })).succeeds();
}

#[cfg(target_os = "linux")]
#[test]
fn c5_a_huge_line_costs_bounded_memory_and_hides_no_other_file() {
    let size: usize = 192 << 20;
    let workspace = TestWorkspace::new().file("small.txt", "a needle\n");
    if !is_child() {
        let mut line = vec![b'a'; size];
        line[size / 2..size / 2 + 6].copy_from_slice(b"needle");
        workspace.put("huge.txt", &line);
    }
    let test = "hostile::c5_a_huge_line_costs_bounded_memory_and_hides_no_other_file";
    in_child(test, Who::Same, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap());
        let before = peak_megabytes();
        for pattern in ["needle", "a+$|needle"] {
            let said = ask(&tools, "search", json!({ "pattern": pattern })).succeeds();
            let paths = said.paths();
            assert!(paths.contains(&"small.txt".into()), "{pattern}: {}", said.text);
            // The huge file was either searched or told about; never passed over in silence.
            let receipt = &said.details["receipt"];
            let told =
                receipt["skipped"]["too_large"] == 1 || receipt["skipped"]["unreadable"] == 1;
            assert!(told || paths.contains(&"huge.txt".into()), "{pattern}: {receipt}");
            assert!(said.text.len() < 5000, "{pattern}: {} bytes of text", said.text.len());
        }
        let used = peak_megabytes() - before;
        assert!(used < 160, "{used} MB for a line of {} MB", size >> 20);
    });
}

#[test]
fn c5_a_long_line_is_shown_as_a_window_round_the_match() {
    let line = format!("{}needle{}\n", "x".repeat(100_000), "y".repeat(100_000));
    let workspace = TestWorkspace::new().file("a.txt", line);
    let said = workspace.search("needle").finds(["a.txt:1"]).mentions("needle").mentions("…");
    assert!(said.text.len() < 700, "{} bytes", said.text.len());
    assert_eq!(said.matches()[0].column, 100_001);
    assert!(said.text.contains("100001"), "the column is told: {}", said.text);
}

#[test]
fn c5_the_host_sets_how_much_of_a_line_is_shown() {
    let line = format!("{}needle{}\n", "x".repeat(1000), "y".repeat(1000));
    let workspace = TestWorkspace::new().file("a.txt", line);
    let mut limits = with_threads(1);
    limits.line_bytes = 100;
    let search = json!({ "pattern": "needle" });
    let narrow = workspace.call_with(limits.clone(), "search", search.clone()).finds(["a.txt:1"]);
    assert!(narrow.text.len() < 200, "{}", narrow.text);
    limits.line_bytes = 10_000;
    let wide = workspace.call_with(limits, "search", search).finds(["a.txt:1"]);
    assert_eq!(wide.text.len(), "a.txt:1:".len() + 2006);
}

#[test]
fn c6_byte_order_marks_are_not_part_of_the_text() {
    let utf16: Vec<u8> = "\u{feff}needle é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let workspace = TestWorkspace::new().file("16.txt", utf16).file("8.txt", "\u{feff}needle é\n");
    workspace.search("^needle é$").reads("16.txt:1:needle é\n8.txt:1:needle é");
}

#[test]
fn c6_latin_1_is_searched() {
    let workspace = TestWorkspace::new().file("a.txt", b"caf\xe9 needle\n");
    workspace.search("needle").finds(["a.txt:1"]);
    workspace.search(r"(?-u:\xe9) needle").finds(["a.txt:1"]);
}

#[test]
fn c6_a_nul_byte_at_the_start_hides_the_file_and_counts_it() {
    let workspace = TestWorkspace::new().file("a.bin", "\0\nneedle\n");
    workspace.search("needle").finds_nothing().skipped("binary", 1);
}

#[test]
fn c6_a_nul_byte_after_100_kilobytes_ends_the_search_of_the_file_there() {
    let content = format!("needle\n{}\0\nneedle\n", "hay\n".repeat(25_000));
    let workspace = TestWorkspace::new().file("a.bin", content);
    workspace.search("needle").finds(["a.bin:1"]).skipped("binary", 1);
}

#[test]
fn c7_every_line_ending_is_left_out_of_the_text() {
    let workspace = TestWorkspace::new()
        .file("cr.txt", "one\rtwo\r")
        .file("crlf.txt", "one\r\ntwo\r\n")
        .file("mixed.txt", "one\ntwo\r\nlast");
    let said = workspace.search("^two|last$").finds(["crlf.txt:2", "mixed.txt:2", "mixed.txt:3"]);
    assert!(said.matches().iter().all(|found| !found.text.contains('\r')), "{}", said.details);
    // A lone CR ends no line, as in rg.
    let search = json!({ "pattern": "two", "path": "cr.txt" });
    let said = workspace.call("search", search).finds(["cr.txt:1"]);
    assert_eq!(said.text.lines().count(), 1, "{:?}", said.text);
}

#[test]
fn c8_a_file_that_changes_while_it_is_searched_does_no_harm() {
    let workspace = TestWorkspace::new().file("a.txt", "").file("b.txt", "b needle\n");
    let path = workspace.root().join("a.txt");
    let other = workspace.above().join("other.txt");
    let attack = move || {
        fs::write(&path, "a needle\n".repeat(20_000)).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
        fs::write(&other, "a needle\n".repeat(10)).unwrap();
        fs::rename(&other, &path).unwrap();
    };
    under_attack(attack, || {
        for _ in 0..rounds(200) {
            let search = json!({ "pattern": "needle", "max_results": 100_000 });
            let said = workspace.call_with(Limits::unbounded(), "search", search).succeeds();
            let found = said.matches();
            assert_eq!(found.last().unwrap().path, "b.txt");
            for found in found.iter().filter(|found| found.path == "a.txt") {
                // The cut can fall within a line, and the rest may be zeros by then.
                let whole = found.text == "a needle";
                assert!(whole || found.text.starts_with("a needle"), "{found:?}");
            }
        }
    });
}

/// Removes a tree that is too deep for everybody else.
struct Deep(std::path::PathBuf);

impl Drop for Deep {
    fn drop(&mut self) {
        let _ = Command::new("rm").arg("-rf").arg(&self.0).status();
    }
}

#[test]
fn c9_ignore_files_on_every_level_are_used_down_to_a_bound_that_is_told() {
    let mut workspace = TestWorkspace::new().file("z.txt", "needle\n");
    for level in 1..=300 {
        let directory = "d/".repeat(level);
        workspace = workspace.file(format!("{directory}.gitignore"), "skip.txt\n");
    }
    let inner = "d/".repeat(250);
    let workspace = workspace.file(format!("{inner}skip.txt"), "needle\n");
    let said = workspace.search("needle").finds(["z.txt:1"]);
    said.warns_of("more than 256 levels deep");
}

#[test]
fn c9_ten_thousand_levels_neither_overflow_nor_end_the_answer() {
    let workspace = TestWorkspace::new().file("z.txt", "needle\n").dir("deep");
    let _remover = Deep(workspace.root().join("deep"));
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut level = openat(CWD, workspace.root().join("deep"), flags, Mode::empty()).unwrap();
    for _ in 0..10_000 {
        mkdirat(&level, "d", Mode::RWXU).unwrap();
        level = openat(&level, "d", flags, Mode::empty()).unwrap();
    }
    let tools = workspace.tools().clone();
    // The stack of a small thread of a host.
    let small = thread::Builder::new().stack_size(256 << 10);
    let calls = move || {
        let call = |tool, arguments| Said::new(&tools.call(tool, arguments, &Call::default()));
        call("search", json!({ "pattern": "needle" })).finds(["z.txt:1"]);
        call("list_files", json!({ "max_depth": 100_000 })).lists(["z.txt"]);
        call("find_files", json!({ "pattern": "z*" })).lists(["z.txt"]);
        call("list_directory", json!({})).lists(["deep", "z.txt"]);
    };
    let worker = small.spawn(calls).unwrap();
    within(PATIENCE, "a deep tree", move || worker.join()).unwrap();
}

#[test]
fn c10_a_search_of_a_huge_directory_stops_when_cancelled() {
    let workspace = TestWorkspace::new();
    for number in 0..40_000 {
        fs::write(workspace.root().join(format!("{number:06}.txt")), "needle\n").unwrap();
    }
    let first = json!({ "pattern": "needle", "max_results": 100 });
    let said = workspace.call("search", first).succeeds().truncated(true);
    assert_eq!(said.matches().len(), 100);
    let said = workspace.call("list_files", json!({ "max_results": 100 })).truncated(true);
    assert_eq!(said.paths().len(), 100);

    let cancel = Cancel::new();
    let raised = cancel.clone();
    let canceller = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        raised.cancel();
        Instant::now()
    });
    let call = Call::default().with_cancel(cancel);
    let search = json!({ "pattern": "absent", "max_results": 100 });
    let said = ask_within(PATIENCE, workspace.tools(), "search", search, call);
    let late = canceller.join().unwrap().elapsed();
    assert!(late < Duration::from_secs(3), "{late:?} after the cancel");
    assert_eq!(said.details["incomplete"], "cancelled", "{}", said.text);
    let text = said.succeeds().text;
    assert!(!text.starts_with("No matches found\n"), "not everything was searched: {text}");
}

#[test]
fn c11_unreadable_entries_are_counted_and_named_and_the_rest_is_searched() {
    let workspace = TestWorkspace::new()
        .file("a.txt", "needle\n")
        .file("locked.txt", "needle\n")
        .file("locked/b.txt", "needle\n");
    let workspace = workspace.unreadable("locked.txt").unreadable("locked");
    let test = "hostile::c11_unreadable_entries_are_counted_and_named_and_the_rest_is_searched";
    in_child(test, Who::Nobody, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap());
        let said = ask(&tools, "search", json!({ "pattern": "needle" })).finds(["a.txt:1"]);
        said.skipped("unreadable", 2).warns_of("locked.txt").warns_of("locked\"");
        let said = ask(&tools, "list_files", json!({})).lists(["a.txt", "locked.txt"]);
        let said = said.skipped("unreadable", 1).warns_of("locked");
        let told = "a.txt\nlocked.txt\n... (not everything was looked at: 1 unreadable entry)";
        said.reads(told);
        let find = json!({ "pattern": "*", "kind": "any" });
        ask(&tools, "find_files", find).reads(&told.replace("txt\n...", "txt\nlocked/\n..."));
        ask(&tools, "list_files", json!({ "max_depth": 1 })).reads("a.txt\nlocked.txt");
        let search = json!({ "pattern": "needle", "path": "locked.txt" });
        ask(&tools, "search", search).fails_with(ErrorCode::PermissionDenied);
        for (tool, arguments) in every_tool_on("locked") {
            // That it is a directory is known without opening it.
            let known = tool == "read_file";
            let code = if known { ErrorCode::InvalidPath } else { ErrorCode::PermissionDenied };
            ask(&tools, tool, arguments).fails_with(code);
        }
        let read = json!({ "path": "locked.txt" });
        ask(&tools, "read_file", read).fails_with(ErrorCode::PermissionDenied);
        ask(&tools, "list_directory", json!({})).lists(["a.txt", "locked", "locked.txt"]);
    });
}

#[test]
fn c12_directories_that_link_to_each_other_are_read_once() {
    let mut workspace = TestWorkspace::new();
    for from in 0..6 {
        workspace = workspace.file(format!("{from}/f.txt"), "needle\n");
        for to in 0..6 {
            workspace = workspace.symlink(&format!("{from}/to{to}"), format!("../{to}"));
        }
    }
    let said = workspace.search("needle").succeeds().skipped("links", 36);
    assert_eq!(said.matches().len(), 6);
    assert_eq!(said.details["receipt"]["directories"], 7);
}

// X: hostile ignore files, globs and patterns.

#[test]
fn x1_an_ignore_file_that_is_no_regular_file_is_left_out_with_a_warning() {
    let secret = |workspace: TestWorkspace| {
        workspace.file("a.txt", "needle\n").outside_file("rules", "a.txt\nSECRET-rule\n[z-a\n")
    };
    let outside = TestWorkspace::new();
    let absolute = outside.outside().join("rules");
    let outside = secret(outside);
    for (what, workspace) in [
        ("a link to /dev/zero", secret(TestWorkspace::new()).symlink(".gitignore", "/dev/zero")),
        ("a link out", secret(TestWorkspace::new()).symlink(".gitignore", "../outside/rules")),
        ("an absolute link out", outside.symlink(".gitignore", absolute)),
        ("a FIFO", secret(TestWorkspace::new()).fifo(".gitignore")),
        ("a FIFO below", secret(TestWorkspace::new()).fifo("sub/.ignore")),
        ("a directory", secret(TestWorkspace::new()).dir(".gitignore")),
    ] {
        let said = workspace.search("needle").finds(["a.txt:1"]);
        assert!(!said.details.to_string().contains("SECRET"), "{what}: {}", said.details);
        said.never_mentions("SECRET").warns_of("ignore");
        let said = workspace.call("list_files", json!({ "pattern": "*.txt" })).lists(["a.txt"]);
        said.never_mentions("SECRET").warns_of("ignore");
    }
}

#[test]
fn x2_a_huge_ignore_file_is_bounded_and_told() {
    let many_rules: Vec<_> = (0..200_000).map(|number| format!("rule-{number}*.x\n")).collect();
    let one_line = "x".repeat(5 << 20);
    let globs = "**/a*b*c*/**\n".repeat(400_000);
    for rules in [many_rules.concat(), one_line, globs] {
        let workspace = TestWorkspace::new().file("a.txt", "needle\n").file(".gitignore", rules);
        let started = Instant::now();
        let search = json!({ "pattern": "needle", "timeout_ms": 55_000 });
        workspace.call("search", search).finds(["a.txt:1"]).warns_of(".gitignore");
        let bound = Duration::from_secs(if cfg!(debug_assertions) { 50 } else { 3 });
        assert!(started.elapsed() < bound, "{:?}", started.elapsed());
    }
}

#[test]
fn x2_many_warnings_are_counted_in_the_last_one() {
    let mut workspace = TestWorkspace::new().file("a.txt", "needle\n");
    for number in 0..25 {
        workspace = workspace.dir(format!("{number:02}/.ignore"));
    }
    let called = [
        ("search", json!({ "pattern": "needle" })),
        ("search", json!({ "pattern": "needle", "sort": "modified" })),
        ("list_files", json!({})),
    ];
    for (tool, arguments) in called {
        let said = workspace.call(tool, arguments).succeeds();
        let warnings = said.details["receipt"]["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 20, "{tool}: {warnings:?}");
        assert!(warnings[18].as_str().unwrap().starts_with("18/.ignore"), "{warnings:?}");
        assert_eq!(warnings[19], "and 6 more warnings", "{tool}");
        said.notes_mention("and 6 more warnings");
    }
}

#[test]
fn x3_a_line_that_is_no_glob_is_left_out_and_the_others_hold() {
    let workspace = TestWorkspace::new()
        .file(".gitignore", "[z-a]\n[unclosed\n{open\n\\\nhidden.txt\n")
        .file("hidden.txt", "needle\n")
        .file("seen.txt", "needle\n");
    let search = json!({ "pattern": "needle", "include": "*.txt" });
    workspace.call("search", search).finds(["seen.txt:1"]).skipped("ignored_files", 1);
}

#[test]
fn x4_a_monstrous_glob_is_refused_or_fast() {
    let workspace = TestWorkspace::new().file("a".repeat(200), "needle\n").file("b", "needle\n");
    let globs = [
        format!("{}a{}", "{".repeat(125), "}".repeat(125)),
        "?".repeat(1 << 20),
        "{a,b}".repeat(30),
        format!("{}b", "*a".repeat(25)),
        format!("{}b", "**/".repeat(500)),
        "[z-a]".into(),
        "\\".into(),
        "[".into(),
        "{".into(),
        "}".into(),
        "a,b}".into(),
        "[!]".into(),
        "*".repeat(10_000),
        String::new(),
        "\0".into(),
        "{{a,b},{c,{d,e}}}*".into(),
    ];
    for glob in globs {
        for (tool, arguments) in [
            ("search", json!({ "pattern": "needle", "include": glob })),
            ("search", json!({ "pattern": "needle", "exclude": glob })),
            ("list_files", json!({ "pattern": glob })),
            ("find_files", json!({ "pattern": glob })),
        ] {
            let patience = Duration::from_secs(20);
            let said = ask_within(patience, workspace.tools(), tool, arguments, Call::default());
            let refused = matches!(
                said.code,
                None | Some(
                    ErrorCode::InvalidPattern
                        | ErrorCode::InvalidArgument
                        | ErrorCode::InvalidPath
                        | ErrorCode::TooLarge
                )
            );
            assert!(refused, "{tool} {glob:.50}: {:?} {}", said.code, said.text);
            assert!(said.text.len() < 3000, "{tool} {glob:.50}: {} bytes", said.text.len());
        }
    }
    workspace
        .call("find_files", json!({ "pattern": "[z-a]" }))
        .fails_with(ErrorCode::InvalidPattern);
    workspace.call("find_files", json!({ "pattern": "{a" })).fails_with(ErrorCode::InvalidPattern);
}

#[test]
fn x5_a_monstrous_pattern_is_refused_or_fast() {
    let workspace = TestWorkspace::new().file("a.txt", "needle\n");
    let words: Vec<String> = (0..400).map(|number| format!("word{number}")).collect();
    let patterns = [
        r"\w{1000}".into(),
        r"(\w{100}){100}".into(),
        r"((((\w{10}){10}){10}){10}){10}".into(),
        r"\pL{500}".into(),
        words.join("|"),
        r"\w".repeat(2000),
        r"\w".repeat(150_000),
        "(".repeat(100_000) + &")".repeat(100_000),
        "(".repeat(2000),
        "[".repeat(4000),
        "(?:".repeat(300) + &")".repeat(300),
        "a{0,1000}".repeat(100),
        "(a*)*".repeat(200),
        "(a|a)*b".into(),
        ".*".repeat(1000),
        r"[\p{L}--\p{Lu}&&\p{Greek}]".into(),
        "(?i)".to_owned() + &words.join("|"),
        "x*".repeat(2000),
        r"\x{110000}".into(),
        "a{99999999999}".into(),
        "(?P<n>a)(?P<n>b)".into(),
    ];
    for pattern in patterns {
        let arguments = json!({ "pattern": pattern });
        let patience = Duration::from_secs(30);
        let said = ask_within(patience, workspace.tools(), "search", arguments, Call::default());
        let refused = matches!(
            said.code,
            None | Some(
                ErrorCode::InvalidPattern | ErrorCode::InvalidArgument | ErrorCode::TooLarge
            )
        );
        assert!(refused, "{pattern:.60}: {:?} {}", said.code, said.text);
        assert!(said.text.len() <= 2100, "{pattern:.60}: {} bytes", said.text.len());
    }
    // Over 4 KiB nothing is parsed.
    workspace.search(&"a".repeat(4096)).finds_nothing();
    workspace.search(&"a".repeat(4097)).fails_with(ErrorCode::InvalidPattern);
}

#[test]
fn x6_a_slow_pattern_stops_at_the_deadline_and_keeps_what_was_found() {
    // Without optimisation the pattern alone takes seconds to compile.
    const DEADLINE_MS: u64 = if cfg!(debug_assertions) { 6000 } else { 1000 };
    let workspace = TestWorkspace::new().file("0.txt", "abd\n");
    let text = "ab".repeat(500_000) + "\n";
    workspace.put("slow.txt", text.repeat(40));
    let started = Instant::now();
    let arguments = json!({ "pattern": "(?:[ab]{1,500}){1,10}[cd]", "timeout_ms": DEADLINE_MS });
    let said = workspace.call("search", arguments).finds(["0.txt:1"]);
    let took = started.elapsed();
    assert_eq!(said.details["incomplete"], "timeout", "{}", said.text);
    assert!(took < Duration::from_millis(DEADLINE_MS + 5000), "{took:?}");
    workspace.call("search", json!({ "pattern": "abd", "path": "0.txt" })).finds(["0.txt:1"]);
    workspace.call("list_files", json!({})).lists(["0.txt", "slow.txt"]);
}

#[test]
fn x7_many_matches_on_a_long_line_are_one_line_and_fast() {
    let workspace = TestWorkspace::new().file("a.txt", "A".repeat(80_000) + "\n");
    let arguments = json!({ "pattern": ".*[^A-Z]|[A-Z]", "case_sensitive": true });
    let patience = Duration::from_secs(20);
    let said = ask_within(patience, workspace.tools(), "search", arguments, Call::default());
    let said = said.finds(["a.txt:1"]);
    assert!(said.details.to_string().len() < 50_000, "{} bytes", said.details.to_string().len());
}

#[test]
fn x8_patterns_that_match_nothing_in_particular_match_every_line() {
    let workspace = TestWorkspace::new().file("a.txt", "one\n\ntwo\n");
    for pattern in ["", "^", "$", "x*", "(?:)"] {
        workspace.search(pattern).finds(["a.txt:1", "a.txt:2", "a.txt:3"]);
    }
    workspace.search("^$").finds(["a.txt:2"]);
    workspace.search("(?s).").succeeds();
}

#[test]
fn x8_a_pattern_with_a_line_end_turns_multiline_on_and_says_so() {
    let workspace = TestWorkspace::new().file("a.txt", "one\ntwo\n");
    for pattern in [r"one\ntwo", "one\ntwo", r"one\x0Atwo"] {
        let said = workspace.search(pattern).finds(["a.txt:1"]);
        said.notes_mention("multiline");
    }
}

#[test]
fn x9_numbers_out_of_range_are_refused_or_clamped() {
    let workspace = TestWorkspace::new().file("a.txt", "needle\nx\n");
    let refused = |name: &str, value: Value| {
        let mut arguments = json!({ "pattern": "needle" });
        arguments[name] = value;
        workspace.call("search", arguments).fails_with(ErrorCode::InvalidArgument).mentions(name);
    };
    for name in ["max_results", "context", "before", "after", "max_per_file", "timeout_ms"] {
        refused(name, json!(-1));
        refused(name, json!(1.5));
        refused(name, json!("many"));
        refused(name, json!(true));
        refused(name, json!({ "n": 1 }));
    }
    for value in [json!(1_000_000_000), json!(1_u64 << 63), json!(u64::MAX), json!(1e300), json!(0)]
    {
        for name in ["max_results", "context", "before", "after", "max_per_file"] {
            let mut arguments = json!({ "pattern": "needle" });
            arguments[name] = value.clone();
            let said = workspace.call("search", arguments);
            let answered = matches!(said.code, None | Some(ErrorCode::InvalidArgument));
            assert!(answered, "{name} {value}: {:?} {}", said.code, said.text);
        }
    }
    let deep = |depth: u64| workspace.call("list_files", json!({ "max_depth": depth }));
    deep(u64::from(u32::MAX)).lists(["a.txt"]);
    deep(1 << 40).fails_with(ErrorCode::InvalidArgument).mentions("max_depth");
}

// F: hosts.

#[test]
fn f8_a_search_from_the_only_thread_of_a_rayon_pool_completes() {
    let workspace = many_files();
    let tools = workspace.tools().clone();
    within(PATIENCE, "inside a pool of one thread", move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.install(|| assert_finds_all(&tools));
    });
}

#[test]
fn f8_searches_from_a_parallel_iterator_complete() {
    let workspace = many_files();
    let tools = workspace.tools().clone();
    within(PATIENCE, "inside a parallel iterator", move || {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        pool.install(|| (0..32).into_par_iter().for_each(|_| assert_finds_all(&tools)));
    });
}

#[test]
fn f8_searches_from_64_threads_complete() {
    let workspace = many_files();
    let tools = workspace.tools().clone();
    within(PATIENCE, "64 threads", move || {
        thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| assert_finds_all(&tools));
            }
        });
    });
}

fn many_files() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    for number in 0..200 {
        workspace.put(format!("{}/{number:03}.txt", number % 7), "needle\n");
    }
    workspace
}

#[track_caller]
fn assert_finds_all(tools: &Toolkit) {
    let arguments = json!({ "pattern": "needle", "max_results": 1000 });
    let said = Said::new(&tools.call("search", arguments, &Call::default())).succeeds();
    assert_eq!(said.matches().len(), 200);
    let arguments = json!({ "max_results": 1000 });
    let said = Said::new(&tools.call("list_files", arguments, &Call::default())).succeeds();
    assert_eq!(said.paths().len(), 200);
}

#[test]
fn f9_a_host_that_changes_its_directory_changes_no_answer() {
    let workspace = TestWorkspace::new()
        .file("a.txt", "needle\n")
        .file("sub/b.txt", "needle\n")
        .outside_file("a.txt", "SECRET\n");
    let test = "hostile::f9_a_host_that_changes_its_directory_changes_no_answer";
    in_child(test, Who::Same, &workspace, |root| {
        std::env::set_current_dir(root.parent().unwrap()).unwrap();
        let tools = Toolkit::new(Workspace::open("root").unwrap());
        for directory in [root.parent().unwrap().join("outside"), root.join("sub"), "/".into()] {
            std::env::set_current_dir(&directory).unwrap();
            ask(&tools, "search", json!({ "pattern": "" })).finds(["a.txt:1", "sub/b.txt:1"]);
            ask(&tools, "list_directory", json!({})).lists(["a.txt", "sub"]);
            ask(&tools, "list_files", json!({ "path": "sub" })).lists(["sub/b.txt"]);
        }
    });
}

// G: faults.

#[cfg(target_os = "linux")]
#[test]
fn g8_without_descriptors_the_answer_says_so_and_later_ones_recover() {
    let workspace = TestWorkspace::new();
    for number in 0..40 {
        workspace.put(format!("{number:02}/a/b/c.txt"), "needle\n");
    }
    let test = "hostile::g8_without_descriptors_the_answer_says_so_and_later_ones_recover";
    in_child(test, Who::Same, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap()).with_limits(with_threads(4));
        let search = json!({ "pattern": "needle", "max_results": 1000 });
        let all = ask(&tools, "search", search.clone()).succeeds();
        assert_eq!(all.matches().len(), 40);

        limit_of_this_process("--nofile=16:");
        let held: Vec<_> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
        assert!(!held.is_empty(), "the limit holds");
        let starved = [
            ask(&tools, "search", search.clone()),
            ask(&tools, "list_files", json!({ "max_depth": 9 })),
            ask(&tools, "list_directory", json!({})),
        ];
        drop(held);
        for said in starved {
            let unreadable = &said.details["receipt"]["skipped"]["unreadable"];
            let told = unreadable.as_u64().is_some_and(|count| count > 0);
            let refused = said.code == Some(ErrorCode::ResourceExhausted);
            assert!(told || refused, "{:?} {}", said.code, said.text);
        }
        limit_of_this_process("--nofile=512:");
        assert_eq!(ask(&tools, "search", search), all);
    });
}

#[cfg(target_os = "linux")]
#[test]
fn g8_with_too_few_descriptors_a_listing_names_what_it_could_not_read() {
    let workspace = TestWorkspace::new().file("0.txt", "");
    for depth in 0..12 {
        // A second directory at each level keeps the first one open while the walk is below.
        let above = "d/".repeat(depth);
        workspace.put(format!("{above}d/f.txt"), "");
        workspace.put(format!("{above}e/f.txt"), "");
    }
    let test = "hostile::g8_with_too_few_descriptors_a_listing_names_what_it_could_not_read";
    in_child(test, Who::Same, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap()).with_limits(with_threads(1));
        limit_of_this_process("--nofile=32:");
        let mut held: Vec<_> = std::iter::from_fn(|| fs::File::open("/dev/null").ok()).collect();
        let mut in_part = 0;
        while held.pop().is_some() {
            for (tool, arguments) in [
                ("list_files", json!({ "max_depth": 99 })),
                ("list_files", json!({ "max_depth": 99, "sort": "modified" })),
                ("find_files", json!({ "pattern": "*" })),
            ] {
                let said = ask(&tools, tool, arguments);
                let unreadable = said.details["receipt"]["skipped"]["unreadable"].as_u64();
                let Some(count @ 1..) = unreadable else { continue };
                in_part += u64::from(!said.paths().is_empty());
                said.mentions(&format!("{count} unreadable entr")).warns_of("Too many open files");
            }
        }
        assert!(in_part > 3, "{in_part} listings were partly starved");
        let whole = ask(&tools, "list_files", json!({ "max_depth": 99 })).succeeds();
        assert_eq!(whole.paths().len(), 25);
    });
}

/// Sets a soft limit of this process by the program `prlimit`.
#[cfg(target_os = "linux")]
fn limit_of_this_process(limit: &str) {
    let pid = std::process::id().to_string();
    run_program("prlimit", &["--pid", &pid, limit]);
}

#[cfg(target_os = "linux")]
#[test]
fn g9_where_no_thread_can_be_started_the_work_is_done_without() {
    let workspace = many_files();
    let test = "hostile::g9_where_no_thread_can_be_started_the_work_is_done_without";
    in_child(test, Who::Nobody, &workspace, |root| {
        let tools = Toolkit::new(Workspace::open(root).unwrap()).with_limits(with_threads(8));
        limit_of_this_process("--nproc=1:");
        let refused = thread::Builder::new().spawn(|| ()).is_err();
        assert!(refused, "the limit holds");
        // No deadline from the harness here: it would need a thread.
        assert_finds_all(&tools);
        assert_finds_all(&tools);
    });
}

/// The arguments of the tool that panics.
#[derive(Debug, Deserialize, JsonSchema)]
struct Panics {
    /// Where: `run` or `display`.
    place: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PanicsWhenShown(bool);

impl std::fmt::Display for PanicsWhenShown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        assert!(!self.0, "panics when it is shown");
        f.write_str("calm")
    }
}

impl Output for PanicsWhenShown {}

#[derive(Debug)]
struct PanickingTool;

impl Tool for PanickingTool {
    const NAME: &'static str = "panicking";
    const EFFECT: Effect = Effect::Read;
    type Args = Panics;
    type Output = PanicsWhenShown;

    fn run(&self, _: &ToolContext<'_>, args: Panics) -> Result<PanicsWhenShown, Error> {
        assert_ne!(args.place, "run", "panics when it runs");
        Ok(PanicsWhenShown(args.place == "display"))
    }
}

#[test]
fn g12_a_tool_that_panics_is_an_internal_error_of_that_call_only() {
    let workspace = TestWorkspace::new().file("a.txt", "needle\n");
    let tools = Toolkit::new(workspace.open()).with(PanickingTool);
    for place in ["run", "display", "run"] {
        let said = ask(&tools, "panicking", json!({ "place": place }));
        said.fails_with(ErrorCode::Internal);
        assert_eq!(ask(&tools, "panicking", json!({ "place": "nowhere" })).text, "calm");
        ask(&tools, "search", json!({ "pattern": "needle" })).finds(["a.txt:1"]);
    }
}

#[test]
fn g12_a_progress_callback_that_panics_hangs_nothing() {
    let workspace = TestWorkspace::new();
    for number in 0..3000 {
        workspace.put(format!("{number}.txt"), "needle\n");
    }
    let tools = workspace.tools();
    let call = Call::default().on_progress(|_| panic!("a callback of the host"));
    let search = json!({ "pattern": "absent" });
    let said = ask_within(PATIENCE, tools, "search", search.clone(), call);
    assert!(matches!(said.code, None | Some(ErrorCode::Internal)), "{:?}", said.code);
    ask(tools, "search", search).finds_nothing();
}
