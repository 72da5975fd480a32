//! The function driver: calls of a function on the function host.

mod executor;
mod happened;
mod offer;
mod sample;
mod workload;

pub(crate) use sample::{metrics, part_metrics};
pub(crate) use workload::{MEMORY_MB, PARAMS};

pub use executor::FunctionExecutor;
pub use workload::FunctionWorkload;
