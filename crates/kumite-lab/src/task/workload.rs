//! The parameters of a task.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_record::{AxisValue, Point};
use serde_json::{Map, Value};

use crate::cores::AskedCores;
use crate::param::{Param, Params, Takes};

/// Those that are kumite's own; all others are the contender's.
pub(crate) static PARAMS: &[Param] = &[
    Param::count("iterations", 1, [1, 100_000], "Jobs of a process that count."),
    Param::count("warm_up_iterations", 0, [0, 100_000], "Jobs of a process before them."),
    Param::count("concurrency", 1, [1, 10_000], "Jobs in flight at a time."),
    Param::number("timeout_s", 60.0, [0.1, 86_400.0], "A job that takes longer fails the trial."),
    Param::number("ready_s", 30.0, [0.1, 600.0], "A worker that takes longer to its first hello has failed."),
    Param::new("cores", Takes::Cores, "How many CPUs the worker is given; `all` is every one."),
    Param::new("events", Takes::Flag, "Whether the worker is to tell what happened within a job."),
];

/// One trial's workload: which job, how often, and how long it may take.
#[derive(Clone, Debug)]
pub struct TaskWorkload {
    /// Jobs of a process that count; 1 by default.
    pub iterations: usize,
    /// Jobs of a process before them, which count in no figure but `first_elapsed_ms`; none by default.
    pub warm_up_iterations: usize,
    /// Jobs in flight at a time, at most; 1 by default.
    pub concurrency: usize,
    /// How long a job may take; 60 s by default.
    pub timeout: Duration,
    /// How long the worker may take until it answers its first hello; 30 s by default.
    pub ready: Duration,
    /// How many CPUs the worker is given; 1 by default.
    pub cores: AskedCores,
    /// All parameters, as a job is given them.
    pub params: Value,
}

impl TaskWorkload {
    /// The workload at a point: the fixed parameters with the point's beside them.
    pub fn new(fixed: &BTreeMap<String, AxisValue>, point: &Point) -> Result<TaskWorkload, String> {
        let mut parameters = fixed.clone();
        parameters.extend(point.0.clone());
        let take = Params { given: &parameters, declared: PARAMS };
        take.flag("events")?;
        Ok(TaskWorkload {
            iterations: take.count("iterations")?,
            warm_up_iterations: take.count("warm_up_iterations")?,
            concurrency: take.count("concurrency")?,
            timeout: take.time("timeout_s")?,
            ready: take.time("ready_s")?,
            cores: take.cores("cores")?,
            params: Value::Object(
                parameters.iter().map(|(name, value)| (name.clone(), json(value))).collect::<Map<_, _>>(),
            ),
        })
    }
}

/// A parameter as a job is given it.
pub(crate) fn json(value: &AxisValue) -> Value {
    match value {
        AxisValue::Int(number) => (*number).into(),
        AxisValue::Float(number) => (*number).into(),
        AxisValue::Text(text) => text.as_str().into(),
        AxisValue::Bool(flag) => (*flag).into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workload(name: &str, value: AxisValue) -> Result<TaskWorkload, String> {
        TaskWorkload::new(&[(name.to_owned(), value)].into(), &Point::default())
    }

    #[test]
    fn all_parameters_go_to_the_contender_and_the_point_sets_some() {
        let fixed =
            [("delay_ms".to_owned(), AxisValue::Float(0.5)), ("iterations".to_owned(), AxisValue::Int(3))];
        let point = Point(
            [("iterations".to_owned(), AxisValue::Int(7)), ("events".to_owned(), AxisValue::Bool(true))]
                .into(),
        );
        let workload = TaskWorkload::new(&fixed.into(), &point).unwrap();
        assert_eq!(workload.iterations, 7);
        assert_eq!(workload.params, json!({ "delay_ms": 0.5, "iterations": 7, "events": true }));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases = [
            ("iterations", AxisValue::Int(0), "iterations is a whole number from 1 to 100000, not 0"),
            ("concurrency", AxisValue::Float(0.5), "not 0.5"),
            ("timeout_s", AxisValue::Int(0), "timeout_s is a number from 0.1 to 86400, not 0"),
            ("cores", AxisValue::Text("some".into()), "cores is a number or \"all\", not \"some\""),
            ("events", AxisValue::Int(1), "events is true or false, not 1"),
        ];
        for (name, value, expected) in cases {
            let found = workload(name, value).unwrap_err();
            assert!(found.contains(expected), "{found}");
        }
    }
}
