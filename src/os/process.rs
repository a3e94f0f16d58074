//! Starting a program and seeing it end: the only place that names `std::process`.

#[cfg(target_os = "linux")]
mod control_group;
#[cfg(target_os = "linux")]
mod descendants;
mod descriptors;
#[cfg(not(target_os = "linux"))]
mod unknown_descendants;

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::OFlags;
use rustix::io::Errno;
pub(crate) use rustix::process::Signal;
use rustix::process::{Pid, WaitId, WaitIdOptions};

use crate::os::{Dir, split_at_count};
#[cfg(target_os = "linux")]
pub(crate) use control_group::ControlGroup;
#[cfg(target_os = "linux")]
pub(crate) use descendants::{Descendant, descendants};
#[cfg(not(target_os = "linux"))]
pub(crate) use unknown_descendants::{Descendant, descendants};

/// How long a process that was killed may take to end before it is left to itself.
const LAST_BREATH: Duration = Duration::from_millis(100);

/// How often the end of a program is looked for that cannot be watched.
const UNWATCHED: Duration = Duration::from_millis(5);

/// A program to start.
pub(crate) struct Launch<'a> {
    /// Its path, or a name that is looked up in the PATH of `environment`.
    pub(crate) program: &'a OsStr,
    pub(crate) arguments: Vec<&'a OsStr>,
    /// All of its environment.
    pub(crate) environment: &'a [(OsString, OsString)],
    /// Where it starts.
    pub(crate) directory: Dir,
    /// A file into which it writes `0` before it becomes the program: that of a control group.
    pub(crate) entrance: Option<OwnedFd>,
}

/// A started program, in a session and process group of its own, with one pipe for all that it
/// prints. Dropped, it is killed with its group and waited for.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    pid: Pid,
    output: PipeReader,
    /// Becomes readable when it ends, where the system has such handles.
    end: Option<OwnedFd>,
    reaped: bool,
}

/// What there is to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received<'a> {
    Bytes(&'a [u8]),
    /// Somebody may still write.
    Nothing,
    /// Nobody holds the pipe any more.
    End,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Something to read, or the end of the pipe.
    Output,
    /// The end of the program.
    End,
    /// One of them.
    Either,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    Exited(i32),
    Killed(i32),
    /// Somebody else in this process took its status, or it has not ended at all.
    Unknown,
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Ending {
        let killed = status.signal().map(Ending::Killed);
        status.code().map(Ending::Exited).or(killed).unwrap_or(Ending::Unknown)
    }
}

impl Process {
    /// Starts a program with an empty standard input and one pipe for standard output and error.
    pub(crate) fn start(launch: Launch<'_>) -> io::Result<Process> {
        let (output, write) = io::pipe()?;
        let flags = rustix::fs::fcntl_getfl(&output)?;
        rustix::fs::fcntl_setfl(&output, flags | OFlags::NONBLOCK)?;
        #[expect(clippy::disallowed_methods, reason = "the one place that starts programs")]
        let mut command = Command::new(launch.program);
        command.args(launch.arguments).env_clear();
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(write.try_clone()?).stderr(write);
        prepare(&mut command, launch.directory, launch.entrance);
        let child = command.spawn()?;
        // Our ends of the pipe and the handles for the way are of no use any more.
        drop(command);
        let pid = Pid::from_child(&child);
        Ok(Process { child, pid, output, end: end_of(pid), reaped: false })
    }

    /// The process, and its group and session.
    pub(crate) fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Reads what was printed, without waiting for more.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut [u8]) -> io::Result<Received<'b>> {
        match self.output.read(buffer) {
            Ok(0) => Ok(Received::End),
            Ok(count) => Ok(Received::Bytes(split_at_count(buffer, count)?.0)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Received::Nothing),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Received::Nothing),
            Err(error) => Err(error),
        }
    }

    /// Waits for what `until` says, but not much longer than `patience`.
    pub(crate) fn wait(&self, until: Until, patience: Duration) {
        let mut watched = Vec::with_capacity(2);
        if until != Until::End {
            watched.push(PollFd::new(&self.output, PollFlags::IN));
        }
        let end = self.end.as_ref().filter(|_| until != Until::Output);
        watched.extend(end.map(|end| PollFd::new(end, PollFlags::IN)));
        // Where the end cannot be watched it is looked for more often.
        let is_told = end.is_some() || until == Until::Output;
        let most = if is_told { patience } else { patience.min(UNWATCHED) };
        let timeout = Timespec {
            tv_sec: most.as_secs().min(1).cast_signed() as _,
            tv_nsec: most.subsec_nanos().into(),
        };
        // A signal ends the wait early, which does no harm.
        let _ = rustix::event::poll(&mut watched, Some(&timeout));
    }

    /// Tells whether the program has ended. Until it is reaped its number stays its own, so that
    /// a signal to its group cannot reach strangers.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(self.pid), options) {
            Ok(status) => status.is_some(),
            // Somebody else in this process waits for all children, or nobody has to.
            Err(error) => error == Errno::CHILD,
        }
    }

    /// Sends a signal to all of its group.
    pub(crate) fn signal_group(&self, signal: Signal) {
        // Whoever has ended needs no signal.
        let _ = rustix::process::kill_process_group(self.pid, signal);
    }

    /// Takes its status. What does not end although it was killed is left to itself.
    pub(crate) fn reap(&mut self) -> Ending {
        let until = Instant::now() + LAST_BREATH;
        while !self.has_ended() {
            if Instant::now() > until {
                return Ending::Unknown;
            }
            self.wait(Until::End, LAST_BREATH);
        }
        self.reaped = true;
        self.child.wait().map_or(Ending::Unknown, Ending::from)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal_group(Signal::KILL);
            self.reap();
        }
    }
}

#[cfg(target_os = "linux")]
fn end_of(pid: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_: Pid) -> Option<OwnedFd> {
    None
}

/// Says what the new process does before it becomes the program.
#[expect(unsafe_code, reason = "std has no safe way to do something between fork and exec")]
fn prepare(command: &mut Command, directory: Dir, entrance: Option<OwnedFd>) {
    let before = move || -> io::Result<()> {
        // Without a controlling terminal nothing can ask a person for a password.
        rustix::process::setsid()?;
        rustix::process::fchdir(directory.as_fd())?;
        if let Some(entrance) = &entrance {
            rustix::io::write(entrance, b"0")?;
        }
        descriptors::close_on_exec();
        Ok(())
    };
    // SAFETY: between fork and exec only async-signal-safe things may be done. The closure makes
    // system calls on handles that were opened before; it neither allocates nor locks, and its
    // errors are numbers.
    unsafe {
        command.pre_exec(before);
    }
}

/// What a signal is called.
pub(crate) fn signal_name(number: i32) -> Option<&'static str> {
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::SYS, "SIGSYS"),
    ];
    names.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| *name)
}
