//! A driver whose trials are void if somebody was away meanwhile.

use std::sync::atomic::AtomicBool;

use kumite_host::Heartbeat;
use kumite_record::Point;

use super::{Driver, Executor, Measured, Opening, TrialOrder};
use crate::contender::Ready;
use crate::halt::Halt;

/// Any driver, with a heartbeat beside each of its trials.
pub(super) struct Attended<'a> {
    pub driver: Box<dyn Driver + 'a>,
    /// What it was opened with.
    pub of: Opening<'a>,
}

impl Attended<'_> {
    /// The CPUs that a trial there is measured on, and by.
    fn cpus(&self, point: &Point) -> Vec<usize> {
        let (conditions, cores) = (&self.of.conditions, self.of.cores);
        let workload = (self.of.kind.workload)(&conditions.parameters(point), conditions.answer);
        if cores.apart {
            return cores.engine.clone();
        }
        let given = workload.and_then(|workload| workload.cores().given(cores));
        let mut cpus = given.map_or_else(|_| cores.contender.clone(), |given| given.cores);
        cpus.extend(&cores.engine);
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

impl Executor for Attended<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let heartbeat = Heartbeat::start(&self.cpus(order.point));
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

    fn files(&self) -> Option<String> {
        self.driver.files()
    }
}
