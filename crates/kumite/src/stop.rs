//! Ctrl-C, and what other programs send to end us.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::exit::Failure;

/// A flag that is set by SIGINT, SIGTERM and SIGHUP. Whoever works looks at it often and ends in an orderly way.
pub fn flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop))
            .map_err(|error| Failure::Incomplete(format!("cannot listen for signals: {error}")))?;
    }
    Ok(stop)
}
