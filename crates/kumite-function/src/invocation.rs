//! What comes of a call, and what instances have lived through.

use std::time::{Duration, Instant};

/// A call that was answered, rightly or with an error.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Its id.
    pub request_id: String,
    /// What the function answered; the error's document if it failed.
    pub payload: Vec<u8>,
    /// Why it failed, if it did.
    pub error: Option<FunctionError>,
    /// START, what the function wrote, END and REPORT.
    pub log: String,
    /// Which instance, counted from 1.
    pub instance: u32,
    /// Whether the instance was started for it.
    pub cold: bool,
    /// How often initialization was begun for it.
    pub inits: u32,
    /// When it was offered.
    pub offered: Instant,
    /// From then to its answer.
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

/// How a function failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionError {
    /// As the payload says it, such as `Sandbox.Timedout`, or the type of an exception.
    pub kind: String,
    /// Its message.
    pub message: String,
}

/// Why a call did not get to the function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// No function of that name.
    #[error("no function '{0}'")]
    Unknown(String),
    /// All its instances are busy.
    #[error("all {0} instances are busy")]
    Throttled(u32),
    /// So many calls wait that nobody waits for.
    #[error("too many asynchronous calls wait already")]
    QueueFull,
    /// More bytes than a call may have.
    #[error("the payload has {bytes} bytes; the most are {most}")]
    TooLarge {
        /// It has so many.
        bytes: usize,
        /// And may have so many.
        most: usize,
    },
    /// Its payload or its client context is not JSON, or did not come whole.
    #[error("{0}")]
    Content(String),
    /// What is asked for makes no sense.
    #[error("{0}")]
    Parameter(String),
    /// The host is being stopped.
    #[error("the host is stopping")]
    Stopping,
    /// An instance could not be started at all.
    #[error("an instance could not be started: {0}")]
    Start(String),
}

/// Something that happened to an instance.
#[derive(Clone, Debug)]
pub struct InstanceEvent {
    /// Which instance, counted from 1 for each function.
    pub instance: u32,
    /// When.
    pub at: Instant,
    /// What.
    pub what: Lifecycle,
}

/// What happens to instances.
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
    /// It said what was not to be said: a second answer, one to another request …
    Rejected(String),
    /// It is ended, and why: `time-out`, `cut off after 10 s` …
    Killed(String),
    /// It has ended by itself.
    Exited(String),
    /// It is gone, with all it started.
    Gone,
}
