//! The gate: it is shut if a command or server is slower than the reference, or worse by another metric, by more than
//! the margin. With `--gate` a comparison goes on until that is decided, or a limit is reached. All functions here
//! are pure.
//!
//! The reference stands in each block twice, and what the gate says has to be shown against each of its two runs, by
//! one-sided bets ([`wealth`]): a reference that happens to be fast, or slow, in one of its two places decides nothing.
//! The two are a control, too: where they differ from each other, nothing can be told that is not clear of that.

use kumite_record::{
    CommandMetric, ComparedCounts, Comparison, ComparisonEnd, ComparisonGate, CountState, FailureVerdict,
    GateBar, GateDoubt, GateState, JudgedMetric, PairGate, Ratio, Remaining,
};
use kumite_stats::{at_least, at_most, blocks_to_exclude, fewest_rounds, median, wealth};

use super::control;
use super::judge::{Bar, Side, between, judge};
use super::reading::{Log, cannot_be_told, untold};
use super::rounds::Rounds;

/// The usual bound on the probability with which a gate is shut, or opened, by mistake. It is lower than that of other
/// verdicts, since a gate runs on every change, and each wrong answer is looked into.
pub const GATE_ALPHA: f64 = 0.01;
/// The margin of a gate if none is given, as a share: a command that is slower by no more than this passes.
pub const GATE_MARGIN: f64 = 0.01;

/// The rules of a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateRules {
    /// The bar of the gate: how much must be shown for it to pass.
    pub passes: GateBar,
    /// The largest probability with which the gate is shut, or opened, by mistake: over all pairs and metrics together.
    pub alpha: f64,
    /// The one thing that decides the gate; `None` if all metrics that are judged do.
    pub on: Option<GateOn>,
    /// True if a command that fails more often than the reference shuts the gate, too. Then this question has a share
    /// of `alpha`.
    pub by_failures: bool,
}

/// The one thing that decides a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GateOn {
    /// The gate is decided by this metric alone.
    Metric(CommandMetric),
    /// The gate is decided by the counts of instructions alone, which are taken after the timed runs. These end as they
    /// would without a gate.
    Counts,
}

impl GateRules {
    /// The metric that decides the gate alone; `None` if all metrics that are judged, or counts, decide it.
    pub(crate) fn metric(self) -> Option<CommandMetric> {
        match self.on {
            Some(GateOn::Metric(metric)) => Some(metric),
            Some(GateOn::Counts) | None => None,
        }
    }

    /// True if timed runs decide the gate, so that they go on until it is decided; false if counts of instructions,
    /// which are taken after these runs, decide it.
    pub fn is_on_runs(self) -> bool {
        self.on != Some(GateOn::Counts)
    }
}

/// The levels at which one pair is judged by one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GateLevels {
    /// The probability with which this gate is shut, or opened, by mistake.
    pub alpha: f64,
    /// The margin as a logarithm: ln(1 + margin).
    pub margin: f64,
    /// The probability with which the control is found off by chance in this metric.
    pub control: f64,
}

impl GateLevels {
    /// The fewest blocks with which a gate can be decided; `usize::MAX` if no number of blocks is enough.
    pub(crate) fn fewest(self) -> usize {
        fewest_rounds(|rounds| wealth(rounds, rounds) >= self.threshold()).unwrap_or(usize::MAX)
    }

    /// The wealth that a bet has to reach.
    fn threshold(self) -> f64 {
        1.0 / self.alpha
    }
}

/// The finding on one pair by one metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Finding {
    pub state: GateState,
    pub doubt: Option<GateDoubt>,
    /// True if no more blocks are waited for, because the gate is decided, or never will be.
    pub is_settled: bool,
    /// The ratio to the run of the reference that decides: the one to which the ratio is nearest to the margin.
    pub ratio: Ratio,
    untold: usize,
}

