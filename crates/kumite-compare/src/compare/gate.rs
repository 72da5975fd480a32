//! The gate: it is shut if a command or server is slower than the reference by more than the margin. With `--gate` a
//! comparison goes on until that is decided. All functions here are pure.

use kumite_record::{
    Comparison, ComparisonEnd, ComparisonGate, GateBar, GateState, JudgedMetric, PairGate, Remaining,
};
use kumite_stats::blocks_to_exclude;

use super::judge::{Bar, between};
use super::reading::Log;

/// The state of the gate by the ratios of one pair. It rests on the interval of the verdict, which is a confidence
/// sequence, so that a comparison may stop as soon as this is decided.
pub(crate) fn state(logs: &[Log], bar: Bar) -> GateState {
    match between(logs, bar.alpha) {
        Some((_, high)) if high < -bar.margin => GateState::Shut,
        Some((low, _)) if low >= -bar.margin => GateState::Open,
        _ => GateState::Undecided,
    }
}

/// The state of the gate by one pair. If it is undecided, with about how many blocks and seconds are missing.
pub(crate) fn pair(logs: &[Log], bar: Bar, seconds: f64) -> PairGate {
    let state = state(logs, bar);
    let remaining = (state == GateState::Undecided).then(|| remaining(logs, bar, seconds)).flatten();
    PairGate { state, remaining }
}

fn remaining(logs: &[Log], bar: Bar, seconds: f64) -> Option<Remaining> {
    let n = logs.len();
    let not_shut = logs.iter().filter(|log| log.most >= -bar.margin).count();
    let not_open = logs.iter().filter(|log| log.least < -bar.margin).count();
    let enough = blocks_to_exclude(not_shut.min(not_open), n, bar.alpha).ok().flatten()?;
    let blocks = enough.saturating_sub(n).max(1);
    Some(Remaining { blocks, seconds: seconds / n.max(1) as f64 * blocks as f64 })
}

/// The state of the gate by all metrics of a pair: it is shut if one of them shuts it.
pub(crate) fn of_metrics(metrics: &[JudgedMetric]) -> PairGate {
    let gates = || metrics.iter().filter_map(|metric| metric.gate);
    let state = GateState::of_all(gates().map(|gate| gate.state));
    let undecided = gates().filter(|gate| gate.state == GateState::Undecided);
    // All of them are to be decided; none is in reach if one is not.
    let remaining: Option<Vec<Remaining>> = undecided.map(|gate| gate.remaining).collect();
    let most = remaining.and_then(|all| all.into_iter().max_by_key(|more| more.blocks));
    PairGate { state, remaining: most.filter(|_| state == GateState::Undecided) }
}

/// The state of the gate by all pairs. It is not open if the comparison did not come to its end.
pub(crate) fn comparison_gate(passes: GateBar, comparison: &Comparison) -> ComparisonGate {
    let came_to_its_end = match comparison.ended {
        ComparisonEnd::Decided | ComparisonEnd::MaxRuns | ComparisonEnd::Budget => GateState::Open,
        ComparisonEnd::Interrupted | ComparisonEnd::Failed => GateState::Undecided,
    };
    let pairs = comparison.pairs.iter().filter_map(|pair| pair.gate.map(|gate| gate.state));
    ComparisonGate { passes, state: GateState::of_all(pairs.chain([came_to_its_end])) }
}

#[cfg(test)]
mod tests {
    use kumite_record::{Better, CommandMetric, Ratio, Speed, Thrift};

    use super::super::judge::judge;
    use super::*;

    /// A margin of 1 %, whose border is where a is 1.01 times as slow.
    fn bar() -> Bar {
        Bar { alpha: 0.05, margin: 0.01_f64.ln_1p() }
    }

    fn exact(logs: &[f64]) -> Vec<Log> {
        logs.iter().copied().map(Log::from).collect()
    }

