//! One skill: where it is, what it says about itself, and its files.

use std::io::Read;

use crate::error::{Error, ErrorCode};
use crate::skills::directory::joined;
use crate::skills::frontmatter::{Frontmatter, Parsed};
use crate::skills::opened::{MAX_SKILL_BYTES, Opened, too_large};
use crate::skills::place::{Place, rest_below};
use crate::skills::resources::is_left_out;
use crate::text::escape;
use crate::workspace::WorkspacePath;

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
    /// `FILE_NOT_FOUND` and the like, `TOO_LARGE` over [`MAX_SKILL_BYTES`], and those of
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
        let mut body = Vec::new();
        let read = reader.by_ref().take(MAX_SKILL_BYTES + 1).read_to_end(&mut body);
        let read = read.map_err(|reason| Error::io("read", &self.file_path, reason))? as u64;
        if read > MAX_SKILL_BYTES {
            return Err(too_large(read).at(&*self.file_path));
        }
        Ok((into_text(body), parsed.body_line))
    }

    /// Reads one of its files, by the path that [`resources`](Skill::resources) tells. Bytes that
    /// are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// `INVALID_PATH` for what is outside its directory, links followed, or hidden in it;
    /// `FILE_NOT_FOUND`; `TOO_LARGE` over [`MAX_SKILL_BYTES`].
    pub fn read_resource(&self, path: &str) -> Result<String, Error> {
        self.bytes_of(path).map(into_text)
    }

    /// The bytes of one of its files; its SKILL.md is one of them.
    pub(crate) fn bytes_of(&self, path: &str) -> Result<Vec<u8>, Error> {
        let file = match path {
            // Which may be called skill.md.
            "SKILL.md" => self.place.look_up(&self.file)?.ok_or_else(|| self.gone())?,
            path => self.resource(path)?,
        };
        let opened = Opened::open(&file)?;
        let mut bytes = Vec::new();
        let read = opened.reader().take(MAX_SKILL_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|reason| Error::io("read", path, reason))?;
        Ok(bytes)
    }

    /// Finds one of its files, relative to its directory or by an absolute path in there.
    pub(crate) fn resource(&self, path: &str) -> Result<WorkspacePath, Error> {
        let own = path.strip_prefix(&self.base_dir).and_then(|rest| rest.strip_prefix('/'));
        let relative = own.unwrap_or(path);
        let is_inside = |path: &str| {
            !path.is_empty() && !path.starts_with('/') && path.split('/').all(|name| name != "..")
        };
        if !is_inside(relative) {
            return Err(self.not_its_file(path));
        }
        let exact = self.place.look_up(&joined(&self.directory, relative.as_bytes()))?;
        let found = match (exact, escape::unescape(relative)) {
            (None, Some(bytes)) => self.place.look_up(&joined(&self.directory, &bytes))?,
            (exact, _) => exact,
        };
        let found = found.filter(|found| !found.is_directory());
        let found = found.ok_or_else(|| self.no_such_file(path))?;
        // A link inside may lead anywhere in the workspace, which is more than the skill.
        match rest_below(found.relative(), &self.directory) {
            Some(rest) if !rest.split(|byte| *byte == b'/').any(is_left_out) => Ok(found),
            _ => Err(self.not_its_file(path)),
        }
    }
}

/// What may have become of it.
impl Skill {
    fn gone(&self) -> Error {
        let path = escape::display_path(self.file_path.as_bytes());
        let message = format!("the skill {} is gone: {path}", self.name);
        Error::new(ErrorCode::FileNotFound, message).at(&*self.file_path)
    }

    fn broken(&self, error: Error) -> Error {
        let message = format!("the skill {} cannot be read any more: {error}", self.name);
        Error::new(error.code(), message).at(&*self.file_path).because(error)
    }

    fn not_its_file(&self, path: &str) -> Error {
        let shown = escape::display_path(path.as_bytes());
        let message = format!("`{shown}` is not a file of the skill {}", self.name);
        Error::new(ErrorCode::InvalidPath, message).at(path).with_hint(self.its_files())
    }

    fn no_such_file(&self, path: &str) -> Error {
        let shown = escape::display_path(path.as_bytes());
        let message = format!("the skill {} has no file {shown}", self.name);
        Error::new(ErrorCode::FileNotFound, message).at(path).with_hint(self.its_files())
    }

    fn its_files(&self) -> String {
        match self.resources() {
            Ok(resources) if !resources.files.is_empty() => {
                format!("Its files are {}.", resources.named())
            }
            _ => "It has no files but its SKILL.md.".to_owned(),
        }
    }
}

fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
