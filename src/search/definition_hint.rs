//! Lines behind the end of a page that define what was searched for, so that a search for the name of
//! a type or function shows its definition even if many uses come first.

use schemars::JsonSchema;
use serde::Serialize;

use crate::search::lines::FileMatches;
use ripkit_fs::escape;

/// The maximum number of definitions in a report.
const MAX_DEFINITIONS: usize = 3;

/// Words that stand before the name that they define.
const KEYWORDS: [&str; 24] = [
    "class",
    "def",
    "defmodule",
    "enum",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro_rules!",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "protocol",
    "record",
    "struct",
    "sub",
    "trait",
    "type",
    "typedef",
    "union",
];

/// A line that is not shown and defines what matched in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct DefinitionLine {
    /// The path of the file.
    pub path: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// The line; of a long one a window around the match.
    pub text: String,
}

/// Collects definitions, in the order in which files come.
#[derive(Clone, Debug, Default)]
pub(super) struct DefinitionHint {
    lines: Vec<DefinitionLine>,
}

impl DefinitionHint {
    /// Adds the definitions among the matching lines of a file behind the first `shown`.
    pub(super) fn add(&mut self, file: &FileMatches, shown: usize) {
        for line in file.matches().skip(shown) {
            if self.lines.len() == MAX_DEFINITIONS {
                return;
            }
            if line.spans.iter().any(|span| is_defined(&line.text, *span)) {
                let (path, text) = (file.path.clone(), line.text.trim().to_owned());
                self.lines.push(DefinitionLine { path, line: line.line, text });
            }
        }
    }

    pub(super) fn into_lines(self) -> Vec<DefinitionLine> {
        self.lines
    }
}

impl DefinitionLine {
    /// The line of a text answer.
    pub(super) fn text(&self) -> String {
        format!("Defined in {}:{}: {}", escape::display_text(&self.path), self.line, self.text)
    }
}

/// Whether the match is a whole name behind a word that defines one.
fn is_defined(text: &str, [start, end]: [usize; 2]) -> bool {
    let (Some(before), Some(name)) = (text.get(..start), text.get(start..end)) else {
        return false;
    };
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    let after = text.get(end..).and_then(|after| after.chars().next());
    let is_name = !name.is_empty() && name.chars().all(is_part) && !after.is_some_and(is_part);
    let keyword = before.trim_end();
    let word = keyword.rsplit(|letter: char| letter.is_whitespace() || letter == '(').next();
    is_name
        && keyword.len() < before.len()
        && word.is_some_and(|word| KEYWORDS.binary_search(&word).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_defined_behind_a_word_that_defines() {
        assert!(KEYWORDS.is_sorted());
        let cases = [
            ("pub(crate) struct Token<'src> {", true),
            ("  def Token(self):", true),
            ("export default class Token extends Base {", true),
            ("macro_rules! Token {", true),
            ("type Token = string", true),
            ("func Token() {", true),
            ("impl Token {", false),
            ("struct Tokens {", false),
            ("struct MyToken {", false),
            ("structToken", false),
            ("let x: Token = struct", false),
            ("// the struct  Token", true),
        ];
        for (text, expected) in cases {
            let start = text.find("Token").unwrap();
            assert_eq!(is_defined(text, [start, start + "Token".len()]), expected, "{text}");
        }
        assert!(!is_defined("fn a b", [3, 6]), "not a name");
        assert!(!is_defined("fn é", [4, 9]), "spans of another text");
    }
}
