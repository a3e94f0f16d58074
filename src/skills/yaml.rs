//! YAML as far as front matter needs it: scalars, lists and mappings, each scalar by its text.
//!
//! Anchors, aliases and tags are refused when they are met, so that no text can stand for more
//! than it is; so are doubled keys and deep nesting.

use std::fmt;
use std::str::Chars;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use serde_json::{Map, Number, Value};

use crate::skills::shown::shown;

/// The most levels of lists and mappings.
const MAX_DEPTH: usize = 16;

/// The most keys of one mapping.
const MAX_KEYS: usize = 1000;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    /// The text of a scalar; whether it stands there without quotes, so that it may mean a
    /// truth value or nothing.
    Scalar {
        text: String,
        is_plain: bool,
    },
    List(Vec<Node>),
    Mapping(Mapping),
}

/// Keys and values in their order.
pub(super) type Mapping = Vec<(String, Node)>;

/// What was read.
#[derive(Debug, PartialEq)]
pub(super) struct Document {
    pub(super) fields: Mapping,
    /// The first line with a list or mapping in brackets, if there is one.
    pub(super) flow_line: Option<usize>,
}

/// Why a text cannot be read.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    /// The line, from 1.
    pub(super) line: usize,
    pub(super) reason: String,
    /// Whether it is no YAML, rather than YAML that is not wanted.
    pub(super) is_syntax: bool,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl Node {
    /// The value for programs. Numbers stay texts, so that `1.0` keeps its form; `true`, `false`
    /// and `null` are what they mean.
    pub(super) fn into_json(self) -> Value {
        match self {
            Node::List(items) => items.into_iter().map(Node::into_json).collect(),
            Node::Mapping(fields) => Value::Object(
                fields
                    .into_iter()
                    .map(|(key, node)| (key, node.into_json()))
                    .collect::<Map<_, _>>(),
            ),
            Node::Scalar { text, is_plain: false } => Value::String(text),
            Node::Scalar { text, is_plain: true } => match text.as_str() {
                "true" | "True" | "TRUE" => Value::Bool(true),
                "false" | "False" | "FALSE" => Value::Bool(false),
                "" | "~" | "null" | "Null" | "NULL" => Value::Null,
                _ => Value::String(text),
            },
        }
    }

    /// The value with the types of YAML: numbers without quotes are numbers.
    pub(super) fn typed(&self) -> Value {
        match self {
            Node::List(items) => items.iter().map(Node::typed).collect(),
            Node::Mapping(fields) => {
                let typed = fields.iter().map(|(key, node)| (key.clone(), node.typed()));
                Value::Object(typed.collect())
            }
            Node::Scalar { text, is_plain } => {
                let number = number(text).filter(|_| *is_plain);
                number.unwrap_or_else(|| self.clone().into_json())
            }
        }
    }

    /// The text of a scalar that means something.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Node::Scalar { text, is_plain } => {
                let is_null = matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL");
                (!(is_null && *is_plain)).then_some(text)
            }
            _ => None,
        }
    }
}

/// A number in the form of YAML 1.2, as far as JSON has it.
fn number(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let looks_like_one = digits
        .starts_with(|letter: char| letter.is_ascii_digit() || letter == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit());
    let radix = |prefix: &str, radix| {
        let number = text.strip_prefix(prefix)?;
        i64::from_str_radix(number, radix).ok().filter(|_| !number.starts_with(['-', '+']))
    };
    let whole = text.parse::<i64>().ok().or_else(|| radix("0x", 16)).or_else(|| radix("0o", 8));
    let whole = whole.map(Value::from);
    let broken = || Some(Value::Number(Number::from_f64(text.parse::<f64>().ok()?)?));
    whole.or_else(broken).filter(|_| looks_like_one)
}

/// Reads a text that holds one mapping, or nothing.
pub(super) fn parse(yaml: &str) -> Result<Document, Fault> {
    let mut builder = Builder { letters: Letters::new(yaml), open: Vec::new(), flow_line: None };
    let mut root = None;
    for event in Parser::new_from_str(yaml) {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        let line = span.start.line().max(1);
        if let Some(node) = builder.take(event, span)?
            && root.replace(node).is_some()
        {
            return Err(unwanted(line, "there is a second document"));
        }
    }
    let fields = match root {
        None => Vec::new(),
        Some(Node::Mapping(fields)) => fields,
        Some(node) if node.text().is_none() && matches!(node, Node::Scalar { .. }) => Vec::new(),
        Some(_) => return Err(unwanted(1, "it is not a list of `key: value`")),
    };
    Ok(Document { fields, flow_line: builder.flow_line })
}

