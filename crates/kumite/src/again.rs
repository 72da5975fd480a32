//! `kumite again`: one more sitting of a kept run, and what all of them together say.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use clap::Parser;
use kumite_host::{boot, cores, machine};
use kumite_lab::{
    Choice, Experiment, Joined, Measuring, World, check_disk, differ_in_contenders, differ_in_trials,
    join_sittings, used_cores,
};
use kumite_nodes::On;
use kumite_record::{ContenderStatus, Export, Rule, Run, Sitting, Store, StoredRun};

use crate::ending::Ending;
use crate::exit::Failure;
use crate::kept::{alike, can_be_run};
use crate::measure::{begin_measuring, joined, measure, resumes};
use crate::nodes::{RoleFlags, SlurmFlags, driver};

use crate::{duration, output, seed, stop};

/// A sitting has no more rounds than this, where its run has more and was no sitting itself.
const ROUNDS: u32 = 10;

#[derive(Parser)]
pub struct Args {
    /// The run: its id, the beginning of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Begin no block that would end after this time from now, e.g. 10m
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Where the nodes of --role are: local, which is by ssh; or slurm
    #[arg(long, value_name = "WHERE", default_value = "local")]
    on: On,
    #[command(flatten)]
    slurm: SlurmFlags,
    #[command(flatten)]
    roles: RoleFlags,
    #[command(flatten)]
    ending: Ending,
}

pub fn run(args: &Args, world: &dyn World) -> Result<(), Failure> {
    args.ending.check()?;
    let mut store = Store::open_existing(&args.ending.db.path())?;
    let _lock = begin_measuring()?;
    let id = store.find(&args.run)?;
    let run = store.run(&id)?;
    let mut sittings = match run.sittings.as_slice() {
        [] | [_] => vec![id.clone()],
        several => several.iter().map(|of| of.run.clone()).collect(),
    };
    let first = store.read(&sittings[0])?;
    let stop = stop::flag()?;
    let sitting = args.measured(&first, world, &mut store, &stop)?;
    let goes_on = resumes(&sitting, &stop);
    sittings.push(sitting.run.id);
    let joined = if sittings.len() == 2 { format!("{id}-sittings") } else { id };
    let export = join(&mut store, joined, &sittings)?;
    let id = &export.run.id;
    output::note(&format!(
        "{} sittings are kept as run {id}; `kumite report {id}` shows it again",
        sittings.len()
    ));
    args.ending.conclude(export, goes_on)
}

fn join(store: &mut Store, id: String, sittings: &[String]) -> Result<Export, Failure> {
    let runs: Vec<StoredRun> = sittings.iter().map(|id| store.read(id)).collect::<Result<_, _>>()?;
    let joined = join_sittings(&runs, id, output::command_line_of_run())?;
    store.put(&joined)?;
    Ok(kumite_lab::export(store, &joined.run.id)?)
}

/// Joins anew what this sitting is a part of, for there is more of it.
pub fn join_anew(store: &mut Store, sitting: &str) -> Result<(), Failure> {
    let has_it = |run: &Run| run.sittings.len() > 1 && run.sittings.iter().any(|of| of.run == sitting);
    for run in store.runs()?.into_iter().filter(has_it) {
        let sittings: Vec<String> = run.sittings.into_iter().map(|of| of.run).collect();
        let export = join(store, run.id, &sittings)?;
        output::note(&format!(
            "it is a sitting of run {id}, which was judged anew; `kumite report {id}` shows it",
            id = export.run.id
        ));
    }
    Ok(())
}

impl Args {
    /// Measures one more sitting, as a run of its own.
    fn measured(
        &self,
        first: &StoredRun,
        world: &dyn World,
        store: &mut Store,
        stop: &Arc<AtomicBool>,
    ) -> Result<Export, Failure> {
        let (id, state) = (&first.run.id, store.folder().to_owned());
        let mut experiment = Experiment::load(&first.run.experiment_given, &first.run.profile)?;
        experiment.blocks = rounds(&first.run);
        let available = cores();
        let now = kumite_lab::begin(&experiment, &available);
        alike(id, differ_in_trials(&first.run, &now)?)?;
        check_disk(&experiment, &state)?;
        let roles = self.roles.roles();
        roles.check(&experiment, &self.on)?;
        let ran = |status| status == ContenderStatus::Ran;
        let only = first.contenders.iter().filter(|of| ran(of.status)).map(|of| of.name.clone()).collect();
        let choice = Choice { only, ..Choice::default() };
        choice.check(&experiment)?;
        let driver = driver(stop);
        let placed = roles.placed(&self.on, &self.slurm.options(), &experiment.name, &driver)?;
        let joined = joined(&placed, &experiment, &choice, &available, &state, &driver)?;
        let Joined { prepared, nodes, cores, roles } = joined;
        let used = used_cores(&experiment, &cores)?;
        can_be_run(first.contenders.iter().filter(|of| ran(of.status)), &prepared.contenders)?;
        alike(id, differ_in_contenders(&first.contenders, &prepared.contenders))?;
        let started = world.clock().timestamp();
        let seed = seed::fresh(world.clock());
        let new_id = Run::new_id(started);
        let run = Run {
            sittings: vec![Sitting {
                run: new_id.clone(),
                seed,
                started,
                machine: boot(),
                rounds: experiment.blocks,
                ..Sitting::default()
            }],
            id: new_id,
            experiment_given: first.run.experiment_given.clone(),
            seed,
            started,
            command: seed::named(output::command_line_of_run(), None, seed),
            kumite: crate::VERSION.to_owned(),
            rule: Rule::Strict,
            services: prepared.services.clone(),
            roles,
            ..now
        };
        store.begin(&run, &machine(used), &prepared.contenders)?;
        let budget = self.budget;
        let measuring = Measuring { world, experiment: &experiment, cores, nodes, budget, stop };
        measure(measuring, run, &prepared.ready, store)
    }
}

/// The rounds that each further sitting has.
fn rounds(first: &Run) -> u32 {
    if first.sittings.is_empty() { first.blocks.min(ROUNDS) } else { first.blocks }
}
