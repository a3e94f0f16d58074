//! Listening to a running command: all that it prints, until it ends or must stop.

use std::time::{Duration, Instant};

use super::capture::{Capture, Captured};
use super::spool::{Spool, Spooled};
use crate::context::{Call, Incomplete};
use crate::os::process::{Process, Received, Until};

/// How often a running command is looked at for a cancel.
const TICK: Duration = Duration::from_millis(10);

/// How much is read at once, in bytes.
const BLOCK: usize = 64 * 1024;

/// How long output is taken at all after the command has ended.
const AFTERMATH: Duration = Duration::from_millis(100);

/// How much output is taken after the command has ended, in bytes.
const AFTERMATH_BYTES: usize = 1 << 20;

/// One pair of ears for standard output and error.
#[derive(Debug)]
pub(super) struct Listener<'a> {
    buffer: Vec<u8>,
    capture: Capture,
    spool: Spool<'a>,
    /// Nobody holds the pipe any more.
    is_closed: bool,
}

impl<'a> Listener<'a> {
    pub(super) fn new(capture: Capture, spool: Spool<'a>) -> Listener<'a> {
        Listener { buffer: vec![0; BLOCK], capture, spool, is_closed: false }
    }

    /// Listens until the command has ended; if it must stop before, the reason is returned.
    pub(super) fn attend(&mut self, process: &mut Process, call: &Call) -> Option<Incomplete> {
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
                process.wait(until, left.unwrap_or(TICK).min(TICK));
            }
        }
    }

    /// Takes what comes until `is_enough` or `patience` has passed.
    pub(super) fn endure(
        &mut self,
        process: &mut Process,
        patience: Duration,
        is_enough: impl Fn(&Process, bool) -> bool,
    ) {
        let until = Instant::now() + patience;
        while Instant::now() < until && !is_enough(process, self.is_closed) {
            if self.receive(process) == 0 {
                self.pause(process, TICK);
            }
        }
    }

    /// Takes what is in the pipe after the command has ended, until nothing came for as long as
    /// `silence`.
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

    /// What was heard, the file that holds all of it, and why there is none.
    pub(super) fn finish(self) -> (Captured, Option<Spooled>, Option<String>) {
        let (spooled, trouble) = self.spool.finish();
        (self.capture.finish(), spooled, trouble)
    }

    /// Takes at most a block and tells how many bytes there were.
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

    fn pause(&self, process: &Process, patience: Duration) {
        if self.is_closed {
            std::thread::sleep(patience.min(TICK));
        } else {
            process.wait(Until::Output, patience);
        }
    }
}
