//! Counters of how the scheduler took a tree's threads off their CPUs, and let them wait for one.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// The counters of each thread at one moment: see [`Tree::waits`](crate::Tree::waits).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    threads: BTreeMap<i32, Thread>,
}

/// The switches and waits of a tree's threads between two moments. They are a lower bound: threads that had ended by
/// the second moment are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Waited {
    /// The number of times that a thread was taken off its CPU though it had more to do. The CPU may have gone to
    /// another thread of the tree, if more of them want to run than there are CPUs.
    pub involuntary_switches: u64,
    /// The number of times that a thread left its CPU, because it was taken off or waited for something.
    pub switches: u64,
    /// The time for which threads wanted to run and had no CPU, added up over the threads. `None` if the kernel did not
    /// tell the time of one of these threads.
    pub for_cpu: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread {
    involuntary_switches: u64,
    voluntary_switches: u64,
    waited: Option<Duration>,
}

impl Waits {
    pub(crate) fn read(processes: impl Iterator<Item = i32>) -> Waits {
        let folder = |pid| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        let thread = |entry: fs::DirEntry| {
            let read = |file| fs::read_to_string(entry.path().join(file)).ok();
            let thread = Thread::parse(&read("status")?, read("schedstat").as_deref())?;
            Some((entry.file_name().to_str()?.parse().ok()?, thread))
        };
        Waits { threads: processes.flat_map(folder).filter_map(thread).collect() }
    }

    /// The switches and waits from `earlier` to `self`. A thread that is not in `earlier` counts from its start.
    pub fn since(&self, earlier: &Waits) -> Waited {
        let zero = Thread { involuntary_switches: 0, voluntary_switches: 0, waited: Some(Duration::ZERO) };
        let mut sum = Waited { involuntary_switches: 0, switches: 0, for_cpu: Some(Duration::ZERO) };
        for (id, now) in &self.threads {
            let then = earlier.threads.get(id).unwrap_or(&zero);
            // A thread that has the id of one that ended has less than it had.
            let involuntary = now.involuntary_switches.saturating_sub(then.involuntary_switches);
            sum.involuntary_switches += involuntary;
            sum.switches += involuntary + now.voluntary_switches.saturating_sub(then.voluntary_switches);
            let waited = now.waited.zip(then.waited).map(|(now, then)| now.saturating_sub(then));
            sum.for_cpu = sum.for_cpu.zip(waited).map(|(sum, waited)| sum + waited);
        }
        sum
    }
}

impl Thread {
    fn parse(status: &str, schedstat: Option<&str>) -> Option<Thread> {
        let count = |key| status.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok();
        // The numbers are the time on a CPU, the time in wait for one, and how often the thread got one.
        let waited = schedstat.and_then(|text| text.split_ascii_whitespace().nth(1)?.parse().ok());
        Some(Thread {
            involuntary_switches: count("nonvoluntary_ctxt_switches:")?,
            voluntary_switches: count("voluntary_ctxt_switches:")?,
            waited: waited.map(Duration::from_nanos),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(threads: &[(i32, u64, Option<u64>)]) -> Waits {
        let thread = |&(id, involuntary_switches, waited_ms): &(i32, u64, Option<u64>)| {
            let waited = waited_ms.map(Duration::from_millis);
            (id, Thread { involuntary_switches, voluntary_switches: 2 * involuntary_switches, waited })
        };
        Waits { threads: threads.iter().map(thread).collect() }
    }

    #[test]
    fn new_threads_count_whole_and_ended_ones_not() {
        let before = waits(&[(1, 10, Some(100)), (2, 5, Some(50))]);
        let after = waits(&[(1, 17, Some(130)), (3, 4, Some(40))]);
        let waited = after.since(&before);
        assert_eq!((waited.involuntary_switches, waited.for_cpu), (11, Some(Duration::from_millis(70))));
        assert_eq!(waited.switches, 33);
        let another = waits(&[(1, 2, Some(1))]);
        assert_eq!(another.since(&before).involuntary_switches, 0, "an id that came round again");
    }

    #[test]
    fn a_kernel_that_does_not_keep_the_time_says_so() {
        let waited = waits(&[(1, 9, None)]).since(&waits(&[(1, 2, None)]));
        assert_eq!((waited.involuntary_switches, waited.for_cpu), (7, None));
    }

    #[test]
    fn a_thread_is_read_from_both_of_its_files() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t3\n";
        let thread = Thread::parse(status, Some("5000 2000000 9\n")).unwrap();
        assert_eq!(
            thread,
            Thread { involuntary_switches: 3, voluntary_switches: 7, waited: Some(Duration::from_millis(2)) }
        );
        assert_eq!(Thread::parse(status, Some("")).unwrap().waited, None);
        assert_eq!(Thread::parse("Name:\tx\n", None), None);
    }
}
