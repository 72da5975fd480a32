//! `kumite resume`: a run that ended early, from where it ended.

use std::time::Duration;

use clap::Parser;
use kumite_host::{Clock, cores, machine};
use kumite_lab::{Choice, Experiment, Joined, Prepared, check_disk, used_cores};
use kumite_record::{Contender, ContenderStatus, Machine, Role, Rule, Run, Store};

use crate::exit::Failure;
use crate::gate::Gate;
use crate::measure::{Measuring, begin_measuring, ended};
use crate::on::{self, On};
use crate::roles::Roles;
use crate::store::Db;
use crate::world::World;
use crate::{duration, output, slurm, stop};

#[derive(Parser)]
pub struct Args {
    /// The run: its id, the beginning of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Begin no block that would end after this time from now, e.g. 10m
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Where the nodes of --role are: local, which is by ssh; or slurm
    #[arg(long, value_name = "WHERE", value_parser = on::parse, default_value = "local")]
    on: On,
    #[command(flatten)]
    slurm: slurm::Options,
    #[command(flatten)]
    roles: Roles,
    #[command(flatten)]
    documents: output::Documents,
    #[command(flatten)]
    length: output::Length,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args, world: &dyn World) -> Result<(), Failure> {
    let mut store = Store::open_existing(&args.db.path())?;
    let state = store.folder().to_owned();
    // Before anything is read: another kumite may be writing it.
    let _lock = begin_measuring()?;
    let id = store.find(&args.run)?;
    let mut run = store.run(&id)?;
    store.check(&id)?;
    if let Some(merged) = &run.merged {
        return Err(Failure::Usage(format!(
            "run {id} was merged from {}: resume those of them that are not complete, and merge them again",
            merged.runs.join(", ")
        )));
    }
    if run.finished.is_some() && run.cut_short.is_none() {
        return Err(Failure::Usage(format!("run {id} is complete; `kumite report {id}` shows it")));
    }
    let mut experiment = Experiment::load(&run.experiment_given, &run.profile)?;
    experiment.blocks = run.blocks;
    if experiment.text != run.spec || experiment.points() != run.points {
        return Err(changed(&id, "experiment.toml has changed"));
    }
    if run.kumite != crate::VERSION {
        return Err(changed(&id, &format!("kumite was {} and has changed", run.kumite)));
    }
    if !kumite_lab::RULES.contains(&run.rule) {
        let ours = kumite_lab::RULES.map(Rule::as_str).join(" or ");
        let of_run = run.rule.as_str();
        return Err(changed(
            &id,
            &format!("its claims were judged by the rule {of_run}, which is now {ours}"),
        ));
    }
    if args.gate.is_set() && run.rule != Rule::Strict {
        return Err(Failure::Usage(format!(
            "--gate takes a strict run, and {id} was begun without --strict or --gate: resume it without --gate"
        )));
    }
    let available = cores();
    args.documents.check()?;
    check_disk(&experiment, &state).map_err(Failure::Incomplete)?;
    args.roles.check(&experiment, &args.on)?;
    if args.on != On::Local && !args.roles.are_given() {
        let why = "--on: `resume` has nodes for --role alone; a run that nodes share goes on by its own command, with --seed";
        return Err(Failure::Usage(why.to_owned()));
    }
    let stop = stop::flag()?;
    let contenders = store.contenders(&id)?;
    let ran = |contender: &&Contender| contender.status == ContenderStatus::Ran;
    let only: Vec<String> = contenders.iter().filter(ran).map(|contender| contender.name.clone()).collect();
    let variants = experiment.variants();
    if let Some(gone) = only.iter().find(|name| variants.iter().all(|(_, variant)| variant.name != **name)) {
        return Err(changed(&id, &format!("{gone} is not among the contenders any more: they have changed")));
    }
    let choice = Choice { only, ..Choice::default() };
    let allocation = match args.on {
        On::Slurm => Some(args.slurm.allocate(&args.roles.wanted(), &experiment.name, &stop)?),
        _ => None,
    };
    let placed = args.roles.placed(allocation.as_ref().map(|allocation| &allocation.nodes[..]))?;
    let joined = placed.join(&experiment, &choice, &available, &state, &stop)?;
    let Joined { prepared, nodes, cores: available, roles } = joined;
    let used = used_cores(&experiment, &available)?;
    same_roles(&id, &run.roles, &roles)?;
    same_machine(&id, &store.machine(&id)?, &machine(used))?;
    same_contenders(&id, contenders.iter().filter(ran), &prepared)?;
    take_up(&mut run, world.clock());
    store.finish(&run, &[], &[], &[])?;
    let budget = args.budget;
    let measuring =
        Measuring { world, experiment: &experiment, cores: available, nodes, budget, stop: &stop };
    let export = measuring.measure(run, &prepared.ready, &mut store)?;
    args.gate.conclude(export, &args.documents, args.length.report(), |export| ended(export, &stop))
}

