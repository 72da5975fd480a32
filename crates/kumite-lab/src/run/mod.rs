//! Runs: contenders are prepared, trials are planned and executed, and the results are concluded and exported.

mod begin;
mod checked;
mod common_fault;
mod control;
mod decided;
mod disk;
mod execute;
mod export;
mod gate;
mod machine_changed;
mod measure;
mod merge;
mod near_ties;
mod nodes;
mod outlook;
mod plan;
mod prepare;
mod progress;
mod rejudge;
mod replication;
mod session;
mod sitting_warnings;
mod sittings;
mod time_limit;
mod together;
mod used_cores;
mod warnings;
mod windows;

pub use begin::{begin, prospects, references, seed_of};
pub use checked::{Checked, check_each};
pub use common_fault::common_fault;
pub use control::lacking_control;
pub use decided::Decided;
pub use disk::check_disk;
pub use execute::{Event, RunEnded, execute};
pub use export::{claimed_points, conclude, export, judged, too_few_values, undecided};
pub use gate::{GateFinding, gate_findings};
pub use measure::{MeasureError, Measuring, RunEvent, ThisMachine, World};
pub use merge::{Merging, merge};
pub use near_ties::{asks_as, near_ties};
pub use nodes::{Joined, check_roles, join};
pub use outlook::outlook;
pub use plan::{Block, Plan, plan, trial_seed};
pub use prepare::{Choice, Prepared, is_left_out, prepare};
pub use rejudge::rejudge;
pub use replication::replication;
pub use session::{Session, Undecided};
pub use sittings::{differ_as_sittings, join_documents, join_sittings, take_apart};
pub use time_limit::TimeLimit;
pub use together::{
    Difference, Made, differ_in_contenders, differ_in_machines, differ_in_roles, differ_in_trials, is_of,
    other_versions,
};
pub use used_cores::used_cores;
pub use windows::{WindowFault, Windows};
