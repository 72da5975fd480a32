//! `kumite compare`: commands in interleaved blocks until the verdicts are reached.

mod command;
mod commands;
mod judge;
mod sequence;

pub use command::{CommandLine, Shell};
pub use commands::{Bench, CompareError, Setting, compare};
pub use sequence::{Progressed, Rules};
