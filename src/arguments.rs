//! Words that the arguments of several tools share.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, ErrorCode};
use crate::text::omission;

/// A list of texts that may also be given as a single text.
///
/// ```
/// use ripkit::OneOrMany;
///
/// let one: OneOrMany = serde_json::from_str(r#""src""#)?;
/// let many: OneOrMany = serde_json::from_str(r#"["src", "tests"]"#)?;
/// assert_eq!(one.as_slice(), ["src"]);
/// assert_eq!(many.as_slice(), ["src", "tests"]);
/// assert_eq!((one, many), ("src".into(), ["src", "tests"].into()));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OneOrMany(Vec<String>);

impl OneOrMany {
    /// The texts.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>> FromIterator<T> for OneOrMany {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> OneOrMany {
        OneOrMany(texts.into_iter().map(Into::into).collect())
    }
}

impl From<&str> for OneOrMany {
    fn from(text: &str) -> OneOrMany {
        OneOrMany(vec![text.to_owned()])
    }
}

impl<const N: usize> From<[&str; N]> for OneOrMany {
    fn from(texts: [&str; N]) -> OneOrMany {
        texts.into_iter().collect()
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OneOrMany, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either {
            One(String),
            Many(Vec<String>),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::One(text) => OneOrMany(vec![text]),
            Either::Many(texts) => OneOrMany(texts),
        })
    }
}

impl JsonSchema for OneOrMany {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } }
            ]
        })
    }
}

/// The order of files.
///
/// ```
/// use ripkit::Sort;
/// use ripkit::tools::list_files::Args;
///
/// let newest_first = Args { sort: Sort::Modified, ..Args::default() };
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum Sort {
    /// Byte order of the path.
    #[default]
    Path,
    /// The last modified first, then by path.
    Modified,
}

/// The path of the workspace root, the default of every `path`.
pub(crate) fn root() -> String {
    ".".to_owned()
}

/// The default of what is on unless it is turned off.
pub(crate) fn yes() -> bool {
    true
}

/// Checks a number that must not be 0. The schema says so too, but a host that calls with typed
/// arguments does not pass it.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub(crate) fn at_least_one(name: &str, value: u32) -> Result<usize, Error> {
    match value {
        0 => Err(Error::new(ErrorCode::InvalidArgument, format!("{name}: must be at least 1"))),
        value => Ok(value as usize),
    }
}

/// Refuses new text in which a line such as `// ... existing code ...` stands for text that the
/// caller left out, unless the `old` text of the file has that line already. `argument` is the name
/// of what holds `new`.
///
/// # Errors
/// `INVALID_ARGUMENT`.
pub(crate) fn refuse_omissions(
    argument: &str,
    path: &str,
    new: &str,
    old: &[&[u8]],
) -> Result<(), Error> {
    let Some(found) = omission::first_added(new, old, path) else { return Ok(()) };
    let message = format!(
        "line {} of {argument} for {path} stands for text that was left out: {}; nothing was written",
        found.line, found.text
    );
    Err(Error::new(ErrorCode::InvalidArgument, message).at(path).with_hint(OMISSION_HINT))
}

/// The next step after an omission.
const OMISSION_HINT: &str = "Write out the text it stands for, or replace only the lines that change, with \
     edit_file. If the line is meant as it is, word it differently.";
