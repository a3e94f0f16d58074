//! Changes the tree concurrently while tools are called.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Runs `attack` repeatedly in a thread until `work` is done.
pub(crate) fn under_attack(attack: impl Fn() + Send + 'static, work: impl FnOnce()) {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let attacker = thread::spawn(move || {
        let mut rounds = 0_u64;
        while !seen.load(Ordering::Relaxed) {
            attack();
            rounds += 1;
        }
        rounds
    });
    let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    stop.store(true, Ordering::Relaxed);
    let rounds = attacker.join().unwrap();
    if let Err(panic) = worked {
        std::panic::resume_unwind(panic);
    }
    assert!(rounds > 10, "the attacker came to act only {rounds} times");
}

pub(crate) fn exchange(one: &Path, other: &Path) {
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
}
