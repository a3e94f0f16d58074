//! What searches the files of a walk, and what it gives.

use std::sync::Arc;

use crate::context::Limits;
use crate::index::{Inquiry, Learner};
use crate::output::ScanStats;
use crate::search::file_matches::FileMatches;
use crate::search::matcher::Pattern;
use crate::search::options::{Report, SearchOptions};
use crate::search::sink::Keep;
use crate::walk::{PathAliases, WalkRoot};
use crate::workspace::{PathPolicy, Workspace};

/// The first read; most source files fit in.
pub(super) const FIRST_READ: usize = 256 * 1024;

/// Searches the files of a walk.
#[derive(Clone, Debug)]
pub(super) struct Searcher {
    pub(super) pattern: Pattern,
    pub(super) keep: Keep,
    pub(super) versions: bool,
    pub(super) multiline_bytes: usize,
    /// A file of an earlier answer, and the last line of it that was shown there.
    pub(super) resume: Option<(Vec<u8>, u64)>,
    /// Files that the caller named, in path order, which are searched even past a NUL byte.
    pub(super) named: Arc<[Vec<u8>]>,
    /// How paths are shown.
    pub(super) spelling: Arc<PathAliases>,
    /// The rules for files with several names.
    pub(super) policy: PathPolicy,
    /// What is known of the files.
    pub(super) inquiry: Option<Inquiry>,
}

impl Searcher {
    pub(super) fn new(options: &SearchOptions, limits: &Limits, workspace: &Workspace) -> Searcher {
        let counts = options.report == Report::Count;
        let lines = if counts { usize::MAX } else { options.max_results.saturating_add(1) };
        let cursor = options.cursor.as_ref();
        let named = options.walk.roots.iter().filter(|start| !start.is_directory());
        Searcher {
            pattern: options.pattern.clone(),
            keep: Keep {
                report: options.report,
                lines: lines as u64,
                per_file: if counts { u64::MAX } else { options.max_per_file as u64 },
                multiline: options.pattern.is_multiline(),
                spans: options.stream.is_none() || options.exact,
                exact: options.exact,
                context: options.context,
                line_bytes: limits.line_bytes,
            },
            versions: options.versions,
            multiline_bytes: limits.multiline_bytes,
            resume: cursor.and_then(|cursor| Some((cursor.path.clone(), cursor.line?))),
            named: named.map(|start| start.path().to_vec()).collect(),
            spelling: Arc::new(WalkRoot::aliases(&options.walk.roots)),
            policy: workspace.policy().clone(),
            inquiry: options.inquiry(limits, workspace),
        }
    }

    /// What is asked of the index, if there is one.
    pub(super) fn inquiry(&self) -> Option<Inquiry> {
        self.inquiry.clone()
    }

    pub(super) fn after_line(&self, path: &[u8]) -> u64 {
        match &self.resume {
            Some((resumed, line)) if resumed == path => *line,
            _ => 0,
        }
    }
}

/// What a batch gave so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<FileMatches>,
    pub(super) receipt: ScanStats,
    /// The last file that was searched to its end; empty for none.
    pub(super) upto: Vec<u8>,
    /// The last file of the batch is not reached, or not searched to its end.
    pub(super) interrupted: bool,
    /// The file was not searched at all; the receipt says why.
    pub(super) left_out: bool,
    /// The last of `files` was not searched to its end.
    pub(super) partial: bool,
}

impl Found {
    /// Counts the file as binary and not searched.
    pub(super) fn leave_binary(&mut self) {
        self.receipt.skipped.binary += 1;
        self.left_out = true;
    }

    /// Counts the file as one that the host denies for its hard links.
    pub(super) fn leave_denied(&mut self) {
        self.receipt.skipped.denied += 1;
        self.left_out = true;
    }

    /// Counts the file as too large and not searched.
    pub(super) fn leave_too_large(&mut self) {
        self.receipt.skipped.too_large += 1;
        self.left_out = true;
    }

    /// Counts the file as none.
    pub(super) fn leave_special(&mut self) {
        self.receipt.skipped.special += 1;
        self.left_out = true;
    }

    /// Adds what one file gave.
    pub(super) fn add(&mut self, file: Found, (prefix, name): (&[u8], &[u8])) {
        self.receipt.absorb(file.receipt);
        self.partial = file.interrupted && !file.files.is_empty();
        self.files.extend(file.files);
        if !file.interrupted {
            self.reach((prefix, name));
        }
    }

    /// Notes the last file that was searched.
    pub(super) fn reach(&mut self, (prefix, name): (&[u8], &[u8])) {
        self.upto.clear();
        self.upto.extend_from_slice(prefix);
        self.upto.extend_from_slice(name);
    }
}

/// The buffers and the regex caches of one thread.
pub(super) struct Worker {
    pub(super) pattern: Pattern,
    pub(super) lines: grep_searcher::Searcher,
    pub(super) buffer: Vec<u8>,
    pub(super) decoded: String,
    pub(super) learner: Option<Learner>,
}
