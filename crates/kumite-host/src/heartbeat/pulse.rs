//! Absence of a thread: time in which it neither worked, nor waited for a CPU, nor slept as it had asked.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

/// The kernel's accounts of one thread. The file stays open, so that a reading costs a microsecond.
#[derive(Debug)]
pub(super) struct ThreadAccounts {
    schedstat: Option<File>,
}

/// The clock and the kernel's accounts at a moment in the life of a thread.
#[derive(Debug)]
pub(super) struct Pulse {
    at: Instant,
    /// The kernel's accounts just before the clock was read; `after` has those just after. What happens between the
    /// readings is in one of the two.
    before: Account,
    after: Account,
}

#[derive(Clone, Copy, Debug)]
struct Account {
    /// The time on a CPU or waiting for one. `None` if the kernel does not tell.
    cpu: Option<Duration>,
    /// The number of times that the thread waited for its own memory to be read from a disk. `None` if the kernel
    /// does not tell.
    major_faults: Option<i64>,
}

impl ThreadAccounts {
    /// Opens the accounts of the calling thread. No other thread may then read them.
    pub fn open() -> ThreadAccounts {
        ThreadAccounts { schedstat: File::open("/proc/thread-self/schedstat").ok() }
    }

    /// Reads the clock, and the accounts before and after it.
    pub fn pulse(&self) -> Pulse {
        let before = self.account();
        let at = Instant::now();
        Pulse { at, before, after: self.account() }
    }

    fn account(&self) -> Account {
        let cpu = self.schedstat.as_ref().and_then(|file| {
            let mut text = [0; 128];
            let length = file.read_at(&mut text, 0).ok()?;
            on_or_waiting_for_cpu(str::from_utf8(&text[..length]).ok()?)
        });
        let usage = getrusage(UsageWho::RUSAGE_THREAD);
        Account { cpu, major_faults: usage.ok().map(|usage| usage.major_page_faults()) }
    }
}

impl Pulse {
    /// The pulse just before a thread is started, with accounts of zero.
    pub fn first() -> Pulse {
        let none = Account { cpu: Some(Duration::ZERO), major_faults: Some(0) };
        Pulse { at: Instant::now(), before: none, after: none }
    }

    pub fn since(&self, last: &Pulse) -> Duration {
        self.at.saturating_duration_since(last.at)
    }
}

/// The time between two pulses in which a thread that had asked to sleep for `sleep` was away. Waiting for a CPU or
/// for memory is no absence: a contender that takes all CPUs, or all memory, must not be able to void a trial. Zero
/// if the kernel does not tell.
pub(super) fn absence(last: &Pulse, now: &Pulse, sleep: Duration) -> Duration {
    let waited_for_memory = now.after.major_faults != last.before.major_faults;
    match (last.before.cpu, now.after.cpu) {
        (Some(before), Some(after)) if !waited_for_memory => {
            now.since(last).saturating_sub(sleep).saturating_sub(after.saturating_sub(before))
        }
        _ => Duration::ZERO,
    }
}

/// The sum of the time on a CPU and the time waiting for one, the first two numbers in `schedstat`, in ns. `None` if
/// they are not there.
fn on_or_waiting_for_cpu(schedstat: &str) -> Option<Duration> {
    let mut times = schedstat.split_ascii_whitespace().map(str::parse::<u64>);
    Some(Duration::from_nanos(times.next()?.ok()? + times.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// From one moment to another with these accounts, so many milliseconds later.
    fn away_ms(elapsed: u32, before: Option<(u32, i64)>, after: Option<(u32, i64)>) -> u128 {
        let accounts = |of: Option<(u32, i64)>| Account {
            cpu: of.map(|(ms, _)| MS * ms),
            major_faults: of.map(|(_, faults)| faults),
        };
        let at = Instant::now();
        let pulse = |at, of| Pulse { at, before: accounts(of), after: accounts(of) };
        absence(&pulse(at, before), &pulse(at + MS * elapsed, after), MS * 20).as_millis()
    }

    #[test]
    fn a_gap_without_waiting_for_a_cpu_is_absence_and_one_with_it_is_not() {
        assert_eq!(away_ms(20, Some((5, 0)), Some((5, 0))), 0);
        assert_eq!(away_ms(1220, Some((5, 0)), Some((5, 0))), 1200);
        assert_eq!(away_ms(1220, Some((5, 0)), Some((1205, 0))), 0, "it waited for all of it");
        assert_eq!(away_ms(1220, Some((5, 0)), Some((205, 0))), 1000, "stopped, and then it waited");
        assert_eq!(away_ms(5, Some((5, 0)), Some((6, 0))), 0, "woken early");
    }

    #[test]
    fn a_gap_with_a_wait_for_memory_or_of_unknown_cause_is_no_absence() {
        assert_eq!(away_ms(1220, Some((5, 3)), Some((5, 4))), 0);
        assert_eq!(away_ms(1220, None, None), 0);
    }

    #[test]
    fn a_wait_between_clock_and_account_is_counted_at_either_side() {
        let at = Instant::now();
        let account = |ms| Account { cpu: Some(MS * ms), major_faults: Some(0) };
        // It waited for 300 ms just after the clock was read, and before the account was.
        let last = Pulse { at, before: account(0), after: account(300) };
        let next = Pulse { at: at + MS * 320, before: account(300), after: account(300) };
        assert_eq!(absence(&last, &next, MS * 20), Duration::ZERO);
    }

    #[test]
    fn the_kernels_line_is_read_and_nonsense_is_not() {
        assert_eq!(on_or_waiting_for_cpu("1000000 500 7\n"), Some(Duration::from_nanos(1_000_500)));
        assert_eq!((on_or_waiting_for_cpu(""), on_or_waiting_for_cpu("x y z")), (None, None));
    }
}
