//! From round to round: which claims are decided, and when.

use kumite_record::{Rule, Verdict};
use kumite_stats::{Decisions, ErrorRate};

use super::posed::Posed;
use super::{ALPHA, Evidence};

/// How the claims of a run came out.
pub(super) struct Course {
    /// Of each claim.
    pub rulings: Vec<Ruling>,
    /// The wealth that was enough in the end.
    pub threshold: f64,
    /// The one that will do for one claim more.
    pub next_threshold: f64,
}

/// How a claim came out.
#[derive(Clone, Copy)]
pub(super) struct Ruling {
    pub verdict: Verdict,
    /// It rests on the rounds before this one: none was betted on after it was decided.
    pub look: u32,
}

impl Course {
    /// Follows the rounds as they came. A look back at all of them at once could choose another end for each claim.
    pub fn of(evidence: &Evidence, claims: &[Posed]) -> Course {
        let run = evidence.grid.run;
        let rate = match run.rule {
            Rule::FalseDiscoveryRate => ErrorRate::FalseDiscovery,
            Rule::Strict | Rule::FamilyWise => ErrorRate::FamilyWise,
        };
        let mut decisions = Decisions::new(rate, ALPHA, claims.iter().filter(|claim| claim.has_bets).count());
        let mut decided: Vec<Option<u32>> = vec![None; claims.len()];
        let mut threshold = decisions.threshold(&[]);
        for look in run.min_blocks.clamp(1, evidence.rounds.max(1))..=evidence.rounds {
            let open: Vec<(usize, f64)> = (0..claims.len())
                .filter(|&nth| decided[nth].is_none())
                .map(|nth| (nth, claims[nth].rounds(look).wealth().most()))
                .collect();
            let wealths: Vec<f64> = open.iter().map(|(_, wealth)| *wealth).collect();
            threshold = decisions.threshold(&wealths);
            for (nth, wealth) in open.into_iter().filter(|(_, wealth)| *wealth >= threshold) {
                decided[nth] = Some(look);
                decisions.decide(wealth);
            }
        }
        let ruling = |(claim, decided): (&Posed, &Option<u32>)| {
            let look = decided.unwrap_or(evidence.rounds);
            Ruling { verdict: claim.verdict(look, threshold), look }
        };
        let rulings = claims.iter().zip(&decided).map(ruling).collect();
        Course { rulings, threshold, next_threshold: decisions.next_threshold() }
    }
}
