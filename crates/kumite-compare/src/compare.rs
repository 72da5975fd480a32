//! `kumite compare`: it compares commands, or servers, in interleaved blocks until the verdicts are reached.

mod alone;
mod bench;
mod commands;
mod control;
mod deadline;
mod difference;
mod document;
mod duet;
mod error;
mod gate;
mod hooks;
mod import;
mod judge;
mod margin;
mod nth;
mod outside;
mod parameters;
mod reading;
mod same_output;
mod sequence;
mod servers;

pub use bench::{Allowed, At, Bench, NoExitCodes, Place, Setting, Templates};
pub use commands::compare;
pub use control::Twice;
pub use difference::Difference;
pub(crate) use duet::BESIDE;
pub use error::{CompareError, EnvError, UsageError};
pub use hooks::typed;
pub use import::{ImportError, Imported, import};
pub(crate) use judge::{Bar, Side, judge, log_ratios};
pub use margin::{Margin, MarginError};
pub use nth::Nth;
pub use parameters::{Parameter, ParameterError};
pub(crate) use reading::Log;
pub use sequence::{Progressed, Rules};
pub use servers::{Server, compare_servers};
