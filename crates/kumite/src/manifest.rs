//! `kumite manifest`: the Kubernetes objects that run an experiment in shards, and merge them.

use std::time::Duration;

use clap::Parser;
use kumite_lab::{Experiment, seed_of};
use kumite_nodes::{Image, Manifest, Memory, some_for_each};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::{duration, output};

#[derive(Parser)]
#[command(mut_arg("experiment", |arg| arg.help(
    "An experiment that the image has below experiments/, or a folder with an experiment.toml, which it has there too"
)))]
pub struct Args {
    /// How many shards: pods of an Indexed Job, each with a node of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    shards: u32,
    /// A container image with kumite and the experiment
    #[arg(long)]
    image: Image,
    /// How much to measure: quick, standard, full
    #[arg(long, default_value = "standard")]
    profile: String,
    #[command(flatten)]
    contenders: Contenders,
    /// Blocks at each point, at most, instead of the profile's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// The run's seed, the same in all shards [default: derived from the experiment]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Whole CPUs of each pod, its own where the node's CPU manager is static
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..))]
    cpus: u32,
    /// Memory of each pod, as Kubernetes writes it
    #[arg(long, value_name = "QUANTITY", default_value = "4Gi")]
    memory: Memory,
    /// How long each of the two jobs may take, waiting for nodes included; then the cluster ends it, and says that it failed
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "4h")]
    deadline: Duration,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut experiment = Experiment::load(&args.contenders.experiment, &args.profile)?;
    experiment.blocks = args.blocks.unwrap_or(experiment.blocks);
    args.contenders.choice().check(&experiment)?;
    some_for_each("--shards", args.shards, "shards", &experiment)?;
    let mut run = vec!["kumite".to_owned(), "run".to_owned(), args.contenders.experiment.clone()];
    run.push(format!("--profile={}", args.profile));
    run.extend(args.contenders.words());
    run.extend(args.blocks.map(|blocks| format!("--blocks={blocks}")));
    let manifest = Manifest {
        experiment: &experiment.name,
        run,
        seed: args.seed.unwrap_or_else(|| seed_of(&experiment)),
        shards: args.shards,
        image: &args.image,
        cpus: args.cpus,
        memory: &args.memory,
        deadline: args.deadline,
    };
    output::document(&manifest.text()?)
}
