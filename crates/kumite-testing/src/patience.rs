//! Waiting in tests.

use std::time::{Duration, Instant};

/// Nothing that a test waits for takes so long, on a machine that stands still for a while neither.
pub const LONG: Duration = Duration::from_secs(60);

/// Waits until it happens; panics after [`LONG`].
#[track_caller]
pub fn eventually(mut happens: impl FnMut() -> bool) {
    let began = Instant::now();
    while !happens() {
        assert!(began.elapsed() < LONG, "it has not happened after {LONG:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
