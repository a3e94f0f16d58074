//! Running a call: an interrupt stops it, and a line tells how far it has come.

use ripkit::{Call, Cancel};

use super::interrupt;
use super::progress::ProgressLine;

/// Does work under the conditions of `call`, to which cancellation and progress are added.
pub(super) fn attended<R>(call: Call, work: impl FnOnce(&Call) -> R) -> R {
    let cancel = Cancel::new();
    // Without the handler an interrupt ends the program at once, which is what was asked.
    let _ = interrupt::cancel_on_interrupt(&cancel);
    let progress = ProgressLine::new();
    let call = progress.watch(call.with_cancel(cancel));
    let done = work(&call);
    progress.clear();
    done
}
