//! Charts of single trials of a function: the lives of the instances over time, and which instance each call went to.

mod order;
mod words;

use std::collections::BTreeMap;

use kumite_record::{Call, Outcome, Phase, PhaseKind, Trial, Unit};
use serde::Serialize;

use crate::charts::frame::{Frame, Plot, ticks, time_from_zero};
use crate::charts::lanes::{Drawn, Lane, Marks, by_look};
use crate::charts::scale::Scale;
use crate::charts::{Budget, tenth};
use crate::words::number::{count, plural};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

use order::CallOrder;
use words::{call_text, described, phase_text};

/// A chart of the instances of one trial.
#[derive(Debug, Serialize)]
pub struct InstanceChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    /// The reason why the trial does not count; none if it does.
    pub lost: Option<&'static str>,
    pub description: String,
    pub frame: Frame,
    /// The lane of the calls, then those of the instances.
    pub lanes: Vec<Lane>,
    pub looks: Vec<Marks>,
    pub order: CallOrder,
    /// The sentence that says how many phases and calls were merged to how many marks; none if each phase and call has
    /// a mark of its own.
    pub merged: Option<String>,
}

/// The plot without lanes: its bottom is set by their number.
const PLOT: Plot = Plot { width: 580.0, left: 118.0, right: 554.0, top: 4.0, bottom: 4.0 };
const CALLS: f64 = 18.0;
const LANE: f64 = 22.0;
/// The room between the lanes and the order of calls, for the values of time and the title of the order.
const BETWEEN: f64 = 48.0;
/// The least width of a mark. A shorter one is drawn this wide, and merged with neighbours of the same look that it
/// touches.
const LEAST: f64 = 3.0;
const MOST_LANES: usize = 12;
/// The most calls in the picture of their order.
const MOST_COLUMNS: usize = 40;
/// The greatest ratio of trials' lengths at which they share one time axis. Beside a longer trial, little of a
/// shorter one would be seen.
const ALIKE: f64 = 3.0;

/// The looks of marks, in the order in which they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Glyph {
    Frozen,
    Invoke,
    Init,
    Reinit,
    Killed,
    Warm,
    Cold,
    Failed,
}

impl Glyph {
    fn class(self) -> &'static str {
        match self {
            Glyph::Frozen => "phase-frozen",
            Glyph::Invoke => "phase-invoke",
            Glyph::Init => "phase-init",
            Glyph::Reinit => "phase-reinit",
            Glyph::Killed => "cross",
            Glyph::Warm => "call-warm",
            Glyph::Cold => "call-cold",
            Glyph::Failed => "cross",
        }
    }

    /// The SVG path of a mark from `x` to `to` in a lane whose middle is `middle`.
    fn outline(self, x: f64, to: f64, middle: f64) -> String {
        let bar = |half: f64| format!("M{x},{}H{to}v{}H{x}z", tenth(middle - half), tenth(2.0 * half));
        match self {
            Glyph::Frozen => bar(1.0),
            Glyph::Invoke => bar(5.0),
            Glyph::Init => bar(8.0),
            Glyph::Reinit => bar(7.0),
            // Several marks that were merged are a stretch of time.
            Glyph::Killed | Glyph::Failed if to > x + LEAST => {
                format!("{}M{x},{middle}H{to}", cross(x, middle))
            }
            Glyph::Warm if to > x + LEAST => bar(3.0),
            Glyph::Cold if to > x + LEAST => format!("{}{}", triangle(x, middle), bar(1.5)),
            Glyph::Killed | Glyph::Failed => cross(x, middle),
            Glyph::Warm => format!("M{x},{}v10", tenth(middle - 5.0)),
            Glyph::Cold => triangle(x, middle),
        }
    }
}

fn triangle(x: f64, middle: f64) -> String {
    format!("M{},{}h9l-4.5,9z", tenth(x - 4.5), tenth(middle - 4.5))
}

fn cross(x: f64, middle: f64) -> String {
    format!("M{},{}l8,8m0,-8l-8,8", tenth(x - 4.0), tenth(middle - 4.0))
}

pub fn has_calls(trial: &Trial) -> bool {
    !trial.sample.calls.is_empty() || !trial.sample.phases.is_empty()
}

/// A chart for each trial. All have the same time axis, unless one trial is more than three times as long as another.
/// `budget` has the limits for each chart. The ids are `id` and a number from 0.
pub fn instance_charts(id: &str, trials: &[&Trial], budget: Budget) -> Vec<InstanceChart> {
    let ends: Vec<f64> = trials.iter().map(|trial| end_ms(trial)).collect();
    let longest = ends.iter().copied().fold(0.0, f64::max);
    let alike = ends.iter().all(|end| *end * ALIKE >= longest);
    let charts = trials.iter().zip(ends).enumerate();
    charts
        .map(|(nth, (trial, end))| {
            chart(format!("{id}-{nth}"), trial, if alike { longest } else { end }, budget)
        })
        .collect()
}

