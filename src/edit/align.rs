//! Aligns the lines of a text that was not found with lines of the file: lines may be missing, too
//! many or different, and a placeholder such as `...` stands for any number of lines.

use crate::edit::text::count_letters;

/// Bytes of a line that are compared.
const MAX_LINE_BYTES: usize = 200;

/// How far lines may be displaced where there is no placeholder.
const MAX_SHIFT: usize = 12;

/// The least similarity of two lines that counts.
const MIN_SIMILARITY: f64 = 0.5;

/// What a line weighs that is distinctive, one that is not, and a blank one.
const WEIGHTS: [f64; 3] = [1.0, 0.2, 0.1];

/// What a line weighs, as a part of its weight, that the other text lacks.
const GAP: f64 = 0.15;

/// What each line costs for which a placeholder stands, so that it stands for as few as possible.
const OMITTED: f64 = 0.0005;

/// What a pair of unlike lines costs, as a part of what it costs that both are missing.
const UNLIKE: f64 = 0.9;

/// What equal indentation adds to a pair, so that of equal lines the one at the same depth is taken.
const SAME_INDENTATION: f64 = 0.01;

/// A line of the file and the line of the old text in its place, by their indices; one of them may be
/// missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) file: Option<usize>,
    pub(super) old: Option<usize>,
}

/// Lines of the file that are like those of the old text, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Alignment {
    /// All lines of the old text, and those of the file from the first to the last that is like one.
    pub(super) pairs: Vec<Pair>,
    /// How much of the old text they have, from 0 to 1.
    pub(super) score: f64,
}

/// Whether a line is a placeholder for others.
pub(super) fn is_placeholder(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['/', '#', '*', '-', ';']).trim();
    matches!(line, "..." | "…")
}

/// The best alignment of the old lines with a part of the lines of the file.
pub(super) fn align(file: &[&[u8]], old: &[&str]) -> Alignment {
    let table = Scores::new(file, old);
    Alignment { pairs: table.pairs(), score: table.score() }
}

/// A line as it is compared.
struct Line<'a> {
    trimmed: &'a [u8],
    indentation: &'a [u8],
    /// Pairs of neighbouring bytes regardless of ASCII case, sorted.
    bigrams: Vec<[u8; 2]>,
    weight: f64,
    is_placeholder: bool,
}

impl<'a> Line<'a> {
    fn new(line: &'a [u8]) -> Line<'a> {
        let trimmed = line.trim_ascii();
        let (indentation, _) = line.split_at(line.len() - line.trim_ascii_start().len());
        let compared = trimmed.get(..MAX_LINE_BYTES).unwrap_or(trimmed).to_ascii_lowercase();
        let mut bigrams: Vec<[u8; 2]> =
            compared.windows(2).filter_map(|pair| pair.try_into().ok()).collect();
        bigrams.sort_unstable();
        let text = String::from_utf8_lossy(trimmed);
        let [distinctive, plain, blank] = WEIGHTS;
        let weight = match () {
            () if trimmed.is_empty() => blank,
            () if count_letters(&text) > 2 => distinctive,
            () => plain,
        };
        let is_placeholder = is_placeholder(&text);
        Line { trimmed, indentation, bigrams, weight, is_placeholder }
    }

    /// How much two lines have in common, from 0 to 1, regardless of blanks around them.
    fn similarity(&self, other: &Line<'_>) -> f64 {
        if self.trimmed == other.trimmed {
            return 1.0;
        }
        let total = self.bigrams.len() + other.bigrams.len();
        let (mut same, mut at) = (0_usize, 0);
        for pair in &self.bigrams {
            while other.bigrams.get(at).is_some_and(|next| next < pair) {
                at += 1;
            }
            if other.bigrams.get(at) == Some(pair) {
                same += 1;
                at += 1;
            }
        }
        let similarity = 2.0 * same as f64 / total.max(1) as f64;
        // Never as good as the same line.
        if similarity < MIN_SIMILARITY { 0.0 } else { 0.9 * similarity }
    }

    /// What a pair of two lines adds to the score.
    fn pair(&self, old: &Line<'_>) -> f64 {
        let similarity = self.similarity(old);
        if similarity == 0.0 {
            return -UNLIKE * GAP * (self.weight + old.weight);
        }
        let is_same = self.indentation == old.indentation;
        old.weight * similarity + if is_same { SAME_INDENTATION * old.weight } else { 0.0 }
    }
}

/// A step of an alignment.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    End,
    Pair,
    /// The line of the old text is not in the file.
    Old,
    /// The line of the file is not in the old text.
    File,
}

/// For every line of the old text and of the file, the best score of all that begin there.
struct Scores {
    files: usize,
    olds: usize,
    /// By the old line, then by the line of the file.
    best: Vec<(f64, Step)>,
    /// What all lines of the old text weigh.
    weight: f64,
}

