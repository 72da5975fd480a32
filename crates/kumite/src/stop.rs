//! Ctrl-C, and what other programs send to end us.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP, SIGXFSZ};

use crate::exit::Failure;

/// Set when a signal may end us at once, for nothing would be lost.
static ENDS: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// From now on a signal does what it does to a program that does not listen: all that was measured is kept, and what is
/// left to do can be done again.
pub fn end_at_once() {
    ENDS.store(true, Ordering::SeqCst);
}

/// From now on a signal sets the flag again: there is more to measure.
pub fn end_in_order() {
    ENDS.store(false, Ordering::SeqCst);
}

/// A file that may not grow any more (`ulimit -f`) is an error where it is written, and does not end us without a word.
pub fn survive_full_files() {
    // Where that cannot be had, nothing is lost but the words.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// A flag that is set by SIGINT, SIGTERM and SIGHUP. Whoever works looks at it often and ends in an orderly way. SIGHUP
/// stays ignored where we were started to ignore it, as `nohup` does.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    set_by(&[SIGINT, SIGTERM])
}

/// One that Ctrl-Z sets, too (SIGTSTP): who is suspended releases nothing.
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

/// The kernel shows ignored signals as a mask with a bit for each.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    (mask >> (signal - 1)) & 1 == 1
}
