//! Placeholder lines such as `// ... existing code ...`, which models write in place of omitted
//! text.
//!
//! Models abbreviate the files they write with such comments; written to disk as they are, they
//! would delete the omitted text. A line is a placeholder only if its comment contains nothing but
//! the statement that text is omitted. Any other comment is ordinary, and `...` outside a comment
//! is code or prose.

use std::collections::HashSet;

use crate::text::decode;

/// The openers of comments that end with the line.
const LINE_COMMENTS: [&str; 5] = ["//", "#", "--", ";", "%"];

/// Openers and closers of other comments. Longer openers come before their own prefixes.
const BLOCK_COMMENTS: [(&str, &str); 11] = [
    ("{/*", "*/}"),
    ("<!--", "-->"),
    ("<%--", "--%>"),
    ("{{!--", "--}}"),
    ("{{--", "--}}"),
    ("{#", "#}"),
    ("--[[", "]]"),
    ("(*", "*)"),
    ("{-", "-}"),
    ("@*", "*@"),
    ("/*", "*/"),
];

/// Extensions of prose, in which `#` begins a heading and fenced blocks contain examples, which are
/// often abbreviated on purpose.
const PROSE: [&str; 8] = ["md", "mdx", "markdown", "rst", "adoc", "asciidoc", "txt", "org"];

/// The maximum length of a placeholder line, in bytes.
const MAX_LINE: usize = 300;

/// Words that are placeholders on their own, without naming the omitted text.
const LONE_STATES: [&str; 6] = ["unchanged", "unmodified", "omitted", "elided", "snip", "brevity"];

/// The maximum length of a placeholder that consists of dots, in bytes; longer ones are dotted
/// lines.
const MAX_DOTS: usize = 8;

/// A line in place of omitted text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placeholder<'a> {
    /// The number of the line, from 1.
    pub(crate) line: usize,
    /// The line without surrounding whitespace.
    pub(crate) text: &'a str,
}

/// The first placeholder of `new` that is not already a line of one of the `old` texts, regardless
/// of indentation. The `path` is only used to distinguish prose from code.
pub(crate) fn first_added<'a>(new: &'a str, old: &[&[u8]], path: &str) -> Option<Placeholder<'a>> {
    let mut found = placeholders(new, is_prose(path)).peekable();
    found.peek()?;
    let old: Vec<String> = old.iter().map(|text| decoded(text)).collect();
    let known: HashSet<&str> = old.iter().flat_map(|text| text.lines()).map(str::trim).collect();
    found.find(|found| !known.contains(found.text))
}

/// Whether a placeholder that was found in a part of a new text is one in `whole` too: in prose it may stand in
/// an example, whose fence is not in the part.
pub(crate) fn is_in_whole(whole: &[u8], old: &[&[u8]], path: &str) -> bool {
    first_added(&decoded(whole), old, path).is_some()
}

fn decoded(bytes: &[u8]) -> String {
    let mut utf8 = String::new();
    String::from_utf8_lossy(decode::text(bytes, &mut utf8)).into_owned()
}

/// Whether the name of the file says that it is prose.
pub(crate) fn is_prose(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let Some((_, extension)) = name.rsplit_once('.') else { return false };
    PROSE.iter().any(|known| known.eq_ignore_ascii_case(extension))
}

fn placeholders(text: &str, prose: bool) -> impl Iterator<Item = Placeholder<'_>> {
    let lines = || text.lines().map(str::trim);
    let next = lines().skip(1).chain([""]);
    let mut fence = None;
    let mut before = "";
    lines().zip(next).enumerate().filter_map(move |(index, (line, next))| {
        let before = std::mem::replace(&mut before, line);
        if prose && is_fenced(line, &mut fence) {
            return None;
        }
        let found = Line { text: line, before, next, prose }.is_placeholder();
        found.then_some(Placeholder { line: index + 1, text: line })
    })
}

/// Whether a line of prose begins, ends or belongs to a fenced block.
fn is_fenced(line: &str, fence: &mut Option<&'static str>) -> bool {
    let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
    match (*fence, mark) {
        (None, None) => return false,
        (None, Some(_)) => *fence = mark,
        (Some(open), Some(mark)) if open == mark => *fence = None,
        _ => {}
    }
    true
}

