//! A claim posed to a run: its comparisons, with what was measured for each.

use std::collections::BTreeSet;

use kumite_record::{ControlRatio, EffectKind, Reason, Unit, Verdict};
use kumite_stats::{ClaimRounds, ClaimWealth, Tally};

use super::Evidence;
use super::effects::{Border, Effects, Moved};
use super::evidence::CellDoubt;
use super::expand::{Reference, Scope, Scoped};
use super::sitting::Sittings;
use crate::claim::ClaimSpec;

/// A claim posed to a run: its comparisons, with what was measured for each.
pub(super) struct Posed<'a> {
    /// The sittings by which the claim is judged. None if the run is not judged by sittings.
    pub sittings: Option<Sittings<'a>>,
    pub spec: &'a ClaimSpec,
    pub comparisons: Vec<Compared>,
    /// True if some comparison of the claim can be tried and leaves something to chance. Only such claims share the
    /// allowed error.
    pub has_bets: bool,
}

/// A comparison of a claim, with what was measured for it.
pub(super) struct Compared {
    /// The comparison in the words of the claim.
    pub text: String,
    /// The contender and the values that the `every`s around the comparison have set.
    pub scope: Scope,
    /// Both sides by the record's names, without figures. None if wrong answers are counted, or if the profile has no
    /// such comparison.
    pub sides: Option<kumite_record::Sides>,
    /// The contender whose wrong answers are counted. None if figures are compared.
    pub wrong: Option<String>,
    /// The cells that the comparison needs, each with a metric.
    pub references: Vec<Reference>,
    /// The control's ratio to itself that is furthest from 1, among the compared metrics in which the control is off.
    /// None if it is off in none of them.
    pub off: Option<ControlRatio>,
    pub doubts: BTreeSet<CellDoubt>,
    pub found: Found,
}

pub(super) enum Found {
    /// A comparison that depends on chance. Bets are made on it.
    Measured(Effects),
    /// A count or an equality, which leaves nothing to chance.
    Exact(Exact),
    /// The comparison cannot be judged, for this reason.
    Untestable(Reason),
}

/// A count or an equality, decided by the trials so far without any chance.
pub(super) struct Exact {
    pub holds: bool,
    pub value: f64,
    /// Both sides in the round in which they are furthest apart. None if wrong answers are counted, or without a
    /// round.
    pub figures: Option<(f64, f64)>,
    /// The numbers of wrong answers and of trials. None for an equality.
    pub reason: Option<Reason>,
}

/// One bet on a claim: a comparison with one of its borders.
#[derive(Clone, Copy)]
pub(super) struct Bet<'a> {
    /// The index of the comparison within its claim.
    pub of: usize,
    pub compared: &'a Compared,
    pub effects: &'a Effects,
    pub border: &'a Border,
}