/// The median of the logarithms, and the bounds below and above it that are shown; `None` where none is.
struct Ends {
    median: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl Ends {
    fn of(logs: &[Log], levels: GateLevels) -> Ends {
        let values = |of: fn(&Log) -> f64| logs.iter().map(of).collect::<Vec<_>>();
        Ends {
            median: median(&values(|log| log.estimate())).unwrap_or(0.0),
            low: at_least(&values(|log| log.least), levels.threshold()).ok().flatten(),
            high: at_most(&values(|log| log.most), levels.threshold()).ok().flatten(),
        }
    }

    fn is_slower(&self, margin: f64) -> bool {
        self.high.is_some_and(|high| high < -margin)
    }

    fn is_not_slower(&self, margin: f64) -> bool {
        self.low.is_some_and(|low| low >= -margin)
    }

    fn ratio(&self) -> Ratio {
        let end = |end: Option<f64>| end.filter(|end| end.is_finite()).map(f64::exp);
        Ratio { estimate: self.median.exp(), low: end(self.low), high: end(self.high) }
    }
}

/// The finding after these blocks. It rests on bets that may be looked at after every block, so that a comparison may
/// stop as soon as it is settled.
pub(crate) fn find(rounds: &Rounds, levels: GateLevels) -> Finding {
    let GateLevels { margin, .. } = levels;
    let runs: Vec<Ends> = rounds.by_reference().map(|logs| Ends::of(logs, levels)).collect();
    let slower = runs.iter().filter(|ends| ends.is_slower(margin)).count();
    let is_slower_than_each = slower == runs.len();
    let is_clear = is_slower_than_each && is_clear(&runs, rounds);
    let off = judge(&rounds.itself, Bar { alpha: levels.control, margin: 0.0 }).0;
    let is_off = matches!(off, Side::Above | Side::Below);
    let (state, doubt) = if is_clear {
        (GateState::Shut, None)
    } else if is_off {
        (GateState::Undecided, Some(GateDoubt::ControlIsOff))
    } else if is_slower_than_each {
        (GateState::Shut, Some(GateDoubt::NotClearOfControl))
    } else if slower > 0 {
        (GateState::Undecided, Some(GateDoubt::SlowerThanOneOnly))
    } else if runs.iter().all(|ends| ends.is_not_slower(margin)) {
        (GateState::Open, None)
    } else {
        (GateState::Undecided, None)
    };
    let is_decided = match (state, doubt) {
        (GateState::Shut | GateState::Open, None) => true,
        // More blocks may show that it is clear of the control.
        (_, Some(GateDoubt::ControlIsOff)) => !is_slower_than_each,
        _ => false,
    };
    let is_hidden = rounds.by_reference().any(|logs| cannot_be_told(logs, -margin));
    Finding {
        state,
        doubt,
        is_settled: is_decided || is_hidden,
        ratio: nearest(&runs, state).map(Ends::ratio).unwrap_or_default(),
        untold: rounds.by_reference().map(|logs| untold(logs, -margin)).max().unwrap_or(0),
    }
}

/// `true` if the distance to each run of the reference is larger than the two runs can be from each other, by the far
/// end of the control's interval. Always if there is no control, or if its two runs are too small to be told apart.
fn is_clear(runs: &[Ends], rounds: &Rounds) -> bool {
    if rounds.itself.is_empty() || cannot_be_told(&rounds.itself, 0.0) {
        return true;
    }
    let nearest = runs.iter().filter_map(|ends| ends.high).fold(f64::NEG_INFINITY, f64::max);
    let control = between(&rounds.itself, control::SHOWN);
    control.is_some_and(|(low, high)| -nearest > low.abs().max(high.abs()))
}

/// The run of the reference that decides: of an open gate the fastest, else the slowest.
fn nearest(runs: &[Ends], state: GateState) -> Option<&Ends> {
    let low = |ends: &&Ends| ends.low.unwrap_or(ends.median);
    let high = |ends: &&Ends| ends.high.unwrap_or(ends.median);
    match state {
        GateState::Open => runs.iter().min_by(|a, b| low(a).total_cmp(&low(b))),
        GateState::Shut | GateState::Undecided => runs.iter().max_by(|a, b| high(a).total_cmp(&high(b))),
    }
}

/// The answer on one pair by one metric. If the answer is undecided and more blocks may decide it, it has the estimated
/// numbers of blocks and seconds that are missing. `seconds` is the time that the blocks until now took.
pub(crate) fn pair(rounds: &Rounds, levels: GateLevels, seconds: f64) -> PairGate {
    let Finding { state, doubt, is_settled, ratio, untold } = find(rounds, levels);
    let is_missing = state == GateState::Undecided && !is_settled;
    PairGate {
        state,
        doubt,
        ratio: Some(ratio),
        untold,
        remaining: is_missing.then(|| remaining(rounds, levels, seconds)).flatten(),
    }
}

fn remaining(rounds: &Rounds, levels: GateLevels, seconds: f64) -> Option<Remaining> {
    let n = rounds.first.len();
    // A two-sided bet at twice the level is nearly as dear as a bet on either side.
    let blocks = |beyond: usize| blocks_to_exclude(beyond, n, 2.0 * levels.alpha).ok().flatten();
    // Against each run of the reference.
    let all = |beyond: &dyn Fn(&Log) -> bool| -> Option<usize> {
        let each = rounds.by_reference().map(|logs| blocks(logs.iter().filter(|log| beyond(log)).count()));
        each.collect::<Option<Vec<_>>>()?.into_iter().max()
    };
    let shut = all(&|log| log.most >= -levels.margin);
    let open = all(&|log| log.least < -levels.margin);
    let blocks = shut.into_iter().chain(open).min()?.saturating_sub(n).max(1);
    Some(Remaining { blocks, seconds: seconds / n.max(1) as f64 * blocks as f64 })
}

/// The answer on one pair by its instruction counts.
pub(crate) fn of_counts(counts: &ComparedCounts) -> PairGate {
    PairGate::of(match (counts.state, counts.ratio) {
        (CountState::Changed, Some(ratio)) if ratio.high < 1.0 => GateState::Shut,
        (CountState::Changed | CountState::Same, _) => GateState::Open,
        (CountState::CannotTell, _) => GateState::Undecided,
    })
}

/// The state of the gate by all metrics of a pair: it is shut if one of them shuts it.
pub(crate) fn of_metrics(metrics: &[JudgedMetric]) -> PairGate {
    let gates = || metrics.iter().filter_map(|metric| metric.gate);
    let state = GateState::of_all(gates().map(|gate| gate.state));
    let undecided = gates().filter(|gate| gate.state == GateState::Undecided);
    // All of them are to be decided; none is in reach if one is not.
    let remaining: Option<Vec<Remaining>> = undecided.map(|gate| gate.remaining).collect();
    let most = remaining.and_then(|all| all.into_iter().max_by_key(|more| more.blocks));
    let deciding = gates().filter(|gate| gate.state == state);
    PairGate {
        doubt: deciding.map(|gate| gate.doubt).min_by_key(Option::is_some).flatten(),
        remaining: most.filter(|_| state == GateState::Undecided),
        ..PairGate::of(state)
    }
}

/// The state of the gate by all pairs. It is not open if the comparison did not come to its end.
pub(crate) fn comparison_gate(rules: GateRules, comparison: &Comparison) -> ComparisonGate {
    let came_to_its_end = match comparison.ended {
        ComparisonEnd::Decided | ComparisonEnd::MaxRuns | ComparisonEnd::Budget => GateState::Open,
        ComparisonEnd::Interrupted | ComparisonEnd::Failed => GateState::Undecided,
    };
    // Without counts there is no answer by them.
    let otherwise = (!rules.is_on_runs()).then_some(GateState::Undecided);
    let pairs = comparison.pairs.iter().filter_map(|pair| pair.gate.map(|gate| gate.state).or(otherwise));
    let verdicts = comparison.pairs.iter().filter_map(|pair| Some(pair.failures.as_ref()?.verdict));
    let fails_more = rules.by_failures && verdicts.into_iter().any(|of| of == FailureVerdict::More);
    let failures = fails_more.then_some(GateState::Shut);
    ComparisonGate {
        passes: rules.passes,
        state: GateState::of_all(pairs.chain([came_to_its_end]).chain(failures)),
        alpha: Some(rules.alpha),
        on: rules.metric(),
        by_counts: !rules.is_on_runs(),
        by_failures: rules.by_failures,
    }
}

#[cfg(test)]
mod tests {
    use GateDoubt::{ControlIsOff, NotClearOfControl, SlowerThanOneOnly};
    use GateState::{Open, Shut, Undecided};
    use kumite_record::{Better, CountRatio, Speed, Thrift};