/// A line and its neighbours, all trimmed.
struct Line<'a> {
    text: &'a str,
    before: &'a str,
    next: &'a str,
    prose: bool,
}

impl Line<'_> {
    fn is_placeholder(&self) -> bool {
        let line = self.text;
        if line.is_empty() || line.len() > MAX_LINE {
            return false;
        }
        if let Some((opener, text)) = comment(line) {
            let is_heading = self.prose && LINE_COMMENTS.contains(&opener) && opener != "//";
            let phrase = Phrase::of(text);
            return !is_heading
                && phrase.stands_for_text()
                && !(phrase.words.is_empty() && self.is_in_comment(opener))
                && (phrase.is_marked() || !self.is_in_sentence(opener, text));
        }
        // Documentation comments show examples.
        if line.starts_with("///") || line.starts_with("//!") {
            return false;
        }
        stands_alone(line) || !self.prose && is_after_code(line)
    }

    /// Whether a comment without an ellipsis is part of a sentence over several lines:
    /// "only the header is rewritten; / the rest of the file is unchanged".
    fn is_in_sentence(&self, opener: &str, text: &str) -> bool {
        let continues = |text: &str| text.trim().starts_with(char::is_lowercase);
        neighbour(self.before, opener).is_some() && continues(text)
            || neighbour(self.next, opener).is_some_and(continues)
    }

    /// Whether a comment of dots is between other comments, as in examples and commented-out code.
    fn is_in_comment(&self, opener: &str) -> bool {
        [self.before, self.next].into_iter().all(|line| neighbour(line, opener).is_some())
    }
}

/// The text of a neighbouring comment of the same kind.
fn neighbour<'a>(line: &'a str, opener: &str) -> Option<&'a str> {
    let (other, text) = comment(line)?;
    (other == opener && !text.trim().is_empty()).then_some(text)
}

/// The opener and the text of a line that consists of a comment.
fn comment(line: &str) -> Option<(&'static str, &str)> {
    for (opener, closer) in BLOCK_COMMENTS {
        if let Some(text) = line.strip_prefix(opener) {
            let (text, rest) = text.split_once(closer).unwrap_or((text, ""));
            return rest.trim().is_empty().then_some((opener, text));
        }
    }
    if line.starts_with("///") || line.starts_with("//!") {
        return None;
    }
    let opener = LINE_COMMENTS.into_iter().find(|opener| line.starts_with(opener))?;
    let first = opener.chars().next()?;
    Some((opener, line.trim_start_matches(first)))
}

/// Whether a line that is not a comment is a placeholder: `... existing code ...`,
/// `[rest of the file unchanged]`. Code also begins with dots or brackets, so only space-separated
/// words count.
fn stands_alone(line: &str) -> bool {
    let phrase = Phrase::of(line);
    let is_code = line.contains(['=', ';', '"', '\'', '`', '{', '|'])
        || line.split_whitespace().any(|word| word.trim_matches(['.', ',']).contains([',', '.']));
    if is_code || phrase.words.len() < 2 || phrase.unknown > 0 {
        return false;
    }
    if phrase.leading {
        return phrase.names_text() || phrase.is_left_as_it_was();
    }
    phrase.bracketed
        && (phrase.is_plain_placeholder() && phrase.words.len() > 2
            || phrase.names_text() && phrase.has(&["here", "unchanged"]))
}

