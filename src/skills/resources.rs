//! The files that lie beside a SKILL.md.

use std::collections::VecDeque;

use crate::error::{Error, ErrorCode};
use crate::output::counted;
use crate::skills::directory::{self, joined};
use crate::skills::opened::{Opened, read_rest};
use crate::skills::place::rest_below;
use crate::skills::skill::{Skill, into_text};
use crate::text::escape;
use crate::workspace::{Kind, WorkspacePath};

/// The most files of a skill that are listed.
pub const MAX_RESOURCES: usize = 100;

/// How deep below a skill its files are looked for.
const DEPTH: usize = 4;

/// How many entries of a skill are looked at, files or not, before no further directory is.
const MAX_ENTRIES: usize = 10_000;

/// How many files are named in words.
const NAMED: usize = 20;

/// Directories and files, relative to the skill.
type Listed = (Vec<Vec<u8>>, Vec<Vec<u8>>);

/// Names that hold nothing that a skill would refer to.
fn is_left_out(name: &[u8]) -> bool {
    name.starts_with(b".") || name == b"node_modules"
}

/// The files beside a SKILL.md.
///
/// ```
/// use ripkit::skills::SkillCatalog;
///
/// let skills = SkillCatalog::scan("fixtures/skills/good");
/// let skill = skills.by_name("with-files").expect("it is there");
/// let resources = skill.resources()?;
/// assert_eq!(resources.files, ["references/forms.md", "scripts/count.py"]);
/// assert!(!resources.has_more);
/// # Ok::<(), ripkit::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resources {
    /// The paths relative to the directory of the skill, sorted.
    pub files: Vec<String>,
    /// Whether there are more.
    pub has_more: bool,
}

impl Resources {
    /// The first of them in words.
    pub(crate) fn named(&self) -> String {
        let shown = self.files.iter().take(NAMED);
        let names: Vec<_> = shown.map(|name| escape::display_path(name.as_bytes())).collect();
        let more = self.files.len() - names.len();
        let more = match (more, self.has_more) {
            (0, false) => String::new(),
            (0, true) => " and more".to_owned(),
            (more, false) => format!(" and {}", counted(more as u64, "more file", "more files")),
            (more, true) => format!(" and more than {more} more files"),
        };
        names.join(", ") + &more
    }
}

/// Listing them.
impl Skill {
    /// The files that belong to the skill; its SKILL.md, hidden files and links are left out. At
    /// most [`MAX_RESOURCES`] and four levels deep, the upper levels first.
    ///
    /// # Errors
    /// `FILE_NOT_FOUND`, `PERMISSION_DENIED` and the like if its directory cannot be listed.
    pub fn resources(&self) -> Result<Resources, Error> {
        let mut files = Vec::new();
        let mut ahead = VecDeque::from([(Vec::new(), 1)]);
        let mut has_more = false;
        // Level by level, so that what is cut lies deep.
        let mut entries = 0;
        while entries < MAX_ENTRIES && files.len() <= MAX_RESOURCES {
            let Some((below, depth)) = ahead.pop_front() else { break };
            let (directories, found) = match self.listed(&below, &mut entries) {
                // What cannot be listed is no file that could be read.
                Err(_) if depth > 1 => continue,
                listed => listed?,
            };
            files.extend(found);
            if depth < DEPTH {
                ahead.extend(directories.into_iter().map(|directory| (directory, depth + 1)));
            } else {
                has_more |= !directories.is_empty();
            }
        }
        has_more |= files.len() > MAX_RESOURCES || !ahead.is_empty();
        files.truncate(MAX_RESOURCES);
        files.sort();
        let names = files.iter().map(|file| escape::exact_path(file).into_owned());
        Ok(Resources { files: names.collect(), has_more })
    }

    /// The directories and the files in one of its directories, all relative to the skill.
    fn listed(&self, below: &[u8], seen: &mut usize) -> Result<Listed, Error> {
        let path = joined(&self.directory, below);
        let Some(directory) = self.place.look_up(&path)? else { return Ok(Default::default()) };
        let (entries, _) = directory::list(&self.place.workspace, &directory)?;
        *seen += entries.len() + 1;
        let (mut directories, mut files) = (Vec::new(), Vec::new());
        for entry in entries.into_iter().filter(|entry| !is_left_out(&entry.name)) {
            let path = joined(below, &entry.name);
            match entry.kind {
                Kind::Directory => directories.push(path),
                Kind::File if joined(&self.directory, &path) != self.file => files.push(path),
                _ => {}
            }
        }
        Ok((directories, files))
    }
}

/// Reading one of them.
impl Skill {
    /// Reads one of its files, by the path that [`resources`](Skill::resources) tells. Bytes that
    /// are not UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// `INVALID_PATH` for what is outside its directory, links followed, or hidden in it;
    /// `FILE_NOT_FOUND`; `TOO_LARGE` over [`MAX_SKILL_BYTES`](crate::skills::MAX_SKILL_BYTES).
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
        read_rest(opened.reader(), path)
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
