//! Executes block after block until the verdicts are reached, or the limits are.
//!
//! A look after every block costs no false verdicts, because the intervals hold at all times at once ([`judge`]).
//! Blocks are short, so several are executed between two looks if a look could bring nothing, or would keep the next
//! run waiting. Only whole blocks count: one that was cut off is in no figure. A run that is left out leaves its block
//! without a ratio for the pairs that it is in; all others have theirs.
//!
//! This module knows neither commands nor servers ([`Blocks`]) and has its time from a [`Clock`], so that its tests
//! take no time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_host::Clock;
use kumite_record::{CommandMetric, ComparisonEnd, Ratio};
use kumite_stats::fewest_blocks;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::control::{self, Twice};
use super::deadline::within;
use super::gate::{self, GateLevels, GateRules};
use super::judge::{Bar, Side, judge};
use super::reading::{Reading, cannot_be_told};
use super::rounds::{Rounds, parts};

/// The number of blocks up to which each may be followed by a look. Beyond, a look comes whenever there is one per
/// cent more blocks, so that judging stays cheap beside the shortest commands.
const EVERY_BLOCK: usize = 200;
/// The most blocks of a comparison: more than anybody waits for, and as many as memory allows.
const MOST_BLOCKS: usize = 1_000_000;
/// The time for which blocks are executed without a look in between, because each look keeps the next run waiting.
const LOOK: Duration = Duration::from_millis(10);
/// The time for which blocks are executed together while no look is due. A failure is noticed no later than this.
const LOOK_AT_FIRST: Duration = Duration::from_secs(1);

/// The least time that a block is given, whatever the budget: a machine may stand still for a moment.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// The least number of runs of a command that is compared with no other; [`ALONE`] is its least time. Both are
/// hyperfine's.
const ALONE_RUNS: usize = 10;
const ALONE: Duration = Duration::from_secs(3);

/// The rules by which a comparison gives verdicts and ends, with the seed of its orders and the positions of its
/// reference and control.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// The largest probability with which any of the verdicts may be wrong.
    pub alpha: f64,
    /// The margin: a ratio from 1 / (1 + margin) to 1 + margin is no difference.
    pub margin: f64,
    /// The least number of blocks: with fewer, neither verdicts nor the budget end the comparison between two blocks.
    pub min_blocks: usize,
    /// The most blocks; `None` for no limit but 1,000,000, which always holds.
    pub max_blocks: Option<usize>,
    /// The time for all blocks, from the beginning of the first. Once there are `min_blocks`, no block is begun that
    /// would end later, if it took as long as the mean block before it.
    pub budget: Duration,
    /// True if the budget also ends a block that is still executed when it is over. A block may always take 1 s, and
    /// twice as long as the longest one before it.
    pub ends_blocks: bool,
    /// The seed of the orders within the blocks. The same seed gives the same orders.
    pub seed: u64,
    /// The position of the reference in the list of what is compared.
    pub reference: usize,
    /// The control, which is in each block twice; `None` for no control.
    pub control: Option<Twice>,
    /// The rules of the gate. If timed runs decide it, the comparison goes on until they have. `None` for no gate: the
    /// comparison goes on until there are verdicts.
    pub gate: Option<GateRules>,
    /// The metrics by which commands are judged. If the list is empty, they are judged by wall time, and a control is
    /// looked at in wall time, CPU time and peak memory. Otherwise a control is looked at in these metrics alone, and in
    /// the one that the gate is on.
    pub metrics: Vec<CommandMetric>,
}

impl Rules {
    /// The bar for each verdict, for blocks of `of` positions: its part of `alpha`, and the margin as a logarithm.
    pub(crate) fn bar(&self, of: usize) -> Bar {
        let verdicts = self.pairs(of) * self.judged().len();
        Bar { alpha: self.alpha / verdicts as f64, margin: self.margin.ln_1p() }
    }

    /// The levels of the gate for each pair and metric, for blocks of `of` positions; `None` without a gate.
    pub(crate) fn gate_levels(&self, of: usize) -> Option<GateLevels> {
        self.gate.filter(|gate| gate.is_on_runs()).map(|gate| self.levels(gate, of))
    }

    /// The levels of this gate for each pair and metric, for blocks of `of` positions.
    pub(crate) fn levels(&self, gate: GateRules, of: usize) -> GateLevels {
        GateLevels {
            alpha: gate.alpha / self.questions(gate, of) as f64,
            margin: self.margin.ln_1p(),
            control: control::ALPHA / self.looked_at().len() as f64,
        }
    }

    /// The level, for each direction, at which one pair is judged by the failures of the two. It is a part of the
    /// gate's level if failures can shut the gate, else a part of `alpha` that other verdicts do not share.
    pub(crate) fn failure_level(&self, of: usize) -> f64 {
        match self.gate.filter(|gate| gate.by_failures) {
            Some(gate) => gate.alpha / self.questions(gate, of) as f64,
            None => self.alpha / 2.0 / self.pairs(of) as f64,
        }
    }

    /// The number of questions that share the gate's level.
    fn questions(&self, gate: GateRules, of: usize) -> usize {
        let metrics = if gate.is_on_runs() { self.waited_for().len() } else { 0 };
        self.pairs(of) * (metrics + usize::from(gate.by_failures))
    }

    fn pairs(&self, of: usize) -> usize {
        (of - usize::from(self.control.is_some())).saturating_sub(1).max(1)
    }