/// Whether a comment after code, or between braces, is a placeholder.
fn is_after_code(line: &str) -> bool {
    let openers = ["//", "#", "{/*", "/*", "<!--"];
    let places = openers.into_iter().filter_map(|opener| Some((line.find(opener)?, opener)));
    let Some((place, _)) = places.min_by_key(|(place, _)| *place) else { return false };
    let Some((code, rest)) = line.split_at_checked(place) else { return false };
    let is_in_text = ['"', '\'', '`'].iter().any(|quote| code.matches(*quote).count() % 2 == 1);
    let is_apart = code.ends_with([' ', '\t', '{', '>', '(', '[', ';', ',']);
    if is_in_text || !is_apart {
        return false;
    }
    let block = BLOCK_COMMENTS
        .into_iter()
        .find_map(|(opener, closer)| rest.strip_prefix(opener)?.split_once(closer));
    let (text, after) = block.unwrap_or((rest.trim_start_matches(['/', '#']), ""));
    let phrase = Phrase::of(text);
    if phrase.words.is_empty() {
        // The body of a function, not an unnamed argument.
        return phrase.leading
            && code.trim_end().ends_with('{')
            && after.trim_start().starts_with('}');
    }
    if matches!(code.trim(), "..." | "pass") {
        return phrase.stands_for_text();
    }
    phrase.leading && phrase.unknown == 0 && (phrase.names_text() || phrase.is_left_as_it_was())
}

/// The meaning of a word in a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// All text that follows: `rest`.
    Rest,
    /// Text that already exists: `existing`.
    Kept,
    /// A part of a program that programs rarely process themselves: `imports`.
    Core,
    /// Any part of a text: `lines`.
    Part,
    /// Not shown or not changed: `omitted`.
    State,
    /// `remains`.
    Stays,
    /// Function words between these.
    Glue,
    /// Any other word.
    Unknown,
}

impl Meaning {
    fn of(word: &str) -> Meaning {
        match word {
            "rest" | "remainder" | "remaining" | "everything" => Meaning::Rest,
            "existing" | "pre-existing" | "preexisting" | "previous" | "original" | "prior"
            | "current" | "other" | "others" | "old" | "earlier" | "same" => Meaning::Kept,
            "code" | "implementation" | "implementations" | "file" | "function" | "functions"
            | "method" | "methods" | "class" | "classes" | "component" | "components"
            | "script" | "module" | "import" | "imports" | "exports" | "logic" | "body"
            | "program" | "jsx" | "html" | "css" | "markup" | "template" | "handlers"
            | "routes" | "styles" | "tests" | "document" => Meaning::Core,
            "content" | "contents" | "line" | "lines" | "section" | "sections" | "block"
            | "blocks" | "part" | "parts" | "definition" | "definitions" | "declaration"
            | "declarations" | "statement" | "statements" | "field" | "fields" | "property"
            | "properties" | "props" | "variable" | "variables" | "constant" | "constants"
            | "type" | "types" | "interface" | "interfaces" | "struct" | "structs" | "enum"
            | "enums" | "case" | "cases" | "rule" | "rules" | "config" | "configuration"
            | "setting" | "settings" | "option" | "options" | "entries" | "items" | "elements"
            | "attributes" | "state" | "hooks" | "helper" | "helpers" | "endpoints" | "route"
            | "handler" | "test" | "style" | "text" | "stuff" | "page" | "view" | "layout"
            | "setup" | "initialization" | "constructor" | "constructors" | "details"
            | "dependencies" | "scripts" | "commands" | "queries" | "columns" | "rows" => {
                Meaning::Part
            }
            "unchanged" | "unmodified" | "untouched" | "unaltered" | "omitted" | "elided"
            | "snip" | "snipped" | "snippet" | "truncated" | "intact" | "as-is" | "brevity" => {
                Meaning::State
            }
            "remain" | "remains" | "remained" | "stay" | "stays" | "continue" | "continues" => {
                Meaning::Stays
            }
            "the" | "of" | "this" | "your" | "all" | "any" | "and" | "in" | "to" | "from"
            | "with" | "a" | "an" | "that" | "be" | "my" | "our" | "at" | "or" | "it" | "its"
            | "for" | "on" | "not" | "no" | "exactly" | "is" | "are" | "was" | "were" | "as"
            | "clarity" | "simplicity" | "here" | "above" | "below" | "before" | "after"
            | "else" | "etc" | "more" | "goes" | "go" | "keep" | "kept" | "leave" | "left"
            | "shown" | "repeated" | "included" | "displayed" | "changes" | "change"
            | "changed" | "modified" | "still" | "will" | "up" | "same-as-before" | "insert"
            | "put" | "paste" | "completely" | "entire" | "whole" => Meaning::Glue,
            word if word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-')) => Meaning::Glue,
            _ => Meaning::Unknown,
        }
    }
}

