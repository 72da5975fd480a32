//! The inputs of a run's execution, put together before the first trial and not changed afterwards.

use std::collections::BTreeSet;
use std::time::Duration;

use kumite_record::{Run, Trial};

use super::plan::{Plan, trial_seed};
use super::time_limit::TimeLimit;
use crate::contender::{Drawn, Ready};

/// A function from the trials so far to the cells that go on: names of contenders, with positions of points.
pub type Undecided<'a> = dyn Fn(&[&Trial]) -> BTreeSet<(String, usize)> + 'a;

/// The inputs of an execution. The store must have the beginning of the run already.
pub struct Session<'a> {
    /// The run, with its points.
    pub run: &'a Run,
    /// The contenders that are ready. Plans name them by their position in this slice.
    pub contenders: &'a [Ready],
    /// The order of rounds, blocks and trials.
    pub plan: &'a Plan,
    /// The time of a trial at each point, without starting and stopping. `None` if the time cannot be known before a
    /// trial.
    pub times: &'a [Option<Duration>],
    /// The trials of the plan that are in the store already and are not made again.
    pub kept: &'a [Trial],
    /// The time that this execution may take. None if there is no limit.
    pub limit: Option<TimeLimit>,
    /// Finds the cells whose claims more blocks might decide. It is called after each round from `min_blocks` on, and
    /// only these cells go on. It is never called in a sitting.
    pub undecided: &'a Undecided<'a>,
}

impl Session<'_> {
    /// The contender at this position, for the trial with the number `seq`. In a run with a control, its conditions are
    /// drawn for this trial.
    pub fn drawn(&self, contender: usize, seq: u32) -> Ready {
        let drawn = self.run.control.as_ref().map(|_| Drawn::new(trial_seed(self.run), seq));
        Ready { drawn, ..self.contenders[contender].clone() }
    }
}