    /// The position of the reference's second run in a block; `None` if it has none.
    pub(crate) fn again(&self) -> Option<usize> {
        self.control.filter(|twice| twice.of == self.reference).map(|twice| twice.at)
    }

    /// The positions of those that are compared with the reference, in blocks of `of` positions.
    pub(crate) fn others(&self, of: usize) -> impl Iterator<Item = usize> {
        let second = self.control.map(|control| control.at);
        let reference = self.reference;
        (0..of).filter(move |other| *other != reference && Some(*other) != second)
    }

    /// The metrics by which commands are judged; never empty.
    pub(crate) fn judged(&self) -> &[CommandMetric] {
        if self.metrics.is_empty() { &[CommandMetric::TimeWallClock] } else { &self.metrics }
    }

    /// The metrics that the comparison goes on for: those that the gate is on, or else all that are judged.
    pub(crate) fn waited_for(&self) -> Vec<CommandMetric> {
        let on = self.gate.and_then(GateRules::metric);
        on.map_or_else(|| self.judged().to_vec(), |on| vec![on])
    }

    /// The metrics in which a control of commands is looked at, the gate's first.
    pub(crate) fn looked_at(&self) -> Vec<CommandMetric> {
        let on = self.gate.and_then(GateRules::metric);
        let others = if self.metrics.is_empty() { &control::USUAL[..] } else { &self.metrics };
        on.into_iter().chain(others.iter().copied().filter(|other| Some(*other) != on)).collect()
    }

    /// The fewest blocks with which the gate can be decided, if a block has `of` positions. Without a gate, the fewest
    /// with which each verdict is possible and, if there is a control, with which it can be found to be off.
    /// `usize::MAX` if no number of blocks is enough.
    pub fn fewest(&self, of: usize) -> usize {
        if let Some(levels) = self.gate_levels(of) {
            return levels.fewest();
        }
        let of_control = self.control.map(|_| control::ALPHA / self.looked_at().len() as f64);
        let levels = of_control.into_iter().chain([self.bar(of).alpha]);
        levels.map(|alpha| fewest_blocks(alpha).unwrap_or(usize::MAX)).max().unwrap_or(usize::MAX)
    }
}

/// Stands for the ratio of a command that is compared with no other.
const NO_RATIO: Ratio = Ratio { estimate: 1.0, low: None, high: None };

/// The progress of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Progressed<'a> {
    /// Blocks were executed.
    Blocks {
        /// The number of whole blocks so far.
        blocks: usize,
        /// The time since the first block began.
        elapsed: Duration,
        /// The ratio of the first pair that is still undecided, by its first undecided metric. For a command that is
        /// compared with no other it is 1, without an interval.
        ratio: Ratio,
    },
    /// A run is begun whose instructions are counted.
    Counting {
        /// The name of the command.
        name: &'a str,
        /// The number of the command's counted run, from 1.
        run: usize,
    },
}

/// The commands or servers of a comparison, of which it executes blocks.
pub(crate) trait Blocks {
    type Error;

