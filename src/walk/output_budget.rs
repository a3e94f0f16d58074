//! How much of what was found fits into one answer.

use std::ops::ControlFlow;

use crate::output::Truncation;

/// Bytes of the answer that are kept for what follows the entries.
const FOOTER: usize = 1024;

/// What an answer may still show, an entry a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputBudget {
    results: usize,
    /// None for text without a bound.
    bytes: Option<usize>,
    begun: bool,
}

impl OutputBudget {
    /// A budget of so many entries, in a text of so many bytes with all that follows them.
    pub(crate) fn new(results: usize, text_bytes: usize) -> OutputBudget {
        let bytes = (text_bytes < usize::MAX).then(|| text_bytes.saturating_sub(FOOTER));
        OutputBudget { results, bytes, begun: false }
    }

    /// A budget that nothing exhausts.
    pub(crate) fn unbounded() -> OutputBudget {
        OutputBudget::new(usize::MAX, usize::MAX)
    }

    /// Whether anything may exhaust it; who asks for all that a number can say means everything.
    pub(crate) fn is_bounded(&self) -> bool {
        self.bytes.is_some() || self.results < u32::MAX as usize
    }

    /// Takes an entry of so many printed bytes out of the budget, or breaks with what is spent;
    /// they are counted only where they matter.
    ///
    /// The first entry always fits: from a page without any there would be no way to go on.
    pub(crate) fn spend(&mut self, printed: impl FnOnce() -> usize) -> ControlFlow<Truncation> {
        if self.begun && self.results == 0 {
            return ControlFlow::Break(Truncation::Results);
        }
        if let Some(bytes) = &mut self.bytes {
            let line = printed().saturating_add(1);
            if self.begun && *bytes < line {
                return ControlFlow::Break(Truncation::Bytes);
            }
            *bytes = bytes.saturating_sub(line);
        }
        self.begun = true;
        self.results = self.results.saturating_sub(1);
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_fits_into_any_budget_and_the_second_does_not() {
        for (results, text_bytes, cut) in [
            (0, usize::MAX, Truncation::Results),
            (1, usize::MAX, Truncation::Results),
            (2, 0, Truncation::Bytes),
            (2, FOOTER + 9, Truncation::Bytes),
        ] {
            let mut budget = OutputBudget::new(results, text_bytes);
            assert_eq!(budget.spend(|| 9), ControlFlow::Continue(()), "{results} {text_bytes}");
            assert_eq!(budget.spend(|| 9), ControlFlow::Break(cut), "{results} {text_bytes}");
        }
    }

    #[test]
    fn an_entry_costs_its_line_with_the_line_end() {
        let mut budget = OutputBudget::new(usize::MAX, FOOTER + 20);
        assert_eq!(budget.spend(|| 9), ControlFlow::Continue(()));
        assert_eq!(budget.spend(|| 9), ControlFlow::Continue(()));
        assert_eq!(budget.spend(|| 0), ControlFlow::Break(Truncation::Bytes));
    }
}
