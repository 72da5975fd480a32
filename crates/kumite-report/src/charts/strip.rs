//! Single values as dots along a horizontal axis, a row for each set of them: nothing is hidden behind a median.

use kumite_record::Unit;
use serde::Serialize;

use super::frame::{Frame, Plot, ticks_apart};
use super::rows::{LABEL_CHARS, PLOT};
use super::scale::Scale;
use super::shortened;
use crate::words::quantity::Measured;

/// A chart with a row for each set of values, on one scale.
#[derive(Debug, Serialize)]
pub struct StripChart {
    /// The id of the chart, unique in its page.
    pub id: String,
    pub title: String,
    pub description: String,
    pub frame: Frame,
    pub rows: Vec<Strip>,
}

/// The row of a set of values.
#[derive(Debug, Serialize)]
pub struct Strip {
    pub label: String,
    /// The y of the row's middle.
    pub y: f64,
    pub points: Vec<f64>,
    pub median: f64,
    /// Both ends of the median's interval; an end that is not known lies at the median.
    pub interval: (f64, f64),
}

/// A set of values, with its median and the ends of the median's interval if they are known.
pub struct Values<'a> {
    pub name: &'a str,
    pub all: &'a [f64],
    pub median: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

const ROW: f64 = 34.0;
/// The most dots in a row: of more values, every second or third is drawn, and so on.
const MOST_DOTS: usize = 400;
/// Values are drawn at the edge if they are farther from the median than this many times the distance of the 5th or
/// the 95th percentile, the farther of the two.
const FAR: f64 = 3.0;

/// A chart with a row for each of `sets`; none if there is no set, or if one of them is empty. In a row of more than
/// 400 values, only every second, third and so on is drawn. Values far from the median lie at the edge.
pub fn strip_chart(id: &str, title: &str, unit: Unit, sets: &[Values]) -> Option<StripChart> {
    let ends: Vec<(f64, f64)> = sets.iter().map(|set| nearby(set.all)).collect::<Option<_>>()?;
    let from = ends.iter().map(|(low, _)| *low).reduce(f64::min)?;
    let to = ends.iter().map(|(_, high)| *high).reduce(f64::max)?;
    let scale = Scale::linear(from, to, PLOT.x());
    let row = |(nth, set): (usize, &Values)| Strip {
        label: shortened(set.name, LABEL_CHARS),
        y: PLOT.top + (nth as f64 + 0.5) * ROW,
        points: set.all.iter().step_by(set.all.len().div_ceil(MOST_DOTS)).map(|x| scale.at(*x)).collect(),
        median: scale.at(set.median),
        interval: (scale.at(set.low.unwrap_or(set.median)), scale.at(set.high.unwrap_or(set.median))),
    };
    let text =
        |set: &Values| format!("{}: {} values, median {}.", set.name, set.all.len(), unit.text(set.median));
    Some(StripChart {
        id: id.to_owned(),
        title: title.to_owned(),
        description: sets.iter().map(text).collect::<Vec<_>>().join(" "),
        frame: Plot { bottom: PLOT.top + sets.len() as f64 * ROW, ..PLOT }
            .rows(ticks_apart(&scale, |value| unit.tick(value))),
        rows: sets.iter().enumerate().map(row).collect(),
    })
}

/// The ends of a scale that shows nearly all values; values that are far off (`FAR`) lie outside. None if there is no
/// value.
fn nearby(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    let at = |share: f64| sorted[(last as f64 * share).round() as usize];
    let (low, middle, high) = (at(0.05), at(0.5), at(0.95));
    let reach = FAR * (high - middle).max(middle - low);
    Some((at(0.0).max(middle - reach), at(1.0).min(middle + reach)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strips(sets: &[&[f64]]) -> Option<StripChart> {
        let set = |all: &&'static [f64]| Values { name: "a", all, median: 2.0, low: None, high: None };
        let sets: Vec<&'static [f64]> = sets.iter().map(|all| &*all.to_vec().leak()).collect();
        strip_chart("id", "", Unit::Seconds, &sets.iter().map(set).collect::<Vec<_>>())
    }

    #[test]
    fn an_axis_has_ticks_between_its_ends_and_a_far_value_is_at_the_edge() {
        let mut values: Vec<f64> = (0..40).map(|nth| 1.0 + f64::from(nth) / 20.0).collect();
        values.push(1_000.0);
        let chart = strips(&[&values]).unwrap();
        assert!(chart.frame.x_ticks.len() >= 2, "{:?}", chart.frame.x_ticks);
        assert!(chart.frame.x_ticks.iter().all(|tick| (PLOT.left..=PLOT.right).contains(&tick.at)));
        assert_eq!(chart.rows[0].points.last(), Some(&PLOT.right));
        assert_eq!(chart.rows[0].points.len(), 41);
    }

    #[test]
    fn nothing_has_no_chart() {
        assert!(strips(&[]).is_none());
        assert!(strips(&[&[]]).is_none());
    }
}
