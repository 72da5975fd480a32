//! Near-ties: claims whose border lies within the scatter interval of their effect.
//!
//! The scatter interval holds the effects of four of five further sittings. With two or more sittings it is predicted
//! from their medians, as for the doubt that another sitting may differ. With one sitting it follows from the scatter
//! of the rounds and from the usual scatter between sittings.

use std::collections::BTreeMap;

use kumite_record::{Bound, Effect, EffectKind, NearTie, Remedy, Run, Unit, Verdict};
use kumite_stats::{Scatter, deviation, median, prediction};

use super::Evidence;
use super::course::Course;
use super::effects::Moved;
use super::expand::Reference;
use super::posed::{Bet, Posed};
use super::sitting::Sittings;
use crate::claim::ClaimSpec;

/// The standard deviation between sittings that is assumed if it was not measured, as a share. Runs that were made
/// twice differed by 4 to 10 %.
const USUAL: f64 = 0.05;
/// The largest assumed deviation between sittings, as a multiple of that of the rounds. A count, a sleep or an
/// offered rate that is the same in all rounds will hardly be another one tomorrow.
const TIMES_THE_ROUNDS: f64 = 4.0;
/// The confidence of the scatter interval.
const FOUR_OF_FIVE: f64 = 0.8;
/// The largest number of rounds that is recommended as a remedy.
const MOST_ROUNDS: usize = 200;
/// The fewest sittings that are recommended: with these and [`ROUNDS`] rounds in each, agreement is contradicted in
/// few cases.
const SITTINGS: usize = 3;
const ROUNDS: usize = 10;
/// The fewest jobs in a trial from which their scatter is estimated.
const JOBS: usize = 3;

/// The distance of a bet's effect from its border. Ratios are in logarithms, differences as they are.
struct Distance<'a> {
    bet: Bet<'a>,
    kind: EffectKind,
    /// The median effect of the rounds, or the middle of the interval that sittings predict.
    center: f64,
    /// The border, moved as the verdict requires.
    border: f64,
    /// Half the width of the scatter interval.
    reach: f64,
    scatter: Scatter,
    rounds: usize,
    sittings: usize,
}

impl<'a> Evidence<'a> {
    /// The claims that are near-ties, in the order of `specs`.
    pub fn near_ties(&self, specs: &'a [ClaimSpec]) -> Vec<NearTie> {
        let course = Course::new(self, specs);
        let of_one = |(ruling, spec): (&super::Ruling, &'a ClaimSpec)| {
            let posed = self.pose_one(spec);
            self.near_tie(&posed, ruling.verdict)
        };
        course.rulings.iter().zip(specs).filter_map(of_one).collect()
    }

    fn near_tie(&self, posed: &Posed, verdict: Verdict) -> Option<NearTie> {
        if matches!(verdict, Verdict::NotTested | Verdict::Other(_)) || posed.broken().is_some() {
            return None;
        }
        let nearest = |moved| posed.nearest(moved);
        let distance = match verdict {
            Verdict::NoDifference => {
                let [loosened, tightened] = [nearest(Moved::Loosened)?, nearest(Moved::Tightened)?];
                if loosened.share().abs() <= tightened.share().abs() { loosened } else { tightened }
            }
            _ => nearest(Moved::Not)?,
        };
        (distance.share().abs() <= 1.0).then(|| NearTie {
            claim: posed.spec.id.clone(),
            verdict,
            decided_by: posed.decider(distance.bet.compared, 1, distance.bet.effects.middle(u32::MAX)),
            effect: distance.effect(),
            sittings: distance.sittings,
            remedy: self.remedy(&distance, verdict),
        })
    }

    fn remedy(&self, distance: &Distance, verdict: Verdict) -> Remedy {
        let Distance { scatter, rounds, sittings, .. } = *distance;
        let margin = self.grid.run.margin().ln_1p();
        if verdict == Verdict::NoDifference && scatter.of_sittings >= margin {
            return Remedy::Margin;
        }
        let away = (distance.center - distance.border).abs();
        let enough = (sittings < 2).then(|| scatter.rounds_within(away)).flatten();
        match enough.filter(|enough| *enough <= MOST_ROUNDS) {
            Some(enough) => match self.jobs(distance) {
                Some(now) => Remedy::Jobs { now, enough: (now * enough).div_ceil(rounds.max(1)) },
                None => Remedy::Rounds(enough),
            },
            None => {
                let sittings = SITTINGS.max(sittings + 1);
                Remedy::Sittings { sittings, agree: scatter.agreement(away, sittings, ROUNDS) }
            }
        }
    }

    /// The fewest jobs in a trial of the comparison, if most of the scatter of its rounds is that of jobs. None if it
    /// is not, or if that cannot be told.
    fn jobs(&self, distance: &Distance) -> Option<usize> {
        let mut variance = 0.0;
        let mut fewest = usize::MAX;
        for reference in &distance.bet.compared.references {
            let (of_cell, jobs) = self.of_jobs(reference)?;
            variance += of_cell;
            fewest = fewest.min(jobs);
        }
        let of_rounds = distance.scatter.of_rounds.powi(2);
        let is_most = distance.kind == EffectKind::Ratio && variance > 0.5 * of_rounds;
        (is_most && fewest < usize::MAX).then_some(fewest)
    }

