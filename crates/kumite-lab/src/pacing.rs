//! The pacing driver: a player that must act at given instants, and a recorder that stamps what comes.

mod busy;
mod executor;
mod player;
mod recorder;
mod sample;
mod workload;

pub(crate) use sample::metrics;
pub(crate) use workload::PARAMS;

pub use busy::Busy;
pub use executor::PacingExecutor;
pub use workload::PacingWorkload;
