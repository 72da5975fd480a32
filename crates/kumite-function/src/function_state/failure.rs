//! The failures of calls and the ends of instances, in AWS's words and in kumite's.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use crate::instance::Instance;
use crate::runtime_api::document;
use crate::runtime_protocol::Answer;
use crate::{InstanceError, Lifecycle};

/// The most bytes of an instance's log. An instance that writes more is replaced.
pub(super) const MOST_LOG_BYTES: u64 = 64 << 20;

/// The end of an instance because the host is stopped.
pub(super) fn stopped() -> Lifecycle {
    Lifecycle::Killed("the host is stopped".to_owned())
}

/// The end of an instance because its log is too long.
pub(super) fn too_much_log() -> Lifecycle {
    Lifecycle::Killed(format!("it wrote more than {} MiB to its log", MOST_LOG_BYTES >> 20))
}

/// The end of an instance because it reported that its initialization failed.
pub(super) fn uninitialized() -> Lifecycle {
    Lifecycle::Killed("it said that it cannot be initialized".to_owned())
}

/// The end of an instance because its initialization took longer than `limit`.
pub(super) fn cut_off(limit: Duration) -> Lifecycle {
    Lifecycle::Killed(format!("its initialization was cut off after {} s", limit.as_secs_f64()))
}

/// The end of an instance because its CPU share could not be set.
pub(super) fn without_share(error: &InstanceError) -> Lifecycle {
    Lifecycle::Killed(error.to_string())
}

/// The phrase of a `Killed` or `Exited` step; empty for any other.
pub(super) fn end_reason(why: &Lifecycle) -> &str {
    match why {
        Lifecycle::Killed(why) | Lifecycle::Exited(why) => why,
        _ => "",
    }
}

/// The error that callers get after a time-out, of a call or of its second initialization, and the end of the
/// instance.
pub(super) fn timed_out(limit: Duration, request_id: &str) -> (Answer, Lifecycle) {
    let limit = limit.as_secs_f64();
    let message = format!("RequestId: {request_id} Error: Task timed out after {limit:.2} seconds");
    (wrong("Sandbox.Timedout", &message), Lifecycle::Killed(format!("time-out after {limit} s")))
}

/// The error that callers get when a process has ended by itself, and the end of its instance.
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

/// The answer with an error, as callers get it.
pub(super) fn wrong(kind: &str, message: &str) -> Answer {
    Answer::Wrong(kind.to_owned(), document(kind, message))
}

/// The end of a process in AWS's words, such as `exit status 1`.
pub(super) fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(9)) => "signal: killed".to_owned(),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown way".to_owned(),
    }
}

/// The message in the document of an error; empty if it has none.
pub(super) fn message_of(document: &[u8]) -> String {
    let parsed = serde_json::from_slice::<serde_json::Value>(document).ok();
    let message = parsed.as_ref().and_then(|document| document.get("errorMessage")?.as_str());
    message.unwrap_or_default().to_owned()
}
