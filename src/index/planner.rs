//! From a parsed pattern to what it demands, in bounded time whatever the pattern.

use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use crate::index::demand::Demand;
use crate::index::reading::Reading;
use crate::index::strings::Strings;

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
    /// Whether texts with a character of `FOLDING` may match without fulfilling the demand.
    pub(super) drops_folding: bool,
}

impl Planner {
    pub(super) fn new() -> Planner {
        Planner { effort: EFFORT, drops_folding: false }
    }

    /// What holds for every text with a match.
    pub(super) fn demand(&mut self, hir: &Hir) -> Demand {
        self.read(hir).into_demand()
    }

    /// Recurses as deep as the parser allowed groups to be nested.
    fn read(&mut self, hir: &Hir) -> Reading {
        if self.effort == 0 {
            return Reading::anything();
        }
        let reading = match hir.kind() {
            HirKind::Empty => Reading::exact(Strings::empty()),
            HirKind::Look(look) => Reading::exact(read_look(*look)),
            HirKind::Literal(literal) => exact([literal.0.to_vec()]),
            HirKind::Class(class) => self.read_class(class),
            HirKind::Repetition(repetition) => self.read_repetition(repetition),
            HirKind::Capture(capture) => self.read(&capture.sub),
            HirKind::Concat(parts) => self.read_in_turn(parts),
            HirKind::Alternation(parts) => {
                Reading::either(parts.iter().map(|part| self.read(part)).collect())
            }
        };
        self.spend(reading)
    }

    fn spend(&mut self, reading: Reading) -> Reading {
        self.effort = self.effort.saturating_sub(reading.cost());
        reading
    }

    fn read_in_turn(&mut self, parts: &[Hir]) -> Reading {
        let mut whole = Reading::exact(Strings::empty());
        for part in parts {
            let next = self.read(part);
            whole = whole.then(next);
            whole = self.spend(whole);
        }
        whole
    }

    fn read_repetition(&mut self, repetition: &Repetition) -> Reading {
        let Repetition { min, max, ref sub, .. } = *repetition;
        match (min, max) {
            (_, Some(0)) => Reading::exact(Strings::empty()),
            (0, Some(1)) => {
                let once = self.read(sub);
                Reading::either(vec![Reading::exact(Strings::empty()), once])
            }
            (0, _) => Reading::anything(),
            _ => {
                let once = self.read(sub);
                self.repeat(once, min, max == Some(min))
            }
        }
    }

    fn repeat(&mut self, once: Reading, times: u32, exactly: bool) -> Reading {
        let Some(strings) = once.strings() else { return once };
        let mut all = strings.clone();
        for _ in 1..times {
            self.effort = self.effort.saturating_sub(all.cost());
            match all.joined(strings) {
                Some(joined) if self.effort > 0 => all = joined,
                _ => return Reading::exact(all).repeated(),
            }
        }
        let all = Reading::exact(all);
        if exactly { all } else { all.repeated() }
    }

    fn read_class(&mut self, class: &Class) -> Reading {
        let strings = match class {
            Class::Unicode(class) => {
                let sizes =
                    class.iter().map(|range| u32::try_from(range.len()).unwrap_or(u32::MAX));
                if sizes.fold(0, u32::saturating_add) > MOST_LISTED {
                    return Reading::anything();
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
        let reading = exact(strings);
        let few = reading.strings().is_some_and(|strings| strings.iter().count() <= MOST_TOLD);
        if few { reading } else { Reading::anything() }
    }
}

/// All but two of them hold only where a byte of an ASCII word is not on both sides.
fn read_look(look: Look) -> Strings {
    match look {
        Look::WordAsciiNegate | Look::WordUnicodeNegate => Strings::empty(),
        _ => Strings::border(),
    }
}

/// Whether the character is dropped from a class, which has it only for the sake of the letter.
fn is_folding(character: char, class: &[char]) -> bool {
    FOLDING.iter().any(|(folding, letter)| {
        let upper = letter.to_ascii_uppercase();
        character == *folding && (class.contains(letter) || class.contains(&upper))
    })
}

fn exact(strings: impl IntoIterator<Item = Vec<u8>>) -> Reading {
    Strings::folded(strings).map_or_else(Reading::anything, Reading::exact)
}

#[cfg(test)]
mod tests;
