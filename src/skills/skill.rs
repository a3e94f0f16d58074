//! One skill: where it is, and what it says about itself.

use crate::error::{Error, ErrorCode};
use crate::skills::frontmatter::{Frontmatter, Parsed};
use crate::skills::opened::{Opened, read_rest};
use crate::skills::place::Place;
use crate::text::escape;

/// A skill that was found: its front matter in memory, everything else on disk.
///
/// ```
/// use ripkit::skills::SkillCatalog;
///
/// let skills = SkillCatalog::scan("fixtures/skills/good");
/// let skill = skills.by_name("with-files").expect("it is there");
/// assert_eq!(skill.resources()?.files, ["references/forms.md", "scripts/count.py"]);
/// assert_eq!(skill.read_resource("scripts/count.py")?, "print(1)\n");
/// # Ok::<(), ripkit::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Skill {
    pub(super) name: String,
    pub(super) frontmatter: Frontmatter,
    pub(super) file_path: String,
    pub(super) base_dir: String,
    pub(super) source: String,
    pub(super) body_offset: u64,
    /// What its files are reached through.
    pub(super) place: Place,
    /// The path of its directory and of its file in there.
    pub(super) directory: Vec<u8>,
    pub(super) file: Vec<u8>,
}

/// What it says.
impl Skill {
    /// The name, in one line; that of the directory if the front matter has none.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the skill does and when to use it.
    pub fn description(&self) -> &str {
        &self.frontmatter.description
    }

    /// All fields of the front matter.
    pub fn frontmatter(&self) -> &Frontmatter {
        &self.frontmatter
    }

    /// The absolute path of its SKILL.md, without links in the directories.
    pub fn file_path(&self) -> &str {
        &self.file_path
    }

    /// The absolute path of its directory, without links.
    pub fn base_dir(&self) -> &str {
        &self.base_dir
    }

    /// Which of the directories it comes from, counted from 0: `dir:0`.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Where the body began when the skill was found, in bytes.
    pub fn body_offset(&self) -> u64 {
        self.body_offset
    }
}

/// What it holds.
impl Skill {
    /// Reads the text below the front matter, as it is now. Bytes that are not UTF-8 become
    /// U+FFFD.
    ///
    /// # Errors
    /// `FILE_NOT_FOUND` and the like, `TOO_LARGE` over [`MAX_SKILL_BYTES`](crate::skills::MAX_SKILL_BYTES), and those of
    /// [`parse_frontmatter`](crate::skills::parse_frontmatter), since the file may have changed.
    pub fn load_body(&self) -> Result<String, Error> {
        self.body().map(|(body, _)| body)
    }

    /// The body, and the line of the file at which it begins, from one look at the file.
    pub(crate) fn body(&self) -> Result<(String, u64), Error> {
        let file = self.place.look_up(&self.file)?.ok_or_else(|| self.gone())?;
        let opened = Opened::open(&file)?;
        let mut reader = opened.reader();
        let parsed = Parsed::read(&mut reader).map_err(|error| self.broken(error))?;
        let body = read_rest(reader, &self.file_path)?;
        Ok((into_text(body), parsed.body_line))
    }
}

/// What may have become of it.
impl Skill {
    pub(super) fn gone(&self) -> Error {
        let path = escape::display_path(self.file_path.as_bytes());
        let message = format!("the skill {} is gone: {path}", self.name);
        Error::new(ErrorCode::FileNotFound, message).at(&*self.file_path)
    }

    fn broken(&self, error: Error) -> Error {
        let message = format!("the skill {} cannot be read any more: {error}", self.name);
        Error::new(error.code(), message).at(&*self.file_path).because(error)
    }
}

/// Bytes that are not UTF-8 become U+FFFD.
pub(super) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
