//! An axis within trials, unfolded: the parts of a trial as trials of their own, so that whoever judges or estimates need
//! not know of parts.

use kumite_record::{Point, Run, Sample, Trial};

/// The run with more points: behind those that it has, each of them with every value of the axis within; and the trials with
/// their parts as trials at these points, which have nothing but the part's metrics. None if no axis is within.
pub(crate) fn unfolded(run: &Run, trials: &[&Trial]) -> Option<(Run, Vec<Trial>)> {
    let within = run.within.as_ref()?;
    let at = |point: &Point, value| {
        let mut inner = point.clone();
        inner.0.insert(within.axis.clone(), value);
        inner
    };
    let mut wide = run.clone();
    // It is an axis without a default.
    wide.workload.remove(&within.axis);
    for (nth, point) in run.points.iter().enumerate() {
        for value in &within.values {
            wide.points.push(at(point, value.clone()));
            if let Some(contenders) = run.contenders_at.get(nth) {
                wide.contenders_at.push(contenders.clone());
            }
        }
    }
    for unavailable in &run.unavailable {
        for value in &within.values {
            let mut inner = unavailable.clone();
            inner.point = at(&unavailable.point, value.clone());
            wide.unavailable.push(inner);
        }
    }
    let mut all: Vec<Trial> = trials.iter().map(|&trial| trial.clone()).collect();
    for trial in trials {
        for part in &trial.sample.parts {
            let sample =
                Sample { metrics: part.metrics.clone(), needs: part.needs.clone(), ..Sample::default() };
            let outside = Trial { sample: Sample::default(), ..(*trial).clone() };
            all.push(Trial { point: at(&trial.point, part.at.clone()), sample, ..outside });
        }
    }
    Some((wide, all))
}

/// The point that one of the unfolded ones is a part of, by position.
pub(crate) fn folded(run: &Run, point: usize) -> usize {
    match &run.within {
        Some(within) if point >= run.points.len() => (point - run.points.len()) / within.values.len().max(1),
        _ => point,
    }
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Outcome, Part, Within};

    use super::*;

    fn point(text: &str) -> Point {
        let pair = |pair: &str| {
            let (name, value) = pair.split_once('=').unwrap();
            (name.to_owned(), AxisValue::Int(value.parse().unwrap()))
        };
        Point(text.split_whitespace().map(pair).collect())
    }

    #[test]
    fn parts_are_trials_of_their_own() {
        let values = vec![AxisValue::Int(10), AxisValue::Int(60)];
        let run = Run {
            points: vec![point("cores=1"), point("cores=2")],
            contenders_at: vec![vec!["a".into()], vec!["b".into()]],
            within: Some(Within { axis: "rate".into(), values }),
            workload: [("rate".to_owned(), AxisValue::Text("10@1s,60@1s".into()))].into(),
            ..Run::default()
        };
        let part = |at, value| Part {
            at: AxisValue::Int(at),
            metrics: [("goodput_rps".to_owned(), value)].into(),
            needs: Default::default(),
        };
        let sample = Sample { parts: vec![part(10, 9.0), part(60, 44.0)], ..Sample::default() };
        let trial = Trial {
            seq: 0,
            block: 0,
            attempt: 0,
            contender: "b".into(),
            point: point("cores=2"),
            started: "2026-01-01T00:00:00Z".parse().unwrap(),
            outcome: Outcome::Ok,
            reason: None,
            sample,
            marks: Vec::new(),
            ready_ms: None,
            load_ms: None,
            took_ms: None,
            log: None,
        };
        let (wide, trials) = unfolded(&run, &[&trial]).unwrap();
        let points: Vec<String> = wide.points.iter().map(ToString::to_string).collect();
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
        assert!(wide.workload.is_empty(), "a claim that does not name it is about whole trials");
        assert!(wide.plans("b", 5) && !wide.plans("a", 5) && wide.plans("a", 3));
        assert_eq!([0, 1, 2, 3, 4, 5].map(|nth| folded(&run, nth)), [0, 1, 0, 0, 1, 1]);
        assert_eq!(trials.len(), 3);
        assert_eq!(
            (&trials[2].point, trials[2].sample.metrics["goodput_rps"]),
            (&point("cores=2 rate=60"), 44.0)
        );
        assert!(unfolded(&Run::default(), &[&trial]).is_none());
    }
}
