//! The parallel walk: from directories to batches of files, in path order.
//!
//! ```text
//! starts ─> Frontier ─(leftmost first)─> Expander ─> batches ─> channel ─> Visit ─> Sequence ─> Collect
//!              ^                            │                                          (path order)
//!              └──────── directories ───────┘
//! ```
//!
//! Every thread does both: it walks while the bounded channel has room, then visits a batch. So
//! the walk is only a little ahead of the search, results come out in path order whichever
//! thread found them, and a collector that has enough stops everything at once.
//!
//! Where earlier walks are remembered, a directory that is still as it was kept is not listed
//! again, and those of which somebody would have told otherwise are taken in runs. If that was true
//! of all of them twice, the way of the whole walk is remembered, and gone again without asking.

mod batch;
mod beginning;
mod budget;
mod changes;
mod cursor;
mod directories;
mod expand;
mod file_types;
pub(crate) mod filter;
mod frontier;
pub(crate) mod globs;
mod handle;
mod kept;
pub(crate) mod list;
mod listing;
mod memory;
mod report;
mod room;
mod route;
mod rule_stamps;
mod rules;
mod run;
mod scan;
mod scope;
mod sequence;
mod sieve;
mod turn;
mod visit;
mod watching;

pub(crate) use crate::walk::batch::{BATCH, Batch};
pub(crate) use crate::walk::beginning::Start;
pub(crate) use crate::walk::budget::Budget;
pub(crate) use crate::walk::changes::Era;
pub(crate) use crate::walk::cursor::Cursor;
pub(crate) use crate::walk::filter::Filter;
pub(crate) use crate::walk::globs::PathGlobs;
pub(crate) use crate::walk::handle::OpenDir;
pub(crate) use crate::walk::kept::Kept;
pub(crate) use crate::walk::listing::Listing;
pub(crate) use crate::walk::memory::{Earlier, Memory, Recall};
pub(crate) use crate::walk::report::{DirectoryReport, LeftOut};
pub(crate) use crate::walk::room::{Room, Taken};
pub(crate) use crate::walk::scan::Scan;
pub(crate) use crate::walk::sieve::VERSION_CONTROL;
pub(crate) use crate::walk::visit::{Collect, Scanned, Visit};

/// What a walk looks at. The default is everything below nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct WalkOptions {
    /// Where it begins, in path order.
    pub(crate) starts: Vec<Start>,
    /// How deep entries may lie below a beginning; its own entries have depth 1.
    pub(crate) max_depth: Option<usize>,
    /// Whether names that start with a dot are looked at.
    pub(crate) hidden: bool,
    /// Whether ignore files are disregarded.
    pub(crate) no_ignore: bool,
    /// Whether `target` and `node_modules` are left out where no ignore file has a say.
    pub(crate) drop_noise: bool,
    /// Whether contents are wanted: then links and files made by the kernel are left out.
    pub(crate) contents: bool,
    /// Whether directories are handed on too, and not only files.
    pub(crate) directories: bool,
    /// Which files are wanted.
    pub(crate) filter: Filter,
    /// Exactly these files, in this order, instead of a walk.
    pub(crate) files: Option<Vec<Vec<u8>>>,
    /// What earlier walks saw, if that is kept.
    pub(crate) recall: Option<Recall>,
    /// Where to go on: entries before it in path order are passed over without a word.
    pub(crate) resume: Option<Resume>,
}

/// The position that an earlier answer reached.
#[derive(Clone, Debug)]
pub(crate) struct Resume {
    /// The path of the last entry of that answer; a directory's ends in `/`.
    pub(crate) path: Vec<u8>,
    /// Whether that entry itself is looked at again.
    pub(crate) inclusive: bool,
}

impl WalkOptions {
    /// Tells whether a directory itself, whatever is below it, lies past that position.
    fn reaches_itself(&self, path: &[u8]) -> bool {
        self.resume.as_ref().is_none_or(|resume| after(path, b"/", resume))
    }

    /// Tells whether the position to resume at lies below the directory of this prefix.
    fn resumes_below(&self, prefix: &[u8]) -> bool {
        self.resume.as_ref().is_some_and(|resume| resume.path.starts_with(prefix))
    }

    /// Tells whether an entry, or something below it, lies past the position to resume at.
    fn reaches(&self, path: &[u8], is_directory: bool) -> bool {
        let Some(resume) = &self.resume else { return true };
        if is_directory {
            let below = |bytes: &[u8]| {
                bytes.strip_prefix(path).is_some_and(|rest| rest.first() == Some(&b'/'))
            };
            return below(&resume.path) || after(path, b"/", resume);
        }
        after(path, b"", resume)
    }
}

fn after(path: &[u8], slash: &[u8], resume: &Resume) -> bool {
    let order = path.iter().chain(slash).cmp(resume.path.iter());
    order.is_gt() || (order.is_eq() && resume.inclusive)
}
