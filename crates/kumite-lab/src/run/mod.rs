//! A run: contenders are prepared, trials are planned and executed, and what came of them is concluded and exported.

mod begin;
mod common_fault;
mod disk;
mod execute;
mod export;
mod gate;
mod merge;
mod nodes;
mod plan;
mod prepare;
mod progress;
mod rejudge;
mod session;
mod together;
mod used_cores;
mod warnings;

pub use begin::{begin, prospects, references, seed_of};
pub use common_fault::common_fault;
pub use disk::check_disk;
pub use execute::{Event, RunEnded, execute};
pub use export::{claimed_points, conclude, export, judged, too_few_values, undecided};
pub use gate::{Amiss, GateFinding, Lost, gate_findings};
pub use merge::{Merging, merge};
pub use nodes::{Joined, check_roles, join};
pub use plan::{Block, Plan, plan, trial_seed};
pub use prepare::{Choice, Prepared, is_left_out, prepare};
pub use progress::humane;
pub use rejudge::rejudge;
pub use session::{Session, Undecided};
pub use together::{Difference, Made, differ_in_contenders, differ_in_trials, is_of, other_versions};
pub use used_cores::used_cores;
