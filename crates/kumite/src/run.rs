//! `kumite run`: an experiment from its specification to its verdicts.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use kumite_host::{Clock, cores, machine};
use kumite_lab::{Choice, Experiment, check_disk, humane, prepare, used_cores};
use kumite_record::{Cores, Run, Store, Unavailable};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::gate::Gate;
use crate::measure::{Measuring, before_trials, begin_measuring, ended};
use crate::store::{DEFAULT_DB, noise_floor};
use crate::world::World;
use crate::{duration, output, stop};

#[derive(Parser)]
pub struct Args {
    /// An experiment below experiments/, or a folder with an experiment.toml
    experiment: String,
    /// How much to measure: quick (minutes), standard (at most about 30 minutes), full (the source's own scale)
    #[arg(long, default_value = "standard")]
    profile: String,
    #[command(flatten)]
    contenders: Contenders,
    /// Blocks at each point, at most, instead of the profile's; it takes 6 to decide one claim, 9 for each of six
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// Begin no block that would end after this time, e.g. 10m; builds are not counted
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Repeat the order of an earlier run, and its resampling
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    documents: output::Documents,
    #[command(flatten)]
    gate: Gate,
    /// The results store
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DB)]
    db: PathBuf,
}

pub fn run(args: &Args, world: &dyn World) -> Result<(), Failure> {
    let mut experiment = Experiment::load(&args.experiment, &args.profile)?;
    experiment.doubts.iter().for_each(|what| output::note(what));
    if let Some(blocks) = args.blocks {
        experiment.blocks = blocks;
    }
    let choice = Choice { unplanned: experiment.unplanned(), ..args.contenders.choice() };
    choice.check(&experiment)?;
    let available = cores();
    let used = used_cores(&experiment, &available)?;
    args.documents.check()?;
    if args.dry_run {
        return output::print(&dry_run(experiment, &available, &choice));
    }
    let clock = world.clock();
    let stop = stop::flag()?;
    let mut store = Store::open(&args.db)?;
    let state = store.folder().to_owned();
    check_disk(&experiment, &state).map_err(Failure::Incomplete)?;
    let _lock = begin_measuring(&state)?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note).map_err(before_trials)?;
    for contender in prepared.contenders.iter().filter(|c| c.reason.is_some()) {
        let reason = contender.reason.as_deref().unwrap_or_default();
        output::note(&format!("{} {}: {reason}", contender.status.as_str(), contender.name));
    }
    if prepared.ready.is_empty() {
        return Err(Failure::Incomplete(format!("no contender of {} can be run", experiment.name)));
    }
    let run = Run {
        noise_floor: noise_floor(&store),
        unavailable: experiment.unavailable(&available),
        services: prepared.services.clone(),
        within: experiment.within(),
        within_at: experiment.within_at(),
        ..begin(args, &experiment, clock)
    };
    for other in &run.unavailable {
        output::note(&format!("cannot measure {}: {}", other.point, other.why));
    }
    let measuring =
        Measuring { world, experiment: &experiment, cores: available, budget: args.budget, stop: &stop };
    // Looked at before the executor keeps this thread to the engine's core.
    store.begin(&run, &machine(used), &prepared.contenders)?;
    let export = measuring.measure(run, &prepared.ready, &mut store)?;
    output::note(&format!(
        "kept as run {id} in {}; `kumite report {id}` shows it again",
        args.db.display(),
        id = export.run.id
    ));
    args.documents.write(&export)?;
    ended(&export, &stop)?;
    args.gate.check(&export)
}

fn begin(args: &Args, experiment: &Experiment, clock: &dyn Clock) -> Run {
    let started = clock.timestamp();
    // 32 bits are enough to differ, and every JSON reader can hold them exactly.
    let fresh = || u64::from(started.subsec_nanosecond() as u32) ^ u64::from(std::process::id()) << 8;
    let seed = args.seed.unwrap_or_else(|| fresh() & 0xffff_ffff);
    let mut command = output::command_line();
    if args.seed.is_none() {
        command += &format!(" --seed {seed}");
    }
    Run {
        id: Run::new_id(started),
        experiment: experiment.name.clone(),
        experiment_given: args.experiment.clone(),
        kind: experiment.kind(),
        profile: experiment.profile.clone(),
        seed,
        started,
        finished: None,
        cut_short: None,
        resumed: Vec::new(),
        command,
        kumite: env!("CARGO_PKG_VERSION").to_owned(),
        question: experiment.question.clone(),
        workload: experiment.workload.clone(),
        points: experiment.points(),
        contenders_at: experiment.contenders_at(),
        metrics: experiment.metrics.clone(),
        part_metrics: experiment.part_metrics.clone(),
        blocks: experiment.blocks,
        min_blocks: experiment.min_blocks,
        margin_percent: experiment.margin_percent,
        rule: kumite_lab::RULE,
        saved: None,
        noise_floor: None,
        spec: experiment.text.clone(),
        published: experiment.published.clone(),
        ..Run::default()
    }
}

/// What would be done, and about how long it would take.
fn dry_run(mut experiment: Experiment, cores: &Cores, choice: &Choice) -> String {
    let unavailable = experiment.unavailable(cores);
    experiment.planned.retain(|planned| unavailable.iter().all(|other| other.point != planned.point));
    let mut text = format!("{}: {}\n\n", experiment.name, experiment.question.text);
    let mut taking_part = Vec::new();
    for (contender, variant) in experiment.variants() {
        let needs: Vec<String> = contender.needs.iter().map(ToString::to_string).collect();
        let what = match choice.left_out(&variant.name) {
            Some(why) => why.to_owned(),
            None => {
                taking_part.push(variant.name.as_str());
                format!(
                    "{}; needs {}",
                    variant.model,
                    if needs.is_empty() { "nothing".into() } else { needs.join(", ") }
                )
            }
        };
        text += &format!("  {:24} {what}\n", variant.name);
    }
    text += "\npoints:\n";
    for planned in &experiment.planned {
        let all = taking_part.iter().all(|name| planned.contenders.iter().any(|other| other == name));
        let here: Vec<&str> = taking_part
            .iter()
            .copied()
            .filter(|name| planned.contenders.iter().any(|other| other == name))
            .collect();
        let point =
            if planned.point.0.is_empty() { "the only one".to_owned() } else { planned.point.to_string() };
        let who = if all { "all".to_owned() } else { here.join(", ") };
        text += &format!("  {point}: {who}\n");
    }
    for Unavailable { point, why } in unavailable {
        text += &format!("  {point}: cannot be measured here: {why}\n");
    }
    let (trials, time) = experiment.extent(&taking_part);
    let points = match experiment.planned.len() {
        1 => "1 point".to_owned(),
        n => format!("{n} points"),
    };
    let (most, least) = (experiment.blocks, experiment.min_blocks.min(experiment.blocks));
    let range = |least: String, most: String| if least == most { most } else { format!("{least} to {most}") };
    let blocks = range(least.to_string(), most.to_string());
    let of_all = range((trials * least as usize).to_string(), (trials * most as usize).to_string());
    let time = match time {
        Some(time) => {
            let time = range(humane(time * least), humane(time * most));
            format!("{time} under load, starting and stopping not counted")
        }
        None => "how long a trial takes, the first round tells".to_owned(),
    };
    text += &format!(
        "\nprofile {}: {points}, {blocks} blocks each, {of_all} trials; {time}\n",
        experiment.profile,
    );
    text
}
