//! The pacing driver: a player that must act at given instants, and a recorder that stamps what comes.

mod busy;
mod executor;
mod player;
mod recorder;
mod sample;
mod workload;

pub use busy::Busy;
pub use executor::PacingExecutor;
pub use workload::PacingWorkload;
