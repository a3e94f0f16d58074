//! The plan of a patch: all changes are found and checked in memory, in their order, before any file
//! is changed. All that cannot be made is reported together.

use std::collections::HashMap;
use std::sync::Arc;

use ripkit_edit::hunks::apply_hunks;
use ripkit_edit::{Edited, MatchKind, Options, Refusal, RefusalKind, Splice};

use crate::arguments;
use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::patch::failure::{Cause, Causes, Failure, Report, shown};
use crate::patch::paths::{LockedPaths, PatchPaths, Uses, no_such_path};
use crate::patch::{Action, FilePatch, PatchHunk, hunk_rules};
use crate::refusal;
use crate::text::placeholder;
use crate::text_format::TextFormat;
use ripkit_fs::{Transaction, Workspace};

/// All contents together may have so many times the bytes of one file.
const MAX_FILES_BYTES: usize = 4;

/// The conditions of a plan.
#[derive(Clone, Copy)]
pub(crate) struct PlanOptions<'a> {
    pub(crate) workspace: &'a Workspace,
    /// The largest size of a file, before and after.
    pub(crate) file_bytes: usize,
    /// For the messages of failures.
    pub(crate) format: &'a TextFormat,
    pub(crate) call: &'a Call,
}

/// Changes that can be made.
pub(crate) struct Plan {
    transaction: Transaction,
    /// In the order of the patch, one for each file.
    pub(crate) changes: Vec<PlannedChange>,
    /// What had to be repaired or left out, one sentence each.
    pub(crate) notes: Vec<String>,
}

impl Plan {
    /// Makes all changes, and returns notes on what could not be preserved.
    ///
    /// # Errors
    /// Those of [`Transaction::commit`].
    pub(crate) fn commit(self, call: &Call) -> Result<Vec<String>, Error> {
        self.transaction.commit(call)
    }
}

/// A change of one file.
pub(crate) struct PlannedChange {
    /// The path afterwards; that of a removed file as it was.
    pub(crate) path: String,
    /// The path before, if the file is moved.
    pub(crate) source: Option<String>,
    pub(crate) old: Option<Arc<Vec<u8>>>,
    pub(crate) new: Option<Arc<Vec<u8>>>,
    pub(crate) is_created: bool,
    pub(crate) is_removed: bool,
    /// Where they differ, if the file is changed by one part of the patch.
    pub(crate) splices: Option<Vec<Splice>>,
    pub(crate) match_kind: MatchKind,
}

/// Finds and checks all changes of a patch.
///
/// # Errors
/// One error for all that cannot be changed, with the code of the first.
pub(crate) fn plan(patch: &[FilePatch], options: PlanOptions<'_>) -> Result<Plan, Error> {
    let paths = PatchPaths::new(patch);
    let (locked, errors) = paths.lock(options.workspace, options.call)?;
    let mut failures: Vec<Failure<'_>> = Vec::new();
    let mut errors: HashMap<usize, Error> = errors.into_iter().collect();
    for (part, uses) in patch.iter().zip(&paths.uses) {
        let mut used = [Some(uses.path), uses.destination].into_iter().flatten();
        let error = used.find_map(|index| errors.remove(&index));
        failures.extend(error.map(|error| Failure::of_file(part, error)));
    }
    let states = vec![FileState::default(); paths.len()];
    let mut planner = Planner { options, locked, states, bytes: 0, notes: Vec::new() };
    for (part, uses) in patch.iter().zip(&paths.uses) {
        if let Some(why) = options.call.stop_reason() {
            return Err(Error::stopped(why, "anything was changed"));
        }
        if planner.locked.has_all(*uses) {
            failures.extend(planner.apply(part, *uses)?);
        }
    }
    if failures.is_empty() {
        return planner.finish(&paths.uses);
    }
    failures.sort_by_key(Failure::line);
    Err(Report { failures, options: &options }.error())
}

/// What is at a path.
#[derive(Clone, Debug, Default)]
enum Content {
    /// It was not looked at.
    #[default]
    Unknown,
    Missing,
    /// A file whose content is not needed.
    Unread,
    Bytes(Arc<Vec<u8>>),
}

impl Content {
    fn bytes(&self) -> Option<&Arc<Vec<u8>>> {
        match self {
            Content::Bytes(bytes) => Some(bytes),
            Content::Unknown | Content::Missing | Content::Unread => None,
        }
    }

