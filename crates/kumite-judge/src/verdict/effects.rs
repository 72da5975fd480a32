//! The effect of a comparison in each round, and the bets on it.
//!
//! Each round gives one effect, formed within the round: the ratio of both sides, or their difference if a ratio would
//! say nothing. If a side is only a lower bound, its true value may be any larger one. The round counts for a bet only
//! if it counts the same for very large values. The number of claims plays no role here: thresholds come from outside.

use std::collections::BTreeMap;

use kumite_record::{EffectKind, Reason, Verdict};
use kumite_stats::{Tally, at_least, at_most, median};

use super::evidence::Rounds;
use super::sides::Sides;
use crate::claim::{Op, Test};

/// The effects of a comparison, one for each round. Both sides of an effect were measured in the same block, so a
/// block that is slow as a whole cancels out.
pub(super) struct Effects {
    /// The rounds that are betted on or, if verdicts are about nodes like these, a round for each node.
    rounds: Vec<Round>,
    are_nodes: bool,
    /// The rounds of each node; empty if there is only one node.
    pub nodes: Vec<NodeRounds>,
    /// False if a quotient of the sides says nothing, because one of them is an exponent or a spread.
    can_be_a_ratio: bool,
    /// The border that the effect must be beyond, or the two that it must be between.
    pub borders: Vec<Border>,
}

/// The rounds that were executed on one node.
pub(super) struct NodeRounds {
    /// The position of the node in the run's list.
    pub node: usize,
    rounds: Vec<Round>,
}

#[derive(Clone)]
struct Round {
    /// The round's block or, if the round stands for a node, the position of that node.
    block: u32,
    /// Both sides as they were measured, followed by variants in which lower bounds are replaced by very large
    /// values.
    sides: Vec<(f64, f64)>,
}

/// The border of a bet. The bet says that the effect is on the border's side in more than half of all rounds.
pub(super) struct Border {
    op: Op,
    /// The border for a ratio. A difference has its border at 0.
    at: f64,
    /// The margin, as a share: by this much the border of a ratio is moved to test for no difference. The border of a
    /// difference stays at 0.
    margin: f64,
}

/// The way in which a margin moves a border.
#[derive(Clone, Copy)]
pub(super) enum Moved {
    Not,
    Loosened,
    Tightened,
}

impl Effects {
    pub fn new(test: &Test, sides: &Sides, rounds: &Rounds, margin: f64) -> Result<Effects, Reason> {
        let mut all = vec![sides.pairs(&rounds.values)?];
        for far in rounds.with_bounds_far() {
            all.push(sides.pairs(&far)?);
        }
        let of_round = |(nth, &block): (usize, &u32)| Round {
            block,
            sides: all.iter().map(|pairs| pairs[nth]).collect(),
        };
        let nodes = &rounds.nodes;
        let rounds: Vec<Round> = rounds.blocks.iter().enumerate().map(of_round).collect();
        let is_positive = || rounds.iter().all(|round| is_positive(round.sides[0]));
        let borders = match test {
            Test::Within(..) if !is_positive() => return Err(Reason::NotPositive),
            Test::Within(_, share, _) => vec![
                Border { op: Op::GreaterOrEqual, at: 1.0 - share, margin: 0.0 },
                Border { op: Op::LessOrEqual, at: 1.0 + share, margin: 0.0 },
            ],
            Test::Compare(_, op, _) => vec![Border { op: *op, at: 1.0, margin }],
            Test::Disqualified(_) => Vec::new(),
        };
        // A ratio to an exponent or a spread would say nothing.
        let can_be_a_ratio = matches!(test, Test::Within(..)) || sides.can_be_a_ratio();
        let are_nodes = sides.evidence.grid.run.judged_by_nodes().is_some();
        let nodes = by_node(&rounds, nodes);
        let mut effects = Effects { rounds, are_nodes, nodes, can_be_a_ratio, borders };
        if are_nodes {
            effects.rounds = effects.nodes.iter().map(|of| effects.round_of(of)).collect();
        }
        Ok(effects)
    }

