//! The gain from running two commands at once on this machine.

use std::time::Duration;

use kumite_process::TimedRun;
use kumite_record::Duet;
use kumite_stats::median;

use super::judge::log_ratios;

/// The number of pairs run in turn, which are set beside the first pairs run at once.
pub(crate) const BESIDE: usize = 20;

/// The gain from runs of two commands at once over runs in turn; at most the first [`BESIDE`] blocks are looked at.
/// The width of an interval grows with the scatter of the pairs, and halves with four times as many pairs.
pub(crate) fn gain(at_once: &[Vec<TimedRun>], in_turn: &[Vec<TimedRun>]) -> Duet {
    let pairs = in_turn.iter().chain(at_once).map(Vec::len).min().unwrap_or(0);
    let width = |runs: &[Vec<TimedRun>], time: fn(Duration, Duration) -> Duration| -> Option<f64> {
        let (one, other) = (&runs.first()?[..pairs], &runs.get(1)?[..pairs]);
        let walls = |runs: &[TimedRun]| runs.iter().map(|run| run.wall.as_secs_f64()).collect::<Vec<_>>();
        let logs = log_ratios(&walls(one), &walls(other))?;
        let middle = median(&logs)?;
        let scatter = median(&logs.iter().map(|log| (log - middle).abs()).collect::<Vec<_>>())?;
        let times: Vec<f64> =
            one.iter().zip(other).map(|(a, b)| time(a.wall, b.wall).as_secs_f64()).collect();
        Some(scatter * median(&times)?.sqrt()).filter(|width| *width > 0.0)
    };
    let sequential = width(in_turn, |a, b| a + b);
    let duet = width(at_once, Duration::max);
    Duet { pairs, sequential_width: sequential.zip(duet).map(|(sequential, duet)| sequential / duet) }
}

#[cfg(test)]
mod tests {
    use super::super::reading::tests::run;
    use super::*;

    fn runs(walls_ms: &[u64]) -> Vec<TimedRun> {
        walls_ms.iter().map(|ms| run(*ms, 0, 0, 1)).collect()
    }

    #[test]
    fn as_much_scatter_in_half_the_time_is_a_gain_of_the_root_of_two() {
        let pairs = [runs(&[1_000, 1_010, 990]), runs(&[1_000; 3])];
        let duet = gain(&pairs, &pairs);
        assert_eq!(duet.pairs, 3);
        assert!((duet.sequential_width.unwrap() - 2_f64.sqrt()).abs() < 0.01, "{duet:?}");
        let wider = [runs(&[1_000, 1_100, 910]), runs(&[1_000; 3])];
        assert!(gain(&wider, &pairs).sequential_width.unwrap() < 0.2);
    }

    #[test]
    fn a_duet_without_scatter_or_pairs_has_no_gain() {
        let alike = [runs(&[1_000; 3]), runs(&[2_000; 3])];
        assert_eq!(gain(&alike, &alike), Duet { pairs: 3, sequential_width: None });
        assert_eq!(gain(&alike, &[Vec::new(), Vec::new()]), Duet { pairs: 0, sequential_width: None });
    }
}
