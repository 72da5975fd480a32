//! Ctrl-C, and what other programs send to end us.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Failure;

/// A flag that is set by SIGINT, SIGTERM and SIGHUP. Whoever works looks at it often and ends in an orderly way. What we
/// were started to ignore, as `nohup` does with SIGHUP, stays ignored.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let ignored = ignored();
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| (ignored >> (signal - 1)) & 1 == 0) {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Failure::Incomplete(format!("cannot listen for signals: {error}")))?;
    }
    Ok(stop)
}

/// The signals that are ignored, a bit each, as the kernel shows them.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