    /// Executes these blocks, each in its order of positions. Blocks that were executed whole are kept, even if a
    /// later one was stopped or failed.
    fn execute(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<Self::Error>;

    /// Does what belongs between two blocks, and into no run. `blocks` is the number of whole blocks until now, of
    /// which the last ended `elapsed` after the first had begun.
    fn between(&mut self, _blocks: usize, _elapsed: Duration, _clock: &dyn Clock, _stop: &AtomicBool) {}

    /// Notes that the budget has ended a block that was still executed.
    fn cut_off(&mut self) {}
}

/// The readings of the blocks that were executed whole.
pub(crate) struct Executed<E> {
    /// The readings that are judged, by block, then by position, then by metric. Smaller is better. `None` for a run
    /// that is left out.
    pub values: Vec<Vec<Option<Vec<Reading>>>>,
    /// The reason why not all blocks were executed; `None` if they were.
    pub cut: Option<Cut<E>>,
}

/// The reasons why blocks that were ordered were not executed.
pub(crate) enum Cut<E> {
    Stopped,
    Failed(E),
}

/// Executes blocks until a comparison is decided or a limit is reached. Returns how it ended, and the time from the
/// beginning of the first block to the end of the last whole one.
pub(crate) fn until_decided<B: Blocks>(
    blocks: &mut B,
    of: usize,
    rules: &Rules,
    clock: &dyn Clock,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> (Result<ComparisonEnd, B::Error>, Duration) {
    let (bar, levels, again) = (rules.bar(of), rules.gate_levels(of), rules.again());
    let mut random = ChaCha8Rng::seed_from_u64(rules.seed);
    let mut order: Vec<usize> = (0..of).collect();
    let mut shuffled = || {
        order.shuffle(&mut random);
        order.clone()
    };
    let others: Vec<usize> = rules.others(of).collect();
    // By pair, then by metric.
    let mut rounds = vec![vec![Rounds::default(); rules.waited_for().len()]; others.len()];
    let is_alone = others.is_empty();
    let least = rules.min_blocks.max(if is_alone { ALONE_RUNS } else { rules.fewest(of) });
    let most = rules.max_blocks.unwrap_or(MOST_BLOCKS).min(MOST_BLOCKS);
    let began = clock.now();
    let (mut done, mut whole, mut elapsed, mut together) = (0, 0, Duration::ZERO, 1);
    let mut longest = None;
    let mut look_at = least;
    while done < most {
        let orders: Vec<Vec<usize>> = (0..together.min(most - done)).map(|_| shuffled()).collect();
        let before = clock.now().saturating_sub(began);
        let limit = rules.ends_blocks.then(|| allowed(rules.budget, before, longest, orders.len()));
        let (Executed { values, cut }, is_over) = within(limit, stop, |stop| blocks.execute(&orders, stop));
        let took = clock.now().saturating_sub(began).saturating_sub(before);
        longest = longest.max(took.checked_div(values.len() as u32));
        if !values.is_empty() {
            elapsed = clock.now().saturating_sub(began);
        }
        done += values.len();
        for values in values {
            whole += usize::from(values.iter().all(Option::is_some));
            for (rounds, other) in rounds.iter_mut().zip(&others) {
                for (metric, rounds) in rounds.iter_mut().enumerate() {
                    let of = |at: usize| Some(values[at].as_ref()?[metric]);
                    if let Some((a, b, again)) = parts(of, *other, rules.reference, again) {
                        rounds.add(a, b, again);
                    }
                }
            }
        }
        match cut {
            Some(Cut::Failed(error)) => return (Err(error), elapsed),
            Some(Cut::Stopped) if is_over && !stop.load(Ordering::Relaxed) => {
                blocks.cut_off();
                return (Ok(ComparisonEnd::Budget), elapsed);
            }
            Some(Cut::Stopped) => return (Ok(ComparisonEnd::Interrupted), elapsed),
            None => {}
        }
        if done >= look_at {
            let undecided = rounds.iter().flatten().find_map(|rounds| undecided(rounds, bar, levels));
            let is_short = is_alone && (elapsed < ALONE || whole < least);
            let ratio = undecided.or(is_short.then_some(NO_RATIO));
            let Some(ratio) = ratio else { return (Ok(ComparisonEnd::Decided), elapsed) };
            watch(Progressed::Blocks { blocks: done, elapsed, ratio });
            look_at = done + if done < EVERY_BLOCK { 1 } else { done / 100 };
        }
        if stop.load(Ordering::Relaxed) {
            return (Ok(ComparisonEnd::Interrupted), elapsed);
        }
        let block = elapsed.as_secs_f64() / done.max(1) as f64;
        if done >= rules.min_blocks && elapsed.as_secs_f64() + block > rules.budget.as_secs_f64() {
            return (Ok(ComparisonEnd::Budget), elapsed);
        }
        if !is_alone {
            blocks.between(done, elapsed, clock, stop);
        }
        let within = |time: Duration| (time.as_secs_f64() / block) as usize;
        let needed = look_at.saturating_sub(done).min(within(LOOK_AT_FIRST));
        together = within(LOOK).max(needed).clamp(1, EVERY_BLOCK);
    }
    (Ok(ComparisonEnd::MaxRuns), elapsed)
}

/// The time that `blocks` blocks may take: until the budget is over, or twice as long for each as `longest`, the
/// longest block until now, or [`GRACE`]; whichever is longest. The first block may take the whole budget.
fn allowed(budget: Duration, before: Duration, longest: Option<Duration>, blocks: usize) -> Duration {
    let as_usual = longest.map_or(budget, |longest| longest.saturating_mul(2 * blocks as u32));
    budget.saturating_sub(before).max(as_usual).max(GRACE)
}

/// The ratio of a pair by a metric; `None` if the verdict, or the gate, is decided on it, or never can be.
fn undecided(rounds: &Rounds, bar: Bar, gate: Option<GateLevels>) -> Option<Ratio> {
    if let Some(levels) = gate {
        let found = gate::find(rounds, levels);
        return (!found.is_settled).then_some(found.ratio);
    }
    let (side, ratio) = judge(&rounds.first, bar);
    (side == Side::Unknown && !cannot_be_told(&rounds.first, 0.0)).then_some(ratio)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cell::Cell;

    use jiff::Timestamp;
    use kumite_record::GateBar;
    use rand::RngExt;

    use super::super::gate::{GATE_ALPHA, GateOn};
    use super::super::reading::Log;
    use super::*;

    /// A clock that goes on by the times of the runs.
    #[derive(Default)]
    pub(crate) struct FakeClock(Cell<Duration>);

    impl FakeClock {
        pub(crate) fn pass(&self, time: Duration) {
            self.0.set(self.0.get() + time);
        }
    }

    impl Clock for FakeClock {
        fn now(&self) -> Duration {
            self.0.get()
        }

        fn timestamp(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }
    }

    /// The readings of a block, from its number and the seconds that its runs took.
    type Reads<'a> = &'a dyn Fn(usize, &[f64]) -> Vec<Option<Vec<Reading>>>;

    /// The failure of a scripted run, which is one that takes no time.
    #[derive(Debug, PartialEq)]
    pub(crate) struct RunFailed;

    pub(crate) struct Fake<'a> {
        clock: &'a FakeClock,
        /// Seconds that each takes in the block with this number.
        takes: &'a dyn Fn(usize) -> Vec<f64>,
        /// The readings of the block, by position and metric.
        reads: Reads<'a>,
        orders: Vec<Vec<usize>>,
        looks: usize,
        /// The block in which the user stops; `None` for none.
        stop_in: Option<usize>,
    }

    impl<'a> Fake<'a> {
        /// Runs whose times are judged.
        pub(crate) fn new(clock: &'a FakeClock, takes: &'a dyn Fn(usize) -> Vec<f64>) -> Fake<'a> {
            Fake { clock, takes, reads: &times, orders: Vec::new(), looks: 0, stop_in: None }
        }
    }

    impl Blocks for Fake<'_> {
        type Error = RunFailed;