    use super::*;

    /// A margin of 1 %, whose border is where a is 1.01 times as slow, and a control in one metric.
    fn levels() -> GateLevels {
        GateLevels { alpha: GATE_ALPHA, margin: GATE_MARGIN.ln_1p(), control: 0.01 }
    }

    fn exact(logs: &[f64]) -> Vec<Log> {
        logs.iter().copied().map(Log::from).collect()
    }

    /// The rounds of a reference that stands in each block once.
    fn once(logs: &[f64]) -> Rounds {
        Rounds { first: exact(logs), ..Rounds::default() }
    }

    /// The rounds of blocks with these times, in logarithms: of the one that is judged, of the reference, and of its
    /// second run.
    fn twice(blocks: &[[f64; 3]]) -> Rounds {
        let mut rounds = Rounds::default();
        for times in blocks {
            let [other, reference, again] = times.map(|log| super::super::reading::Reading::exact(log.exp()));
            rounds.add(other, reference, Some(again));
        }
        rounds
    }

    fn state(rounds: &Rounds) -> GateState {
        find(rounds, levels()).state
    }

    #[test]
    fn a_gate_is_shut_by_what_lies_beyond_the_margin_and_opened_by_what_does_not() {
        let of = |logs: &[f64]| state(&once(logs));
        assert_eq!(levels().fewest(), 8);
        assert_eq!(of(&[-0.03; 8]), Shut);
        assert_eq!(of(&[-0.005; 8]), Open, "slower, but within the margin");
        assert_eq!(of(&[0.1; 8]), Open);
        assert_eq!(of(&[-levels().margin; 8]), Open, "at the border it is not beyond it");
        assert_eq!(of(&[-0.03; 7]), Undecided, "seven decide nothing");
        assert_eq!(of(&[]), Undecided);
        // All are slower, and so is the verdict; but not all beyond the margin.
        let slower = [&[-0.03; 7][..], &[-0.005]].concat();
        let bar = Bar { alpha: 2.0 * GATE_ALPHA, margin: levels().margin };
        assert_eq!(Speed::from(judge(&exact(&slower), bar).0), Speed::Slower);
        assert_eq!(of(&slower), Undecided);
    }

