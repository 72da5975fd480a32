//! The figures of a worker, from its jobs.

use std::collections::BTreeSet;
use std::time::Duration;

use kumite_record::{Job, JobEvent, Mark, Metric, Sample, Steadiness};
use kumite_stats::{Better, median, steady};

use crate::driver::steady_class::steady_class;
use crate::driver::watch::Usage;
use crate::metrics::Metrics;

/// The share by which a worker's times may be less than those of kumite's clock, beyond the cost of the pipe.
const TOLERANCE: f64 = 0.05;
/// The share of the jobs' time that kumite and the services may use on a CPU of the worker's. If they used more, they
/// were in its way.
const ENGINE_SHARE: f64 = 0.01;
/// The kind of event that tells which threads did the work.
const NEXT: &str = "next";

/// The jobs of a worker, with everything that was seen of them.
pub(crate) struct Work {
    /// The jobs in the order in which they were given.
    pub jobs: Vec<Job>,
    /// The events of the last job that had any.
    pub events: Vec<JobEvent>,
    /// The times of exchanges without a job, in µs.
    pub round_trips_us: Vec<f64>,
    /// The time from the first measured job's request to the last one's answer.
    pub window: Duration,
    /// The CPU time that kumite used from the first measured job's request to the last one's answer.
    pub engine_cpu: Duration,
    /// The largest number of jobs in flight at a time.
    pub concurrency: usize,
    /// True if the warm-up was to end in a steady state, and did not.
    pub unsettled: bool,
    /// True if the worker and the engine have a CPU in common.
    pub shared: bool,
    pub seen: Usage,
}

pub(crate) fn metrics() -> Metrics {
    let results = vec![
        Metric::new("elapsed_ms", "Time of a job on kumite's clock, from the writing of the request to the worker's *done*; the median of the measured jobs, or of those in the steady part.").role("elapsed"),
        Metric::count("jobs_given", "All jobs that the worker was given, those of its warm-up included.").detail(),
        Metric::new("jobs_per_s", "Measured jobs, divided by the time from the first request to the last answer.").detail(),
        Metric::new("first_elapsed_ms", "Time of the process's first job, on kumite's clock.").detail(),
        Metric::new("worker_elapsed_ms", "The same as `elapsed_ms`, on the worker's clock.").detail(),
    ];
    let costs = vec![
        Metric::new("cpu_s", "CPU time of all processes of the worker, for each job."),
        Metric::new("cpu_cores", "CPU time of all processes of the worker, divided by the time of the jobs.")
            .role("cpu"),
        Metric::count("threads_used", "Distinct threads of `next` events in the last job.").role("threads"),
        Metric::count("peak_threads", "The most threads that the worker had, as seen 20 times a second."),
        Metric::count(
            "context_switches",
            "Context switches of threads that were there at the end, for each job.",
        )
        .detail(),
        Metric::new(
            "round_trip_p50_us",
            "Median time of an exchange without a job: what the pipe costs, subtracted nowhere.",
        )
        .detail()
        .role("round-trip"),
        Metric::new("peak_rss_bytes", "Highest memory of the worker's process tree."),
    ];
    Metrics { results, costs }
}

