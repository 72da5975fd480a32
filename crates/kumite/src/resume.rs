//! `kumite resume`: a run that ended early, from where it ended.

use jiff::Timestamp;
use kumite_host::{cores, machine};
use kumite_lab::{
    Choice, Experiment, Joined, Made, Measuring, Prepared, TimeLimit, World, check_disk,
    differ_in_contenders, differ_in_machines, differ_in_roles, differ_in_trials, other_versions, used_cores,
};
use kumite_nodes::On;
use kumite_record::{Contender, ContenderStatus, Cores, OtherVersion, Part, Rule, Run, Store};

use crate::exit::Failure;
use crate::kept::{KeptFlags, alike, can_be_run, changed, of_working_tree};
use crate::measure::{begin_measuring, interrupted, joined, measure};
use crate::nodes::{RoleNodes, driver};
use crate::{sittings, stop};

pub fn run(args: &KeptFlags, world: &dyn World) -> Result<(), Failure> {
    let mut store = Store::open_existing(&args.ending.db.path())?;
    // The lock comes before anything is read: another kumite may be writing it.
    let stop = stop::flag()?;
    let _lock = begin_measuring(args.wait, &stop)?;
    let id = cut_sitting(&store, store.find(&args.run)?)?;
    let mut run = store.run(&id)?;
    store.check(&id)?;
    check_cut(&run)?;
    let here = cores();
    let (experiment, now) = experiment_of(&run, &here)?;
    let state = store.folder().to_owned();
    check_disk(&experiment, &state)?;
    let role_nodes = checked_flags(args, &run, &experiment)?;
    let contenders = store.contenders(&id)?;
    let choice = Choice {
        only: measured(&run, &contenders, &experiment)?,
        control: now.control.clone(),
        ..Choice::default()
    };
    let driver = driver(&stop);
    let placed = role_nodes.placed(&experiment, &driver)?;
    let Joined { prepared, nodes, cores, roles } =
        joined(&placed, &experiment, &choice, &here, &state, &driver)?;
    let used = used_cores(&experiment, &cores)?;
    alike(&id, differ_in_roles(&run.roles, &roles))?;
    alike(&id, differ_in_machines(&store.machine(&id)?, &machine(used)))?;
    can_be_run(contenders.iter().filter(|of| ran(of)), &prepared.contenders)?;
    alike(&id, differ_in_contenders(&contenders, &prepared.contenders))?;
    let at = world.clock().timestamp();
    let others = others(&run, &contenders, &prepared, at);
    take_up(&mut run, at, others, now);
    store.finish(&run, &[], &[], &[])?;
    let limit = args.budget.map(TimeLimit::Budget);
    let measuring = Measuring { world, experiment: &experiment, cores, nodes, limit, stop: &stop };
    let export = measure(measuring, run, &prepared.ready, &mut store)?;
    let early = interrupted(&export, &stop);
    args.ending.conclude(sittings::joined(&mut store, &id)?, early)
}

/// An error if no trial can be added to the run: it is complete, was merged, or compares revisions.
fn check_cut(run: &Run) -> Result<(), Failure> {
    let id = &run.id;
    if let Some(merged) = &run.merged {
        return Err(Failure::Usage(format!(
            "run {id} was merged from {}: resume those of them that are not complete, and merge them again",
            merged.runs.join(", ")
        )));
    }
    if run.finished.is_some() && run.cut_short.is_none() {
        return Err(Failure::Usage(format!("run {id} is complete; `kumite report {id}` shows it")));
    }
    of_working_tree(run)
}

/// The experiment of a run as it is now, and the run that it would begin on these CPUs. An error if that is not what
/// this run asked.
fn experiment_of(run: &Run, here: &Cores) -> Result<(Experiment, Run), Failure> {
    let id = &run.id;
    let mut experiment = Experiment::load(&run.experiment_given, &run.profile)?;
    experiment.blocks = run.blocks;
    experiment.control = run.control.as_ref().map(|control| control.contender.clone());
    let now = kumite_lab::begin(&experiment, here);
    alike(id, differ_in_trials(run, &now)?)?;
    if now.points != run.points {
        return Err(changed(id, "what kumite plans for its experiment.toml has changed"));
    }
    if !kumite_lab::RULES.contains(&run.rule) {
        let ours = kumite_lab::RULES.map(Rule::as_str).join(" or ");
        let of_run = run.rule.as_str();
        return Err(changed(
            id,
            &format!("its claims were judged by the rule {of_run}, which is now {ours}"),
        ));
    }
    Ok((experiment, now))
}

/// The nodes for the roles that the flags name. An error if a flag does not fit this run.
fn checked_flags<'a>(
    args: &'a KeptFlags,
    run: &Run,
    experiment: &Experiment,
) -> Result<RoleNodes<'a>, Failure> {
    if args.ending.gate.is_set() && run.rule != Rule::Strict {
        return Err(Failure::Usage(format!(
            "--gate takes a strict run, and {} was begun without --strict or --gate: resume it without --gate",
            run.id
        )));
    }
    args.ending.check()?;
    let nodes = args.roles.at(&args.on, &args.slurm);
    nodes.check(experiment)?;
    if args.on != On::Local && !args.roles.roles().are_given() {
        let why = "--on: `resume` has nodes for --role alone; a run that nodes share goes on by its own command, with --seed";
        return Err(Failure::Usage(why.to_owned()));
    }
    Ok(nodes)
}

fn ran(contender: &Contender) -> bool {
    contender.status == ContenderStatus::Ran
}

/// The names of the contenders that the run measured. An error if the experiment has one of them no more.
fn measured(run: &Run, contenders: &[Contender], experiment: &Experiment) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = contenders.iter().filter(|of| ran(of)).map(|of| of.name.clone()).collect();
    let variants = experiment.variants();
    match names.iter().find(|name| variants.iter().all(|(_, variant)| variant.name != **name)) {
        Some(gone) => {
            Err(changed(&run.id, &format!("{gone} is not among the contenders any more: they have changed")))
        }
        None => Ok(names),
    }
}

/// The versions here that differ from those of the run's first part.
fn others(run: &Run, contenders: &[Contender], prepared: &Prepared, at: Timestamp) -> Vec<OtherVersion> {
    let then = Made { kumite: &run.kumite, contenders, services: &run.services };
    let here =
        Made { kumite: crate::VERSION, contenders: &prepared.contenders, services: &prepared.services };
    other_versions(then, here, &Part::Resumed { at })
}

/// The sitting to go on with: of a run that was joined from several, the first that is not complete; else the run
/// itself.
fn cut_sitting(store: &Store, given: String) -> Result<String, Failure> {
    if !sittings::is_joined(&store.run(&given)?) {
        return Ok(given);
    }
    let all = sittings::together(store, &given)?;
    let count = all.len();
    let is_cut = |run: &Run| run.finished.is_none() || run.cut_short.is_some();
    let cut = all.into_iter().find(is_cut).map(|run| run.id);
    cut.ok_or_else(|| {
        Failure::Usage(format!(
            "all {count} sittings of run {given} are complete; `kumite again {given}` measures one more"
        ))
    })
}

/// Takes up a run again, with the question, the published figures and the specification of now.
fn take_up(run: &mut Run, at: Timestamp, others: Vec<OtherVersion>, now: Run) {
    run.resumed.push(at);
    run.other_versions.extend(others);
    run.finished = None;
    run.cut_short = None;
    (run.spec, run.question, run.published) = (now.spec, now.question, now.published);
}
