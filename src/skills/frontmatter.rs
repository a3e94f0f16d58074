//! The front matter of a SKILL.md: the fields of the standard, and all others as they are.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode};
use crate::skills::fence::Block;
use crate::skills::finding::Finding;
use crate::skills::repair::Repaired;
use crate::skills::shown::shown;
use crate::skills::yaml::{Document, Fault, Mapping, Node};
use crate::skills::{repair, yaml};

/// How many values may lack quotes.
const MAX_REPAIRS: usize = 16;

/// What a SKILL.md says about itself.
///
/// ```
/// let text = "---\nname: fix-tests\ndescription: Fix failing tests.\n---\n# How\n";
/// let mut reader = text.as_bytes();
/// let (frontmatter, body_offset) = ripkit::skills::parse_frontmatter(&mut reader)?;
/// assert_eq!(frontmatter.name, "fix-tests");
/// assert_eq!((body_offset, reader), (56, "# How\n".as_bytes()));
/// # Ok::<(), ripkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Frontmatter {
    /// The name; empty if there is none.
    pub name: String,
    /// What the skill does and when to use it; empty if there is none.
    pub description: String,
    /// Words to find it by, which the standard does not know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The version as it is written, which the standard does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// What the skill needs to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    /// The tools that the skill may use without asking, such as `Bash(git:*)`.
    #[serde(rename = "allowed-tools", skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
    /// Further keys and values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// All other fields in their order. Numbers are texts, so that `1.0` keeps its form.
    #[serde(flatten)]
    pub others: Map<String, Value>,
    #[serde(skip)]
    pub(super) fields: Map<String, Value>,
}

/// Reads the front matter at the top of a SKILL.md, and returns it with the place where the body
/// begins, in bytes.
///
/// The reader is left at that place: the body is not read. Blank lines and a byte order mark may
/// come first. Quotes that a colon in a value needs may be missing. Missing fields are no error
/// here: [`Frontmatter::validate`] tells of them.
///
/// # Errors
/// `NO_FRONTMATTER` if the first line that is not blank is not `---`, `UNTERMINATED_FRONTMATTER`
/// if no such line follows within 64 KiB, `INVALID_FRONTMATTER` for what is no YAML mapping in
/// UTF-8, or has anchors, aliases, tags or doubled keys; failures to read.
pub fn parse_frontmatter(reader: &mut impl BufRead) -> Result<(Frontmatter, u64), Error> {
    Parsed::read(reader).map(|parsed| (parsed.frontmatter, parsed.body_offset))
}

impl Frontmatter {
    /// All fields in their order, with the types of YAML: `1.0` is a number here.
    pub fn fields(&self) -> &Map<String, Value> {
        &self.fields
    }
}

/// Front matter with all that was noticed while it was read.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) frontmatter: Frontmatter,
    pub(super) body_offset: u64,
    /// The line at which the body begins, from 1.
    pub(super) body_line: u64,
    pub(super) findings: Vec<Finding>,
}

impl Parsed {
    pub(super) fn read(reader: &mut impl BufRead) -> Result<Parsed, Error> {
        let block = Block::read(reader)?;
        let mut findings = Vec::new();
        let document = document(&block, &mut findings)?;
        if block.has_mark {
            findings.push(Finding::portability("the file begins with a byte order mark"));
        }
        if block.lines_before > 1 {
            findings.push(Finding::portability("the file begins with a blank line"));
        }
        if let Some(line) = document.flow_line {
            let line = line + block.lines_before;
            let message = format!("line {line}: a list or mapping in brackets");
            findings.push(Finding::portability(message));
        }
        let frontmatter = Fields { findings: &mut findings }.read(document.fields);
        Ok(Parsed { frontmatter, body_offset: block.end, body_line: block.lines + 1, findings })
    }
}

/// Reads the YAML, with quotes round one value after the other where they are missing.
fn document(block: &Block, findings: &mut Vec<Finding>) -> Result<Document, Error> {
    let mut yaml = Cow::Borrowed(block.yaml.as_str());
    for _ in 0..=MAX_REPAIRS {
        let read = yaml::parse(&yaml);
        let Some(repaired) = repaired(&yaml, &read) else {
            return read.map_err(|fault| unreadable(&fault, block));
        };
        let key = shown(&repaired.key);
        let message = format!("{key} needs quotes; read as if it had them");
        findings.push(Finding::violation(ErrorCode::InvalidFrontmatter, message));
        yaml = Cow::Owned(repaired.yaml);
    }
    yaml::parse(&yaml).map_err(|fault| unreadable(&fault, block))
}

/// The next repair, if one is needed and possible.
fn repaired(yaml: &str, read: &Result<Document, Fault>) -> Option<Repaired> {
    match read {
        Err(fault) if fault.is_syntax => repair::quote_near(yaml, fault.line),
        Err(_) => None,
        // `description:` with `Use when: asked` on the next line is a mapping by mistake.
        Ok(document) => {
            let is_mapping = |(key, node): &&(String, Node)| {
                key == "description" && matches!(node, Node::Mapping(_))
            };
            let (key, _) = document.fields.iter().find(is_mapping)?;
            repair::quote_field(yaml, key)
        }
    }
}

fn unreadable(fault: &Fault, block: &Block) -> Error {
    let line = fault.line + block.lines_before;
    let message = format!("line {line}: the front matter cannot be read: {}", fault.reason);
    Error::new(ErrorCode::InvalidFrontmatter, message)
}

/// Makes fields of nodes, and notes what does not fit.
struct Fields<'a> {
    findings: &'a mut Vec<Finding>,
}

