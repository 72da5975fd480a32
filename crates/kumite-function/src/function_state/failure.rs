//! How a call fails and why an instance is ended, in AWS's words and in ours.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::instance::Instance;
use crate::runtime_api::document;
use crate::runtime_protocol::Answer;
use crate::{InstanceError, Lifecycle};

/// An instance whose log is longer is replaced.
pub(super) const MOST_LOG_BYTES: u64 = 64 << 20;

/// An instance is ended because the host is.
pub(super) fn stopped() -> Lifecycle {
    Lifecycle::Killed("the host is stopped".to_owned())
}

/// An instance is ended because it writes too much.
pub(super) fn too_much_log() -> Lifecycle {
    Lifecycle::Killed(format!("it wrote more than {} MiB to its log", MOST_LOG_BYTES >> 20))
}

/// An instance is ended because it asked for no event.
pub(super) fn uninitialized() -> Lifecycle {
    Lifecycle::Killed("it said that it cannot be initialized".to_owned())
}

/// An instance is ended because its initialization has taken longer than it may.
pub(super) fn cut_off(limit: Duration) -> Lifecycle {
    Lifecycle::Killed(format!("its initialization was cut off after {} s", limit.as_secs_f64()))
}

/// An instance is ended because it cannot be given its share.
pub(super) fn without_share(error: &InstanceError) -> Lifecycle {
    Lifecycle::Killed(error.to_string())
}

/// The phrase of an end; empty for what is none.
pub(super) fn end_reason(why: &Lifecycle) -> &str {
    match why {
        Lifecycle::Killed(why) | Lifecycle::Exited(why) => why,
        _ => "",
    }
}

/// A call, or its second initialization, has taken longer than it may.
pub(super) fn timed_out(limit: Duration, request_id: &str) -> (Answer, Lifecycle) {
    let limit = limit.as_secs_f64();
    let message = format!("RequestId: {request_id} Error: Task timed out after {limit:.2} seconds");
    (wrong("Sandbox.Timedout", &message), Lifecycle::Killed(format!("time-out after {limit} s")))
}

/// The error that callers get of a process that has ended by itself, and the end of its instance.
pub(super) fn exited(instance: &mut Instance, request_id: &str) -> (Answer, Lifecycle) {
    let status = instance.exited();
    let how = status.map_or_else(|| "in an unknown way".to_owned(), ending);
    let (kind, how) = match instance.ran_out_of_memory() {
        true => ("Runtime.OutOfMemory", format!("out of memory, {how}")),
        false => ("Runtime.ExitError", how),
    };
    let message = match status {
        Some(status) if status.success() => "Runtime exited without providing a reason".to_owned(),
        _ => format!("Runtime exited with error: {how}"),
    };
    (wrong(kind, &format!("RequestId: {request_id} Error: {message}")), Lifecycle::Exited(how))
}

/// An error as callers get it.
pub(super) fn wrong(kind: &str, message: &str) -> Answer {
    Answer::Wrong(kind.to_owned(), document(kind, message))
}

/// A phrase for the end of a process, in AWS's words: "exit status 1".
pub(super) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(9)) => "signal: killed".to_owned(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown way".to_owned(),
    }
}

/// The message in an error's document.
pub(super) fn message_of(document: &[u8]) -> String {
    let parsed = serde_json::from_slice::<serde_json::Value>(document).ok();
    let message = parsed.as_ref().and_then(|document| document.get("errorMessage")?.as_str());
    message.unwrap_or_default().to_owned()
}
