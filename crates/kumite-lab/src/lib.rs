//! The lab: spec → plan → execute → store → estimate → judge.
//!
//! Each arrow is a plain value. Nothing here draws, and nothing here starts a process but through `kumite-process`.

mod build;
mod contender;
mod disk;
mod doctor;
mod driver;
mod execute;
mod export;
mod folder;
mod functions;
mod halt;
mod kit_test;
mod metrics;
mod needs;
mod own_metric;
mod param;
mod param_schema;
mod place;
mod plan;
mod points;
mod port;
mod prepare;
mod published;
mod reference;
mod schema;
mod service;
mod spec;
mod unavailable;
mod used_cores;
mod warnings;

pub use build::Origin;
pub use contender::{Answers, Contender, Install, Reads, Variant};
pub use disk::check_disk;
pub use doctor::{Diagnosis, Equipment, NeedFound, doctor};
pub use driver::http::{External, load_result};
pub use driver::pacing::Busy;
pub use driver::task::{Hello, OneJob, Tap, TaskDriver};
pub use driver::{Driver, Opening, open};
pub use execute::{Ended, Event, Executor, Measured, Order, Session, Undecided, execute, humane};
pub use export::{conclude, export, undecided};
pub use functions::read_functions;
pub use halt::Halt;
pub use kit_test::{Exchange, KitFinding, KitTested, kit_test};
pub use kumite_judge::{ClaimSpec, RULE};
pub use kumite_process::end_orphans;
pub use needs::Need;
pub use place::SpecError;
pub use plan::{Block, Plan, plan};
pub use points::Planned;
pub use prepare::{Choice, Prepared, Ready, prepare};
pub use reference::reference;
pub use schema::{Described, SCHEMAS};
pub use spec::{Answer, Experiment};
pub use used_cores::used_cores;
