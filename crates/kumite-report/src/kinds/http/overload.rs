//! Charts of single trials of a load in steps: what became of the requests, by when they were due, and how long right
//! answers took.

use kumite_record::{Series, Trial, Unit};
use serde::Serialize;

use super::RECOVERY;
use crate::charts::frame::{Frame, Plot, Tick, ticks};
use crate::charts::scale::Scale;
use crate::charts::tenth;
use crate::charts::timeline::path;
use crate::record::Record;
use crate::words::number::{count, significant};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The fates of requests, in the order in which they are stacked: the column of the series, the style, and the words.
const FATES: [(&str, &str, &str); 5] = [
    ("due_good", "good", "good"),
    ("due_late", "late", "late"),
    ("due_refusals", "refused", "refused"),
    ("due_timeouts", "timed-out", "timed out"),
    ("due_lost", "not-answered", "lost"),
];
const RESPONSE: &str = "due_response_mean_us";

/// A chart of one trial over time.
#[derive(Debug, Serialize)]
pub struct OverloadChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    /// The panel of requests, then that of response times if any trial of the point had right answers. The last one
    /// has the time axis.
    pub panels: Vec<Panel>,
    /// The requests of each fate, as stacked bars.
    pub fates: Vec<Bars>,
    /// The requests that were due a second, as an SVG path.
    pub offered: String,
    /// The mean response time of right answers, as an SVG path; empty without right answers.
    pub responses: String,
    /// The figures of stretches of time, which a pointer shows.
    pub tips: Vec<Tip>,
    pub drop: Option<Dropped>,
}

/// A plot of the chart, with its title.
#[derive(Debug, Serialize)]
pub struct Panel {
    pub title: &'static str,
    pub frame: Frame,
}

/// The bars of all requests that ended in the same way, as one SVG path.
#[derive(Debug, Serialize)]
pub struct Bars {
    pub kind: &'static str,
    pub path: String,
}

/// A stretch of time, and the text that a pointer shows there.
#[derive(Debug, Serialize)]
pub struct Tip {
    pub x: f64,
    pub width: f64,
    pub text: String,
}

/// The moment at which the load dropped, and how the contender recovered.
#[derive(Debug, Serialize)]
pub struct Dropped {
    pub x: f64,
    /// The x at which the contender was back to normal; none if it was not back to normal when watching ended.
    pub recovered: Option<f64>,
    pub text: String,
}

const RATES: Plot = Plot { width: 560.0, left: 62.0, right: 550.0, top: 22.0, bottom: 150.0 };
const TIMES: Plot = Plot { top: 182.0, bottom: 282.0, ..RATES };
/// The lengths that a bar may have, in intervals of the series (tenths of a second): the first that gives at most
/// `MOST_BARS` bars is taken.
const BAR_TENTHS: [usize; 7] = [5, 10, 20, 50, 100, 600, 6000];
const MOST_BARS: usize = 240;
const TIPS: usize = 45;
/// The least distance between the ticks of response times.
const ROOM: f64 = 16.0;

/// True of a trial whose series counts requests by the time at which they were due.
pub fn has_fates(trial: &Trial) -> bool {
    trial.sample.series.columns.contains_key(FATES[0].0)
}

/// A chart for each trial. All have the same scales, so that they can be compared.
pub fn overload_charts(record: &Record, id: &str, trials: &[&Trial]) -> Vec<OverloadChart> {
    let bars = |trial: &&Trial| trial.sample.series.columns.get(FATES[0].0).map_or(0, Vec::len);
    let longest = trials.iter().map(bars).max().unwrap_or(0);
    let merged = BAR_TENTHS.into_iter().find(|of| longest.div_ceil(*of) <= MOST_BARS).unwrap_or(6000);
    let steps: Vec<Vec<Step>> = trials.iter().map(|trial| merge(&trial.sample.series, merged)).collect();
    let all = || steps.iter().flatten();
    let most = all().map(Step::due).fold(0.0, f64::max);
    let times = Scale::logarithmic(all().filter_map(Step::response_us), TIMES.y());
    let end = steps.iter().filter_map(|steps| steps.last()).map(|step| step.to).fold(0.0, f64::max);
    let scales =
        Scales { x: Scale::linear(0.0, end, RATES.x()), rate: Scale::linear(0.0, most, RATES.y()), times };
    let chart = |(nth, (trial, steps)): (usize, (&&Trial, &Vec<Step>))| {
        chart(record, format!("{id}-{nth}"), trial, steps, &scales)
    };
    trials.iter().zip(&steps).enumerate().map(chart).collect()
}

