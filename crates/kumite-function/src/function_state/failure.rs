//! The failures of calls and the ends of instances, in AWS's words and in kumite's.

use std::time::Duration;

use crate::instance::Instance;
use crate::runtime_api::document;
use crate::runtime_protocol::Answer;
use crate::{Exit, KillReason, Lifecycle};

/// The most bytes of an instance's log. An instance that writes more is replaced.
pub(super) const MOST_LOG_BYTES: u64 = 64 << 20;

/// The end of an instance because the host is stopped.
pub(super) const STOPPED: Lifecycle = Lifecycle::Killed(KillReason::HostStopped);

/// The end of an instance because its log is too long.
pub(super) const TOO_MUCH_LOG: KillReason = KillReason::LogTooLong { most_bytes: MOST_LOG_BYTES };

/// The error that callers get after a time-out, of a call or of its second initialization, and the end of the
/// instance.
pub(super) fn timed_out(limit: Duration, request_id: &str) -> (Answer, Lifecycle) {
    let seconds = limit.as_secs_f64();
    let message = format!("RequestId: {request_id} Error: Task timed out after {seconds:.2} seconds");
    (wrong("Sandbox.Timedout", &message), Lifecycle::Killed(KillReason::TimeOut { limit }))
}

/// The error that callers get when a process has ended by itself, and the end of its instance.
pub(super) fn exited(instance: &mut Instance, request_id: &str) -> (Answer, Lifecycle) {
    let exit = Exit { status: instance.exited(), out_of_memory: instance.ran_out_of_memory() };
    let kind = if exit.out_of_memory { "Runtime.OutOfMemory" } else { "Runtime.ExitError" };
    let message = match exit.status {
        Some(status) if status.success() => "Runtime exited without providing a reason".to_owned(),
        _ => format!("Runtime exited with error: {exit}"),
    };
    (wrong(kind, &format!("RequestId: {request_id} Error: {message}")), Lifecycle::Exited(exit))
}

/// The answer with an error, as callers get it.
pub(super) fn wrong(kind: &str, message: &str) -> Answer {
    Answer::Wrong(kind.to_owned(), document(kind, message))
}

/// The message in the document of an error; empty if it has none.
pub(super) fn message_of(document: &[u8]) -> String {
    let parsed = serde_json::from_slice::<serde_json::Value>(document).ok();
    let message = parsed.as_ref().and_then(|document| document.get("errorMessage")?.as_str());
    message.unwrap_or_default().to_owned()
}
