//! What a run is measured with.

use kumite_host::{Clock, RealClock};
use kumite_lab::{Driver, Halt, Opening, open};

/// Whose clock it is that runs go by, and who executes their trials.
pub trait World {
    /// What time it is.
    fn clock(&self) -> &dyn Clock;
    /// Who executes the trials of a run.
    fn open<'a>(&'a self, of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt>;
}

/// Nothing is made up: its clock, and contenders that are started.
#[derive(Default)]
pub struct ThisMachine(RealClock);

impl World for ThisMachine {
    fn clock(&self) -> &dyn Clock {
        &self.0
    }

    fn open<'a>(&'a self, of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt> {
        open(of)
    }
}
