//! `kumite again`: one more sitting of a kept run, and the verdicts of all its sittings together.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::{cores, machine};
use kumite_lab::{
    Choice, Experiment, Joined, Measuring, TimeLimit, World, check_disk, differ_as_sittings,
    differ_in_contenders, differ_in_roles, used_cores,
};
use kumite_record::{ContenderStatus, Export, Rule, Run, Store, StoredRun};

use crate::exit::Failure;
use crate::kept::{KeptFlags, alike, can_be_run, of_working_tree};
use crate::measure::{begin_measuring, interrupted, joined, measure};
use crate::nodes::{RoleNodes, driver};
use crate::wait::Wait;
use crate::{output, seed, sittings, stop};

pub fn run(args: &KeptFlags, world: &dyn World) -> Result<(), Failure> {
    args.ending.check()?;
    let (db, stop) = (args.ending.db.path(), stop::flag()?);
    let nodes = args.roles.at(&args.on, &args.slurm);
    let more = More { world, db: &db, nodes, budget: args.budget, wait: args.wait, stop: &stop };
    let Added { joined, early } = more.add(&args.run)?;
    args.ending.conclude(joined, early)
}

/// The setting in which one more sitting is measured.
pub struct More<'a> {
    pub world: &'a dyn World,
    pub db: &'a Path,
    pub nodes: RoleNodes<'a>,
    pub budget: Option<Duration>,
    pub wait: Wait,
    pub stop: &'a Arc<AtomicBool>,
}

/// A run that got one more sitting.
pub struct Added {
    /// The run made of all sittings.
    pub joined: Export,
    /// The reason why the last sitting was interrupted, with the command that continues it; `None` if it was not.
    pub early: Option<String>,
}

impl More<'_> {
    /// Measures one more sitting of the run `named`, and joins it to the others. An error if there is no such run, if
    /// the run is a share, was merged from shares or is not finished, or if the sitting cannot be measured as the first
    /// was.
    pub fn add(&self, named: &str) -> Result<Added, Failure> {
        let mut store = Store::open_existing(self.db)?;
        let _lock = begin_measuring(self.wait, self.stop)?;
        let given = store.find(named)?;
        let all = sittings::together(&store, &given)?;
        let first = store.read(all.first().map_or(&given, |first| &first.id))?;
        of_working_tree(&first.run)?;
        whole(&first.run)?;
        let sitting = self.measured(&first, &mut store)?;
        let joined = sittings::joined(&mut store, &sitting.run.id)?;
        Ok(Added { joined, early: interrupted(&sitting, self.stop) })
    }

    /// Measures one more sitting of the run `first`, as a run of its own.
    fn measured(&self, first: &StoredRun, store: &mut Store) -> Result<Export, Failure> {
        let (id, state) = (&first.run.id, store.folder().to_owned());
        let mut experiment = Experiment::load(&first.run.experiment_given, &first.run.profile)?;
        experiment.blocks = rounds(&first.run);
        experiment.control = first.run.control.as_ref().map(|control| control.contender.clone());
        let available = cores();
        let now = kumite_lab::begin(&experiment, &available);
        alike(id, differ_as_sittings(&first.run, &Run { roles: first.run.roles.clone(), ..now.clone() })?)?;
        check_disk(&experiment, &state)?;
        self.nodes.check(&experiment)?;
        let ran = |status| status == ContenderStatus::Ran;
        let only = first.contenders.iter().filter(|of| ran(of.status)).map(|of| of.name.clone()).collect();
        let choice = Choice { only, control: now.control.clone(), ..Choice::default() };
        choice.check(&experiment)?;
        let driver = driver(self.stop);
        let placed = self.nodes.placed(&experiment, &driver)?;
        let joined = joined(&placed, &experiment, &choice, &available, &state, &driver)?;
        let Joined { prepared, nodes, cores, roles } = joined;
        let used = used_cores(&experiment, &cores)?;
        alike(id, differ_in_roles(&first.run.roles, &roles))?;
        can_be_run(first.contenders.iter().filter(|of| ran(of.status)), &prepared.contenders)?;
        alike(id, differ_in_contenders(&first.contenders, &prepared.contenders))?;
        let started = self.world.clock().timestamp();
        let run = Run {
            id: Run::new_id(started),
            experiment_given: first.run.experiment_given.clone(),
            seed: seed::fresh(self.world.clock()),
            started,
            command: output::command_line_without_files(),
            kumite: crate::VERSION.to_owned(),
            rule: Rule::Strict,
            services: prepared.services.clone(),
            roles,
            ..now
        };
        let run = Run { sittings: vec![sittings::sitting(&run, Some(id))], ..run };
        store.begin(&run, &machine(used), &prepared.contenders)?;
        let (world, limit, stop) = (self.world, self.budget.map(TimeLimit::Budget), self.stop);
        let measuring = Measuring { world, experiment: &experiment, cores, nodes, limit, stop };
        measure(measuring, run, &prepared.ready, store)
    }
}

/// Refuses a run that cannot be a first sitting: a share, one merged from shares, or an unfinished one.
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

/// The number of rounds of each further sitting: as many as the first has, but at most [`sittings::ROUNDS`] if the
/// first was begun without `--sittings`.
fn rounds(first: &Run) -> u32 {
    if first.sittings.is_empty() { first.blocks.min(sittings::ROUNDS) } else { first.blocks }
}
