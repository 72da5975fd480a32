//! The http driver: a server, and the load engine on other cores.

mod executor;
mod external;
mod fate;
mod offer;
mod percentile;
mod port;
mod recovered;
mod sample;
mod server;
mod steadiness;
mod steps;
mod workload;

pub use executor::HttpExecutor;
pub(crate) use external::offer as offer_to_external;
pub use external::{External, load_result};
pub(crate) use percentile::{PERCENTILES, percentile};
pub(crate) use port::free_port;
pub(crate) use sample::{is_bound, metrics};
pub(crate) use server::kinds;
pub(crate) use steps::part_metrics;
pub use workload::HttpWorkload;
pub(crate) use workload::PARAMS;
