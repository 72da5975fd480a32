//! Tests in which time matters, on machines that stand still now and then, or have no CPU for us.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long it is tried.
const PATIENCE: Duration = Duration::from_secs(15);
const NAP: Duration = Duration::from_millis(1);

/// What was measured in a time in which nothing was held up for longer than `most`. It is measured anew only where something
/// was, for then it says nothing, whatever it is; what it is, is not looked at. `None`, said loudly, where it always was.
#[allow(dead_code, reason = "each test program uses its part")]
pub fn undisturbed<T>(most: Duration, mut measure: impl FnMut() -> T) -> Option<T> {
    undisturbed_as_seen(most, || (measure(), Duration::ZERO))
}

/// The same, where what is measured may have seen itself for how long it was held up.
#[allow(dead_code, reason = "each test program uses its part")]
pub fn undisturbed_as_seen<T>(most: Duration, mut measure: impl FnMut() -> (T, Duration)) -> Option<T> {
    let began = Instant::now();
    loop {
        let ((measured, seen), held_up) = watched(&mut measure);
        let held_up = held_up.max(seen);
        if held_up <= most {
            return Some(measured);
        }
        if began.elapsed() > PATIENCE {
            let test = thread::current();
            let test = test.name().unwrap_or_default();
            // Straight to stderr: what a test prints in the usual way is not shown when it passes.
            let _ = writeln!(
                std::io::stderr(),
                "NOT TESTED: times in {test}: this machine holds us up {held_up:?}"
            );
            return None;
        }
    }
}

/// And for how long at most a thread was held up meanwhile that wanted to run all the time, but for naps.
fn watched<T>(measure: &mut impl FnMut() -> T) -> (T, Duration) {
    let over = AtomicBool::new(false);
    let mut last = Instant::now();
    let watch = || {
        let mut longest = Duration::ZERO;
        while !over.load(Ordering::Relaxed) {
            thread::sleep(NAP);
            longest = longest.max(last.elapsed().saturating_sub(NAP));
            last = Instant::now();
        }
        longest
    };
    thread::scope(|scope| {
        let watching = scope.spawn(watch);
        // Also where it panics, or its scope would wait for ever.
        let end = Over(&over);
        let measured = measure();
        drop(end);
        (measured, watching.join().expect("to watch does not panic"))
    })
}

struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
