//! Replacements, how their texts are matched, and the ranges that they changed.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::Call;
use crate::edit::lines::LineEdit;
use crate::edit::text::slice;
use crate::error::Error;

/// One change of a file.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Text(Replacement),
    Lines(LineEdit),
}

impl From<Replacement> for Change {
    fn from(replacement: Replacement) -> Change {
        Change::Text(replacement)
    }
}

/// A text to replace, which must be found, and the text in its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) old_text: String,
    pub(crate) new_text: String,
}

impl Replacement {
    /// `new_text` in the place of `old_text`.
    pub(crate) fn new(old_text: impl Into<String>, new_text: impl Into<String>) -> Replacement {
        Replacement { old_text: old_text.into(), new_text: new_text.into() }
    }
}

/// How `old_text` is compared with the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum Matching {
    /// Byte for byte.
    Exact,
    /// Else by line ends, blanks, quotes or indentation, if unique.
    #[default]
    Safe,
}

/// What had to be overlooked for `old_text` to be found; each step includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum MatchKind {
    /// Nothing.
    Exact,
    /// `\r\n` or `\n`.
    LineEndings,
    /// Blanks at the ends of lines.
    TrailingBlanks,
    /// Curly or straight quotes, kinds of dashes and spaces, `…` or `...`.
    Typography,
    /// The same blanks before every line.
    Indentation,
}

impl MatchKind {
    /// What was ignored, for messages such as "found by overlooking ...".
    pub(crate) fn overlooked(self) -> &'static str {
        match self {
            MatchKind::Exact => "nothing",
            MatchKind::LineEndings => "line endings",
            MatchKind::TrailingBlanks => "trailing blanks",
            MatchKind::Typography => "typographic punctuation and spaces",
            MatchKind::Indentation => "uniform indentation",
        }
    }
}

/// How replacements are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EditOptions {
    pub(crate) matching: Matching,
    /// Replaces every match, from the left, instead of refusing a text that is not unique.
    pub(crate) replace_all: bool,
    /// The largest size of the file after the edit.
    pub(crate) max_bytes: usize,
    pub(crate) source: TextSource,
}

/// Where the texts of a replacement come from, which decides what messages call them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TextSource {
    /// Two arguments of a tool.
    #[default]
    Arguments,
    /// A hunk of a patch: whole lines, whose terminators are as they are meant.
    Hunk,
}

impl TextSource {
    /// What the text to replace is called.
    pub(super) fn old_name(self) -> &'static str {
        match self {
            TextSource::Arguments => "old_text",
            TextSource::Hunk => "old text",
        }
    }

    /// What the text in its place is called.
    pub(super) fn new_name(self) -> &'static str {
        match self {
            TextSource::Arguments => "new_text",
            TextSource::Hunk => "new text",
        }
    }
}

impl EditOptions {
    /// The same for a text that is only searched for.
    pub(super) fn to_search(self) -> EditOptions {
        EditOptions { matching: Matching::Safe, replace_all: false, ..self }
    }
}

/// A range of the original and the range of the new content that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Splice {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// The first and the last line, from 1, of the new text of each splice, in their order.
///
/// # Errors
/// `INTERNAL` if the splices do not lie within the content in ascending order.
pub(crate) fn changed_lines(content: &[u8], splices: &[Splice]) -> Result<Vec<(u64, u64)>, Error> {
    let (mut counted, mut line) = (0, 1);
    let lines = splices.iter().map(|Splice { new, .. }| {
        let mut line_at = |at: usize| {
            let passed = slice(content, counted..at)?;
            line += memchr::memchr_iter(b'\n', passed).count() as u64;
            counted = at;
            Ok::<_, Error>(line)
        };
        let (first, last) = (line_at(new.start)?, line_at(new.end)?);
        let ends_line = new.end.checked_sub(1).filter(|last| *last >= new.start);
        let ends_line = ends_line.is_some_and(|last| content.get(last) == Some(&b'\n'));
        Ok((first, (last - u64::from(ends_line)).max(first)))
    });
    lines.collect()
}

/// # Errors
/// `CANCELLED`, `TIMEOUT` once the call is to stop.
pub(super) fn check_stop(call: &Call) -> Result<(), Error> {
    let stopped = call.stop_reason().map(|why| Error::stopped(why, "anything was changed"));
    stopped.map_or(Ok(()), Err)
}
