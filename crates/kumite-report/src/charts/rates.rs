//! Charts of right answers and failures a second over time. The warm-up and the disturbance are shaded.

use kumite_record::{Disturbance, Series, Unit};

use super::frame::{end_ticks, ticks};
use super::scale::Scale;
use super::tenth;
use super::timeline::{PLOT, Shade, Timeline, path};
use crate::words::number::{count, significant};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The column of right answers in a time series; `ERRORS` is that of failures.
pub const OK: &str = "ok";
pub const ERRORS: &str = "errors";

/// A time series and what is drawn with it.
pub struct Rates<'a> {
    pub series: &'a Series,
    pub disturbance: Option<&'a Disturbance>,
    /// The moment at which answers were steady, or steady again: ms from the window's opening. None if answers were
    /// steady from the start or never, or if it is not known.
    pub steady_ms: Option<f64>,
    pub color: usize,
}

impl Rates<'_> {
    /// The chart of the series; none if it has no column of right answers. `seconds` are the beginning and the end of
    /// the x axis, in seconds from the window's opening. They may lie beyond the series, so that charts side by side
    /// show the same time.
    pub fn chart(&self, id: String, title: &str, seconds: (f64, f64)) -> Option<Timeline> {
        let series = self.series;
        let rates = |column: &str| -> Vec<Option<f64>> {
            let per_second = 1e3 / series.interval_ms.max(1) as f64;
            let values = series.columns.get(column);
            values.map_or(Vec::new(), |values| values.iter().map(|n| n.map(|n| n * per_second)).collect())
        };
        let (answers, failures) = (rates(OK), rates(ERRORS));
        if answers.is_empty() {
            return None;
        }
        let x_scale = Scale::linear(seconds.0, seconds.1, PLOT.x());
        let y_values = || answers.iter().chain(&failures).flatten().copied();
        let y_scale = Scale::linear(0.0, y_values().fold(0.0, f64::max), PLOT.y());
        let number = |value: f64| Unit::Number.tick(value);
        let at = |step: usize| start_s(series) + step as f64 * interval_s(series);
        let shade = |from: f64, to: f64, kind, label: &str| Shade {
            x: x_scale.at(from),
            width: tenth(x_scale.at(to) - x_scale.at(from)),
            kind,
            label: one_line(label),
        };
        let warm_up = (series.start_ms < 0).then(|| shade(start_s(series), 0.0, "warm-up", "warm-up"));
        let disturbed =
            self.disturbance.map(|d| shade(d.began_ms / 1e3, d.ended_ms / 1e3, "disturbed", &d.kind));
        Some(Timeline {
            id,
            title: one_line(title),
            description: one_line(&described(series, self.disturbance, &answers)),
            frame: PLOT.upright(ticks(&x_scale, number), end_ticks(&y_scale, number)).titled("seconds"),
            shades: warm_up.into_iter().chain(disturbed).collect(),
            color: self.color,
            answers: path(&answers, |step| x_scale.at(at(step) + interval_s(series) / 2.0), &y_scale),
            failures: bars(&failures, |step| x_scale.at(at(step)), &y_scale),
            recovered: self.steady_ms.map(|ms| x_scale.at(ms / 1e3)),
            one_frame: None,
        })
    }
}

/// The series in words, for readers who do not see the chart.
fn described(series: &Series, disturbance: Option<&Disturbance>, answers: &[Option<f64>]) -> String {
    let (start, end) = seconds_of(series);
    let known = || answers.iter().flatten().copied();
    let rate = |value: f64| significant(value, 3);
    let failed: f64 = series.columns.get(ERRORS).into_iter().flatten().flatten().sum();
    let disturbed = disturbance.map_or(String::new(), |d| {
        let (began, ended) = (Unit::Milliseconds.text(d.began_ms), Unit::Milliseconds.text(d.ended_ms));
        format!(" {} from {began} to {ended}.", d.kind)
    });
    format!(
        "Right answers a second from {} to {}: between {} and {}; {} failures.{disturbed}",
        Unit::Seconds.text(start),
        Unit::Seconds.text(end),
        rate(known().fold(f64::INFINITY, f64::min)),
        rate(known().fold(0.0, f64::max)),
        count(failed),
    )
}

/// The beginning and the end of a series, in seconds from the window's opening: negative before it.
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

/// An SVG path with a bar for each step that has a positive value, each high enough to be seen.
fn bars(values: &[Option<f64>], x: impl Fn(usize) -> f64, y: &Scale) -> String {
    let bottom = PLOT.bottom;
    let bar = |(step, value): (usize, &Option<f64>)| {
        let value = value.filter(|value| *value > 0.0)?;
        let top = y.at(value).min(bottom - 2.0);
        Some(format!("M{},{bottom}V{top}H{}V{bottom}z", x(step), x(step + 1)))
    };
    values.iter().enumerate().filter_map(bar).collect()
}
