//! The first interrupt cancels the running call, the second ends the program.

use std::io;

use ripkit::Cancel;

/// Raises `cancel` on SIGINT and SIGTERM: what runs is stopped in an orderly way, and none of its
/// processes is left.
#[cfg(unix)]
pub(super) fn cancel_on_interrupt(cancel: &Cancel) -> io::Result<()> {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::flag;
    use signal_hook::iterator::Signals;

    let seen = Arc::new(AtomicBool::new(false));
    // In this order: the first interrupt must find the flag down, and then raise it.
    for signal in [SIGINT, SIGTERM] {
        let status = super::exit::INTERRUPTED.into();
        flag::register_conditional_shutdown(signal, status, Arc::clone(&seen))?;
        flag::register(signal, Arc::clone(&seen))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let cancel = cancel.clone();
    let watch = move || signals.forever().take(1).for_each(|_| cancel.cancel());
    thread::Builder::new().name("interrupt".to_owned()).spawn(watch)?;
    Ok(())
}

/// Elsewhere an interrupt ends the program at once.
#[cfg(not(unix))]
pub(super) fn cancel_on_interrupt(_: &Cancel) -> io::Result<()> {
    Ok(())
}
