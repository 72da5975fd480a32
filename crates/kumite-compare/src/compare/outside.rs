//! Noise from outside during a comparison, measured over stretches of whole blocks.

use std::time::Duration;

use kumite_host::{Ours, Watch};
use kumite_record::ComparedNoise;

/// The least length of a stretch. A look costs about 0.1 ms, and its CPU times are exact to 10 ms.
const STRETCH: Duration = Duration::from_secs(1);

/// A watch over the machine's noise that looks about once a second, between blocks.
pub(crate) struct Outside {
    cpus: Vec<usize>,
    watch: Option<(Watch, Duration)>,
    ours: Duration,
    found: ComparedNoise,
}

impl Outside {
    /// A watch over these CPUs.
    pub(crate) fn new(cpus: &[usize]) -> Outside {
        let found = ComparedNoise {
            stretches: 0,
            seconds: 0.0,
            marked: Default::default(),
            worst: Default::default(),
        };
        Outside { cpus: cpus.to_vec(), watch: None, ours: Duration::ZERO, found }
    }

    /// Notes the end of one or several blocks at `now`. `ours` is our CPU time since the last call. If the stretch is
    /// long enough, its noise is recorded and a new one begins.
    pub(crate) fn block(&mut self, ours: Duration, now: Duration) {
        self.ours += ours;
        let Some((watch, since)) = &self.watch else { return };
        let seconds = now.saturating_sub(*since);
        if seconds < STRETCH {
            return;
        }
        let noise = watch.end(&Ours { cpu: Some(self.ours), waited: None });
        self.found.stretches += 1;
        self.found.seconds += seconds.as_secs_f64();
        for mark in noise.marks {
            *self.found.marked.entry(mark.as_str().to_owned()).or_default() += 1;
        }
        for (name, value) in noise.figures {
            let worst = self.found.worst.entry(name).or_insert(value);
            if value.abs() > worst.abs() {
                *worst = value;
            }
        }
        self.begin(now);
    }

    /// Begins a stretch at `now`. To be called once before the first block.
    pub(crate) fn begin(&mut self, now: Duration) {
        self.ours = Duration::ZERO;
        self.watch = Some((Watch::begin(&self.cpus), now));
    }

    /// The noise of all stretches; `None` if none was long enough.
    pub(crate) fn found(&self) -> Option<ComparedNoise> {
        (self.found.stretches > 0).then(|| self.found.clone())
    }
}
