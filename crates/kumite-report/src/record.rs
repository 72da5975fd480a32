//! A record with an index of what is looked up in it often. The index is made once, so that a report takes time in
//! proportion to the size of the record.

use std::collections::HashMap;

use kumite_record::{AxisValue, Cell, Export, Metric, Point, Trial, standing};

use crate::metric::{known, present};

/// A record with its index.
pub struct Record<'a> {
    pub export: &'a Export,
    /// The metrics of trials, in the order in which they are shown; those without a descriptor are last.
    pub metrics: Vec<Metric>,
    /// The metrics of parts of trials, such as single calls, in the order in which they are shown.
    pub part_metrics: Vec<Metric>,
    places: HashMap<&'a Point, usize>,
    points: Vec<AtPoint<'a>>,
    nothing: AtPoint<'a>,
}

/// The cells, parts and trials of a point, each in the order of the record.
#[derive(Default)]
pub struct AtPoint<'a> {
    pub cells: Vec<&'a Cell>,
    /// The parts of the point's trials, by contender in the order of the record, then in the order of the axis within
    /// trials.
    pub parts: Vec<&'a Cell>,
    pub trials: Vec<&'a Trial>,
    /// The trials at this point that stand: those of each block's last attempt, unless one of these trials is void.
    /// Their outcome may be a failure.
    pub standing: Vec<&'a Trial>,
}

impl<'a> Record<'a> {
    pub fn new(export: &'a Export) -> Record<'a> {
        let mut record = Record {
            export,
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
        let place = *self.places.entry(point).or_insert(self.points.len());
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
            if let Some(place) = self.places.get(&outer).filter(|_| is_part) {
                self.points[*place].parts.push(part);
            }
        }
        let nth: HashMap<&AxisValue, usize> =
            within.values.iter().enumerate().map(|(nth, value)| (value, nth)).collect();
        let contenders = &self.export.contenders;
        let order = |part: &&Cell| {
            let contender = contenders.iter().position(|known| known.name == part.contender);
            let value = part.point.get(&within.axis);
            (contender, value.and_then(|value| nth.get(value).copied()))
        };
        self.points.iter_mut().for_each(|point| point.parts.sort_by_cached_key(order));
    }

    /// The cells, parts and trials of a point; empty if the record does not have it.
    pub fn at(&self, point: &Point) -> &AtPoint<'a> {
        self.places.get(point).map_or(&self.nothing, |place| &self.points[*place])
    }

    /// The trials of a cell that stand: those of each block's last attempt, unless one of these trials is void. Their
    /// outcome may be a failure.
    pub fn trials_of(&self, cell: &Cell) -> impl Iterator<Item = &'a Trial> {
        let contender = &cell.contender;
        self.at(&cell.point).standing.iter().copied().filter(move |trial| trial.contender == *contender)
    }

    /// The metrics of trials for which any of these cells has a figure or lacks values, in the order in which they are
    /// shown.
    pub fn metrics_of(&self, cells: &[&Cell]) -> Vec<&Metric> {
        present(&self.metrics, cells)
    }

    /// The metrics of parts for which any of these cells has a figure or lacks values, in the order in which they are
    /// shown.
    pub fn part_metrics_of(&self, cells: &[&Cell]) -> Vec<&Metric> {
        present(&self.part_metrics, cells)
    }

    /// The metric of trials with this role; none if the record has no such metric.
    pub fn metric(&self, role: &str) -> Option<&Metric> {
        with_role(&self.metrics, role)
    }

    /// The metric of parts of trials with this role; none if the record has no such metric.
    pub fn part_metric(&self, role: &str) -> Option<&Metric> {
        with_role(&self.part_metrics, role)
    }

    /// The figure of a trial in the metric with this role; none if there is no such metric, or if the trial has no
    /// figure in it.
    pub fn figure(&self, trial: &Trial, role: &str) -> Option<f64> {
        trial.sample.metrics.get(&self.metric(role)?.name).copied()
    }
}

fn with_role<'m>(metrics: &'m [Metric], role: &str) -> Option<&'m Metric> {
    metrics.iter().find(|metric| metric.role.as_deref() == Some(role))
}
