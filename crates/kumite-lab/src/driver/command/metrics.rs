//! The figures of a command, from its runs.

use std::collections::BTreeSet;
use std::time::Duration;

use kumite_host::Noise;
use kumite_process::{TimedRun, total};
use kumite_record::{Job, Mark, Metric, Sample};
use kumite_stats::median;

use super::outputs::Output;
use crate::metrics::Metrics;

/// The share of the runs' time that kumite and the services may use on a CPU of the command's. If they used more,
/// they were in its way.
const BESIDE_SHARE: f64 = 0.01;

pub(super) fn metrics() -> Metrics {
    let results = vec![
        Metric::new(
            "wall_ms",
            "Time of a run, from just before it is started until it has ended; the median of the measured runs.",
        ),
        Metric::new("output_bytes", "Size of what a run writes to standard output; likewise.")
            .better(None)
            .detail(),
    ];
    let costs = vec![
        Metric::new(
            "cpu_ms",
            "CPU time of a run, with that of the descendants it waited for; the median of the measured runs.",
        ),
        Metric::new("user_ms", "The part of it that was spent outside of the kernel; likewise.").detail(),
        Metric::new("system_ms", "The part of it that was spent in the kernel; likewise.").detail(),
        Metric::new("cpu_cores", "CPU time of the measured runs, divided by their wall time.").role("cpu"),
        Metric::new(
            "peak_rss_bytes",
            "Highest memory of any one process of a measured run that was waited for.",
        ),
        Metric::count(
            "involuntary_switches",
            "How often a run had to give way to another process; the median of the measured runs.",
        )
        .detail(),
    ];
    Metrics { results, costs }
}

/// One run, with its output.
pub(super) struct Run {
    pub timed: TimedRun,
    pub output: Output,
    /// The CPU time that kumite itself used during the run.
    pub ours: Duration,
}

/// The runs of a trial, with everything that was seen of them.
pub(super) struct Work {
    pub warm_up: Vec<Run>,
    pub measured: Vec<Run>,
    /// The peak memory of one more run, in bytes, if all measured runs had less memory than can be seen. None if a
    /// measured run had more, if the further run failed, or if the experiment has services.
    pub peak_rss_bytes: Option<u64>,
    /// The CPU time of kumite and of services during the measured runs.
    pub beside: Duration,
    /// True if the command and kumite have a CPU in common.
    pub shared: bool,
    pub noise: Noise,
}

/// The sample and the marks of a trial. At least one run must have been measured.
pub(super) fn sample(work: Work) -> (Sample, Vec<Mark>) {
    let runs = || work.measured.iter().map(|run| &run.timed);
    let of = |value: fn(&TimedRun) -> f64| median(&runs().map(value).collect::<Vec<_>>());
    let bytes: Vec<f64> = work.measured.iter().map(|run| run.output.bytes as f64).collect();
    let wall = total(runs().map(|run| run.wall));
    let cpu = total(runs().flat_map(|run| [run.user, run.system]));
    let shown = runs().filter(|run| !run.peak_rss_is_floor).map(|run| run.peak_rss_bytes);
    let peak = shown.chain(work.peak_rss_bytes).max();
    let figures = [
        ("wall_ms", of(|run| ms(run.wall))),
        ("output_bytes", median(&bytes)),
        ("cpu_ms", of(|run| ms(run.user + run.system))),
        ("user_ms", of(|run| ms(run.user))),
        ("system_ms", of(|run| ms(run.system))),
        ("cpu_cores", Some(cpu.as_secs_f64() / wall.as_secs_f64())),
        ("peak_rss_bytes", peak.map(|bytes| bytes as f64)),
        ("involuntary_switches", of(|run| run.involuntary_switches as f64)),
    ];
    let mut sample = Sample::default();
    let figures = figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    sample.metrics.extend(figures.filter(|(_, value)| value.is_finite()));
    let names: BTreeSet<&String> = work.measured.iter().flat_map(|run| run.output.metrics.keys()).collect();
    for name in names {
        let values: Vec<f64> =
            work.measured.iter().filter_map(|run| run.output.metrics.get(name).copied()).collect();
        sample.metrics.extend(median(&values).map(|median| (name.clone(), median)));
    }
    let mut marks = work.noise.marks;
    if work.shared && work.beside > wall.mul_f64(BESIDE_SHARE) {
        marks.push(Mark::SharedCores);
    }
    sample.noise = work.noise.figures;
    let warm_up = work.warm_up.into_iter().map(|run| job(run, true));
    sample.jobs = warm_up.chain(work.measured.into_iter().map(|run| job(run, false))).collect();
    (sample, marks)
}