fn chart(id: String, trial: &Trial, axis_ms: f64, budget: Budget) -> InstanceChart {
    let (calls, phases) = (&trial.sample.calls, &trial.sample.phases);
    let life = Life::new(trial);
    let x_scale = Scale::linear(0.0, axis_ms, PLOT.x());
    let spots = spots(&life, phases, &x_scale);
    let all = spots.len();
    let spots = merged(spots, budget.marks);
    let drawn_together = (spots.len() < all).then(|| {
        format!("{} phases and calls are drawn as {} marks", count(all as f64), count(spots.len() as f64))
    });
    let bottom = PLOT.top + CALLS + life.lanes.len() as f64 * LANE;
    let first = lane("calls".to_owned(), PLOT.top, CALLS);
    let instance =
        |(nth, label): (usize, &String)| lane(label.clone(), PLOT.top + CALLS + nth as f64 * LANE, LANE);
    let lanes: Vec<Lane> =
        std::iter::once(first).chain(life.lanes.iter().enumerate().map(instance)).collect();
    let told = spots.len() <= budget.told;
    let marks = spots.iter().map(|spot| {
        let lane = &lanes[spot.lane];
        Drawn {
            look: spot.look,
            several: spot.of > 1,
            path: spot.look.outline(spot.x, spot.to, lane.y + lane.height / 2.0),
            text: spot.text(),
        }
    });
    let looks = by_look(marks, Glyph::class, told);
    let end = Unit::Milliseconds.text(end_ms(trial));
    let on = plural(life.instances, "instance");
    let order = CallOrder::new(&life, bottom + BETWEEN);
    InstanceChart {
        id,
        title: one_line(&format!(
            "{}, block {}: {} on {on} in {end}",
            trial.contender,
            trial.block + 1,
            plural(calls.len(), "call")
        )),
        lost: (trial.outcome != Outcome::Ok).then(|| trial.outcome.as_str()),
        description: one_line(&described(trial, &life, &end)),
        frame: Plot { bottom, ..PLOT }.rows(ticks(&x_scale, time_from_zero(Unit::Milliseconds))),
        lanes,
        looks,
        order,
        merged: drawn_together,
    }
}

fn lane(label: String, y: f64, height: f64) -> Lane {
    Lane { label, y, height, class: "", count: None }
}

/// The instances of a trial, with their lanes and calls.
struct Life<'a> {
    calls: &'a [Call],
    instances: usize,
    /// The names of the lanes; the last may stand for several instances.
    lanes: Vec<String>,
    /// The lane of each instance, counted from 0, by the number of the instance.
    lane_of: BTreeMap<u32, usize>,
    /// The calls of each instance: the ms at which each was offered, and its position in the trial, from 0.
    calls_of: BTreeMap<u32, Vec<(f64, usize)>>,
}

