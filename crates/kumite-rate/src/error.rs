//! The reasons why a question about a server has no answer.

use std::time::Duration;

use crate::part::PartError;

/// The reason why a search, a draw or a judgement has no result.
#[derive(Debug, thiserror::Error)]
pub enum RateError {
    /// The server gives no right answer, even to single requests.
    #[error("no right answer from the server: {why}")]
    NoAnswer {
        /// A description of the first answer that was not right or, without one, the number of failures of each kind.
        why: String,
    },
    /// The load's arrivals are a recording, which has its own rate.
    #[error("a recording of arrivals has a rate of its own: leave it out to search for one")]
    Recorded,
    /// The longest time that the SLO allows is not shorter than the load's time-out. Such an SLO cannot be judged:
    /// nobody knows how long a request that timed out would have taken.
    #[error(
        "the time-out of {timeout:?} is not above {longest:?}, which the SLO allows: raise it (--timeout)"
    )]
    Timeout {
        /// The time-out of the load.
        timeout: Duration,
        /// The longest time that the SLO allows.
        longest: Duration,
    },
    /// The load has no rate, or one that changes, but an objective is judged at one constant rate.
    #[error("an objective is judged at one rate: give requests a second (-R 500), without steps and ramps")]
    NoRate,
    /// A load is too short for the objective: it would have too few requests for a percentile or the share of errors.
    #[error(
        "loads of {load:?} at {rate}{} are too short for {slo}: it needs {needed} {}; give -z {enough:?} or more",
        if *of_sessions { " sessions/s" } else { "/s" },
        if *of_sessions { "sessions, each of a request at least" } else { "requests" }
    )]
    TooShort {
        /// The length of a load.
        load: Duration,
        /// The rate of the load: requests a second, or sessions a second if it is `of_sessions`.
        rate: f64,
        /// True if the rate counts sessions, because at least one of them has several steps.
        of_sessions: bool,
        /// The objective.
        slo: String,
        /// The number of requests in a load that the objective needs. Of each session one is sure.
        needed: u64,
        /// The shortest length in whole seconds that is enough at this rate.
        enough: Duration,
    },
    /// The number of loads allowed is too small for a verdict, even if all of them go alike.
    #[error(
        "{most} loads decide nothing, even if all go alike: at 5 % it takes {fewest}; give --repeat {fewest} or more"
    )]
    TooFewLoads {
        /// The number of loads allowed.
        most: usize,
        /// The smallest number of loads that can give a verdict.
        fewest: usize,
    },
    /// The objective is about a request or a session that the load does not have, or has more than once.
    #[error(transparent)]
    Part(#[from] PartError),
    /// The load engine could not run.
    #[error(transparent)]
    Load(#[from] kumite_load::Error),
}
