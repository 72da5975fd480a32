//! Work that is told to stop when its time is over, as when the user stops it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often it is looked whether the user has stopped it.
const LOOK: Duration = Duration::from_millis(50);

/// Does it, and says whether its time was over before its end. It is given the flag to look at.
pub(crate) fn within<T>(
    limit: Option<Duration>,
    stop: &AtomicBool,
    work: impl FnOnce(&AtomicBool) -> T,
) -> (T, bool) {
    let Some(limit) = limit else { return (work(stop), false) };
    let (told, is_over, is_done) = (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let began = Instant::now();
    let done = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let is_late = began.elapsed() >= limit;
                is_over.fetch_or(is_late, Ordering::Relaxed);
                told.fetch_or(is_late || stop.load(Ordering::Relaxed), Ordering::Relaxed);
                thread::park_timeout(
                    LOOK.min(limit.saturating_sub(began.elapsed()).max(Duration::from_millis(1))),
                );
            }
        });
        let done = work(&told);
        is_done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        done
    });
    (done, is_over.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Until it is told to stop; bounded all the same.
    fn waits(stop: &AtomicBool) -> bool {
        let began = Instant::now();
        while !stop.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(60) {
            thread::sleep(Duration::from_millis(1));
        }
        stop.load(Ordering::Relaxed)
    }

    #[test]
    fn work_is_stopped_when_its_time_is_over_or_the_user_says_so() {
        let stop = AtomicBool::new(false);
        assert_eq!(within(Some(Duration::from_millis(30)), &stop, waits), (true, true));
        assert!(!stop.load(Ordering::Relaxed), "the user did not stop it");
        assert_eq!(within(Some(Duration::from_secs(60)), &stop, |_| 7), (7, false));
        assert_eq!(within(None, &stop, |_| 7), (7, false));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(within(Some(Duration::from_secs(60)), &stop, waits), (true, false));
    }
}