impl<'a> Life<'a> {
    fn new(trial: &'a Trial) -> Life<'a> {
        let calls = &trial.sample.calls;
        let mut calls_of: BTreeMap<u32, Vec<(f64, usize)>> = BTreeMap::new();
        for phase in &trial.sample.phases {
            calls_of.entry(phase.instance).or_default();
        }
        for (nth, call) in calls.iter().enumerate() {
            if let Some(instance) = call.instance {
                calls_of.entry(instance).or_default().push((call.offered_ms, nth));
            }
        }
        let own = if calls_of.len() > MOST_LANES { MOST_LANES - 1 } else { calls_of.len() };
        let mut lanes: Vec<String> =
            calls_of.keys().take(own).map(|instance| format!("instance {instance}")).collect();
        if own < calls_of.len() {
            lanes.push(format!("{} more", count((calls_of.len() - own) as f64)));
        }
        let lane_of = calls_of.keys().enumerate().map(|(nth, instance)| (*instance, nth.min(own))).collect();
        Life { calls, instances: calls_of.len(), lanes, lane_of, calls_of }
    }

    /// The position of the last call that was offered to an instance by `ms`; none if there was none.
    fn call_at(&self, instance: u32, ms: f64) -> Option<usize> {
        let calls = self.calls_of.get(&instance)?;
        calls.iter().rev().find(|(offered, _)| *offered <= ms).map(|(_, nth)| *nth)
    }
}

/// A mark for a phase or a call, or for several of one look.
struct Spot {
    /// The mark's lane: 0 is that of the calls, then come the instances.
    lane: usize,
    look: Glyph,
    x: f64,
    to: f64,
    /// True if the mark is too short to be seen in its true width.
    small: bool,
    first: String,
    from_ms: f64,
    to_ms: f64,
    of: usize,
}

impl Spot {
    fn text(&self) -> String {
        let ms = |value: f64| Unit::Milliseconds.text(value);
        match self.of {
            1 => self.first.clone(),
            n => format!(
                "{} of this kind from {} to {}; the first: {}",
                count(n as f64),
                ms(self.from_ms),
                ms(self.to_ms),
                self.first
            ),
        }
    }
}

fn spots(life: &Life, phases: &[Phase], x_scale: &Scale) -> Vec<Spot> {
    let spot = |lane, look, from_ms: f64, to_ms: f64, first| {
        let (x, to) = (x_scale.at(from_ms), x_scale.at(to_ms));
        let small = to - x <= LEAST;
        Spot {
            lane,
            look,
            x,
            to: tenth(if small { x + LEAST } else { to }),
            small,
            first,
            from_ms,
            to_ms,
            of: 1,
        }
    };
    let of_phase = |phase: &Phase| {
        let look = match phase.kind {
            PhaseKind::Init => Glyph::Init,
            PhaseKind::Reinit => Glyph::Reinit,
            PhaseKind::Invoke => Glyph::Invoke,
            PhaseKind::Frozen => Glyph::Frozen,
            // The end of an instance with its trial is no event.
            PhaseKind::Killed if phase.ending.is_none() => return None,
            PhaseKind::Killed => Glyph::Killed,
        };
        let lane = 1 + life.lane_of.get(&phase.instance)?;
        let to_ms = if look == Glyph::Killed { phase.from_ms } else { phase.to_ms };
        Some(spot(lane, look, phase.from_ms, to_ms, phase_text(life, phase)))
    };
    let of_call = |(nth, call): (usize, &Call)| {
        let look = match call {
            Call { error: Some(_), .. } => Glyph::Failed,
            Call { cold: true, .. } => Glyph::Cold,
            _ => Glyph::Warm,
        };
        spot(0, look, call.offered_ms, call.offered_ms, call_text(nth, call))
    };
    phases.iter().filter_map(of_phase).chain(life.calls.iter().enumerate().map(of_call)).collect()
}

/// Merges marks that are too short to be seen with neighbours of the same look and lane that they touch. Merges more
/// of them until at most `most` are left, as far as they are near each other.
fn merged(mut spots: Vec<Spot>, most: usize) -> Vec<Spot> {
    spots.sort_by(|a, b| (a.lane, a.look).cmp(&(b.lane, b.look)).then(a.x.total_cmp(&b.x)));
    let mut least = LEAST;
    loop {
        let mut few: Vec<Spot> = Vec::new();
        for spot in spots {
            let small = spot.small || spot.to - spot.x < least;
            match few.last_mut() {
                Some(last)
                    if small
                        && last.small
                        && (last.lane, last.look) == (spot.lane, spot.look)
                        && spot.x - last.to < least - LEAST =>
                {
                    last.to = last.to.max(spot.to);
                    last.to_ms = last.to_ms.max(spot.to_ms);
                    last.of += spot.of;
                }
                _ => few.push(Spot { small, ..spot }),
            }
        }
        if few.len() <= most || least > PLOT.right - PLOT.left {
            return few;
        }
        (spots, least) = (few, least * 2.0);
    }
}

/// The end of the last call or phase that is not a frozen one, in ms from the trial's start; 0 if there is none.
fn end_ms(trial: &Trial) -> f64 {
    let phases = trial.sample.phases.iter().filter_map(|phase| match phase.kind {
        PhaseKind::Killed => phase.ending.as_ref().map(|_| phase.from_ms),
        // The last frozen phase of an instance lasts until its trial ends, and shows nothing.
        PhaseKind::Frozen => None,
        _ => Some(phase.to_ms),
    });
    let calls = trial.sample.calls.iter().map(|call| call.offered_ms + call.wall_ms);
    phases.chain(calls).filter(|ms| ms.is_finite()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spot(look: Glyph, from: f64, to: f64) -> Spot {
        let small = to - from <= LEAST;
        let first = format!("{from}");
        Spot {
            lane: 1,
            look,
            x: from,
            to: if small { from + LEAST } else { to },
            small,
            first,
            from_ms: from,
            to_ms: to,
            of: 1,
        }
    }

    fn places(spots: &[Spot]) -> Vec<(Glyph, f64, f64, usize)> {
        spots.iter().map(|spot| (spot.look, spot.x, spot.to, spot.of)).collect()
    }

    #[test]
    fn only_what_is_too_short_to_be_seen_is_one_with_its_neighbours() {
        let long = [spot(Glyph::Invoke, 0.0, 100.0), spot(Glyph::Invoke, 100.0, 200.0)];
        assert_eq!(places(&merged(long.into(), 9)).len(), 2);
        let short = [
            spot(Glyph::Invoke, 10.0, 10.1),
            spot(Glyph::Invoke, 12.0, 12.1),
            spot(Glyph::Init, 12.0, 12.1),
            spot(Glyph::Invoke, 14.5, 14.6),
            spot(Glyph::Invoke, 18.0, 18.1),
        ];
        assert_eq!(
            places(&merged(short.into(), 9)),
            [(Glyph::Invoke, 10.0, 17.5, 3), (Glyph::Invoke, 18.0, 21.0, 1), (Glyph::Init, 12.0, 15.0, 1)]
        );
    }

    #[test]
    fn there_are_never_more_marks_than_may_be() {
        let many = (0..400).map(|nth| spot(Glyph::Invoke, f64::from(nth) * 4.0, f64::from(nth) * 4.0));
        let few = merged(many.collect(), 10);
        assert!(few.len() <= 10, "{}", few.len());
        assert_eq!(few.iter().map(|spot| spot.of).sum::<usize>(), 400);
    }
}
