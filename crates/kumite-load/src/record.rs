//! Record: counts and times of finished requests.
//!
//! A thread's [`Recorder`](recorder::Recorder) counts the requests that its engine finishes, in intervals of a tenth
//! of a second. [`Aggregate`](aggregate::Aggregate) adds up the intervals of all threads to the
//! [`Outcome`](outcome::Outcome).

pub(crate) mod aggregate;
pub(crate) mod answer_times;
pub(crate) mod by_step;
pub(crate) mod errors;
pub(crate) mod histogram;
pub(crate) mod last_second;
pub(crate) mod log;
pub(crate) mod opener;
pub(crate) mod outcome;
pub(crate) mod percentile;
pub(crate) mod recorder;
pub(crate) mod recovery;
pub(crate) mod times;
