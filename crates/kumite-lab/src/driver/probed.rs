//! The probes of the machine before a trial, by a process of its own.
//!
//! The process is started before the first trial and sleeps between two, so that no trial is measured beside its
//! start. A machine that cannot be probed is measured on all the same; once a probe has failed there are no more.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use kumite_probe::{ProbeError, Prober, TRIAL};

/// The process that probes this machine.
#[derive(Debug, Default)]
pub(crate) enum MachineProbe {
    /// The process has not been started yet.
    #[default]
    Asleep,
    /// The process is there and can be asked.
    Ready(Box<Prober>),
    /// The process could not be started, did not answer, or was not asked because `stop` was set.
    Gone,
}

impl MachineProbe {
    /// Probes these CPUs. Returns the figures by name, as far as they can be had; empty if the machine cannot be
    /// probed.
    pub fn figures(&mut self, cpus: &[usize], stop: &AtomicBool) -> BTreeMap<String, f64> {
        if matches!(self, MachineProbe::Asleep) {
            *self = started().map_or(MachineProbe::Gone, |prober| MachineProbe::Ready(Box::new(prober)));
        }
        let MachineProbe::Ready(prober) = self else { return BTreeMap::new() };
        prober.probe(cpus, TRIAL, stop).unwrap_or_else(|_| {
            *self = MachineProbe::Gone;
            BTreeMap::new()
        })
    }
}

fn started() -> Result<Prober, ProbeError> {
    Prober::start(&std::env::current_exe()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_probe_gives_no_figure_and_is_not_asked_again() {
        // The program of these tests does not know the argument.
        let (mut probe, stop) = (MachineProbe::default(), AtomicBool::new(false));
        for _ in 0..2 {
            assert_eq!(probe.figures(&[0], &stop), BTreeMap::new());
            assert!(matches!(probe, MachineProbe::Gone));
        }
    }
}