struct Scales {
    x: Scale,
    rate: Scale,
    times: Option<Scale>,
}

/// A stretch of a trial, in seconds from its start, and the requests that were due in it.
struct Step {
    from: f64,
    to: f64,
    /// The number of requests of each fate, in the order of `FATES`.
    fates: [f64; FATES.len()],
    /// The sum of the response times of right answers, in µs.
    response_us: f64,
}

impl Step {
    /// A number of requests in this step as a rate, in requests a second.
    fn rate(&self, requests: f64) -> f64 {
        requests / (self.to - self.from)
    }

    fn due(&self) -> f64 {
        self.rate(self.fates.iter().sum())
    }

    fn right(&self) -> f64 {
        self.fates[0] + self.fates[1]
    }

    fn response_us(&self) -> Option<f64> {
        (self.right() > 0.0).then(|| self.response_us / self.right())
    }
}

/// Merges every `merged` intervals of a series into a step. Intervals at the end in which nothing was due are left
/// out.
fn merge(series: &Series, merged: usize) -> Vec<Step> {
    let values = |name: &str| -> &[Option<f64>] { series.columns.get(name).map_or(&[], Vec::as_slice) };
    let at = |name: &str, nth: usize| values(name).get(nth).copied().flatten().filter(|v| v.is_finite());
    let due = |nth: usize| FATES.iter().any(|(name, ..)| at(name, nth).is_some_and(|n| n > 0.0));
    let length = (0..values(FATES[0].0).len()).rev().find(|nth| due(*nth)).map_or(0, |last| last + 1);
    let seconds = |nth: usize| (nth as u64 * series.interval_ms) as f64 / 1e3;
    let step = |first: usize| {
        let here = first..(first + merged).min(length);
        let fates = FATES.map(|(name, ..)| here.clone().filter_map(|nth| at(name, nth)).sum());
        let right = |nth: usize| at(FATES[0].0, nth).unwrap_or(0.0) + at(FATES[1].0, nth).unwrap_or(0.0);
        let response_us = here.clone().filter_map(|nth| Some(at(RESPONSE, nth)? * right(nth))).sum();
        Step { from: seconds(first), to: seconds(here.end), fates, response_us }
    };
    (0..length).step_by(merged.max(1)).map(step).collect()
}

fn chart(record: &Record, id: String, trial: &Trial, steps: &[Step], scales: &Scales) -> OverloadChart {
    let fates = (0..FATES.len()).map(|nth| Bars { kind: FATES[nth].1, path: bars(steps, nth, scales) });
    let responses: Vec<Option<f64>> = steps.iter().map(Step::response_us).collect();
    let middle = |nth: usize| scales.x.at((steps[nth].from + steps[nth].to) / 2.0);
    let drop = dropped(record, trial, scales);
    OverloadChart {
        id,
        title: one_line(&format!(
            "{}, block {}{}",
            trial.contender,
            trial.block + 1,
            drop.as_ref().map_or(String::new(), |drop| format!(": {}", drop.text))
        )),
        description: one_line(&description(steps, drop.as_ref())),
        panels: panels(scales),
        fates: fates.filter(|bars| !bars.path.is_empty()).collect(),
        offered: outline(steps, scales),
        responses: scales.times.as_ref().map_or(String::new(), |times| path(&responses, middle, times)),
        tips: tips(steps, scales),
        drop,
    }
}