    #[test]
    fn a_gate_on_counts_is_shut_by_more_instructions_and_opened_by_as_many_or_fewer() {
        let of = |state, ratio: Option<(f64, f64)>| {
            let ratio = ratio.map(|(low, high)| CountRatio { low, high });
            of_counts(&ComparedCounts { state, ratio, functions: Vec::new() }).state
        };
        assert_eq!(of(CountState::Changed, Some((0.97, 0.98))), Shut);
        assert_eq!(of(CountState::Changed, Some((1.02, 1.03))), Open);
        assert_eq!(of(CountState::Same, Some((0.9999, 1.0001))), Open);
        assert_eq!(of(CountState::CannotTell, Some((0.9, 1.1))), Undecided);
        assert_eq!(of(CountState::CannotTell, None), Undecided);
    }

    #[test]
    fn what_is_slower_than_one_run_of_the_reference_only_cannot_be_told() {
        // The other reading of the reference is slow in turn, so that no bet on the control is won.
        let block = |nth: usize, other: f64| [other, 0.0, if nth.is_multiple_of(2) { 0.03 } else { -0.002 }];
        let blocks = |other: f64| (0..20).map(|nth| block(nth, other)).collect::<Vec<_>>();
        let found = find(&twice(&blocks(0.03)), levels());
        assert_eq!((found.state, found.doubt, found.is_settled), (Undecided, Some(SlowerThanOneOnly), false));
        assert_eq!(state(&twice(&blocks(0.06))), Shut);
        assert_eq!(state(&twice(&blocks(0.0))), Open);
    }

    #[test]
    fn a_reference_that_is_lucky_in_one_place_shuts_nothing_and_what_is_clear_of_that_does() {
        let lucky = |other: f64, blocks: usize| twice(&vec![[other, -0.03, 0.0]; blocks]);
        let of = |rounds: &Rounds| {
            let found = find(rounds, levels());
            (found.state, found.doubt, found.is_settled)
        };
        assert_eq!(of(&lucky(0.0, 8)), (Undecided, Some(SlowerThanOneOnly), false), "eight are too few");
        assert_eq!(of(&lucky(0.0, 9)), (Undecided, Some(ControlIsOff), true));
        assert_eq!(of(&lucky(-0.05, 9)), (Undecided, Some(ControlIsOff), true), "nor is it open");
        assert_eq!(of(&lucky(0.02, 9)), (Undecided, Some(ControlIsOff), false), "more blocks may clear it");
        assert_eq!(of(&lucky(0.031, 9)), (Shut, None, true));
    }

    #[test]
    fn what_is_not_clear_of_the_control_shuts_the_gate_with_a_doubt_and_goes_on() {
        // The reference is as far from itself on either side as the other is from it.
        let block = |nth: usize| [0.04, 0.0, if nth.is_multiple_of(2) { 0.025 } else { -0.025 }];
        let blocks: Vec<_> = (0..12).map(block).collect();
        let found = find(&twice(&blocks), levels());
        assert_eq!((found.state, found.doubt, found.is_settled), (Shut, Some(NotClearOfControl), false));
        // By the nearer of the two, in which it is at least 1.5 % slower.
        let (least, most) = (found.ratio.low.unwrap(), found.ratio.high.unwrap());
        assert!((most.ln() + 0.015).abs() < 1e-9 && (least.ln() + 0.065).abs() < 1e-9, "{:?}", found.ratio);
    }