        fn execute(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<RunFailed> {
            self.looks += 1;
            let mut values = Vec::new();
            for order in orders {
                let nth = self.orders.len();
                self.orders.push(order.clone());
                let takes = (self.takes)(nth);
                self.clock.pass(Duration::from_secs_f64(takes.iter().sum()));
                stop.store(self.stop_in == Some(nth), Ordering::Relaxed);
                if takes.contains(&0.0) {
                    return Executed { values, cut: Some(Cut::Failed(RunFailed)) };
                }
                values.push((self.reads)(nth, &takes));
            }
            Executed { values, cut: None }
        }
    }

    /// Readings that are the times themselves.
    fn times(_: usize, takes: &[f64]) -> Vec<Option<Vec<Reading>>> {
        takes.iter().map(|time| Some(vec![Reading::exact(*time)])).collect()
    }

    pub(crate) fn rules() -> Rules {
        Rules {
            alpha: 0.05,
            margin: 0.0025,
            min_blocks: 0,
            max_blocks: None,
            budget: Duration::from_secs(1_000),
            ends_blocks: false,
            seed: 1,
            reference: 0,
            control: None,
            gate: None,
            metrics: Vec::new(),
        }
    }

    pub(crate) fn a_gate() -> Option<GateRules> {
        Some(GateRules { passes: GateBar::Fails, alpha: GATE_ALPHA, on: None, by_failures: false })
    }

    struct Done {
        ended: Result<ComparisonEnd, RunFailed>,
        orders: Vec<Vec<usize>>,
        looks: usize,
        elapsed: Duration,
    }

    fn run(rules: &Rules, of: usize, stop_in: Option<usize>, takes: &dyn Fn(usize) -> Vec<f64>) -> Done {
        let clock = FakeClock::default();
        let mut fake = Fake { clock: &clock, takes, reads: &times, orders: Vec::new(), looks: 0, stop_in };
        let stop = AtomicBool::new(false);
        let (ended, elapsed) = until_decided(&mut fake, of, rules, &clock, &stop, &mut |_| {});
        Done { ended, orders: fake.orders, looks: fake.looks, elapsed }
    }

    #[test]
    fn a_control_is_in_every_block_decides_nothing_and_has_as_many_blocks_as_it_takes_to_be_off() {
        let with = Rules { control: Some(Twice { of: 0, at: 2 }), ..rules() };
        let done = run(&with, 3, None, &|nth| vec![1.0, 2.0, if nth % 2 == 0 { 0.5 } else { 2.0 }]);
        assert_eq!((done.ended, done.orders.len()), (Ok(ComparisonEnd::Decided), 10));
        assert!(done.orders.iter().all(|order| order.iter().sum::<usize>() == 3 && order.len() == 3));
        assert_eq!((with.fewest(3), with.bar(3)), (10, rules().bar(2)));
    }

    #[test]
    fn a_sequence_ends_when_all_are_decided_and_not_before_the_fewest() {
        let done = run(&rules(), 2, None, &|_| vec![1.0, 2.0]);
        assert_eq!(
            (done.ended, done.orders.len(), done.elapsed),
            (Ok(ComparisonEnd::Decided), 6, Duration::from_secs(18))
        );
        // Three verdicts share the 5 %.
        let four = run(&rules(), 4, None, &|_| vec![1.0, 2.0, 3.0, 1.0]);
        assert_eq!((four.ended, four.orders.len()), (Ok(ComparisonEnd::Decided), rules().fewest(4)));
        assert!(rules().fewest(4) > 6);
        // One that is decided late keeps them all going.
        let late = run(&rules(), 3, None, &|nth| {
            vec![1.0, 2.0, if nth < 20 && nth.is_multiple_of(2) { 0.5 } else { 2.0 }]
        });
        assert!(late.ended == Ok(ComparisonEnd::Decided) && late.orders.len() > 30, "{}", late.orders.len());
        let least = run(&Rules { min_blocks: 10, ..rules() }, 2, None, &|_| vec![1.0, 2.0]);
        assert_eq!(least.orders.len(), 10);
    }

    /// The times of two, each far longer than the other in turn: never decided.
    pub(crate) fn in_turn(nth: usize) -> Vec<f64> {
        if nth.is_multiple_of(2) { vec![1.0, 2.0] } else { vec![2.0, 1.0] }
    }

    #[test]
    fn a_sequence_ends_when_its_runs_or_its_time_are_spent() {
        let most = run(&Rules { max_blocks: Some(40), ..rules() }, 2, None, &in_turn);
        assert_eq!((most.ended, most.orders.len()), (Ok(ComparisonEnd::MaxRuns), 40));
        let budget = Duration::from_secs(60);
        let time = run(&Rules { budget, ..rules() }, 2, None, &in_turn);
        assert_eq!((time.ended, time.orders.len(), time.elapsed), (Ok(ComparisonEnd::Budget), 20, budget));
        // The fewest runs come before the budget.
        let least = run(&Rules { budget, min_blocks: 30, ..rules() }, 2, None, &in_turn);
        assert_eq!((least.ended, least.orders.len()), (Ok(ComparisonEnd::Budget), 30));
    }

