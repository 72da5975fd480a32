//! Counters of the processor and of the kernel, for a command and all that it starts, by `perf_event_open`.
//!
//! They are opened on the thread that starts the command, switched off, before each run. The command inherits them, and
//! the kernel switches the command's on when it becomes the program (`enable_on_exec`): what this thread does is in no
//! count. What a descendant counts is added up by the kernel. Only what is executed in user mode is counted, which
//! everybody may do for processes of one's own.

use std::io;

use nix::errno::Errno;
use perf_event::events::{Hardware, Software};
use perf_event::{Builder, ReadFormat};

/// A counter of what a command does in user mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Cycles of the processor.
    CpuCycles,
    /// Instructions that were completed.
    Instructions,
    /// Accesses to the last cache, as far as the processor tells.
    CacheReferences,
    /// Accesses to memory that the last cache did not have.
    CacheMisses,
    /// Branches that the processor predicted wrong.
    BranchMisses,
    /// Pages that were not there when they were accessed. The kernel counts them, on every machine.
    PageFaults,
}

impl Counter {
    /// All counters.
    pub const ALL: [Counter; 6] = [
        Counter::CpuCycles,
        Counter::Instructions,
        Counter::CacheReferences,
        Counter::CacheMisses,
        Counter::BranchMisses,
        Counter::PageFaults,
    ];

    fn builder(self) -> Builder<'static> {
        let mut builder = match self {
            Counter::CpuCycles => Builder::new(Hardware::CPU_CYCLES),
            Counter::Instructions => Builder::new(Hardware::INSTRUCTIONS),
            Counter::CacheReferences => Builder::new(Hardware::CACHE_REFERENCES),
            Counter::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
            Counter::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
            Counter::PageFaults => Builder::new(Software::PAGE_FAULTS),
        };
        builder.observe_self().any_cpu();
        builder.read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
        builder
    }
}

/// The reason why counters cannot be read here. The message has the remedy, if there is one.
#[derive(Debug, thiserror::Error)]
pub enum NoCounters {
    /// The processor has no such counter, or a hypervisor hides it.
    #[error("the processor of this machine shows none; most virtual machines hide them")]
    Hidden,
    /// This user may not read counters.
    #[error("they may not be read here; as root: sysctl kernel.perf_event_paranoid=2")]
    Forbidden,
    /// The processor cannot count all these counters at once, or other programs use its counters.
    #[error("the processor cannot count all of them at once, or somebody else uses its counters; name fewer")]
    TooMany,
    /// The kernel refuses for another reason.
    #[error("they cannot be read: {0}")]
    Refused(#[source] io::Error),
}

impl From<io::Error> for NoCounters {
    fn from(error: io::Error) -> NoCounters {
        match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT | Errno::ENODEV | Errno::EOPNOTSUPP) => NoCounters::Hidden,
            Some(Errno::EACCES | Errno::EPERM) => NoCounters::Forbidden,
            Some(Errno::EBUSY) => NoCounters::TooMany,
            _ => NoCounters::Refused(error),
        }
    }
}

/// Tries whether all these counters can be read at once. The error says why not: the machine has none, forbids them, or
/// cannot count so many at once.
pub fn try_counters(counters: &[Counter]) -> Result<(), NoCounters> {
    let opened: io::Result<Vec<_>> = counters.iter().map(|counter| counter.builder().build()).collect();
    let mut opened = opened?;
    for counter in &mut opened {
        counter.enable()?;
    }
    // Something to count; the kernel gives counters out when the thread runs.
    std::hint::black_box((0..100_000_u64).fold(0, |sum: u64, n| sum.wrapping_mul(31).wrapping_add(n)));
    for counter in &mut opened {
        if !counted_all_the_time(&counter.read_full()?) {
            return Err(NoCounters::TooMany);
        }
    }
    Ok(())
}

/// False if others had the counter for some of the time.
fn counted_all_the_time(read: &perf_event::CounterData) -> bool {
    read.time_running() >= read.time_enabled()
}

/// The counters of a run that is about to begin.
pub(crate) struct Counting(Vec<(Counter, perf_event::Counter)>);

/// The counts of a run, by the position of the counter in [`Counter::ALL`]; 0 for a counter that was not asked for.
pub type Counts = [u64; Counter::ALL.len()];

impl Counting {
    /// Opens these counters for the next command that this thread starts.
    pub(crate) fn open(counters: &[Counter]) -> io::Result<Counting> {
        let open = |counter: &Counter| {
            let opened = counter.builder().inherit(true).enable_on_exec(true).build()?;
            Ok((*counter, opened))
        };
        counters.iter().map(open).collect::<io::Result<_>>().map(Counting)
    }

    /// Reads them, after the command has ended. An error (EBUSY) if one did not count all the time.
    pub(crate) fn read(&mut self) -> io::Result<Counts> {
        let mut counts = Counts::default();
        for (counter, opened) in &mut self.0 {
            let read = opened.read_full()?;
            if !counted_all_the_time(&read) {
                return Err(Errno::EBUSY.into());
            }
            counts[*counter as usize] = read.count();
        }
        Ok(counts)
    }
}

/// Counters as one number, on their way to the helper: a bit for each.
pub(crate) fn as_bits(counters: &[Counter]) -> u64 {
    counters.iter().fold(0, |bits, counter| bits | 1 << *counter as u64)
}

/// The counters that [`as_bits`] has made a number of.
pub(crate) fn of_bits(bits: u64) -> Vec<Counter> {
    Counter::ALL.into_iter().filter(|counter| bits & (1 << *counter as u64) != 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_come_out_as_they_went_in() {
        assert_eq!(of_bits(as_bits(&Counter::ALL)), Counter::ALL);
        let some = [Counter::Instructions, Counter::PageFaults];
        assert_eq!(of_bits(as_bits(&some)), some);
        assert_eq!(of_bits(as_bits(&[])), []);
    }

    #[test]
    fn what_the_kernel_refuses_has_a_reason() {
        let why = |errno: Errno| NoCounters::from(io::Error::from(errno));
        assert!(matches!(why(Errno::ENOENT), NoCounters::Hidden));
        assert!(matches!(why(Errno::EACCES), NoCounters::Forbidden));
        assert!(matches!(why(Errno::EBUSY), NoCounters::TooMany));
        assert!(matches!(why(Errno::EMFILE), NoCounters::Refused(_)));
    }
}
