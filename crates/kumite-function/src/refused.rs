//! The reasons why a call does not get to its function.

use std::str::Utf8Error;

use axum::extract::rejection::{PathRejection, QueryRejection};

use crate::InstanceError;

/// A call did not get to its function.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// No function of that name, or no such version of it.
    #[error("no function '{0}'")]
    Unknown(String),
    /// All its instances are busy.
    #[error("all {0} instances are busy")]
    Throttled(u32),
    /// The queue of asynchronous calls is full.
    #[error("too many asynchronous calls wait already")]
    QueueFull,
    /// The payload is too long for this kind of call.
    #[error("the payload has {bytes} bytes; the most are {most}")]
    TooLarge {
        /// Those that came, or that the caller has announced.
        bytes: usize,
        /// Those that are allowed.
        most: usize,
    },
    /// The payload or the client context.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The name, the qualifier or the kind of the call.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The host is being stopped.
    #[error("the host is stopping")]
    Stopping,
    /// An instance could not be started at all.
    #[error("an instance could not be started: {0}")]
    Start(#[from] InstanceError),
}

/// The content of a call is not what it has to be. Callers read it in the words of AWS.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The end of the payload did not come.
    #[error("the payload broke off after {bytes} bytes: {source}")]
    BrokenOff {
        /// Those that had come.
        bytes: usize,
        /// The connection's reason.
        source: axum::Error,
    },
    /// The payload is no text.
    #[error("Could not parse request body into json: {0}")]
    NoText(#[from] Utf8Error),
    /// The payload is no JSON.
    #[error("Could not parse request body into json: {0}")]
    NoJson(#[from] serde_json::Error),
    /// The client context is too long.
    #[error("Client context must be at most {0} bytes.")]
    LongContext(usize),
    /// The client context is something else than an object.
    #[error("Client context must be a valid Base64-encoded JSON object.")]
    NoContext,
}

/// A parameter of a call makes no sense.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// The name cannot be read from the path.
    #[error("the function's name: {0}")]
    Path(#[from] PathRejection),
    /// The query cannot be read.
    #[error(transparent)]
    Query(#[from] QueryRejection),
    /// No function could have that name.
    #[error("'{}' is not a function's name", .0.escape_debug())]
    NoName(String),
    /// The name and the query ask for two versions.
    #[error("the name has the qualifier '{in_name}', and the request '{}'", in_query.escape_debug())]
    TwoQualifiers {
        /// In the name.
        in_name: String,
        /// In the query.
        in_query: String,
    },
    /// The header names a kind of call that there is not.
    #[error("the invocation type '{}' is none of RequestResponse, Event and DryRun", .0.escape_debug())]
    Kind(String),
}
