//! Moving and copying a file to a name that nothing has.

use std::io;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::Kind;
use crate::workspace::duplicate::Duplicate;
use crate::workspace::names::names_directory;
use crate::workspace::parents::{Parents, commit};
use crate::workspace::present::OpenFile;
use crate::workspace::refusal::{changed, exists, gone, taken};
use crate::workspace::remove::present;
use crate::workspace::route::Route;
use crate::workspace::{Access, Version, Workspace, WorkspacePath};

/// A file that was moved or copied.
#[derive(Debug)]
pub(crate) struct Transferred {
    pub(crate) source: WorkspacePath,
    pub(crate) destination: WorkspacePath,
    /// What could not be kept, a sentence each.
    pub(crate) notes: Vec<String>,
}

impl Workspace {
    /// Gives a file or a link another name; to another file system it is copied, and removed
    /// when the copy is on stable storage.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `INVALID_PATH` for anything but a file or a link,
    /// `FILE_ALREADY_EXISTS`, `CONFLICT` if the content is not of the `expected` version. After
    /// any of them the source is where it was and the destination as it was.
    pub(crate) fn move_file(
        &self,
        source: &str,
        destination: &str,
        expected: Option<Version>,
        call: &Call,
    ) -> Result<Transferred, Error> {
        let source = self.resolve(source, Access::Entry)?;
        check_transferable(&source, "move")?;
        let (destination, takes_own_place) = self.free_place(destination, &source)?;
        let _lock = self.lock(&[&source, &destination], call)?;
        let found = expected.map(|expected| present(&source, expected, call)).transpose()?;
        let parents = Parents::make(&destination, call)?;
        let route = Route::new(self, (&source, &destination), &parents, call);
        commit(&source, call)?;
        let mut notes = match route.rename(takes_own_place) {
            Ok(()) => route.check_moved(found.as_ref()).map(|()| Vec::new())?,
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => move_far(&route, found)?,
            Err(error) => return Err(route.not_placed("move", error)),
        };
        notes.extend(route.settle(|| source.entry().0.sync()));
        parents.keep();
        Ok(Transferred { source, destination, notes })
    }

    /// Copies the content and the permissions of a file; links are followed.
    ///
    /// # Errors
    /// As [`Workspace::move_file`].
    pub(crate) fn copy_file(
        &self,
        source: &str,
        destination: &str,
        expected: Option<Version>,
        call: &Call,
    ) -> Result<Transferred, Error> {
        let source = self.resolve(source, Access::Read)?;
        check_transferable(&source, "copy")?;
        let (destination, _) = self.free_place(destination, &source)?;
        let _lock = self.lock(&[&destination], call)?;
        let found = expected.map(|expected| present(&source, expected, call)).transpose()?;
        let parents = Parents::make(&destination, call)?;
        let route = Route::new(self, (&source, &destination), &parents, call);
        let (duplicate, original) = Duplicate::content(&route)?;
        let same = found.map_or(Ok(true), |found| found.is_as_read(&original));
        if !same.map_err(|error| Error::io("copy", source.as_str(), error))? {
            return Err(changed(&source, "somebody else wrote it meanwhile"));
        }
        let mut notes = duplicate.keep();
        notes.extend(route.settle(|| Ok(())));
        parents.keep();
        Ok(Transferred { source, destination, notes })
    }

    /// Tells whether the source, or what it leads to, has this place as well.
    fn is_same_file(&self, place: &WorkspacePath, source: &WorkspacePath) -> bool {
        let target = self.resolve(source.as_str(), Access::Read);
        let target = target.map_or_else(|_| source.identity(), |target| target.identity());
        place.identity() == target
    }

    /// Finds a place that nothing has, or that the source has under another spelling.
    fn free_place(
        &self,
        text: &str,
        source: &WorkspacePath,
    ) -> Result<(WorkspacePath, bool), Error> {
        let place = self.resolve(text, Access::Create)?;
        match place.kind() {
            None if names_directory(text) => Err(into_directory(&place, source)),
            None => Ok((place, false)),
            Some(Kind::Directory) => Err(into_directory(&place, source)),
            Some(Kind::Link) => {
                // A link that leads out is refused for that.
                self.resolve(text, Access::Write)?;
                Err(taken(&place))
            }
            Some(_) if is_own_name(&place, source) => Ok((place, true)),
            Some(_) if self.is_same_file(&place, source) => {
                Err(exists(&place, &format!(": it is the same file as {source}"))
                    .with_hint("Nothing is to be done, unless another name was meant."))
            }
            Some(_) => Err(taken(&place)),
        }
    }
}

/// Moves to another file system; `found` is the source, if a version of it was expected.
fn move_far(route: &Route<'_>, found: Option<OpenFile>) -> Result<Vec<String>, Error> {
    let source = route.source;
    if source.kind() == Some(Kind::Link) {
        return Duplicate::replace_link(route);
    }
    let (parent, name) = source.entry();
    let found = match found {
        Some(found) => found,
        None => OpenFile::open(parent, name, source, route.call)?.ok_or_else(|| gone(source))?,
    };
    Duplicate::replace_file(route, &found)
}

fn into_directory(place: &WorkspacePath, source: &WorkspacePath) -> Error {
    let name = source.as_str().rsplit('/').next().unwrap_or_default();
    let path =
        if place.relative().is_empty() { name.to_owned() } else { format!("{place}/{name}") };
    let (code, what) = match place.kind() {
        Some(_) => (ErrorCode::FileAlreadyExists, "is a directory that exists"),
        None => (ErrorCode::InvalidPath, "names a directory"),
    };
    Error::new(code, format!("{place} {what}"))
        .at(place.as_str())
        .with_hint(format!("Name the file too, for instance {path}."))
}

/// Where names are the same in any case, a file is found under the name that it is to get; the
/// directory lists it under its old one only.
fn is_own_name(place: &WorkspacePath, source: &WorkspacePath) -> bool {
    let folded = |path: &WorkspacePath| path.as_str().to_lowercase();
    let same_file = place.identity() == source.identity() && place.identity().is_some();
    same_file
        && place.relative() != source.relative()
        && folded(place) == folded(source)
        && !place.is_listed()
}

fn check_transferable(source: &WorkspacePath, verb: &str) -> Result<(), Error> {
    let what = match source.kind() {
        Some(Kind::File | Kind::Link) => return Ok(()),
        Some(Kind::Directory) => "a directory",
        _ => "a FIFO, socket or device",
    };
    let message = format!("cannot {verb} {source}: it is {what}, not a file");
    Err(Error::new(ErrorCode::InvalidPath, message).at(source.as_str()).with_hint("Name a file."))
}
