//! The states of a player, and their errors: the time between when a state was due and when it came.

use kumite_record::{Arrival, AxisValue, Cell, Outcome, Point, Trial};

use crate::record::Record;
use crate::tables::cells::{Column, Entry, Filled};
use crate::tables::group::Groups;
use crate::words::number::significant;

/// A point at which states came.
pub struct PacedAt<'a> {
    pub place: String,
    pub point: &'a Point,
}

/// The shares of states for which the greatest error is shown, from 0 to 1, with their names.
pub const SHARES: [(f64, &str); 5] =
    [(0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (1.0, "all")];
/// The position in `SHARES` of the share that orders contenders: 99 %.
const ORDER: usize = 2;

/// A cell with its errors: for each of `SHARES`, the greatest error of this share of the cell's states, early or late,
/// in µs. The errors are none if no trial with states counts.
pub struct Pooled<'a> {
    pub cell: &'a Cell,
    pub within_us: Option<[f64; SHARES.len()]>,
}

pub fn has_arrivals(trial: &Trial) -> bool {
    !trial.sample.arrivals.is_empty()
}

/// The points without a disturbance at which states came. Points that differ only in the load of the machine are next
/// to each other.
pub fn paced<'a>(record: &Record<'a>, groups: &Groups<'a>) -> Vec<PacedAt<'a>> {
    let came = |point: &Point| record.at(point).standing.iter().any(|trial| has_arrivals(trial));
    let all = groups.calm().flat_map(|group| groups.points_of(group));
    let mut points: Vec<PacedAt> =
        all.filter(|(_, point)| came(point)).map(|(place, point)| PacedAt { place, point }).collect();
    let but_for_load = |paced: &PacedAt| {
        let mut point = paced.point.clone();
        point.0.remove("load");
        point.to_string()
    };
    points.sort_by_cached_key(but_for_load);
    points
}

/// The errors of the cells of each point. Contenders have the same order at all points: by the error of 99 % of their
/// states at the first point, the smallest first.
pub fn pooled<'a>(record: &Record<'a>, points: &[PacedAt]) -> Vec<Vec<Pooled<'a>>> {
    let mut all: Vec<Vec<Pooled>> = points.iter().map(|paced| pooled_at(record, paced.point)).collect();
    let Some(first) = all.first_mut() else { return all };
    let size = |pooled: &Pooled| pooled.within_us.map_or(f64::INFINITY, |within_us| within_us[ORDER]);
    first.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let order: Vec<&str> = first.iter().map(|pooled| &*pooled.cell.contender).collect();
    let place = |name: &str| order.iter().position(|known| *known == name).unwrap_or(order.len());
    all.iter_mut().for_each(|cells| cells.sort_by_key(|pooled| place(&pooled.cell.contender)));
    all
}

/// The errors of the cells of a point, over the trials that count.
fn pooled_at<'a>(record: &Record<'a>, point: &Point) -> Vec<Pooled<'a>> {
    let here = record.at(point);
    let of_cell = |cell: &&'a Cell| {
        let counted = here
            .standing
            .iter()
            .filter(|trial| trial.contender == cell.contender && trial.outcome == Outcome::Ok);
        let errors = counted.flat_map(|trial| &trial.sample.arrivals).map(|of| of.error_us.abs());
        let mut sizes: Vec<f64> = errors.filter(|us| us.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        let within_us = (!sizes.is_empty()).then(|| SHARES.map(|(share, _)| rank(&sizes, share)));
        Pooled { cell, within_us }
    };
    here.cells.iter().map(of_cell).collect()
}

/// The value at a share of sorted sizes, by the nearest rank. Panics if there are none.
fn rank(sizes: &[f64], share: f64) -> f64 {
    let rank = (share * sizes.len() as f64).ceil() as usize;
    sizes[rank.clamp(1, sizes.len()) - 1]
}

/// The length of a frame at a point, in µs. If the record does not have the number of frames a second, the shortest
/// time between two states is taken. None if no two states are known.
pub fn frame_us(record: &Record, point: &Point) -> Option<f64> {
    let fps = point.get("fps").or_else(|| record.export.run.workload.get("fps")).and_then(AxisValue::number);
    let states = record.at(point).standing.iter().map(|trial| &*trial.sample.arrivals);
    fps.map(|fps| 1e6 / fps).or_else(|| shortest_us(states)).filter(|us| us.is_finite() && *us > 0.0)
}

fn shortest_us<'a>(plays: impl Iterator<Item = &'a [Arrival]>) -> Option<f64> {
    let gaps = plays.flat_map(|states| states.iter().zip(states.iter().skip(1)));
    gaps.map(|(state, next)| (next.due_ms - state.due_ms) * 1e3).filter(|us| *us > 0.0).reduce(f64::min)
}

/// The mean error of the last 60 frames in frames: `< 1 frame`, `2.35 frames`.
pub fn off_at_end(last_us: f64, frame_us: f64) -> String {
    match last_us / frame_us {
        frames if frames < 1.0 => "< 1 frame".to_owned(),
        frames => format!("{} frames", significant(frames, 3)),
    }
}

/// The column of errors at the end, in frames; none if no cell has one, or if the length of a frame is not known.
pub fn end_column(record: &Record, cells: &[&Cell], point: &Point) -> Option<Filled> {
    let metric = record.metric("error-last")?;
    let last = |cell: &Cell| cell.metrics.get(&metric.name).map(|of| of.estimate);
    let frame_us = cells.iter().any(|cell| last(cell).is_some()).then(|| frame_us(record, point))??;
    let entry = |cell: &&Cell| Entry::plain(last(cell).map_or("–".into(), |us| off_at_end(us, frame_us)));
    let column = Column { name: "off at end".to_owned(), numeric: false };
    Some((column, cells.iter().map(entry).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_at_most_as_long_as_any_state() {
        let states = |due_ms: &[f64]| -> Vec<Arrival> {
            due_ms.iter().map(|due_ms| Arrival { due_ms: *due_ms, error_us: 0.0 }).collect()
        };
        let plays = [states(&[0.0, 50.0, 50.0, 75.0, 150.0]), states(&[0.0, 100.0]), states(&[7.0])];
        assert_eq!(shortest_us(plays.iter().map(Vec::as_slice)), Some(25_000.0));
        assert_eq!(shortest_us([].into_iter()), None);
    }

    #[test]
    fn a_frame_off_is_said_in_frames() {
        assert_eq!(off_at_end(16_682.0, 16_683.0), "< 1 frame");
        assert_eq!(off_at_end(16_683.0, 16_683.0), "1.00 frames");
        assert_eq!(off_at_end(161_000.0, 16_683.0), "9.65 frames");
    }

    #[test]
    fn shares_are_nearest_ranks() {
        let sizes: Vec<f64> = (1..=1000).map(f64::from).collect();
        assert_eq!(SHARES.map(|(share, _)| rank(&sizes, share)), [500.0, 900.0, 990.0, 999.0, 1000.0]);
        assert_eq!(SHARES.map(|(share, _)| rank(&sizes[..1], share)), [1.0; 5]);
    }
}
