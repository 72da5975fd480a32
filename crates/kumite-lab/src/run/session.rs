//! Everything that executing a run takes, put together before its first trial and not changed afterwards.

use std::collections::BTreeSet;
use std::time::Duration;

use kumite_record::{Run, Trial};

use super::plan::{Plan, trial_seed};
use crate::contender::{Drawn, Ready};

/// From the trials so far to the cells that go on: contender, and position of the point.
pub type Undecided<'a> = dyn Fn(&[&Trial]) -> BTreeSet<(String, usize)> + 'a;

/// The inputs of an execution. The store has the beginning of the run already.
pub struct Session<'a> {
    /// The run, with its points.
    pub run: &'a Run,
    /// Contenders by position.
    pub contenders: &'a [Ready],
    /// The order of rounds, blocks and trials.
    pub plan: &'a Plan,
    /// About how long a trial takes at each point; none if only trying it tells.
    pub times: &'a [Option<Duration>],
    /// Trials of the plan that are in the store already: they are not tried again.
    pub kept: &'a [Trial],
    /// No block is begun that would likely end after this time.
    pub budget: Option<Duration>,
    /// Finds the cells whose claims more blocks might decide. It is asked after each round from `min_blocks` on, and
    /// only these cells go on.
    pub undecided: &'a Undecided<'a>,
}

impl Session<'_> {
    /// A contender, by position, for its trial with this number: in a run with a control with what is drawn anew for each.
    pub fn drawn(&self, contender: usize, seq: u32) -> Ready {
        let drawn = self.run.control.as_ref().map(|_| Drawn::new(trial_seed(self.run), seq));
        Ready { drawn, ..self.contenders[contender].clone() }
    }
}
