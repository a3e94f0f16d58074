//! The receipt of a search or listing: what was looked at, and what was left out and why.

use schemars::JsonSchema;
use serde::Serialize;

use crate::text::escape;

/// What a search or a listing looked at, and what it left out and why.
///
/// An empty answer with this receipt says which kind of empty it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct ScanStats {
    /// Files whose content was searched, or which were listed.
    pub files: u64,
    /// Directories that were read.
    pub directories: u64,
    /// What was left out, by reason.
    pub skipped: Skipped,
    /// The first entries that could not be read, at most 20, in path order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trouble: Vec<ReadError>,
    /// Paths that the call named and that could not be looked at, where others could, in the order
    /// of the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<ReadError>,
    /// Sentences on ignore files that were not read whole, and on names left out by default, at
    /// most 20; where there were more, the last says how many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What an index spared; absent where none is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexUse>,
    /// How many files an index excluded.
    #[serde(skip)]
    pub(crate) excluded: u64,
    /// How many warnings came when `warnings` was full.
    #[serde(skip)]
    pub(crate) more_warnings: u64,
    /// Bytes of text that were searched; of large files only where exact lines are kept.
    #[serde(skip)]
    pub(crate) bytes: u64,
}

/// What an index spared a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct IndexUse {
    /// Files that were not opened, as they cannot match; the receipt counts them like those that
    /// were.
    pub excluded: u64,
    /// Whether the pattern says anything that an index knows; if not, every text was searched.
    pub asked: bool,
}

/// How many entries a scan left out, by reason; an ignored directory counts once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct Skipped {
    /// Files that an ignore rule excludes.
    pub ignored_files: u64,
    /// Directories that an ignore rule excludes, with all that is in them.
    pub ignored_directories: u64,
    /// Files and directories left out because their name starts with a dot.
    pub hidden: u64,
    /// Files that `include`, `exclude` or `file_type` leave out, and directories that `exclude`
    /// does.
    pub filtered: u64,
    /// Files with a NUL byte, searched only up to it.
    pub binary: u64,
    /// Files over a size limit.
    pub too_large: u64,
    /// Entries that could not be opened or read.
    pub unreadable: u64,
    /// FIFOs, sockets and devices.
    pub special: u64,
    /// Files that the kernel makes as they are read, as in `/proc` and `/sys`; only one that is
    /// named is searched.
    pub kernel: u64,
    /// Symbolic links, which are not followed.
    pub links: u64,
    /// Files that the host denies because they have several names (hard links). What its deny globs
    /// name is not counted, so that no answer tells whether it exists.
    pub denied: u64,
}

/// An entry or a named path that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct ReadError {
    /// The path, relative to the workspace, or as it was named.
    pub path: String,
    /// The reason, for an entry in the words of the operating system.
    pub reason: String,
}

/// The most entries that [`ScanStats::trouble`] names.
pub const MAX_TROUBLE: usize = 20;

/// The most sentences of [`ScanStats::warnings`].
pub const MAX_WARNINGS: usize = 20;

impl ScanStats {
    /// Adds what another part of the same scan counted.
    pub(crate) fn absorb(&mut self, mut other: ScanStats) {
        self.count(&other);
        self.remove_summary();
        other.remove_summary();
        // Parts come in path order, so the first are those that will be named.
        let room = MAX_TROUBLE.saturating_sub(self.trouble.len());
        self.trouble.extend(other.trouble.into_iter().take(room));
        self.missing.append(&mut other.missing);
        self.more_warnings += other.more_warnings;
        for warning in other.warnings {
            if self.warnings.contains(&warning) {
                continue;
            }
            if self.warnings.len() < MAX_WARNINGS {
                self.warnings.push(warning);
            } else {
                self.more_warnings += 1;
            }
        }
    }

    /// Adds the numbers of another part, but for that of its warnings.
    pub(crate) fn count(&mut self, other: &ScanStats) {
        self.files += other.files;
        self.directories += other.directories;
        self.bytes += other.bytes;
        self.excluded += other.excluded;
        self.index = self.index.or(other.index);
        self.skipped.absorb(&other.skipped);
    }

