//! `kumite replicate`: a run that somebody else made, tried here.
//!
//! Their file is data. The experiment that is built, started and opened is the one here, found by its name alone or
//! by `--experiment`. Of their file, only the profile, the rule and the names of contenders choose what is measured.

use std::path::PathBuf;

use clap::Parser;
use kumite_host::{cores, machine};
use kumite_lab::{Experiment, World, replication};
use kumite_record::{ContenderStatus, Export, PairOutcome, Replication, Rule, RunParts};

use crate::contenders::Chosen;
use crate::documents::{Documents, Forms};
use crate::ending::ended;
use crate::exit::Failure;
use crate::exported;
use crate::kept::of_working_tree;
use crate::output;
use crate::run::{self, Effort};
use crate::store::Db;

/// The names of the two runs in the comparison.
const NAMES: [&str; 2] = ["theirs", "here"];

#[derive(Parser)]
pub struct Args {
    /// Somebody else's run: a file of `kumite run --json` or `kumite export`, .gz or not; or a results store
    #[arg(value_name = "FILE")]
    theirs: PathBuf,
    /// Run of a results store: its id, or the beginning of its id [default: its last]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Folder with an experiment.toml to try [default: the experiment of that name, below experiments/]
    #[arg(long, value_name = "FOLDER")]
    experiment: Option<String>,
    /// Profile [default: theirs]
    #[arg(long)]
    profile: Option<String>,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    effort: Effort,
    #[command(flatten)]
    documents: Documents,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args, world: &dyn World) -> Result<(), Failure> {
    args.documents.check()?;
    args.documents.refuse_verdicts()?;
    let theirs = exported::read(&args.theirs, args.run.as_deref())?;
    let order = args.order(&theirs)?;
    let is_on_terminal = args.documents.is_on_terminal();
    let begun = |here: RunParts| {
        let differences = |style| {
            Ok::<_, Failure>(kumite_report::replication_differences(
                &replication(NAMES, [(&theirs).into(), here])?,
                style,
            ))
        };
        match is_on_terminal {
            true => output::report(&differences(&output::style())?),
            false => {
                differences(&output::style_of_stderr()).map(|text| output::coloured_note(text.trim_end()))
            }
        }
    };
    let (here, early) = run::measured(&order, world, &begun)?;
    let replication = replication(NAMES, [(&theirs).into(), (&here).into()])?;
    args.documents.write(&Forms {
        terminal: &|style| format!("\n{}", kumite_report::replication_claims(&replication, style)),
        json: &|| output::json(&replication),
        html: &|| kumite_report::replication_html(&replication),
        markdown: &|| kumite_report::replication_markdown(&replication),
        svg: None,
        review: None,
    })?;
    ended(&here, early)?;
    contradicted(&replication)
}

/// The outcome of the command: an error if a claim came to another verdict here.
fn contradicted(replication: &Replication) -> Result<(), Failure> {
    let another = replication.claims.iter().filter(|pair| pair.outcome == PairOutcome::Another);
    let another: Vec<&str> = another.map(|pair| pair.id.as_str()).collect();
    match another[..] {
        [] => Ok(()),
        _ => Err(Failure::Gate(format!("another verdict here: {}", another.join(", ")))),
    }
}

impl Args {
    /// The command line of a run like theirs, as far as there can be one here. Refuses a run that cannot be tried
    /// here, before anything is built.
    fn order(&self, theirs: &Export) -> Result<run::Args, Failure> {
        of_working_tree(&theirs.run)?;
        let id = &theirs.run.id;
        if theirs.claims.is_empty() {
            let why = match (&theirs.run.shard, theirs.run.finished) {
                (Some(_), _) => "is a share of a run: merge all of them first",
                (None, None) => "is not finished, and has no verdicts",
                (None, Some(_)) => "has no verdicts",
            };
            return Err(Failure::Usage(format!("{}: run {id} {why}", self.theirs.display())));
        }
        let folder = match &self.experiment {
            Some(folder) => folder.clone(),
            None => self.folder_of(&theirs.run.experiment)?,
        };
        let profile = self.profile.as_ref().unwrap_or(&theirs.run.profile);
        let experiment = Experiment::load(&folder, profile)?;
        let planned = kumite_lab::begin(&experiment, &cores());
        let here = RunParts { run: &planned, machine: &machine(cores()), contenders: &[], claims: &[] };
        replication(NAMES, [theirs.into(), here])?;
        let mut order = run::Args::of(&folder, profile);
        order.planning.contenders.chosen = self.chosen.clone();
        order.planning.contenders.chosen.only = self.only(theirs, &experiment)?;
        order.effort = self.effort.clone();
        order.effort.strict |= theirs.run.rule == Rule::Strict;
        order.ending.db = self.db.clone();
        Ok(order)
    }

    /// The folder of the experiment with this name here. The name is a stranger's, and is never taken for a path.
    fn folder_of(&self, name: &str) -> Result<String, Failure> {
        let found = Experiment::folder_of(name);
        let found =
            found.map_err(|error| Failure::Usage(format!("{error}, --experiment FOLDER names another")))?;
        found.into_os_string().into_string().map_err(|path| {
            Failure::Usage(format!(
                "{} is no UTF-8, which the name of an experiment has to be",
                path.display()
            ))
        })
    }

    /// The contenders to measure: those of the command line, or else those that ran in their run and are here.
    fn only(&self, theirs: &Export, experiment: &Experiment) -> Result<Vec<String>, Failure> {
        if !self.chosen.only.is_empty() {
            return Ok(self.chosen.only.clone());
        }
        let here: Vec<String> =
            experiment.variants().into_iter().map(|(_, variant)| variant.name.clone()).collect();
        let ran = |name: &String| {
            let ran = |of: &kumite_record::Contender| of.status == ContenderStatus::Ran && of.name == *name;
            theirs.contenders.iter().any(ran)
        };
        let both: Vec<String> = here.iter().filter(|name| ran(name)).cloned().collect();
        match both.is_empty() {
            false => Ok(both),
            true => Err(Failure::Usage(format!(
                "none of the contenders that ran in {} is one of {}, which has: {}",
                self.theirs.display(),
                experiment.name,
                here.join(", ")
            ))),
        }
    }
}
