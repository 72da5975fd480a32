//! The function driver: a function is called on the function host.

mod caller;
mod driver;
mod metrics;
mod params;
mod timeline;
mod workload;

use std::sync::Arc;

use kumite_record::Kind;

use super::{Draft, Registration, Wrong, answer_check};
use crate::metrics::Metrics;

pub(crate) use workload::FunctionWorkload;

const NAME: Kind = Kind::new("function");

/// The longest name of a function, as on Lambda.
const LONGEST_NAME: usize = 64;

pub(crate) static KIND: Registration = Registration {
    name: NAME,
    contenders: "functions",
    metrics: metrics::metrics,
    part_metrics: metrics::part_metrics,
    session_metrics: Metrics::default,
    request_metrics: Metrics::default,
    params: params::PARAMS,
    takes_others: true,
    keys: &[
        "metrics",
        "services",
        "answer.equals",
        "answer.equals_json",
        "answer.at",
        "answer.checker",
        "answers",
        "memory_mb",
    ],
    code: Some("handler"),
    workload: |parameters, _, _| Ok(Arc::new(FunctionWorkload::new(parameters)?)),
    check,
    open: |of| Ok(Box::new(driver::FunctionDriver::open(of)?)),
};

fn check(draft: &Draft) -> Result<(), Wrong> {
    for variant in draft.variants {
        let name = &variant.name;
        if variant.memory_mb.is_some() && draft.axes.contains_key("memory_mb") {
            let what = format!("contender {name} has a `memory_mb` of its own, which this cannot change");
            return Err((&["axes", "memory_mb"], what));
        }
        if name.len() > LONGEST_NAME {
            let what = format!("contender {name}: the name of a function has at most {LONGEST_NAME} letters");
            return Err((&["kind"], what));
        }
    }
    answer_check::check_answer(draft)
}