    /// A round that stands for a node: the effect of its sides is the median of the node's rounds.
    fn round_of(&self, of: &NodeRounds) -> Round {
        let all_are_ratios = |which: usize| {
            of.rounds.iter().all(|round| self.kind_of(round.sides[which]) == EffectKind::Ratio)
        };
        let sides = |which: usize| {
            let kind = if all_are_ratios(which) { EffectKind::Ratio } else { EffectKind::Difference };
            let effects: Vec<f64> = of.rounds.iter().map(|round| effect(kind, round.sides[which])).collect();
            let right = if kind == EffectKind::Ratio { 1.0 } else { 0.0 };
            (median(&effects).unwrap_or(f64::NAN), right)
        };
        let variants = of.rounds.iter().map(|round| round.sides.len()).min().unwrap_or(0);
        Round { block: of.node as u32, sides: (0..variants).map(sides).collect() }
    }

    /// The median effect of a node's rounds before `look`, and the number of these rounds. None without a round.
    pub fn of_node(&self, node: &NodeRounds, look: u32) -> Option<(f64, usize)> {
        let kind = self.kind(look);
        let is_before = |round: &&Round| look > if self.are_nodes { node.node as u32 } else { round.block };
        let before = node.rounds.iter().filter(is_before);
        let effects: Vec<f64> = before.map(|round| effect(kind, round.sides[0])).collect();
        Some((median(&effects)?, effects.len()))
    }

    /// The effect of each round, with the number of the round's block. None if verdicts are about nodes, because a
    /// round stands for a whole node then.
    pub fn by_block(&self) -> Option<Vec<(u32, f64)>> {
        let kind = self.kind(u32::MAX);
        let of_round = |round: &Round| (round.block, effect(kind, round.sides[0]));
        (!self.are_nodes).then(|| self.rounds.iter().map(of_round).collect())
    }

    fn before(&self, look: u32) -> impl Iterator<Item = &Round> {
        self.rounds.iter().filter(move |round| round.block < look)
    }

    /// Tallies the rounds before `look` by whether the effect is on the border's side.
    pub fn tally(&self, border: &Border, moved: Moved, look: u32) -> Tally {
        self.tally_where(border, moved, |round| round < look)
    }

    /// Tallies the rounds that `is_one` chooses by whether the effect is on the border's side.
    pub fn tally_where(&self, border: &Border, moved: Moved, is_one: impl Fn(u32) -> bool) -> Tally {
        let mut tally = Tally::default();
        for round in self.rounds.iter().filter(|round| is_one(round.block)) {
            let mut told = round.sides.iter().map(|&sides| {
                let kind = self.kind_of(sides);
                border.is_met(kind, effect(kind, sides), moved)
            });
            let near = told.next();
            tally.count(near.filter(|near| told.all(|far| far == *near)));
        }
        tally
    }

    /// The effects of the rounds that `is_one` chooses, as they were measured.
    pub fn of_rounds(&self, kind: EffectKind, is_one: impl Fn(u32) -> bool) -> Vec<f64> {
        let here = self.rounds.iter().filter(|round| is_one(round.block));
        here.map(|round| effect(kind, round.sides[0])).collect()
    }

    /// For each variant of the figures (as measured, and with lower bounds replaced by very large values): true if
    /// the median of the chosen rounds is on the border's side. Empty if no round is chosen.
    pub fn sides_of_rounds(&self, border: &Border, moved: Moved, is_one: impl Fn(u32) -> bool) -> Vec<bool> {
        let here: Vec<&Round> = self.rounds.iter().filter(|round| is_one(round.block)).collect();
        let variants = here.iter().map(|round| round.sides.len()).min().unwrap_or(0);
        let is_met = |which: usize| {
            let is_ratio = |round: &&Round| self.kind_of(round.sides[which]) == EffectKind::Ratio;
            let kind = if here.iter().all(is_ratio) { EffectKind::Ratio } else { EffectKind::Difference };
            let effects: Vec<f64> = here.iter().map(|round| effect(kind, round.sides[which])).collect();
            median(&effects).is_some_and(|median| border.is_met(kind, median, moved))
        };
        (0..variants).map(is_met).collect()
    }

