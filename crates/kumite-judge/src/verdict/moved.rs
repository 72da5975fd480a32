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
use kumite_stats::{Course, followed, median};

use super::effects::{Border, Effects, Moved};
use super::expand::Reference;
use super::{ALPHA, Evidence};

/// The number of variables that are tested: each probe, and the time.
const VARIABLES: usize = Probe::ALL.len() + 1;

/// A variable that an effect may have followed.
#[derive(Clone, Copy)]
enum Variable {
    Time,
    Probe(Probe),
}

impl Evidence<'_> {
    /// The doubt that a comparison's effect went with time or with a probe of the machine. None unless their correlation
    /// over the rounds is significant and the effect lies on different sides of the border at its two ends. The level of
    /// significance, [`ALPHA`], is shared by all variables and by the run's `claims` claims.
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
        let pairs = |variable: Variable| {
            let pair = |(block, effect): &(u32, f64)| Some((variable.of(trials.get(block)?)?, *effect));
            (variable, rounds.iter().filter_map(pair).collect())
        };
        // If the time goes with the effect as much as a probe does, the time is named.
        let variables = [Variable::Time].into_iter().chain(Probe::ALL.map(Variable::Probe));
        let is_so = |effect| border.is_met(effects.kind(u32::MAX), effect, Moved::Not);
        let (variable, Course { low, high, .. }) =
            followed(variables.map(pairs), level, is_so, self.grid.run.seed)?;
        Some(match variable {
            Variable::Time => Doubt::ChangedDuringRun { first: low, last: high },
            Variable::Probe(probe) => Doubt::WentWith { probe, low, high },
        })
    }
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
