//! The control of a comparison: a command or a server that is in each block twice. It shows how far something is from
//! itself, and which verdicts that leaves undecided.

use kumite_record::{CommandMetric, Comparison, Control, ControlRatio, Ratio, Speed, Thrift};

use super::judge::{Bar, Side, judge};
use super::reading::Log;

/// The probability that a comparison finds its control off by chance.
pub(crate) const ALPHA: f64 = 0.01;

/// The probability that the control's interval, as it is shown, misses the true ratio.
pub(crate) const SHOWN: f64 = 0.05;

/// The metrics in which the control of commands is looked at if no metrics were named. A control of servers is looked
/// at in as many: throughput and two percentiles.
pub(crate) const USUAL: [CommandMetric; 3] =
    [CommandMetric::TimeWallClock, CommandMetric::TimeCpu, CommandMetric::MemoryPeakResident];

/// The command or server that is compared with itself, by its two positions in the list of what is compared. Each block
/// has a run at both, in random order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twice {
    /// The first position.
    pub of: usize,
    /// The second position, behind all others.
    pub at: usize,
}

/// The finding on the control of this name. `logs` has, for each metric, the logarithm of the ratio of the control's
/// first run to its second in each block.
pub(crate) fn control(name: &str, logs: &[(&str, Vec<Log>)]) -> Control {
    let ratio = |logs: &[Log], alpha| judge(logs, Bar { alpha, margin: 0.0 });
    let of = |(metric, logs): &(&str, Vec<Log>)| ControlRatio {
        metric: (*metric).to_owned(),
        point: None,
        ratio: swapped(ratio(logs, SHOWN).1),
        blocks: logs.len(),
    };
    let alpha = ALPHA / logs.len().max(1) as f64;
    let is_off = |(_, logs): &&(&str, Vec<Log>)| matches!(ratio(logs, alpha).0, Side::Above | Side::Below);
    let itself = logs.first().map(of).filter(|of| of.ratio.low.is_some() || of.ratio.high.is_some());
    Control { itself, off: logs.iter().filter(is_off).map(of).collect(), ..Control::of(name) }
}

/// Turns a ratio of the first to the second into that of the second to the first.
fn swapped(ratio: Ratio) -> Ratio {
    let turned = |end: Option<f64>| end.map(|end| 1.0 / end);
    Ratio { estimate: 1.0 / ratio.estimate, low: turned(ratio.high), high: turned(ratio.low) }
}

/// Makes a verdict undecided if the control is off in its metric, and the verdict's ratio is nearer to 1 than the
/// control's. A gate has a rule of its own for this.
pub(crate) fn leave_undecided(comparison: &mut Comparison) {
    let Some(control) = comparison.control.clone() else { return };
    let is_near = |metric: &str, ratio: &Ratio| {
        let off = control.off.iter().find(|of| of.metric == metric);
        off.is_some_and(|of| ratio.estimate.ln().abs() < of.distance())
    };
    let headline = if comparison.servers.is_empty() { "time_wall_clock" } else { "throughput_rps" };
    for pair in &mut comparison.pairs {
        if is_near(headline, &pair.ratio) {
            (pair.verdict, pair.remaining) = (Speed::Undecided, None);
        }
        for judged in &mut pair.metrics {
            if is_near(judged.metric.as_str(), &judged.ratio) {
                (judged.verdict, judged.remaining) = (Thrift::Undecided, None);
            }
        }
        let uses = [("time_cpu", &mut pair.cpu), ("memory_peak_resident", &mut pair.memory)];
        for (metric, used) in uses {
            if let Some(used) = used.as_mut().filter(|used| is_near(metric, &used.ratio)) {
                used.verdict = Thrift::Undecided;
            }
        }
        let times =
            [("response_p50_us", &mut pair.response_p50), ("response_p99_us", &mut pair.response_p99)];
        for (metric, time) in times {
            if let Some(time) = time.as_mut().filter(|time| is_near(metric, &time.ratio)) {
                time.verdict = Speed::Undecided;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(logs: &[f64]) -> Vec<Log> {
        logs.iter().copied().map(Log::from).collect()
    }

    #[test]
    fn it_is_off_where_all_blocks_say_so_and_not_where_they_lie_on_both_sides() {
        let slower = -1.03_f64.ln();
        let of = |walls: &[f64]| {
            let cpu: Vec<f64> =
                (0..walls.len()).map(|nth| if nth % 2 == 0 { slower } else { -slower }).collect();
            control(
                "a",
                &[("time_wall_clock", exact(walls)), ("time_cpu", exact(&cpu)), ("memory", exact(&cpu))],
            )
        };
        // Three metrics share 1 %: ten blocks.
        assert_eq!(of(&[slower; 9]).off, []);
        let off = of(&[slower; 10]);
        assert_eq!(off.off.iter().map(|of| of.metric.as_str()).collect::<Vec<_>>(), ["time_wall_clock"]);
        assert_eq!(off.itself, Some(off.off[0].clone()));
        let ControlRatio { ratio, blocks, .. } = &off.off[0];
        assert!((ratio.estimate - 1.03).abs() < 1e-9 && *blocks == 10, "the second takes longer: {ratio:?}");
    }
}