    #[test]
    fn a_budget_ends_the_block_that_is_executed_and_not_one_that_takes_somewhat_longer() {
        /// Blocks of which `after` are executed, and the next never ends.
        struct Hangs {
            after: usize,
            executed: usize,
            was_cut_off: bool,
        }
        impl Blocks for Hangs {
            type Error = RunFailed;

            fn execute(&mut self, orders: &[Vec<usize>], stop: &AtomicBool) -> Executed<RunFailed> {
                let left = (self.after - self.executed).min(orders.len());
                self.executed += left;
                let began = std::time::Instant::now();
                while left < orders.len() && !stop.load(Ordering::Relaxed) {
                    assert!(began.elapsed() < Duration::from_secs(60), "nobody stopped it");
                    std::thread::sleep(Duration::from_millis(1));
                }
                let cut = (left < orders.len()).then_some(Cut::Stopped);
                Executed { values: vec![vec![Some(vec![Reading::exact(1.0)]); 2]; left], cut }
            }

            fn cut_off(&mut self) {
                self.was_cut_off = true;
            }
        }
        for after in [0, 3] {
            let mut blocks = Hangs { after, executed: 0, was_cut_off: false };
            let rules = Rules { budget: Duration::from_millis(100), ends_blocks: true, ..rules() };
            let stop = AtomicBool::new(false);
            let (clock, watch) = (FakeClock::default(), &mut |_: Progressed| {});
            let (ended, _) = until_decided(&mut blocks, 2, &rules, &clock, &stop, watch);
            assert_eq!(
                (ended, blocks.executed, blocks.was_cut_off),
                (Ok(ComparisonEnd::Budget), after, true)
            );
        }
        let [ms, sec] = [Duration::from_millis, Duration::from_secs as fn(u64) -> Duration];
        assert_eq!(allowed(sec(2), sec(0), None, 1), sec(2), "the first has all of it");
        assert_eq!(allowed(sec(9), ms(8_900), Some(ms(600)), 1), ms(1_200), "twice the longest");
        assert_eq!(allowed(sec(9), sec(4), Some(ms(600)), 1), sec(5), "or until it is over");
        assert_eq!(allowed(sec(2), sec(9), Some(ms(600)), 2), ms(2_400));
        assert_eq!(allowed(ms(1), sec(0), None, 1), GRACE);
        assert_eq!(
            allowed(sec(2), sec(9), Some(ms(1)), 1),
            GRACE,
            "what hardly takes any time is not cut off for a hitch"
        );
    }

    #[test]
    fn one_alone_ends_after_ten_runs_and_three_seconds() {
        let done = run(&rules(), 1, None, &|_| vec![0.1]);
        assert_eq!((done.ended, done.orders.len()), (Ok(ComparisonEnd::Decided), 30));
        let slow = run(&rules(), 1, None, &|_| vec![2.0]);
        assert_eq!((slow.ended, slow.orders.len()), (Ok(ComparisonEnd::Decided), 10));
        let few = run(&Rules { max_blocks: Some(3), ..rules() }, 1, None, &|_| vec![2.0]);
        assert_eq!((few.ended, few.orders.len()), (Ok(ComparisonEnd::MaxRuns), 3));
    }

    #[test]
    fn a_sequence_ends_when_it_is_stopped_or_a_run_fails() {
        let stopped = run(&rules(), 2, Some(3), &|_| vec![1.0, 2.0]);
        assert_eq!((stopped.ended, stopped.orders.len()), (Ok(ComparisonEnd::Interrupted), 4));
        let failed = run(&rules(), 2, None, &|nth| vec![1.0, if nth == 2 { 0.0 } else { 2.0 }]);
        assert_eq!((failed.ended, failed.elapsed), (Err(RunFailed), Duration::from_secs(6)));
    }

    #[test]
    fn the_seed_is_the_order_and_either_comes_first_about_as_often() {
        let of = |seed| run(&Rules { seed, max_blocks: Some(400), ..rules() }, 2, None, &in_turn).orders;
        assert_eq!(of(5), of(5));
        assert_ne!(of(5), of(6));
        // 200 expected, SD 10: five of them.
        let first = of(5).iter().filter(|order| order[0] == 0).count();
        assert!((150..250).contains(&first), "{first}");
    }

    #[test]
    fn a_long_sequence_is_looked_at_less_often_and_ends_soon() {
        let rules = Rules { budget: Duration::from_secs(100_000), ..rules() };
        let done = run(&rules, 2, None, &|nth| if nth < 1_000 { in_turn(nth) } else { vec![1.0, 2.0] });
        assert_eq!(done.ended, Ok(ComparisonEnd::Decided));
        assert!((1_010..1_300).contains(&done.orders.len()), "{}", done.orders.len());
    }

    #[test]
    fn a_gate_goes_on_until_it_is_decided_whatever_the_verdict_is() {
        let gated = |of| Rules { gate: a_gate(), margin: 0.01, max_blocks: Some(of), ..rules() };
        // Slower by 3 %, but for one in eight, which is so within the margin: the verdict comes first.
        let slower = |nth: usize| vec![1.0, if nth % 8 == 5 { 1.005 } else { 1.03 }];
        let verdict = run(&Rules { gate: None, ..gated(100) }, 2, None, &slower);
        assert_eq!((verdict.ended, verdict.orders.len()), (Ok(ComparisonEnd::Decided), 6));
        let gate = run(&gated(100), 2, None, &slower);
        assert_eq!(gate.ended, Ok(ComparisonEnd::Decided));
        assert!(gate.orders.len() > 8, "{}", gate.orders.len());
        // On either side of 1, and never beyond the margin: the gate is decided, and no verdict ever.
        let alike = |nth: usize| if nth.is_multiple_of(2) { vec![1.0, 1.005] } else { vec![1.3, 1.0] };
        assert_eq!(run(&gated(100), 2, None, &alike).orders.len(), 8);
        assert_eq!(
            run(&Rules { gate: None, ..gated(100) }, 2, None, &alike).ended,
            Ok(ComparisonEnd::MaxRuns)
        );
        // On either side of the margin: never.
        let beside = |nth: usize| vec![1.0, if nth.is_multiple_of(2) { 1.0 } else { 1.02 }];
        assert_eq!(run(&gated(100), 2, None, &beside).ended, Ok(ComparisonEnd::MaxRuns));
        // For each that is not the reference.
        let one_of_two =
            |nth: usize| vec![1.0, 1.1, if nth < 20 && nth.is_multiple_of(2) { 1.0 } else { 1.02 }];
        assert!(run(&gated(200), 3, None, &one_of_two).orders.len() > 20);
    }

