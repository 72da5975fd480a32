//! `kumite compare`: commands, or servers, in interleaved blocks until the verdicts are reached.

mod alone;
mod bench;
mod commands;
mod deadline;
mod document;
mod duet;
mod gate;
mod hooks;
mod import;
mod judge;
mod outside;
mod parameters;
mod reading;
mod same_output;
mod sequence;
mod servers;

pub use bench::{Allowed, Bench, CompareError, Setting, Templates};
pub use commands::compare;
pub(crate) use duet::BESIDE;
pub use import::{Imported, import};
pub(crate) use judge::{Bar, Side, judge, log_ratios};
pub use parameters::Parameter;
pub(crate) use reading::Log;
pub use sequence::{Progressed, Rules};
pub use servers::{Server, compare_servers};
