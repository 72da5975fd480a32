//! Probes of the machine between blocks, so that a long comparison shows when the machine changed. They take at most
//! 2 % of the comparison's time, unless one takes longer than all before it, and nothing of its first second.
//!
//! The process that probes is started between two blocks as well, once as much time has been saved up for it: a
//! comparison of a few seconds never has one. So nothing of its start, or of a probe, falls into a run. What they took
//! is measured, and the next probe waits until it is paid for.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::Clock;
use kumite_probe::{ProbeError, Prober};
use kumite_record::ComparedProbe;

/// The time before which there is no probe.
const FIRST: Duration = Duration::from_secs(1);
/// The share of the comparison's time that probes may take.
const SHARE: f64 = 0.02;
/// The time that a probe is expected to take until one took longer: that of its basic operations, and the pauses
/// between them.
const EACH: Duration = Duration::from_millis(20);
/// The time that a probe is given for its basic operations together.
const ASKED: Duration = Duration::from_millis(15);
/// The time that the start of the process is expected to take: it fills 64 MiB in random order.
const START: Duration = Duration::from_millis(100);

/// The source of a probe's figures.
pub(crate) trait Source {
    /// Gets ready. `false` if the machine cannot be probed.
    fn start(&mut self) -> bool;

    /// The figures by name; `None` if the machine cannot be probed any more, or `stop` was set.
    fn figures(&mut self, stop: &AtomicBool) -> Option<BTreeMap<String, f64>>;

    /// The CPU time that the source has taken until now, its start included.
    fn cpu(&mut self) -> Duration;
}

/// The probes of a comparison.
pub(crate) struct Between<'a> {
    source: Box<dyn Source + 'a>,
    state: State,
    /// The longest probe until now, or [`EACH`] if that is longer.
    longest: Duration,
    spent: Duration,
    found: Vec<ComparedProbe>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Asleep,
    Ready,
    /// The machine cannot be probed.
    Gone,
}

impl<'a> Between<'a> {
    /// Probes of these CPUs, by kumite's own program.
    pub(crate) fn on(cpus: &[usize]) -> Between<'static> {
        Between::of(Box::new(Process { cpus: cpus.to_vec(), prober: None }))
    }

    /// Probes by another source.
    pub(crate) fn of(source: Box<dyn Source + 'a>) -> Between<'a> {
        Between { source, state: State::Asleep, longest: EACH, spent: Duration::ZERO, found: Vec::new() }
    }

    /// Probes the machine if a probe is due after `blocks` blocks, the last of which ended `elapsed` after the first
    /// had begun. To be called between two blocks. Returns the CPU time that the probe took; zero if none was due.
    pub(crate) fn after(
        &mut self,
        blocks: usize,
        elapsed: Duration,
        clock: &dyn Clock,
        stop: &AtomicBool,
    ) -> Duration {
        let costs = match self.state {
            State::Asleep => START + self.longest,
            State::Ready => self.longest,
            State::Gone => return Duration::ZERO,
        };
        if !is_due(elapsed, self.spent, costs) {
            return Duration::ZERO;
        }
        let (began, cpu) = (clock.now(), self.source.cpu());
        if self.state == State::Asleep {
            self.state = if self.source.start() { State::Ready } else { State::Gone };
        }
        if self.state == State::Ready {
            let asked = clock.now();
            match self.source.figures(stop) {
                Some(figures) => {
                    self.found.push(ComparedProbe { blocks, after_s: elapsed.as_secs_f64(), figures });
                }
                None => self.state = State::Gone,
            }
            self.longest = self.longest.max(clock.now().saturating_sub(asked));
        }
        self.spent += clock.now().saturating_sub(began);
        self.source.cpu().saturating_sub(cpu)
    }

    /// The time that all probes and the start of their process took.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// All probes, in their order.
    pub(crate) fn found(&self) -> &[ComparedProbe] {
        &self.found
    }
}

fn is_due(elapsed: Duration, spent: Duration, costs: Duration) -> bool {
    elapsed >= FIRST && spent + costs <= elapsed.mul_f64(SHARE)
}

/// The process that probes.
struct Process {
    cpus: Vec<usize>,
    prober: Option<Prober>,
}

impl Source for Process {
    fn start(&mut self) -> bool {
        let started = || -> Result<Prober, ProbeError> { Prober::start(&std::env::current_exe()?) };
        self.prober = started().ok();
        self.prober.is_some()
    }

    fn figures(&mut self, stop: &AtomicBool) -> Option<BTreeMap<String, f64>> {
        self.prober.as_mut()?.probe(&self.cpus, ASKED, stop).ok()
    }

    fn cpu(&mut self) -> Duration {
        self.prober.as_mut().map_or(Duration::ZERO, Prober::cpu)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::RefCell;

    use kumite_record::{ComparisonEnd, Probe};

    use super::super::sequence::tests::{Fake, FakeClock, RunFailed, in_turn, rules};
    use super::super::sequence::{Blocks, Executed, Rules, until_decided};
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A machine whose charge for a wake-up is `charges` of the time since the beginning; none ends the probes.
    pub(crate) struct Scripted<'a> {
        pub clock: &'a FakeClock,
        pub starts: bool,
        pub each: Duration,
        pub charges: &'a dyn Fn(Duration) -> Option<f64>,
    }

    impl Source for Scripted<'_> {
        fn start(&mut self) -> bool {
            self.clock.pass(START);
            self.starts
        }

        fn figures(&mut self, _: &AtomicBool) -> Option<BTreeMap<String, f64>> {
            let charged = (self.charges)(self.clock.now())?;
            self.clock.pass(self.each);
            Some(BTreeMap::from([(Probe::WakeUp.name().to_owned(), charged)]))
        }

