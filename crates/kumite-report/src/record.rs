//! A record, with what is looked up in it again and again: made once, so that a report takes as long as its record is.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};

use kumite_record::{AxisValue, Cell, Export, Metric, Point, Trial, standing};

use crate::kind::{self, Kind};
use crate::metric::{known, present};

/// A record and its index.
pub struct Record<'a> {
    pub export: &'a Export,
    pub kind: &'static dyn Kind,
    /// What trials measure, in the order in which it is shown; last what no descriptor names.
    pub metrics: Vec<Metric>,
    /// What their parts measure.
    pub part_metrics: Vec<Metric>,
    places: HashMap<Key<'a>, usize>,
    points: Vec<AtPoint<'a>>,
    nothing: AtPoint<'a>,
}

/// All of a point, each in the order of the record.
#[derive(Default)]
pub struct AtPoint<'a> {
    pub cells: Vec<&'a Cell>,
    /// The parts of its trials: contenders in the order of the record, each with its parts in theirs.
    pub parts: Vec<&'a Cell>,
    pub trials: Vec<&'a Trial>,
    /// Those of the trials that were not measured anew.
    pub standing: Vec<&'a Trial>,
}

impl<'a> Record<'a> {
    pub fn of(export: &'a Export) -> Record<'a> {
        let mut record = Record {
            export,
            kind: kind::named(export.run.kind.as_str()),
            metrics: known(&export.run.metrics, &export.cells),
            part_metrics: known(&export.run.part_metrics, &export.parts),
            places: HashMap::new(),
            points: Vec::new(),
            nothing: AtPoint::default(),
        };
        for cell in &export.cells {
            record.point(&cell.point).cells.push(cell);
        }
        for trial in &export.trials {
            record.point(&trial.point).trials.push(trial);
        }
        for trial in standing(&export.trials) {
            record.point(&trial.point).standing.push(trial);
        }
        record.add_parts();
        record
    }

    fn point(&mut self, point: &'a Point) -> &mut AtPoint<'a> {
        let place = *self.places.entry(Key(point)).or_insert(self.points.len());
        if place == self.points.len() {
            self.points.push(AtPoint::default());
        }
        &mut self.points[place]
    }

    fn add_parts(&mut self) {
        let Some(within) = &self.export.run.within else { return };
        for part in &self.export.parts {
            let mut outer = part.point.clone();
            let is_part = outer.0.remove(&within.axis).is_some();
            if let Some(place) = self.places.get(&Key(&outer)).filter(|_| is_part) {
                self.points[*place].parts.push(part);
            }
        }
        let nth: HashMap<String, usize> =
            within.values.iter().enumerate().map(|(nth, value)| (value.to_string(), nth)).collect();
        let contenders = &self.export.contenders;
        let order = |part: &&Cell| {
            let contender = contenders.iter().position(|known| known.name == part.contender);
            let value = part.point.get(&within.axis).map(ToString::to_string);
            (contender, value.and_then(|value| nth.get(&value).copied()))
        };
        self.points.iter_mut().for_each(|point| point.parts.sort_by_cached_key(order));
    }

    /// What there is at a point.
    pub fn at(&self, point: &Point) -> &AtPoint<'a> {
        self.places.get(&Key(point)).map_or(&self.nothing, |place| &self.points[*place])
    }

    /// The trials of a cell, those that were measured anew included.
    pub fn trials_of(&self, cell: &Cell) -> impl Iterator<Item = &'a Trial> {
        let contender = &cell.contender;
        self.at(&cell.point).trials.iter().copied().filter(move |trial| trial.contender == *contender)
    }

    /// The metrics of trials that any of these cells has, in their order.
    pub fn metrics_of(&self, cells: &[&Cell]) -> Vec<&Metric> {
        present(&self.metrics, cells)
    }

    /// The same, of the parts of trials.
    pub fn part_metrics_of(&self, cells: &[&Cell]) -> Vec<&Metric> {
        present(&self.part_metrics, cells)
    }

    /// The metric of trials that has this role in a report.
    pub fn metric(&self, role: &str) -> Option<&Metric> {
        with_role(&self.metrics, role)
    }

    /// The same, of the parts of trials.
    pub fn part_metric(&self, role: &str) -> Option<&Metric> {
        with_role(&self.part_metrics, role)
    }

    /// A trial's figure in this role.
    pub fn figure(&self, trial: &Trial, role: &str) -> Option<f64> {
        trial.sample.metrics.get(&self.metric(role)?.name).copied()
    }
}

fn with_role<'m>(metrics: &'m [Metric], role: &str) -> Option<&'m Metric> {
    metrics.iter().find(|metric| metric.role.as_deref() == Some(role))
}

/// A point to be looked up by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key<'a>(pub &'a Point);

// A value that is no number equals nothing, and so is found by nobody.
impl Eq for Key<'_> {}

impl Hash for Key<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (axis, value) in &self.0.0 {
            axis.hash(state);
            match value {
                AxisValue::Int(value) => value.hash(state),
                // The two zeros are equal.
                AxisValue::Float(value) => (value + 0.0).to_bits().hash(state),
                AxisValue::Text(value) => value.hash(state),
                AxisValue::Bool(value) => value.hash(state),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn point(value: AxisValue) -> Point {
        Point([("n".to_owned(), value)].into())
    }

    #[test]
    fn a_point_is_found_by_one_that_is_equal_and_by_no_other() {
        let points = [
            point(AxisValue::Int(1)),
            point(AxisValue::Float(1.0)),
            point(AxisValue::Text("1".to_owned())),
            point(AxisValue::Bool(true)),
        ];
        let known: HashSet<Key> = points[..1].iter().map(Key).collect();
        assert_eq!(points.clone().map(|point| known.contains(&Key(&point))), [true, false, false, false]);
        let zero = point(AxisValue::Float(0.0));
        assert!(HashSet::from([Key(&zero)]).contains(&Key(&point(AxisValue::Float(-0.0)))));
    }
}