fn panels(scales: &Scales) -> Vec<Panel> {
    let number = |value: f64| Unit::Number.tick(value);
    let panel = |title, plot: Plot, y_ticks: Vec<Tick>, is_last: bool| {
        let frame = match is_last {
            true => plot.upright(ticks(&scales.x, number), y_ticks).titled("seconds"),
            false => plot.upright(Vec::new(), y_ticks),
        };
        Panel { title, frame }
    };
    let rates = "requests a second, by when they were due";
    let rates = panel(rates, RATES, ticks(&scales.rate, number), scales.times.is_none());
    let times = scales
        .times
        .as_ref()
        .map(|times| panel("mean response of right answers, log scale", TIMES, time_ticks(times), true));
    std::iter::once(rates).chain(times).collect()
}

/// The ticks of response times: powers of ten alone if others would be too near one another.
fn time_ticks(scale: &Scale) -> Vec<Tick> {
    let mut values = scale.ticks();
    if scale.log && values.windows(2).any(|pair| (scale.at(pair[0]) - scale.at(pair[1])).abs() < ROOM) {
        values.retain(|value| (value.log10() - value.log10().round()).abs() < 1e-6);
    }
    let tick = |value: f64| Tick { at: scale.at(value), label: Unit::Microseconds.tick(value) };
    values.into_iter().map(tick).collect()
}

/// The bars of fate `nth` as an SVG path, on top of the fates before it.
fn bars(steps: &[Step], nth: usize, scales: &Scales) -> String {
    let bar = |step: &Step| {
        let below: f64 = step.fates[..nth].iter().sum();
        let (low, high) = (step.rate(below), step.rate(below + step.fates[nth]));
        let (from, to) = (scales.x.at(step.from), scales.x.at(step.to));
        (high > low).then(|| {
            format!("M{from},{}V{}H{to}V{}z", scales.rate.at(low), scales.rate.at(high), scales.rate.at(low))
        })
    };
    steps.iter().filter_map(bar).collect()
}

/// The rate of requests that were due, as an SVG path in steps.
fn outline(steps: &[Step], scales: &Scales) -> String {
    let mut line = String::new();
    for (nth, step) in steps.iter().enumerate() {
        let (pen, from) =
            if nth == 0 { ('M', scales.x.at(step.from)) } else { ('L', scales.x.at(step.from)) };
        let y = scales.rate.at(step.due());
        line += &format!("{pen}{from},{y}H{}", scales.x.at(step.to));
    }
    line
}

fn tips(steps: &[Step], scales: &Scales) -> Vec<Tip> {
    let tip = |steps: &[Step]| {
        let (first, last) = (steps.first()?, steps.last()?);
        let sum = |nth: usize| steps.iter().map(|step| step.fates[nth]).sum::<f64>();
        let mut fates = [0.0; FATES.len()];
        (0..FATES.len()).for_each(|nth| fates[nth] = sum(nth));
        let response_us = steps.iter().map(|step| step.response_us).sum();
        let all = Step { from: first.from, to: last.to, fates, response_us };
        let of = |(nth, (.., words)): (usize, &(&str, &str, &str))| {
            (all.fates[nth] > 0.0).then(|| format!("{} {words}", significant(all.rate(all.fates[nth]), 3)))
        };
        let fates: Vec<String> = FATES.iter().enumerate().filter_map(of).collect();
        let mean = all.response_us().map_or(String::new(), |us| {
            format!("; right answers took {} on average", Unit::Microseconds.text(us))
        });
        let x = scales.x.at(all.from);
        Some(Tip {
            x,
            width: tenth(scales.x.at(all.to) - x),
            text: format!(
                "{} to {}: {} a second, {}{mean}",
                Unit::Seconds.tick(all.from),
                Unit::Seconds.tick(all.to),
                significant(all.due(), 3),
                fates.join(", ")
            ),
        })
    };
    steps.chunks(steps.len().div_ceil(TIPS).max(1)).filter_map(tip).collect()
}

fn dropped(record: &Record, trial: &Trial, scales: &Scales) -> Option<Dropped> {
    let drop = trial.sample.disturbance.as_ref().filter(|it| it.kind == "drop")?;
    let metric = record.metric(RECOVERY)?;
    let recovery_ms = *trial.sample.metrics.get(&metric.name)?;
    let bound = trial.is_lower_bound(&metric.name);
    let text = match bound {
        true => format!("not back to normal within {}", metric.text(recovery_ms)),
        false if recovery_ms == 0.0 => "back to normal at once".to_owned(),
        false => format!("back to normal after {}", metric.text(recovery_ms)),
    };
    Some(Dropped {
        x: scales.x.at(drop.began_ms / 1e3),
        recovered: (!bound).then(|| scales.x.at((drop.since_ms + recovery_ms) / 1e3)),
        text,
    })
}

