//! Texts of which only one ends with a line terminator.
//!
//! A text that is cut out of lines may have the terminator of its last line or not. Where only one
//! of `old_text` and `new_text` has it, the terminator of the file stays: a line is neither joined
//! with the next one nor followed by an empty one.

#[cfg(test)]
mod tests;

/// What follows the place of `old_text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The end of the line, perhaps behind blanks.
    LineEnd,
    /// The end of the text, perhaps behind blanks.
    TextEnd,
    Text,
}

impl Next {
    pub(super) fn at(text: &[u8], end: usize) -> Next {
        let rest = text.get(end..).unwrap_or(&[]);
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        match rest.get(blanks..) {
            None | Some([]) => Next::TextEnd,
            Some([b'\n', ..] | [b'\r', b'\n', ..]) => Next::LineEnd,
            _ => Next::Text,
        }
    }
}

/// `new_text` with the terminator that the file has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fitted {
    /// As it was given.
    Same,
    /// It lacked the terminators of `old_text`.
    Added(String),
    /// It had one too many.
    Removed(String),
    /// The terminator is all that differs, and without it two lines would be joined.
    Joins,
}

impl Fitted {
    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            Fitted::Added(_) => Some(
                "old_text ends with a line terminator and new_text does not: the file's was kept.",
            ),
            Fitted::Removed(_) => Some(
                "new_text ends with a line terminator and old_text does not: the file's was kept, \
                 and no empty line was added.",
            ),
            Fitted::Same | Fitted::Joins => None,
        }
    }
}

/// Fits `new` to a place of `old` that is followed by `next`.
///
/// Taken as they are: an empty `new_text`, which deletes lines; an `old_text` that is blank, so that
/// terminators are to be replaced; places that end within a line or at the end of a text
/// without a terminator; and texts that differ in nothing else, if no lines are joined. Where
/// `new_text` has several terminators too many, one is taken off: the others are empty lines.
pub(super) fn fit(old: &str, new: &str, next: Next) -> Fitted {
    match (terminators(old), terminators(new)) {
        (0, 0) => Fitted::Same,
        (0, _) if next == Next::LineEnd => {
            let kept = without_one(new);
            if kept == old { Fitted::Same } else { Fitted::Removed(kept.to_owned()) }
        }
        (0, _) => Fitted::Same,
        (from, 0) if !new.is_empty() && !old.trim().is_empty() => {
            let end = old.get(old.len() - from..).unwrap_or("");
            let kept = format!("{new}{end}");
            match next {
                Next::Text if kept == old => Fitted::Joins,
                _ if kept == old => Fitted::Same,
                _ => Fitted::Added(kept),
            }
        }
        _ => Fitted::Same,
    }
}

/// Bytes of the line terminators at the end.
fn terminators(text: &str) -> usize {
    let mut rest = text;
    while let Some(less) = rest.strip_suffix('\n') {
        rest = less.strip_suffix('\r').unwrap_or(less);
    }
    text.len() - rest.len()
}

fn without_one(text: &str) -> &str {
    let less = text.strip_suffix('\n').unwrap_or(text);
    less.strip_suffix('\r').unwrap_or(less)
}