impl Scores {
    fn new(file: &[&[u8]], old: &[&str]) -> Scores {
        let files: Vec<Line<'_>> = file.iter().map(|line| Line::new(line)).collect();
        let olds: Vec<Line<'_>> = old.iter().map(|line| Line::new(line.as_bytes())).collect();
        let weight = olds.iter().filter(|line| !line.is_placeholder).map(|line| line.weight).sum();
        let (rows, columns) = (olds.len() + 1, files.len() + 1);
        let mut best = vec![(0.0, Step::End); rows * columns];
        let has_placeholder = olds.iter().any(|line| line.is_placeholder);
        let slack = files.len().saturating_sub(olds.len()) + MAX_SHIFT;
        for (row, old) in olds.iter().enumerate().rev() {
            let follows_placeholder = row
                .checked_sub(1)
                .and_then(|above| olds.get(above))
                .is_some_and(|line| line.is_placeholder);
            for column in (0..columns).rev() {
                let at = |row: usize, column: usize| {
                    best.get(row * columns + column).map_or(0.0, |(score, _): &(f64, Step)| *score)
                };
                let gap = if old.is_placeholder { 0.0 } else { GAP * old.weight };
                let mut found = (at(row + 1, column) - gap, Step::Old);
                if let Some(line) = files.get(column) {
                    let is_near = has_placeholder || column.abs_diff(row) <= slack;
                    if is_near && !old.is_placeholder {
                        let pair = line.pair(old) + at(row + 1, column + 1);
                        if pair >= found.0 {
                            found = (pair, Step::Pair);
                        }
                    }
                    // Before the first line nothing is missing, and a placeholder stands for any lines.
                    let gap = match row {
                        0 => 0.0,
                        _ if follows_placeholder => OMITTED,
                        _ => GAP * line.weight,
                    };
                    let skipped = at(row, column + 1) - gap;
                    if skipped > found.0 {
                        found = (skipped, Step::File);
                    }
                }
                if let Some(cell) = best.get_mut(row * columns + column) {
                    *cell = found;
                }
            }
        }
        Scores { files: files.len(), olds: olds.len(), best, weight }
    }

    fn score(&self) -> f64 {
        let best = self.best.first().map_or(0.0, |(score, _)| *score);
        (best / self.weight.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
    }

    fn pairs(&self) -> Vec<Pair> {
        let (mut row, mut column) = (0, 0);
        let mut pairs = Vec::with_capacity(self.olds);
        while row < self.olds {
            let step = self.best.get(row * (self.files + 1) + column).map(|(_, step)| *step);
            let (file, old) = match step {
                Some(Step::Pair) => (Some(column), Some(row)),
                Some(Step::File) => (Some(column), None),
                _ => (None, Some(row)),
            };
            // Lines of the file above the first one that is like an old line.
            if old.is_some() || row > 0 {
                pairs.push(Pair { file, old });
            }
            row += usize::from(old.is_some());
            column += usize::from(file.is_some());
        }
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the file, from 1, with `+` before those that the old text lacks, and `-` for old
    /// lines that the file lacks.
    fn aligned(file: &str, old: &str) -> String {
        let file: Vec<&[u8]> = file.lines().map(str::as_bytes).collect();
        let old: Vec<&str> = old.lines().collect();
        let shown = align(&file, &old).pairs.into_iter().map(|pair| match (pair.file, pair.old) {
            (Some(at), Some(_)) => (at + 1).to_string(),
            (Some(at), None) => format!("+{}", at + 1),
            (None, _) => "-".to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    const FILE: &str = "fn one() {\n    first();\n\n    second();\n    third();\n}\n\nfn two() {\n    \
                        first();\n    fourth();\n}\n";

    #[test]
    fn lines_may_differ_be_missing_or_be_too_many() {
        // (old text, lines)
        let table = [
            ("    second();\n    third();\n", "4 5"),
            ("    secnod();\n    third();\n", "4 5"),
            ("    first();\n    second();\n    third();\n", "2 +3 4 5"),
            ("    first();\n\n    third();\n", "2 3 +4 5"),
            ("    second();\n    invented(here);\n    third();\n", "4 - 5"),
            ("fn two() {\n    first();\n    forth();\n", "8 9 10"),
            ("fn two() {\n    unlike;\n    fourth();\n", "8 9 10"),
        ];
        for (old, lines) in table {
            assert_eq!(aligned(FILE, old), lines, "{old}");
        }
    }

    #[test]
    fn a_placeholder_stands_for_any_lines() {
        assert_eq!(aligned(FILE, "fn one() {\n...\n    third();\n"), "1 - +2 +3 +4 5");
        assert_eq!(aligned(FILE, "\n...\n    fourth();\n"), "7 - +8 +9 10");
        assert_eq!(aligned(FILE, "fn one() {\n    // ...\n    fourth();\n}\n"), {
            "1 - +2 +3 +4 +5 +6 +7 +8 +9 10 11"
        });
    }

    #[test]
    fn the_score_says_how_much_is_there() {
        let score = |old: &str| {
            let file: Vec<&[u8]> = FILE.lines().map(str::as_bytes).collect();
            align(&file, &old.lines().collect::<Vec<_>>()).score
        };
        assert!(score("fn two() {\n    first();\n    fourth();\n") > 0.99);
        let missing = score("fn one() {\n    third();\n");
        assert!(missing > 0.8 && missing < 0.9, "{missing}");
        assert!(score("nothing like it\n") < 0.1);
        assert!(score("") < 0.01);
    }
}
