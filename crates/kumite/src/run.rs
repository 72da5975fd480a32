//! `kumite run`: an experiment from its specification to its verdicts.

mod revisions;
mod sittings;

use std::time::Duration;

use clap::Parser;
use kumite_host::{Clock, cores, machine};
use kumite_lab::{
    Choice, Experiment, Joined, Measuring, TimeLimit, World, check_disk, lacking_control, outlook, seed_of,
    used_cores,
};
use kumite_nodes::{Away, Driver, NodeFlags, NodesWanted, On, Share, apart, array, shares, some_for_each};
use kumite_record::{Cores, Export, NearTies, Rule, Run, RunParts, Shard, Store};
use kumite_report::{absent, prospect_notes, prospect_outlook};
use kumite_revision::Tree;

use crate::ending::Ending;
use crate::exit::Failure;
use crate::measure::{begin_measuring, interrupted, joined, measure};
use crate::nodes::{RoleFlags, SlurmFlags, driver};
use crate::planning::{Extent, Planning};
use crate::sittings::sitting;
use crate::store::noise_floor;
use crate::wait::Wait;
use crate::{duration, near_ties, output, seed, stop};

#[derive(Parser)]
pub struct Args {
    #[command(flatten)]
    pub planning: Planning,
    #[command(flatten)]
    pub effort: Effort,
    #[command(flatten)]
    revisions: revisions::RevisionFlags,
    #[command(flatten)]
    sittings: sittings::Flags,
    /// Run only this share of the blocks, e.g. 2/8, and leave the verdicts to `kumite merge`; auto in a Slurm array, auto/8 in a
    /// Kubernetes Indexed Job. All shards need the same --seed
    #[arg(long, value_name = "I/N", conflicts_with = "gate")]
    shard: Option<Share>,
    /// Place to run at: local; ssh:HOST,HOST (each host runs a share of the blocks, and verdicts are about these hosts);
    /// or slurm (the nodes of a job share the blocks: of the surrounding job, else of one that is submitted)
    #[arg(long, value_name = "WHERE", default_value = "local", conflicts_with = "shard")]
    on: On,
    #[command(flatten)]
    slurm: SlurmFlags,
    /// Jobs of an array that share the blocks, each begun as soon as it has a node; for --on slurm
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), conflicts_with_all = ["shard", "role"])]
    shards: Option<u32>,
    #[command(flatten)]
    roles: RoleFlags,
    /// Print the plan, and measure nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    pub ending: Ending,
}

/// The flags for how much is measured, and how it is judged.
#[derive(Clone, clap::Args)]
pub struct Effort {
    #[command(flatten)]
    extent: Extent,
    /// Begin no block that would end after this time, e.g. 10m; builds do not count
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// The time for which this node is there, of the job that the run is part of
    #[arg(long, value_name = "TIME", value_parser = duration::parse, hide = true)]
    job_time: Option<Duration>,
    /// Bound the chance of any false verdict in the run to 5 % [default: at most 5 % of verdicts are false on average,
    /// which needs fewer blocks]
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    wait: Wait,
}

/// A function that is called before a run is kept and its first trial begins. Its error ends the command.
pub type Begun<'a> = &'a dyn Fn(RunParts) -> Result<(), Failure>;

/// The place where a run is executed.
enum Where {
    /// Nowhere: the plan is printed.
    Plan,
    /// On this machine. Other nodes may have roles in the run.
    Here,
    /// On the node that has the role engine.
    Apart,
    /// On several nodes, each of which has a share.
    Shares,
    /// On the nodes of an array of this many jobs.
    Array(u32),
}

struct Planned {
    experiment: Experiment,
    choice: Choice,
    /// The CPUs that may be used here.
    available: Cores,
    shard: Option<Shard>,
    /// The trees of revisions, which are kept as long as this lives.
    _trees: Vec<Tree>,
}

pub fn run(args: &Args, world: &dyn World) -> Result<(), Failure> {
    let planned = args.planned()?;
    let (driver, slurm, name) = (driver(&stop::flag()?), args.slurm.options(), &planned.experiment.name);
    let away = args.away(&planned.experiment, world.clock());
    let export = match args.place() {
        Where::Plan => {
            let earlier = near_ties::of_earlier(&planned.experiment, &args.ending.db.path())?;
            return planned.print(&args.sittings, earlier.as_ref());
        }
        Where::Here => {
            let (export, early) = sittings::measured(args, &planned, world, &driver)?;
            return args.ending.conclude(export, early);
        }
        Where::Apart => {
            let placed = args.roles.at(&args.on, &args.slurm).placed(&planned.experiment, &driver)?;
            apart(&driver, &away, &placed)?
        }
        Where::Shares => {
            let nodes = args.on.allocate(&slurm, &NodesWanted::Nodes, name, &driver)?;
            shares(&driver, &away, &nodes)?
        }
        Where::Array(of) => array(&driver, &away, &slurm, of as usize)?,
    };
    let again = format!("the same command with --seed {} continues where the nodes stopped", away.seed);
    let early = export.run.cut_short.as_ref().map(|why| format!("{why}; {again}"));
    args.ending.conclude(export, early)
}

