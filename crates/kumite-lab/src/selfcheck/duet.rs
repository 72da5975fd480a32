//! Whether two at once pay here.

use std::time::Duration;

use kumite_process::available_cores;
use kumite_record::{DuetCheck, Ratio};
use kumite_stats::sequential_median;

use super::{ALPHA, Check};
use crate::compare::{BESIDE, CompareError, Rules};

impl Check<'_> {
    /// Round after round of what `--duet` measures itself: pairs at once and pairs in turn, alternating. None with one
    /// CPU, or without time for enough rounds.
    pub(super) fn duet(&mut self, time: Duration, work: u64) -> Result<Option<DuetCheck>, CompareError> {
        if available_cores().len() < 2 {
            return Ok(None);
        }
        let until = self.clock.now() + time;
        let setting = self.setting(work, true)?;
        let mut widths = Vec::new();
        for nth in 0.. {
            if nth > 0 && self.clock.now() >= until {
                break;
            }
            (self.watch)(&format!("two at once, and in turn: round {}", nth + 1));
            let rules = Rules { min_blocks: BESIDE, max_blocks: Some(BESIDE), ..self.rules(nth) };
            let comparison = self.compared(&setting, &rules)?;
            widths.extend(comparison.duet.and_then(|duet| duet.sequential_width));
        }
        Ok(judged(&widths))
    }
}

fn judged(widths: &[f64]) -> Option<DuetCheck> {
    let logs: Vec<f64> = widths.iter().map(|width| width.ln()).collect();
    let interval = sequential_median(&logs, ALPHA).ok()?;
    let pays = match (interval.low, interval.high) {
        (low, _) if low > 0.0 => Some(true),
        (_, high) if high < 0.0 => Some(false),
        _ => None,
    };
    let sequential_width = Ratio {
        estimate: interval.estimate.exp(),
        low: Some(interval.low.exp()),
        high: Some(interval.high.exp()),
    };
    Some(DuetCheck { sequential_width, rounds: widths.len(), pays })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_pays_if_pairs_in_turn_are_wider() {
        assert_eq!(judged(&[1.5; 6]).unwrap().pays, Some(true));
        assert_eq!(judged(&[0.5; 6]).unwrap().pays, Some(false));
        assert_eq!(judged(&[0.5, 2.0, 0.5, 2.0, 0.5, 2.0]).unwrap().pays, None);
        assert_eq!(judged(&[1.5; 5]), None, "too few rounds");
    }
}
