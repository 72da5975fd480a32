//! The time series of all trials, as data for the page's script, with no more digits than a picture needs.

use std::collections::{HashMap, HashSet};

use kumite_record::{Mark, Outcome, Point, Trial};
use serde::Serialize;

use super::{CPU_CORES, MAX_US, P50_US, P99_US, RECOVERY};
use crate::charts::Look;
use crate::charts::rates::{ERRORS, OK};
use crate::record::Record;
use crate::tables::group::Groups;
use crate::tables::trials::{has_series, median_trials};
use crate::words::steadiness::of_trial;
use crate::words::text::one_line;

/// The data of the page's script. Names of fields are short because every trial repeats them.
#[derive(Debug, Serialize)]
pub struct Explorer {
    /// The number of steps of a trial's series that are merged into one step here.
    merged: usize,
    contenders: Vec<Named>,
    points: Vec<String>,
    trials: Vec<Steps>,
}

#[derive(Debug, Serialize)]
struct Named {
    name: String,
    color: usize,
}

/// The series of a trial. `c` and `p` are the positions of its contender and its point. Response times are in whole
/// µs, with three digits.
#[derive(Debug, Serialize)]
struct Steps {
    c: usize,
    p: usize,
    /// The trial's label in the list: its block, then remarks.
    name: String,
    /// True of a trial that is shown first: the one in the middle of its cell.
    first: bool,
    dt_ms: u64,
    start_ms: i64,
    window_ms: f64,
    /// The moment from which on the trial was steady, in ms from the window's opening; none if it was so from the
    /// beginning or never, or if that is not known.
    steady_ms: Option<i64>,
    disturbance: Option<Disturbed>,
    ok: Vec<Option<i64>>,
    /// Failures in each step; empty if nothing failed.
    errors: Vec<Option<i64>>,
    p50: Vec<Option<i64>>,
    p99: Vec<Option<i64>>,
    max: Vec<Option<i64>>,
    /// CPU use in each step, in hundredths of a core.
    cpu: Vec<Option<i64>>,
}

#[derive(Debug, Serialize)]
struct Disturbed {
    kind: String,
    began_ms: f64,
    ended_ms: f64,
    /// The moment at which answers were steady again, in ms from the window's opening; none if they were not, or it
    /// is not known.
    steady_ms: Option<f64>,
}

/// The most steps of all trials together: of more, neighbours are merged, so that the page stays below about 3 MB.
const MOST_STEPS: usize = 80_000;

impl Explorer {
    /// The series of all trials; none if no trial has one.
    pub fn new(record: &Record, groups: &Groups) -> Option<Explorer> {
        let places: Vec<(String, &Point)> = groups.points().collect();
        let tried: HashSet<&str> = record.export.trials.iter().map(|trial| &*trial.contender).collect();
        let mut names: Vec<&str> =
            record.export.contenders.iter().map(|contender| &*contender.name).collect();
        names.retain(|name| tried.contains(name));
        let place: HashMap<&str, usize> = names.iter().enumerate().map(|(nth, name)| (*name, nth)).collect();
        let length = |trial: &Trial| trial.sample.series.columns.get(OK).map_or(0, Vec::len);
        let merged = record.export.trials.iter().map(length).sum::<usize>().div_ceil(MOST_STEPS).max(1);
        let mut trials = Vec::new();
        for (p, (_, point)) in places.iter().enumerate() {
            let here = &record.at(point).trials;
            let disturbed = here.iter().any(|trial| trial.sample.disturbance.is_some());
            let by = record.metric(RECOVERY).filter(|_| disturbed);
            let middle = median_trials(record, point, by, has_series).1;
            for trial in here.iter().filter(|trial| trial.sample.series.columns.contains_key(OK)) {
                if let Some(c) = place.get(&*trial.contender) {
                    let is_median = middle.iter().any(|known| known.seq == trial.seq);
                    trials.push(steps(record, trial, (*c, p), merged, is_median));
                }
            }
        }
        let named = |name: &&str| Named {
            name: one_line(name),
            color: Look::of_contender(record.export, name).color,
        };
        (!trials.is_empty()).then(|| Explorer {
            merged,
            contenders: names.iter().map(named).collect(),
            points: places.into_iter().map(|(place, _)| place).collect(),
            trials,
        })
    }
}

fn steps(record: &Record, trial: &Trial, (c, p): (usize, usize), merged: usize, is_median: bool) -> Steps {
    let series = &trial.sample.series;
    let column = |name: &str, merge: fn(&[f64]) -> f64, convert: fn(f64) -> f64| -> Vec<Option<i64>> {
        let values = series.columns.get(name).map(Vec::as_slice).unwrap_or_default();
        let step = |values: &[Option<f64>]| {
            let known: Vec<f64> = values.iter().flatten().copied().filter(|v| v.is_finite()).collect();
            (!known.is_empty()).then(|| convert(merge(&known)) as i64)
        };
        values.chunks(merged).map(step).collect()
    };
    let mut errors = column(ERRORS, sum, f64::round);
    if errors.iter().all(|n| n.is_none_or(|n| n == 0)) {
        errors.clear();
    }
    let mut remarks = vec![format!("block {}", trial.block + 1)];
    remarks.extend(is_median.then(|| "the one in the middle".to_owned()));
    remarks.extend(trial.void.as_ref().map(|void| one_line(&format!("void: {void}"))));
    remarks.extend((trial.outcome != Outcome::Ok).then(|| trial.outcome.as_str().to_owned()));
    if let Some(steadiness) = &trial.sample.steadiness {
        remarks.push(of_trial(steadiness, record.figure(trial, "warm-up")));
    }
    remarks.extend(trial.marks.iter().map(|mark| mark.as_str().to_owned()));
    let recovered = record.figure(trial, RECOVERY).filter(|_| !trial.marks.contains(&Mark::NotRecovered));
    Steps {
        c,
        p,
        name: remarks.join(", "),
        first: is_median,
        dt_ms: series.interval_ms * merged as u64,
        start_ms: series.start_ms,
        window_ms: series.window_ms.round(),
        steady_ms: trial
            .sample
            .steadiness
            .as_ref()
            .and_then(|steadiness| steadiness.since_ms)
            .filter(|since_ms| *since_ms > series.start_ms),
        disturbance: trial.sample.disturbance.as_ref().map(|d| Disturbed {
            kind: one_line(&d.kind),
            began_ms: d.began_ms.round(),
            ended_ms: d.ended_ms.round(),
            steady_ms: recovered.map(|ms| (d.since_ms + ms).round()),
        }),
        ok: column(OK, sum, f64::round),
        errors,
        p50: column(P50_US, middle, three_digits),
        p99: column(P99_US, middle, three_digits),
        max: column(MAX_US, longest, three_digits),
        cpu: column(CPU_CORES, middle, |cores| (cores * 100.0).round()),
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// The median, or the upper of the two values in the middle. Panics without values.
fn middle(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn longest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

fn three_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let step = 10f64.powf((value.log10().floor() - 2.0).max(0.0));
    ((value / step).round() * step).round()
}
