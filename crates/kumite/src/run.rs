//! `kumite run`: an experiment from its specification to its verdicts.

mod apart;
mod array;
mod dry_run;
mod sharing;

use std::time::Duration;

use clap::Parser;
use kumite_agent::Node;
use kumite_host::{Clock, cores, machine};
use kumite_lab::{Choice, Experiment, Joined, check_disk, seed_of, used_cores};
use kumite_record::{Contender, Cores, Rule, Run, Shard, Store};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::gate::Gate;
use crate::measure::{Measuring, begin_measuring, ended};
use crate::on::{self, On};
use crate::roles::RoleFlags;
use crate::shard::{self, Share};
use crate::store::{Db, noise_floor};
use crate::world::World;
use crate::{duration, output, prospects, slurm, stop};
use sharing::Sharing;

#[derive(Parser)]
pub struct Args {
    /// An experiment below experiments/, or a folder with an experiment.toml
    experiment: String,
    /// How much to measure: quick (minutes), standard (at most about 30 minutes), full (the source's own scale)
    #[arg(long, default_value = "standard")]
    profile: String,
    #[command(flatten)]
    contenders: Contenders,
    /// Blocks at each point, at most, instead of the profile's; --dry-run says how many each claim takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// Begin no block that would end after this time, e.g. 10m; builds are not counted
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Let any verdict be false in at most 5 % of runs; without it, of the verdicts that are given at most 5 % are, on
    /// average, which takes fewer blocks
    #[arg(long)]
    strict: bool,
    /// Execute only this share of the blocks, and leave the verdicts to `kumite merge`: 2/8; or auto in a Slurm array, auto/8 in a
    /// Kubernetes Indexed Job. All shards need one --seed; without it, it is made of the experiment
    #[arg(long, value_name = "I/N", value_parser = shard::parse, conflicts_with = "gate")]
    shard: Option<Share>,
    /// Where: local; ssh:HOST,HOST, where each host executes a share of the blocks, and verdicts are about these hosts; or slurm, where
    /// the nodes of a job do so: of the one that this is typed in, or of one that is submitted
    #[arg(long, value_name = "WHERE", value_parser = on::parse, default_value = "local", conflicts_with = "shard")]
    on: On,
    #[command(flatten)]
    slurm: slurm::Options,
    /// With --on slurm: so many shares, each a job of an array, begun as soon as it has a node
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with_all = ["shard", "role"])]
    shards: Option<u32>,
    #[command(flatten)]
    roles: RoleFlags,
    /// Repeat the order of an earlier run, and its resampling
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
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
    let mut experiment = Experiment::load(&args.experiment, &args.profile)?;
    experiment.doubts.iter().for_each(|what| output::note(what));
    if let Some(blocks) = args.blocks {
        experiment.blocks = blocks;
    }
    let choice = Choice { unplanned: experiment.unplanned(), ..args.contenders.choice() };
    choice.check(&experiment)?;
    let available = cores();
    if !args.roles.are_given() {
        used_cores(&experiment, &available)?;
    }
    args.documents.check()?;
    let shard = args.shard.map(|share| share.shard(&|name| std::env::var(name).ok())).transpose();
    let shard = shard.map_err(Failure::Usage)?;
    if let Some(shard) = &shard {
        some_for_each("--shard", shard.of, "shards", &experiment)?;
    }
    args.roles.check(&experiment, &args.on)?;
    args.check_where(&experiment)?;
    args.check_gate(&experiment, &available, &choice)?;
    if args.dry_run {
        return output::print(&dry_run::text(experiment, &available, &choice, shard.as_ref()));
    }
    let seed = || args.seed.unwrap_or_else(|| fresh_seed(world.clock()));
    let clock = world.clock();
    let stop = stop::flag()?;
    if let Some(of) = args.shards {
        return array::run(args, &experiment, of as usize, seed(), &stop);
    }
    // Held to the end: with it goes the job, if it is ours.
    let allocation = match args.on {
        On::Slurm => Some(args.slurm.allocate(&args.roles.wanted(), &experiment.name, &stop)?),
        _ => None,
    };
    let placed = args.roles.placed(allocation.as_ref().map(|allocation| &allocation.nodes[..]))?;
    if let Some(engine) = placed.engine() {
        return apart::run(args, &experiment, (engine, &placed), seed(), &stop);
    }
    if !args.roles.are_given() {
        let nodes = match (&args.on, &allocation) {
            (On::Ssh(hosts), _) => hosts.iter().cloned().map(Node::Ssh).collect(),
            (_, Some(allocation)) => allocation.nodes.clone(),
            _ => Vec::new(),
        };
        if !nodes.is_empty() {
            some_for_each("--on", nodes.len() as u32, "nodes", &experiment)?;
            let sharing = Sharing::new(args, &experiment, nodes.len(), seed(), &stop)?;
            return sharing::run(&sharing, &nodes, allocation.as_ref().map(|allocation| &allocation.job));
        }
    }
    let mut store = Store::open(&args.db.path())?;
    let state = store.folder().to_owned();
    check_disk(&experiment, &state).map_err(Failure::Incomplete)?;
    let _lock = begin_measuring()?;
    let joined = placed.join(&experiment, &choice, &available, &state, &stop)?;
    let Joined { prepared, nodes, cores: available, roles } = joined;
    let used = used_cores(&experiment, &available)?;
    absent(&prepared.contenders).iter().for_each(|line| output::note(line));
    if prepared.ready.is_empty() {
        return Err(Failure::Incomplete(format!("no contender of {} can be run", experiment.name)));
    }
    let run = Run {
        noise_floor: noise_floor(&store),
        services: prepared.services.clone(),
        roles,
        ..begin(args, shard, &experiment, &available, clock)
    };
    let ready: Vec<&str> = prepared.ready.iter().map(|ready| ready.name.as_str()).collect();
    for note in prospects::notes(&kumite_lab::prospects(&experiment, &available, &ready), experiment.blocks) {
        output::note(&note);
    }
    for other in &run.unavailable {
        output::note(&format!("cannot measure {}: {}", other.point, other.why));
    }
    let budget = args.budget;
    let measuring =
        Measuring { world, experiment: &experiment, cores: available, nodes, budget, stop: &stop };
    // Looked at before the executor keeps this thread to the engine's core.
    store.begin(&run, &machine(used), &prepared.contenders)?;
    let export = measuring.measure(run, &prepared.ready, &mut store)?;
    output::note(&format!(
        "kept as run {id} in {}; `kumite report {id}` shows it again",
        args.db.path().display(),
        id = export.run.id
    ));
    args.gate.conclude(export, &args.documents, args.length.report(), |export| ended(export, &stop))
}

