//! A load whose rate changes in steps and then may drop: its parameters and its figures.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_load::{Arrivals, Failure, Finished, Histogram, LOG_LIMIT, Outcome, Piece};
use kumite_record::{AxisValue, Better, Metric, Needs, Sample, TrialPart, Within};

use super::INTERVAL_MS;
use super::outcome_class::{OutcomeClass, OutcomeCounts, within};
use super::overload_recovery::{STEADY, overload_recovery};
use super::params::MAX_RATE;
use super::percentile::percentiles;
use crate::metrics::{Metrics, distribution};
use crate::parameter::Params;
use crate::unfit::Unfit;

/// The most different answers with another status that are told apart. The rest are counted as "other".
const KINDS: usize = 16;
const OTHER: &str = "other";

pub(crate) fn metrics() -> Vec<Metric> {
    let mut metrics = vec![
        Metric::new("goodput_best_rps", "The most goodput of any step."),
        Metric::count(
            "answered",
            "Requests with a right answer within their time-out, from the first step to the end of watching.",
        ),
        Metric::count("refusals", "Requests with a whole answer of another status, in that time."),
        Metric::count("timeouts", "Requests without an answer within their time-out, in that time."),
        Metric::count("lost", "Requests that failed in another way, in that time."),
    ];
    metrics.extend(of_refusals());
    metrics
}

/// The metrics of each step. They are about the requests that were due in the step, however late they were answered.
pub(crate) fn part_metrics() -> Metrics {
    let rate = |name, about| Metric::new(name, about);
    let mut results = vec![
        rate("goodput_rps", "Right answers within `good_ms` of when they were due, a second.")
            .role("goodput"),
        rate("answered_rps", "Right answers a second, late ones included."),
        rate("refusals_per_s", "Whole answers of another status within the time-out, a second.").better(None),
        rate("timeouts_per_s", "Requests without a whole answer within the time-out, a second.").better(None),
        rate("lost_per_s", "All other failures a second, `unsent` included.").better(None),
    ];
    let responses = distribution("response", "response time");
    results.extend(responses.into_iter().filter(|metric| {
        ["response_mean_us", "response_p50_us", "response_p99_us"].contains(&metric.name.as_str())
    }));
    results.extend(of_refusals());
    Metrics { results, costs: Vec::new() }
}

fn of_refusals() -> [Metric; 3] {
    [
        Metric::new(
            "quick_refusal_share",
            "Answers with another status within `quick_ms` of when they were due, of all of them.",
        )
        .better(Better::Higher),
        Metric::new("refusal_p50_us", "Median time to an answer with another status."),
        Metric::new("refusal_p99_us", "99th percentile of the time to an answer with another status."),
    ]
}

/// The steps of a load.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    steps: Vec<Step>,
    /// The time within which a right answer is good.
    good: Duration,
    /// The time within which a right answer is one of normal times.
    normal: Duration,
    /// The time within which a refusal is quick.
    quick: Duration,
    /// The rate after the last step, in requests a second. None if the load ends with that step.
    pub drop_to: Option<f64>,
}

#[derive(Clone, Debug)]
struct Step {
    rate: f64,
    lasts: Duration,
}

