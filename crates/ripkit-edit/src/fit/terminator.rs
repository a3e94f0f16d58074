//! Line terminators that only one of the two texts ends with.

#[cfg(test)]
mod tests;

use crate::text::{Following, without_terminator};

/// `new_text` with the line terminator that the file has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TerminatorFit {
    /// As it was given.
    Unchanged,
    /// It lacked the terminators of `old_text`.
    Added(String),
    /// It had one too many.
    Removed(String),
    /// The terminator is all that differs, and without it two lines would be joined.
    JoinsLines,
}

impl TerminatorFit {
    /// Fits `new` to a match of `old`: where only one of them ends with a line terminator, that of
    /// the file is kept, so that a line is neither joined with the next one nor followed by an
    /// empty one.
    ///
    /// Unchanged are: an empty `new_text`, which deletes lines; a blank `old_text`, whose
    /// terminators are to be replaced; matches that end within a line, or at the end of a text
    /// without a terminator; and texts that differ in nothing else, if no lines are joined. If
    /// `new_text` has several terminators too many, one is removed: the others are empty lines.
    pub(super) fn new(old: &str, new: &str, following: Following) -> TerminatorFit {
        match (terminators_len(old), terminators_len(new)) {
            (0, 1..) if following == Following::LineEnd => {
                let kept = without_terminator(new);
                if kept == old {
                    TerminatorFit::Unchanged
                } else {
                    TerminatorFit::Removed(kept.to_owned())
                }
            }
            (len @ 1.., 0) if !new.is_empty() && !old.trim().is_empty() => {
                let kept = format!("{new}{}", &old[old.len() - len..]);
                match following {
                    Following::Text if kept == old => TerminatorFit::JoinsLines,
                    _ if kept == old => TerminatorFit::Unchanged,
                    _ => TerminatorFit::Added(kept),
                }
            }
            _ => TerminatorFit::Unchanged,
        }
    }

    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            TerminatorFit::Added(_) => Some(
                "old_text ends with a line terminator and new_text does not: the file's was kept.",
            ),
            TerminatorFit::Removed(_) => Some(
                "new_text ends with a line terminator and old_text does not: the file's was kept, \
                 and no empty line was added.",
            ),
            TerminatorFit::Unchanged | TerminatorFit::JoinsLines => None,
        }
    }
}

/// Length of the line terminators at the end.
fn terminators_len(text: &str) -> usize {
    let mut rest = text;
    while let Some(less) = rest.strip_suffix('\n') {
        rest = less.strip_suffix('\r').unwrap_or(less);
    }
    text.len() - rest.len()
}
