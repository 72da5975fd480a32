//! Waiting in tests.

use std::time::{Duration, Instant};

/// The limit for all waits of tests: longer than any takes, even on a machine that stands still for a while.
pub const LONG: Duration = Duration::from_secs(60);

/// Waits until `happens` returns true. Panics after [`LONG`].
#[track_caller]
pub fn eventually(mut happens: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happens() {
        assert!(began.elapsed() < LONG, "it has not happened after {LONG:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
