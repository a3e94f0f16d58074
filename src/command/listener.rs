//! Reading the output of a running command until it ends or must stop.

use std::time::{Duration, Instant};

use super::capture::{Capture, Captured};
use super::spool::{Spool, Spooled};
use crate::context::{Call, Incomplete};
use crate::os::process::{Process, Received, Until};

/// How often a running command is checked for cancellation.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Bytes read at once.
const BLOCK: usize = 64 * 1024;

/// How long output is read after the command has ended.
const AFTERMATH: Duration = Duration::from_millis(100);

/// How much output is read after the command has ended, in bytes.
const AFTERMATH_BYTES: usize = 1 << 20;

/// Reads the pipe for standard output and error into a capture and a spool file.
#[derive(Debug)]
pub(super) struct Listener<'a> {
    buffer: Vec<u8>,
    capture: Capture,
    spool: Spool<'a>,
    /// No process holds the write end of the pipe any more.
    is_closed: bool,
}

impl<'a> Listener<'a> {
    pub(super) fn new(capture: Capture, spool: Spool<'a>) -> Listener<'a> {
        Listener { buffer: vec![0; BLOCK], capture, spool, is_closed: false }
    }

    /// Reads until the command has ended; returns the reason if it must stop before.
    pub(super) fn wait(&mut self, process: &mut Process, call: &Call) -> Option<Incomplete> {
        loop {
            let received = self.receive(process);
            if process.has_ended() {
                return None;
            }
            if let Some(why) = call.stop_reason() {
                return Some(why);
            }
            if received == 0 {
                let until = if self.is_closed { Until::End } else { Until::Either };
                let left = call.deadline().map(|end| end.saturating_duration_since(Instant::now()));
                process.wait(until, left.unwrap_or(CHECK_INTERVAL).min(CHECK_INTERVAL));
            }
        }
    }

    /// Reads until `is_enough` returns true or `timeout` has passed.
    pub(super) fn wait_until(
        &mut self,
        process: &mut Process,
        timeout: Duration,
        is_enough: impl Fn(&Process, bool) -> bool,
    ) {
        let until = Instant::now() + timeout;
        while Instant::now() < until && !is_enough(process, self.is_closed) {
            if self.receive(process) == 0 {
                self.pause(process, CHECK_INTERVAL);
            }
        }
    }

    /// Reads what is left in the pipe after the command has ended, until nothing came for `silence`.
    pub(super) fn drain(&mut self, process: &mut Process, silence: Duration) {
        let started = Instant::now();
        let (mut last, mut taken) = (started, 0);
        while !self.is_closed && taken < AFTERMATH_BYTES && started.elapsed() < AFTERMATH {
            let received = self.receive(process);
            taken += received;
            if received > 0 {
                last = Instant::now();
            } else if last.elapsed() >= silence {
                break;
            } else {
                self.pause(process, silence.saturating_sub(last.elapsed()));
            }
        }
    }

    /// The captured output, the file with all of it, and a note if the file could not be written.
    pub(super) fn finish(self) -> (Captured, Option<Spooled>, Option<String>) {
        let (spooled, problem) = self.spool.finish();
        (self.capture.finish(), spooled, problem)
    }

    /// Reads at most one block; returns the number of bytes.
    fn receive(&mut self, process: &mut Process) -> usize {
        if self.is_closed {
            return 0;
        }
        let count = match process.read(&mut self.buffer) {
            Ok(Received::Bytes(count)) => count,
            Ok(Received::Nothing) => 0,
            // A pipe that cannot be read will not be readable later.
            Ok(Received::End) | Err(_) => {
                self.is_closed = true;
                0
            }
        };
        let bytes = self.buffer.get(..count).unwrap_or_default();
        if !self.capture.has_room_for(count) {
            self.spool.begin(self.capture.pieces());
            self.spool.append(bytes);
        }
        self.capture.take(bytes);
        count
    }

    fn pause(&self, process: &Process, timeout: Duration) {
        if self.is_closed {
            std::thread::sleep(timeout.min(CHECK_INTERVAL));
        } else {
            process.wait(Until::Output, timeout);
        }
    }
}