fn take_up(run: &mut Run, clock: &dyn Clock) {
    run.resumed.push(clock.timestamp());
    run.finished = None;
    run.cut_short = None;
}

fn changed(id: &str, what: &str) -> Failure {
    Failure::Usage(format!(
        "{what} since run {id} began, and one run cannot be of both: `kumite run` begins a new one, \
         `kumite report {id}` shows what there is"
    ))
}

/// The nodes are named anew, for a record does not say to which hosts to go; they are to be the same.
fn same_roles(id: &str, then: &[Role], now: &[Role]) -> Result<(), Failure> {
    let named = |roles: &[Role]| match roles {
        [] => "no role elsewhere".to_owned(),
        roles => {
            roles.iter().map(|of| format!("{} on {}", of.role, of.node.name)).collect::<Vec<_>>().join(", ")
        }
    };
    if named(then) != named(now) {
        return Err(Failure::Usage(format!(
            "run {id} had {}, and is now given {}: name the same nodes with --role",
            named(then),
            named(now)
        )));
    }
    then.iter().zip(now).try_for_each(|(then, now)| same_machine(id, &then.node.machine, &now.node.machine))
}

/// A run of two machines would compare them.
fn same_machine(id: &str, then: &Machine, now: &Machine) -> Result<(), Failure> {
    let told = |machine: &Machine| {
        let cores = &machine.cores;
        format!(
            "{}, {}, contender on CPUs {:?}, engine on {:?}",
            machine.cpu, machine.kernel, cores.contender, cores.engine
        )
    };
    match told(then) == told(now) {
        true => Ok(()),
        false => {
            Err(changed(id, &format!("the machine was {} and is {}: it has changed", told(then), told(now))))
        }
    }
}

fn source(contender: &Contender) -> Option<&str> {
    contender.digests.as_ref().map(|digests| digests.source.as_str())
}

fn same_contenders<'a>(
    id: &str,
    then: impl Iterator<Item = &'a Contender>,
    prepared: &Prepared,
) -> Result<(), Failure> {
    for contender in then {
        let name = &contender.name;
        let now = prepared.contenders.iter().find(|other| other.name == *name);
        match (now, now.and_then(|now| now.version.as_ref())) {
            (Some(now), Some(_)) if now.digests == contender.digests && now.version == contender.version => {}
            (Some(Contender { reason: Some(reason), .. }), None) => {
                return Err(Failure::Incomplete(format!("{name} cannot be run any more: {reason}")));
            }
            (_, Some(is)) if contender.version.as_ref() != Some(is) => {
                let was = contender.version.as_deref().unwrap_or_default();
                return Err(changed(id, &format!("{name} was '{was}' and is '{is}': it has changed")));
            }
            (Some(now), _) if source(now) == source(contender) => {
                return Err(changed(id, &format!("{name}'s tools have changed")));
            }
            _ => return Err(changed(id, &format!("{name}'s files or commands have changed"))),
        }
    }
    Ok(())
}
