//! The self-check of duets: the gain from running two commands at once on this machine.

use std::time::Duration;

use kumite_process::available_cores;
use kumite_record::DuetCheck;

use super::{ALPHA, Check};
use crate::compare::{BESIDE, Bar, CompareError, Log, Rules, Side, judge};

impl Check<'_> {
    /// Measures the gain as `--duet` does, in pairs at once and pairs in turn that alternate, round after round.
    /// `None` if there is only one CPU, or no round gave a figure.
    pub(super) fn duet(&mut self, time: Duration, work: u64) -> Result<Option<DuetCheck>, CompareError> {
        if available_cores().len() < 2 {
            return Ok(None);
        }
        let began = self.clock.now();
        let setting = self.setting(work, true)?;
        let mut widths = Vec::new();
        for nth in 0.. {
            if !self.time_for_more(began, time, nth) {
                break;
            }
            (self.watch)(&format!("two at once, and in turn: round {}", nth + 1));
            let rules = Rules { min_blocks: BESIDE, budget: Duration::ZERO, ..self.rules(nth) };
            let comparison = self.compared(&setting, &rules)?;
            widths.extend(comparison.duet.and_then(|duet| duet.sequential_width));
        }
        Ok(judged(&widths))
    }
}

/// The finding from the gain of each round; `None` without a round.
fn judged(widths: &[f64]) -> Option<DuetCheck> {
    let logs: Vec<Log> = widths.iter().map(|width| width.ln().into()).collect();
    let (side, sequential_width) = judge(&logs, Bar { alpha: ALPHA, margin: 0.0 });
    let pays = match side {
        Side::Above => Some(true),
        Side::Below => Some(false),
        Side::Within | Side::Unknown => None,
    };
    (!widths.is_empty()).then_some(DuetCheck { sequential_width, rounds: widths.len(), pays })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duet_pays_if_pairs_in_turn_are_wider() {
        assert_eq!(judged(&[1.5; 6]).unwrap().pays, Some(true));
        assert_eq!(judged(&[0.5; 6]).unwrap().pays, Some(false));
        assert_eq!(judged(&[0.5, 2.0, 0.5, 2.0, 0.5, 2.0]).unwrap().pays, None);
        let few = judged(&[1.5; 5]).unwrap();
        assert_eq!((few.pays, few.rounds, few.sequential_width.low), (None, 5, None));
        assert_eq!(judged(&[]), None);
    }
}
