//! The first tasks of a walk.

use std::sync::Arc;

use crate::context::Call;
use crate::error::Error;
use crate::output::Receipt;
use crate::text::escape;
use crate::walk::batch::Batch;
use crate::walk::directory::Directory;
use crate::walk::handle::{Handle, OpenCount, OpenDir};
use crate::walk::listing::Listing;
use crate::walk::memory::Recall;
use crate::walk::options::WalkOptions;
use crate::walk::report::DirectoryReport;
use crate::walk::rules::{Found, Rules, Verdict};
use crate::walk::start::Start;
use crate::workspace::{Dir, Kind, Workspace};

/// A start, ready for the first task of a walk.
#[derive(Debug)]
pub(super) enum Beginning {
    /// A directory to list.
    Directory(Directory),
    /// A file, with the number of its start.
    File(usize, Batch),
}

/// Tells whether a start, or something below it, lies past the position to resume at.
fn is_reached(start: &Start, options: &WalkOptions) -> bool {
    let path = start.path.relative();
    path.is_empty() || options.reaches(path, start.path.is_directory())
}

/// Tells whether a start is a file that the filter leaves out; that a path was named does not make
/// it match.
fn is_filtered(start: &Start, options: &WalkOptions) -> bool {
    !start.passed
        && !start.path.is_directory()
        && !options.filter.passes(start.path.relative(), start.base)
}

/// Makes all starts ready, each with the rules of the directories above it.
pub(super) fn all(
    workspace: &Workspace,
    options: &WalkOptions,
    call: &Call,
    report: &mut DirectoryReport,
) -> Result<Vec<Beginning>, Error> {
    if let Some(files) = &options.files {
        return Ok(exactly(workspace, files, call));
    }
    let Receipt { warnings, skipped, .. } = &mut report.receipt;
    let outer = if options.no_ignore {
        Rules::default()
    } else if let Some(recall) = &options.recall {
        recall.outer(workspace.outer(), warnings)
    } else {
        Rules::outer(workspace.outer(), warnings)
    };
    let mut beginnings = Vec::new();
    for (index, start) in options.starts.iter().enumerate() {
        if !is_reached(start, options) {
            continue;
        }
        if is_filtered(start, options) {
            skipped.filtered += 1;
            continue;
        }
        let rules = if options.no_ignore {
            Rules::default()
        } else {
            rules_above(workspace, start, (outer.clone(), options.recall.as_ref()), warnings)
        };
        let beginning = begin(index, start, rules);
        beginnings.push(beginning.map_err(|error| Error::io("open", start.path.as_str(), error))?);
    }
    Ok(beginnings)
}

/// Files that an earlier walk found, each opened again by its path; not all of them once the call is
/// over, which is told of the first that is left.
fn exactly(workspace: &Workspace, files: &[Vec<u8>], call: &Call) -> Vec<Beginning> {
    let count = OpenCount::default();
    let batch = |path: &Vec<u8>| {
        let base = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (prefix, name) = path.split_at(base);
        let prefix: Arc<[u8]> = prefix.into();
        let handle = Handle::Path(workspace.root_handle().clone(), prefix.clone(), count.clone());
        let mut listing = Listing::default();
        listing.push(name, Kind::File);
        Batch::new(handle, (prefix, base), Arc::new(listing), 0..1)
    };
    let goes_on =
        |index: usize| index == 0 || !index.is_multiple_of(1024) || call.stop_reason().is_none();
    let files = files.iter().enumerate().take_while(|(index, _)| goes_on(*index));
    files.map(|(index, path)| Beginning::File(index, batch(path))).collect()
}

fn begin(index: usize, start: &Start, rules: Rules) -> std::io::Result<Beginning> {
    let (parent, name) = start.path.entry();
    let parent = Handle::Open(OpenDir::new(parent.traverse(b".")?, &OpenCount::default()));
    let prefix: Arc<[u8]> = if start.path.is_directory() {
        start.key().into()
    } else {
        start.path.relative().get(..start.base).unwrap_or_default().into()
    };
    if start.path.is_directory() {
        let name = name.to_vec();
        return Ok(Beginning::Directory(Directory {
            parent,
            name,
            prefix,
            rules,
            depth: 0,
            start: index,
            is_in_place: false,
        }));
    }
    let mut listing = Listing::default();
    listing.push(name, Kind::File);
    Ok(Beginning::File(index, Batch::new(parent, (prefix, start.base), Arc::new(listing), 0..1)))
}

/// The rules in force in a directory on the way.
fn rules_inside(
    workspace: &Workspace,
    (here, prefix): (&Dir, &[u8]),
    (above, recall): (&Rules, Option<&Recall>),
    warnings: &mut Vec<String>,
) -> Rules {
    let remembered = recall.and_then(|recall| {
        let kept = recall.on_the_way(&prefix.into(), here)?;
        let open = || Ok(OpenDir::new(here.traverse(b".")?, &OpenCount::default()));
        let mut told = Vec::new();
        let with = (recall.era, recall.memory.room());
        let rules = kept.enter(workspace, above, &open, &mut told, with).ok()?;
        warnings.append(&mut told);
        Some(rules)
    });
    remembered
        .unwrap_or_else(|| above.enter(workspace, (here, prefix), Found::probe(here), warnings))
}

/// The rules of every directory from the root down to the one that holds the start. A start
/// that they leave out is walked all the same, because it was named; the report says so.
fn rules_above(
    workspace: &Workspace,
    start: &Start,
    (mut rules, recall): (Rules, Option<&Recall>),
    warnings: &mut Vec<String>,
) -> Rules {
    let path = start.path.relative();
    if path.is_empty() || path.first() == Some(&b'/') {
        return rules;
    }
    let mut directory: Option<Dir> = None;
    let mut ignored = false;
    let mut end = 0;
    while end < path.len() {
        let begin = end;
        let name = path.get(begin..).unwrap_or_default();
        let name = name.split(|byte| *byte == b'/').next().unwrap_or_default();
        let here = directory.as_ref().unwrap_or(workspace.root_handle());
        let prefix = path.get(..begin).unwrap_or_default();
        rules = rules_inside(workspace, (here, prefix), (&rules, recall), warnings);
        end = begin + name.len();
        let upto = path.get(..end).unwrap_or_default();
        let is_directory = end < path.len() || start.path.is_directory();
        ignored |= rules.verdict(upto, is_directory) == Verdict::Ignored;
        end += 1;
        match here.traverse(name) {
            Ok(next) if end < path.len() => directory = Some(next),
            _ => break,
        }
    }
    if ignored {
        let path = escape::display_path(path);
        warnings.push(format!("{path} is ignored, but it was named, so it is looked at"));
    }
    rules
}
