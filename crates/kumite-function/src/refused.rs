//! The reasons why a call does not get to its function, or to its end.

use std::str::Utf8Error;

use axum::extract::rejection::{PathRejection, QueryRejection};

use crate::InstanceError;

/// The reason why a call did not get to its function, or was broken off because the host stopped.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The host has no function of this name, or not this version of it.
    #[error("no function '{0}'")]
    Unknown(String),
    /// As many calls with a caller are under way as there may be instances: this number.
    #[error("all {0} instances are busy")]
    Throttled(u32),
    /// The queue of calls that nobody waits for has no room for this one.
    #[error("too many asynchronous calls wait already")]
    QueueFull,
    /// The payload is too long for this kind of call.
    #[error("the payload has {bytes} bytes; the most are {most}")]
    TooLarge {
        /// The bytes that came, or that the caller announced.
        bytes: usize,
        /// The most bytes that are allowed.
        most: usize,
    },
    /// The payload or the client context is wrong.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The name or the query cannot be read, no function can have the name, the name and the query have different
    /// qualifiers, or the kind of the call is none of AWS's. An unknown function or version is [`Refused::Unknown`].
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The host is being stopped, or has ended.
    #[error("the host is stopping")]
    Stopping,
    /// An instance could not be started, or not be given its CPU share.
    #[error("an instance could not be started: {0}")]
    Start(#[from] InstanceError),
}

/// An error in the content of a call. Its text is AWS's, where AWS has one.
#[derive(Debug, thiserror::Error)]
pub enum ContentError {
    /// The end of the payload did not come.
    #[error("the payload broke off after {bytes} bytes: {source}")]
    BrokenOff {
        /// The bytes that had come.
        bytes: usize,
        /// The connection's reason.
        source: axum::Error,
    },
    /// The payload is not UTF-8.
    #[error("Could not parse request body into json: {0}")]
    NoText(#[from] Utf8Error),
    /// The payload is not JSON.
    #[error("Could not parse request body into json: {0}")]
    NoJson(#[from] serde_json::Error),
    /// The client context has, in base64, more than this many bytes.
    #[error("Client context must be at most {0} bytes.")]
    LongContext(usize),
    /// The client context is not a JSON object in base64.
    #[error("Client context must be a valid Base64-encoded JSON object.")]
    NoContext,
}

/// An error in a parameter of a call.
#[derive(Debug, thiserror::Error)]
pub enum ParameterError {
    /// The name cannot be read from the path.
    #[error("the function's name: {0}")]
    Path(#[from] PathRejection),
    /// The query cannot be read.
    #[error(transparent)]
    Query(#[from] QueryRejection),
    /// No function can have this name. Of a longer name, only the first 256 characters are kept.
    #[error("'{}' is not a function's name", .0.escape_debug())]
    NoName(String),
    /// The name and the query ask for different versions.
    #[error("the name has the qualifier '{in_name}', and the request '{}'", in_query.escape_debug())]
    TwoQualifiers {
        /// The qualifier in the name.
        in_name: String,
        /// The qualifier in the query.
        in_query: String,
    },
    /// The header names an unknown kind of call.
    #[error("the invocation type '{}' is none of RequestResponse, Event and DryRun", .0.escape_debug())]
    Kind(String),
}
