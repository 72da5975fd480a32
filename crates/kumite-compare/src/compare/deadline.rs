//! Work that is told to stop when its time is over, in the same way as when the user stops it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The longest time between two looks at the user's stop flag.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work`, which is called with a flag and is to stop when the flag is set: because `stop` was set, or `limit` is
/// over. Returns the result of `work`, and `true` if the time was over before the end of `work`. Without a limit, the
/// flag is `stop` itself.
pub(crate) fn within<T>(
    limit: Option<Duration>,
    stop: &AtomicBool,
    work: impl FnOnce(&AtomicBool) -> T,
) -> (T, bool) {
    let Some(limit) = limit else { return (work(stop), false) };
    let (is_over, began) = (AtomicBool::new(false), Instant::now());
    let over = || {
        let is_late = began.elapsed() >= limit;
        is_over.fetch_or(is_late, Ordering::Relaxed);
        is_late || stop.load(Ordering::Relaxed)
    };
    let done = until(limit, over, work);
    (done, is_over.load(Ordering::Relaxed))
}

/// Does `work`, which tidies up after other work, and is called with a flag. Once `is_cut_off` says that the other work
/// was cut off, `work` still has the time `grace`; then the flag is set.
pub(crate) fn with_grace<T>(
    grace: Duration,
    is_cut_off: impl Fn() -> bool + Sync,
    work: impl FnOnce(&AtomicBool) -> T,
) -> T {
    let since = OnceLock::new();
    until(grace, || is_cut_off() && since.get_or_init(Instant::now).elapsed() >= grace, work)
}

/// Does `work`, and sets the flag that it is given once `over` returns `true`. `over` is asked again and again, at
/// intervals of at most `first`, but no shorter ones than 1 ms.
fn until<T>(first: Duration, over: impl Fn() -> bool + Sync, work: impl FnOnce(&AtomicBool) -> T) -> T {
    let (told, is_done) = (AtomicBool::new(false), AtomicBool::new(false));
    let look = LOOK.min(first).max(Duration::from_millis(1));
    thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                told.fetch_or(over(), Ordering::Relaxed);
                thread::park_timeout(look);
            }
        });
        let done = work(&told);
        is_done.store(true, Ordering::Relaxed);
        watch.thread().unpark();
        done
    })
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

    #[test]
    fn what_tidies_up_has_its_grace_from_when_the_work_was_cut_off() {
        let grace = Duration::from_millis(30);
        let began = Instant::now();
        assert!(with_grace(grace, || true, waits));
        assert!(began.elapsed() >= grace);
        // Nothing was cut off, and nothing is told to stop.
        let waited = |stop: &AtomicBool| {
            thread::sleep(3 * grace);
            stop.load(Ordering::Relaxed)
        };
        assert!(!with_grace(grace, || false, waited));
    }
}
