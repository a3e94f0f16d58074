//! What a command has started: found, asked to end, killed.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use super::policy::CommandPolicy;
use crate::error::Error;
#[cfg(target_os = "linux")]
use crate::os::process::ControlGroup;
use crate::os::process::{Process, Relative, Signal, relatives};

/// The variable by which the processes of a command are known.
const VARIABLE: &str = "RIPKIT_COMMAND";

/// How long killing may take before the answer is given without it.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long those that were killed have between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// A value that nobody can guess and no other command has.
#[derive(Debug)]
struct Mark(String);

impl Mark {
    fn new() -> Mark {
        // The keys of each hasher come from the system's source of randomness.
        let random = || RandomState::new().hash_one(0_u8);
        Mark(format!("{:016x}{:016x}", random(), random()))
    }

    /// What its variable is in an environment.
    fn assignment(&self) -> Vec<u8> {
        format!("{VARIABLE}={}", self.0).into_bytes()
    }
}

/// What all processes of one command have in common.
#[derive(Debug)]
pub(super) struct Family {
    mark: Mark,
    #[cfg(target_os = "linux")]
    group: Option<ControlGroup>,
}

/// What became of them.
#[derive(Debug, Default)]
pub(super) struct Stopped {
    /// How many were stopped, without the first process of the command.
    pub(super) count: usize,
    /// The numbers of those that live on although they were killed.
    pub(super) survivors: Vec<i32>,
}

impl Family {
    /// Prepares for a command.
    ///
    /// # Errors
    /// What keeps a control group from being made where the policy wants one.
    pub(super) fn new(policy: &CommandPolicy) -> Result<Family, Error> {
        let mark = Mark::new();
        #[cfg(target_os = "linux")]
        let group = control_group(policy, &mark)?;
        #[cfg(not(target_os = "linux"))]
        let _ = policy;
        Ok(Family {
            mark,
            #[cfg(target_os = "linux")]
            group,
        })
    }

    /// The variable that its processes have in their environment.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (VARIABLE, &self.mark.0)
    }

    /// The file by which a process enters the control group, if there is one.
    #[cfg(target_os = "linux")]
    pub(super) fn entrance(&self) -> Result<Option<OwnedFd>, Error> {
        let entrance = self.group.as_ref().map(ControlGroup::entrance).transpose();
        entrance.map_err(|error| Error::io("open", "the control group", error))
    }

    /// There are no control groups.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn entrance(&self) -> Result<Option<OwnedFd>, Error> {
        Ok(None)
    }

    /// The numbers of the living ones, in order.
    pub(super) fn living(&self, process: &Process) -> BTreeSet<i32> {
        self.numbers(&self.relatives(process, &[]))
    }

    /// Tells whether nobody is left, as far as can be known: where processes cannot be found, a
    /// closed pipe says so.
    pub(super) fn is_gone(&self, process: &Process, known: &[Relative], is_closed: bool) -> bool {
        let is_known = cfg!(target_os = "linux") || is_closed;
        let left = || self.numbers(&self.relatives(process, known));
        is_known && process.has_ended() && left().is_empty()
    }

    /// Asks all of them to end, each once, and tells who was asked: when their parents are gone
    /// they may not be found again.
    pub(super) fn ask(&self, process: &Process) -> Vec<Relative> {
        let relatives = self.relatives(process, &[]);
        let leader = process.id();
        process.signal_group(Signal::TERM);
        for relative in relatives.iter().filter(|relative| !relative.is_in_group(leader)) {
            relative.signal(Signal::TERM);
        }
        relatives
    }

    /// Kills all of them, those that are `known`, and those that they start meanwhile, until none
    /// is found.
    pub(super) fn kill(&self, process: &Process, mut known: Vec<Relative>) -> Stopped {
        let until = Instant::now() + PATIENCE;
        let mut seen = BTreeSet::new();
        loop {
            known = self.relatives(process, &known);
            let living = self.numbers(&known);
            seen.extend(living.iter().copied());
            // All of the group in one step, so that none can start another in between; and also
            // where nobody can be found.
            process.signal_group(Signal::KILL);
            for relative in &known {
                relative.signal(Signal::KILL);
            }
            self.kill_group(until);
            if living.is_empty() || Instant::now() > until {
                seen.remove(&process.id());
                let count = seen.difference(&living).count();
                return Stopped { count, survivors: living.into_iter().collect() };
            }
            thread::sleep(PAUSE);
        }
    }

    fn relatives(&self, process: &Process, known: &[Relative]) -> Vec<Relative> {
        relatives(process.id(), &self.mark.assignment(), known)
    }

    fn numbers(&self, relatives: &[Relative]) -> BTreeSet<i32> {
        relatives.iter().map(|relative| relative.id).chain(self.grouped()).collect()
    }

    #[cfg(target_os = "linux")]
    fn grouped(&self) -> Vec<i32> {
        self.group.as_ref().map(ControlGroup::members).unwrap_or_default()
    }

    #[cfg(not(target_os = "linux"))]
    fn grouped(&self) -> Vec<i32> {
        Vec::new()
    }

    #[cfg(target_os = "linux")]
    fn kill_group(&self, until: Instant) {
        if let Some(group) = &self.group {
            group.kill(until);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn kill_group(&self, _: Instant) {}
}

#[cfg(target_os = "linux")]
fn control_group(policy: &CommandPolicy, mark: &Mark) -> Result<Option<ControlGroup>, Error> {
    let Some(directory) = &policy.control_groups else { return Ok(None) };
    let made = ControlGroup::make(directory, format!("ripkit-{}", mark.0));
    made.map(Some)
        .map_err(|error| Error::io("make a control group in", &directory.to_string_lossy(), error))
}