fn syntax(error: &ScanError) -> Fault {
    let reason = error.info().to_owned();
    Fault { line: error.marker().line().max(1), reason, is_syntax: true }
}

fn unwanted(line: usize, reason: impl Into<String>) -> Fault {
    Fault { line, reason: reason.into(), is_syntax: false }
}

/// Puts events together, without recursion.
struct Builder<'a> {
    letters: Letters<'a>,
    open: Vec<Open>,
    flow_line: Option<usize>,
}

/// A list or mapping whose end is still to come.
enum Open {
    List(Vec<Node>),
    /// The key whose value is still to come.
    Mapping(Mapping, Option<String>),
}

impl Builder<'_> {
    /// Takes an event, and returns the root when it is complete.
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<Option<Node>, Fault> {
        let line = span.start.line().max(1);
        match event {
            Event::Alias(_) => Err(unwanted(line, "an alias (`*name`) is not allowed")),
            Event::Scalar(text, style, anchor, tag) => {
                refuse(anchor, tag.as_deref(), line)?;
                let is_plain = style == ScalarStyle::Plain;
                self.close(Node::Scalar { text: text.into_owned(), is_plain }, line)
            }
            Event::SequenceStart(anchor, tag) => {
                refuse(anchor, tag.as_deref(), line)?;
                self.begin(Open::List(Vec::new()), '[', span)
            }
            Event::MappingStart(anchor, tag) => {
                refuse(anchor, tag.as_deref(), line)?;
                self.begin(Open::Mapping(Vec::new(), None), '{', span)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List(items)) => self.close(Node::List(items), line),
                Some(Open::Mapping(fields, _)) => self.close(Node::Mapping(fields), line),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn begin(&mut self, open: Open, bracket: char, span: Span) -> Result<Option<Node>, Fault> {
        let line = span.start.line().max(1);
        if self.open.len() >= MAX_DEPTH {
            let reason = format!("it is nested more than {MAX_DEPTH} levels deep");
            return Err(unwanted(line, reason));
        }
        if self.letters.at(span.start.index()) == Some(bracket) {
            self.flow_line.get_or_insert(line);
        }
        self.open.push(open);
        Ok(None)
    }

    /// Gives a complete node to what is open.
    fn close(&mut self, node: Node, line: usize) -> Result<Option<Node>, Fault> {
        match self.open.last_mut() {
            None => return Ok(Some(node)),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Mapping(fields, key)) => match (key.take(), node) {
                (Some(name), node) => fields.push((name, node)),
                (None, Node::Scalar { text, .. }) => {
                    if fields.len() >= MAX_KEYS {
                        let reason = format!("there are more than {MAX_KEYS} keys");
                        return Err(unwanted(line, reason));
                    }
                    if fields.iter().any(|(known, _)| *known == text) {
                        return Err(unwanted(line, format!("{} is there twice", shown(&text))));
                    }
                    *key = Some(text);
                }
                (None, _) => return Err(unwanted(line, "a key must be a text")),
            },
        }
        Ok(None)
    }
}

fn refuse(anchor: usize, tag: Option<&Tag>, line: usize) -> Result<(), Fault> {
    if anchor > 0 {
        return Err(unwanted(line, "an anchor (`&name`) is not allowed"));
    }
    match tag {
        Some(_) => Err(unwanted(line, "a tag (`!name`) is not allowed")),
        None => Ok(()),
    }
}

/// The letters of a text, asked for in rising order.
struct Letters<'a> {
    rest: Chars<'a>,
    next: usize,
}