    fn exists(&self) -> bool {
        matches!(self, Content::Unread | Content::Bytes(_))
    }
}

/// A file before the patch and after the parts that were applied so far.
#[derive(Clone, Default)]
struct FileState {
    before: Content,
    now: Content,
    /// The path from which it was moved.
    origin: Option<usize>,
    /// How many parts changed it.
    parts: usize,
    splices: Vec<Splice>,
    match_kind: Option<MatchKind>,
}

struct Planner<'a> {
    options: PlanOptions<'a>,
    locked: LockedPaths,
    states: Vec<FileState>,
    /// Bytes of all contents.
    bytes: usize,
    notes: Vec<String>,
}

impl Planner<'_> {
    /// Applies one part of the patch in memory, and returns why it cannot be applied.
    ///
    /// # Errors
    /// Those that end the whole call.
    fn apply<'p>(&mut self, part: &'p FilePatch, uses: Uses) -> Result<Vec<Failure<'p>>, Error> {
        let applied = match &part.action {
            Action::Create(content) => self.create(part, uses.path, content),
            Action::Delete(hunks) => self.delete(part, uses.path, hunks),
            Action::Update { hunks, are_blocks, .. } => self.update(part, uses, hunks, *are_blocks),
            Action::Refused(why) => Err(Error::new(ErrorCode::InvalidArgument, why.clone()).into()),
            Action::Binary => {
                let message = "a binary file cannot be patched";
                Err(Error::new(ErrorCode::NotText, message).into())
            }
        };
        match applied {
            Ok(()) => {
                let path = self.locked.path(uses.path)?;
                self.notes.extend(part.notes.iter().map(|note| format!("{path}: {note}")));
                Ok(Vec::new())
            }
            Err(Causes(causes)) => {
                let mut failures = Vec::with_capacity(causes.len());
                for cause in causes {
                    failures.push(match cause {
                        Cause::File(error)
                            if matches!(
                                error.code(),
                                ErrorCode::Timeout | ErrorCode::Cancelled
                            ) =>
                        {
                            return Err(error);
                        }
                        cause => Failure { part, cause },
                    });
                }
                Ok(failures)
            }
        }
    }

    fn create(&mut self, part: &FilePatch, path: usize, content: &str) -> Result<(), Causes> {
        self.look(path, false)?;
        if self.state(path)?.now.exists() {
            let message = format!("{} exists already", shown(&part.path));
            let error = Error::new(ErrorCode::FileAlreadyExists, message);
            return Err(error.with_hint("To change it, give its old lines too.").into());
        }
        self.check_size(content.len())?;
        if let Some(found) = placeholder::first_added(content, &[], &part.path) {
            self.notes.push(format!(
                "{}: line {} seems to stand for text that was left out, and was written as it is: {}",
                shown(&part.path),
                found.line,
                found.text
            ));
        }
        let state = self.state(path)?;
        state.now = Content::Bytes(Arc::new(content.as_bytes().to_vec()));
        state.parts += 1;
        Ok(())
    }

    fn delete(&mut self, part: &FilePatch, path: usize, hunks: &[PatchHunk]) -> Result<(), Causes> {
        match self.look(path, true) {
            // What cannot be read can be removed.
            Err(error)
                if hunks.is_empty() && is_of_existing(&error) && self.state(path)?.parts == 0 =>
            {
                let state = self.state(path)?;
                (state.before, state.now) = (Content::Unread, Content::Unread);
            }
            read => read?,
        }
        if !self.state(path)?.now.exists() {
            return Err(missing(part).into());
        }
        if let (Some(content), false) = (self.state(path)?.now.bytes().cloned(), hunks.is_empty()) {
            let edited = self.apply_hunks(path, &content, hunks, false)?;
            if !edited.content.is_empty() {
                let message = "the file has lines that the patch does not remove";
                let error = Error::new(ErrorCode::InvalidArgument, message);
                return Err(error.with_hint("Remove all of its lines, or none.").into());
            }
        }
        let state = self.state(path)?;
        state.now = Content::Missing;
        state.parts += 1;
        Ok(())
    }

    fn update(
        &mut self,
        part: &FilePatch,
        uses: Uses,
        hunks: &[PatchHunk],
        are_blocks: bool,
    ) -> Result<(), Causes> {
        self.look(uses.path, !hunks.is_empty())?;
        if !self.state(uses.path)?.now.exists() {
            return Err(missing(part).into());
        }
        let destination = uses.destination.filter(|to| *to != uses.path);
        if let Some(to) = destination {
            self.look(to, false)?;
            if self.state(to)?.now.exists() {
                let message = format!("the destination {} exists already", self.locked.path(to)?);
                return Err(Error::new(ErrorCode::FileAlreadyExists, message).into());
            }
        }
        if let Some(content) =
            self.state(uses.path)?.now.bytes().cloned().filter(|_| !hunks.is_empty())
        {
            let edited = self.apply_hunks(uses.path, &content, hunks, are_blocks)?;
            self.check_omissions(uses.path, [&content, &edited.content], hunks)?;
            self.check_size(edited.content.len())?;
            let path = self.locked.path(uses.path)?;
            self.notes.extend(edited.notes.iter().map(|note| format!("{path}: {note}")));
            let state = self.state(uses.path)?;
            state.match_kind = state.match_kind.max(edited.match_kinds.iter().copied().max());
            state.splices = edited.splices;
            state.now = Content::Bytes(Arc::new(edited.content));
        }
        self.state(uses.path)?.parts += 1;
        if let Some(to) = destination {
            let moved = self.state(uses.path)?;
            let now = std::mem::replace(&mut moved.now, Content::Missing);
            let moved = FileState {
                before: Content::Missing,
                now,
                origin: Some(moved.origin.unwrap_or(uses.path)),
                ..moved.clone()
            };
            let before = self.state(to)?.before.clone();
            *self.state(to)? = FileState { before, ..moved };
        }
        Ok(())
    }

    /// Reads a file once; without `content` only whether it exists, if that is known.
    fn look(&mut self, path: usize, content: bool) -> Result<(), Error> {
        let index = self.locked.index(path)?;
        let limit = self.options.file_bytes;
        let state = self.state(path)?;
        match &state.now {
            Content::Missing | Content::Bytes(_) => return Ok(()),
            Content::Unread if !content => return Ok(()),
            Content::Unknown | Content::Unread => {}
        }
        let call = self.options.call;
        let read = match self.locked.transaction.read(index, limit, call) {
            Ok(None) => Content::Missing,
            Ok(Some(bytes)) => {
                self.bytes += bytes.len();
                Content::Bytes(Arc::new(bytes))
            }
            // That it must not be read does not say whether it exists.
            Err(error)
                if content
                    || error.code() == ErrorCode::PermissionDenied
                    || !is_of_existing(&error) =>
            {
                return Err(error);
            }
            Err(_) => Content::Unread,
        };
        self.check_size(0)?;
        let state = self.state(path)?;
        (state.before, state.now) = (read.clone(), read);
        Ok(())
    }

    fn state(&mut self, path: usize) -> Result<&mut FileState, Error> {
        self.states.get_mut(path).ok_or_else(no_such_path)
    }

    /// Refuses a new content that is too large, alone or with all others.
    fn check_size(&mut self, len: usize) -> Result<(), Error> {
        let limit = self.options.file_bytes;
        if len > limit {
            let message = format!("the file would have {len} bytes; the limit is {limit}");
            return Err(Error::new(ErrorCode::TooLarge, message));
        }
        self.bytes = self.bytes.saturating_add(len);
        let limit = limit.saturating_mul(MAX_FILES_BYTES);
        if self.bytes > limit {
            let message = format!("all files of the patch together have more than {limit} bytes");
            return Err(Error::new(ErrorCode::TooLarge, message).with_hint("Split it."));
        }
        Ok(())
    }

    fn apply_hunks(
        &self,
        path: usize,
        content: &Arc<Vec<u8>>,
        hunks: &[PatchHunk],
        are_blocks: bool,
    ) -> Result<Edited, Causes> {
        let path = self.locked.path(path)?;
        let found: Vec<_> = hunks.iter().map(|hunk| hunk.hunk.clone()).collect();
        let (call, max_bytes) = (self.options.call, self.options.file_bytes);
        let stop = || call.stop_reason().is_some();
        let name = shown(&path);
        let options = Options::new(&name).with_max_bytes(max_bytes).with_stop(&stop);
        apply_hunks(content, &found, hunk_rules(are_blocks), &options).map_err(|refusals| {
            let cause = |refusal: Refusal| match refusal.kind() {
                RefusalKind::Stopped => Cause::File(refusal::stopped(call)),
                _ if refusal.concerns_file() => {
                    Cause::File(refusal::error_of(&refusal, &path, content, &options, call))
                }
                _ => Cause::Hunk { path: path.clone(), content: content.clone(), refusal },
            };
            Causes(refusals.into_iter().map(cause).collect())
        })
    }

    fn check_omissions(
        &self,
        path: usize,
        [content, new]: [&[u8]; 2],
        hunks: &[PatchHunk],
    ) -> Result<(), Error> {
        let path = self.locked.path(path)?;
        let old = hunks.iter().map(|PatchHunk { hunk, .. }| hunk.texts.old_text.as_bytes());
        let old: Vec<&[u8]> = old.chain([content]).collect();
        // In prose it may stand in an example.
        if placeholder::is_prose(&path) && !placeholder::is_in_whole(new, &old, &path) {
            return Ok(());
        }
        hunks.iter().try_for_each(|PatchHunk { hunk, line }| {
            let what = format!("the new text of the hunk at line {line} of the patch");
            let known = [hunk.texts.old_text.as_bytes(), content];
            arguments::refuse_omissions(&what, &path, &hunk.texts.new_text, &known)
        })
    }

    /// Stages all changes.
    fn finish(mut self, uses: &[Uses]) -> Result<Plan, Error> {
        let mut order: Vec<usize> = Vec::with_capacity(self.states.len());
        let mut is_listed = vec![false; self.states.len()];
        for index in uses.iter().flat_map(|uses| [Some(uses.path), uses.destination]).flatten() {
            if let Some(listed) = is_listed.get_mut(index).filter(|listed| !**listed) {
                *listed = true;
                order.push(index);
            }
        }
        let moved: HashMap<usize, usize> =
            order.iter().filter_map(|to| self.move_to(*to)).collect();
        let mut changes = Vec::new();
        for path in order {
            let Some(state) = self.states.get(path).cloned() else { continue };
            let index = self.locked.index(path)?;
            let source = self.move_to(path).map(|(from, _)| from);
            let before = match source {
                Some(from) => self.state(from)?.before.clone(),
                None => state.before.clone(),
            };
            let is_same = before.bytes() == state.now.bytes();
            match (before.exists(), &state.now) {
                (_, Content::Unknown) | (false, Content::Missing) => continue,
                (true, Content::Missing) if moved.contains_key(&path) => continue,
                (true, Content::Missing) => self.locked.transaction.remove(index)?,
                (_, now) => {
                    let bytes = now.bytes().map(|bytes| bytes.to_vec());
                    match (source, bytes) {
                        (Some(from), bytes) => {
                            let from = self.locked.index(from)?;
                            let bytes = bytes.filter(|_| !is_same);
                            self.locked.transaction.rename(from, index, bytes)?;
                        }
                        (None, Some(bytes)) if !is_same => {
                            self.locked.transaction.write(index, bytes)?;
                        }
                        (None, _) => {
                            let path = self.locked.path(path)?;
                            self.notes.push(format!("{path} has this content already"));
                            continue;
                        }
                    }
                }
            }
            changes.push(PlannedChange {
                path: self.locked.path(path)?,
                source: source.map(|from| self.locked.path(from)).transpose()?,
                old: before.bytes().cloned(),
                new: state.now.bytes().cloned(),
                is_created: !before.exists(),
                is_removed: !state.now.exists(),
                splices: Some(state.splices).filter(|_| state.parts == 1),
                match_kind: state.match_kind.unwrap_or(MatchKind::Exact),
            });
        }
        Ok(Plan { transaction: self.locked.transaction, changes, notes: self.notes })
    }

    /// The path from which a file is moved to this one, and this one.
    fn move_to(&self, to: usize) -> Option<(usize, usize)> {
        let state = self.states.get(to)?;
        let from = state.origin.filter(|from| *from != to)?;
        let source = self.states.get(from)?;
        let is_move = state.now.exists() && !state.before.exists();
        let is_gone = source.before.exists() && matches!(source.now, Content::Missing);
        (is_move && is_gone).then_some((from, to))
    }
}

/// Whether a failure to read says that there is something, such as a link or a file that is too large.
fn is_of_existing(error: &Error) -> bool {
    use ErrorCode::{Conflict, InvalidPath, PermissionDenied, TooLarge};
    matches!(error.code(), Conflict | InvalidPath | PermissionDenied | TooLarge)
}

fn missing(part: &FilePatch) -> Error {
    let message = format!("an earlier part of the patch removes {}", shown(&part.path));
    Error::new(ErrorCode::FileNotFound, message)
}