    /// The variance of a cell's figure that comes from its jobs, in logarithms, and the fewest jobs in one of its
    /// trials. None if the figure is not a time or a rate, or a trial has fewer than three jobs.
    fn of_jobs(&self, reference: &Reference) -> Option<(f64, usize)> {
        if !is_of_time(self.grid.run, &reference.metric) {
            return None;
        }
        let trials: BTreeMap<u32, Vec<f64>> = self
            .trials_of(&reference.contender)
            .filter(|(point, _)| *point == reference.point)
            .map(|(_, trial)| {
                let jobs = trial.sample.jobs.iter().filter(|job| !job.warm_up && job.elapsed_ms > 0.0);
                (trial.seq, jobs.map(|job| job.elapsed_ms.ln()).collect())
            })
            .collect();
        let fewest = trials.values().map(Vec::len).min().filter(|fewest| *fewest >= JOBS)?;
        let of_trial = |jobs: &Vec<f64>| Some(deviation(jobs)?.powi(2) / jobs.len() as f64);
        let variances: Vec<f64> = trials.values().filter_map(of_trial).collect();
        Some((variances.iter().sum::<f64>() / variances.len() as f64, fewest))
    }
}

/// True if a metric is a time or a rate, so that longer jobs change it.
fn is_of_time(run: &Run, metric: &str) -> bool {
    match run.unit(metric) {
        Unit::Seconds | Unit::Milliseconds | Unit::Microseconds | Unit::Nanoseconds => true,
        Unit::PerSecond | Unit::RequestsPerSecond => true,
        Unit::Bytes | Unit::Cores | Unit::Ratio | Unit::Count | Unit::Number => false,
    }
}

impl Posed<'_> {
    /// The bet with the smallest signed distance from its border: a claim is so only if each of its comparisons is.
    /// None without a bet that has two rounds.
    fn nearest(&self, moved: Moved) -> Option<Distance<'_>> {
        let distances = self.bets().filter_map(|bet| Distance::new(bet, moved, self.sittings));
        distances.min_by(|a, b| a.share().total_cmp(&b.share()))
    }
}

impl<'a> Distance<'a> {
    fn new(bet: Bet<'a>, moved: Moved, sittings: Option<Sittings>) -> Option<Distance<'a>> {
        let kind = bet.effects.kind(u32::MAX);
        let is_ratio = kind == EffectKind::Ratio;
        let scale = |effect: f64| if is_ratio { effect.ln() } else { effect };
        let effects: Vec<f64> = bet.effects.from(0).into_iter().map(scale).collect();
        let (center, of_rounds) = (median(&effects)?, deviation(&effects)?);
        let medians: Vec<f64> = sittings.map_or(Vec::new(), |sittings| {
            let of_group = |has: &dyn Fn(u32) -> bool| median(&bet.effects.of_rounds(kind, has)).map(scale);
            sittings.groups().iter().filter_map(|group| of_group(&|round| group.has(round))).collect()
        });
        let rounds = effects.len();
        let border = scale(bet.border.moved(kind, moved));
        let distance = |center, reach, scatter| {
            let sittings = medians.len().max(1);
            Distance { bet, kind, center, border, reach, scatter, rounds, sittings }
        };
        if let Some((ends, of_sittings)) = prediction(&medians, FOUR_OF_FIVE).zip(deviation(&medians)) {
            // The scatter of the medians includes that of the rounds.
            let scatter = Scatter { of_rounds: 0.0, of_sittings };
            return Some(distance(f64::midpoint(ends[0], ends[1]), (ends[1] - ends[0]) / 2.0, scatter));
        }
        let (left, right) = bet.effects.middle(u32::MAX)?;
        let usual = if is_ratio { USUAL } else { USUAL * left.abs().max(right.abs()) };
        let of_sittings = usual.min(TIMES_THE_ROUNDS * of_rounds);
        let scatter = Scatter { of_rounds, of_sittings };
        Some(distance(center, scatter.reach(rounds), scatter))
    }

    /// The distance from the border as a multiple of the reach; above 0 if the effect is on the border's side.
    fn share(&self) -> f64 {
        let beyond = if self.bet.border.is_below() { 1.0 } else { -1.0 } * (self.center - self.border);
        match self.reach > 0.0 {
            true => beyond / self.reach,
            // Nothing scatters.
            false if beyond >= 0.0 => f64::INFINITY,
            false => f64::NEG_INFINITY,
        }
    }

    fn effect(&self) -> Effect {
        let scale = |value: f64| if self.kind == EffectKind::Ratio { value.exp() } else { value };
        let [low, value, high] = [-1.0, 0.0, 1.0].map(|side| scale(self.center + side * self.reach));
        Effect { value, kind: self.kind, bound: Bound::Both { low, high, level: FOUR_OF_FIVE } }
    }
}

#[cfg(test)]
mod tests;
