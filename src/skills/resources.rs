//! The files that lie beside a SKILL.md.

use std::collections::VecDeque;

use crate::error::Error;
use crate::output::counted;
use crate::skills::Skill;
use crate::skills::directory::{self, joined};
use crate::text::escape;
use crate::workspace::Kind;

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
pub(super) fn is_left_out(name: &[u8]) -> bool {
    name.starts_with(b".") || name == b"node_modules"
}

/// The files beside a SKILL.md.
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
