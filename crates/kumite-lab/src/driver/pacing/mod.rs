//! The pacing driver: a player that must act at given instants, and a recorder that stamps what comes.

mod adapter;
mod busy;
mod driver;
mod metrics;
mod params;
mod player;
mod recorder;
mod workload;

use std::sync::Arc;

use kumite_record::Kind;

use super::Registration;
use crate::metrics::Metrics;

pub use busy::Busy;
pub(crate) use workload::PacingWorkload;

pub(crate) static KIND: Registration = Registration {
    name: Kind::new("pacing"),
    contenders: "players",
    metrics: metrics::metrics,
    part_metrics: Metrics::default,
    session_metrics: Metrics::default,
    request_metrics: Metrics::default,
    params: params::PARAMS,
    takes_others: false,
    // Services would work on the recorder's CPU. A player's states are compared with the macro: nothing else is its
    // answer.
    keys: &[],
    code: None,
    workload: |parameters, _, _| Ok(Arc::new(PacingWorkload::new(parameters)?)),
    check: |_| Ok(()),
    open: |of| Ok(Box::new(driver::PacingDriver::open(of)?)),
};
