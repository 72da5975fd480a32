//! The outcome of a call, and the events of instances.

use std::time::{Duration, Instant};

use crate::{Exit, KillReason};

/// A call that was answered, rightly or with an error.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The id of the call, as its log has it.
    pub request_id: String,
    /// The function's answer, or the JSON document of the error if it failed.
    pub payload: Vec<u8>,
    /// The failure of the function; none if it answered rightly.
    pub error: Option<FunctionError>,
    /// The log of the call: START, the end of what the function wrote (at most 256 KiB), END and REPORT.
    pub log: String,
    /// The number of the instance, counted from 1 for each function.
    pub instance: u32,
    /// True if the instance was started for this call.
    pub cold: bool,
    /// The number of initializations begun for this call: 0 on a warm instance, 2 if one was repeated.
    pub inits: u32,
    /// The moment at which the host got the call, before any wait for an instance.
    pub offered: Instant,
    /// The time from `offered` until the invoke phase was over and measured. The time to end or freeze the instance is
    /// not included.
    pub wall: Duration,
    /// The length of the init phase until it was done, failed or was cut off; zero on a warm instance.
    pub init: Duration,
    /// CPU time in the init phase; zero on a warm instance.
    pub init_cpu: Duration,
    /// The length of the invoke phase, a second initialization included.
    pub duration: Duration,
    /// CPU time in the invoke phase.
    pub cpu: Duration,
    /// The most memory that the instance has used at a time until the end of this call, in bytes.
    pub max_memory_bytes: u64,
}

/// The failure of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// The error's type: one of the host's, such as `Sandbox.Timedout`, or the one that the function reports, such as
    /// the type of an exception.
    pub kind: String,
    /// The error's message; empty if it has none.
    pub message: String,
}

/// Something that happened to an instance.
#[derive(Clone, Debug)]
pub struct InstanceEvent {
    /// The number of the instance, counted from 1 for each function.
    pub instance: u32,
    /// The moment of the event, on the monotonic clock.
    pub at: Instant,
    /// The step that the instance took.
    pub what: Lifecycle,
}

/// A step in the life of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The instance is started.
    Init,
    /// The instance is started once more, within a call.
    Reinit,
    /// The instance has asked for its first event.
    InitDone,
    /// The instance is given an event.
    Invoke,
    /// The invoke phase is over.
    InvokeDone,
    /// The instance has begun to freeze, until its next call.
    Frozen,
    /// The instance goes on.
    Thawed,
    /// The instance broke the protocol. The phrase says how, without its subject: `answered 'ID' after it had
    /// answered`.
    Rejected(String),
    /// The host ended the instance.
    Killed(KillReason),
    /// The instance has ended by itself.
    Exited(Exit),
    /// The instance is gone, with all that it started.
    Gone,
}
