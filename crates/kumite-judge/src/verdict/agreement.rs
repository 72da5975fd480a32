//! The agreement of sittings: a claim on which the sittings disagree gets no verdict.
//!
//! Rounds of one sitting share the state of the machine, so all of them together say nothing of the next sitting. A
//! verdict is given only if the sittings agree; otherwise the wealth for it does not count. For any noise, two runs
//! of J independent sittings that must all agree contradict one another with a probability of at most 2·4^−J.

use kumite_record::{Doubt, EffectKind, NextSitting, Reason, SittingEffect, SittingSide, Verdict};
use kumite_stats::{ClaimRounds, ClaimWealth, Tally, fewest_rounds, median, prediction, sign_test};

use super::ALPHA;
use super::effects::Moved;
use super::posed::{Bet, Posed};
use super::sitting::{Group, Sittings};

impl Posed<'_> {
    /// The wealth for each verdict, or 0 for a verdict on whose side not every sitting is. Setting a wealth to 0 leaves
    /// the game fair or losing, so the bound on false verdicts holds.
    pub fn where_sittings_agree(&self, wealth: ClaimWealth, sittings: Sittings) -> ClaimWealth {
        let groups = sittings.groups();
        let in_all = |moved, side| groups.iter().all(|group| self.side(group, moved) == side);
        let if_so = |wealth: f64, is_so: bool| if is_so { wealth } else { 0.0 };
        ClaimWealth {
            holds: if_so(wealth.holds, in_all(Moved::Not, SittingSide::So)),
            fails: if_so(wealth.fails, in_all(Moved::Not, SittingSide::NotSo)),
            no_difference: if_so(
                wealth.no_difference,
                in_all(Moved::Loosened, SittingSide::So) && in_all(Moved::Tightened, SittingSide::NotSo),
            ),
        }
    }

    /// The side on which a claim was in a sitting, by the medians of its comparisons.
    fn side(&self, group: &Group, moved: Moved) -> SittingSide {
        let sides = || self.bets().map(|bet| bet.side(group, moved));
        if self.untestable().next().is_some() || self.bets().next().is_none() {
            SittingSide::Open
        } else if sides().any(|side| side == SittingSide::NotSo) {
            SittingSide::NotSo
        } else if sides().all(|side| side == SittingSide::So) {
            SittingSide::So
        } else {
            SittingSide::Open
        }
    }

    /// The comparison that is clearly false in one sitting, although the whole claim is clearly true in another
    /// sitting. If there are several, the clearest one. None if there is none, or only one group of sittings. Both are
    /// tested by sign tests within a sitting. The tests share the level, because any of the other sittings might have
    /// been the contrary one.
    pub fn clearly_against(&self, sittings: Sittings) -> Option<Bet<'_>> {
        let groups = sittings.groups();
        let level = ALPHA / groups.len().checked_sub(1).filter(|others| *others > 0)? as f64;
        let bets = self.bets().count();
        let tallies = |group: &Group| -> Vec<(Bet<'_>, Tally)> {
            self.bets()
                .map(|bet| (bet, bet.effects.tally_where(bet.border, Moved::Not, |round| group.has(round))))
                .collect()
        };
        let is_clear = |some: usize, n: usize, level: f64| n > 0 && sign_test(some, n) <= level;
        let is_for = |group: &Group| {
            bets > 0 && tallies(group).iter().all(|(_, tally)| is_clear(tally.so, tally.n, level))
        };
        if self.untestable().next().is_some() || !groups.iter().any(is_for) {
            return None;
        }
        let against = groups.iter().flat_map(tallies);
        let clear = against.filter(|(_, tally)| is_clear(tally.not_so, tally.n, level / bets as f64));
        let chance = |(_, tally): &(Bet, Tally)| sign_test(tally.not_so, tally.n);
        clear.min_by(|a, b| chance(a).total_cmp(&chance(b))).map(|(bet, _)| bet)
    }

    /// The reason for an undecided claim: the number of further sittings like these that would decide it. That number
    /// is `None` if not all sittings are on one side now, or if it would be more than 500.
    pub fn more_sittings(&self, rounds: &ClaimRounds, threshold: f64, sittings: Sittings) -> Reason {
        let groups = sittings.groups().len();
        let most = rounds.claimed.iter().map(|tally| tally.n).max().unwrap_or(0);
        let of_one = most.checked_div(groups).filter(|of_one| *of_one > 0);
        let is_reached = |more: usize| {
            self.where_sittings_agree(rounds.wealth_after(more * of_one.unwrap_or(0)), sittings).most()
                >= threshold
        };
        Reason::MoreSittings { sittings: of_one.and_then(|_| fewest_rounds(is_reached)) }
    }

    /// The doubts that come from the sittings: there is only one, another may differ, or one was ended by its
    /// verdicts.
    pub fn doubts_of_sittings(&self, verdict: Verdict, look: u32, sittings: Sittings) -> Vec<Doubt> {
        let is_given = matches!(verdict, Verdict::Holds | Verdict::Fails | Verdict::NoDifference);
        let mut doubts = Vec::new();
        if is_given && sittings.groups().len() == 1 {
            doubts.push(Doubt::OneSitting);
        } else if is_given && self.another_may_differ(look, sittings) {
            doubts.push(Doubt::AnotherSittingMayDiffer);
        }
        let ended = sittings.all.iter().enumerate().filter(|(_, of)| of.ended_by_verdicts);
        doubts.extend(ended.map(|(sitting, _)| Doubt::EndedByVerdicts { sitting }));
        doubts
    }

    /// True if a border lies within the interval that holds four of five further sittings, or if no such interval is
    /// known.
    fn another_may_differ(&self, look: u32, sittings: Sittings) -> bool {
        let may = |bet: Bet| {
            let at = bet.border.effect(bet.effects.kind(look));
            let next = bet.next_sitting(look, sittings);
            next.is_none_or(|next| (next.low_80..=next.high_80).contains(&at))
        };
        self.bets().any(may)
    }
}