    /// A verdict and a gate that contradict each other would be two answers to one question.
    #[test]
    fn a_gate_never_contradicts_a_verdict() {
        let bar = Bar { alpha: 2.0 * GATE_ALPHA, margin: levels().margin };
        for low in -30..=30 {
            for high in low..=30 {
                let value = |nth: i32| f64::from(low + (high - low) * nth / 7) / 1_000.0;
                let logs: Vec<f64> = (0..8).map(value).collect();
                let verdict = Speed::from(judge(&exact(&logs), bar).0);
                let gate = state(&once(&logs));
                let agree = match verdict {
                    Speed::Faster | Speed::NoDifference => gate == Open,
                    Speed::Slower => gate != Open || logs.iter().all(|log| *log >= -bar.margin),
                    Speed::Undecided => gate != Shut,
                };
                assert!(agree, "{logs:?}: {verdict:?}, {gate:?}");
            }
        }
    }

    #[test]
    fn an_undecided_gate_has_what_remains() {
        let few = pair(&once(&[-0.03; 4]), levels(), 4.0);
        assert_eq!(few.remaining.map(|more| (more.blocks, more.seconds)), Some((4, 4.0)));
        let shut = pair(&once(&[-0.03; 8]), levels(), 6.0);
        assert_eq!((shut.state, shut.remaining), (Shut, None));
        let half: Vec<f64> = (0..20).map(|nth| if nth % 2 == 0 { 0.0 } else { -0.02 }).collect();
        assert_eq!(pair(&once(&half), levels(), 1.0).remaining, None, "as it looks, nothing would tell");
        // Against each run of the reference.
        let one_only = twice(&(0..7).map(|nth| [0.03, 0.0, 0.03 * f64::from(nth % 2)]).collect::<Vec<_>>());
        let more = pair(&one_only, levels(), 7.0).remaining.map(|more| more.blocks);
        let alone = pair(&once(&[-0.03; 7]), levels(), 7.0).remaining.map(|more| more.blocks);
        assert!(alone == Some(1) && more > alone, "{more:?}");
    }

    #[test]
    fn one_metric_shuts_a_pairs_gate_and_all_open_it() {
        let more = |blocks| Some(Remaining { blocks, seconds: 1.0 });
        let of_gates = |gates: &[PairGate]| {
            let judged = |&gate: &PairGate| JudgedMetric {
                metric: CommandMetric::TimeCpu,
                better: Better::Lower,
                verdict: Thrift::Undecided,
                ratio: Ratio::default(),
                untold: 0,
                remaining: None,
                gate: Some(gate),
                imported: None,
            };
            of_metrics(&gates.iter().map(judged).collect::<Vec<_>>())
        };
        let gate = |state, remaining| PairGate { remaining, ..PairGate::of(state) };
        let of = |gates: &[(GateState, Option<Remaining>)]| {
            of_gates(&gates.iter().map(|&(state, remaining)| gate(state, remaining)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[(Open, None), (Open, None)]), gate(Open, None));
        assert_eq!(of(&[(Open, None), (Shut, None), (Undecided, more(3))]), gate(Shut, None));
        assert_eq!(of(&[(Undecided, more(3)), (Open, None), (Undecided, more(9))]), gate(Undecided, more(9)));
        assert_eq!(of(&[(Undecided, more(3)), (Undecided, None)]), gate(Undecided, None));
        // A doubt stays only if nothing decides without it.
        let doubtful = PairGate { doubt: Some(NotClearOfControl), ..PairGate::of(Shut) };
        assert_eq!(of_gates(&[gate(Open, None), doubtful]), doubtful);
        assert_eq!(of_gates(&[doubtful, gate(Shut, None)]), gate(Shut, None));
    }

    /// A time that is read as 0 is known to be below a tick, and nothing more.
    #[test]
    fn what_is_below_a_tick_shuts_no_gate_and_what_is_far_above_does() {
        let tick = |other: f64| Log { least: f64::NEG_INFINITY, most: (0.01 / other).ln() };
        let of = |log: Log, n: usize| Rounds { first: vec![log; n], ..Rounds::default() };
        let hidden = find(&of(tick(0.005), 50), levels());
        assert_eq!((hidden.state, hidden.is_settled, hidden.untold), (Undecided, true, 50));
        assert_eq!(state(&of(tick(0.5), 8)), Shut);
        assert_eq!(pair(&of(tick(0.005), 50), levels(), 1.0).remaining, None);
        // Two runs of the reference of which both are below a tick are no control, and what is far above both is
        // slower.
        let all = Log { least: f64::NEG_INFINITY, most: f64::INFINITY };
        let both = Rounds { second: vec![tick(0.5); 8], itself: vec![all; 8], ..of(tick(0.5), 8) };
        let found = find(&both, levels());
        assert_eq!((found.state, found.doubt, found.is_settled), (Shut, None, true));
    }
}