impl Args {
    fn check_gate(&self, experiment: &Experiment, cores: &Cores, choice: &Choice) -> Result<(), Failure> {
        let variants = experiment.variants();
        let names = variants.iter().map(|(_, variant)| variant.name.as_str());
        let names: Vec<&str> = names.filter(|name| choice.left_out(name).is_none()).collect();
        // Several nodes have their shares at the same time.
        let is_alone = self.on == On::Local;
        let round = experiment.extent(&names).1.map(|[least, _]| least);
        let budget = self.budget.filter(|_| is_alone).zip(round);
        self.gate.check(experiment, &kumite_lab::prospects(experiment, cores, &names), budget)
    }

    /// Whether what is said of nodes makes sense.
    fn check_where(&self, experiment: &Experiment) -> Result<(), Failure> {
        let wrong = |why: &str| Err(Failure::Usage(why.to_owned()));
        if self.roles.are_given() && (matches!(self.on, On::Ssh(_)) || self.shard.is_some()) {
            return wrong(
                "--role: a run has parts on several nodes, or shares of its blocks (--on ssh, --shard), not both",
            );
        }
        if self.on != On::Slurm && (self.shards.is_some() || self.slurm.are_given()) {
            return wrong("--shards and --slurm need --on slurm");
        }
        match (self.shards, slurm::own_job()) {
            (Some(_), Some(job)) => Err(Failure::Usage(format!(
                "--shards: this is inside job {job}, whose nodes have a share each: leave --shards"
            ))),
            (Some(of), None) => some_for_each("--shards", of, "shares", experiment),
            (None, _) => Ok(()),
        }
    }

    /// What the same run is called with on another node.
    fn words(&self, seed: u64, budget: Option<Duration>) -> Vec<String> {
        let mut words = vec![format!("--seed={seed}"), format!("--profile={}", self.profile)];
        words.extend(self.contenders.words());
        words.extend(self.blocks.map(|blocks| format!("--blocks={blocks}")));
        words.extend(budget.map(|budget| format!("--budget={}ms", budget.as_millis())));
        words.extend((self.strict || self.gate.is_set()).then(|| "--strict".to_owned()));
        words
    }
}

/// Of too few blocks some would have none.
fn some_for_each(option: &str, of: u32, what: &str, experiment: &Experiment) -> Result<(), Failure> {
    match experiment.blocks {
        blocks if blocks < of => {
            Err(Failure::Usage(format!("{option}: {of} {what} of {blocks} blocks: some would have none")))
        }
        _ => Ok(()),
    }
}

fn begin(
    args: &Args,
    shard: Option<Shard>,
    experiment: &Experiment,
    cores: &Cores,
    clock: &dyn Clock,
) -> Run {
    let started = clock.timestamp();
    let seed = args.seed.unwrap_or_else(|| match shard {
        Some(_) => seed_of(experiment),
        None => fresh_seed(clock),
    });
    let mut command = output::command_line_of_run();
    if args.seed.is_none() {
        command += &format!(" --seed {seed}");
    }
    Run {
        id: Run::new_id(started),
        experiment_given: args.experiment.clone(),
        seed,
        started,
        command,
        shard,
        kumite: crate::VERSION.to_owned(),
        rule: if args.strict || args.gate.is_set() { Rule::Strict } else { Rule::FalseDiscoveryRate },
        ..kumite_lab::begin(experiment, cores)
    }
}

/// 32 bits are enough to differ, and every JSON reader can hold them exactly.
fn fresh_seed(clock: &dyn Clock) -> u64 {
    let now = clock.timestamp().subsec_nanosecond() as u32;
    (u64::from(now) ^ u64::from(std::process::id()) << 8) & 0xffff_ffff
}

/// Those that do not take part, one line for each reason.
fn absent(contenders: &[Contender]) -> Vec<String> {
    let mut by_reason: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for contender in contenders {
        let (Some(reason), status) = (contender.reason.as_deref(), contender.status.as_str()) else {
            continue;
        };
        match by_reason.iter_mut().find(|(of, why, _)| (*of, *why) == (status, reason)) {
            Some((_, _, names)) => names.push(&contender.name),
            None => by_reason.push((status, reason, vec![&contender.name])),
        }
    }
    by_reason
        .into_iter()
        .map(|(status, reason, names)| format!("{status} {}: {reason}", names.join(", ")))
        .collect()
}