impl Bet<'_> {
    fn side(&self, group: &Group, moved: Moved) -> SittingSide {
        let sides = self.effects.sides_of_rounds(self.border, moved, |round| group.has(round));
        match sides.as_slice() {
            [] => SittingSide::Open,
            all if all.iter().all(|is_so| *is_so) => SittingSide::So,
            all if all.iter().all(|is_so| !is_so) => SittingSide::NotSo,
            _ => SittingSide::Open,
        }
    }

    /// The effect of the bet's comparison in each group of sittings that has rounds of the comparison.
    pub fn by_sitting(&self, look: u32, sittings: Sittings) -> Vec<SittingEffect> {
        let kind = self.effects.kind(look);
        let of_group = |group: Group| {
            let effects = self.effects.of_rounds(kind, |round| group.has(round));
            let (effect, rounds) = (median(&effects)?, effects.len());
            let side = self.side(&group, Moved::Not);
            Some(SittingEffect { sittings: group.which, effect, rounds, side })
        };
        sittings.groups().into_iter().filter_map(of_group).collect()
    }

    /// The intervals that hold the effect of a further sitting with a probability of 80 % and of 95 %. None if fewer
    /// than two sittings have rounds of the comparison.
    pub fn next_sitting(&self, look: u32, sittings: Sittings) -> Option<NextSitting> {
        let kind = self.effects.kind(look);
        let is_ratio = kind == EffectKind::Ratio;
        let medians = sittings
            .groups()
            .into_iter()
            .filter_map(|group| median(&self.effects.of_rounds(kind, |round| group.has(round))));
        let values: Vec<f64> = medians.map(|of| if is_ratio { of.ln() } else { of }).collect();
        let ends = |confidence| {
            prediction(&values, confidence).map(|ends| if is_ratio { ends.map(f64::exp) } else { ends })
        };
        let ([low_80, high_80], [low_95, high_95]) = ends(0.8).zip(ends(0.95))?;
        Some(NextSitting { low_80, high_80, low_95, high_95 })
    }
}

#[cfg(test)]
mod tests;