impl Steps {
    /// Reads the steps of a load. `None` if `rate_rps` is no text; the parameters of steps are then ignored. An error
    /// if the steps cannot be read, are too short or too long, have too many requests, or come with parameters that do
    /// not go with steps.
    pub fn read(take: &Params) -> Result<Option<Steps>, Unfit> {
        let (good, normal, quick) = (take.time("good_ms")?, take.time("normal_ms")?, take.time("quick_ms")?);
        let drop_to = take.number("drop_to_rps")?;
        let watch = take.time("watch_s")?;
        let Some(AxisValue::Text(text)) = take.given.get("rate_rps") else { return Ok(None) };
        let steps = steps(text)?;
        for given in ["duration_s", "warm_up_s", "warm_up_limit_s"] {
            if take.given.contains_key(given) {
                return Err(Unfit::new(format!(
                    "a load in steps is as long as they are, and its first step is its warm-up: leave out {given}"
                )));
            }
        }
        let drop_to = (drop_to > 0.0).then_some(drop_to);
        if let Some(rate) = drop_to {
            if rate < 1.0 {
                return Err(Unfit::new(format!(
                    "drop_to_rps is at least 1, not {rate}: its answers tell of the recovery"
                )));
            }
            if watch < STEADY {
                return Err(Unfit::new(format!(
                    "watch_s is too short: a server is back to normal when all is answered so for {} s",
                    STEADY.as_secs()
                )));
            }
        }
        if take.word("disturbance")? != 0 {
            // Nothing is due after the last step that could tell of a recovery.
            return Err(Unfit::new(
                "a load in steps has no disturbance; what may follow its last step is drop_to_rps",
            ));
        }
        let dropped = drop_to.map_or(0.0, |rate| rate * watch.as_secs_f64());
        let requests = steps.iter().map(|step| step.rate * step.lasts.as_secs_f64()).sum::<f64>() + dropped;
        if requests > LOG_LIMIT as f64 {
            return Err(Unfit::new(format!(
                "the steps have {requests:.0} requests: {LOG_LIMIT} are the most"
            )));
        }
        Ok(Some(Steps { steps, good, normal, quick, drop_to }))
    }

    /// The axis of the steps: their rates.
    pub fn within(&self) -> Within {
        Within { axis: "rate_rps".to_owned(), values: self.steps.iter().map(|step| at(step.rate)).collect() }
    }

    /// The length of all steps together.
    pub fn length(&self) -> Duration {
        self.steps.iter().map(|step| step.lasts).sum()
    }

    /// The rates of the load, one after the other. The last one is the rate after the drop, if there is a drop.
    pub fn pieces(&self) -> Vec<Piece> {
        let steps = self.steps.iter().map(|step| (step.rate, Some(step.lasts)));
        let all = steps.chain(self.drop_to.map(|rate| (rate, None)));
        all.map(|(rate, lasts)| Piece { from: rate, to: rate, lasts }).collect()
    }

    /// Replaces the engine's own recovery by the recovery from the end of the last step, where the rate drops.
    /// Nothing is done if the load ends with that step, or was ended before it.
    pub fn recover(&self, outcome: &mut Outcome) {
        let Some(disturbed) = &mut outcome.disturbed else { return };
        let ns = |time: Duration| time.as_nanos() as u64;
        let dropped = ns(disturbed.began);
        let after = &outcome.log[outcome.log.partition_point(|request| request.due < dropped)..];
        let is_normal = |request: &Finished| request.failure.is_none() && within(request, self.normal);
        let normal = after.iter().map(|request| (request.due, is_normal(request)));
        disturbed.recovery = overload_recovery(normal, dropped, ns(disturbed.until));
        (disturbed.ended, disturbed.since) = (disturbed.began, disturbed.began);
        let right = outcome.log.iter().filter(|request| request.failure.is_none());
        let first_right = right.map(|request| request.finished).filter(|at| *at >= dropped).min();
        disturbed.first_right = first_right.map(|at| Duration::from_nanos(at - dropped));
    }

    /// Adds the figures that come from the log of requests to the sample, and removes the figures that mean nothing for
    /// several rates together.
    pub fn tell(&self, outcome: &Outcome, sample: &mut Sample) {
        let of_one_rate = |name: &str| {
            name.starts_with("response_")
                || name.starts_with("service_")
                || name == "throughput_rps"
                || name == "first_second_rps"
        };
        sample.metrics.retain(|name, _| !of_one_rate(name));
        sample.needs.retain(|name, _| !of_one_rate(name));
        sample.enough.retain(|name, _| !of_one_rate(name));
        sample.parts = self.parts(&outcome.log, outcome.elapsed);
        let best = sample.parts.iter().map(|part| part.metrics["goodput_rps"]).fold(0.0, f64::max);
        let counts = OutcomeCounts::new(&outcome.log, self.good);
        for (name, value) in [
            ("goodput_best_rps", best),
            ("answered", counts.answered() as f64),
            ("refusals", counts.refused as f64),
            ("timeouts", counts.timed_out as f64),
            ("lost", counts.lost as f64),
        ] {
            sample.metrics.insert(name.to_owned(), value);
        }
        self.refusals(&outcome.log, &mut sample.metrics, &mut sample.needs);
        sample.answers = answers(&outcome.log);
        sample.series.columns.extend(self.by_due(&outcome.log, outcome.intervals.len()));
    }

