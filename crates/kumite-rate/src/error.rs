//! The reasons why there is no answer at all about a server.

use std::time::Duration;

/// Why a server's rate, or what it does at a rate, cannot be judged.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    /// The server gives no right answer, even to single requests.
    #[error("no right answer from the server: {why}")]
    NoAnswer {
        /// A description of the first answer that was not right, or the kinds of failures.
        why: String,
    },
    /// The load's arrivals are a recording, which has its own rate.
    #[error("a recording of arrivals has a rate of its own: leave it out to search for one")]
    Recorded,
    /// The SLO allows a time that is not below the time-out, and so cannot be judged: a request that has not been
    /// answered by then may take any time.
    #[error(
        "the time-out of {timeout:?} is not above {longest:?}, which the SLO allows: raise it (--timeout)"
    )]
    Timeout {
        /// The time-out of the load.
        timeout: Duration,
        /// The longest time that the SLO allows.
        longest: Duration,
    },
    /// The load has no rate, or one that changes, and is to be judged at one.
    #[error("an objective is judged at one rate: give requests a second (-R 500), without steps and ramps")]
    NoRate,
    /// A load is too short for the objective: it would have too few requests for a percentile or the share of errors.
    #[error(
        "loads of {load:?} at {rate}/s are too short for {slo}: it needs {needed} requests; give -z {enough:?} or more"
    )]
    TooShort {
        /// The length of a load.
        load: Duration,
        /// The rate of a load, a second.
        rate: f64,
        /// The objective.
        slo: String,
        /// The number of requests in a load that the objective needs.
        needed: u64,
        /// A length that is enough, in whole seconds.
        enough: Duration,
    },
    /// Not even if all loads went alike could an objective be decided by so few.
    #[error(
        "{most} loads decide nothing, even if all go alike: at 5 % it takes {fewest}; give --repeat {fewest} or more"
    )]
    TooFewLoads {
        /// The most loads that were to be made.
        most: usize,
        /// The fewest loads that can decide.
        fewest: usize,
    },
    /// The load engine could not run.
    #[error(transparent)]
    Load(#[from] kumite_load::Error),
}
