//! Doubts about verdicts whose effects went with the machine, or changed during the comparison. They change no verdict.
//!
//! The test is that of a run's claims: the rank correlation of the rounds' effects with the time, and with each probe
//! before them; once, at the end; with a level that all of these tests share; and only of effects that end up on
//! another side of a border. Blocks are many and short, and those between two probes share the first of the two. So a
//! round is a stretch of blocks here, with the median of their ratios: the blocks after a probe up to the next one,
//! and for the time at most 100 stretches of equally many blocks.

use std::borrow::Cow;

use kumite_record::{CommandMetric, ComparedDoubt, ComparedProbe, Doubt, Probe};
use kumite_stats::{Course, followed, median};

use super::gate::GateRules;
use super::judge::{Bar, Side, judge};
use super::reading::Log;
use super::sequence::Rules;

/// The probability that a comparison has any such doubt by chance.
const ALPHA: f64 = 0.05;
/// The number of variables that are tested: each probe, and the time.
const VARIABLES: usize = Probe::ALL.len() + 1;
/// The most rounds that are tested. More would find smaller correlations than anybody can use, and take longer.
const MOST_ROUNDS: usize = 100;

/// A question that a comparison answers: the ratio of a pair by one metric.
pub(crate) struct Question {
    pub a: String,
    pub b: String,
    /// `None` for servers, which are judged by throughput.
    pub metric: Option<CommandMetric>,
    /// The ratio in each block that has one.
    pub logs: Vec<Log>,
    /// The numbers of these blocks, from 0; `None` if they are all there are.
    pub blocks: Option<Vec<usize>>,
}

/// The doubts about the answers to these questions.
pub(crate) fn doubts(questions: &[Question], probes: &[ComparedProbe], rules: &Rules) -> Vec<ComparedDoubt> {
    let level = ALPHA / (VARIABLES * questions.len()) as f64;
    let of = |question: &Question| {
        let Question { a, b, metric, logs, blocks } = question;
        let probes = among(probes, blocks.as_deref());
        let doubt = doubt(logs, &probes, level, rules)?;
        Some(ComparedDoubt { a: a.clone(), b: b.clone(), metric: *metric, doubt })
    };
    questions.iter().filter_map(of).collect()
}

/// The probes, with the number of blocks before each counted among those that have a ratio.
fn among<'a>(probes: &'a [ComparedProbe], blocks: Option<&[usize]>) -> Cow<'a, [ComparedProbe]> {
    let Some(blocks) = blocks else { return Cow::Borrowed(probes) };
    let before = |probe: &ComparedProbe| blocks.partition_point(|block| *block < probe.blocks);
    probes.iter().map(|probe| ComparedProbe { blocks: before(probe), ..probe.clone() }).collect()
}

fn doubt(logs: &[Log], probes: &[ComparedProbe], level: f64, rules: &Rules) -> Option<Doubt> {
    let margin = rules.margin.ln_1p();
    let (verdict, _) = judge(logs, Bar { alpha: level, margin });
    let effects: Vec<f64> = logs.iter().map(|log| log.estimate()).collect();
    let side = |effect: f64| {
        let is_so = match verdict {
            Side::Within => effect.abs() <= margin,
            Side::Above | Side::Below | Side::Unknown => effect > 0.0,
        };
        (is_so, rules.gate.is_some_and(GateRules::is_on_runs) && effect < -margin)
    };
    let by_time = (None, together(effects.iter().enumerate().map(|(nth, effect)| (nth as f64, *effect))));
    let by_probe = Probe::ALL.map(|probe| (Some(probe), together(stretches(&effects, probes, probe))));
    // Where the time says as much as a probe, it is the time.
    let variables = [by_time].into_iter().chain(by_probe);
    let (variable, Course { low, high, .. }) = followed(variables, level, side, rules.seed)?;
    let (low, high) = (low.exp(), high.exp());
    Some(match variable {
        None => Doubt::ChangedDuringRun { first: low, last: high },
        Some(probe) => Doubt::WentWith { probe, low, high },
    })
}

/// For each stretch of blocks after a probe, that probe's figure and the median effect.
fn stretches(effects: &[f64], probes: &[ComparedProbe], probe: Probe) -> impl Iterator<Item = (f64, f64)> {
    let ends = probes.iter().skip(1).map(|next| next.blocks).chain([effects.len()]);
    probes.iter().zip(ends).filter_map(move |(of, end)| {
        let effect = median(effects.get(of.blocks..end)?)?;
        Some((probe.of(&of.figures)?, effect))
    })
}

