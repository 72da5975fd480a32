//! Trials over time: right answers and failures a second, with what was not measured or disturbed shaded.

use kumite_record::{Metric, Point, Series, Trial, Unit};
use minijinja::value::{Serde, Value};

use super::explorer::Explorer;
use super::overload::has_fates;
use super::{ERRORS, OK, RECOVERY};
use crate::charts::frame::{end_ticks, ticks};
use crate::charts::scale::Scale;
use crate::charts::timeline::{PLOT, Shade, path};
use crate::charts::{Look, Timeline, Timelines, tenth};
use crate::kinds::chapter::{PageChapter, Script};
use crate::metric::Named;
use crate::record::Record;
use crate::tables::group::Groups;
use crate::tables::trials::{has_series, median_trials};
use crate::words::number::{count, significant};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The points without a disturbance that have a time series, and any trial that the reader chooses.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let points = groups.calm().flat_map(|group| groups.points_of(group)).enumerate();
    let shown: Vec<Timelines> = points
        .map(|(nth, (place, point))| timelines(record, &format!("time-{nth}"), place, point, None))
        .filter(|timelines| !timelines.charts.is_empty())
        .collect();
    let explorer = Explorer::new(record, groups);
    (explorer.is_some() || !shown.is_empty()).then(|| PageChapter {
        id: "time",
        link: "Over time",
        template: "time.html",
        shown: Value::from(Serde(shown)),
        script: explorer
            .map(|explorer| Script { data: Value::from(Serde(explorer)), text: include_str!("explorer.js") }),
    })
}

/// All over the same time, so that they can be set side by side; without those of loads in steps, which have a picture of
/// their own.
pub fn timelines(
    record: &Record,
    id: &str,
    place: String,
    point: &Point,
    metric: Option<&Metric>,
) -> Timelines {
    let (by, trials) = median_trials(record, point, metric, has_series);
    let spans: Vec<(f64, f64)> = trials.iter().map(|trial| seconds_of(&trial.sample.series)).collect();
    let seconds = (
        spans.iter().map(|span| span.0).fold(0.0, f64::min),
        spans.iter().map(|span| span.1).fold(0.0, f64::max),
    );
    let charts = trials.iter().enumerate();
    Timelines {
        place,
        by: by.words(),
        charts: charts
            .filter(|(_, trial)| !has_fates(trial))
            .filter_map(|(nth, trial)| timeline(record, format!("{id}-{nth}"), trial, seconds))
            .collect(),
    }
}

/// None where the trial has no series of answers. `seconds` is the time that is shown, so that trials can be set side by
/// side; what the trial does not fill of it stays empty.
fn timeline(record: &Record, id: String, trial: &Trial, seconds: (f64, f64)) -> Option<Timeline> {
    let series = &trial.sample.series;
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
    Some(Timeline {
        id,
        title: one_line(&format!("{}, block {}", trial.contender, trial.block + 1)),
        description: one_line(&described(trial, &answers)),
        frame: PLOT.upright(ticks(&x_scale, number), end_ticks(&y_scale, number)).titled("seconds"),
        shades: warm_up.into_iter().chain(disturbed).collect(),
        color: Look::of_contender(record.export, &trial.contender).color,
        answers: path(&answers, |step| x_scale.at(at(step) + interval_s(series) / 2.0), &y_scale),
        failures: bars(&failures, |step| x_scale.at(at(step)), &y_scale),
        recovered,
        one_frame: None,
    })
}

/// The timeline in words, for those who do not see it.
fn described(trial: &Trial, answers: &[Option<f64>]) -> String {
    let series = &trial.sample.series;
    let (start, end) = seconds_of(series);
    let known = || answers.iter().flatten().copied();
    let rate = |value: f64| significant(value, 3);
    let failed: f64 = series.columns.get(ERRORS).into_iter().flatten().flatten().sum();
    let disturbed = trial.sample.disturbance.as_ref().map_or(String::new(), |d| {
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
fn seconds_of(series: &Series) -> (f64, f64) {
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
