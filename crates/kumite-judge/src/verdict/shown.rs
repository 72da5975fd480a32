//! A verdict as it is recorded, with the comparison that tells the most, and this comparison's figures and bounds.
//!
//! A claim may rest on hundreds of comparisons, and a reader is shown one. If all comparisons have to hold, the one
//! with the least slack is shown. If one failure is enough, the one that fails most clearly is shown. The comparison
//! was chosen after the data were seen, and its bound must still be as sure as the verdict. So a bound needs more
//! wealth: the threshold times the number of bets among which the comparison was chosen. Reports call the wealth
//! evidence.

use std::collections::BTreeSet;

use kumite_record::{
    AllRounds, Bet as Betted, Bound, Claim, Decider, Doubt, Effect, EffectKind, Node, NodeEffect, Point,
    Reason, Side, Unit, Verdict,
};
use kumite_stats::{Tally, fewest_rounds, median, wealth};

use super::course::Course;
use super::effects::Moved;
use super::evidence::CellDoubt;
use super::posed::{Bet, Compared, Exact, Found, Posed};
use super::{ALPHA, Evidence};

/// The fewest later rounds that can raise a doubt about a verdict by contradicting it.
const TELLING_ROUNDS: usize = 5;

/// The comparison to show, represented by one of its bets; the number of comparisons with the same result; and the
/// wealth that its bounds need.
struct Chosen<'a> {
    bet: Bet<'a>,
    alike: usize,
    /// The wealth that defines a bound: a bound is the border at which the bet would just have reached it. None if no
    /// single comparison is clear enough to be named; `alike` is 0 then.
    threshold: Option<f64>,
}

