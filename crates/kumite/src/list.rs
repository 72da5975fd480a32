//! `kumite list`: the experiments, or the runs in a store.

use clap::Parser;
use kumite_lab::Experiment;
use kumite_record::Store;

use crate::exit::Failure;
use crate::output;
use crate::store::Db;

#[derive(Parser)]
pub struct Args {
    /// List the runs and the names of --save in the results store, in place of experiments
    #[arg(long)]
    runs: bool,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.runs { runs(args) } else { experiments() }
}

fn experiments() -> Result<(), Failure> {
    let found = Experiment::list()?;
    if found.is_empty() {
        return Err(Failure::Usage(
            "there is no experiments/ folder with experiments here or above: go to one, name one in \
             $KUMITE_EXPERIMENTS, or make an experiment by `kumite init NAME`"
                .to_owned(),
        ));
    }
    let mut broken = 0;
    let mut place = None;
    for folder in &found {
        if place.replace(folder.parent()) != Some(folder.parent()) {
            let parent = folder.parent().map(|parent| parent.display().to_string());
            output::print(&format!("in {}:\n", parent.unwrap_or_default()))?;
        }
        match Experiment::load(&folder.to_string_lossy(), "standard") {
            Ok(experiment) => {
                output::print(&format!("{}: {}\n", experiment.name, experiment.question.text))?;
                for (_, variant) in experiment.variants() {
                    output::print(&format!("  {:24} {}\n", variant.name, variant.model))?;
                }
            }
            Err(error) => {
                broken += 1;
                output::print(&format!("{}: cannot be run: {error}\n", folder.display()))?;
            }
        }
    }
    match broken {
        0 => Ok(()),
        _ => Err(Failure::Usage(format!("{broken} of {} experiments cannot be run", found.len()))),
    }
}

fn runs(args: &Args) -> Result<(), Failure> {
    let store = Store::open_existing(&args.db.path())?;
    let runs = store.runs()?;
    runs.iter().try_for_each(|run| output::print(&kumite_report::run_line(run)))?;
    let names = store.names()?;
    if runs.is_empty() && names.is_empty() {
        output::note(&format!("{} has no runs: `kumite run` makes one", store.path().display()));
    }
    names.iter().try_for_each(|name| output::print(&format!("{name}  kept by --save\n")))
}