impl<'a> Letters<'a> {
    fn new(text: &'a str) -> Letters<'a> {
        Letters { rest: text.chars(), next: 0 }
    }

    fn at(&mut self, index: usize) -> Option<char> {
        let ahead = index.checked_sub(self.next)?;
        let letter = self.rest.clone().nth(ahead);
        // One letter may be asked for twice: a list may begin where its first item does.
        self.rest.by_ref().take(ahead).for_each(drop);
        self.next = index;
        letter
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(yaml: &str) -> Value {
        Node::Mapping(parse(yaml).unwrap().fields).into_json()
    }

    #[test]
    fn scalars_keep_their_text_and_truth_values_their_meaning() {
        let texts = [
            ("version: 1.0", json!({ "version": "1.0" })),
            ("a: 007\nb: 1e3\nc: no", json!({ "a": "007", "b": "1e3", "c": "no" })),
            (
                "a: true\nb: 'true'\nc: null\nd:",
                json!({ "a": true, "b": "true", "c": null, "d": null }),
            ),
            ("a: \"x\\ty\"\nb: 'it''s'", json!({ "a": "x\ty", "b": "it's" })),
            (
                "a: >\n  one\n  two\n\n  three\nb: |\n  x\n  y",
                json!({ "a": "one two\nthree\n", "b": "x\ny\n" }),
            ),
            ("a: one\n  two", json!({ "a": "one two" })),
            ("a:\r\n  - x\r\n  - y\r\n", json!({ "a": ["x", "y"] })),
            ("a: [x, y]\nb: {c: d}", json!({ "a": ["x", "y"], "b": { "c": "d" } })),
            ("a: x # why\n# b: y", json!({ "a": "x" })),
            ("", json!({})),
            ("# nothing\n", json!({})),
        ];
        for (yaml, wanted) in texts {
            assert_eq!(read(yaml), wanted, "{yaml:?}");
        }
    }

    #[test]
    fn numbers_are_numbers_where_the_types_count() {
        let yaml = "a: 1.0\nb: 007\nc: -1e3\nd: 0x1F\ne: 0o17\nf: '1'\ng: 1.2.3\nh: .5\ni: .inf\nj: 1_0\nk: [1, x]";
        let typed = Node::Mapping(parse(yaml).unwrap().fields).typed();
        let wanted = json!({
            "a": 1.0, "b": 7, "c": -1000.0, "d": 31, "e": 15, "f": "1", "g": "1.2.3", "h": 0.5,
            "i": ".inf", "j": "1_0", "k": [1, "x"],
        });
        assert_eq!(typed, wanted);
    }

    #[test]
    fn what_front_matter_does_not_need_is_refused() {
        let texts = [
            ("a: &x b", "line 1: an anchor (`&name`) is not allowed"),
            ("a: &x [b]", "line 1: an anchor (`&name`) is not allowed"),
            ("a: !!str b", "line 1: a tag (`!name`) is not allowed"),
            ("a: b\na: c", "line 2: `a` is there twice"),
            ("x:\n  a: b\n  a: c", "line 3: `a` is there twice"),
            ("- a", "line 1: it is not a list of `key: value`"),
            ("a", "line 1: it is not a list of `key: value`"),
            ("? [a]\n: b", "line 1: a key must be a text"),
            ("a: b\n...\nc: d", "line 4: there is a second document"),
        ];
        for (yaml, wanted) in texts {
            let fault = parse(yaml).unwrap_err();
            assert_eq!(fault.to_string(), wanted, "{yaml:?}");
            assert!(!fault.is_syntax);
        }
        assert!(parse("a: b: c").unwrap_err().is_syntax);
        assert!(parse("a: [b").unwrap_err().is_syntax);
    }

    #[test]
    fn brackets_are_noticed_where_they_are_no_text() {
        let lines = [
            ("a: [b]", Some(1)),
            ("ä: ö\nb: {}", Some(2)),
            ("a:\n  - b\n  - {c: d}", Some(3)),
            ("a:\n- - b\n- c", None),
            ("a: 'x [b]'\nb:\n  c: d", None),
        ];
        for (yaml, line) in lines {
            assert_eq!(parse(yaml).unwrap().flow_line, line, "{yaml:?}");
        }
    }

    /// Row H4.
    #[test]
    fn h4_texts_that_would_grow_are_refused_at_once() {
        let many = (0..13_000).map(|key| format!("{key}:\n")).collect::<Vec<_>>().concat();
        let bomb = format!("a: &a [x, x]\n{}", "b: &b [*a, *a]\n".repeat(20));
        let texts = [
            "[".repeat(60_000),
            format!("a: {}", "[".repeat(60_000)),
            bomb,
            many,
            "- ".repeat(30_000),
        ];
        for yaml in texts {
            let began = std::time::Instant::now();
            parse(&yaml).unwrap_err();
            // Generous for a loaded machine: a text that grows takes minutes.
            assert!(began.elapsed().as_secs() < 5, "{:?}", yaml.get(..20));
        }
    }
}