    #[test]
    fn a_gate_is_shut_by_what_lies_beyond_the_margin_and_opened_by_what_does_not() {
        let of = |logs: &[f64]| state(&exact(logs), bar());
        assert_eq!(of(&[-0.03; 6]), GateState::Shut);
        assert_eq!(of(&[-0.005; 6]), GateState::Open, "slower, but within the margin");
        assert_eq!(of(&[0.1; 6]), GateState::Open);
        assert_eq!(of(&[-bar().margin; 6]), GateState::Open, "at the border it is not beyond it");
        assert_eq!(of(&[-0.03; 5]), GateState::Undecided, "five decide nothing");
        assert_eq!(of(&[]), GateState::Undecided);
        // All are slower, and so is the verdict; but not all beyond the margin.
        let slower = [-0.03, -0.02, -0.03, -0.02, -0.03, -0.005];
        assert_eq!(Speed::from(judge(&exact(&slower), bar()).0), Speed::Slower);
        assert_eq!(of(&slower), GateState::Undecided);
    }

    /// A verdict and a gate that contradict each other would be two answers to one question.
    #[test]
    fn a_gate_never_contradicts_a_verdict() {
        for low in -30..=30 {
            for high in low..=30 {
                let value = |nth: i32| f64::from(low + (high - low) * nth / 5) / 1_000.0;
                let logs: Vec<Log> = (0..6).map(value).map(Log::from).collect();
                let (verdict, gate) = (Speed::from(judge(&logs, bar()).0), state(&logs, bar()));
                let agree = match verdict {
                    Speed::Faster | Speed::NoDifference => gate == GateState::Open,
                    Speed::Slower => gate != GateState::Open,
                    Speed::Undecided => gate != GateState::Shut,
                };
                assert!(agree, "{logs:?}: {verdict:?}, {gate:?}");
            }
        }
    }

    #[test]
    fn an_undecided_gate_has_what_remains() {
        let few = pair(&exact(&[-0.03; 4]), bar(), 4.0);
        assert_eq!(few.remaining.map(|more| (more.blocks, more.seconds)), Some((2, 2.0)));
        assert_eq!(
            pair(&exact(&[-0.03; 6]), bar(), 6.0),
            PairGate { state: GateState::Shut, remaining: None }
        );
        let half: Vec<f64> = (0..20).map(|nth| if nth % 2 == 0 { 0.0 } else { -0.02 }).collect();
        assert_eq!(pair(&exact(&half), bar(), 1.0).remaining, None, "as it looks, nothing would tell");
    }

    #[test]
    fn one_metric_shuts_a_pairs_gate_and_all_open_it() {
        let more = |blocks| Some(Remaining { blocks, seconds: 1.0 });
        let of = |gates: &[(GateState, Option<Remaining>)]| {
            let judged = |&(state, remaining): &(GateState, Option<Remaining>)| JudgedMetric {
                metric: CommandMetric::TimeCpu,
                better: Better::Lower,
                verdict: Thrift::Undecided,
                ratio: Ratio::default(),
                untold: 0,
                remaining: None,
                gate: Some(PairGate { state, remaining }),
                imported: None,
            };
            of_metrics(&gates.iter().map(judged).collect::<Vec<_>>())
        };
        use GateState::{Open, Shut, Undecided};
        let gate = |state, remaining| PairGate { state, remaining };
        assert_eq!(of(&[(Open, None), (Open, None)]), gate(Open, None));
        assert_eq!(of(&[(Open, None), (Shut, None), (Undecided, more(3))]), gate(Shut, None));
        assert_eq!(of(&[(Undecided, more(3)), (Open, None), (Undecided, more(9))]), gate(Undecided, more(9)));
        assert_eq!(of(&[(Undecided, more(3)), (Undecided, None)]), gate(Undecided, None));
    }

    /// Of a time that is read as 0 only is known that it is below a tick.
    #[test]
    fn what_is_below_a_tick_shuts_no_gate_and_what_is_far_above_does() {
        let tick = |other: f64| Log { least: f64::NEG_INFINITY, most: (0.01 / other).ln() };
        assert_eq!(state(&[tick(0.005); 50], bar()), GateState::Undecided);
        assert_eq!(state(&[tick(0.5); 6], bar()), GateState::Shut);
        assert_eq!(pair(&[tick(0.005); 50], bar(), 1.0).remaining, None);
    }
}
