//! The http driver: a server under the load of kumite's engine.

mod by_request;
mod capacity;
mod checked_answers;
mod drive;
mod driver;
mod engine_error;
mod external;
mod listen_queue;
mod metrics;
mod objective;
mod outcome_class;
mod overload_recovery;
mod params;
mod percentile;
mod protocol;
mod server;
pub(crate) mod server_process;
mod settling;
mod steadiness;
mod steps;
mod window;
mod workload;
mod written_credentials;

use std::sync::Arc;

use kumite_record::Kind;

use super::{Draft, Registration, Wrong};

pub(crate) use external::{External, load_result};
pub use window::is_percentile;
pub(crate) use workload::HttpWorkload;
pub(crate) use written_credentials::WrittenCredentials;

/// True for the kind whose contenders are servers.
pub(crate) fn is_http(kind: &Kind) -> bool {
    *kind == NAME
}

const NAME: Kind = Kind::new("http");

/// The length of an interval of a trial's series, and the time between looks at the server, in ms.
const INTERVAL_MS: u64 = 100;

pub(crate) static KIND: Registration = Registration {
    name: NAME,
    contenders: "servers",
    metrics: metrics::metrics,
    part_metrics: steps::part_metrics,
    session_metrics: by_request::session_metrics,
    request_metrics: by_request::request_metrics,
    params: params::PARAMS,
    takes_others: false,
    keys: &[
        "services",
        "answer_at",
        "request",
        "session",
        "headers",
        "csv",
        "cookies",
        "answer.status",
        "answer.equals",
        "answer.equals_json",
        "answer.at",
        "answer.contains",
        "answer.matches",
        "answer.headers",
        "answer.length",
        "answer.sha256",
        "answer.checker",
    ],
    code: Some("protocol"),
    workload: |parameters, answer, scenario| Ok(Arc::new(HttpWorkload::of(parameters, answer, scenario)?)),
    check,
    open: |of| Ok(Box::new(driver::HttpDriver::open(of)?)),
};

fn check(draft: &Draft) -> Result<(), Wrong> {
    if draft.planned.windows(2).any(|pair| pair[0].workload.within() != pair[1].workload.within()) {
        let what = "a load in steps is the same at every point: its steps are an axis of their own";
        return Err((&["axes"], what.to_owned()));
    }
    Ok(())
}
