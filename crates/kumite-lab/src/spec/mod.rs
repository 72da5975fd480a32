//! The reading of experiments: from `experiment.toml` and the name of a profile to an [`Experiment`].
//!
//! Everything is checked here, once: names, units, values, claims, files. An experiment that comes out can be run,
//! and each error has its file, line, column and remedy. Each point has its workload typed
//! ([`Planned`](crate::Planned)), so that no driver parses a parameter.

mod answer_at;
mod answer_entry;
mod asked;
mod axes;
mod axis_values;
mod claims;
mod control;
mod experiment;
mod file;
mod folder;
mod functions;
mod keys;
mod own_metric;
mod param_schema;
mod parse;
mod points;
mod profile;
mod published;
mod revisions;
mod source;
#[cfg(test)]
mod tests;
mod unavailable;

pub use asked::Asked;
pub(crate) use control::no_such_control;
pub use experiment::Experiment;
pub(crate) use file::ExperimentFile;
pub(crate) use folder::{folder_name, read_contenders};
pub(crate) use functions::FunctionsFile;
pub use functions::read_functions;
pub(crate) use parse::judged_of;
pub use revisions::Side;
