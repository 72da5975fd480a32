//! The task driver: a worker that does jobs, asked and answered in lines of JSON.

mod benchmark;
mod driver;
mod jmh;
mod metrics;
mod params;
mod warm_up;
mod workload;

use std::sync::Arc;

use kumite_record::Kind;

use super::{Registration, answer_check};
use crate::metrics::Metrics;

pub use driver::{OneJob, TaskDriver};
pub(crate) use workload::TaskWorkload;

const NAME: Kind = Kind::new("task");

pub(crate) static KIND: Registration = Registration {
    name: NAME,
    contenders: "tasks",
    metrics: metrics::metrics,
    part_metrics: Metrics::default,
    session_metrics: Metrics::default,
    request_metrics: Metrics::default,
    params: params::PARAMS,
    takes_others: true,
    keys: &[
        "metrics",
        "disk",
        "services",
        "answer.equals",
        "answer.equals_json",
        "answer.at",
        "answer.checker",
        "answers",
        "reads",
    ],
    code: None,
    workload: |parameters, _, _| Ok(Arc::new(TaskWorkload::new(parameters)?)),
    check: answer_check::check_answer,
    open: |of| Ok(Box::new(TaskDriver::open(of)?)),
};
