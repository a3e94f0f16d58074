//! What a search is asked for.

use crate::context::{Limits, TextStream};
use crate::index::{Index, Inquiry, WHOLE};
use crate::search::matcher::Pattern;
use crate::walk::{Cursor, QueryId, WalkOptions};
use crate::workspace::Workspace;

/// What is reported of a file that matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Report {
    /// The matching lines.
    #[default]
    Content,
    /// Its path only.
    Files,
    /// How many lines match.
    Count,
}

/// In which order files come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Byte order of the path.
    #[default]
    Path,
    /// The last change first, then by path.
    Modified,
}

/// A search, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct SearchOptions {
    pub(crate) pattern: Pattern,
    /// Where and in what; `contents` is set by the search itself.
    pub(crate) walk: WalkOptions,
    pub(crate) report: Report,
    pub(crate) sort: Sort,
    /// Lines shown before and after each match.
    pub(crate) context: (usize, usize),
    /// Matching lines, or files where only those are reported.
    pub(crate) max_results: usize,
    pub(crate) max_per_file: usize,
    pub(crate) versions: bool,
    /// Whether lines are kept byte for byte too.
    pub(crate) exact: bool,
    /// Where results go as they come; then the report holds none.
    pub(crate) stream: Option<TextStream>,
    /// What a cursor of this search is valid for.
    pub(crate) query: QueryId,
    /// Where an earlier answer ended.
    pub(crate) cursor: Option<Cursor>,
    /// What is known of the files, if that is kept; then the walk may recall too.
    pub(crate) index: Option<Index>,
}

impl SearchOptions {
    /// What to ask the index, if there is one that can be believed for this search.
    pub(super) fn inquiry(&self, limits: &Limits, workspace: &Workspace) -> Option<Inquiry> {
        let index = self.index.as_ref()?;
        let recall = self.walk.cache.clone()?;
        let multiline = self.pattern.is_multiline();
        // The first is a rule on what is found when a file is opened; the second sets another bound.
        if workspace.policy().asks_for_links()
            || multiline && (limits.multiline_bytes as u64) < WHOLE
        {
            return None;
        }
        Some(Inquiry::new(index, recall, self.pattern.question(), limits.threads.max(1)))
    }
}