/// The rounds, with so many neighbours put together, by the medians of both values, that at most [`MOST_ROUNDS`] are
/// left.
fn together(rounds: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let rounds: Vec<(f64, f64)> = rounds.collect();
    let of_some = |some: &[(f64, f64)]| {
        let (variable, effects): (Vec<f64>, Vec<f64>) = some.iter().copied().unzip();
        median(&variable).zip(median(&effects))
    };
    rounds.chunks(rounds.len().div_ceil(MOST_ROUNDS).max(1)).filter_map(of_some).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kumite_host::Clock;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::super::between::tests::{Probed, Scripted};
    use super::super::sequence::tests::{Fake, FakeClock, a_gate, rules};
    use super::*;

    const REGIME: Duration = Duration::from_secs(7);

    fn is_dear(at: Duration) -> bool {
        at.as_secs() / REGIME.as_secs() % 2 == 1
    }

    /// A scripted comparison of a minute: the effect, and the machine's charge for a wake-up, at each time.
    struct World<'a> {
        /// The logarithm of how many times as fast the second is.
        effect: &'a dyn Fn(Duration) -> f64,
        wake_up_us: &'a dyn Fn(Duration) -> f64,
        /// The deviation of a block's effect.
        noise: f64,
        seed: u64,
    }

    impl World<'_> {
        /// The doubt about a comparison of a minute, in blocks of about a quarter of a second.
        fn doubt(&self, rules: &Rules) -> Option<Doubt> {
            let clock = FakeClock::default();
            let mut random = ChaCha8Rng::seed_from_u64(self.seed);
            let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
            let noise: Vec<f64> = (0..500).map(|_| self.noise * normal()).collect();
            let takes = |nth: usize| vec![0.12, 0.12 * (-(self.effect)(clock.now()) - noise[nth]).exp()];
            let logs = std::cell::RefCell::new(Vec::new());
            let taken = |nth: usize| {
                let takes = takes(nth);
                logs.borrow_mut().push(Log::from(takes[0].ln() - takes[1].ln()));
                takes
            };
            let charges = |at| Some((self.wake_up_us)(at));
            let machine =
                Scripted { clock: &clock, starts: true, each: Duration::from_millis(20), charges: &charges };
            let mut probed = Probed::new(Fake::new(&clock, &taken), machine);
            probed.run(rules, &clock);
            let logs = logs.borrow().clone();
            assert!(logs.len() >= rules.min_blocks && probed.between.found().len() >= 45);
            let question = Question { a: "b".into(), b: "a".into(), metric: None, logs, blocks: None };
            let mut found = doubts(&[question], probed.between.found(), rules);
            assert!(found.len() < 2);
            found.pop().map(|of| of.doubt)
        }
    }

    /// A minute that no verdict ends.
    fn a_minute() -> Rules {
        Rules { min_blocks: 250, budget: Duration::from_secs(60), seed: 5, ..rules() }
    }

    fn wake_ups(at: Duration) -> f64 {
        // Each a little apart from the others, in an order that is not that of time.
        let apart = (at.as_millis() * 7 % 11) as f64 / 100.0;
        apart + if is_dear(at) { 10.0 } else { 5.0 }
    }

    fn regimes(at: Duration) -> f64 {
        if is_dear(at) { 0.08 } else { -0.08 }
    }

    #[test]
    fn an_effect_that_went_with_wake_ups_is_doubted_with_both_ends() {
        let world = World { effect: &regimes, wake_up_us: &wake_ups, noise: 0.02, seed: 1 };
        let Some(Doubt::WentWith { probe: Probe::WakeUp, low, high }) = world.doubt(&a_minute()) else {
            panic!("{:?}", world.doubt(&a_minute()))
        };
        assert!((low.ln() + 0.08).abs() < 0.02 && (high.ln() - 0.08).abs() < 0.02, "{low} {high}");
    }

    #[test]
    fn an_effect_that_drifts_has_changed_during_the_run_and_one_on_one_side_has_not() {
        let drift = |from: f64| move |at: Duration| from + 0.16 * at.as_secs_f64() / 60.0;
        let of = |effect: &dyn Fn(Duration) -> f64| {
            World { effect, wake_up_us: &wake_ups, noise: 0.02, seed: 2 }.doubt(&a_minute())
        };
        let doubt = of(&drift(-0.08));
        let Some(Doubt::ChangedDuringRun { first, last }) = doubt else { panic!("{doubt:?}") };
        assert!(first < 0.97 && last > 1.03, "{first} {last}");
        assert_eq!(of(&drift(0.02)), None);
    }

    #[test]
    fn an_effect_that_crosses_the_gates_border_alone_is_doubted_if_there_is_a_gate() {
        let effect = |at: Duration| if is_dear(at) { -0.03 } else { -0.12 };
        let world = World { effect: &effect, wake_up_us: &wake_ups, noise: 0.01, seed: 3 };
        let plain = Rules { margin: 0.06, ..a_minute() };
        let gated = Rules { gate: a_gate(), ..plain.clone() };
        let of = |rules| matches!(world.doubt(rules), Some(Doubt::WentWith { probe: Probe::WakeUp, .. }));
        assert_eq!((of(&plain), of(&gated)), (false, true));
    }

    #[test]
    fn without_probes_the_time_alone_is_asked_for_and_fewer_than_twelve_blocks_say_nothing() {
        let logs = |n: usize| (0..n).map(|nth| Log::from(nth as f64 / (n - 1) as f64 - 0.5)).collect();
        let of = |n: usize| {
            let question =
                Question { a: "b".into(), b: "a".into(), metric: None, logs: logs(n), blocks: None };
            doubts(&[question], &[], &a_minute()).pop().map(|of| of.doubt)
        };
        assert!(of(11).is_none() && matches!(of(12), Some(Doubt::ChangedDuringRun { .. })));
        assert_eq!(doubts(&[], &[], &a_minute()), []);
    }

    #[test]
    fn a_million_blocks_are_as_many_rounds_as_a_hundred() {
        let rounds = together((0..1_000_000).map(|nth| (f64::from(nth), 1.0)));
        assert_eq!((rounds.len(), rounds[0], rounds[99].0), (100, (4_999.5, 1.0), 994_999.5));
        assert_eq!(together((0..100).map(|nth| (f64::from(nth), 0.0))).len(), 100);
        assert_eq!(together((0..101).map(|nth| (f64::from(nth), 0.0))).len(), 51);
        assert_eq!(together([].into_iter()), []);
    }

    #[test]
    fn a_stretch_is_of_the_blocks_after_its_probe_and_none_after_the_last_block() {
        let probe = |blocks, wake_up: Option<f64>| ComparedProbe {
            blocks,
            after_s: 0.0,
            figures: wake_up.map(|us| (Probe::WakeUp.name().to_owned(), us)).into_iter().collect(),
        };
        let effects = [9.0, 1.0, 2.0, 3.0, 7.0, 8.0];
        let of = |probes: &[ComparedProbe]| stretches(&effects, probes, Probe::WakeUp).collect::<Vec<_>>();
        assert_eq!(of(&[probe(1, Some(5.0)), probe(4, Some(6.0))]), [(5.0, 2.0), (6.0, 7.5)]);
        assert_eq!(of(&[probe(1, None), probe(4, Some(6.0)), probe(6, Some(7.0))]), [(6.0, 7.5)]);
        assert_eq!(of(&[probe(9, Some(5.0))]), []);
        // The second and the fifth block have no ratio.
        let probes = [probe(1, None), probe(2, None), probe(4, None), probe(6, None)];
        let counted = among(&probes, Some(&[0, 2, 3, 5]));
        assert_eq!(counted.iter().map(|of| of.blocks).collect::<Vec<_>>(), [1, 1, 3, 4]);
    }

    /// How many of these comparisons had the doubt that the effect went with wake-ups, that it changed, and none.
    fn count(of: u64, effect: &dyn Fn(Duration) -> f64, wake_up_us: &dyn Fn(Duration) -> f64) -> [usize; 3] {
        let mut counts = [0; 3];
        for seed in 0..of {
            let world = World { effect, wake_up_us, noise: 0.05, seed };
            counts[match world.doubt(&a_minute()) {
                Some(Doubt::WentWith { .. }) => 0,
                Some(_) => 1,
                None => 2,
            }] += 1;
        }
        counts
    }

    /// Most of these are not tested at all, since both ends are on one side: 5 % is the most that there may be.
    #[test]
    fn what_neither_drifts_nor_goes_with_anything_is_doubted_in_at_most_5_percent() {
        const OF: u64 = 100;
        let drifts = |at: Duration| at.as_secs_f64();
        for (what, wake_ups) in
            [("in regimes", &wake_ups as &dyn Fn(Duration) -> f64), ("in a drift", &drifts)]
        {
            let counts = count(OF, &|_| 0.0, wake_ups);
            println!("no effect, wake-ups {what}: {counts:?} of {OF}");
            // Where 5 are expected, more than 15 come in fewer than one of 10,000 such tests.
            assert!(counts[0] + counts[1] <= 15, "{counts:?}");
        }
        let went = count(OF, &|at| regimes(at) / 4.0, &wake_ups);
        let changed = count(OF, &|at| 0.04 * at.as_secs_f64() / 60.0 - 0.02, &wake_ups);
        println!("effect in regimes with wake-ups: {went:?}; in a drift: {changed:?}");
        assert!(went[0] >= 80 && changed[1] >= 60, "{went:?} {changed:?}");
    }
}
