//! The self-check of probes: the figures of this machine while it is calm, by the probes that are made before a
//! trial.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_probe::{Prober, TRIAL};
use kumite_record::{CalmProbe, Cores, Probe};
use kumite_stats::median;

use super::Check;
use crate::compare::CompareError;

/// The number of times that each probe is made. A limit is made from the highest figure.
const PROBES: u64 = 40;
/// The time that a round of probes takes at most, with its pauses.
const EACH: Duration = Duration::from_millis(150);

impl Check<'_> {
    /// Makes all probes on the CPUs of contenders and engine. The result is empty if that would take longer than
    /// `time`, or if a probe fails.
    pub(super) fn probes(
        &mut self,
        time: Duration,
        cores: &Cores,
    ) -> Result<BTreeMap<Probe, CalmProbe>, CompareError> {
        let mut found = BTreeMap::new();
        let Some(mut prober) = (EACH * PROBES as u32 <= time).then(|| Prober::start(&self.asked.helper.0))
        else {
            return Ok(found);
        };
        let mut figures: BTreeMap<Probe, Vec<f64>> = BTreeMap::new();
        let mut cpus = [&cores.contender[..], &cores.engine[..]].concat();
        cpus.sort_unstable();
        for nth in 0..PROBES {
            self.go_on()?;
            (self.watch)(&format!("what the machine charges: {} of {PROBES}", nth + 1));
            let probed = prober.as_mut().ok().and_then(|of| of.probe(&cpus, TRIAL, self.stop).ok());
            let Some(probed) = probed else { return Ok(found) };
            for probe in Probe::ALL {
                figures.entry(probe).or_default().extend(probe.of(&probed));
            }
        }
        for (probe, figures) in figures {
            let most = figures.iter().copied().fold(0.0, f64::max);
            found.extend(
                median(&figures).map(|median| (probe, CalmProbe { median, most, probes: figures.len() })),
            );
        }
        Ok(found)
    }
}
