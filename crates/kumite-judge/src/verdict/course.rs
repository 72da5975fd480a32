//! Follows a run round by round: which claims are decided, and at which round.
//!
//! Claims are judged together, since the wealth that decides one depends on how many others are decided. They are
//! judged as the rounds came, never by looking back at all of them: a decided claim is betted on no further, so it
//! stays as it was decided, but for an equality that is broken later.

use kumite_record::{Rule, Run, Verdict};
use kumite_stats::{Decisions, ErrorRate};

use super::posed::Posed;
use super::{ALPHA, Evidence};
use crate::claim::ClaimSpec;

/// How the claims of a run came out.
pub(super) struct Course<'a> {
    pub run: &'a Run,
    /// Each claim.
    pub rulings: Vec<Ruling<'a>>,
    /// The wealth that was enough in the end.
    pub threshold: f64,
    /// The one that will do for one claim more.
    pub next_threshold: f64,
}

/// How a claim came out.
pub(super) struct Ruling<'a> {
    /// The claim with what it rests on.
    pub posed: Posed<'a>,
    pub verdict: Verdict,
    /// It rests on the rounds before this one: none was betted on after it was decided.
    pub look: u32,
}

impl<'a> Course<'a> {
    /// Follows the rounds as they came. A look back at all of them at once could choose another end for each claim.
    pub fn new(evidence: &Evidence<'a>, specs: &'a [ClaimSpec]) -> Course<'a> {
        let run = evidence.grid.run;
        let rate = match run.rule {
            Rule::FalseDiscoveryRate => ErrorRate::FalseDiscovery,
            Rule::Strict => ErrorRate::FamilyWise,
        };
        let claims = evidence.pose(specs);
        let mut decisions = Decisions::new(rate, ALPHA, claims.iter().filter(|claim| claim.has_bets).count());
        let mut decided: Vec<Option<u32>> = vec![None; claims.len()];
        let mut threshold = decisions.threshold(&[]);
        // Of a merged run all is there when it is first judged. The first rounds alone would be of the first nodes.
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

/// The wealth of the bets on each of these claims before round `look`. A claim that became untestable later is judged
/// on the trials before: it was testable then, and a verdict is not taken back.
fn wealths(evidence: &Evidence, claims: &[Posed], which: &[usize], look: u32) -> Vec<f64> {
    let is_untestable = |nth: &usize| claims[*nth].untestable().next().is_some();
    let before = which.iter().any(is_untestable).then(|| evidence.before(look));
    let wealth = |nth: &usize| match before.as_ref().filter(|_| is_untestable(nth)) {
        Some(before) => before.pose_one(claims[*nth].spec).rounds(look).wealth().most(),
        None => claims[*nth].rounds(look).wealth().most(),
    };
    which.iter().map(wealth).collect()
}