pub(crate) fn sample(work: Work) -> (Sample, Vec<Mark>) {
    let mut sample = Sample::default();
    let mut marks = work.seen.noise.marks.clone();
    let measured = || work.jobs.iter().filter(|job| !job.warm_up);
    let jobs = measured().count() as f64;
    sample.steadiness = steadiness(&work.jobs);
    let unused = match &sample.steadiness {
        Some(Steadiness { used_from_ms, .. }) => used_from(&work.jobs, *used_from_ms as f64),
        None => 0,
    };
    let used: Vec<&Job> = work.jobs.iter().skip(unused).filter(|job| !job.warm_up).collect();
    let of = |value: fn(&Job) -> f64| median(&used.iter().map(|job| value(job)).collect::<Vec<_>>());
    let seconds = work.window.as_secs_f64();
    let round_trip_us = median(&work.round_trips_us);
    let figures = [
        ("elapsed_ms", of(|job| job.elapsed_ms)),
        ("worker_elapsed_ms", of(|job| job.worker_elapsed_ms)),
        ("first_elapsed_ms", work.jobs.first().map(|job| job.elapsed_ms)),
        ("jobs_given", Some(work.jobs.len() as f64)),
        ("jobs_per_s", Some(jobs / seconds)),
        ("cpu_s", Some(work.seen.cpu.as_secs_f64() / jobs)),
        ("cpu_cores", Some(work.seen.cpu.as_secs_f64() / seconds)),
        ("peak_rss_bytes", Some(work.seen.peak_rss_bytes as f64)),
        ("peak_threads", Some(work.seen.peak_threads as f64)),
        ("context_switches", Some(work.seen.switches as f64 / jobs)),
        ("round_trip_p50_us", round_trip_us),
        ("threads_used", threads_used(&work.events)),
    ];
    let figures = figures.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    sample.metrics.extend(figures.filter(|(_, value)| value.is_finite()));
    let names: BTreeSet<&String> = used.iter().flat_map(|job| job.metrics.keys()).collect();
    for name in names {
        let values: Vec<f64> = used.iter().filter_map(|job| job.metrics.get(name).copied()).collect();
        if let Some(median) = median(&values) {
            sample.metrics.insert(name.clone(), median);
        }
    }
    let is_steady = sample.steadiness.as_ref().map(|steadiness| steadiness.since_ms.is_some());
    if !is_steady.unwrap_or(!work.unsettled) {
        marks.push(Mark::Unsteady);
    }
    let beside = work.engine_cpu + work.seen.services_cpu;
    if work.shared && beside.as_secs_f64() > ENGINE_SHARE * seconds {
        marks.push(Mark::SharedCores);
    }
    // Jobs that are given together wait for each other, which no worker counts.
    if work.concurrency == 1 {
        let sum = |value: fn(&Job) -> f64| measured().map(value).sum::<f64>();
        let (ours, theirs) = (sum(|job| job.elapsed_ms), sum(|job| job.worker_elapsed_ms));
        let pipe = jobs * round_trip_us.unwrap_or(0.0) / 1e3;
        if ours - theirs > TOLERANCE * ours + pipe {
            marks.push(Mark::TimesDisagree);
        }
    }
    sample.noise.clone_from(&work.seen.noise.figures);
    sample.events = work.events;
    sample.events.sort_by_key(|JobEvent(t_ns, ..)| *t_ns);
    sample.jobs = work.jobs;
    (sample, marks)
}

/// The number of threads with an event of kind `next`. None if there is no such event.
fn threads_used(events: &[JobEvent]) -> Option<f64> {
    let threads: BTreeSet<&String> = events
        .iter()
        .filter(|JobEvent(_, _, kind, _)| kind == NEXT)
        .map(|JobEvent(_, thread, ..)| thread)
        .collect();
    (!threads.is_empty()).then_some(threads.len() as f64)
}

/// The steadiness of the series of jobs' times in one process, from its first job. None if there are too few jobs.
fn steadiness(jobs: &[Job]) -> Option<Steadiness> {
    let times: Vec<f64> = jobs.iter().map(|job| job.elapsed_ms).collect();
    let found = steady(&times, Better::Smaller)?;
    let at = |position: usize| times[..position].iter().sum::<f64>().floor() as i64;
    let warm_up = jobs.iter().take_while(|job| job.warm_up).count();
    let since_ms = found.since.map(at);
    Some(Steadiness {
        class: steady_class(found.class),
        since_ms,
        changes_ms: found.changes.into_iter().map(at).collect(),
        used_from_ms: since_ms.unwrap_or(0).max(at(warm_up)).unsigned_abs(),
    })
}

/// The position of the first job that began at `from_ms` or later, counted from the first job. 0 if none did.
fn used_from(jobs: &[Job], from_ms: f64) -> usize {
    let mut began = 0.0f64;
    let later = |job: &Job| {
        let begins = began;
        began += job.elapsed_ms;
        begins.floor() >= from_ms
    };
    jobs.iter().position(later).unwrap_or(0)
}
