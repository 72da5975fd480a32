//! Charts of the error of each state of a trial, by when the state was due: drift is a line that rises.

use std::collections::BTreeSet;

use kumite_record::{Arrival, Trial, Unit};

use super::states::off_at_end;
use crate::charts::frame::{Plot, Tick, ticks};
use crate::charts::scale::Scale;
use crate::charts::{Look, Timeline, timeline};
use crate::metric::Named;
use crate::record::Record;
use crate::words::number::plural;
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The scales that charts of errors share, so that they can be compared.
pub struct ErrorScales {
    seconds: Scale,
    /// The scale of errors, after `squeezed`.
    errors: Scale,
    y_ticks: Vec<Tick>,
}

const PLOT: Plot = Plot { top: 8.0, bottom: 164.0, ..timeline::PLOT };
/// The least distance between the ticks of errors.
const ROOM: f64 = 15.0;
/// The size up to which errors are drawn about to scale, in µs. Beyond it the scale becomes logarithmic.
const LINEAR_US: f64 = 10.0;
/// The height of a dot.
const DOT: i64 = 3;
/// The roles of the metrics that a chart's description tells.
const TOLD: [&str; 6] = ["error-p50", "error-p99", "error-max", "missed", "error-first", "error-last"];

impl ErrorScales {
    /// Scales on which all states of `trials` have a place, and also an error of `frame_us`, the length of a frame in
    /// µs if it is known.
    pub fn new(trials: &[&Trial], frame_us: Option<f64>) -> ErrorScales {
        let arrivals = || trials.iter().flat_map(|trial| &trial.sample.arrivals);
        let errors = || arrivals().map(|of| of.error_us).filter(|us| us.is_finite()).chain(frame_us);
        let (low, high) = (errors().fold(0.0, f64::min), errors().fold(0.0, f64::max));
        let scale = Scale::linear(squeezed(low), squeezed(high), PLOT.y());
        ErrorScales {
            seconds: Scale::linear(0.0, arrivals().map(due_s).fold(0.0, f64::max), PLOT.x()),
            y_ticks: y_ticks(&scale, low, high),
            errors: scale,
        }
    }

    fn y(&self, us: f64) -> f64 {
        self.errors.at(squeezed(us))
    }
}

/// The place of an error in µs on the axis: about linear near zero, logarithmic beyond `LINEAR_US`. Early states are
/// below zero.
fn squeezed(us: f64) -> f64 {
    us.signum() * (1.0 + us.abs() / LINEAR_US).log10()
}

/// A tick at zero, and one on either side for powers of ten at equal distances.
fn y_ticks(scale: &Scale, low: f64, high: f64) -> Vec<Tick> {
    let decade = (scale.at(0.0) - scale.at(1.0)).abs().max(0.1);
    let each = (ROOM / decade).ceil() as i32;
    let powers = (1..=9).map(|nth| LINEAR_US * 10f64.powi(nth * each));
    let values = powers.flat_map(|us| [-us, us]).filter(|us| (low..=high).contains(us));
    let tick = |us: f64| Tick { at: scale.at(squeezed(us)), label: Unit::Microseconds.tick(us) };
    std::iter::once(Tick { at: scale.at(0.0), label: "0".to_owned() }).chain(values.map(tick)).collect()
}

/// The chart of the errors of a trial's states. `frame_us` is the length of a frame in µs; without it, the chart shows
/// no frame.
pub fn error_chart(
    record: &Record,
    id: String,
    trial: &Trial,
    frame_us: Option<f64>,
    scales: &ErrorScales,
) -> Timeline {
    let end = record.figure(trial, "error-last").zip(frame_us);
    let end =
        end.map_or(String::new(), |(last, frame)| format!(": {} off at its end", off_at_end(last, frame)));
    Timeline {
        id,
        title: one_line(&format!("{}, block {}{end}", trial.contender, trial.block + 1)),
        description: one_line(&described(record, trial)),
        frame: PLOT
            .upright(ticks(&scales.seconds, |value| Unit::Number.tick(value)), scales.y_ticks.clone())
            .titled("seconds"),
        shades: Vec::new(),
        color: Look::of_contender(record.export, &trial.contender).color,
        answers: dots(&trial.sample.arrivals, scales),
        failures: String::new(),
        recovered: None,
        one_frame: frame_us.map(|us| scales.y(us)),
    }
}

/// The SVG path of the dots, one for each state. Dots that touch in one column are one stroke, so that the path has a
/// limit whatever the number of states.
fn dots(arrivals: &[Arrival], scales: &ErrorScales) -> String {
    let known = arrivals.iter().filter(|of| of.error_us.is_finite() && of.due_ms.is_finite());
    let places: BTreeSet<(i64, i64)> = known
        .map(|of| (scales.seconds.at(due_s(of)).round() as i64, scales.y(of.error_us).round() as i64))
        .collect();
    let places: Vec<(i64, i64)> = places.into_iter().collect();
    let strokes = places.chunk_by(|a, b| a.0 == b.0 && b.1 - a.1 <= DOT);
    let stroke = |places: &[(i64, i64)]| {
        let (x, top) = places[0];
        format!("M{x},{}v{}", top - DOT / 2, places[places.len() - 1].1 - top + DOT)
    };
    strokes.map(stroke).collect()
}

fn due_s(of: &Arrival) -> f64 {
    of.due_ms / 1e3
}

fn described(record: &Record, trial: &Trial) -> String {
    let told = |role: &&str| {
        let metric = record.metric(role)?;
        let value = trial.sample.metrics.get(&metric.name)?;
        Some(format!("{} {}", metric.words(), metric.text(*value)))
    };
    let figures: Vec<String> = TOLD.iter().filter_map(told).collect();
    let states = plural(trial.sample.arrivals.len(), "state");
    format!("The errors of {states} of {} by when they were due: {}.", trial.contender, figures.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scales(low: f64, high: f64) -> ErrorScales {
        let errors = Scale::linear(squeezed(low), squeezed(high), PLOT.y());
        let y_ticks = y_ticks(&errors, low, high);
        ErrorScales { seconds: Scale::linear(0.0, 298.0, PLOT.x()), errors, y_ticks }
    }

    #[test]
    fn powers_of_ten_have_room_on_both_sides_of_zero() {
        let labels = |low, high| -> Vec<String> {
            scales(low, high).y_ticks.into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(labels(0.0, 200_000.0), ["0", "100 µs", "1 ms", "10 ms", "100 ms"]);
        assert_eq!(labels(-2e6, 2e6), ["0", "-1 ms", "1 ms", "-100 ms", "100 ms"]);
        assert_eq!(
            labels(0.0, 1e13),
            ["0", "1 ms", "100 ms", "10 s", "1,000 s", "100,000 s", "10,000,000 s"]
        );
    }

    #[test]
    fn each_state_is_seen_and_very_many_stay_a_small_picture() {
        let scales = scales(-90.0, 99_990.0);
        let states = [(1.0, 0.0), (1.2, 99_990.0), (0.8, 0.5), (2.0, -90.0), (3.0, f64::NAN)];
        let arrivals = states.map(|(due_s, error_us)| Arrival { due_ms: due_s * 1e3, error_us });
        assert_eq!(dots(&arrivals, &scales), "M53,7v3M53,131v4M54,163v3");
        let many = (0..100_000).map(|nth| Arrival { due_ms: f64::from(nth), error_us: f64::from(nth % 977) });
        assert!(dots(&many.collect::<Vec<_>>(), &scales).len() < 30_000);
    }
}
