//! The first tasks of a walk.

use std::sync::Arc;

use crate::context::Call;
use crate::output::ScanStats;
use crate::text::escape;
use crate::walk::batch::Batch;
use crate::walk::dir_cache::CacheView;
use crate::walk::handle::{DirHandle, OpenCount, OpenDir};
use crate::walk::ignore_rules::{Found, IgnoreRules, RuleMatch};
use crate::walk::listing::DirListing;
use crate::walk::options::WalkOptions;
use crate::walk::pending_dir::PendingDir;
use crate::walk::report::DirectoryReport;
use crate::walk::roots::WalkRoot;
use crate::workspace::{Dir, Kind, Workspace};

/// A start, ready for the first task of a walk.
#[derive(Debug)]
pub(super) enum Beginning {
    /// A directory to list.
    Directory(PendingDir),
    /// A file, with the number of its start.
    File(usize, Batch),
}

/// Tells whether a start, or something below it, lies past the position to resume at.
fn is_reached(start: &WalkRoot, options: &WalkOptions) -> bool {
    start.path().is_empty() || options.reaches(start.path(), start.is_directory())
}

/// Tells whether a start is a file that the filter leaves out; that a path was named does not make
/// it match.
fn is_filtered(start: &WalkRoot, options: &WalkOptions) -> bool {
    !start.passed && !start.is_directory() && !options.filter.passes(start.path(), start.base)
}

/// Makes all starts ready, each with the rules of the directories above it.
pub(super) fn all(
    workspace: &Workspace,
    options: &WalkOptions,
    call: &Call,
    report: &mut DirectoryReport,
) -> Vec<Beginning> {
    if let Some(files) = &options.files {
        return exactly(workspace, files, call);
    }
    let ScanStats { warnings, skipped, missing, .. } = &mut report.stats;
    missing.clone_from(&options.missing);
    warnings.extend(options.missing.iter().map(|missing| left_behind(&missing.reason)));
    let outer = if options.no_ignore {
        IgnoreRules::default()
    } else if let Some(view) = &options.cache {
        view.outer(workspace.outer(), warnings)
    } else {
        IgnoreRules::outer(workspace.outer(), warnings)
    };
    let mut descent =
        Descent { workspace, view: options.cache.as_ref(), outer, passed: Vec::new() };
    let mut beginnings = Vec::new();
    for (index, start) in options.roots.iter().enumerate() {
        // What has begun is left unfinished, by which the walk tells that it is incomplete.
        if !beginnings.is_empty() && call.stop_reason().is_some() {
            report.interrupted = true;
            break;
        }
        if !is_reached(start, options) {
            continue;
        }
        if is_filtered(start, options) {
            skipped.filtered += 1;
            continue;
        }
        let rules = if options.no_ignore {
            IgnoreRules::default()
        } else {
            descent.rules_above(start, warnings)
        };
        beginnings.push(begin(index, start, rules));
    }
    beginnings
}

/// What a receipt says of a named path that cannot be looked at.
fn left_behind(reason: &str) -> String {
    format!("one of the paths was left out: {reason}")
}

/// Files that an earlier walk found, each opened again by its path; not all of them once the call is
/// over, which is told of the first that is left.
fn exactly(workspace: &Workspace, files: &[Vec<u8>], call: &Call) -> Vec<Beginning> {
    let count = OpenCount::default();
    let batch = |path: &Vec<u8>| {
        let base = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let (prefix, name) = path.split_at(base);
        let prefix: Arc<[u8]> = prefix.into();
        let handle =
            DirHandle::Path(workspace.root_handle().clone(), prefix.clone(), count.clone());
        let mut listing = DirListing::default();
        listing.push(name, Kind::File);
        Batch::new(handle, (prefix, base), Arc::new(listing), 0..1)
    };
    let goes_on =
        |index: usize| index == 0 || !index.is_multiple_of(1024) || call.stop_reason().is_none();
    let files = files.iter().enumerate().take_while(|(index, _)| goes_on(*index));
    files.map(|(index, path)| Beginning::File(index, batch(path))).collect()
}

