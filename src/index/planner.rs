//! Derives the gram query of a parsed pattern, in bounded time for any pattern.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use crate::index::gram_query::GramQuery;
use crate::index::literal_info::LiteralInfo;
use crate::index::literal_set::LiteralSet;

/// The most bytes that are copied, about; what is read after that is taken for anything.
const EFFORT: usize = 64 << 10;

/// The most characters of a class that are listed before letters are put in lower case.
const MOST_LISTED: u32 = 32;

/// The most characters of a class that are told from any other; the digits are as many.
const MOST_TOLD: usize = 10;

/// Characters that are an ASCII letter when case is ignored, and the letter.
const FOLDING: [(char, char); 2] = [('\u{17f}', 's'), ('\u{212a}', 'k')];

/// Reads a pattern once.
#[derive(Debug)]
pub(super) struct Planner {
    effort: usize,
    /// Whether texts with a character of `FOLDING` may match without satisfying the query.
    pub(super) drops_folding: bool,
}

impl Planner {
    pub(super) fn new() -> Planner {
        Planner { effort: EFFORT, drops_folding: false }
    }

    /// What holds for every text with a match.
    pub(super) fn gram_query(&mut self, hir: &Hir) -> GramQuery {
        self.read(hir).into_demand()
    }

    /// Recurses as deep as the parser allowed groups to be nested.
    fn read(&mut self, hir: &Hir) -> LiteralInfo {
        if self.effort == 0 {
            return LiteralInfo::anything();
        }
        let info = match hir.kind() {
            HirKind::Empty => LiteralInfo::exact(LiteralSet::empty()),
            HirKind::Look(look) => LiteralInfo::exact(read_look(*look)),
            HirKind::Literal(literal) => exact([literal.0.to_vec()]),
            HirKind::Class(class) => self.read_class(class),
            HirKind::Repetition(repetition) => self.read_repetition(repetition),
            HirKind::Capture(capture) => self.read(&capture.sub),
            HirKind::Concat(parts) => self.read_in_turn(parts),
            HirKind::Alternation(parts) => {
                LiteralInfo::either(parts.iter().map(|part| self.read(part)).collect())
            }
        };
        self.spend(info)
    }

    fn spend(&mut self, info: LiteralInfo) -> LiteralInfo {
        self.effort = self.effort.saturating_sub(info.cost());
        info
    }

    fn read_in_turn(&mut self, parts: &[Hir]) -> LiteralInfo {
        let mut whole = LiteralInfo::exact(LiteralSet::empty());
        for part in parts {
            let next = self.read(part);
            whole = whole.then(next);
            whole = self.spend(whole);
        }
        whole
    }

    fn read_repetition(&mut self, repetition: &Repetition) -> LiteralInfo {
        let Repetition { min, max, ref sub, .. } = *repetition;
        match (min, max) {
            (_, Some(0)) => LiteralInfo::exact(LiteralSet::empty()),
            (0, Some(1)) => {
                let once = self.read(sub);
                LiteralInfo::either(vec![LiteralInfo::exact(LiteralSet::empty()), once])
            }
            (0, _) => LiteralInfo::anything(),
            _ => {
                let once = self.read(sub);
                self.repeat(once, min, max == Some(min))
            }
        }
    }

    fn repeat(&mut self, once: LiteralInfo, times: u32, exactly: bool) -> LiteralInfo {
        let Some(strings) = once.strings() else { return once };
        let mut all = strings.clone();
        for _ in 1..times {
            self.effort = self.effort.saturating_sub(all.cost());
            match all.joined(strings) {
                Some(joined) if self.effort > 0 => all = joined,
                _ => return LiteralInfo::exact(all).repeated(),
            }
        }
        let all = LiteralInfo::exact(all);
        if exactly { all } else { all.repeated() }
    }

    fn read_class(&mut self, class: &Class) -> LiteralInfo {
        let strings = match class {
            Class::Unicode(class) => {
                let sizes =
                    class.iter().map(|range| u32::try_from(range.len()).unwrap_or(u32::MAX));
                if sizes.fold(0, u32::saturating_add) > MOST_LISTED {
                    return LiteralInfo::anything();
                }
                let characters = class.iter().flat_map(|range| range.start()..=range.end());
                let characters: Vec<char> = characters.collect();
                let cached =
                    characters.iter().filter(|character| !is_folding(**character, &characters));
                let strings: Vec<Vec<u8>> =
                    cached.map(|character| character.to_string().into_bytes()).collect();
                self.drops_folding |= strings.len() < characters.len();
                strings
            }
            Class::Bytes(class) => {
                let bytes = class.iter().flat_map(|range| range.start()..=range.end());
                bytes.take(MOST_LISTED as usize + 1).map(|byte| vec![byte]).collect()
            }
        };
        let info = exact(strings);
        let few = info.strings().is_some_and(|strings| strings.iter().count() <= MOST_TOLD);
        if few { info } else { LiteralInfo::anything() }
    }
}

/// All but two of them hold only where a byte of an ASCII word is not on both sides.
fn read_look(look: Look) -> LiteralSet {
    match look {
        Look::WordAsciiNegate | Look::WordUnicodeNegate => LiteralSet::empty(),
        _ => LiteralSet::border(),
    }
}

/// Whether the character is dropped from a class, which has it only for the sake of the letter.
fn is_folding(character: char, class: &[char]) -> bool {
    FOLDING.iter().any(|(folding, letter)| {
        let upper = letter.to_ascii_uppercase();
        character == *folding && (class.contains(letter) || class.contains(&upper))
    })
}

fn exact(strings: impl IntoIterator<Item = Vec<u8>>) -> LiteralInfo {
    LiteralSet::folded(strings).map_or_else(LiteralInfo::anything, LiteralInfo::exact)
}

#[cfg(test)]
mod tests;