    /// The figures of each step that was over at `by`, which counts from the window's opening.
    fn parts(&self, log: &[Finished], by: Duration) -> Vec<TrialPart> {
        let mut ends = Duration::ZERO;
        let part = |step: &Step| {
            let begins = ends;
            ends += step.lasts;
            let before =
                |instant: Duration| log.partition_point(|it| u128::from(it.due) < instant.as_nanos());
            (ends <= by).then(|| self.part(step, &log[before(begins)..before(ends)]))
        };
        self.steps.iter().map_while(part).collect()
    }

    fn part(&self, step: &Step, log: &[Finished]) -> TrialPart {
        let counts = OutcomeCounts::new(log, self.good);
        let (mut metrics, mut needs) = (BTreeMap::new(), Needs::new());
        for (name, count) in [
            ("goodput_rps", counts.good),
            ("answered_rps", counts.answered()),
            ("refusals_per_s", counts.refused),
            ("timeouts_per_s", counts.timed_out),
            ("lost_per_s", counts.lost),
        ] {
            metrics.insert(name.to_owned(), count as f64 / step.lasts.as_secs_f64());
        }
        let right = times(log, None);
        if !right.is_empty() {
            metrics.insert("response_mean_us".to_owned(), right.mean() / 1e3);
        }
        percentiles("response", &right, &MIDDLE_AND_TAIL, &mut metrics, &mut needs);
        self.refusals(log, &mut metrics, &mut needs);
        TrialPart { at: at(step.rate), metrics, needs }
    }

    /// Adds the times of answers with another status, and the share of them that were quick; if there are too few,
    /// the number that is missing.
    fn refusals(&self, log: &[Finished], metrics: &mut BTreeMap<String, f64>, needs: &mut Needs) {
        let refused = log.iter().filter(|request| request.failure == Some(Failure::Status));
        let quick: Vec<bool> = refused.map(|request| within(request, self.quick)).collect();
        let name = "quick_refusal_share".to_owned();
        match ENOUGH_REFUSALS.checked_sub(quick.len()) {
            None | Some(0) => {
                let quick_ones = quick.iter().filter(|is_quick| **is_quick).count();
                metrics.insert(name, quick_ones as f64 / quick.len() as f64);
            }
            Some(missing) => {
                needs.insert(name, missing as u64);
            }
        }
        percentiles("refusal", &times(log, Some(Failure::Status)), &MIDDLE_AND_TAIL, metrics, needs);
    }

    /// The columns of the series by when requests were due: for each interval the number of requests in each class,
    /// and the mean time of right answers.
    fn by_due(&self, log: &[Finished], intervals: usize) -> BTreeMap<String, Vec<Option<f64>>> {
        let mut counts = vec![OutcomeCounts::default(); intervals];
        let mut response_ns = vec![0.0; intervals];
        for request in log {
            let nth = (request.due / (INTERVAL_MS * 1_000_000)) as usize;
            let Some(of) = counts.get_mut(nth) else { continue };
            of.add(OutcomeClass::new(request, self.good));
            if request.failure.is_none() {
                response_ns[nth] += request.finished.saturating_sub(request.due) as f64;
            }
        }
        let column =
            |count: fn(&OutcomeCounts) -> u64| counts.iter().map(|of| Some(count(of) as f64)).collect();
        let mean =
            |(of, ns): (&OutcomeCounts, &f64)| (of.answered() > 0).then(|| ns / of.answered() as f64 / 1e3);
        let columns: [(&str, Vec<Option<f64>>); 6] = [
            ("due_good", column(|of| of.good)),
            ("due_late", column(|of| of.late)),
            ("due_refusals", column(|of| of.refused)),
            ("due_timeouts", column(|of| of.timed_out)),
            ("due_lost", column(|of| of.lost)),
            ("due_response_mean_us", counts.iter().zip(&response_ns).map(mean).collect()),
        ];
        columns.map(|(name, values)| (name.to_owned(), values)).into()
    }
}