fn begin(index: usize, start: &WalkRoot, rules: IgnoreRules) -> Beginning {
    let (parent, name) = start.entry();
    let parent = parent.clone();
    if start.is_directory() {
        return Beginning::Directory(PendingDir {
            parent,
            name: name.to_vec(),
            prefix: start.key().into(),
            rules,
            depth: 0,
            start: index,
            is_in_place: false,
        });
    }
    let prefix: Arc<[u8]> = start.path().get(..start.base).unwrap_or_default().into();
    let mut listing = DirListing::default();
    listing.push(name, Kind::File);
    Beginning::File(index, Batch::new(parent, (prefix, start.base), Arc::new(listing), 0..1))
}

/// The directories from the root down to where a walk begins, with their rules. Starts come in path
/// order, so that what the last one passed mostly serves the next.
struct Descent<'a> {
    workspace: &'a Workspace,
    view: Option<&'a CacheView>,
    /// The rules from outside the root.
    outer: IgnoreRules,
    /// Each with its path, empty or ending in `/`, the rules inside, and whether they or those above
    /// leave it out.
    passed: Vec<Passed>,
}

struct Passed {
    prefix: Vec<u8>,
    directory: Dir,
    rules: IgnoreRules,
    ignored: bool,
}

impl Descent<'_> {
    /// The rules of every directory from the root down to the one that holds the start. A start
    /// that they leave out is walked all the same, because it was named; the report says so.
    fn rules_above(&mut self, start: &WalkRoot, warnings: &mut Vec<String>) -> IgnoreRules {
        let path = start.path();
        if path.is_empty() || path.first() == Some(&b'/') {
            return self.outer.clone();
        }
        self.passed.retain(|passed| path.starts_with(&passed.prefix));
        let above = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        while self.enter(path.get(..above).unwrap_or_default(), warnings) {}
        let Some(inside) = self.passed.last() else { return self.outer.clone() };
        let is_whole = inside.prefix.len() == above;
        let verdict = inside.rules.verdict(path, start.is_directory());
        if inside.ignored || (is_whole && verdict == RuleMatch::Ignored) {
            let path = escape::display_path(start.named.as_deref().unwrap_or(path));
            warnings.push(format!("{path} is ignored, but it was named, so it is looked at"));
        }
        inside.rules.clone()
    }

    /// Enters the next directory on the way down to the one with this path, if there is one.
    fn enter(&mut self, prefix: &[u8], warnings: &mut Vec<String>) -> bool {
        let Some(here) = self.passed.last() else {
            let Ok(root) = self.workspace.root_handle().traverse(b".") else { return false };
            let rules = self.rules_inside((&root, b""), &self.outer, warnings);
            self.passed.push(Passed { prefix: Vec::new(), directory: root, rules, ignored: false });
            return true;
        };
        let Some(rest) = prefix.get(here.prefix.len()..).filter(|rest| !rest.is_empty()) else {
            return false;
        };
        let name = rest.split(|byte| *byte == b'/').next().unwrap_or(rest);
        let Ok(directory) = here.directory.traverse(name) else { return false };
        let path = [here.prefix.as_slice(), name].concat();
        let ignored = here.ignored || here.rules.verdict(&path, true) == RuleMatch::Ignored;
        let prefix = [path.as_slice(), b"/"].concat();
        let rules = self.rules_inside((&directory, &prefix), &here.rules, warnings);
        self.passed.push(Passed { prefix, directory, rules, ignored });
        true
    }

    /// The rules inside a directory.
    fn rules_inside(
        &self,
        (here, prefix): (&Dir, &[u8]),
        above: &IgnoreRules,
        warnings: &mut Vec<String>,
    ) -> IgnoreRules {
        let remembered = self.view.and_then(|view| {
            let cached = view.on_the_way(&prefix.into(), here)?;
            let open = || Ok(OpenDir::new(here.traverse(b".")?, &OpenCount::default()));
            let mut told = Vec::new();
            let with = (view.generation, view.cache.budget());
            let rules = cached.enter(self.workspace, above, &open, &mut told, with).ok()?;
            warnings.append(&mut told);
            Some(rules)
        });
        remembered.unwrap_or_else(|| {
            above.enter(self.workspace, (here, prefix), Found::probe(here), warnings)
        })
    }
}
