//! A run that is about to be executed.

use std::collections::BTreeSet;
use std::time::Duration;

use kumite_record::{Run, Trial};

use super::plan::Plan;
use crate::contender::Ready;

/// From the trials there are to cells, by contender and position of the point.
pub type Undecided<'a> = dyn Fn(&[&Trial]) -> BTreeSet<(String, usize)> + 'a;

/// A run that is about to be executed; the store has its beginning.
pub struct Session<'a> {
    /// The run, with its points.
    pub run: &'a Run,
    /// Contenders by position.
    pub contenders: &'a [Ready],
    /// The order.
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
