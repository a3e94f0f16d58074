//! Every place of a text within another, found in time linear in both.

#[cfg(test)]
mod tests;

use memchr::memmem::Finder;

use crate::edit::checked;
use crate::error::Error;

/// The places of a needle from the left, overlapping ones too.
///
/// Two that are no further apart than half the needle show its period. From then on the run of a
/// place, as far as the text goes on with that period, tells all places in it: nothing in it is
/// searched again, and the next place after it is more than half the needle away.
pub(super) struct Occurrences<'a> {
    text: &'a [u8],
    finder: Finder<'a>,
    /// Where the search goes on.
    from: usize,
    /// The place before, if the search goes on right after it.
    last: Option<usize>,
    period: Option<usize>,
    run: Run,
    /// Bytes looked at so far.
    work: usize,
    /// A range was wrong, so places may be missing.
    is_faulty: bool,
}

/// Places that are known: every `period` from `next` to `last`.
#[derive(Clone, Copy)]
struct Run {
    next: usize,
    last: usize,
}

impl Run {
    const NONE: Run = Run { next: 1, last: 0 };
}

impl<'a> Occurrences<'a> {
    pub(super) fn of(needle: &'a [u8], text: &'a [u8]) -> Occurrences<'a> {
        let finder = Finder::new(needle);
        Occurrences {
            text,
            finder,
            from: 0,
            last: None,
            period: None,
            run: Run::NONE,
            work: 0,
            is_faulty: false,
        }
    }

    /// Bytes looked at so far: at most a few for each of the text and the needle.
    pub(super) fn work(&self) -> usize {
        self.work
    }

    /// Refuses places of which some may be missing; asked once there are no more.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.is_faulty { Err(checked::fault()) } else { Ok(()) }
    }

    /// Leaves out the places before `from`.
    pub(super) fn skip_to(&mut self, from: usize) {
        if let Some(period) = self.period {
            let behind = from.saturating_sub(self.run.next);
            self.run.next += behind.div_ceil(period) * period;
        }
        self.from = self.from.max(from);
        self.last = None;
    }

    fn next_of_run(&mut self) -> Option<usize> {
        let next = self.run.next;
        if next > self.run.last {
            return None;
        }
        self.run.next += self.period?;
        Some(next)
    }

    /// Finds out how far the text goes on with the period of the needle at `at`.
    fn begin_run(&mut self, at: usize) {
        self.last = Some(at);
        self.from = at + 1;
        let Some(period) = self.period else { return };
        let end = at + self.finder.needle().len();
        let (Some(more), Some(again)) = (self.text.get(end..), self.text.get(end - period..))
        else {
            self.is_faulty = true;
            return;
        };
        let same = more.iter().zip(again).take_while(|(a, b)| a == b).count();
        self.run = Run { next: at + period, last: at + same };
        self.from = at + same + 1;
        self.work += same;
    }
}

impl Iterator for Occurrences<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        if let Some(place) = self.next_of_run() {
            return Some(place);
        }
        let rest = self.text.get(self.from..)?;
        let len = self.finder.needle().len();
        let Some(found) = self.finder.find(rest) else {
            self.work += rest.len();
            self.from = self.text.len() + 1;
            return None;
        };
        self.work += found + len;
        let at = self.from + found;
        if self.period.is_none() {
            let most = (len / 2).max(1);
            self.period = self.last.map(|last| at - last).filter(|&period| period <= most);
        }
        self.begin_run(at);
        Some(at)
    }
}
