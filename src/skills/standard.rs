//! The rules of the `AgentSkills` standard.

use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorCode};
use crate::skills::finding::Finding;
use crate::skills::frontmatter::Frontmatter;
use crate::skills::shown::{one_line, shown};

/// The most characters of a name.
pub const MAX_NAME_LEN: usize = 64;

/// The most characters of a description.
pub const MAX_DESCRIPTION_LEN: usize = 1024;

/// The most characters of `compatibility`.
pub const MAX_COMPATIBILITY_LEN: usize = 500;

/// The fields that the standard knows.
const FIELDS: [&str; 6] =
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// How many unknown fields are named.
const NAMED_FIELDS: usize = 5;

/// A name over this many characters is none.
const LONGEST_NAME: usize = 256;

/// Holds front matter against the standard; the name should be one of `directories`, if there are
/// any.
pub(super) fn findings(frontmatter: &Frontmatter, directories: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    name(&frontmatter.name, directories, &mut findings);
    description(&frontmatter.description, &mut findings);
    if let Some(text) = &frontmatter.compatibility {
        length("compatibility", text, MAX_COMPATIBILITY_LEN, &mut findings);
    }
    findings.extend(unknown_fields(frontmatter));
    findings
}

/// What is said about fields that the standard does not know.
fn unknown_fields(frontmatter: &Frontmatter) -> Option<Finding> {
    let keys = frontmatter.fields().keys().map(String::as_str);
    let keys: Vec<&str> = keys.filter(|key| !FIELDS.contains(key)).collect();
    let shown: Vec<String> = keys.iter().take(NAMED_FIELDS).map(|key| shown(key)).collect();
    let names = shown.join(", ");
    let more = keys.len() - shown.len();
    let message = match (keys.len(), more) {
        (0, _) => return None,
        (1, _) => format!("{names} is no field of the standard"),
        (_, 0) => format!("{names} are no fields of the standard"),
        _ => format!("{names} and {more} more are no fields of the standard"),
    };
    Some(Finding::portability(message))
}

impl Frontmatter {
    /// Holds the fields against the rules of the standard.
    ///
    /// # Errors
    /// `MISSING_FIELD` without name or description, `INVALID_FRONTMATTER` for the first rule that
    /// is broken.
    pub fn validate(&self) -> Result<(), Error> {
        let findings = findings(self, &[]);
        let broken = findings.into_iter().find(Finding::is_refused);
        broken.map_or(Ok(()), |finding| {
            let code = finding.code.unwrap_or(ErrorCode::InvalidFrontmatter);
            Err(Error::new(code, finding.message))
        })
    }
}

fn name(name: &str, directories: &[String], findings: &mut Vec<Finding>) {
    let characters = name.chars().count();
    if name.is_empty() {
        findings.push(Finding::violation(ErrorCode::MissingField, no_name(directories)));
        return;
    }
    if characters > LONGEST_NAME {
        let message = format!("name: has {characters} characters, over {MAX_NAME_LEN}");
        findings.push(Finding::skipped(ErrorCode::InvalidFrontmatter, message));
        return;
    }
    // Composed and decomposed letters are the same, as some file systems write one for the other.
    let name = &normal(name);
    length("name", name, MAX_NAME_LEN, findings);
    if one_line(name).is_empty() {
        findings.push(Finding::skipped(ErrorCode::MissingField, "name: has no letter to be seen"));
        return;
    }
    let broken = broken_rules(name, directories).into_iter().map(|rule| format!("name: {rule}"));
    findings.extend(broken.map(|rule| Finding::violation(ErrorCode::InvalidFrontmatter, rule)));
    if !name.is_ascii() {
        let shown = shown(name);
        let message =
            format!("name: {shown} has letters other than a to z, which some clients refuse");
        findings.push(Finding::advice(message));
    }
}

fn no_name(directories: &[String]) -> String {
    match directories.first() {
        None => "name: is missing or empty".to_owned(),
        Some(directory) => {
            format!("name: is missing or empty; took {} from the directory", shown(directory))
        }
    }
}