    /// The form of the effects before `look`: a ratio if every round has one, else a difference.
    pub fn kind(&self, look: u32) -> EffectKind {
        match self.before(look).all(|round| self.kind_of(round.sides[0]) == EffectKind::Ratio) {
            true => EffectKind::Ratio,
            false => EffectKind::Difference,
        }
    }

    fn kind_of(&self, sides: (f64, f64)) -> EffectKind {
        if self.can_be_a_ratio && is_positive(sides) { EffectKind::Ratio } else { EffectKind::Difference }
    }

    /// The median of the effects before `look`. None without a round.
    pub fn median(&self, look: u32) -> Option<f64> {
        median(&self.values(look, |near, _, _| near))
    }

    /// The effects of round `first` and of all later rounds.
    pub fn from(&self, first: u32) -> Vec<f64> {
        let kind = self.kind(u32::MAX);
        let later = self.rounds.iter().filter(|round| round.block >= first);
        later.map(|round| effect(kind, round.sides[0])).collect()
    }

    /// Both sides in the round with the median effect, so that they give that median. If verdicts are about nodes,
    /// each node is represented by its own median round. None without a round.
    pub fn middle(&self, look: u32) -> Option<(f64, f64)> {
        let kind = self.kind(look);
        let sides = |rounds: &mut dyn Iterator<Item = &Round>| rounds.map(|round| round.sides[0]).collect();
        if !self.are_nodes {
            return middle(sides(&mut self.before(look)), kind);
        }
        let before = self.nodes.iter().filter(|of| (of.node as u32) < look);
        middle(before.filter_map(|of| middle(sides(&mut of.rounds.iter()), kind)).collect(), kind)
    }

    /// The lower and the upper bound of the effect: the borders at which a bet would just have reached the wealth
    /// `threshold`. None for a bound that is infinite, or for which there are too few rounds.
    pub fn bounds(&self, look: u32, threshold: f64) -> [Option<f64>; 2] {
        let lows = self.values(look, |near, least, _| if least < near { f64::NEG_INFINITY } else { near });
        let highs = self.values(look, |near, _, most| if most > near { f64::INFINITY } else { near });
        let known = |bound: Result<Option<f64>, _>| bound.ok().flatten().filter(|bound| bound.is_finite());
        [known(at_least(&lows, threshold)), known(at_most(&highs, threshold))]
    }

    /// The least distance of the effect from the border, by the bound at this threshold; below 0 if the bound lies on
    /// the wrong side. It is a logarithm for ratios. None if there is no bound on that end.
    pub fn slack(&self, border: &Border, look: u32, threshold: f64) -> Option<f64> {
        let [low, high] = self.bounds(look, threshold);
        let beyond = |bound: f64| match self.kind(look) {
            EffectKind::Ratio => (bound / border.at).ln(),
            _ => bound,
        };
        if border.is_below() { Some(beyond(low?)) } else { Some(-beyond(high?)) }
    }

    /// The distance of each round's effect beyond the border, on the wrong side, as a logarithm; below 0 if the effect
    /// is on the right side. Only for effects that are ratios.
    pub fn misses(&self, border: &Border, look: u32) -> Vec<f64> {
        let miss = |effect: f64| {
            let beyond = (effect / border.at).ln();
            if border.is_below() { -beyond } else { beyond }
        };
        self.values(look, |_, least, most| miss(least).min(miss(most)))
    }