fn description(steps: &[Step], drop: Option<&Dropped>) -> String {
    let due = || steps.iter().map(Step::due);
    let fates = FATES.iter().enumerate().map(|(nth, (.., words))| {
        format!("{} {words}", count(steps.iter().map(|step| step.fates[nth]).sum()))
    });
    let times: Vec<f64> = steps.iter().filter_map(Step::response_us).collect();
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let took = match times.is_empty() {
        true => "No right answer.".to_owned(),
        false => format!(
            "On average right answers took between {} and {}.",
            Unit::Microseconds.text(least(&mut times.iter().copied())),
            Unit::Microseconds.text(times.iter().copied().fold(0.0, f64::max))
        ),
    };
    format!(
        "What became of requests over {}, offered at {} to {} a second: {}. {took}{}",
        Unit::Seconds.text(steps.last().map_or(0.0, |step| step.to)),
        significant(least(&mut due()), 3),
        significant(due().fold(0.0, f64::max), 3),
        fates.collect::<Vec<_>>().join(", "),
        drop.map_or(String::new(), |drop| format!(" After the load had dropped: {}.", drop.text))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series() -> Series {
        let column = |values: [f64; 5]| values.map(Some).to_vec();
        let columns = [
            ("due_good", column([1.0, 2.0, 0.0, 1.0, 0.0])),
            ("due_late", column([0.0, 1.0, 0.0, 1.0, 0.0])),
            ("due_refusals", column([3.0, 0.0, 0.0, 0.0, 0.0])),
            ("due_timeouts", column([0.0, 0.0, 4.0, 0.0, 0.0])),
            ("due_lost", column([0.0, 0.0, 0.0, 0.0, 0.0])),
            (RESPONSE, vec![Some(10.0), Some(50.0), None, Some(7.0), None]),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), values)).into();
        Series { interval_ms: 100, columns, ..Series::default() }
    }

    #[test]
    fn sums_of_intervals_are_a_rate_and_an_exact_mean() {
        let steps = merge(&series(), 2);
        let of = |step: &Step| (step.from, step.to, step.fates);
        assert_eq!(of(&steps[0]), (0.0, 0.2, [3.0, 1.0, 3.0, 0.0, 0.0]));
        assert_eq!(of(&steps[1]), (0.2, 0.4, [1.0, 1.0, 0.0, 4.0, 0.0]));
        assert_eq!(steps.len(), 2, "nothing is due any more");
        assert_eq!(steps[0].due().round(), 35.0);
        assert_eq!(steps[0].response_us(), Some((10.0 + 3.0 * 50.0) / 4.0));
        assert_eq!(merge(&series(), 1)[2].response_us(), None);
        // The last one is shorter.
        assert_eq!(of(&merge(&series(), 3)[1]), (0.3, 0.4, [1.0, 1.0, 0.0, 0.0, 0.0]));
    }

    #[test]
    fn bars_stand_on_those_below_them() {
        let steps = merge(&series(), 2);
        let scales = Scales {
            x: Scale::linear(0.0, 0.4, (0.0, 40.0)),
            rate: Scale::linear(0.0, 40.0, (40.0, 0.0)),
            times: None,
        };
        assert_eq!(bars(&steps, 1, &scales), "M0,25V20H20V25zM20,35V30H40V35z");
        assert_eq!(bars(&steps, 4, &scales), "");
        assert_eq!(outline(&steps, &scales), "M0,5H20L20,10H40");
        let texts: Vec<String> = tips(&steps, &scales).into_iter().map(|tip| tip.text).collect();
        assert_eq!(
            texts[1],
            "200 ms to 400 ms: 30.0 a second, 5.00 good, 5.00 late, 20.0 timed out; right answers took 7.00 µs on average"
        );
    }
}
