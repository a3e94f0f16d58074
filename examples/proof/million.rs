//! A tree of a million entries.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::cancel;
use super::measure::{self, shown};
use super::report::{Goal, Report};
use crate::Trouble;

/// Entries of one directory.
const WIDTH: usize = 1000;

/// Makes the tree, where memory serves as disk if there is such a place, and removes it after.
pub(crate) fn run(report: &mut Report) -> Result<(), Trouble> {
    let directories = report.count(100, 1000);
    let memory = Path::new("/dev/shm");
    let root = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
    for directory in 0..directories {
        let directory = root.path().join(format!("d{directory}"));
        fs::create_dir(&directory)?;
        for number in 1..WIDTH {
            // One in ten has content: each takes a page.
            let content = if number % 10 == 0 { "some text\n" } else { "" };
            fs::write(directory.join(format!("file-{number}.txt")), content)?;
        }
    }
    let what = format!("a tree of {} entries", directories * WIDTH);
    let calls = [
        ("list_directory", json!({})),
        ("list_files", json!({})),
        ("list_files", json!({ "pattern": "*.none" })),
        ("find_files", json!({ "pattern": "**/file-77?.txt" })),
        ("search", json!({ "pattern": "needle" })),
        ("search", json!({ "pattern": "needle", "sort": "modified" })),
    ];
    for (tool, arguments) in &calls {
        let taken = measure::call(root.path(), tool, arguments)?;
        report.line(
            &format!("{what}: `{tool}` {arguments}"),
            "none; 200 MB would be too much",
            (
                format!("{}, {:.1} MB", shown(taken.time), taken.megabytes),
                Goal::promise(taken.answer["code"].is_null())
                    .and(Goal::within(taken.megabytes < 200.0)),
            ),
            "once, in a new process",
        )?;
    }
    let count = report.count(50, 300);
    for (tool, arguments) in &calls[2..] {
        let times = cancel::latencies(root.path(), tool, arguments, count)?;
        report.line(
            &format!("{what}: `{tool}` {arguments}, answer after a cancel"),
            "p99 under 100 ms",
            (times.to_string(), Goal::within(times.p99().as_millis() < 100)),
            times.count().to_string(),
        )?;
    }
    Ok(())
}
