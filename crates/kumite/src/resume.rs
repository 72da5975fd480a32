//! `kumite resume`: a run that ended early, from where it ended.

use jiff::Timestamp;
use kumite_host::{cores, machine};
use kumite_lab::{
    Choice, Experiment, Joined, Made, Measuring, TimeLimit, World, check_disk, differ_in_contenders, differ_in_machines,
    differ_in_roles, differ_in_trials, other_versions, used_cores,
};
use kumite_nodes::On;
use kumite_record::{Contender, ContenderStatus, OtherVersion, Part, Rule, Run, Store};

use crate::exit::Failure;
use crate::kept::{KeptFlags, alike, can_be_run, changed, of_working_tree};
use crate::measure::{begin_measuring, interrupted, joined, measure};
use crate::nodes::driver;
use crate::{sittings, stop};

pub fn run(args: &KeptFlags, world: &dyn World) -> Result<(), Failure> {
    let mut store = Store::open_existing(&args.ending.db.path())?;
    let state = store.folder().to_owned();
    // The lock comes before anything is read: another kumite may be writing it.
    let stop = stop::flag()?;
    let _lock = begin_measuring(args.wait, &stop)?;
    let id = cut_sitting(&store, store.find(&args.run)?)?;
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
    of_working_tree(&run)?;
    let mut experiment = Experiment::load(&run.experiment_given, &run.profile)?;
    experiment.blocks = run.blocks;
    experiment.control = run.control.as_ref().map(|control| control.contender.clone());
    let available = cores();
    let now = kumite_lab::begin(&experiment, &available);
    alike(&id, differ_in_trials(&run, &now)?)?;
    if now.points != run.points {
        return Err(changed(&id, "what kumite plans for its experiment.toml has changed"));
    }
    if !kumite_lab::RULES.contains(&run.rule) {
        let ours = kumite_lab::RULES.map(Rule::as_str).join(" or ");
        let of_run = run.rule.as_str();
        return Err(changed(
            &id,
            &format!("its claims were judged by the rule {of_run}, which is now {ours}"),
        ));
    }
    if args.ending.gate.is_set() && run.rule != Rule::Strict {
        return Err(Failure::Usage(format!(
            "--gate takes a strict run, and {id} was begun without --strict or --gate: resume it without --gate"
        )));
    }
    args.ending.check()?;
    check_disk(&experiment, &state)?;
    let nodes_of_roles = args.roles.at(&args.on, &args.slurm);
    nodes_of_roles.check(&experiment)?;
    if args.on != On::Local && !args.roles.roles().are_given() {
        let why = "--on: `resume` has nodes for --role alone; a run that nodes share goes on by its own command, with --seed";
        return Err(Failure::Usage(why.to_owned()));
    }
    let contenders = store.contenders(&id)?;
    let ran = |contender: &&Contender| contender.status == ContenderStatus::Ran;
    let only: Vec<String> = contenders.iter().filter(ran).map(|contender| contender.name.clone()).collect();
    let variants = experiment.variants();
    if let Some(gone) = only.iter().find(|name| variants.iter().all(|(_, variant)| variant.name != **name)) {
        return Err(changed(&id, &format!("{gone} is not among the contenders any more: they have changed")));
    }
    let choice = Choice { only, control: now.control.clone(), ..Choice::default() };
    let driver = driver(&stop);
    let placed = nodes_of_roles.placed(&experiment, &driver)?;
    let joined = joined(&placed, &experiment, &choice, &available, &state, &driver)?;
    let Joined { prepared, nodes, cores: available, roles } = joined;
    let used = used_cores(&experiment, &available)?;
    alike(&id, differ_in_roles(&run.roles, &roles))?;
    alike(&id, differ_in_machines(&store.machine(&id)?, &machine(used)))?;
    can_be_run(contenders.iter().filter(ran), &prepared.contenders)?;
    alike(&id, differ_in_contenders(&contenders, &prepared.contenders))?;
    let made = |kumite, contenders, services| Made { kumite, contenders, services };
    let then = made(&run.kumite, &contenders, &run.services);
    let here = made(crate::VERSION, &prepared.contenders, &prepared.services);
    let at = world.clock().timestamp();
    let others = other_versions(then, here, &Part::Resumed { at });
    take_up(&mut run, at, others, now);
    store.finish(&run, &[], &[], &[])?;
    let limit = args.budget.map(TimeLimit::Budget);
    let measuring = Measuring { world, experiment: &experiment, cores: available, nodes, limit, stop: &stop };
    let export = measure(measuring, run, &prepared.ready, &mut store)?;
    let early = interrupted(&export, &stop);
    args.ending.conclude(sittings::joined(&mut store, &id)?, early)
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