/// The number of refusals from which on a share of them is given. One more or less is then a twentieth.
const ENOUGH_REFUSALS: usize = 20;

/// The percentiles of a step, each with the number of requests of which one lies beyond it.
const MIDDLE_AND_TAIL: [(&str, u64); 2] = [("p50", 2), ("p99", 100)];

/// The times of the requests that ended like this, from when they were due, in ns. `None` means right answers.
fn times(log: &[Finished], failure: Option<Failure>) -> Histogram<u64> {
    let mut times = Histogram::new(3).expect("3 is a precision that hdrhistogram has");
    for request in log.iter().filter(|request| request.failure == failure) {
        let took = request.finished.saturating_sub(request.due);
        times.record(took).expect("a histogram that grows takes any value");
    }
    times
}

/// The texts of answers with another status, with their counts: the most frequent by themselves, the others together.
fn answers(log: &[Finished]) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for said in log.iter().filter_map(|request| request.wrong_status.as_deref()) {
        let words = format!("{} {}", said.status, said.text.trim());
        *counts.entry(words.trim_end().to_owned()).or_default() += 1;
    }
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let rest: u64 = counts.iter().skip(KINDS).map(|(_, count)| count).sum();
    counts.truncate(KINDS);
    counts.extend((rest > 0).then(|| (OTHER.to_owned(), rest)));
    counts.into_iter().collect()
}

fn steps(text: &str) -> Result<Vec<Step>, Unfit> {
    let wrong = |what: &str| Unfit::new(format!("rate_rps = \"{text}\": {what}"));
    let pieces = Arrivals::pieces(text).map_err(|error| wrong(&error.to_string()))?;
    let mut steps: Vec<Step> = Vec::new();
    for piece in pieces {
        let is_step = piece.from == piece.to && (0.0..=MAX_RATE).contains(&piece.from) && piece.from > 0.0;
        let Some(lasts) = piece.lasts.filter(|_| is_step) else {
            return Err(wrong("a step is one rate above 0 and how long it lasts, as 40@6s"));
        };
        if steps.iter().any(|step| step.rate == piece.from) {
            return Err(wrong(&format!("{} comes twice: each step is told apart by its rate", piece.from)));
        }
        steps.push(Step { rate: piece.from, lasts });
    }
    let length: f64 = steps.iter().map(|step| step.lasts.as_secs_f64()).sum();
    match (0.1..=86_400.0).contains(&length) {
        true => Ok(steps),
        false => Err(wrong(&format!("they last for {length} s; it is to be from 0.1 s to a day"))),
    }
}

/// A rate as the value of an axis.
fn at(rate: f64) -> AxisValue {
    if rate.fract() == 0.0 { AxisValue::Int(rate as i64) } else { AxisValue::Float(rate) }
}

#[cfg(test)]
mod tests {
    use kumite_load::{Disturbed, Errors, Interval, Recovery, WrongStatus};
    use proptest::prelude::*;

    use super::*;
    use crate::driver::Answer;
    use crate::driver::Workload;
    use crate::driver::http::HttpWorkload;
    use crate::driver::warm_up::WarmUpTime;

    const MS: u64 = 1_000_000;

