//! Finds before a run that its window is too short for the percentiles that claims want.

use std::net::SocketAddrV4;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_load::{Limit, Load, PERCENTILES, requests_for};

use super::percentile::long_enough;
use super::server::Server;
use super::workload::HttpWorkload;
use crate::driver::Short;
use crate::halt::Halt;

/// The longest time of a look at a server's rate. A warm-up of at most that time comes before it.
const LOOK: Duration = Duration::from_secs(1);
/// The most looks. A server that was just started may soon be quicker.
const LOOKS: usize = 2;

/// The window of a trial, with the percentiles that are wanted.
pub(super) struct Window<'a> {
    workload: &'a HttpWorkload,
    wanted: Vec<(&'a str, u64)>,
}

impl<'a> Window<'a> {
    /// Makes the window for those of these metrics that are percentiles. For a load in steps there are none, since
    /// its steps are windows of their own.
    pub fn new(workload: &'a HttpWorkload, metrics: &[&'a str]) -> Window<'a> {
        let wanted = metrics.iter().filter_map(|name| Some((*name, answers_for(name)?)));
        let wanted = if workload.steps.is_none() { wanted.collect() } else { Vec::new() };
        Window { workload, wanted }
    }

    /// The largest number of answers that any of the wanted percentiles needs. `None` if no percentile is wanted.
    pub fn most(&self) -> Option<u64> {
        self.wanted.iter().map(|(_, needs)| *needs).max()
    }

    /// The mean number of requests that are due a second, which bounds the rate of answers. None for a closed loop.
    pub fn offered(&self) -> Option<f64> {
        let Load { arrivals, warm_up, .. } = self.workload.load(SocketAddrV4::new([127, 0, 0, 1].into(), 1));
        arrivals.map(|arrivals| arrivals.mean_rate(warm_up + self.workload.duration))
    }

    /// The rate of right answers, in answers a second, in the best of up to [`LOOKS`] short loads; 0 if no right answer
    /// came. A load ends early once `enough` requests are finished. An error if the engine fails or `stop` is set.
    pub fn look(
        &self,
        server: &Server,
        enough: u64,
        cores: &[usize],
        stop: &AtomicBool,
    ) -> Result<f64, Halt> {
        let duration = self.workload.duration;
        let load = Load {
            cores: cores.to_vec(),
            warm_up: self.workload.warm_up.least.min(LOOK),
            limit: Limit { requests: Some(enough), duration: Some(duration.min(LOOK)) },
            disturbance: None,
            ..server.load(self.workload)
        };
        let mut best = 0.0_f64;
        for _ in 0..LOOKS {
            let outcome = load.run(stop, &mut |_| ())?;
            Halt::if_set(stop)?;
            let seconds = outcome.elapsed.as_secs_f64();
            best = best.max(if seconds > 0.0 { outcome.ok as f64 / seconds } else { 0.0 });
            if best * duration.as_secs_f64() >= enough as f64 {
                break;
            }
        }
        Ok(best)
    }

    /// The wanted percentiles for which the window is too short, if this many right answers come a second.
    pub fn short(&self, per_s: f64) -> Vec<Short> {
        let window_s = self.workload.duration.as_secs_f64();
        // A rate times a time may be a little less than the number that comes.
        let have = (per_s * window_s + 1e-6) as u64;
        let lacking = self.wanted.iter().filter(|(_, needs)| have < *needs);
        let short = |&(metric, needs): &(&str, u64)| {
            let enough = long_enough(have, needs - have, window_s);
            Short { metric: metric.to_owned(), needs, per_s, window_s, enough }
        };
        lacking.map(short).collect()
    }
}

/// True if the metric is a percentile of a server, which takes a number of answers.
pub fn is_percentile(metric: &str) -> bool {
    answers_for(metric).is_some()
}

/// The number of answers that a metric takes. None if it is no percentile.
fn answers_for(metric: &str) -> Option<u64> {
    let of = metric.strip_prefix("response_").or_else(|| metric.strip_prefix("service_"))?;
    let name = of.strip_suffix("_us")?;
    PERCENTILES.iter().find(|(known, _)| *known == name).map(|(_, one_in)| requests_for(*one_in))
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Enough};

    use super::*;
    use crate::driver::Answer;

    fn workload(given: &[(&str, f64)]) -> HttpWorkload {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), AxisValue::Float(*value)));
        HttpWorkload::new(&given.collect(), &Answer::default()).unwrap()
    }

    #[test]
    fn a_window_lacks_what_its_rate_does_not_bring() {
        let workload = workload(&[("duration_s", 1.0)]);
        let metrics = ["throughput_rps", "response_p50_us", "response_p99_us", "response_mean_us"];
        let window = Window::new(&workload, &metrics);
        assert_eq!((window.most(), window.offered()), (Some(1000), None));
        assert_eq!((window.short(1000.0), window.short(20_000.0)), (Vec::new(), Vec::new()));
        let enough = Some(Enough { have: 488, parameter: "duration_s".to_owned(), value: 2.5 });
        let metric = "response_p99_us".to_owned();
        assert_eq!(window.short(488.2), [Short { metric, needs: 1000, per_s: 488.2, window_s: 1.0, enough }]);
        assert!(window.short(0.0).iter().all(|short| short.enough.is_none()));
        assert_eq!(window.short(0.0).len(), 2);
    }

    #[test]
    fn an_open_loop_says_beforehand_how_many_come() {
        let workload = workload(&[("rate_rps", 200.0), ("duration_s", 5.0)]);
        let window = Window::new(&workload, &["service_p99_us", "service_p99_9_us"]);
        assert_eq!(window.offered(), Some(200.0));
        let short = window.short(200.0);
        assert_eq!(
            short.iter().map(|it| (&*it.metric, it.needs)).collect::<Vec<_>>(),
            [("service_p99_9_us", 10_000)]
        );
    }
}