/// Measures a run on this machine. The text says why the run was interrupted and how to go on; `None` if it was not
/// interrupted. An error if the run did not come to its first trial, or if the results store could not be read or
/// written, then or later.
pub fn measured(args: &Args, world: &dyn World, begun: Begun) -> Result<(Export, Option<String>), Failure> {
    args.here(&args.planned()?, world, &driver(&stop::flag()?), begun)
}

impl Planned {
    /// Prints the plan of a run, with the prospects of its claims and the near-ties of an earlier run.
    fn print(self, sittings: &sittings::Flags, earlier: Option<&NearTies>) -> Result<(), Failure> {
        let Planned { experiment, choice, available, shard, _trees } = self;
        let of = outlook(experiment, &choice, &available, shard, sittings.planned());
        output::print(&kumite_report::outlook(&of, earlier))
    }
}

impl Args {
    /// The arguments for this experiment and profile, with the defaults of all others.
    pub fn of(experiment: &str, profile: &str) -> Args {
        Args::parse_from(["run", "--profile", profile, "--", experiment])
    }

    fn place(&self) -> Where {
        let roles = self.roles.roles();
        match (self.shards, &self.on) {
            _ if self.dry_run => Where::Plan,
            (Some(of), _) => Where::Array(of),
            _ if roles.have_engine() => Where::Apart,
            (None, On::Ssh(_) | On::Slurm) if !roles.are_given() => Where::Shares,
            _ => Where::Here,
        }
    }

    /// Reads the plan, and refuses all that its flags and files alone show to be wrong.
    fn planned(&self) -> Result<Planned, Failure> {
        let rounds = |of_profile| self.sittings.rounds(of_profile);
        let (extent, mut trees) = (&self.effort.extent, Vec::new());
        let (experiment, choice) = match self.revisions.are_given() {
            false => self.planning.read(extent, rounds)?,
            true => self.planning.read_by(extent, rounds, |name, profile| {
                let of = self.revisions.read(name, profile, &self.ending.db.path(), &*stop::flag()?)?;
                trees = of.trees;
                Ok(of.experiment)
            })?,
        };
        let (available, roles) = (cores(), self.roles.roles());
        if !roles.are_given() {
            used_cores(&experiment, &available)?;
        }
        self.ending.check()?;
        let shard = self.shard.map(Share::here).transpose()?;
        if let Some(shard) = &shard {
            some_for_each("--shard", shard.of, "shards", &experiment)?;
        }
        roles.check(&experiment, &self.on)?;
        let flags =
            NodeFlags { on: &self.on, roles: &roles, slurm: &self.slurm.options(), shards: self.shards };
        flags.check(shard.is_some(), &experiment)?;
        self.sittings.check(self.on == On::Local && !roles.have_engine())?;
        self.check_gate(&experiment, &available, &choice)?;
        Ok(Planned { experiment, choice, available, shard, _trees: trees })
    }

