//! Ctrl-C, and the signals by which other programs end this one.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};

use crate::exit::Failure;

/// True while a signal may end the process at once, since nothing would be lost.
static ENDS: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Lets signals end the process at once from now on: all that was measured is kept, and what is left to do can be
/// done again.
pub fn end_at_once() {
    ENDS.store(true, Ordering::SeqCst);
}

/// Undoes [`end_at_once`]: from now on signals only set the flag again, since there is more to measure.
pub fn end_in_order() {
    ENDS.store(false, Ordering::SeqCst);
}

/// Makes a write to a file that may not grow any more (`ulimit -f`) an error, in place of a signal that ends the
/// process without a word.
pub fn survive_full_files() {
    // If that cannot be had, nothing is lost but the words.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// A flag that SIGINT, SIGTERM and SIGHUP set. Work looks at it often, and ends in order. SIGHUP stays ignored if this
/// process was started so, as `nohup` does. An error if a handler cannot be installed.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    set_by(&[SIGINT, SIGTERM])
}

/// A flag like that of [`flag`], which Ctrl-Z (SIGTSTP) sets, too. It is for work that holds a device: a process that
/// is suspended would release nothing. An error if a handler cannot be installed.
pub fn flag_for_who_holds() -> Result<Arc<AtomicBool>, Failure> {
    set_by(&[SIGINT, SIGTERM, SIGTSTP])
}

fn set_by(signals: &[i32]) -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in signals.iter().copied().chain(hang_up) {
        let listen = || {
            signal_hook::flag::register_conditional_default(signal, Arc::clone(&ENDS))?;
            signal_hook::flag::register(signal, Arc::clone(&stop))
        };
        listen().map_err(|error| Failure::Incomplete(format!("cannot listen for signals: {error}")))?;
    }
    Ok(stop)
}

/// True if this process ignores a signal. The kernel shows ignored signals as a mask with a bit for each.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (mask >> (signal - 1)) & 1 == 1
}