/// The words of a comment and the dots and brackets around them.
#[derive(Debug, Default)]
struct Phrase {
    /// In lower case, without punctuation.
    words: Vec<(String, Meaning)>,
    unknown: usize,
    /// Whether dots come first.
    leading: bool,
    /// Whether no space separates the leading dots from the first word: `...rest`.
    glued: bool,
    /// Whether dots come last.
    trailing: bool,
    /// Whether brackets enclose all of it.
    bracketed: bool,
}

impl Phrase {
    fn of(text: &str) -> Phrase {
        const DOTS: &str = "...";
        let text = text.trim().replace('…', DOTS);
        let is_decoration = |letter: char| !letter.is_alphanumeric();
        let core = text.trim_matches(is_decoration);
        let Some(start) = text.find(core).filter(|_| !core.is_empty()) else {
            // Neither a dotted line nor part of a drawing.
            let is_dots = text.chars().all(|letter| "./[]() ".contains(letter));
            let dots = text.contains(DOTS) && is_dots && text.len() <= MAX_DOTS;
            return Phrase { leading: dots, trailing: dots, ..Phrase::default() };
        };
        let (before, rest) = text.split_at(start);
        let after = &rest[core.len()..];
        let is_open = |brackets: [char; 2]| {
            let [open, close] = brackets;
            before.contains(open) && after.contains(close) && !core.contains(open)
        };
        let mut phrase = Phrase {
            leading: before.contains(DOTS),
            glued: before.ends_with(DOTS),
            trailing: after.contains(DOTS),
            bracketed: is_open(['(', ')']) || is_open(['[', ']']) || is_open(['<', '>']),
            ..Phrase::default()
        };
        let words = core.split(|letter: char| letter.is_whitespace() || "/,;:&+".contains(letter));
        for word in words.map(|word| word.trim_matches(is_decoration)) {
            if !word.is_empty() {
                let word = word.to_lowercase();
                let meaning = Meaning::of(&word);
                phrase.unknown += usize::from(meaning == Meaning::Unknown);
                phrase.words.push((word, meaning));
            }
        }
        phrase
    }

    fn means(&self, meaning: Meaning) -> bool {
        self.words.iter().any(|(_, known)| *known == meaning)
    }

    fn has(&self, words: &[&str]) -> bool {
        self.words.iter().any(|(word, _)| words.contains(&word.as_str()))
    }

    /// Whether these words follow each other.
    fn runs(&self, words: &[&str]) -> bool {
        let is_run = |run: &[(String, Meaning)]| run.iter().map(|(word, _)| word).eq(words);
        self.words.windows(words.len()).any(is_run)
    }

    /// Whether dots or brackets surround the words.
    fn is_marked(&self) -> bool {
        self.leading || self.trailing || self.bracketed
    }

    /// `rest of the code`, `existing imports`.
    fn names_text(&self) -> bool {
        let is_text = self.means(Meaning::Core) || self.means(Meaning::Part);
        is_text && (self.means(Meaning::Rest) || self.means(Meaning::Kept))
    }

    /// `remains the same`, `unchanged`, `omitted for brevity`, `not shown`.
    fn is_left_as_it_was(&self) -> bool {
        let not = self.has(&["not", "no"]);
        let hidden = ["shown", "repeated", "included", "displayed", "changes", "change"];
        let changed = ["changed", "modified"];
        self.means(Meaning::State)
            || self.stays_the_same()
            || not && (self.has(&hidden) || self.has(&changed))
            || self.runs(&["as", "is"])
            || self.runs(&["as", "before"])
    }

    /// `remains the same`, `stays as it is`.
    fn stays_the_same(&self) -> bool {
        self.means(Meaning::Stays)
            && (self.has(&["same", "as"]) || self.means(Meaning::State) || self.unknown == 0)
    }