impl Posed<'_> {
    /// The record's claim: verdict, comparison, effect with its bound, evidence and doubts.
    pub fn shown(&self, evidence: &Evidence, verdict: Verdict, look: u32, course: &Course) -> Claim {
        let chosen = || self.chosen(verdict, look, course);
        let mut claim = self.named(evidence, verdict);
        let exact = self.broken().or_else(|| self.exact().next());
        if let (Verdict::NotTested, Some((compared, reason))) = (verdict, self.untestable().next()) {
            claim.decided_by = Some(self.decider(compared, self.untestable().count(), None));
            claim.reason = Some(reason.clone());
        } else if let Some((compared, exact)) = exact.filter(|_| self.broken().is_some()) {
            self.show_exact(&mut claim, compared, exact);
        } else if let Some(chosen) = chosen() {
            self.show_bet(&mut claim, &chosen, look, course);
            let threshold =
                if verdict == Verdict::Undecided { course.next_threshold } else { course.threshold };
            let all = self.wealth(look);
            let wealth = match verdict {
                Verdict::Holds => all.holds,
                Verdict::Fails => all.fails,
                Verdict::NoDifference => all.no_difference,
                Verdict::Undecided | Verdict::DependsOnSitting | Verdict::NotTested | Verdict::Other(_) => {
                    all.most()
                }
            };
            let evidence = wealth.min(f64::MAX);
            claim.bet = Some(Betted { evidence, threshold, rounds: look, comparisons: self.bets().count() });
            if let Some(merged) = &course.run.merged {
                claim.nodes = chosen.bet.by_node(&merged.nodes, verdict, look);
            }
            if let Some(sittings) = self.sittings {
                claim.sittings = chosen.bet.by_sitting(look, sittings);
                claim.next_sitting = chosen.bet.next_sitting(look, sittings);
                claim.doubts.extend(self.doubts_of_sittings(verdict, look, sittings));
            }
            if verdict == Verdict::Undecided {
                claim.reason = Some(self.short(look, course));
            }
        } else if let Some((compared, exact)) = exact {
            self.show_exact(&mut claim, compared, exact);
        }
        claim
    }

    fn chosen(&self, verdict: Verdict, look: u32, course: &Course) -> Option<Chosen<'_>> {
        match verdict {
            Verdict::Holds => self.least_clear(look, course.threshold),
            Verdict::Fails => self.clearest(look, course.threshold, Moved::Not),
            Verdict::NoDifference => self.clearest(look, course.threshold, Moved::Tightened),
            Verdict::Undecided => self.furthest_from_holding(look, course.next_threshold),
            Verdict::DependsOnSitting => {
                let bet = self.sittings.and_then(|sittings| self.clearly_against(sittings))?;
                Some(Chosen { bet, alike: 1, threshold: Some(self.bets().count() as f64 / ALPHA) })
            }
            Verdict::NotTested | Verdict::Other(_) => None,
        }
    }

    /// Adds the median effect of all rounds to a claim whose verdict was reached before the last round, and a doubt
    /// if the later rounds contradict the verdict.
    pub fn beside_all_rounds(&self, all: &Posed, look: u32, course: &Course, claim: &mut Claim) {
        let Some(chosen) = self.chosen(claim.verdict, look, course) else { return };
        let of_all = all.comparisons.get(chosen.bet.of).map(|compared| &compared.found);
        let Some(Found::Measured(effects)) = of_all else { return };
        let kind = effects.kind(u32::MAX);
        let (whole, later) = (effects.from(0), effects.from(look));
        let is_comparable = kind == chosen.bet.effects.kind(look) && !later.is_empty();
        let Some(effect) = median(&whole).filter(|_| is_comparable) else { return };
        claim.all_rounds = Some(AllRounds { effect, rounds: whole.len() });
        let contradicts = |effect: &f64| chosen.bet.border.contradicts(kind, *effect, claim.verdict);
        let later_median = median(&later).filter(|_| later.len() >= TELLING_ROUNDS).filter(contradicts);
        let doubt = later_median.map(|effect| Doubt::LaterRounds { rounds: later.len(), effect });
        claim.doubts.extend(doubt);
    }

    /// The doubt that the effect of the shown comparison changed with the state of the machine, or with time, over all
    /// rounds. None if it did not.
    pub fn moved(
        &self,
        all: &Posed,
        evidence: &Evidence,
        look: u32,
        course: &Course,
        verdict: Verdict,
    ) -> Option<Doubt> {
        let chosen = self.chosen(verdict, look, course)?;
        let compared = all.comparisons.get(chosen.bet.of)?;
        let Found::Measured(effects) = &compared.found else { return None };
        let claims = course.rulings.iter().filter(|ruling| ruling.posed.has_bets).count();
        evidence.moved(&compared.references, effects, chosen.bet.border, claims)
    }

    fn named(&self, evidence: &Evidence, verdict: Verdict) -> Claim {
        let doubts: BTreeSet<&CellDoubt> =
            self.comparisons.iter().flat_map(|compared| &compared.doubts).collect();
        let wrong = self.comparisons.iter().filter(|_| verdict == Verdict::Holds);
        let wrong: BTreeSet<&String> = wrong.filter_map(|compared| compared.wrong.as_ref()).collect();
        Claim {
            id: self.spec.id.clone(),
            assert: self.spec.assert.clone(),
            title: self.spec.title.clone(),
            published: self.spec.published.clone(),
            verdict,
            doubts: doubts.into_iter().map(|doubt| evidence.doubt(doubt)).collect(),
            wrong_as_claimed: wrong.into_iter().cloned().collect(),
            ..Claim::default()
        }
    }

    /// A comparison in the form that the record has, with the figures of both sides if they are known.
    pub fn decider(&self, compared: &Compared, alike: usize, figures: Option<(f64, f64)>) -> Decider {
        let with = |side: &Side, figure: Option<f64>| {
            let mut side = side.clone();
            let times = side.times();
            if let Side::Metric { value, .. } | Side::Expression { value } = &mut side {
                *value = figure.map(|figure| figure / times);
            }
            side
        };
        let sides = compared.sides.as_ref().map(|sides| kumite_record::Sides {
            left: with(&sides.left, figures.map(|(left, _)| left)),
            right: with(&sides.right, figures.map(|(_, right)| right)),
            ..sides.clone()
        });
        Decider {
            comparison: compared.text.clone(),
            sides,
            contender: compared.scope.contender().map(str::to_owned),
            point: Point(compared.scope.axes.clone()),
            alike,
            of: self.comparisons.len(),
        }
    }

    fn show_exact(&self, claim: &mut Claim, compared: &Compared, exact: &Exact) {
        let alike = self.exact().filter(|(_, other)| other.holds == exact.holds).count();
        claim.decided_by = Some(self.decider(compared, alike, exact.figures));
        claim.effect = Some(Effect { value: exact.value, kind: EffectKind::Exact, bound: Bound::Exact });
        claim.reason.clone_from(&exact.reason);
    }

    fn show_bet(&self, claim: &mut Claim, chosen: &Chosen, look: u32, course: &Course) {
        let Chosen { bet, alike, .. } = chosen;
        let kind = bet.effects.kind(look);
        claim.decided_by = Some(self.decider(bet.compared, *alike, bet.effects.middle(look)));
        let bound = self.bound(claim.verdict, chosen, look, course);
        claim.effect = bet.effects.median(look).map(|value| Effect { value, kind, bound });
    }

    fn bound(&self, verdict: Verdict, chosen: &Chosen, look: u32, course: &Course) -> Bound {
        let Chosen { bet, threshold, .. } = chosen;
        let Some(threshold) = *threshold else {
            let of_all = self.common_miss(look, course.threshold).map(|(miss, level)| {
                let bound = bet.border.missed_by(miss);
                match bet.border.is_below() {
                    true => Bound::AtMost { low: None, high: bound, level },
                    false => Bound::AtLeast { low: bound, high: None, level },
                }
            });
            return of_all.unwrap_or(Bound::Unknown);
        };
        let [low, high] = bet.effects.bounds(look, threshold);
        // The verdict chooses the comparison that is shown, and the end of its interval. So the chance that a bound is
        // false is that of a two-sided interval, both ends together: the level is 1 − 2/t, not 1 − 1/t. If the
        // comparison is one of k, its bound needs k times the wealth. That only makes up for the choice, so the level
        // stays 1 − 2/t with the t of the claim.
        let level = 1.0 - 2.0 / course.threshold;
        // For an undecided claim no side was chosen.
        let alone = 1.0 / ALPHA;
        let (of_one, of_both) = (1.0 - 1.0 / alone, 1.0 - 2.0 / alone);
        let is_low = match verdict {
            // `within` has two borders.
            Verdict::Holds if bet.effects.borders.len() == 1 => bet.border.is_below(),
            Verdict::Fails => !bet.border.is_below(),
            Verdict::Undecided | Verdict::DependsOnSitting => {
                return match (low, high) {
                    (Some(low), Some(high)) => Bound::Both { low, high, level: of_both },
                    (Some(low), None) => Bound::AtLeast { low, high, level: of_one },
                    (None, Some(high)) => Bound::AtMost { low, high, level: of_one },
                    (None, None) => Bound::Unknown,
                };
            }
            Verdict::Holds | Verdict::NoDifference | Verdict::NotTested | Verdict::Other(_) => {
                let both = low.zip(high).map(|(low, high)| Bound::Both { low, high, level });
                return both.unwrap_or(Bound::Unknown);
            }
        };
        match (low, high) {
            (Some(low), high) if is_low => Bound::AtLeast { low, high, level },
            (low, Some(high)) if !is_low => Bound::AtMost { low, high, level },
            _ => Bound::Unknown,
        }
    }

    /// Picks the comparison with the least slack, if all comparisons hold. The least of their wealths decides the
    /// verdict, and it also shows that every comparison has at least this slack. So the bound is as sure as the
    /// verdict. Ratios and differences are not compared with one another. None without a bet.
    fn least_clear(&self, look: u32, threshold: f64) -> Option<Chosen<'_>> {
        let group = |bet: &Bet| {
            let kind = bet.effects.kind(look);
            (kind == EffectKind::Difference).then(|| bet.compared.unit())
        };
        let mut groups: Vec<Option<Unit>> = Vec::new();
        for of_bet in self.bets().map(|bet| group(&bet)) {
            if !groups.contains(&of_bet) {
                groups.push(of_bet);
            }
        }
        let threshold = threshold * groups.len() as f64;
        let so = |bet: &Bet| tally_wealth(bet.effects.tally(bet.border, Moved::Not, look));
        let least = self.bets().min_by(|a, b| so(a).total_cmp(&so(b)))?;
        let slack = |bet: &Bet| bet.effects.slack(bet.border, look, threshold).unwrap_or(f64::NEG_INFINITY);
        let alike = self.bets().filter(|bet| group(bet) == group(&least));
        let bet = alike.min_by(|a, b| slack(a).total_cmp(&slack(b)))?;
        Some(Chosen { bet, alike: self.comparisons.len(), threshold: Some(threshold) })
    }

    /// Picks the clearest of several comparisons of which at least one is false. The mean of their wealths does not
    /// say which one is; to name one of k, its own wealth must reach k times the threshold. None without a bet.
    fn clearest(&self, look: u32, threshold: f64, moved: Moved) -> Option<Chosen<'_>> {
        let threshold = threshold * self.bets().count() as f64;
        let not_so = |bet: &Bet| {
            let Tally { not_so, n, .. } = bet.effects.tally(bet.border, moved, look);
            wealth(not_so, n)
        };
        let bet = self.bets().min_by(|a, b| not_so(b).total_cmp(&not_so(a)))?;
        if not_so(&bet) >= threshold {
            let alike = self.count(|bet| not_so(bet) >= threshold);
            return Some(Chosen { bet, alike, threshold: Some(threshold) });
        }
        // No single comparison is proved false. The one that misses its border by most is shown. Its bound is the
        // distance by which at least one of them misses.
        let miss = |bet: &Bet| median(&bet.effects.misses(bet.border, look)).unwrap_or(f64::NEG_INFINITY);
        let bet = match self.are_ratios(look) {
            true => self.bets().max_by(|a, b| miss(a).total_cmp(&miss(b)))?,
            false => bet,
        };
        Some(Chosen { bet, alike: 0, threshold: None })
    }

    /// True if every effect is a ratio. Only ratios can be compared by how far they miss their borders.
    fn are_ratios(&self, look: u32) -> bool {
        self.bets().all(|bet| bet.effects.kind(look) == EffectKind::Ratio)
    }

    /// The distance by which at least one comparison of a failed claim misses its border, as the logarithm of a
    /// ratio, and the level of this bound, from 0 to 1. It rests on the mean of the bets, as the verdict does. None
    /// if effects are not all ratios, or the bets show no finite distance.
    fn common_miss(&self, look: u32, threshold: f64) -> Option<(f64, f64)> {
        if !self.are_ratios(look) {
            return None;
        }
        let misses: Vec<Vec<f64>> = self.bets().map(|bet| bet.effects.misses(bet.border, look)).collect();
        let mut candidates: Vec<f64> = misses.iter().flatten().copied().filter(|miss| *miss >= 0.0).collect();
        candidates.sort_unstable_by(|a, b| b.total_cmp(a));
        let is_shown = |miss: &f64| {
            let so = |of: &Vec<f64>| wealth(of.iter().filter(|other| *other >= miss).count(), of.len());
            misses.iter().map(so).sum::<f64>() >= threshold * misses.len() as f64
        };
        let miss = candidates.into_iter().find(is_shown).filter(|miss| miss.is_finite())?;
        Some((miss, 1.0 - 2.0 / threshold))
    }

    fn furthest_from_holding(&self, look: u32, threshold: f64) -> Option<Chosen<'_>> {
        let so = |bet: &Bet| tally_wealth(bet.effects.tally(bet.border, Moved::Not, look));
        let bet = self.bets().min_by(|a, b| so(a).total_cmp(&so(b)))?;
        let alike = self.count(|bet| so(bet) < threshold);
        Some(Chosen { bet, alike, threshold: Some(self.bets().count() as f64 / ALPHA) })
    }

    /// The number of comparisons with at least one bet for which `is_such` is true.
    fn count(&self, is_such: impl Fn(&Bet) -> bool) -> usize {
        let such: BTreeSet<usize> = self.bets().filter(is_such).map(|bet| bet.of).collect();
        such.len()
    }

    /// The reason why a claim is undecided: the control is off, lower bounds leave it open, or it lacks blocks, nodes
    /// or sittings.
    fn short(&self, look: u32, course: &Course) -> Reason {
        let off = self.bets().filter_map(|bet| bet.in_reach_of_control(look));
        if let Some(off) = off.max_by(|a, b| a.distance().total_cmp(&b.distance())) {
            return Reason::ControlIsOff { by: off.clone() };
        }
        let threshold = course.next_threshold;
        let rounds = self.rounds(look);
        let is_open = || rounds.claimed.iter().any(|tally| tally.so + tally.not_so < tally.n);
        if let Some(sittings) = self.sittings.filter(|_| !is_open()) {
            return self.more_sittings(&rounds, threshold, sittings);
        }
        let wealth_if = |is_so| rounds.with_open_rounds(is_so).wealth().most();
        if wealth_if(true).max(wealth_if(false)) >= threshold {
            return Reason::LowerBounds;
        }
        let alone = Some(self.verdict(look, 1.0 / ALPHA)).filter(|alone| *alone != Verdict::Undecided);
        let more = fewest_rounds(|more| rounds.wealth_after(more).most() >= threshold);
        match course.run.judged_by_nodes() {
            Some(_) => Reason::MoreNodes { nodes: more, alone },
            None => Reason::MoreBlocks { blocks: more, alone },
        }
    }
}

impl Bet<'_> {
    /// The effect of the bet's comparison on each node, with a flag on nodes that contradict the verdict.
    fn by_node(&self, nodes: &[Node], verdict: Verdict, look: u32) -> Vec<NodeEffect> {
        let kind = self.effects.kind(look);
        let of_node = |of| {
            let (effect, rounds) = self.effects.of_node(of, look)?;
            let contradicts = self.border.contradicts(kind, effect, verdict);
            let node = nodes.get(of.node)?.name.clone();
            Some(NodeEffect { node, effect, rounds, contradicts })
        };
        self.effects.nodes.iter().filter_map(of_node).collect()
    }
}

fn tally_wealth(tally: Tally) -> f64 {
    wealth(tally.so, tally.n)
}