    /// This run, for other nodes to execute.
    fn away<'a>(&self, experiment: &'a Experiment, clock: &dyn Clock) -> Away<'a> {
        let mut words = self.planning.words(&self.effort.extent, experiment);
        words.extend((self.rule() == Rule::Strict).then(|| "--strict".to_owned()));
        words.extend(self.effort.wait.word());
        Away {
            experiment,
            seed: self.effort.extent.seed.unwrap_or_else(|| seed::fresh(clock)),
            words,
            budget: self.effort.budget,
            is_gate: self.ending.gate.is_set(),
            command: output::command_line_without_files(),
            db: self.ending.db.path(),
        }
    }

    fn rule(&self) -> Rule {
        if self.effort.strict || self.ending.gate.is_set() || self.sittings.are_given() {
            Rule::Strict
        } else {
            Rule::FalseDiscoveryRate
        }
    }

    /// Executes the run on this machine, beside nodes that have roles. The text says why it was interrupted, and how
    /// it goes on; none if it was not.
    fn here(
        &self,
        planned: &Planned,
        world: &dyn World,
        driver: &Driver,
        begun: Begun,
    ) -> Result<(Export, Option<String>), Failure> {
        let Planned { experiment, choice, available, shard, _trees } = planned;
        let placed = self.roles.at(&self.on, &self.slurm).placed(experiment, driver)?;
        let mut store = Store::open(&self.ending.db.path())?;
        let state = store.folder().to_owned();
        check_disk(experiment, &state)?;
        let _lock = begin_measuring(self.effort.wait, &driver.stop)?;
        let joined = joined(&placed, experiment, choice, available, &state, driver)?;
        let Joined { prepared, nodes, cores, roles } = joined;
        let used = used_cores(experiment, &cores)?;
        absent(&prepared.contenders).iter().for_each(|line| output::note(line));
        if prepared.ready.is_empty() {
            return Err(Failure::Incomplete(format!("no contender of {} can run", experiment.name)));
        }
        if let Some(why) = lacking_control(experiment, &prepared.contenders) {
            return Err(Failure::Incomplete(why));
        }
        let run = Run {
            noise_floor: noise_floor(&store),
            services: prepared.services.clone(),
            roles,
            ..self.begin(shard.clone(), experiment, &cores, world.clock())
        };
        let of_plan = prepared.ready.iter().filter(|ready| ready.twin.is_none());
        let ready: Vec<&str> = of_plan.map(|ready| ready.name.as_str()).collect();
        let prospects = kumite_lab::prospects(experiment, &cores, &ready);
        let notes = match self.sittings.are_given() {
            // More sittings decide more, and not more blocks.
            true => {
                prospect_outlook(&prospects, self.sittings.in_all(experiment.blocks)).into_iter().collect()
            }
            false => prospect_notes(&prospects, experiment.blocks),
        };
        notes.iter().for_each(|note| output::note(note));
        for other in &run.unavailable {
            output::note(&format!("cannot measure {}: {}", other.point, other.why));
        }
        let stop = &driver.stop;
        let limit = TimeLimit::first(self.effort.budget, self.effort.job_time);
        let measuring = Measuring { world, experiment, cores, nodes, limit, stop };
        // The machine is looked at before the executor keeps this thread to the engine's core.
        let machine = machine(used);
        begun(RunParts { run: &run, machine: &machine, contenders: &prepared.contenders, claims: &[] })?;
        store.begin(&run, &machine, &prepared.contenders)?;
        let export = measure(measuring, run, &prepared.ready, &mut store)?;
        output::note(&format!(
            "kept as run {id} in {}; `kumite report {id}` shows it again",
            self.ending.db.path().display(),
            id = export.run.id
        ));
        let early = interrupted(&export, stop);
        Ok((export, early))
    }

    fn begin(&self, shard: Option<Shard>, experiment: &Experiment, cores: &Cores, clock: &dyn Clock) -> Run {
        let started = clock.timestamp();
        let given = self.effort.extent.seed;
        let seed = given.unwrap_or_else(|| match shard {
            Some(_) => seed_of(experiment),
            None => seed::fresh(clock),
        });
        let run = Run {
            id: Run::new_id(started),
            experiment_given: self.planning.contenders.experiment.clone(),
            seed,
            started,
            command: seed::named(output::command_line_without_files(), given, seed),
            shard,
            kumite: crate::VERSION.to_owned(),
            rule: self.rule(),
            ..kumite_lab::begin(experiment, cores)
        };
        let sittings = self.sittings.are_given().then(|| sitting(&run, None));
        Run { sittings: sittings.into_iter().collect(), ..run }
    }

    fn check_gate(&self, experiment: &Experiment, cores: &Cores, choice: &Choice) -> Result<(), Failure> {
        let variants = experiment.variants();
        let names = variants.iter().map(|(_, variant)| variant.name.as_str());
        let names: Vec<&str> = names.filter(|name| choice.left_out(name).is_none()).collect();
        // Several nodes run their shares at the same time, so a budget holds more than its rounds one after the
        // other.
        let is_alone = self.on == On::Local;
        let round = experiment.extent(&names).1.map(|[least, _]| least);
        let budget = self
            .effort
            .budget
            .filter(|_| is_alone)
            .map(|budget| budget.saturating_mul(self.sittings.number()));
        let blocks = self.sittings.in_all(experiment.blocks);
        let prospects = kumite_lab::prospects(experiment, cores, &names);
        self.ending.gate.check(experiment, &prospects, blocks, budget.zip(round))
    }
}
