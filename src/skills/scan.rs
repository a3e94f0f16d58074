//! Looks for the files called SKILL.md below a directory.

use std::collections::HashSet;

use crate::error::{Error, ErrorCode};
use crate::skills::directory::{self, MAX_ENTRIES, full, joined};
use crate::skills::finding::{Finding, SkillFinding};
use crate::skills::place::Place;
use crate::skills::reading::Found;
use crate::skills::shown::one_line;
use crate::skills::skill::Skill;
use crate::text::clip;
use crate::walk::VERSION_CONTROL;
use crate::workspace::{DirectoryEntry, Kind, WorkspacePath, link_target};

/// The most directories that are looked into.
pub const MAX_DIRECTORIES: usize = 2000;

/// The most skills that are loaded.
pub const MAX_SKILLS: usize = 500;

/// How deep below a directory skills are looked for.
pub const MAX_DEPTH: usize = 6;

/// The most findings that are recorded.
const MAX_FINDINGS: usize = 1000;

/// Bytes of the message of a finding.
const MAX_MESSAGE: usize = 500;

/// The most entries that are looked at in all directories together.
const MAX_ALL_ENTRIES: usize = 200_000;

const NAME: &[u8] = b"SKILL.md";

/// What other clients overlook.
const LOWER_CASE_NAME: &[u8] = b"skill.md";

/// A directory to look into.
struct Ahead {
    place: Place,
    path: Vec<u8>,
    depth: usize,
    is_link: bool,
    /// Which of the sources led to it.
    source: usize,
}

impl Ahead {
    /// The SKILL.md in it, under the name that it has, in the directory without links.
    fn found(&self, file: WorkspacePath, directory: Vec<u8>, name: &[u8]) -> Found<'_> {
        let mut names = vec![self.place.last_name(&directory)];
        let linked = self.place.last_name(&self.path);
        if !names.contains(&linked) {
            names.push(linked);
        }
        let path = joined(&directory, name);
        Found { place: &self.place, file, directory, path, names, source: self.source }
    }

    /// The directory, if it is one.
    fn directory(&self) -> Result<Option<WorkspacePath>, Error> {
        let found = self.place.look_up(&self.path)?;
        if found.is_none() && self.is_link {
            return Err(Error::new(ErrorCode::FileNotFound, "the link leads nowhere"));
        }
        Ok(found.filter(WorkspacePath::is_directory))
    }

    /// The path of the directory without links, given its SKILL.md.
    fn real_path(&self, file: &WorkspacePath) -> Result<Vec<u8>, Error> {
        if file.relative() == joined(&self.path, NAME) {
            return Ok(self.path.clone());
        }
        let real = self.directory()?;
        Ok(real.map_or_else(|| self.path.clone(), |real| real.relative().to_vec()))
    }
}

/// Names under which no skills are looked for.
fn is_left_out(name: &[u8]) -> bool {
    VERSION_CONTROL.contains(&name) || name == b"node_modules"
}

/// The looking, over all sources.
pub(super) struct Scan<'a> {
    /// Where links may lead that leave their own place.
    allowed: &'a [Place],
    depth: usize,
    most: usize,
    /// Real paths of directories that were looked into.
    seen: HashSet<Vec<u8>>,
    /// Each with the source that led to it.
    pub(super) skills: Vec<(usize, Skill)>,
    pub(super) findings: Vec<SkillFinding>,
    /// How many findings were too many.
    untold: usize,
    /// How many entries were looked at.
    entries: usize,
    is_full: bool,
}

