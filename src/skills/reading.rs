//! From a SKILL.md to a skill, with all that is to be said about it.

use crate::error::Error;
use crate::skills::finding::{Finding, Severity};
use crate::skills::frontmatter::{Frontmatter, Parsed};
use crate::skills::opened::Opened;
use crate::skills::place::Place;
use crate::skills::shown::one_line;
use crate::skills::skill::Skill;
use crate::skills::standard;
use crate::workspace::WorkspacePath;

/// A SKILL.md that was found.
pub(super) struct Found<'a> {
    pub(super) place: &'a Place,
    pub(super) file: WorkspacePath,
    /// The real path of its directory, and of itself in there.
    pub(super) directory: Vec<u8>,
    pub(super) path: Vec<u8>,
    /// The name of its directory, then that of a link that led there.
    pub(super) names: Vec<String>,
    /// Which of the sources led to it.
    pub(super) source: usize,
}

impl Found<'_> {
    /// Reads the front matter and holds it against the standard; no skill if it is unusable.
    ///
    /// # Errors
    /// What cannot be read, or is no SKILL.md at all.
    pub(super) fn read(self) -> Result<(Option<Skill>, Vec<Finding>), Error> {
        let opened = Opened::open(&self.file)?;
        let parsed = Parsed::read(&mut opened.reader())?;
        let mut findings = parsed.findings;
        findings.extend(standard::findings(&parsed.frontmatter, &self.names));
        let is_usable = findings.iter().all(|finding| finding.severity != Severity::Skipped);
        let skill = Skill {
            name: name_of(&parsed.frontmatter, &self.names),
            frontmatter: parsed.frontmatter,
            file_path: self.place.absolute(&self.path),
            base_dir: self.place.absolute(&self.directory),
            source: format!("dir:{}", self.source),
            body_offset: parsed.body_offset,
            place: self.place.clone(),
            directory: self.directory,
            file: self.path,
        };
        Ok((is_usable.then_some(skill), findings))
    }
}

/// What a skill is called: by its front matter, else by its directory.
fn name_of(frontmatter: &Frontmatter, directories: &[String]) -> String {
    let name = one_line(&frontmatter.name);
    match directories.first() {
        Some(directory) if name.is_empty() => one_line(directory),
        _ => name,
    }
}
