//! The course of a run, round by round: which claims are decided, and at which round.
//!
//! Claims are judged together, since the wealth that decides one depends on how many others are decided. Unless the run
//! is judged at its end (by the strict rule, or in sittings), they are judged as the rounds came, and not by looking
//! back at all of them: no further bets are made on a decided claim. It keeps its verdict unless an equality in it is
//! broken later.

use kumite_record::{Rule, Run, Verdict};
use kumite_stats::{Decisions, ErrorRate};

use super::posed::Posed;
use super::{ALPHA, Evidence};
use crate::claim::ClaimSpec;

/// The rulings on all claims of a run.
pub(super) struct Course<'a> {
    pub run: &'a Run,
    /// A ruling for each claim, in the order of the claims.
    pub rulings: Vec<Ruling<'a>>,
    /// The wealth that was enough to decide a claim at the last look.
    pub threshold: f64,
    /// The wealth that would decide one claim more.
    pub next_threshold: f64,
}

/// The ruling on a claim: its verdict, and the rounds that the verdict rests on.
pub(super) struct Ruling<'a> {
    /// The claim, with the comparisons that the verdict rests on.
    pub posed: Posed<'a>,
    pub verdict: Verdict,
    /// The verdict rests on the rounds before this one. Rounds after a decision are not betted on.
    pub look: u32,
}

impl<'a> Course<'a> {
    /// Judges all claims of a run: by all rounds at once if the run is judged at its end, otherwise as the rounds
    /// came.
    pub fn new(evidence: &Evidence<'a>, specs: &'a [ClaimSpec]) -> Course<'a> {
        match evidence.grid.run.is_judged_at_its_end() {
            true => Course::at_the_end(evidence, specs),
            false => Course::followed(evidence, specs),
        }
    }

    /// Judges all claims by all rounds, at one look. A wealth that was enough at an earlier round, but is not enough at
    /// the end, decides nothing.
    fn at_the_end(evidence: &Evidence<'a>, specs: &'a [ClaimSpec]) -> Course<'a> {
        let run = evidence.grid.run;
        let (claims, look) = (evidence.pose(specs), evidence.rounds);
        let mut decisions = decisions(run, &claims);
        let wealths: Vec<f64> = claims.iter().map(|claim| claim.wealth(look).most()).collect();
        let threshold = decisions.threshold(&wealths);
        wealths.into_iter().filter(|wealth| *wealth >= threshold).for_each(|wealth| decisions.decide(wealth));
        let ruling = |posed: Posed<'a>| Ruling { verdict: posed.verdict(look, threshold), posed, look };
        let rulings = claims.into_iter().map(ruling).collect();
        Course { run, rulings, threshold, next_threshold: decisions.next_threshold() }
    }

    /// Judges the claims round by round, as the rounds came. One look back at all rounds could choose another end for
    /// each claim.
    fn followed(evidence: &Evidence<'a>, specs: &'a [ClaimSpec]) -> Course<'a> {
        let run = evidence.grid.run;
        let claims = evidence.pose(specs);
        let mut decisions = decisions(run, &claims);
        let mut decided: Vec<Option<u32>> = vec![None; claims.len()];
        let mut threshold = decisions.threshold(&[]);
        // A merged run is complete when it is first judged. Its first rounds alone would be those of its first nodes.
        let first = if run.merged.is_some() { evidence.rounds } else { run.min_blocks };
        for look in first.clamp(1, evidence.rounds.max(1))..=evidence.rounds {
            let open: Vec<usize> = (0..claims.len()).filter(|&nth| decided[nth].is_none()).collect();
            let wealths = wealths(evidence, &claims, &open, look);
            threshold = decisions.threshold(&wealths);
            for (nth, wealth) in open.into_iter().zip(wealths).filter(|(_, wealth)| *wealth >= threshold) {
                decided[nth] = Some(look);
                decisions.decide(wealth);
            }
        }
        let ruling = |(posed, look): (Posed<'a>, Option<u32>)| {
            let look = look.unwrap_or(evidence.rounds);
            // An equality that is broken in any round is broken for good, so it is judged on all rounds.
            let posed = match look < evidence.rounds && posed.broken().is_none() {
                true => evidence.before(look).pose_one(posed.spec),
                false => posed,
            };
            Ruling { verdict: posed.verdict(look, threshold), posed, look }
        };
        let rulings = claims.into_iter().zip(decided).map(ruling).collect();
        Course { run, rulings, threshold, next_threshold: decisions.next_threshold() }
    }
}

fn decisions(run: &Run, claims: &[Posed]) -> Decisions {
    let rate = match run.rule {
        Rule::FalseDiscoveryRate => ErrorRate::FalseDiscovery,
        Rule::Strict => ErrorRate::FamilyWise,
    };
    Decisions::new(rate, ALPHA, claims.iter().filter(|claim| claim.has_bets).count())
}

/// The largest wealth on each of the claims at the positions `which`, before round `look`. A claim that became
/// untestable later still counts with the wealth that it had.
fn wealths(evidence: &Evidence, claims: &[Posed], which: &[usize], look: u32) -> Vec<f64> {
    let is_untestable = |nth: &usize| claims[*nth].untestable().next().is_some();
    let before = which.iter().any(is_untestable).then(|| evidence.before(look));
    let wealth = |nth: &usize| match before.as_ref().filter(|_| is_untestable(nth)) {
        Some(before) => before.pose_one(claims[*nth].spec).wealth(look).most(),
        None => claims[*nth].wealth(look).most(),
    };
    which.iter().map(wealth).collect()
}
