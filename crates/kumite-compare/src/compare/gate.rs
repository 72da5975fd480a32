//! Whether one is slower than the reference by more than the margin: what `--gate` asks, and goes on for until it is
//! decided. Pure.

use kumite_record::{Comparison, ComparisonEnd, ComparisonGate, GateBar, GateState, PairGate, Remaining};
use kumite_stats::{blocks_to_exclude, sequential_median};

use super::judge::Bar;

/// By the same interval as the verdict: it is a confidence sequence, so that one may stop as soon as this is decided.
pub(crate) fn state(logs: &[f64], bar: Bar) -> GateState {
    match sequential_median(logs, bar.alpha) {
        Ok(interval) if interval.high < -bar.margin => GateState::Shut,
        Ok(interval) if interval.low >= -bar.margin => GateState::Open,
        _ => GateState::Undecided,
    }
}

/// With what it would take, if it is undecided.
pub(crate) fn pair(logs: &[f64], bar: Bar, seconds: f64) -> PairGate {
    let state = state(logs, bar);
    let remaining = (state == GateState::Undecided).then(|| remaining(logs, bar, seconds)).flatten();
    PairGate { state, remaining }
}

fn remaining(logs: &[f64], bar: Bar, seconds: f64) -> Option<Remaining> {
    let n = logs.len();
    let slower = logs.iter().filter(|log| **log < -bar.margin).count();
    let enough = blocks_to_exclude(slower.min(n - slower), n, bar.alpha).ok().flatten()?;
    let blocks = enough.saturating_sub(n).max(1);
    Some(Remaining { blocks, seconds: seconds / n.max(1) as f64 * blocks as f64 })
}

/// Of all pairs. What did not come to its end opens no gate.
pub(crate) fn of(passes: GateBar, comparison: &Comparison) -> ComparisonGate {
    let came_to_its_end = match comparison.ended {
        ComparisonEnd::Decided | ComparisonEnd::MaxRuns | ComparisonEnd::Budget => GateState::Open,
        ComparisonEnd::Interrupted | ComparisonEnd::Failed => GateState::Undecided,
    };
    let pairs = comparison.pairs.iter().filter_map(|pair| pair.gate.map(|gate| gate.state));
    ComparisonGate { passes, state: GateState::of_all(pairs.chain([came_to_its_end])) }
}

#[cfg(test)]
mod tests {
    use kumite_record::Speed;

    use super::super::judge::judge;
    use super::*;

    /// A margin of 1 %, whose border is where a is 1.01 times as slow.
    fn bar() -> Bar {
        Bar { alpha: 0.05, margin: 0.01_f64.ln_1p() }
    }

    #[test]
    fn a_gate_is_shut_by_what_lies_beyond_the_margin_and_opened_by_what_does_not() {
        let of = |logs: &[f64]| state(logs, bar());
        assert_eq!(of(&[-0.03; 6]), GateState::Shut);
        assert_eq!(of(&[-0.005; 6]), GateState::Open, "slower, but within the margin");
        assert_eq!(of(&[0.1; 6]), GateState::Open);
        assert_eq!(of(&[-bar().margin; 6]), GateState::Open, "at the border it is not beyond it");
        assert_eq!(of(&[-0.03; 5]), GateState::Undecided, "five decide nothing");
        assert_eq!(of(&[]), GateState::Undecided);
        // All are slower, and so is the verdict; but not all beyond the margin.
        let slower = [-0.03, -0.02, -0.03, -0.02, -0.03, -0.005];
        assert_eq!(Speed::from(judge(&slower, bar()).0), Speed::Slower);
        assert_eq!(of(&slower), GateState::Undecided);
    }

    /// A verdict and a gate that contradict each other would be two answers to one question.
    #[test]
    fn a_gate_never_contradicts_a_verdict() {
        for low in -30..=30 {
            for high in low..=30 {
                let logs: Vec<f64> =
                    (0..6).map(|nth| f64::from(low + (high - low) * nth / 5) / 1_000.0).collect();
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
        let few = pair(&[-0.03; 4], bar(), 4.0);
        assert_eq!(few.remaining.map(|more| (more.blocks, more.seconds)), Some((2, 2.0)));
        assert_eq!(pair(&[-0.03; 6], bar(), 6.0), PairGate { state: GateState::Shut, remaining: None });
        let half: Vec<f64> = (0..20).map(|nth| if nth % 2 == 0 { 0.0 } else { -0.02 }).collect();
        assert_eq!(pair(&half, bar(), 1.0).remaining, None, "as it looks, nothing would tell");
    }
}
