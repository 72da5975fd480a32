//! Effects that went with the machine, or changed during the run.
//!
//! A verdict is of the rounds as they came. Where their effects followed what the machine charged, or the time, the
//! rounds are not draws from one box: another hour would have others. It is a doubt, and no reason to void anything.
//!
//! Each claim is tested once, at the end, by the comparison that is shown: Spearman's ranks of its rounds' effects and
//! of each probe, and of the time. All of them share one level. A probe of a round is the median of those *before* its
//! trials, of the cells that are compared: one after a trial would be part of its outcome. And only an effect that ends
//! up on both sides of the border can have changed a verdict, so the medians of the rounds at either end must lie on
//! different sides, too.

use std::collections::BTreeMap;

use kumite_record::{Doubt, Probe, Trial};
use kumite_stats::{Correlation, median, spearman};

use super::effects::{Border, Effects, Moved};
use super::expand::Reference;
use super::{ALPHA, Evidence};

/// Fewer rounds show nothing.
const FEWEST_ROUNDS: usize = 12;
/// The probes and the time.
const VARIABLES: usize = Probe::ALL.len() + 1;

/// Something that an effect may have gone with.
#[derive(Clone, Copy)]
enum Variable {
    Time,
    Probe(Probe),
}

/// An effect that went with something.
struct Course {
    correlation: Correlation,
    /// The medians where the variable is lowest, and where it is highest.
    low: f64,
    high: f64,
}

impl Evidence<'_> {
    /// The doubt that a comparison's effect went with something, in a run that has so many claims.
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
        // Where the time says as much as a probe, it is the time.
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

/// None of fewer rounds than show something, and where both ends lie on one side of the border.
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
    /// In a round of these trials.
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
