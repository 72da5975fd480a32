//! A driver whose trials are void if somebody was away meanwhile.

use std::sync::atomic::AtomicBool;

use kumite_host::Heartbeat;
use kumite_record::Point;

use super::{Driver, Executor, Measured, TrialOrder};
use crate::contender::Ready;
use crate::halt::Halt;

/// Any driver, with a heartbeat beside each of its trials.
pub(super) struct Attended<'a> {
    pub driver: Box<dyn Driver + 'a>,
    /// Those of contenders, and of who measures them.
    pub cpus: Vec<usize>,
}

impl Executor for Attended<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let heartbeat = Heartbeat::start(&self.cpus);
        let tried = Measured::or_failed(self.driver.trial(order, stop));
        let void = heartbeat.stop();
        tried.map(|measured| Measured { void, ..measured })
    }
}

impl Driver for Attended<'_> {
    fn check(&mut self, contender: &Ready, point: &Point, stop: &AtomicBool) -> Result<&'static str, Halt> {
        self.driver.check(contender, point, stop)
    }

    fn notices(&self) -> Vec<String> {
        self.driver.notices()
    }
}
