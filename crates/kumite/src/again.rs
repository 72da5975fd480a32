//! `kumite again`: one more sitting of a kept run, and what all of them together say.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use kumite_host::{boot, cores, machine};
use kumite_lab::{
    Choice, Experiment, Joined, Measuring, World, check_disk, differ_as_sittings, differ_in_contenders,
    differ_in_roles, join_sittings, used_cores,
};
use kumite_record::{ContenderStatus, Export, Rule, Run, Sitting, Store, StoredRun};

use crate::exit::Failure;
use crate::kept::{KeptFlags, alike, can_be_run};
use crate::measure::{begin_measuring, joined, measure, resumes};
use crate::nodes::driver;
use crate::{output, seed, stop};

/// A sitting has no more rounds than this, where its run has more and was no sitting itself.
const ROUNDS: u32 = 10;

pub fn run(args: &KeptFlags, world: &dyn World) -> Result<(), Failure> {
    args.ending.check()?;
    let mut store = Store::open_existing(&args.ending.db.path())?;
    let _lock = begin_measuring()?;
    let given = store.find(&args.run)?;
    // A sitting is never dropped: what it was joined to goes on.
    let before = joined_of(&store, &given)?;
    let mut sittings = before.as_ref().map_or(vec![given.clone()], sittings_of);
    let first = store.read(&sittings[0])?;
    whole(&first.run)?;
    let stop = stop::flag()?;
    let sitting = args.measured(&first, world, &mut store, &stop)?;
    sittings.push(sitting.run.id.clone());
    let joined = before.map_or_else(|| format!("{given}-sittings"), |run| run.id);
    let export = join(&mut store, joined, &sittings)?;
    let id = &export.run.id;
    output::note(&format!(
        "{} sittings are kept as run {id}; `kumite report {id}` shows it again",
        sittings.len()
    ));
    args.ending.conclude(export, None)?;
    match (&sitting.run.cut_short, resumes(&sitting, &stop)) {
        (Some(why), Some(how)) => Err(Failure::Incomplete(format!("{why}; {how}"))),
        _ => Ok(()),
    }
}

/// The run that has this as one of its sittings, or is this one and has several.
fn joined_of(store: &Store, id: &str) -> Result<Option<Run>, Failure> {
    let is_of =
        |run: &Run| run.sittings.len() > 1 && (run.id == id || sittings_of(run).iter().any(|of| of == id));
    Ok(store.runs()?.into_iter().find(is_of))
}

fn sittings_of(run: &Run) -> Vec<String> {
    run.sittings.iter().map(|of| of.run.clone()).collect()
}

/// Refuses what is no first sitting before another one is measured.
fn whole(run: &Run) -> Result<(), Failure> {
    let id = &run.id;
    if run.shard.is_some() || run.merged.is_some() {
        let why = "is a share of a run, or was merged from shares: sittings are of runs on one machine";
        return Err(Failure::Usage(format!("run {id} {why}")));
    }
    if run.finished.is_none() {
        return Err(Failure::Usage(format!("run {id} is not finished: `kumite resume {id}` first")));
    }
    Ok(())
}

fn join(store: &mut Store, id: String, sittings: &[String]) -> Result<Export, Failure> {
    let runs: Vec<StoredRun> = sittings.iter().map(|id| store.read(id)).collect::<Result<_, _>>()?;
    let joined = join_sittings(&runs, id, output::command_line_of_run())?;
    store.put(&joined)?;
    Ok(kumite_lab::export(store, &joined.run.id)?)
}

/// Joins anew what this sitting is a part of, for there is more of it.
pub fn join_anew(store: &mut Store, sitting: &str) -> Result<(), Failure> {
    if let Some(run) = joined_of(store, sitting)? {
        let export = join(store, run.id.clone(), &sittings_of(&run))?;
        output::note(&format!(
            "it is a sitting of run {id}, which was judged anew; `kumite report {id}` shows it",
            id = export.run.id
        ));
    }
    Ok(())
}

impl KeptFlags {
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
        alike(id, differ_as_sittings(&first.run, &Run { roles: first.run.roles.clone(), ..now.clone() })?)?;
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
        alike(id, differ_in_roles(&first.run.roles, &roles))?;
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
            command: output::command_line_of_run(),
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