    /// Records an entry that could not be read.
    pub(crate) fn unreadable(&mut self, path: String, reason: String) {
        self.skipped.unreadable += 1;
        self.trouble.push(ReadError { path, reason });
    }

    /// Puts the lists into path order and cuts them, once everything is counted.
    pub(crate) fn sort_and_cap(&mut self) {
        self.remove_summary();
        self.trouble.sort();
        self.trouble.truncate(MAX_TROUBLE);
        self.warnings.sort();
        if self.more_warnings > 0 && self.warnings.len() >= MAX_WARNINGS {
            self.warnings.truncate(MAX_WARNINGS - 1);
            self.more_warnings += 1;
        }
        self.warnings.extend(self.summary());
    }

    /// Takes back the sentence on further warnings, so that others can join them.
    fn remove_summary(&mut self) {
        if let Some(summary) = self.summary() {
            self.warnings.retain(|warning| *warning != summary);
        }
    }

    /// The sentence for the warnings that found no room.
    fn summary(&self) -> Option<String> {
        let more = self.more_warnings;
        (more > 0).then(|| format!("and {}", counted(more, "more warning", "more warnings")))
    }

    /// What could not be searched or looked at, with that verb, in half a sentence; none if
    /// there is nothing of the kind.
    pub(crate) fn shortfall(&self, verb_past: &str) -> Option<String> {
        let reasons = named(&[
            (self.skipped.unreadable, "unreadable entry", "unreadable entries"),
            (self.skipped.too_large, "file too large", "files too large"),
            (self.skipped.kernel, "file made by the kernel", "files made by the kernel"),
        ]);
        let reasons = self.explained(&reasons.join(", "));
        (!reasons.is_empty()).then(|| format!("not everything was {verb_past}: {reasons}"))
    }

    /// One sentence: how much was looked at, with `verb` as in "Searched", and what was skipped.
    pub(crate) fn sentence(&self, verb: &str) -> String {
        let mut sentence = format!("{verb} {}", counted(self.files, "file", "files"));
        let skipped = self.skipped.reasons();
        if !skipped.is_empty() {
            sentence.push_str("; skipped ");
            sentence.push_str(&self.explained(&skipped.join(", ")));
        }
        sentence.push('.');
        sentence
    }

    /// The reasons with the first entry that could not be read, and why it could not.
    fn explained(&self, reasons: &str) -> String {
        let Some(ReadError { path, reason }) = self.trouble.first() else {
            return reasons.to_owned();
        };
        let path = escape::display_path(path.as_bytes());
        let (one, many) = ("unreadable entry", "unreadable entries");
        if reasons.contains(many) {
            return reasons.replacen(many, &format!("{many} (the first is {path}: {reason})"), 1);
        }
        reasons.replacen(one, &format!("{one} ({path}: {reason})"), 1)
    }
}

impl Skipped {
    fn absorb(&mut self, other: &Skipped) {
        self.ignored_files += other.ignored_files;
        self.ignored_directories += other.ignored_directories;
        self.hidden += other.hidden;
        self.filtered += other.filtered;
        self.binary += other.binary;
        self.too_large += other.too_large;
        self.unreadable += other.unreadable;
        self.special += other.special;
        self.kernel += other.kernel;
        self.links += other.links;
        self.denied += other.denied;
    }

    fn reasons(&self) -> Vec<String> {
        named(&[
            (self.ignored_files, "ignored file", "ignored files"),
            (self.ignored_directories, "ignored directory", "ignored directories"),
            (self.hidden, "hidden entry", "hidden entries"),
            (self.filtered, "entry by filter", "entries by filter"),
            (self.binary, "binary file", "binary files"),
            (self.too_large, "file too large", "files too large"),
            (self.unreadable, "unreadable entry", "unreadable entries"),
            (self.special, "special file", "special files"),
            (self.kernel, "file made by the kernel", "files made by the kernel"),
            (self.links, "symbolic link", "symbolic links"),
            (
                self.denied,
                "hard-linked file that the host denies",
                "hard-linked files that the host denies",
            ),
        ])
    }
}

/// Those of the counts that are not 0, in words.
fn named(counts: &[(u64, &str, &str)]) -> Vec<String> {
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    counts.map(|(count, one, many)| counted(*count, one, many)).collect()
}

/// "1 file", "12 files".
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests;
