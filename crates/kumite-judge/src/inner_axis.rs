//! An axis within trials, unfolded: the parts of a trial as trials of their own, so that whoever judges or estimates need
//! not know of parts.

use kumite_record::{AxisValue, Point, Run, Sample, Trial};

/// The run with more points: behind those that it has, each of them with every value of the axis within; and the trials with
/// their parts as trials at these points, which have nothing but the part's metrics. None if no axis is within.
pub fn unfolded(run: &Run, trials: &[&Trial]) -> Option<(Run, Vec<Trial>)> {
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
        for value in values_at(run, nth) {
            wide.points.push(at(point, value.clone()));
            if let Some(contenders) = run.contenders_at.get(nth) {
                wide.contenders_at.push(contenders.clone());
            }
        }
    }
    for unavailable in &run.unavailable {
        let nth = run.points.iter().position(|point| *point == unavailable.point);
        for value in nth.map_or(&[][..], |nth| values_at(run, nth)) {
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
            all.push(without_sample(trial, at(&trial.point, part.at.clone()), sample));
        }
    }
    Some((wide, all))
}

/// The values that trials at a point have, which is given by position.
fn values_at(run: &Run, point: usize) -> &[AxisValue] {
    let all = run.within.as_ref().map_or(&[][..], |within| &within.values);
    &all[..run.within_at.get(point).map_or(all.len(), |count| all.len().min(*count))]
}

/// The trial elsewhere and with another sample: its own may be large, and is not copied.
fn without_sample(trial: &Trial, point: Point, sample: Sample) -> Trial {
    Trial {
        seq: trial.seq,
        block: trial.block,
        attempt: trial.attempt,
        contender: trial.contender.clone(),
        point,
        started: trial.started,
        outcome: trial.outcome,
        reason: trial.reason.clone(),
        sample,
        marks: trial.marks.clone(),
        ready_ms: trial.ready_ms,
        load_ms: trial.load_ms,
        took_ms: trial.took_ms,
        log: trial.log.clone(),
    }
}

/// The point that one of the unfolded ones is a part of, by position.
pub fn folded(run: &Run, point: usize) -> usize {
    let Some(mut inner) = point.checked_sub(run.points.len()) else { return point };
    for nth in 0..run.points.len() {
        match inner.checked_sub(values_at(run, nth).len()) {
            Some(rest) => inner = rest,
            None => return nth,
        }
    }
    point
}

#[cfg(test)]
mod tests {
    use kumite_record::{Outcome, Part, Unavailable, Within};

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

    #[test]
    fn a_point_may_have_only_the_first_values() {
        let run = Run {
            points: vec![point("n=1"), point("n=2"), point("n=3")],
            within: Some(Within { axis: "call".into(), values: [1, 2, 3].map(AxisValue::Int).into() }),
            within_at: vec![2, 3, 1],
            unavailable: vec![Unavailable { point: point("n=1"), why: "x".into() }],
            ..Run::default()
        };
        let (wide, _) = unfolded(&run, &[]).unwrap();
        let points: Vec<String> = wide.points[3..].iter().map(ToString::to_string).collect();
        assert_eq!(
            points,
            ["call=1 n=1", "call=2 n=1", "call=1 n=2", "call=2 n=2", "call=3 n=2", "call=1 n=3"]
        );
        assert_eq!([2, 3, 4, 5, 7, 8, 9].map(|nth| folded(&run, nth)), [2, 0, 0, 1, 1, 2, 9]);
        let unavailable: Vec<String> = wide.unavailable.iter().map(|other| other.point.to_string()).collect();
        assert_eq!(unavailable, ["n=1", "call=1 n=1", "call=2 n=1"]);
    }
}
