//! The command driver: a command line that is run to its end, and timed as `kumite compare` times it.

mod driver;
mod kept_outputs;
mod metrics;
mod outputs;
mod params;
mod timed;
mod workload;

use std::sync::Arc;

use kumite_process::{CommandLine, Shell};
use kumite_record::Kind;

use super::{Draft, Registration, Wrong};
use crate::metrics::Metrics;

use workload::CommandWorkload;

pub(crate) static KIND: Registration = Registration {
    name: Kind::new("command"),
    contenders: "commands",
    metrics: metrics::metrics,
    part_metrics: Metrics::default,
    session_metrics: Metrics::default,
    request_metrics: Metrics::default,
    params: params::PARAMS,
    takes_others: true,
    keys: &[
        "metrics",
        "services",
        "answer.equals",
        "answer.equals_json",
        "answer.checker",
        "answer.same_output",
    ],
    code: None,
    workload: |parameters, _, _| Ok(Arc::new(CommandWorkload::new(parameters)?)),
    check: check_commands,
    open: |of| Ok(Box::new(driver::CommandDriver::open(of)?)),
};

fn check_commands(draft: &Draft) -> Result<(), Wrong> {
    for variant in draft.variants {
        if let Err(what) = CommandLine::new(&variant.run, &Shell::IfNeeded) {
            return Err((&["kind"], format!("contender {}: {what}", variant.name)));
        }
    }
    Ok(())
}