impl Fields<'_> {
    fn read(&mut self, fields: Mapping) -> Frontmatter {
        let mut read = Frontmatter::default();
        for (key, node) in fields {
            read.fields.insert(key.clone(), node.typed());
            match key.as_str() {
                "name" => read.name = self.text(&key, &node).unwrap_or_default(),
                "description" => read.description = self.text(&key, &node).unwrap_or_default(),
                "version" => read.version = self.text(&key, &node),
                "license" => read.license = self.text(&key, &node),
                "compatibility" => read.compatibility = self.text(&key, &node),
                "tags" => read.tags = self.words(&key, node),
                "allowed-tools" => read.allowed_tools = self.words(&key, node),
                "metadata" => read.metadata = self.texts(&key, node),
                _ => {
                    read.others.insert(key, node.into_json());
                }
            }
        }
        read
    }

    fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        if !matches!(node, Node::Scalar { .. }) {
            let message = format!("{key}: must be a text");
            self.findings.push(Finding::violation(ErrorCode::InvalidFrontmatter, message));
        }
        node.text().map(|text| text.trim().to_owned())
    }

    /// A list, or a text with blanks or commas between the words.
    fn words(&mut self, key: &str, node: Node) -> Vec<String> {
        if matches!(node, Node::Mapping(_)) {
            self.text(key, &node);
        }
        let Node::List(items) = node else {
            return node.text().map(split_words).unwrap_or_default();
        };
        if key == "allowed-tools" {
            let message = format!("{key}: is a list; the standard has one text with blanks");
            self.findings.push(Finding::advice(message));
        }
        items.iter().filter_map(|item| self.text(key, item)).collect()
    }

    fn texts(&mut self, key: &str, node: Node) -> BTreeMap<String, String> {
        let Node::Mapping(fields) = node else {
            if node.text().is_some() || matches!(node, Node::List(_)) {
                self.findings.push(Finding::advice(format!("{key}: must be keys with values")));
            }
            return BTreeMap::new();
        };
        let text = |(name, node): (String, Node)| match node {
            Node::Scalar { text, .. } => (name, text),
            nested => {
                let message = format!("{key}: {} is not a text", shown(&name));
                self.findings.push(Finding::advice(message));
                (name, nested.into_json().to_string())
            }
        };
        fields.into_iter().map(text).collect()
    }
}

/// Splits at blanks and commas that are not in parentheses: `Bash(git add:*), Read`.
fn split_words(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let words = text.split(|letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (letter.is_whitespace() || letter == ',')
    });
    words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::finding::Severity;

    fn read(yaml: &str) -> Parsed {
        let text = format!("---\n{yaml}\n---\nbody");
        Parsed::read(&mut text.as_bytes()).unwrap()
    }

    fn told(parsed: &Parsed) -> Vec<(Severity, &str)> {
        let findings = parsed.findings.iter();
        findings.map(|finding| (finding.severity, finding.message.as_str())).collect()
    }

    #[test]
    fn every_field_of_the_standard_is_read() {
        let parsed = read(
            "name: pdf\ndescription: >\n  Reads\n  PDF.\nlicense: MIT\ncompatibility: needs python\n\
             allowed-tools: Bash(git add:*) Read,Write\nmetadata:\n  author: me\n  version: 1.0",
        );
        let read = parsed.frontmatter;
        assert_eq!((read.name.as_str(), read.description.as_str()), ("pdf", "Reads PDF."));
        assert_eq!(read.license.as_deref(), Some("MIT"));
        assert_eq!(read.compatibility.as_deref(), Some("needs python"));
        assert_eq!(read.allowed_tools, ["Bash(git add:*)", "Read", "Write"]);
        assert_eq!(read.metadata["author"], "me");
        assert_eq!(read.metadata["version"], "1.0");
        assert_eq!(parsed.findings, []);
        assert_eq!(parsed.body_line, 13);
    }

    #[test]
    fn other_fields_are_kept_as_they_are() {
        let parsed =
            read("tags: [testing, go]\nversion: 1.10\nmodel: x\nhidden: true\nhooks:\n  - a: b");
        let read = &parsed.frontmatter;
        assert_eq!(read.tags, ["testing", "go"]);
        assert_eq!(read.version.as_deref(), Some("1.10"));
        let others = serde_json::to_string(&read.others).unwrap();
        assert_eq!(others, r#"{"model":"x","hidden":true,"hooks":[{"a":"b"}]}"#);
    }

    #[test]
    fn a_bare_colon_is_repaired_once_and_told() {
        let parsed = read("name: a\ndescription: Use when: asked");
        assert_eq!(parsed.frontmatter.description, "Use when: asked");
        let message = "`description` needs quotes; read as if it had them";
        assert_eq!(told(&parsed), [(Severity::Violation, message)]);
        let hopeless = "---\nname: a\ndescription: Use: it\nother: [\n---\n";
        let error = Parsed::read(&mut hopeless.as_bytes()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidFrontmatter);
        assert!(
            error.to_string().starts_with("line 5: the front matter cannot be read: "),
            "{error}"
        );
    }

    #[test]
    fn what_does_not_fit_is_told() {
        let parsed =
            read("name: [a]\ncompatibility:\n  a: b\nmetadata: x\nallowed-tools:\n  - Read");
        assert_eq!(parsed.frontmatter.name, "");
        assert_eq!(parsed.frontmatter.allowed_tools, ["Read"]);
        let told = told(&parsed);
        assert!(told.contains(&(Severity::Violation, "name: must be a text")), "{told:?}");
        assert!(told.contains(&(Severity::Violation, "compatibility: must be a text")), "{told:?}");
        assert!(
            told.contains(&(Severity::Advice, "metadata: must be keys with values")),
            "{told:?}"
        );
        let list = "allowed-tools: is a list; the standard has one text with blanks";
        assert!(told.contains(&(Severity::Advice, list)), "{told:?}");
    }
}
