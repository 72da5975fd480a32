//! Doubts about effects that followed the state of the machine, or changed during the run.
//!
//! A verdict rests on the rounds as they came. If their effects followed what the machine charged, or the time,
//! another hour might have had other effects. That is a doubt, and no reason to make a trial void.
//!
//! Each claim is tested once, at the end, by the comparison that is shown: by Spearman's correlation of its rounds'
//! effects with each probe, and with the time. All of these tests share one level. The probe of a round is the median
//! over the probes *before* its trials, of the cells that are compared: a probe after a trial would be part of its
//! outcome. Only effects that end up on both sides of the border can have changed a verdict, so the medians of the
//! rounds at either end must lie on different sides, too.

use std::collections::BTreeMap;

use kumite_record::{Doubt, Probe, Trial};
use kumite_stats::{Correlation, median, spearman};

use super::effects::{Border, Effects, Moved};
use super::expand::Reference;
use super::{ALPHA, Evidence};

/// The fewest rounds for which a correlation is tested.
const FEWEST_ROUNDS: usize = 12;
/// The number of variables that are tested: each probe, and the time.
const VARIABLES: usize = Probe::ALL.len() + 1;

/// A variable that an effect may have followed.
#[derive(Clone, Copy)]
enum Variable {
    Time,
    Probe(Probe),
}

/// The course of an effect along a variable.
struct Course {
    correlation: Correlation,
    /// The median effect in the third of the rounds with the lowest values of the variable.
    low: f64,
    high: f64,
}

impl Evidence<'_> {
    /// The doubt that a comparison's effect followed a variable. None if it followed none. The level is shared by all
    /// variables and by the claims of the run, of which there are `claims`.
    pub(super) fn moved(
        &self,
        references: &[Reference],
        effects: &Effects,
        border: &Border,
        claims: usize,
    ) -> Option<Doubt> {
        let level = ALPHA / (VARIABLES * claims) as f64;
        let rounds = effects.by_block()?;
        let trials = self.trials_by_block(references);
        let tested = |variable: Variable| {
            let pair = |(block, effect): &(u32, f64)| Some((variable.of(trials.get(block)?)?, *effect));
            let pairs: Vec<(f64, f64)> = rounds.iter().filter_map(pair).collect();
            let course = course(pairs, effects, border, self.grid.run.seed)?;
            (course.correlation.p <= level).then_some((variable, course))
        };
        // If the time goes with the effect as much as a probe does, the time is named.
        let variables = [Variable::Time].into_iter().chain(Probe::ALL.map(Variable::Probe));
        let (variable, Course { low, high, .. }) =
            variables.filter_map(tested).min_by(|(_, a), (_, b)| {
                let (a, b) = (a.correlation, b.correlation);
                a.p.total_cmp(&b.p).then(b.rho.abs().total_cmp(&a.rho.abs()))
            })?;
        Some(match variable {
            Variable::Time => Doubt::ChangedDuringRun { first: low, last: high },
            Variable::Probe(probe) => Doubt::WentWith { probe, low, high },
        })
    }
}

/// The course of effects along a variable, from pairs of both. None if there are too few rounds, if the medians at
/// both ends lie on one side of the border, or if one of the two is the same in all rounds.
fn course(mut pairs: Vec<(f64, f64)>, effects: &Effects, border: &Border, seed: u64) -> Option<Course> {
    if pairs.len() < FEWEST_ROUNDS {
        return None;
    }
    pairs.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let third = pairs.len() / 3;
    let middle = |of: &[(f64, f64)]| median(&of.iter().map(|(_, effect)| *effect).collect::<Vec<_>>());
    let (low, high) = middle(&pairs[..third]).zip(middle(&pairs[pairs.len() - third..]))?;
    let is_so = |effect| border.is_met(effects.kind(u32::MAX), effect, Moved::Not);
    if is_so(low) == is_so(high) {
        return None;
    }
    let (variable, effects): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
    Some(Course { correlation: spearman(&variable, &effects, seed)?, low, high })
}

impl Variable {
    /// The value of the variable in a round, from the trials of that round. None if they do not have it.
    fn of(self, trials: &BTreeMap<u32, &Trial>) -> Option<f64> {
        match self {
            Variable::Time => {
                let began = trials.values().map(|trial| trial.started).min()?;
                Some(began.as_millisecond() as f64)
            }
            Variable::Probe(probe) => {
                let before = trials.values().filter_map(|trial| probe.of(&trial.sample.metrics));
                median(&before.collect::<Vec<_>>())
            }
        }
    }
}

#[cfg(test)]
mod tests;
