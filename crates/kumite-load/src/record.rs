//! What is found: counts and times of finished requests, by thread, and of all threads together.

pub(crate) mod aggregate;
pub(crate) mod errors;
pub(crate) mod log;
pub(crate) mod opener;
pub(crate) mod outcome;
pub(crate) mod percentile;
pub(crate) mod recorder;
pub(crate) mod recovery;
pub(crate) mod times;
