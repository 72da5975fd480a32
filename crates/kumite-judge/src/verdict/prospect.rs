//! The verdicts that a plan can lead to, computed before its first trial, so that nobody measures for hours what
//! cannot be decided.

use kumite_record::{Prospect, Prospects};
use kumite_stats::{fewest_rounds, wealth_after};

use super::expand::Reach;
use super::{ALPHA, Evidence};
use crate::claim::{ClaimSpec, Test};

/// The share of rounds that is assumed to lie on one side. Few comparisons have all of them there.
const CLEAR: f64 = 0.9;

impl Evidence<'_> {
    pub fn prospects(&self, specs: &[ClaimSpec]) -> Prospects {
        let bets: Vec<(&ClaimSpec, usize, usize, bool)> = specs
            .iter()
            .map(|spec| {
                let parts = self.parts(spec, Reach::Measurable);
                let count = |test: &Test| if matches!(test, Test::Within(..)) { 2 } else { 1 };
                let uncertain = || parts.iter().flatten().filter(|(comparison, _)| comparison.has_interval());
                let can_be = uncertain().filter(|(comparison, scope)| self.can_be_tried(comparison, scope));
                let is_whole = parts.iter().all(|part| {
                    !part.is_empty()
                        && part.iter().all(|(comparison, scope)| self.can_be_tried(comparison, scope))
                });
                let all = uncertain().map(|(comparison, _)| count(&comparison.test)).sum();
                (spec, all, can_be.map(|(comparison, _)| count(&comparison.test)).sum(), is_whole)
            })
            .filter(|(_, _, can_be, _)| *can_be > 0)
            .collect();
        let threshold = bets.len() as f64 / ALPHA;
        let of_claims = bets.iter().map(|&(spec, all, _, is_whole)| Prospect {
            id: spec.id.clone(),
            comparisons: all,
            to_hold: fewest_rounds(|n| wealth_after((0, 0), CLEAR, n) >= threshold).filter(|_| is_whole),
            to_fail: fewest_rounds(|n| {
                let others = (all - 1) as f64 * wealth_after((0, 0), 1.0 - CLEAR, n);
                wealth_after((0, 0), CLEAR, n) + others >= all as f64 * threshold
            }),
        });
        let fewest =
            fewest_rounds(|n| wealth_after((0, 0), 1.0, n) >= threshold).filter(|_| !bets.is_empty());
        Prospects { claims: bets.len(), fewest, of_claims: of_claims.collect() }
    }
}
