//! Right answers and failures a second over time, with what was not measured or disturbed shaded.

use kumite_record::{Disturbance, Series, Unit};

use super::frame::{end_ticks, ticks};
use super::scale::Scale;
use super::tenth;
use super::timeline::{PLOT, Shade, Timeline, path};
use crate::words::number::{count, significant};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// Columns of a series.
pub const OK: &str = "ok";
pub const ERRORS: &str = "errors";

/// A time series with all that is drawn of it.
pub struct Rates<'a> {
    pub series: &'a Series,
    pub disturbance: Option<&'a Disturbance>,
    /// The moment at which answers were steady, or steady again, counted from the window's opening.
    pub steady_ms: Option<f64>,
    pub color: usize,
}

impl Rates<'_> {
    /// None where the series has no answers. `seconds` is the time that is shown, so that charts can be set side by side; it
    /// may be longer than the series.
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

/// The timeline in words, for those who do not see it.
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

/// A bar for each step that has any; never so low that it cannot be seen.
fn bars(values: &[Option<f64>], x: impl Fn(usize) -> f64, y: &Scale) -> String {
    let bottom = PLOT.bottom;
    let bar = |(step, value): (usize, &Option<f64>)| {
        let value = value.filter(|value| *value > 0.0)?;
        let top = y.at(value).min(bottom - 2.0);
        Some(format!("M{},{bottom}V{top}H{}V{bottom}z", x(step), x(step + 1)))
    };
    values.iter().enumerate().filter_map(bar).collect()
}
