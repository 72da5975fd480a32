//! `kumite doctor`: what this machine, or others by `--on`, can and cannot give.

use std::path::PathBuf;

use clap::Parser;
use kumite_lab::doctor;
use kumite_nodes::{NodesWanted, On, findings};

use crate::exit::Failure;
use crate::nodes::{SlurmFlags, driver};
use crate::{output, stop};

#[derive(Parser)]
pub struct Args {
    /// Write JSON in place of the text, to standard output if no file is named
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Machines to look at: local; or ssh:HOST,HOST or slurm, shown beside each other, differences first
    #[arg(long, value_name = "WHERE", default_value = "local")]
    on: On,
    #[command(flatten)]
    slurm: SlurmFlags,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let stop = stop::flag()?;
    match &args.on {
        On::Local => {
            let diagnosis = doctor();
            let text = || kumite_report::diagnosis(&diagnosis, &output::style());
            text_or_json(args, &diagnosis, text)
        }
        on => {
            let at = on.allocate(&args.slurm.options(), &NodesWanted::Nodes, "doctor", &driver(&stop))?;
            let found = findings(&at.nodes, crate::VERSION, &stop)?;
            text_or_json(args, &found, || kumite_report::diagnoses(&found))
        }
    }
}

fn text_or_json(
    args: &Args,
    found: &impl serde::Serialize,
    text: impl FnOnce() -> String,
) -> Result<(), Failure> {
    match &args.json {
        Some(file) => output::write(file, &output::json(found)?),
        None => output::report(&text()),
    }
}
