//! The outcome of a call, and the events of instances.

use std::time::{Duration, Instant};

/// A call that was answered, rightly or with an error.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// As in the lines of the log.
    pub request_id: String,
    /// The function's answer; the error's document if it failed.
    pub payload: Vec<u8>,
    /// The failure of the function, if it failed.
    pub error: Option<FunctionError>,
    /// START, what the function wrote, END and REPORT.
    pub log: String,
    /// The number of the instance, counted from 1 for each function.
    pub instance: u32,
    /// The instance was started for this call.
    pub cold: bool,
    /// Initializations that were begun for it: 0 on a warm instance, 2 if one was repeated.
    pub inits: u32,
    /// The moment at which it was offered.
    pub offered: Instant,
    /// Time from the offer to the answer.
    pub wall: Duration,
    /// The init phase, as far as it went before it was done or cut off.
    pub init: Duration,
    /// CPU time in that; none if it cannot be told.
    pub init_cpu: Option<Duration>,
    /// The invoke phase, a second initialization included.
    pub duration: Duration,
    /// CPU time in the invoke phase; none if it cannot be told.
    pub cpu: Option<Duration>,
    /// The most memory that the instance has had resident until now.
    pub max_memory_bytes: u64,
}

/// The failure of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// As the payload says it, such as `Sandbox.Timedout`, or the type of an exception.
    pub kind: String,
    /// Its message.
    pub message: String,
}

/// Something that happened to an instance.
#[derive(Clone, Debug)]
pub struct InstanceEvent {
    /// The number of the instance, counted from 1 for each function.
    pub instance: u32,
    /// On the monotonic clock.
    pub at: Instant,
    /// The step.
    pub what: Lifecycle,
}

/// The steps in the life of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// It is started.
    Init,
    /// It is started once more, within a call.
    Reinit,
    /// It has asked for its first event.
    InitDone,
    /// It has an event.
    Invoke,
    /// It is done with that.
    InvokeDone,
    /// It stands still from here on.
    Frozen,
    /// It goes on.
    Thawed,
    /// It broke the protocol. A phrase for people, to stand behind "it": `answered 'ID' after it had answered`.
    Rejected(String),
    /// The host ended it. A phrase for people, made in `function_state/failure.rs`: `time-out after 3 s`.
    Killed(String),
    /// It has ended by itself. A phrase for people, made in `function_state/failure.rs`: `exit status 1`.
    Exited(String),
    /// It is gone, with all it started.
    Gone,
}
