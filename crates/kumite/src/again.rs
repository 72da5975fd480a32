//! `kumite again`: one more sitting of a kept run, and what all of them together say.

use std::time::Duration;

use clap::Parser;
use kumite_host::{boot, cores, machine};
use kumite_lab::{Choice, Experiment, Joined, check_disk, differ_in_contenders, differ_in_trials, join_sittings, used_cores};
use kumite_nodes::On;
use kumite_record::{ContenderStatus, Export, Rule, Run, Sitting, Store, StoredRun};

use crate::ending::Ending;
use crate::exit::Failure;
use crate::measure::{Measuring, begin_measuring, joined, resumes};
use crate::nodes::{RoleFlags, SlurmFlags, driver};
use crate::resume::{alike, can_be_run};
use crate::run::fresh_seed;
use crate::world::World;
use crate::{duration, output, stop};

/// A sitting has no more rounds than this, where its run has more and was no sitting itself.
pub const ROUNDS: u32 = 10;

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
    let kept = sittings(&store, &id)?;
    let sitting = args.measured(&kept[0], world, &mut store)?;
    let joined = join(&mut store, &id, kept, &sitting.run.id)?;
    let goes_on = sitting.run.cut_short.is_some().then(|| resumes(&sitting, &stop::flag().unwrap_or_default())).flatten();
    args.ending.conclude(joined, goes_on)
}

/// The sittings that a run has so far: itself, if it is the first one.
fn sittings(store: &Store, id: &str) -> Result<Vec<StoredRun>, Failure> {
    let run = store.run(id)?;
    let ids: Vec<String> = match run.sittings.as_slice() {
        [] | [_] => vec![id.to_owned()],
        several => several.iter().map(|of| of.run.clone()).collect(),
    };
    Ok(ids.iter().map(|id| store.read(id)).collect::<Result<_, _>>()?)
}

/// Joins these sittings and one more, and keeps what comes of it in the place of what they were joined to before.
fn join(store: &mut Store, id: &str, mut all: Vec<StoredRun>, one_more: &str) -> Result<Export, Failure> {
    all.push(store.read(one_more)?);
    let joined = match store.run(id)?.sittings.len() {
        0 | 1 => format!("{id}-sittings"),
        _ => id.to_owned(),
    };
    let joined = join_sittings(&all, joined, output::command_line_of_run())?;
    store.put(&joined)?;
    let id = &joined.run.id;
    output::note(&format!("{} sittings are kept as run {id}; `kumite report {id}` shows it again", all.len()));
    Ok(kumite_lab::export(store, id)?)
}

impl Args {
    /// Measures one more sitting, as a run of its own.
    fn measured(&self, first: &StoredRun, world: &dyn World, store: &mut Store) -> Result<Export, Failure> {
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
        let stop = stop::flag()?;
        let driver = driver(&stop);
        let placed = roles.placed(&self.on, &self.slurm.options(), &experiment.name, &driver)?;
        let joined = joined(&placed, &experiment, &choice, &available, &state, &driver)?;
        let Joined { prepared, nodes, cores, roles } = joined;
        let used = used_cores(&experiment, &cores)?;
        can_be_run(first.contenders.iter().filter(|of| ran(of.status)), &prepared.contenders)?;
        alike(id, differ_in_contenders(&first.contenders, &prepared.contenders))?;
        let started = world.clock().timestamp();
        let seed = fresh_seed(world.clock());
        let new_id = Run::new_id(started);
        let run = Run {
            sittings: vec![first_sitting(&new_id, seed, started, experiment.blocks)],
            id: new_id,
            experiment_given: first.run.experiment_given.clone(),
            seed,
            started,
            command: format!("{} --seed {seed}", output::command_line_of_run()),
            kumite: crate::VERSION.to_owned(),
            rule: Rule::Strict,
            services: prepared.services.clone(),
            roles,
            ..now
        };
        store.begin(&run, &machine(used), &prepared.contenders)?;
        let budget = self.budget;
        let measuring = Measuring { world, experiment: &experiment, cores, nodes, budget, stop: &stop };
        measuring.measure(run, &prepared.ready, store)
    }
}

/// The rounds that each further sitting has.
fn rounds(first: &Run) -> u32 {
    if first.sittings.is_empty() { first.blocks.min(ROUNDS) } else { first.blocks }
}

/// A sitting that begins: alone in its run, as long as no other is joined to it.
pub fn first_sitting(run: &str, seed: u64, started: jiff::Timestamp, rounds: u32) -> Sitting {
    Sitting { run: run.to_owned(), seed, started, machine: boot(), rounds, ..Sitting::default() }
}