    fn read(given: &[(&str, AxisValue)]) -> Result<HttpWorkload, Unfit> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        HttpWorkload::new(&given.collect(), &Answer::default())
    }

    fn text(text: &str) -> AxisValue {
        AxisValue::Text(text.to_owned())
    }

    fn steps_of(rates: &str, good_ms: i64) -> Steps {
        read(&[("rate_rps", text(rates)), ("good_ms", AxisValue::Int(good_ms))])
            .unwrap()
            .steps
            .map(|steps| *steps)
            .unwrap()
    }

    fn request(due: u64, took: u64, failure: Option<Failure>) -> Finished {
        let sent = (failure != Some(Failure::Unsent)).then_some(due * MS);
        let said = (failure == Some(Failure::Status))
            .then(|| Box::new(WrongStatus { status: 500, text: format!("refused after {}\n", due % 3) }));
        Finished { due: due * MS, sent, finished: (due + took) * MS, failure, wrong_status: said }
    }

    #[test]
    fn a_load_in_steps() {
        let given = [
            ("rate_rps", text("10@4s, 40.5@6s,66@500ms")),
            ("drop_to_rps", AxisValue::Int(10)),
            ("watch_s", AxisValue::Int(30)),
            ("timeout_ms", AxisValue::Int(15_000)),
            ("good_ms", AxisValue::Int(3000)),
        ];
        let workload = read(&given).unwrap();
        assert_eq!((workload.duration, workload.warm_up), (Duration::from_millis(10_500), WarmUpTime::NONE));
        assert_eq!(workload.time(), Some(Duration::from_millis(10_500 + 30_000 + 2 * 15_000)));
        let values = vec![AxisValue::Int(10), AxisValue::Float(40.5), AxisValue::Int(66)];
        assert_eq!(workload.within(), Some(Within { axis: "rate_rps".to_owned(), values }));
        let steps = workload.steps.as_ref().unwrap();
        assert_eq!((steps.good, steps.normal), (Duration::from_secs(3), Duration::from_secs(3)));
        let at = "127.0.0.1:1".parse().unwrap();
        let load = workload.load(at);
        assert!(load.log && load.check().is_ok() && !workload.probe(at).log);
        let mean = |seconds: f64| load.arrivals.as_ref().unwrap().mean_rate(Duration::from_secs_f64(seconds));
        assert_eq!((mean(4.0), mean(10.5) * 10.5), (10.0, 40.0 + 243.0 + 33.0));
        assert_eq!(mean(20.5) * 20.5, 316.0 + 100.0);
        let plain = read(&given[..1]).unwrap();
        assert_eq!((plain.disturbance, plain.time()), (None, Some(Duration::from_millis(12_500))));
    }

    #[test]
    fn steps_that_make_no_sense() {
        let with = |name, value| read(&[("rate_rps", text("10@4s")), (name, value)]).unwrap_err().to_string();
        for (found, expected) in [
            (with("duration_s", AxisValue::Int(4)), "leave out duration_s"),
            (with("warm_up_s", AxisValue::Int(0)), "leave out warm_up_s"),
            (with("warm_up_limit_s", AxisValue::Int(0)), "leave out warm_up_limit_s"),
            (with("good_ms", AxisValue::Int(0)), "good_ms is a number from 1 to 600000, not 0"),
            (with("drop_to_rps", AxisValue::Float(0.5)), "drop_to_rps is at least 1, not 0.5"),
            (with("drop_to_rps", text("none")), "drop_to_rps is a number from 0 to 10000000, not none"),
        ] {
            assert!(found.contains(expected), "{found}");
        }
        let dropping = |name, value| {
            read(&[("rate_rps", text("10@4s")), ("drop_to_rps", AxisValue::Int(2)), (name, value)])
                .unwrap_err()
                .to_string()
        };
        let disturbed = "a load in steps has no disturbance; what may follow its last step is drop_to_rps";
        assert_eq!(with("disturbance", text("burst")), disturbed);
        assert_eq!(dropping("disturbance", text("pause")), disturbed);
        assert_eq!(
            dropping("watch_s", AxisValue::Int(4)),
            "watch_s is too short: a server is back to normal when all is answered so for 5 s"
        );
        for (rates, expected) in [
            ("fast", "not a rate"),
            ("10", "how long it lasts"),
            ("10@4s,20", "how long it lasts"),
            ("10..20@4s", "one rate above 0"),
            ("0@4s", "one rate above 0"),
            ("10@4s,20@4s,10@4s", "10 comes twice"),
            ("10@10ms", "from 0.1 s to a day"),
            ("100000@200s", "the steps have 20000000 requests: 10000000 are the most"),
        ] {
            let found = read(&[("rate_rps", text(rates))]).unwrap_err().to_string();
            assert!(found.contains(expected), "{rates}: {found}");
        }
    }

    /// Requests of three stretches: 20 in the first second, all good but one; one of each class and a boundary in the
    /// half second after it; then some after the steps.
    fn log() -> Vec<Finished> {
        let mut log: Vec<Finished> = (0..19).map(|nth| request(nth * 50, 10 + nth, None)).collect();
        log.push(request(950, 101, None));
        log.push(request(1000, 100, None));
        log.push(request(1100, 5, Some(Failure::Status)));
        log.push(request(1200, 1000, Some(Failure::Timeout)));
        log.push(request(1300, 1000, Some(Failure::Unsent)));
        log.push(request(1499, 3, Some(Failure::Reset)));
        log.push(request(1500, 7, Some(Failure::Status)));
        log.push(request(1600, 7, None));
        log
    }

    fn outcome() -> Outcome {
        let intervals = (0..17).map(|nth| Interval { start_ms: nth * 100, ..Interval::default() }).collect();
        Outcome { log: log(), elapsed: Duration::from_millis(1500), intervals, ..Outcome::default() }
    }

    #[test]
    fn what_became_of_each_step() {
        let mut sample = Sample::default();
        for name in ["response_p50_us", "service_mean_us", "throughput_rps", "cpu_cores", "failures"] {
            sample.metrics.insert(name.to_owned(), 1.0);
        }
        sample.needs.insert("response_p99_us".to_owned(), 3);
        steps_of("20@1s,10@500ms", 100).tell(&outcome(), &mut sample);
        let [first, second] = &sample.parts[..] else { panic!("{:?}", sample.parts) };
        let of_first: BTreeMap<&str, f64> =
            first.metrics.iter().map(|(name, value)| (&**name, (value * 10.0).round() / 10.0)).collect();
        let expected = [
            ("goodput_rps", 19.0),
            ("answered_rps", 20.0),
            ("refusals_per_s", 0.0),
            ("timeouts_per_s", 0.0),
            ("lost_per_s", 0.0),
        ];
        assert!(expected.iter().all(|(name, value)| of_first[name] == *value), "{of_first:?}");
        assert_eq!((&first.at, &second.at), (&AxisValue::Int(20), &AxisValue::Int(10)));
        // 10 to 28 ms and 101: the tenth is 19, the mean 23.1.
        assert!((of_first["response_p50_us"] / 19_000.0 - 1.0).abs() < 1e-3, "{of_first:?}");
        assert!((of_first["response_mean_us"] / 23_100.0 - 1.0).abs() < 1e-3, "{of_first:?}");
        let needs = [
            ("quick_refusal_share", 20),
            ("refusal_p50_us", 20),
            ("refusal_p99_us", 1000),
            ("response_p99_us", 980),
        ];
        assert_eq!(first.needs, needs.map(|(name, missing)| (name.to_owned(), missing)).into());
        let mut known: Vec<&str> =
            first.metrics.keys().chain(first.needs.keys()).map(String::as_str).collect();
        let declared = part_metrics().around([]);
        let mut listed: Vec<&str> = declared.iter().map(|metric| metric.name.as_str()).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(known, listed);
        let rates = ["goodput_rps", "answered_rps", "refusals_per_s", "timeouts_per_s", "lost_per_s"];
        assert_eq!(rates.map(|name| second.metrics[name]), [2.0, 2.0, 2.0, 2.0, 4.0]);
        assert_eq!(second.needs["response_p50_us"], 19);

        let whole = ["answered", "refusals", "timeouts", "lost", "goodput_best_rps"];
        assert_eq!(whole.map(|name| sample.metrics[name]), [22.0, 2.0, 1.0, 2.0, 19.0]);
        let mut names: Vec<&str> = sample.metrics.keys().map(String::as_str).collect();
        names.retain(|name| !whole.contains(name));
        assert_eq!(names, ["cpu_cores", "failures"], "percentiles of several rates say nothing");
        let too_few: Vec<&String> = sample.needs.keys().collect();
        assert_eq!(too_few, ["quick_refusal_share", "refusal_p50_us", "refusal_p99_us"]);
        let said = [("500 refused after 0", 1), ("500 refused after 2", 1)];
        assert_eq!(sample.answers, said.map(|(words, count)| (words.to_owned(), count)).into());
    }

    #[test]
    fn a_refusal_within_quick_ms_is_a_quick_one() {
        let given = [("rate_rps", text("20@1s")), ("quick_ms", AxisValue::Int(10))];
        let steps = read(&given).unwrap().steps.unwrap();
        // Fifteen in 10 ms, which is within; five in 11 ms; and one that was no refusal.
        let refused = |nth: u64| request(nth * 50, if nth < 15 { 10 } else { 11 }, Some(Failure::Status));
        let mut log: Vec<Finished> = (0..20).map(refused).collect();
        let share = |log: &[Finished]| {
            let (mut metrics, mut needs) = (BTreeMap::new(), Needs::new());
            steps.refusals(log, &mut metrics, &mut needs);
            (metrics.get("quick_refusal_share").copied(), needs.get("quick_refusal_share").copied())
        };
        assert_eq!(share(&log[1..]), (None, Some(1)));
        log.push(request(990, 5, Some(Failure::Timeout)));
        assert_eq!(share(&log), (Some(0.75), None));
    }

    #[test]
    fn a_step_that_was_not_whole_has_no_part() {
        let mut sample = Sample::default();
        let stopped = Outcome { elapsed: Duration::from_millis(1499), ..outcome() };
        steps_of("20@1s,10@500ms", 100).tell(&stopped, &mut sample);
        assert_eq!(sample.parts.len(), 1);
    }

    #[test]
    fn over_time_what_was_due_has_its_fate() {
        let columns = steps_of("20@1s,10@500ms", 100).by_due(&log(), 17);
        let at = |name: &str, nth: usize| columns[name][nth];
        assert_eq!(
            (at("due_good", 0), at("due_good", 9), at("due_late", 9)),
            (Some(2.0), Some(1.0), Some(1.0))
        );
        assert_eq!(
            (at("due_refusals", 11), at("due_timeouts", 12), at("due_lost", 13)),
            (Some(1.0), Some(1.0), Some(1.0))
        );
        assert_eq!((at("due_response_mean_us", 0), at("due_response_mean_us", 11)), (Some(10_500.0), None));
        assert!(columns.values().all(|column| column.len() == 17));
        let all: f64 =
            columns.iter().filter(|(name, _)| !name.ends_with("_us")).flat_map(|(_, of)| of).flatten().sum();
        assert_eq!(all, log().len() as f64);
    }

    #[test]
    fn what_is_said_most_often_is_told_apart() {
        let said = |status, text: &str| Some(Box::new(WrongStatus { status, text: text.to_owned() }));
        let mut log: Vec<Finished> = (0..40)
            .map(|nth| Finished {
                wrong_status: said(500, &format!("{}", nth % 20)),
                ..request(nth, 1, None)
            })
            .collect();
        log.extend((0..3).map(|nth| Finished { wrong_status: said(503, " \n"), ..request(nth, 1, None) }));
        let told = answers(&log);
        assert_eq!((told.len(), told["503"], told["other"]), (17, 3, 10));
    }

    #[test]
    fn recovery_is_from_the_drop() {
        // 10 a second from 1.5 s on for 8 s: what is due in the first two of them takes 2 s.
        let after = (0..80).map(|nth| request(1500 + nth * 100, if nth < 20 { 2000 } else { 10 }, None));
        let steps = steps_of("20@1s,10@500ms", 100);
        let disturbed = Disturbed {
            began: Duration::from_millis(1500),
            ended: Duration::from_millis(1501),
            since: Duration::from_millis(1700),
            until: Duration::from_millis(9500),
            requests: 80,
            ok: 80,
            errors: Errors::default(),
            burst: Default::default(),
            first_right: None,
            recovery: Recovery { took: Duration::ZERO, complete: true },
        };
        let mut outcome = Outcome { log: log(), disturbed: Some(disturbed), ..outcome() };
        outcome.log.truncate(25);
        outcome.log.extend(after);
        steps.recover(&mut outcome);
        let found = outcome.disturbed.unwrap();
        assert_eq!(found.recovery, Recovery { took: Duration::from_secs(2), complete: true });
        assert_eq!((found.ended, found.since), (found.began, found.began));
        assert_eq!(found.first_right, Some(Duration::from_millis(2000)));
        // Then one of the later requests fails.
        outcome.log[60].failure = Some(Failure::Status);
        steps.recover(&mut outcome);
        let bound = Duration::from_millis(3600);
        assert_eq!(outcome.disturbed.unwrap().recovery, Recovery { took: bound, complete: false });
    }

    proptest! {
        /// Compares the parts with their definition, applied request by request.
        #[test]
        fn parts_are_what_the_definition_says(
            requests in prop::collection::vec((0..3000_u64, 0..300_u64, 0..8_usize), 0..300),
            good in 1..200_i64,
        ) {
            const KINDS: [Option<Failure>; 8] = [
                None, None, None, None, Some(Failure::Status), Some(Failure::Timeout), Some(Failure::Unsent), Some(Failure::Closed),
            ];
            let mut log: Vec<Finished> =
                requests.iter().map(|(due, took, kind)| request(*due, *took, KINDS[*kind])).collect();
            log.sort_by_key(|request| request.due);
            let outcome = Outcome { log: log.clone(), elapsed: Duration::from_millis(2500), ..Outcome::default() };
            let mut sample = Sample::default();
            steps_of("7@1s,5@500ms,30@1s", good).tell(&outcome, &mut sample);
            prop_assert_eq!(sample.parts.len(), 3);
            for (part, (from, to)) in sample.parts.iter().zip([(0, 1000), (1000, 1500), (1500, 2500)]) {
                let seconds = (to - from) as f64 / 1e3;
                let here: Vec<(u64, Option<Failure>)> = requests
                    .iter()
                    .filter(|(due, ..)| (from..to).contains(due))
                    .map(|(_, took, kind)| (*took, KINDS[*kind]))
                    .collect();
                let count = |of: &dyn Fn(u64, Option<Failure>) -> bool| {
                    here.iter().filter(|(took, failure)| of(*took, *failure)).count()
                };
                let rate = |of: &dyn Fn(u64, Option<Failure>) -> bool| count(of) as f64 / seconds;
                let is = |metric: &str, expected: f64| (part.metrics[metric] - expected).abs() < 1e-9;
                prop_assert!(is("goodput_rps", rate(&|took, failure| failure.is_none() && took <= good as u64)));
                prop_assert!(is("answered_rps", rate(&|_, failure| failure.is_none())));
                prop_assert!(is("refusals_per_s", rate(&|_, failure| failure == Some(Failure::Status))));
                prop_assert!(is("timeouts_per_s", rate(&|_, failure| failure == Some(Failure::Timeout))));
                prop_assert!(is("lost_per_s", rate(&|_, failure| matches!(failure, Some(Failure::Unsent | Failure::Closed)))));
                let right = count(&|_, failure| failure.is_none()) as u64;
                prop_assert_eq!(part.needs.get("response_p50_us").copied().unwrap_or(0), 20_u64.saturating_sub(right));
                prop_assert_eq!(part.metrics.contains_key("response_p50_us"), right >= 20);
            }
            let all = ["answered", "refusals", "timeouts", "lost"].map(|name| sample.metrics[name]);
            prop_assert_eq!(all.iter().sum::<f64>(), requests.len() as f64);
        }
    }
}