    #[test]
    fn a_gate_with_the_reference_twice_goes_on_until_it_is_shown_against_each_and_clear_of_the_control() {
        let rules = Rules {
            gate: a_gate(),
            margin: 0.01,
            control: Some(Twice { of: 0, at: 2 }),
            max_blocks: Some(60),
            ..rules()
        };
        let ends = |again: &dyn Fn(usize) -> f64| {
            let done = run(&rules, 3, None, &|nth| vec![1.0, 1.04, again(nth)]);
            (done.ended, done.orders.len())
        };
        assert_eq!((rules.fewest(3), rules.bar(3)), (8, Rules { gate: None, ..rules.clone() }.bar(3)));
        assert_eq!(ends(&|_| 1.0), (Ok(ComparisonEnd::Decided), 8));
        // As slow as the reference is the second time.
        let as_slow = |nth: usize| if nth < 3 { 1.04 } else { 1.0 };
        let (ended, blocks) = ends(&as_slow);
        assert!(ended == Ok(ComparisonEnd::Decided) && blocks > 8, "{blocks}");
        // Slower than each, but the two may be as far from each other.
        let far = |nth: usize| if nth.is_multiple_of(2) { 1.025 } else { 1.0 / 1.025 };
        assert_eq!(ends(&far), (Ok(ComparisonEnd::MaxRuns), 60));
        // The reference is another one the second time: nothing can be told, as soon as that is known.
        assert_eq!(ends(&|_| 1.04), (Ok(ComparisonEnd::Decided), 10));
    }

    #[test]
    fn the_shortest_are_run_in_several_blocks_between_two_looks() {
        let short = |nth: usize| in_turn(nth).iter().map(|seconds| seconds * 1e-4).collect::<Vec<_>>();
        let done = run(&Rules { max_blocks: Some(3_000), ..rules() }, 2, None, &short);
        assert_eq!((done.ended, done.orders.len()), (Ok(ComparisonEnd::MaxRuns), 3_000));
        assert!((85..=105).contains(&done.looks), "{} looks in 900 ms", done.looks);
    }

    /// Runs of a second in blocks, of which `is_left_out` says by block and position which are left out.
    fn with_left_out(
        rules: &Rules,
        takes: &dyn Fn(usize) -> Vec<f64>,
        is_left_out: &dyn Fn(usize, usize) -> bool,
    ) -> (ComparisonEnd, usize) {
        let clock = FakeClock::default();
        let reads = |nth: usize, takes: &[f64]| {
            let counted = |at: usize, time: f64| (!is_left_out(nth, at)).then(|| vec![Reading::exact(time)]);
            takes.iter().enumerate().map(|(at, time)| counted(at, *time)).collect()
        };
        let (of, stop) = (takes(0).len(), AtomicBool::new(false));
        let mut fake =
            Fake { clock: &clock, takes, reads: &reads, orders: Vec::new(), looks: 0, stop_in: None };
        let (ended, _) = until_decided(&mut fake, of, rules, &clock, &stop, &mut |_| {});
        (ended.unwrap(), fake.orders.len())
    }

    #[test]
    fn a_run_that_is_left_out_takes_the_ratio_from_its_pairs_and_from_no_other() {
        let rules = Rules { max_blocks: Some(60), ..rules() };
        let of = |takes: &[f64], is_left_out: &dyn Fn(usize, usize) -> bool| {
            with_left_out(&rules, &|_| takes.to_vec(), is_left_out)
        };
        let fewest = [2, 3].map(|of| rules.fewest(of));
        let (two, three) = ([1.0, 2.0], [1.0, 2.0, 2.0]);
        assert_eq!(of(&two, &|_, _| false), (ComparisonEnd::Decided, fewest[0]));
        // In every other block: of the one, of the reference, of both in turn.
        assert_eq!(of(&two, &|nth, at| at == 1 && nth % 2 == 0), (ComparisonEnd::Decided, 2 * fewest[0]));
        assert_eq!(of(&two, &|nth, at| at == 0 && nth % 2 == 0), (ComparisonEnd::Decided, 2 * fewest[0]));
        assert_eq!(of(&two, &|nth, at| at == nth % 2), (ComparisonEnd::MaxRuns, 60));
        // The second pair waits for its own blocks alone: the first has all of its.
        assert_eq!(of(&three, &|nth, at| at == 2 && nth < 9), (ComparisonEnd::Decided, 9 + fewest[1]));
        let slow_at_first = |nth: usize| vec![1.0, 2.0, if nth < 9 { 0.5 } else { 2.0 }];
        let left_out = with_left_out(&rules, &slow_at_first, &|nth, at| at == 2 && nth < 9);
        assert_eq!(left_out, (ComparisonEnd::Decided, 9 + fewest[1]), "what is left out says nothing");
        // The reference's second run is in all pairs.
        let twice = Rules { gate: a_gate(), control: Some(Twice { of: 0, at: 2 }), ..rules.clone() };
        let of_gate = with_left_out(&twice, &|_| vec![1.0, 2.0, 1.0], &|nth, at| at == 2 && nth % 2 == 0);
        assert_eq!(of_gate, (ComparisonEnd::Decided, 2 * twice.fewest(3)));
        // One alone has as many runs that count as it has without.
        let alone = with_left_out(&rules, &|_| vec![1.0], &|nth, _| nth % 3 == 0);
        assert_eq!(alone, (ComparisonEnd::Decided, 15));
    }

