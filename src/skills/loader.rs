//! Which directories are looked through for skills, and what becomes of what is there.

use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorCode};
use crate::skills::catalog::SkillCatalog;
use crate::skills::finding::{Finding, Severity, SkillFinding};
use crate::skills::place::Place;
use crate::skills::scan::{MAX_DEPTH, MAX_SKILLS, Scan};
use crate::workspace::Workspace;

/// Gathers skills from several directories; of two skills with one name the later wins.
///
/// ```
/// use ripkit::Workspace;
/// use ripkit::skills::{CLIENT_DIRECTORIES, SkillLoader};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let home = Workspace::open(directory.path())?;
/// let project = Workspace::open("fixtures/skills")?.deny(["with-files/"])?;
/// let mut loader = SkillLoader::new();
/// for directory in CLIENT_DIRECTORIES {
///     loader = loader.below(&home, directory);
/// }
/// let skills = loader.below(&project, "good").load();
/// assert!(skills.by_name("minimal").is_some() && skills.by_name("with-files").is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SkillLoader {
    sources: Vec<Source>,
    allowed: Vec<PathBuf>,
    depth: usize,
    most: usize,
}

/// A directory of skills.
#[derive(Clone, Debug)]
enum Source {
    /// One that is its own workspace.
    Directory(PathBuf),
    /// One below a workspace, whose rules hold.
    Below(Workspace, String),
}

impl Default for SkillLoader {
    fn default() -> SkillLoader {
        SkillLoader { sources: Vec::new(), allowed: Vec::new(), depth: MAX_DEPTH, most: MAX_SKILLS }
    }
}

impl SkillLoader {
    /// Makes a loader without directories.
    pub fn new() -> SkillLoader {
        SkillLoader::default()
    }

    /// Adds a directory; one that does not exist holds no skills. Links in it are followed as
    /// long as they stay in it, or lead straight into another directory of this loader.
    pub fn directory(mut self, directory: impl AsRef<Path>) -> SkillLoader {
        self.sources.push(Source::Directory(directory.as_ref().to_owned()));
        self
    }

    /// Adds a directory below a workspace, whose deny rules hold. Links in it may lead anywhere in
    /// the workspace, those of other directories of this loader into the directory only.
    pub fn below(mut self, workspace: &Workspace, directory: &str) -> SkillLoader {
        self.sources.push(Source::Below(workspace.clone(), directory.to_owned()));
        self
    }

    /// Lets links lead into this directory too, without looking for skills in it.
    pub fn allow(mut self, directory: impl AsRef<Path>) -> SkillLoader {
        self.allowed.push(directory.as_ref().to_owned());
        self
    }

    /// How deep below a directory skills are looked for: 1 is its own directories, 0 the directory
    /// itself. Default: [`MAX_DEPTH`].
    pub fn depth(mut self, depth: usize) -> SkillLoader {
        self.depth = depth;
        self
    }

    /// The most skills that are loaded, and told if there are more; the directories that come last
    /// are served first. Default: [`MAX_SKILLS`].
    pub fn at_most(mut self, count: usize) -> SkillLoader {
        self.most = count;
        self
    }

    /// Loads what can be loaded; what is wrong with the rest is told in
    /// [`SkillCatalog::warnings`].
    pub fn load(&self) -> SkillCatalog {
        let mut findings = Vec::new();
        let sources: Vec<_> =
            self.sources.iter().map(|source| source.open(&mut findings)).collect();
        let mut allowed: Vec<Place> = sources
            .iter()
            .flatten()
            .map(|(workspace, path)| Place::below(workspace.clone(), path.clone()))
            .collect();
        let extra = self.allowed.iter().filter_map(|directory| open(directory, &mut findings));
        allowed.extend(extra.map(Place::whole));
        let mut scan = Scan::new(&allowed, self.depth, self.most);
        // The limits cut what would lose: the first directories.
        for (index, source) in sources.into_iter().enumerate().rev() {
            if let Some((workspace, path)) = source {
                scan.run(&Place::whole(workspace), &path, index);
            }
        }
        scan.finish();
        let Scan { mut skills, findings: scanned, .. } = scan;
        findings.extend(scanned);
        skills.sort_by_key(|(source, _)| *source);
        SkillCatalog::merged(skills.into_iter().map(|(_, skill)| skill), findings)
    }

    /// Loads everything or nothing.
    ///
    /// # Errors
    /// What is wrong with the first skill: `INVALID_FRONTMATTER` for front matter that is missing,
    /// has no end, is no YAML or breaks a rule of the standard, `MISSING_FIELD` for a missing name
    /// or description, or why the file cannot be read.
    pub fn load_strict(&self) -> Result<SkillCatalog, Error> {
        let catalog = self.load();
        let refused = |finding: &&SkillFinding| finding.severity <= Severity::Violation;
        let error = catalog.findings().iter().find(refused).and_then(SkillFinding::to_error);
        error.map_or(Ok(catalog), Err)
    }
}

/// Making a catalog without a word on how.
impl SkillCatalog {
    /// Looks for skills below a directory; one that does not exist holds none. What cannot be
    /// loaded is left out and told in [`warnings`](SkillCatalog::warnings).
    pub fn scan(directory: impl AsRef<Path>) -> SkillCatalog {
        SkillLoader::new().directory(directory).load()
    }

    /// Looks for skills below several directories; of two with one name that of the later
    /// directory wins.
    pub fn load(directories: impl IntoIterator<Item = impl AsRef<Path>>) -> SkillCatalog {
        loader(directories).load()
    }

    /// The same, unless anything is wrong with a skill.
    ///
    /// # Errors
    /// As [`SkillLoader::load_strict`].
    pub fn load_strict(
        directories: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<SkillCatalog, Error> {
        loader(directories).load_strict()
    }
}

fn loader(directories: impl IntoIterator<Item = impl AsRef<Path>>) -> SkillLoader {
    directories.into_iter().fold(SkillLoader::new(), SkillLoader::directory)
}

impl Source {
    /// The workspace and the path in it; nothing if there is no such directory.
    fn open(&self, findings: &mut Vec<SkillFinding>) -> Option<(Workspace, Vec<u8>)> {
        match self {
            Source::Directory(directory) => Some((open(directory, findings)?, Vec::new())),
            Source::Below(workspace, path) => {
                match Place::whole(workspace.clone()).look_up(path.as_bytes()) {
                    Ok(found) => Some((workspace.clone(), found?.relative().to_vec())),
                    Err(error) => {
                        let finding = Finding::from(&error);
                        let place = Place::whole(workspace.clone());
                        findings.push(finding.at(place.absolute(path.as_bytes())));
                        None
                    }
                }
            }
        }
    }
}

fn open(directory: &Path, findings: &mut Vec<SkillFinding>) -> Option<Workspace> {
    match Workspace::open(directory) {
        Ok(workspace) => Some(workspace),
        Err(error) if error.code() == ErrorCode::FileNotFound => None,
        Err(error) => {
            findings.push(Finding::from(&error).at(directory.to_string_lossy()));
            None
        }
    }
}