        fn cpu(&mut self) -> Duration {
            self.clock.now()
        }
    }

    /// Scripted runs on a scripted machine.
    pub(crate) struct Probed<'a> {
        pub fake: Fake<'a>,
        pub between: Between<'a>,
        /// The CPU time that the probes say they took.
        pub cpu: Duration,
    }

    impl<'a> Probed<'a> {
        pub(crate) fn new(fake: Fake<'a>, machine: Scripted<'a>) -> Probed<'a> {
            Probed { fake, between: Between::of(Box::new(machine)), cpu: Duration::ZERO }
        }

        pub(crate) fn run(&mut self, rules: &Rules, clock: &FakeClock) -> (ComparisonEnd, Duration) {
            let (stop, of) = (AtomicBool::new(false), 2);
            let (ended, elapsed) = until_decided(self, of, rules, clock, &stop, &mut |_| {});
            (ended.unwrap(), elapsed)
        }
    }

    impl Blocks for Probed<'_> {
        type Error = RunFailed;

        fn execute(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<RunFailed> {
            self.fake.execute(orders, stop)
        }

        fn between(&mut self, blocks: usize, elapsed: Duration, clock: &dyn Clock, stop: &AtomicBool) {
            self.cpu += self.between.after(blocks, elapsed, clock, stop);
        }
    }

    /// Times that are never decided, in blocks of 60 ms.
    fn undecided(nth: usize) -> Vec<f64> {
        in_turn(nth).iter().map(|seconds| seconds * 0.02).collect()
    }

    fn of_seconds(seconds: u64) -> Rules {
        Rules { budget: Duration::from_secs(seconds), ..rules() }
    }

    #[test]
    fn probes_take_at_most_a_fiftieth_of_the_time_and_nothing_of_the_first_seconds() {
        let (clock, asked) = (FakeClock::default(), RefCell::new(Vec::new()));
        let charges = |now| {
            asked.borrow_mut().push(now);
            Some(5.0)
        };
        let machine = Scripted { clock: &clock, starts: true, each: EACH, charges: &charges };
        let mut probed = Probed::new(Fake::new(&clock, &undecided), machine);
        let (ended, elapsed) = probed.run(&of_seconds(60), &clock);
        assert_eq!(ended, ComparisonEnd::Budget);
        let (found, asked) = (probed.between.found(), asked.borrow());
        // The start and the first probe are saved up for in six seconds; then there is one a second.
        assert_eq!((asked[0], found[0].after_s), (Duration::from_secs(6) + START, 6.0));
        assert_eq!((found.len(), probed.between.spent()), (54, START + 54 * EACH));
        for (nth, at) in asked.iter().enumerate() {
            let spent = START + (nth as u32 + 1) * EACH;
            assert!(spent <= (*at + EACH).mul_f64(SHARE), "{nth}: {spent:?} of {at:?}");
        }
        assert!(probed.between.spent() <= elapsed.mul_f64(SHARE));
        assert_eq!(probed.cpu, probed.between.spent(), "the scripted machine computes all the time");
        // Each stands between two blocks, of which all are whole.
        for of in found {
            let blocks = Duration::from_millis(60) * of.blocks as u32;
            let before = found.iter().filter(|other| other.blocks < of.blocks).count() as u32;
            let probes = if before == 0 { Duration::ZERO } else { START + before * EACH };
            assert!((of.after_s - (blocks + probes).as_secs_f64()).abs() < 1e-6, "{of:?}");
        }
    }

    #[test]
    fn a_comparison_that_is_soon_decided_starts_nothing() {
        let clock = FakeClock::default();
        let charges = |now| panic!("asked after {now:?}");
        let machine = Scripted { clock: &clock, starts: true, each: EACH, charges: &charges };
        let mut probed = Probed::new(Fake::new(&clock, &|_| vec![0.3, 0.6]), machine);
        assert_eq!(probed.run(&of_seconds(60), &clock), (ComparisonEnd::Decided, 5_400 * MS));
        assert_eq!(probed.between.spent(), Duration::ZERO);
    }

    #[test]
    fn a_probe_that_took_long_is_paid_for_before_the_next() {
        let clock = FakeClock::default();
        let each = 100 * MS;
        let machine = Scripted { clock: &clock, starts: true, each, charges: &|_| Some(5.0) };
        let mut probed = Probed::new(Fake::new(&clock, &undecided), machine);
        probed.run(&of_seconds(60), &clock);
        // The second one is due when 100 + 100 + 100 ms are a fiftieth: in the block that ends after 15 s.
        let after: Vec<u64> = probed.between.found().iter().map(|of| of.after_s as u64).collect();
        assert_eq!(after, [6, 15, 20, 25, 30, 35, 40, 45, 50, 55]);
    }

    #[test]
    fn a_machine_that_cannot_be_probed_is_asked_once_and_the_comparison_goes_on() {
        for starts in [false, true] {
            let (clock, asked) = (FakeClock::default(), RefCell::new(0));
            let charges = |_| {
                *asked.borrow_mut() += 1;
                None
            };
            let machine = Scripted { clock: &clock, starts, each: EACH, charges: &charges };
            let mut probed = Probed::new(Fake::new(&clock, &undecided), machine);
            assert_eq!(probed.run(&of_seconds(20), &clock).0, ComparisonEnd::Budget);
            assert_eq!(*asked.borrow(), i32::from(starts));
            assert_eq!((probed.between.found(), probed.between.spent()), (&[][..], START));
        }
    }

    #[test]
    fn a_program_that_does_not_probe_is_no_source() {
        // The program of these tests does not know the argument.
        let mut process = Process { cpus: vec![0], prober: None };
        assert!(!process.start() && process.figures(&AtomicBool::new(false)).is_none());
        assert_eq!(process.cpu(), Duration::ZERO);
    }
}