    /// Whether a comment contains nothing but the statement that text is omitted.
    fn stands_for_text(&self) -> bool {
        let (is_text, is_kept) = (self.names_text(), self.is_left_as_it_was());
        let is_core = self.means(Meaning::Core);
        if self.words.is_empty() {
            return self.leading;
        }
        match (self.leading, self.trailing) {
            (true, true) => {
                let some = is_text || is_kept || self.means(Meaning::Rest) || is_core;
                let kept = self.has(&["existing", "previous", "original", "same"]);
                self.unknown <= 6 && (some && self.unknown <= 3 || is_kept || is_text || kept)
            }
            (true, false) => {
                let closed = is_text
                    || is_kept
                    || is_core
                    || self.means(Meaning::Rest) && !(self.glued && self.words.len() == 1);
                let begins = self.words.first().is_some_and(|(word, _)| {
                    matches!(word.as_str(), "rest" | "existing" | "remaining")
                });
                match self.unknown {
                    0 => closed,
                    1 => begins || self.stays_the_same(),
                    _ => self.unknown <= 4 && (self.stays_the_same() || begins && is_kept),
                }
            }
            (false, true) => {
                let rest = self.has(&["rest", "remainder", "existing"]) && is_text;
                match self.unknown {
                    0 => rest || is_kept && (is_core || is_text) || self.is_plain_placeholder(),
                    _ => self.unknown <= 3 && self.means(Meaning::Stays) && is_core,
                }
            }
            (false, false) if self.bracketed => match self.unknown {
                0 => is_text || is_kept,
                _ => self.unknown <= 3 && self.stays_the_same() && is_core,
            },
            (false, false) => self.is_plain_placeholder() || self.is_lone_state(),
        }
    }

    /// Whether words without dots are a placeholder; the criteria are stricter.
    fn is_plain_placeholder(&self) -> bool {
        let is_core = self.means(Meaning::Core);
        let names_code = self.has(&["code", "implementation"]);
        let same = self.stays_the_same() && (self.has(&["same"]) || self.means(Meaning::State));
        if self.unknown > 0 {
            // An unknown word at the end adds information: "if the write fails".
            let names = self.words.last().is_some_and(|(_, last)| *last != Meaning::Unknown);
            let rest = self.runs(&["rest", "of"]) && self.unknown <= 12;
            return same && is_core && (names && self.unknown <= 2 || rest);
        }
        let all = self.means(Meaning::Rest) || self.has(&["other", "others", "existing"]);
        let is_same = self.has(&["is", "are", "as"]) && self.has(&["same"]);
        let is_kept = self.is_left_as_it_was() || is_same && all;
        let is_object = self.has(&["file", "document"]) && !all;
        self.is_rest_of_code()
            || self.has(&["remaining", "existing"]) && names_code
            || self.has(&["previous", "original", "same", "old", "other"])
                && names_code
                && (self.has(&["here", "below", "before", "goes"]) || is_kept)
            || is_kept && (all || is_core && !is_object)
            || self.has(&["keep", "leave"]) && all && self.words.len() > 2
    }

    /// `rest of the code`, `rest of your file here`, and nothing after that.
    fn is_rest_of_code(&self) -> bool {
        let rest = self.words.iter().position(|(word, _)| word == "rest" || word == "remainder");
        let after = rest.and_then(|rest| self.words.get(rest + 1..)).unwrap_or_default();
        let Some(((of, _), noun)) = after.split_first() else { return false };
        let is_end = |(word, meaning): &(String, Meaning)| {
            *meaning == Meaning::Core || matches!(word.as_str(), "here" | "below" | "goes")
        };
        of == "of" && noun.len() <= 4 && noun.last().is_some_and(is_end)
    }

    /// `unchanged`, `omitted for brevity`, `no changes here`, without naming the omitted text.
    fn is_lone_state(&self) -> bool {
        if self.words.len() == 3 && self.runs(&["no", "changes"]) {
            return self.has(&["here", "below", "above"]);
        }
        let is_state = self.unknown == 0 && self.has(&LONE_STATES);
        is_state
            && !self.means(Meaning::Part)
            && !self.means(Meaning::Core)
            && self.words.len() <= 4
    }
}

#[cfg(test)]
mod tests;
