//! Whether running two at once pays here.

use std::time::Duration;

use kumite_process::TimedRun;
use kumite_record::Duet;
use kumite_stats::median;

use super::judge::log_ratios;

/// So many pairs in turn are set beside the first pairs at once.
pub(crate) const BESIDE: usize = 20;

/// Of two commands each; at most the first [`BESIDE`] blocks are looked at. An interval is as wide as the pairs scatter,
/// and half as wide with four times the pairs.
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
