//! From names to handles, one name at a time.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use crate::error::{Error, ErrorCode};
use crate::os::{Dir, Kind, Stat};
use crate::text::escape;
use crate::workspace::Workspace;
use crate::workspace::names::{
    Names, Target, asks_for_directory, invalid, names_of, outside, relative, split, strip_root,
};
use crate::workspace::policy::{Denial, denied};

/// How many links one path may pass, as on Linux.
const MAX_LINKS: usize = 40;

/// The careful case: name by name, each from the handle of the one before.
pub(super) struct Steps<'a> {
    workspace: &'a Workspace,
    text: &'a str,
    start: Arc<Dir>,
    outside: bool,
    /// The directories passed, with their names; the last is where we stand.
    passed: Vec<(Vec<u8>, Arc<Dir>)>,
    links: usize,
}

impl<'a> Steps<'a> {
    pub(super) fn new(workspace: &'a Workspace, text: &'a str, names: &Names) -> Steps<'a> {
        let (start, outside) = (names.start.clone(), names.outside);
        Steps { workspace, text, start, outside, passed: Vec::new(), links: 0 }
    }

    pub(super) fn walk(mut self, names: Vec<Vec<u8>>, follow: bool) -> Result<Target, Error> {
        let mut ahead = VecDeque::from(names);
        while let Some(name) = ahead.pop_front() {
            match &*name {
                // What stands before it was entered, and so is a directory.
                b"." => continue,
                b".." => {
                    self.climb()?;
                    continue;
                }
                _ => {}
            }
            let denial = self.denial(&name);
            if denial.is_certain() {
                return Err(denied(self.text));
            }
            let stat = match self.here().stat(&name) {
                Ok(stat) if denial.of(stat.kind == Kind::Directory) => {
                    return Err(denied(self.text));
                }
                Ok(stat) => stat,
                Err(_) if denial.is_possible() => return Err(denied(self.text)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return self.missing(name, &ahead);
                }
                Err(error) => return Err(self.failed(error)),
            };
            let last = ahead.is_empty();
            match stat.kind {
                Kind::Link if follow || !last => self.follow(&name, &mut ahead)?,
                _ if last => return Ok(self.target(name, stat)),
                Kind::Directory => self.enter(name)?,
                _ => return Err(self.not_a_directory(&name)),
            }
        }
        self.standing()
    }

    fn here(&self) -> &Arc<Dir> {
        self.passed.last().map_or(&self.start, |(_, dir)| dir)
    }

    fn enter(&mut self, name: Vec<u8>) -> Result<(), Error> {
        let dir = self.here().traverse(&name).map_err(|error| self.failed(error))?;
        self.passed.push((name, Arc::new(dir)));
        Ok(())
    }

    /// `..` in the text of a link: back to the handle that we came from.
    fn climb(&mut self) -> Result<(), Error> {
        match self.passed.pop() {
            Some(_) => Ok(()),
            None if self.outside => Ok(()),
            None if self.workspace.0.policy.relaxed => self.leave_root(),
            None => Err(outside(self.text, self.workspace)),
        }
    }

    /// Relaxed mode: goes on in the directory that holds the root.
    fn leave_root(&mut self) -> Result<(), Error> {
        let root = Dir::root_of_host().map_err(|error| self.failed(error))?;
        (self.start, self.outside) = (Arc::new(root), true);
        let mut names = names_of(&self.workspace.0.canonical);
        names.pop();
        names.into_iter().try_for_each(|name| {
            if self.denial(&name).of(true) { Err(denied(self.text)) } else { self.enter(name) }
        })
    }

    fn follow(&mut self, name: &[u8], ahead: &mut VecDeque<Vec<u8>>) -> Result<(), Error> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(invalid(self.text, "too many symbolic links"));
        }
        let target = self.here().read_link(name).map_err(|error| self.failed(error))?;
        let mut names = if target.first() == Some(&b'/') {
            self.restart(&target)?
        } else {
            split(&target).map(<[u8]>::to_vec).collect()
        };
        if asks_for_directory(&target) {
            names.push(b".".to_vec());
        }
        for name in names.into_iter().rev() {
            ahead.push_front(name);
        }
        Ok(())
    }

    /// An absolute link goes on from the start directory if it points below the root.
    fn restart(&mut self, target: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let names: Vec<Vec<u8>> = split(target).map(<[u8]>::to_vec).collect();
        if !self.outside {
            // Only the prefix is text; `..` after it climbs by handle like any other.
            if let Some(below) = strip_root(self.workspace, &names) {
                self.passed.clear();
                return Ok(below);
            }
            if !self.workspace.0.policy.relaxed {
                return Err(outside(self.text, self.workspace));
            }
            let root = Dir::root_of_host().map_err(|error| self.failed(error))?;
            (self.start, self.outside) = (Arc::new(root), true);
        }
        self.passed.clear();
        Ok(names)
    }

    fn target(self, name: Vec<u8>, stat: Stat) -> Target {
        let parent = self.here().clone();
        let outside = self.outside;
        let mut real = self.names();
        real.push(name);
        Target { parent, real, state: Ok(stat), outside }
    }

    fn missing(self, name: Vec<u8>, ahead: &VecDeque<Vec<u8>>) -> Result<Target, Error> {
        if ahead.iter().any(|name| name == b"..") {
            return Err(invalid(self.text, "a link on the way leads through a missing directory"));
        }
        let parent = self.here().clone();
        let outside = self.outside;
        let mut real = self.names();
        let known = real.len();
        real.push(name);
        real.extend(ahead.iter().filter(|name| *name != b".").cloned());
        let state = Err(real.len() - known);
        Ok(Target { parent, real, state, outside })
    }

    /// The names ended on a directory already entered, as after a link to `..`.
    fn standing(mut self) -> Result<Target, Error> {
        let Some((name, dir)) = self.passed.pop() else {
            let stat = self.start.stat(b".").map_err(|error| self.failed(error))?;
            let (parent, outside) = (self.start, self.outside);
            return Ok(Target { parent, real: Vec::new(), state: Ok(stat), outside });
        };
        let stat = dir.stat(b".").map_err(|error| self.failed(error))?;
        Ok(self.target(name, stat))
    }

    fn names(self) -> Vec<Vec<u8>> {
        self.passed.into_iter().map(|(name, _)| name).collect()
    }

    /// What the rules say of a name where we stand; they allow the directories that were passed.
    fn denial(&self, name: &[u8]) -> Denial {
        let policy = &self.workspace.0.policy;
        if policy.deny.is_empty() {
            return Denial::default();
        }
        let names = self.passed.iter().map(|(name, _)| name.as_slice()).chain([name]);
        policy.denial_of_entry(&relative(names, self.outside))
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("open", self.text, error)
    }

    fn not_a_directory(&self, name: &[u8]) -> Error {
        let name = escape::display_path(name);
        let message = format!("no such file: {}: {name} is not a directory", self.text);
        Error::new(ErrorCode::FileNotFound, message).at(self.text)
    }
}
