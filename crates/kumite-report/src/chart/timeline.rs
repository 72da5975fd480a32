//! One trial over time: right answers and failures a second, with what was not measured or disturbed shaded.

use kumite_record::{Series, Trial, Unit};
use serde::Serialize;

use super::scale::Scale;
use super::{Look, Tick, tenth};
use crate::bound::RECOVERY;
use crate::number::{count, significant};
use crate::quantity::Measured;
use crate::record::Record;
use crate::text::one_line;

/// The time series of a trial, its jobs, or its states.
#[derive(Debug, Serialize)]
pub struct Timeline {
    /// Unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub width: f64,
    pub height: f64,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
    pub x_title: &'static str,
    pub x_ticks: Vec<Tick>,
    pub y_ticks: Vec<Tick>,
    pub shades: Vec<Shade>,
    pub color: usize,
    /// Right answers a second, the elapsed time of each job, or the errors of states as dots: a path.
    pub answers: String,
    /// Failures a second, as bars.
    pub failures: String,
    /// Where answers were steady again, or jobs became steady, if they did.
    pub recovered: Option<f64>,
    /// Where an error is as long as a frame, if errors are what it shows.
    pub frame: Option<f64>,
}

/// A part of the time that is not the window.
#[derive(Debug, Serialize)]
pub struct Shade {
    pub x: f64,
    pub width: f64,
    pub kind: &'static str,
    pub label: String,
}

pub const WIDTH: f64 = 360.0;
pub const HEIGHT: f64 = 168.0;
pub const LEFT: f64 = 52.0;
pub const RIGHT: f64 = 350.0;
pub const TOP: f64 = 22.0;
pub const BOTTOM: f64 = 126.0;

/// None where the trial has no series of answers. `seconds` is the time that is shown, so that trials can be set side by
/// side; what the trial does not fill of it stays empty.
pub fn timeline(record: &Record, id: String, trial: &Trial, seconds: (f64, f64)) -> Option<Timeline> {
    let series = &trial.sample.series;
    let rates = |column: &str| -> Vec<Option<f64>> {
        let per_second = 1e3 / series.interval_ms.max(1) as f64;
        let values = series.columns.get(column);
        values.map_or(Vec::new(), |values| values.iter().map(|n| n.map(|n| n * per_second)).collect())
    };
    let (answers, failures) = (rates("ok"), rates("errors"));
    if answers.is_empty() {
        return None;
    }
    let x_scale = Scale::linear(seconds.0, seconds.1, LEFT, RIGHT);
    let y_values = || answers.iter().chain(&failures).flatten().copied();
    let y_scale = Scale::linear(0.0, y_values().fold(0.0, f64::max), BOTTOM, TOP);
    let at = |step: usize| start_s(series) + step as f64 * interval_s(series);

    let disturbance = trial.sample.disturbance.as_ref();
    let shade = |from: f64, to: f64, kind, label: &str| Shade {
        x: x_scale.at(from),
        width: tenth(x_scale.at(to) - x_scale.at(from)),
        kind,
        label: one_line(label),
    };
    let warm_up = (series.start_ms < 0).then(|| shade(start_s(series), 0.0, "warm-up", "warm-up"));
    let disturbed = disturbance.map(|d| shade(d.began_ms / 1e3, d.ended_ms / 1e3, "disturbed", &d.kind));
    let recovered = disturbance.zip(record.figure(trial, RECOVERY)).and_then(|(d, recovery_ms)| {
        (!trial.marks.contains(&kumite_record::Mark::NotRecovered))
            .then(|| x_scale.at((d.since_ms + recovery_ms) / 1e3))
    });
    let failed: f64 = series.columns.get("errors").into_iter().flatten().flatten().sum();
    let rate = |value: f64| significant(value, 3);
    let known: Vec<f64> = answers.iter().flatten().copied().collect();
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    let most = known.iter().copied().fold(0.0, f64::max);
    let end = seconds_of(series).1;
    Some(Timeline {
        id,
        title: one_line(&format!("{}, block {}", trial.contender, trial.block + 1)),
        description: one_line(&format!(
            "Right answers a second from {} to {}: between {} and {}; {} failures.{}",
            Unit::Seconds.text(start_s(series)),
            Unit::Seconds.text(end),
            rate(least),
            rate(most),
            count(failed),
            disturbance.map_or(String::new(), |d| format!(
                " {} from {} to {}.",
                d.kind,
                Unit::Milliseconds.text(d.began_ms),
                Unit::Milliseconds.text(d.ended_ms)
            )),
        )),
        width: WIDTH,
        height: HEIGHT,
        left: LEFT,
        right: RIGHT,
        top: TOP,
        bottom: BOTTOM,
        x_title: "seconds",
        x_ticks: x_scale
            .ticks()
            .into_iter()
            .map(|value| Tick { at: x_scale.at(value), label: Unit::Number.tick(value) })
            .collect(),
        y_ticks: [0.0, y_scale.high]
            .map(|value| Tick { at: y_scale.at(value), label: Unit::Number.tick(value) })
            .into(),
        shades: warm_up.into_iter().chain(disturbed).collect(),
        color: Look::of(record.export, &trial.contender).color,
        answers: path(&answers, |step| x_scale.at(at(step) + interval_s(series) / 2.0), &y_scale),
        failures: bars(&failures, |step| x_scale.at(at(step)), &y_scale),
        recovered,
        frame: None,
    })
}

/// From when to when a series goes, counted from the window's opening.
pub fn seconds_of(series: &Series) -> (f64, f64) {
    let steps = series.columns.values().map(Vec::len).max().unwrap_or(0);
    (start_s(series), start_s(series) + steps as f64 * interval_s(series))
}

fn start_s(series: &Series) -> f64 {
    series.start_ms as f64 / 1e3
}

fn interval_s(series: &Series) -> f64 {
    series.interval_ms as f64 / 1e3
}

/// A line that is broken where a step has no value.
pub fn path(values: &[Option<f64>], x: impl Fn(usize) -> f64, y: &Scale) -> String {
    let mut path = String::new();
    let mut pen = 'M';
    for (step, value) in values.iter().enumerate() {
        match value {
            Some(value) => {
                path += &format!("{pen}{},{}", x(step), y.at(*value));
                pen = 'L';
            }
            None => pen = 'M',
        }
    }
    path
}

/// A bar for each step that has any; never so low that it cannot be seen.
fn bars(values: &[Option<f64>], x: impl Fn(usize) -> f64, y: &Scale) -> String {
    let bar = |(step, value): (usize, &Option<f64>)| {
        let value = value.filter(|value| *value > 0.0)?;
        let top = y.at(value).min(BOTTOM - 2.0);
        Some(format!("M{},{BOTTOM}V{top}H{}V{BOTTOM}z", x(step), x(step + 1)))
    };
    values.iter().enumerate().filter_map(bar).collect()
}
