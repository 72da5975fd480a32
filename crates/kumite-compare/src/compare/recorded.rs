//! A gate on times that were recorded, or made up: the loop and the decision of a comparison, with nothing executed and
//! nothing waited for.

use std::cell::Cell;
use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use kumite_host::Clock;
use kumite_record::{CommandMetric, ComparisonEnd, GateState, PairGate};

use super::control::Twice;
use super::gate::{self, GateOn, GateRules};
use super::reading::Reading;
use super::rounds::Rounds;
use super::sequence::{Blocks, Executed, Rules, until_decided};

/// The answer of a gate on recorded times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordedGate {
    /// The answer, by all blocks that were taken.
    pub gate: PairGate,
    /// The reason why no more blocks were taken.
    pub ended: ComparisonEnd,
    /// The number of blocks that were taken.
    pub blocks: usize,
    /// The sum of the times in these blocks, in seconds.
    pub seconds: f64,
    /// The number of blocks after which the gate was first shut, with or without a doubt; `None` if it never was.
    pub first_shut: Option<usize>,
}

/// Decides the gate of one command by recorded wall times. `next` is called with the order of the next block, which is
/// a list of positions, and returns the block's times in seconds: that of the reference (position 0), of the command
/// (1), and of the reference's second run (2).
///
/// Only the margin, the limits and the seed of `rules` are used. The gate has the rules `passing`, but is on wall time.
pub fn gate_recorded(
    rules: &Rules,
    passing: GateRules,
    next: &mut dyn FnMut(&[usize]) -> [f64; 3],
) -> RecordedGate {
    let rules = Rules {
        reference: 0,
        control: Some(Twice { of: 0, at: 2 }),
        gate: Some(GateRules { on: Some(GateOn::Metric(CommandMetric::TimeWallClock)), ..passing }),
        metrics: Vec::new(),
        ends_blocks: false,
        ..rules.clone()
    };
    let levels = rules.levels(passing, OF);
    let rules = Rules { min_blocks: rules.min_blocks.max(levels.fewest()), ..rules };
    let clock = Passed(Cell::new(Duration::ZERO));
    let mut blocks = Recorded { clock: &clock, next, rounds: Rounds::default() };
    let stop = AtomicBool::new(false);
    let (Ok(ended), elapsed) = until_decided(&mut blocks, OF, &rules, &clock, &stop, &mut |_| {});
    let rounds = blocks.rounds;
    let gate = gate::pair(&rounds, levels, elapsed.as_secs_f64());
    let is_shut = |blocks: &usize| gate::find(&rounds.until(*blocks), levels).state == GateState::Shut;
    RecordedGate {
        gate,
        ended,
        blocks: rounds.first.len(),
        seconds: elapsed.as_secs_f64(),
        first_shut: (levels.fewest()..=rounds.first.len()).find(is_shut),
    }
}

/// The number of positions in a block: the reference, the one that is judged, and the reference again.
const OF: usize = 3;

/// A clock that goes on by the times of the blocks.
struct Passed(Cell<Duration>);

impl Clock for Passed {
    fn now(&self) -> Duration {
        self.0.get()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

struct Recorded<'a> {
    clock: &'a Passed,
    next: &'a mut dyn FnMut(&[usize]) -> [f64; 3],
    rounds: Rounds,
}

impl Blocks for Recorded<'_> {
    type Error = Infallible;

    fn execute(&mut self, orders: &[Vec<usize>], _: &AtomicBool) -> Executed<Infallible> {
        let mut block = |order: &Vec<usize>| {
            let times = (self.next)(order);
            let took = Duration::from_secs_f64(times.iter().sum());
            self.clock.0.set(self.clock.0.get() + took);
            let [reference, other, again] = times.map(Reading::exact);
            self.rounds.add(other, reference, Some(again));
            times.map(|time| Some(vec![Reading::exact(time)])).to_vec()
        };
        Executed { values: orders.iter().map(&mut block).collect(), cut: None }
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::{GateBar, GateDoubt};
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::super::gate::{GATE_ALPHA, GATE_MARGIN};
    use super::*;

    const OF_EACH: u64 = 200;

    /// Gates on one that takes `slower` as long as the reference, which takes `lucky` as long in its first place. A
    /// round's ratio scatters normally, by 1 %.
    fn gates(slower: f64, lucky: f64) -> Vec<RecordedGate> {
        let rules = Rules {
            alpha: 2.0 * GATE_ALPHA,
            margin: GATE_MARGIN,
            min_blocks: 0,
            max_blocks: Some(200),
            budget: Duration::MAX,
            ends_blocks: false,
            seed: 1,
            reference: 0,
            control: None,
            gate: None,
            metrics: Vec::new(),
        };
        let passing = GateRules { passes: GateBar::Fails, alpha: GATE_ALPHA, on: None, by_failures: false };
        let gate = |seed| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let mut time = |factor: f64| 0.3 * factor * (0.01 / 2_f64.sqrt() * normal()).exp();
            gate_recorded(&rules, passing, &mut |_| [time(lucky), time(slower), time(1.0)])
        };
        (0..OF_EACH).map(gate).collect()
    }

    fn shut(gates: &[RecordedGate]) -> usize {
        gates.iter().filter(|gate| gate.gate.state == GateState::Shut).count()
    }

    /// The gate is looked at after every block, and wrong in 1 % all the same. Chance alone makes more than 6 of 200
    /// wrong one time in two hundred.
    #[test]
    fn what_is_not_slower_beyond_the_margin_shuts_a_gate_no_more_often_than_its_level_and_3_percent_do() {
        let (equal, border, slower) = (gates(1.0, 1.0), gates(1.01, 1.0), gates(1.03, 1.0));
        let lucky = gates(1.0, 0.97);
        let found = [&equal, &border, &slower, &lucky].map(|gates| shut(gates));
        println!("equal, at the margin, slower by 3 %, a lucky reference: {found:?} of {OF_EACH} are shut");
        assert!(found[0] == 0 && found[1] <= 6 && found[2] >= 190 && found[3] == 0, "{found:?}");
        // Shown against both in 19 rounds, in 95 of 100; clear of the control later.
        let soon = |gate: &&RecordedGate| gate.first_shut.is_some_and(|first| first <= 19);
        assert!(slower.iter().filter(soon).count() >= 180);
        assert!(slower.iter().all(|gate| gate.first_shut <= Some(gate.blocks)));
        let why = |gate: &&RecordedGate| gate.gate.doubt == Some(GateDoubt::ControlIsOff);
        assert!(lucky.iter().filter(why).count() >= 190, "the two runs of the reference differ");
    }
}