    #[test]
    fn failures_share_the_level_of_a_gate_that_they_can_shut_and_have_their_own_else() {
        let gate = |by_failures| a_gate().map(|gate| GateRules { by_failures, ..gate });
        let with = |gate| Rules { gate, alpha: 2.0 * GATE_ALPHA, ..rules() };
        let levels = |rules: &Rules| (rules.failure_level(2), rules.gate_levels(2).map(|of| of.alpha));
        assert_eq!(levels(&with(gate(true))), (GATE_ALPHA / 2.0, Some(GATE_ALPHA / 2.0)));
        assert_eq!(levels(&with(gate(false))), (GATE_ALPHA, Some(GATE_ALPHA)));
        assert_eq!(levels(&rules()), (0.025, None));
        assert_eq!((with(gate(true)).fewest(2), with(gate(false)).fewest(2)), (9, 8));
        assert_eq!(rules().failure_level(3), 0.0125, "two pairs share it");
        // Of a gate by counts they have the whole level, and no time is waited for longer than without a gate.
        let by_counts = with(gate(true).map(|gate| GateRules { on: Some(GateOn::Counts), ..gate }));
        assert_eq!(levels(&by_counts), (GATE_ALPHA, None));
        assert_eq!(by_counts.fewest(2), Rules { gate: None, ..by_counts.clone() }.fewest(2));
    }

