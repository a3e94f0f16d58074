//! The file of the workspace that holds the whole of a long output.

use super::policy::OutputFile;
use crate::error::Error;
use crate::workspace::{self, SpoolFile, Workspace};

/// How many files are kept.
const MAX_FILES: usize = 20;

/// A file that is made when it is needed; a failure costs the file and no more.
#[derive(Debug)]
pub(super) struct Spool<'a> {
    workspace: &'a Workspace,
    /// What to make; taken when it is made.
    wanted: Option<&'a OutputFile>,
    open: Option<(SpoolFile, u64)>,
    trouble: Option<String>,
    is_full: bool,
}

/// What became of the file.
#[derive(Debug)]
pub(crate) struct Spooled {
    /// Its path, relative to the workspace.
    pub(crate) path: String,
    /// Bytes in it, if it had to end before the output did.
    pub(crate) cut_at: Option<u64>,
}

impl<'a> Spool<'a> {
    pub(super) fn new(workspace: &'a Workspace, wanted: Option<&'a OutputFile>) -> Spool<'a> {
        Spool { workspace, wanted, open: None, trouble: None, is_full: false }
    }

    /// Makes the file, if that is wanted and was not done, and writes the output so far.
    pub(super) fn begin(&mut self, so_far: [&[u8]; 3]) {
        let Some(wanted) = self.wanted.take() else { return };
        match make(self.workspace, wanted) {
            Ok(file) => self.open = Some((file, wanted.bytes)),
            Err(error) => self.trouble = Some(trouble(&error)),
        }
        for piece in so_far {
            self.append(piece);
        }
    }

    /// Appends what still fits.
    pub(super) fn append(&mut self, bytes: &[u8]) {
        let Some((file, most)) = &mut self.open else { return };
        let room = usize::try_from(most.saturating_sub(file.length())).unwrap_or(usize::MAX);
        let fits = bytes.get(..room).unwrap_or(bytes);
        self.is_full |= fits.len() < bytes.len();
        if fits.is_empty() {
            return;
        }
        if let Err(error) = file.append(fits) {
            self.trouble = Some(trouble(&error));
            if let Some((file, _)) = self.open.take() {
                file.discard();
            }
        }
    }

    /// The file, or a sentence on why there is none.
    pub(super) fn finish(self) -> (Option<Spooled>, Option<String>) {
        let spooled = self.open.map(|(file, _)| Spooled {
            path: file.path().to_owned(),
            cut_at: self.is_full.then(|| file.length()),
        });
        (spooled, self.trouble)
    }
}

fn make(workspace: &Workspace, wanted: &OutputFile) -> Result<SpoolFile, Error> {
    let (ignored, always) = &wanted.ignored;
    workspace::make_ignored_directory(workspace, ignored, *always)?;
    SpoolFile::create(workspace, &wanted.directory, MAX_FILES)
}

fn trouble(error: &Error) -> String {
    format!("the whole output could not be kept in a file: {error}")
}