    /// One value for each round before `look`: `which` makes it from the effect as measured, and from the least and
    /// the most that the effect may be.
    fn values(&self, look: u32, which: impl Fn(f64, f64, f64) -> f64) -> Vec<f64> {
        let kind = self.kind(look);
        let of_round = |round: &Round| {
            let effects = || round.sides.iter().map(|&sides| effect(kind, sides));
            let near = effect(kind, round.sides[0]);
            which(near, effects().fold(near, f64::min), effects().fold(near, f64::max))
        };
        self.before(look).map(of_round).collect()
    }
}

/// Both sides of the pair with the median effect. For an even number of pairs, both sides of a mixture of the middle
/// two whose effect is the mean of theirs. None without a pair.
fn middle(mut sides: Vec<(f64, f64)>, kind: EffectKind) -> Option<(f64, f64)> {
    sides.sort_by(|a, b| effect(kind, *a).total_cmp(&effect(kind, *b)));
    let (left, right) = *sides.get(sides.len() / 2)?;
    let (other_left, other_right) = sides[(sides.len() - 1) / 2];
    let of_left = match kind {
        EffectKind::Ratio => other_right / (right + other_right),
        _ => 0.5,
    };
    let mean = |own: f64, other: f64| own * of_left + other * (1.0 - of_left);
    Some((mean(left, other_left), mean(right, other_right)))
}

fn by_node(rounds: &[Round], nodes: &[Option<usize>]) -> Vec<NodeRounds> {
    let mut by_node = BTreeMap::<usize, Vec<Round>>::new();
    for (round, node) in rounds.iter().zip(nodes) {
        if let Some(node) = node {
            by_node.entry(*node).or_default().push(round.clone());
        }
    }
    by_node.into_iter().map(|(node, rounds)| NodeRounds { node, rounds }).collect()
}

fn is_positive((left, right): (f64, f64)) -> bool {
    left > 0.0 && right > 0.0
}

fn effect(kind: EffectKind, (left, right): (f64, f64)) -> f64 {
    if kind == EffectKind::Ratio { left / right } else { left - right }
}

impl Border {
    pub fn is_met(&self, kind: EffectKind, effect: f64, moved: Moved) -> bool {
        self.op.holds(effect, self.moved(kind, moved))
    }

    /// The effect at which the border lies once a margin has moved it.
    pub fn moved(&self, kind: EffectKind, moved: Moved) -> f64 {
        let looser = 1.0 + self.margin;
        let factor = match (moved, self.is_below()) {
            (Moved::Not, _) => 1.0,
            (Moved::Loosened, false) | (Moved::Tightened, true) => looser,
            (Moved::Loosened, true) | (Moved::Tightened, false) => 1.0 / looser,
        };
        self.effect(kind) * factor
    }

    /// True if an effect lies on the other side of the border than this verdict says. False for verdicts that say no
    /// side.
    pub fn contradicts(&self, kind: EffectKind, effect: f64, verdict: Verdict) -> bool {
        let is = |moved| self.is_met(kind, effect, moved);
        match verdict {
            Verdict::Holds => !is(Moved::Not),
            Verdict::Fails => is(Moved::Not),
            Verdict::NoDifference => !is(Moved::Loosened) || is(Moved::Tightened),
            Verdict::Undecided | Verdict::DependsOnSitting | Verdict::NotTested | Verdict::Other(_) => false,
        }
    }

    /// The effect at which the border lies.
    pub fn effect(&self, kind: EffectKind) -> f64 {
        if kind == EffectKind::Ratio { self.at } else { 0.0 }
    }

    /// The ratio on the wrong side of the border, at a distance from it whose logarithm is `miss`.
    pub fn missed_by(&self, miss: f64) -> f64 {
        if self.is_below() { self.at / miss.exp() } else { self.at * miss.exp() }
    }

    /// True if an effect must be above the border, or equal to it, to be on its side.
    pub fn is_below(&self) -> bool {
        matches!(self.op, Op::Greater | Op::GreaterOrEqual)
    }
}
