//! The doubts about the verdicts of a comparison, and the probes of the machine.

use kumite_record::{CommandMetric, ComparedDoubt, Comparison, Probe};

use super::factor::factor;
use super::metrics::word;
use super::names::Names;
use crate::words::moved::moved;
use crate::words::number::{plural, significant};
use crate::words::quantity::Measured;

/// A sentence for each doubt: `it changed during the run: B is 1.034× as fast as A in the first third of the rounds,
/// 0.981× in the last`
pub(super) fn doubts(comparison: &Comparison, names: &Names) -> Vec<String> {
    comparison.doubts.iter().filter_map(|of| sentence(of, names)).collect()
}

fn sentence(of: &ComparedDoubt, names: &Names) -> Option<String> {
    let (a, b) = (names.of(&of.a), names.of(&of.b));
    let times = |ratio: f64| format!("{}×", factor(ratio));
    let whole = |ratio: f64| match of.metric {
        None | Some(CommandMetric::TimeWallClock) => format!("{a} is {} as fast as {b}", times(ratio)),
        Some(metric) => format!("{b} uses {} as much {} as {a}", times(ratio), word(metric)),
    };
    moved(&of.doubt, whole, times)
}

/// The note on the probes: their number, the share of the time that they took, and for each the median figure with the
/// least and the most. None if there was no probe.
pub(super) fn probes(comparison: &Comparison) -> Option<String> {
    let number = comparison.probes.len();
    let share = comparison.costs.probes_s? / comparison.costs.seconds;
    let of = |probe: Probe| {
        let figures = comparison.probes.iter().filter_map(|of| probe.of(&of.figures));
        let mut figures: Vec<f64> = figures.filter(|figure| figure.is_finite()).collect();
        figures.sort_by(f64::total_cmp);
        let (least, most) = (figures.first()?, figures.last()?);
        let text = |figure: f64| probe.metric().text(figure);
        let middle = text(figures[figures.len() / 2]);
        Some(format!("{probe} {middle} ({} to {})", text(*least), text(*most)))
    };
    let charged: Vec<String> = Probe::ALL.into_iter().filter_map(of).collect();
    (!charged.is_empty()).then(|| {
        format!(
            "what the machine charged, in {} that took {} % of the time: {}",
            plural(number, "probe"),
            significant(share * 100.0, 2),
            charged.join(", ")
        )
    })
}
