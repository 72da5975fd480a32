//! The points of a run, and its trials at them. An axis within trials is unfolded: after the points of the plan come
//! the points that combine each of these with the values that the axis has there. A part of a trial is seen as a trial
//! at such a point, so that estimates and verdicts need not know of parts.

use std::collections::{BTreeMap, HashMap};

use kumite_record::{AxisValue, CellName, Enough, Mark, Needs, Outcome, Point, Run, Trial, TrialPart};

/// The points of a run: those of the plan, then those within trials.
pub struct Grid<'a> {
    pub run: &'a Run,
    pub points: Vec<Point>,
    /// For each point, its own position if it is a point of the plan; otherwise the position of the point of the plan
    /// within whose trials it lies.
    folded: Vec<usize>,
    /// The reason why this machine cannot measure each point. None if it can.
    unavailable: Vec<Option<&'a str>>,
    positions: HashMap<Point, usize>,
}

impl<'a> Grid<'a> {
    pub fn new(run: &'a Run) -> Grid<'a> {
        let unavailable: HashMap<&Point, &str> =
            run.unavailable.iter().map(|of| (&of.point, of.why.as_str())).collect();
        let mut points = run.points.clone();
        let mut folded: Vec<usize> = (0..points.len()).collect();
        if let Some(within) = &run.within {
            for (nth, point) in run.points.iter().enumerate() {
                let all = within.values.len();
                let values = &within.values[..run.within_at.get(nth).map_or(all, |count| all.min(*count))];
                points.extend(values.iter().map(|value| inside(point, &within.axis, value)));
                folded.extend(values.iter().map(|_| nth));
            }
        }
        let why = |nth: &usize| unavailable.get(&run.points[*nth]).copied();
        let positions = points.iter().enumerate().map(|(nth, point)| (point.clone(), nth)).collect();
        Grid { run, unavailable: folded.iter().map(why).collect(), folded, positions, points }
    }

    pub fn folded(&self, point: usize) -> usize {
        self.folded[point]
    }

    pub fn position(&self, point: &Point) -> Option<usize> {
        self.positions.get(point).copied()
    }

    /// The reason why this machine cannot measure the point at this position. None if it can.
    pub fn unavailable(&self, point: usize) -> Option<&'a str> {
        self.unavailable[point]
    }

    /// True if the plan has the contender at the point. A point within trials is planned if the point of the plan
    /// around it is.
    pub fn plans(&self, contender: &str, point: usize) -> bool {
        self.run.plans(contender, self.folded[point])
    }

    /// The cell of a contender at the point with this position.
    pub fn cell(&self, contender: &str, point: usize) -> CellName {
        CellName { contender: contender.to_owned(), point: self.points[point].clone() }
    }

    /// The trials and their parts, by contender and point. Those at a point that the run does not have are left out.
    pub fn observations(&self, trials: &[&'a Trial]) -> Observations<'a> {
        let mut cells: BTreeMap<&str, BTreeMap<usize, Vec<Observation>>> = BTreeMap::new();
        for &trial in trials {
            let mut see = |point: &Point, part| {
                if let Some(position) = self.position(point) {
                    let of_contender = cells.entry(&trial.contender).or_default();
                    of_contender.entry(position).or_default().push(Observation { trial, part });
                }
            };
            see(&trial.point, None);
            if let Some(within) = &self.run.within {
                for part in &trial.sample.parts {
                    see(&inside(&trial.point, &within.axis, &part.at), Some(part));
                }
            }
        }
        Observations { cells }
    }
}

fn inside(point: &Point, axis: &str, value: &AxisValue) -> Point {
    let mut inner = point.clone();
    inner.0.insert(axis.to_owned(), value.clone());
    inner
}

/// A trial or a part of one, as it is seen at its point.
#[derive(Clone, Copy)]
pub struct Observation<'a> {
    trial: &'a Trial,
    part: Option<&'a TrialPart>,
}

impl<'a> Observation<'a> {
    pub fn trial(&self) -> &'a Trial {
        self.trial
    }

    /// True if the observation is of a whole trial, not of a part of one.
    pub fn is_whole(&self) -> bool {
        self.part.is_none()
    }

    pub fn is_ok(&self) -> bool {
        self.trial.outcome == Outcome::Ok
    }

    pub fn marks(&self) -> &'a [Mark] {
        &self.trial.marks
    }

    pub fn metrics(&self) -> &'a BTreeMap<String, f64> {
        self.part.map_or(&self.trial.sample.metrics, |part| &part.metrics)
    }

    pub fn needs(&self) -> &'a Needs {
        self.part.map_or(&self.trial.sample.needs, |part| &part.needs)
    }

    /// The parameter that would give the trial enough values for a metric, and the parameter's value for this. None if
    /// the trial has enough values, if no such parameter is known, or if the observation is of a part.
    pub fn enough(&self, metric: &str) -> Option<&'a Enough> {
        self.trial.sample.enough.get(metric).filter(|_| self.is_whole())
    }

    /// True if the metric's figure is only a lower bound, because the trial ended before the end of what the metric
    /// measures. A part is seen to its end, so its figures are never lower bounds.
    pub fn is_lower_bound(&self, metric: &str) -> bool {
        self.part.is_none() && self.trial.is_lower_bound(metric)
    }
}