impl<'a> Posed<'a> {
    pub fn new(evidence: &Evidence<'a>, spec: &'a ClaimSpec, parts: &[Vec<Scoped>]) -> Posed<'a> {
        let mut comparisons = Vec::new();
        for part in parts {
            comparisons.extend(part.iter().map(|(comparison, scope)| evidence.compared(comparison, scope)));
            if part.is_empty() {
                let reason = Reason::NoPart { profile: evidence.grid.run.profile.clone() };
                comparisons.push(Compared {
                    text: spec.assert.clone(),
                    scope: Scope::default(),
                    sides: None,
                    wrong: None,
                    references: Vec::new(),
                    off: None,
                    doubts: BTreeSet::new(),
                    found: Found::Untestable(reason),
                });
            }
        }
        let has_bets = parts
            .iter()
            .flatten()
            .any(|(comparison, scope)| comparison.has_interval() && evidence.can_be_tried(comparison, scope));
        Posed { sittings: Sittings::of(evidence.grid.run), spec, comparisons, has_bets }
    }

    pub fn bets(&self) -> impl Iterator<Item = Bet<'_>> {
        let of_one = |(of, compared)| bets(of, compared);
        self.comparisons.iter().enumerate().flat_map(of_one)
    }

    /// Tallies of the rounds before `look`, for the bets on each verdict. A comparison that cannot be tested, or that
    /// the control might carry over its border, counts as lost for every bet.
    pub fn rounds(&self, look: u32) -> ClaimRounds {
        let lost = Tally { n: look as usize, ..Tally::default() };
        let untestable = self.untestable().map(|_| lost);
        let tallies = |moved| {
            let of_bets = self.bets().map(|bet| match bet.in_reach_of_control(look) {
                Some(_) => lost,
                None => bet.effects.tally(bet.border, moved, look),
            });
            of_bets.chain(untestable.clone()).collect()
        };
        ClaimRounds {
            claimed: tallies(Moved::Not),
            loosened: tallies(Moved::Loosened),
            tightened: tallies(Moved::Tightened),
        }
    }

    /// The wealth of the bet on each verdict before round `look`; 0 for a verdict on whose side not every sitting is.
    pub fn wealth(&self, look: u32) -> ClaimWealth {
        let wealth = self.rounds(look).wealth();
        match self.sittings {
            Some(sittings) => self.where_sittings_agree(wealth, sittings),
            None => wealth,
        }
    }

    /// The first count or equality that is not true. None if all of them are true.
    pub fn broken(&self) -> Option<(&Compared, &Exact)> {
        self.exact().find(|(_, exact)| !exact.holds)
    }

    pub fn exact(&self) -> impl Iterator<Item = (&Compared, &Exact)> {
        self.comparisons.iter().filter_map(|compared| match &compared.found {
            Found::Exact(exact) => Some((compared, exact)),
            Found::Measured(_) | Found::Untestable(_) => None,
        })
    }

    pub fn untestable(&self) -> impl Iterator<Item = (&Compared, &Reason)> + Clone {
        self.comparisons.iter().filter_map(|compared| match &compared.found {
            Found::Untestable(reason) => Some((compared, reason)),
            Found::Measured(_) | Found::Exact(_) => None,
        })
    }

    /// The verdict before round `look`, if a wealth of `threshold` is enough for one.
    pub fn verdict(&self, look: u32, threshold: f64) -> Verdict {
        let wealth = self.wealth(look);
        if self.broken().is_some() {
            Verdict::Fails
        } else if wealth.no_difference >= threshold {
            Verdict::NoDifference
        } else if wealth.holds >= threshold {
            Verdict::Holds
        } else if wealth.fails >= threshold {
            Verdict::Fails
        } else if self.untestable().next().is_some() {
            Verdict::NotTested
        } else if self.bets().next().is_none() {
            Verdict::Holds
        } else if self.sittings.is_some_and(|sittings| self.clearly_against(sittings).is_some()) {
            Verdict::DependsOnSitting
        } else {
            Verdict::Undecided
        }
    }
}

impl<'a> Bet<'a> {
    /// The control's ratio to itself, if a factor as large as this ratio would carry the effect over the border. None
    /// if it would not, if the control is not off, or if the effect is no ratio.
    pub fn in_reach_of_control(&self, look: u32) -> Option<&'a ControlRatio> {
        let off = self.compared.off.as_ref()?;
        let kind = self.effects.kind(look);
        let effect = self.effects.median(look).filter(|_| kind == EffectKind::Ratio)?;
        let is_met = |factor: f64| self.border.is_met(kind, effect * factor, Moved::Not);
        let factor = off.distance().exp();
        (is_met(factor) != is_met(1.0) || is_met(1.0 / factor) != is_met(1.0)).then_some(off)
    }
}

fn bets(of: usize, compared: &Compared) -> impl Iterator<Item = Bet<'_>> {
    let measured = match &compared.found {
        Found::Measured(effects) => Some(effects),
        Found::Exact(_) | Found::Untestable(_) => None,
    };
    measured.into_iter().flat_map(move |effects| {
        effects.borders.iter().map(move |border| Bet { of, compared, effects, border })
    })
}

impl Compared {
    /// The unit of both sides and of their difference; a count if wrong answers are counted.
    pub fn unit(&self) -> Unit {
        self.sides.as_ref().map_or(Unit::Count, |sides| sides.unit)
    }
}
