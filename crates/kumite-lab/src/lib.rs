//! The lab: spec → prepare → plan → execute → export. Estimates and verdicts are made by kumite-judge.
//!
//! Each arrow is a plain value. Nothing here draws, and nothing here starts a process but through `kumite-process`.
//!
//! Two threads through it, for a first reading:
//!
//! - **A parameter** is declared in its kind's `params.rs`. `spec/` makes a [`Planned`] of each point, with the fixed
//!   parameters and the point's in a typed workload. `run/execute.rs` gives the driver the position of the point
//!   ([`TrialOrder::at`]), and the driver takes the workload from there. The point itself goes into the record with
//!   the trial, and kumite-judge finds the cells of a claim by it.
//! - **A role** is given to a node by kumite-nodes ([`Nodes`]). `run/nodes.rs` has each node get ready. The http driver
//!   then asks `Nodes::with_role` for the server's node, and `service/` for that of the services. `node.rs` and
//!   `station.rs` are the two ends of every question. A node's noise comes back under its role's name.

mod answer_program;
mod contender;
mod credentials;
mod doctor;
mod driver;
mod error;
mod halt;
mod held_folder;
mod kit_test;
mod load_once;
mod measures;
mod metrics;
mod node;
mod parameter;
mod port;
mod reference;
mod run;
mod schema;
mod service;
mod spec;
mod station;
mod toml_source;
mod unfit;
mod work;

pub use answer_program::sampling;
pub use contender::{
    Answers, Contender, Deps, Drawn, Install, Need, Origin, Reads, Ready, Variant, source_digest,
    tool_on_path,
};
pub use doctor::doctor;
pub use driver::http::is_percentile;
pub use driver::pacing::Busy;
pub use driver::scenario::{ScenarioLoad, read_scenario, scenario_of};
pub use driver::task::{OneJob, TaskDriver};
pub use driver::worker::{Hello, Tap};
pub use driver::{
    Answer, Answered, Driver, Executor, Measured, Opening, Planned, Short, TrialOrder, Wanted, open,
};
pub use error::{Error, Fault, MissingTool, chain};
pub use halt::Halt;
pub use kit_test::{Exchange, KitFinding, KitTested, kit_test};
pub use kumite_judge::{ClaimSpec, RULES, Reference};
pub use kumite_process::end_orphans;
pub use load_once::{LoadOnce, LoadOnceError};
pub use measures::MEASURES;
pub use node::{Nodes, Remote, Talk};
pub use reference::reference;
pub use run::{
    Block, Checked, Choice, Decided, Difference, Event, GateFinding, Joined, Made, MeasureError, Measuring,
    Merging, Plan, Prepared, RunEnded, RunEvent, Session, ThisMachine, TimeLimit, Undecided, WindowFault,
    Windows, World, asks_as, begin, check_disk, check_each, check_roles, claimed_points, common_fault,
    conclude, differ_as_sittings, differ_in_contenders, differ_in_machines, differ_in_roles,
    differ_in_trials, execute, export, gate_findings, is_left_out, is_of, join, join_documents,
    join_sittings, judged, lacking_control, merge, near_ties, other_versions, outlook, plan, prepare,
    prospects, references, rejudge, replication, seed_of, take_apart, too_few_values, trial_seed, undecided,
    used_cores,
};
pub use schema::{Described, SCHEMAS};
pub use service::remove_left_files;
pub use spec::{Asked, Experiment, Side, read_functions};
pub use station::serve as serve_station;
pub use toml_source::SpecError;
pub use unfit::Unfit;