/// Trials and their parts, by contender and point.
pub struct Observations<'a> {
    cells: BTreeMap<&'a str, BTreeMap<usize, Vec<Observation<'a>>>>,
}

impl<'a> Observations<'a> {
    /// The observations of a cell, in the order of the trials that were given. Empty if there are none.
    pub fn cell(&self, contender: &str, point: usize) -> &[Observation<'a>] {
        self.cells.get(contender).and_then(|points| points.get(&point)).map_or(&[], |looks| looks)
    }

    /// All observations of a contender, each with the position of its point.
    pub fn of_contender(&self, contender: &str) -> impl Iterator<Item = (usize, &Observation<'a>)> {
        let points = self.cells.get(contender).into_iter().flatten();
        points.flat_map(|(point, looks)| looks.iter().map(move |look| (*point, look)))
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::{Sample, Unavailable, Within};

    use super::*;

    fn point(text: &str) -> Point {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), AxisValue::Int(value.parse().unwrap()))
        };
        Point(text.split_whitespace().map(pair).collect())
    }

    fn trial(contender: &str, at: &str, sample: Sample) -> Trial {
        Trial {
            contender: contender.into(),
            point: point(at),
            started: "2026-01-01T00:00:00Z".parse().unwrap(),
            sample,
            ..Trial::default()
        }
    }

    #[test]
    fn a_part_is_seen_as_a_trial_of_its_own() {
        let values = vec![AxisValue::Int(10), AxisValue::Int(60)];
        let run = Run {
            points: vec![point("cores=1"), point("cores=2")],
            contenders_at: vec![vec!["a".into()], vec!["b".into()]],
            within: Some(Within { axis: "rate".into(), values }),
            workload: [("rate".to_owned(), AxisValue::Text("10@1s,60@1s".into()))].into(),
            ..Run::default()
        };
        let part = |at, value| TrialPart {
            at: AxisValue::Int(at),
            metrics: [("goodput_rps".to_owned(), value)].into(),
            needs: Default::default(),
        };
        let sample = Sample { parts: vec![part(10, 9.0), part(60, 44.0)], ..Sample::default() };
        let trial = trial("b", "cores=2", sample);
        let grid = Grid::new(&run);
        let points: Vec<String> = grid.points.iter().map(ToString::to_string).collect();
        assert_eq!(
            points,
            [
                "cores=1",
                "cores=2",
                "cores=1 rate=10",
                "cores=1 rate=60",
                "cores=2 rate=10",
                "cores=2 rate=60"
            ]
        );
        assert_eq!(run.parameter("rate"), None, "a claim that does not name it is about whole trials");
        assert!(grid.plans("b", 5) && !grid.plans("a", 5) && grid.plans("a", 3));
        assert_eq!([0, 1, 2, 3, 4, 5].map(|nth| grid.folded(nth)), [0, 1, 0, 0, 1, 1]);
        let seen = grid.observations(&[&trial]);
        assert_eq!(seen.cell("b", 5)[0].metrics()["goodput_rps"], 44.0);
        assert_eq!(seen.of_contender("b").map(|(point, _)| point).collect::<Vec<_>>(), [1, 4, 5]);
        assert!(seen.cell("a", 0).is_empty());
    }

    #[test]
    fn a_point_may_have_only_the_first_values() {
        let run = Run {
            points: vec![point("n=1"), point("n=2"), point("n=3")],
            within: Some(Within { axis: "call".into(), values: [1, 2, 3].map(AxisValue::Int).into() }),
            within_at: vec![2, 3, 1],
            unavailable: vec![Unavailable { point: point("n=1"), why: "x".into() }],
            ..Run::default()
        };
        let grid = Grid::new(&run);
        let points: Vec<String> = grid.points[3..].iter().map(ToString::to_string).collect();
        assert_eq!(
            points,
            ["call=1 n=1", "call=2 n=1", "call=1 n=2", "call=2 n=2", "call=3 n=2", "call=1 n=3"]
        );
        assert_eq!([2, 3, 4, 5, 7, 8].map(|nth| grid.folded(nth)), [2, 0, 0, 1, 1, 2]);
        let unavailable: Vec<usize> = (0..9).filter(|nth| grid.unavailable(*nth).is_some()).collect();
        assert_eq!(unavailable, [0, 3, 4]);
    }
}