/// A run in the form that the record has for jobs. Both of its times are by kumite's clock.
fn job(Run { timed, output, .. }: Run, warm_up: bool) -> Job {
    let elapsed_ms = ms(timed.wall);
    Job { elapsed_ms, worker_elapsed_ms: elapsed_ms, warm_up, metrics: output.metrics }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    fn run(wall: u64, user: u64, system: u64, own: f64) -> Run {
        let timed = TimedRun {
            wall: Duration::from_millis(wall),
            user: Duration::from_millis(user),
            system: Duration::from_millis(system),
            peak_rss_bytes: wall * 1000,
            peak_rss_is_floor: false,
            status: ExitStatus::default(),
            involuntary_switches: wall / 10,
            left_behind: 0,
            interrupted: false,
            overhead: Duration::ZERO,
            counts: Default::default(),
        };
        let output = Output { bytes: wall * 2, metrics: [("own".to_owned(), own)].into() };
        Run { timed, output, ours: Duration::ZERO }
    }

    fn work() -> Work {
        Work {
            warm_up: vec![run(1000, 900, 100, 9.0)],
            measured: vec![run(10, 4, 1, 1.0), run(30, 14, 1, 5.0), run(20, 9, 1, 3.0)],
            peak_rss_bytes: None,
            beside: Duration::from_millis(1),
            shared: false,
            noise: Noise::default(),
        }
    }

    #[test]
    fn figures_are_of_the_measured_runs_and_every_declared_metric_is_given() {
        let (sample, marks) = sample(work());
        for (name, expected) in [
            ("wall_ms", 20.0),
            ("output_bytes", 40.0),
            ("cpu_ms", 10.0),
            ("user_ms", 9.0),
            ("system_ms", 1.0),
            ("cpu_cores", 0.5),
            ("peak_rss_bytes", 30_000.0),
            ("involuntary_switches", 2.0),
            ("own", 3.0),
        ] {
            assert!((sample.metrics[name] - expected).abs() < 1e-9, "{name}: {:?}", sample.metrics);
        }
        let declared = metrics().around([Metric::named("own")]);
        let mut declared: Vec<&str> = declared.iter().map(|metric| metric.name.as_str()).collect();
        declared.sort_unstable();
        assert_eq!(sample.metrics.keys().map(String::as_str).collect::<Vec<_>>(), declared);
        let jobs: Vec<(f64, bool)> = sample.jobs.iter().map(|job| (job.elapsed_ms, job.warm_up)).collect();
        assert_eq!(jobs, [(1000.0, true), (10.0, false), (30.0, false), (20.0, false)]);
        assert_eq!(marks, []);
    }

    #[test]
    fn memory_of_a_run_of_its_own_counts_and_that_of_who_starts_runs_does_not() {
        let peak = |is_floor| {
            let mut work = Work { peak_rss_bytes: Some(7), ..work() };
            work.measured.iter_mut().for_each(|run| run.timed.peak_rss_is_floor = is_floor);
            sample(work).0.metrics["peak_rss_bytes"]
        };
        assert_eq!((peak(false), peak(true)), (30_000.0, 7.0));
    }

    #[test]
    fn kumite_on_a_command_s_cpus_is_a_doubt_only_if_it_used_much_of_them() {
        let marks =
            |shared, beside| sample(Work { shared, beside: Duration::from_micros(beside), ..work() }).1;
        assert_eq!(marks(true, 700), [Mark::SharedCores]);
        assert_eq!((marks(true, 500), marks(false, 700)), (vec![], vec![]));
    }
}