impl<'a> Scan<'a> {
    pub(super) fn new(allowed: &'a [Place], depth: usize, most: usize) -> Scan<'a> {
        let (seen, skills, findings) = (HashSet::new(), Vec::new(), Vec::new());
        Scan { allowed, depth, most, seen, skills, findings, untold: 0, entries: 0, is_full: false }
    }

    /// Looks below one directory.
    pub(super) fn run(&mut self, place: &Place, path: &[u8], source: usize) {
        let (place, path) = (place.clone(), path.to_vec());
        let mut stack = vec![Ahead { place, path, depth: 0, is_link: false, source }];
        while let Some(ahead) = stack.pop().filter(|_| !self.is_full) {
            match self.look(&ahead) {
                Ok(below) => stack.extend(below.into_iter().rev()),
                Err(error) => self.tell(&ahead.place, &ahead.path, unreachable(&error)),
            }
        }
    }

    /// Looks into one directory: a skill, or directories that may hold some.
    fn look(&mut self, ahead: &Ahead) -> Result<Vec<Ahead>, Error> {
        // Most directories here are skills: asking for the file spares the listing.
        if let Some(file) = self.skill_file(ahead)? {
            let path = ahead.real_path(&file)?;
            if !self.enter(&ahead.place, &path) || self.take(ahead.found(file, path, NAME)) {
                return Ok(Vec::new());
            }
        } else {
            let Some(directory) = ahead.directory()? else { return Ok(Vec::new()) };
            if !self.enter(&ahead.place, directory.relative()) {
                return Ok(Vec::new());
            }
        }
        self.look_below(ahead)
    }

    /// The SKILL.md of a directory; one that cannot be reached hides nothing else.
    fn skill_file(&mut self, ahead: &Ahead) -> Result<Option<WorkspacePath>, Error> {
        let path = joined(&ahead.path, NAME);
        match ahead.place.look_up(&path) {
            Ok(file) => Ok(file),
            Err(error) => {
                if ahead.directory()?.is_some() {
                    self.tell(&ahead.place, &path, unreachable(&error));
                }
                Ok(None)
            }
        }
    }

    /// Lists a directory that holds no SKILL.md, or one that is none.
    fn look_below(&mut self, ahead: &Ahead) -> Result<Vec<Ahead>, Error> {
        let Some(directory) = ahead.directory()? else { return Ok(Vec::new()) };
        let listed = self.listed(ahead, &directory)?;
        if listed.iter().any(|entry| entry.name == LOWER_CASE_NAME)
            && let Some(file) = ahead.place.look_up(&joined(&ahead.path, LOWER_CASE_NAME))?
        {
            let path = directory.relative().to_vec();
            if self.take(ahead.found(file, path, LOWER_CASE_NAME)) {
                return Ok(Vec::new());
            }
        }
        if ahead.depth >= self.depth {
            return Ok(Vec::new());
        }
        Ok(listed.iter().filter_map(|entry| self.below(ahead, &directory, entry)).collect())
    }

    /// Reads a SKILL.md at once, so that no handle is kept; tells whether it is a usable skill,
    /// below which there are no others.
    fn take(&mut self, found: Found<'_>) -> bool {
        let (place, path, source) = (found.place, found.path.clone(), found.source);
        let (skill, mut findings) = match found.read() {
            Ok(read) => read,
            Err(error) => (None, vec![Finding::from(&error)]),
        };
        if skill.is_some() && self.skills.len() >= self.most {
            self.fill(place, &path, &format!("{} skills", self.most));
            return true;
        }
        if path.ends_with(LOWER_CASE_NAME) && skill.is_some() {
            let message = "most clients look for SKILL.md and overlook skill.md";
            findings.push(Finding::advice(message));
        }
        for finding in findings {
            self.tell(place, &path, finding);
        }
        let is_skill = skill.is_some();
        self.skills.extend(skill.map(|skill| (source, skill)));
        is_skill
    }

    /// Stops the looking at a place behind which more is.
    fn fill(&mut self, place: &Place, path: &[u8], what: &str) {
        self.is_full = true;
        let reason = format!("there are more than {what}; this and the rest is left out");
        self.tell(place, path, Finding::skipped(ErrorCode::TooLarge, reason));
    }

    /// Remembers a directory; tells whether it is new and there is room for it.
    fn enter(&mut self, place: &Place, relative: &[u8]) -> bool {
        let path = full(&place.workspace, relative);
        if self.seen.contains(&path) {
            return false;
        }
        if self.seen.len() >= MAX_DIRECTORIES {
            self.fill(place, relative, &format!("{MAX_DIRECTORIES} directories"));
            return false;
        }
        self.seen.insert(path)
    }

    fn listed(
        &mut self,
        ahead: &Ahead,
        path: &WorkspacePath,
    ) -> Result<Vec<DirectoryEntry>, Error> {
        let (entries, is_whole) = directory::list(&ahead.place.workspace, path)?;
        self.entries += entries.len();
        if self.entries > MAX_ALL_ENTRIES {
            let what = format!("{MAX_ALL_ENTRIES} entries to look at");
            self.fill(&ahead.place, path.relative(), &what);
        }
        if !is_whole {
            let reason =
                format!("the directory has more than {MAX_ENTRIES} entries; the rest is left out");
            let finding = Finding::skipped(ErrorCode::TooLarge, reason);
            self.tell(&ahead.place, path.relative(), finding);
        }
        Ok(entries)
    }

    /// The directory that an entry is or leads to.
    fn below(
        &self,
        ahead: &Ahead,
        directory: &WorkspacePath,
        entry: &DirectoryEntry,
    ) -> Option<Ahead> {
        let (depth, source) = (ahead.depth + 1, ahead.source);
        let below = |place, path, is_link| Some(Ahead { place, path, depth, is_link, source });
        let (place, path) = (ahead.place.clone(), joined(&ahead.path, &entry.name));
        match entry.kind {
            _ if is_left_out(&entry.name) => None,
            Kind::Directory => below(place, path, false),
            Kind::Link => match place.look_up(&path) {
                // A link to a file is none of ours.
                Ok(Some(target)) if !target.is_directory() => None,
                Err(error) if error.code() == ErrorCode::InvalidPath => {
                    let elsewhere = self.elsewhere(&place, directory, &entry.name);
                    let (place, path) = elsewhere.unwrap_or((place, path));
                    below(place, path, true)
                }
                _ => below(place, path, true),
            },
            _ => None,
        }
    }

    /// Where a link leads that leaves its own place: into a directory that is allowed.
    fn elsewhere(
        &self,
        place: &Place,
        directory: &WorkspacePath,
        name: &[u8],
    ) -> Option<(Place, Vec<u8>)> {
        let target = link_target(&place.workspace, directory, name)?;
        self.allowed.iter().find_map(|other| {
            let found = other.look_up(&target).ok()??;
            Some((other.clone(), found.relative().to_vec()))
        })
    }

    /// Records a finding, unless there are very many already.
    fn tell(&mut self, place: &Place, path: &[u8], mut finding: Finding) {
        if self.findings.len() >= MAX_FINDINGS {
            self.untold += 1;
            return;
        }
        finding.message = brief(&finding.message);
        self.findings.push(finding.at(place.absolute(path)));
    }

    /// Says how many findings were not recorded, at the place of the last that was.
    pub(super) fn finish(&mut self) {
        if let (Some(last), 1..) = (self.findings.last(), self.untold) {
            let path = last.path.clone();
            let message = format!("there are {} more findings", self.untold);
            self.findings.push(Finding::skipped(ErrorCode::TooLarge, message).at(path));
        }
    }
}

/// What is said about a file or directory that cannot be reached.
fn unreachable(error: &Error) -> Finding {
    match error.code() {
        // Only a link leads elsewhere.
        code @ ErrorCode::InvalidPath => Finding::skipped(
            code,
            "the link leads out of the directories of skills, or in a circle",
        ),
        code @ ErrorCode::PolicyDenied => Finding::skipped(code, "a rule of the host denies it"),
        _ => Finding::from(error),
    }
}

/// A message in one line and not too long, whatever a file has put into it.
fn brief(message: &str) -> String {
    let line = one_line(message);
    clip::ellipsize(&line, MAX_MESSAGE).into_owned()
}