    /// Of many comparisons of two that take as long in the median, and of which runs of the second are left out: how
    /// many were decided, and the mean of the median logarithms.
    fn simulated(is_left_out: &dyn Fn(f64, f64) -> bool) -> (usize, f64) {
        const BLOCKS: usize = 60;
        let one = |seed: u64| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let noise: Vec<[f64; 2]> = (0..BLOCKS).map(|_| [normal(), normal()]).collect();
            let chance: Vec<f64> = (0..BLOCKS).map(|_| random.random()).collect();
            let takes = |nth: usize| noise[nth].map(|noise| (0.03 * noise).exp()).to_vec();
            let is_left_out = |nth: usize, at: usize| at == 1 && is_left_out(noise[nth][1], chance[nth]);
            let rules = Rules { max_blocks: Some(BLOCKS), seed, ..rules() };
            let (ended, blocks) = with_left_out(&rules, &takes, &is_left_out);
            let whole = (0..blocks).filter(|nth| !is_left_out(*nth, 1));
            let logs: Vec<f64> = whole.map(|nth| 0.03 * (noise[nth][0] - noise[nth][1])).collect();
            (ended == ComparisonEnd::Decided, kumite_stats::median(&logs).unwrap())
        };
        let all: Vec<(bool, f64)> = (0..OF_LEFT_OUT).map(one).collect();
        let decided = all.iter().filter(|(decided, _)| *decided).count();
        (decided, all.iter().map(|(_, median)| median).sum::<f64>() / OF_LEFT_OUT as f64)
    }

    const OF_LEFT_OUT: u64 = 400;

    /// A third fails. That shifts nothing, however long a run takes; where the slow third fails, it does, and no
    /// statistics can tell.
    #[test]
    fn leaving_out_failures_that_do_not_depend_on_the_time_shifts_no_ratio_and_decides_no_more_often() {
        let (none, by_chance) = (simulated(&|_, _| false), simulated(&|_, chance| chance < 1.0 / 3.0));
        let slow = simulated(&|noise, _| noise > 0.43);
        println!(
            "none, a third by chance, the slow third: decided of {OF_LEFT_OUT}, mean: {none:?} {by_chance:?} {slow:?}"
        );
        for (decided, mean) in [none, by_chance] {
            // 20 expected at most; the standard error of the mean is about 0.0005.
            assert!(decided <= 34 && mean.abs() < 0.002, "{decided} {mean}");
        }
        assert!(slow.0 > 60 && slow.1 > 0.01, "{slow:?}");
    }

    const THREE: [CommandMetric; 3] =
        [CommandMetric::TimeWallClock, CommandMetric::TimeSystem, CommandMetric::MemoryPeakResident];

    /// Compares two whose metrics are read by `reads`, in blocks of a second.
    fn by_metrics(rules: &Rules, reads: &dyn Fn(usize) -> [Vec<Reading>; 2]) -> (ComparisonEnd, usize) {
        let clock = FakeClock::default();
        let mut fake = Fake {
            clock: &clock,
            takes: &|_| vec![0.5, 0.5],
            reads: &|nth, _| reads(nth).map(Some).into(),
            orders: Vec::new(),
            looks: 0,
            stop_in: None,
        };
        let stop = AtomicBool::new(false);
        let (ended, _) = until_decided(&mut fake, 2, rules, &clock, &stop, &mut |_| {});
        (ended.unwrap(), fake.orders.len())
    }

    #[test]
    fn a_sequence_with_several_metrics_goes_on_until_each_is_decided_at_its_share() {
        let exact = |values: [f64; 3]| values.map(Reading::exact).to_vec();
        let three = Rules { metrics: THREE.to_vec(), max_blocks: Some(100), ..rules() };
        assert!((three.bar(2).alpha - 0.05 / 3.0).abs() < 1e-12);
        assert!((three.bar(4).alpha - 0.05 / 9.0).abs() < 1e-12, "three pairs by three metrics");
        assert_eq!(rules().bar(2).alpha, 0.05);
        // One is the same in all runs, one half as much, one twice: as many blocks as anything takes.
        let plain = by_metrics(&three, &|_| [exact([1.0, 1.0, 7.0]), exact([2.0, 1.0, 3.5])]);
        assert_eq!(plain, (ComparisonEnd::Decided, three.fewest(2)));
        assert_eq!(three.fewest(2), 8, "and six for one metric");
        assert_eq!(Rules { metrics: CommandMetric::ALL[..5].to_vec(), ..rules() }.fewest(2), 9);
        // One that comes to a verdict late keeps the others going, and one that never does all of them.
        let late = |from| {
            move |nth: usize| {
                let other = if nth < from && nth.is_multiple_of(2) { 0.5 } else { 2.0 };
                [exact([1.0, 1.0, 1.0]), exact([2.0, 2.0, other])]
            }
        };
        let (ended, blocks) = by_metrics(&three, &late(10));
        assert!(ended == ComparisonEnd::Decided && blocks > 10, "{blocks}");
        assert_eq!(by_metrics(&three, &late(1_000)), (ComparisonEnd::MaxRuns, 100));
        let gate = Rules { gate: a_gate(), ..three.clone() };
        assert_eq!(by_metrics(&gate, &late(1_000)), (ComparisonEnd::MaxRuns, 100));
        // One metric alone has the gate's whole level; the others are read by nobody.
        let on = a_gate().map(|gate| GateRules { on: Some(GateOn::Metric(CommandMetric::TimeCpu)), ..gate });
        let on_one = Rules { gate: on, ..three };
        assert_eq!((gate.fewest(2), on_one.fewest(2)), (9, 8));
        let one = |_| [vec![Reading::exact(1.0)], vec![Reading::exact(2.0)]];
        assert_eq!(by_metrics(&on_one, &one), (ComparisonEnd::Decided, 8));
    }

    #[test]
    fn a_metric_that_cannot_be_told_is_not_waited_for() {
        let tick = || {
            Reading::by_metric(CommandMetric::TimeSystem, &crate::compare::reading::tests::run(1, 1, 0, 1))
        };
        let reads = |_| {
            let [one, other] = [1.0, 2.0].map(Reading::exact);
            [vec![one, tick(), one], vec![other, tick(), other]]
        };
        for gate in [None, a_gate()] {
            let rules = Rules { metrics: THREE.to_vec(), gate, max_blocks: Some(100), ..rules() };
            assert_eq!(by_metrics(&rules, &reads), (ComparisonEnd::Decided, rules.fewest(2)));
        }
        // Where it is so of fewer than half, more blocks may tell.
        let seldom = |nth: usize| {
            let [one, other] = [1.0, 2.0].map(Reading::exact);
            let system = if nth % 4 == 1 { tick() } else { Reading::exact(0.02) };
            [vec![one, tick(), one], vec![other, system, other]]
        };
        let rules = Rules { metrics: THREE.to_vec(), max_blocks: Some(200), ..rules() };
        let (ended, blocks) = by_metrics(&rules, &seldom);
        assert!(ended == ComparisonEnd::Decided && blocks > rules.fewest(2), "{blocks}");
    }

    /// Compares two that are the same in five metrics, which have the share `common` of their variance in common.
    /// `true` if they are ever said to differ.
    fn any_differs(common: f64, seed: u64, share: usize) -> bool {
        const BLOCKS: usize = 100;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let noise: Vec<[f64; 5]> = (0..BLOCKS)
            .map(|_| {
                let shared = normal() * common.sqrt();
                [(); 5].map(|()| 0.01 * (shared + normal() * (1.0 - common).sqrt()))
            })
            .collect();
        let alpha = Rules { metrics: CommandMetric::ALL[..share].to_vec(), ..rules() }.bar(2).alpha;
        let bar = Bar { alpha, margin: rules().margin.ln_1p() };
        (0..5).any(|metric| {
            let logs: Vec<Log> = noise.iter().map(|logs| logs[metric].into()).collect();
            let differs = |side| matches!(side, Side::Above | Side::Below);
            (1..=BLOCKS).any(|blocks| differs(judge(&logs[..blocks], bar).0))
        })
    }

    /// Each is looked at after every block, and one false verdict among the five is what counts.
    #[test]
    fn metrics_that_share_a_level_are_wrong_together_no_more_often_than_one() {
        const OF: u64 = 400;
        let wrong = |common, share| (0..OF).filter(|seed| any_differs(common, *seed, share)).count();
        for common in [0.0, 0.5, 0.9] {
            let wrong = wrong(common, 5);
            println!("{common} in common: {wrong} of {OF} with a false verdict");
            assert!(wrong <= OF as usize / 20, "{common}: {wrong}");
        }
        let unshared = wrong(0.0, 1);
        println!("each at the whole level: {unshared} of {OF}");
        assert!(unshared > OF as usize / 10, "{unshared}");
    }
}