/// The rules for names that this one breaks.
fn broken_rules(name: &str, directories: &[String]) -> Vec<String> {
    let shown = shown(name);
    let mut broken = Vec::new();
    if name.to_lowercase() != *name {
        broken.push(format!("{shown} must be lower case"));
    }
    if name.starts_with('-') || name.ends_with('-') {
        broken.push(format!("{shown} must not begin or end with a hyphen"));
    }
    if name.contains("--") {
        broken.push(format!("{shown} must not have two hyphens in a row"));
    }
    if !name.chars().all(|letter| letter.is_alphanumeric() || letter == '-') {
        broken.push(format!("{shown} may have letters, digits and hyphens only"));
    }
    if let Some(directory) = directories.first()
        && !directories.iter().any(|own| normal(own) == *name)
    {
        let directory = self::shown(directory);
        broken.push(format!("{shown} is not the name of its directory, {directory}"));
    }
    broken
}

fn normal(name: &str) -> String {
    name.nfkc().collect()
}

fn description(text: &str, findings: &mut Vec<Finding>) {
    if text.is_empty() {
        let message = "description: is missing or empty";
        findings.push(Finding::skipped(ErrorCode::MissingField, message));
    }
    length("description", text, MAX_DESCRIPTION_LEN, findings);
}

fn length(key: &str, text: &str, most: usize, findings: &mut Vec<Finding>) {
    let characters = text.chars().count();
    if characters > most {
        let message = format!("{key}: has {characters} characters, over {most}");
        findings.push(Finding::violation(ErrorCode::InvalidFrontmatter, message));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::finding::Severity;
    use crate::skills::frontmatter::parse_frontmatter;

    fn told(name: &str, directory: &str) -> Vec<String> {
        let frontmatter = Frontmatter {
            name: name.to_owned(),
            description: "x".to_owned(),
            ..Frontmatter::default()
        };
        let findings = findings(&frontmatter, &[directory.to_owned()]);
        findings.into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn names_are_lower_case_letters_digits_and_hyphens_and_that_of_the_directory() {
        let long = "a".repeat(65);
        let cases: [(&str, &str, &[&str]); 9] = [
            ("pdf-2", "pdf-2", &[]),
            ("PDF", "PDF", &["name: `PDF` must be lower case"]),
            ("-a", "-a", &["name: `-a` must not begin or end with a hyphen"]),
            ("a--b", "a--b", &["name: `a--b` must not have two hyphens in a row"]),
            ("a_b", "a_b", &["name: `a_b` may have letters, digits and hyphens only"]),
            ("a", "b", &["name: `a` is not the name of its directory, `b`"]),
            ("a\nb", "a\nb", &["name: `a\\nb` may have letters, digits and hyphens only"]),
            ("é", "é", &["name: `é` has letters other than a to z, which some clients refuse"]),
            (&long, &long, &["name: has 65 characters, over 64"]),
        ];
        for (name, directory, wanted) in cases {
            assert_eq!(told(name, directory), wanted, "{name:?}");
        }
        assert_eq!(told("", "b"), ["name: is missing or empty; took `b` from the directory"]);
    }

    #[test]
    fn lengths_count_characters() {
        let mut frontmatter = Frontmatter { name: "é".repeat(64), ..Frontmatter::default() };
        frontmatter.description = "é".repeat(1024);
        frontmatter.compatibility = Some("é".repeat(500));
        let severities = |of: &Frontmatter| {
            let findings = findings(of, &[]).into_iter();
            findings.map(|finding| finding.severity).collect::<Vec<_>>()
        };
        assert_eq!(severities(&frontmatter), [Severity::Advice]);
        frontmatter.description.push('x');
        frontmatter.compatibility = Some("x".repeat(501));
        assert_eq!(
            severities(&frontmatter),
            [Severity::Advice, Severity::Violation, Severity::Violation]
        );
        frontmatter.name = "a".repeat(257);
        assert_eq!(severities(&frontmatter)[0], Severity::Skipped);
    }

    #[test]
    fn validate_names_the_first_broken_rule() {
        let cases = [
            ("name: a\ndescription: b", None),
            ("name: a", Some(ErrorCode::MissingField)),
            ("description: b", Some(ErrorCode::MissingField)),
            ("name: A\ndescription: b", Some(ErrorCode::InvalidFrontmatter)),
            ("name: a\ndescription: '  '", Some(ErrorCode::MissingField)),
        ];
        for (yaml, code) in cases {
            let validated = {
                let text = format!("---\n{yaml}\n---\n");
                parse_frontmatter(&mut text.as_bytes()).unwrap().0.validate()
            };
            assert_eq!(validated.err().map(|error| error.code()), code, "{yaml}");
        }
    }
}
