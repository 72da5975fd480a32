//! `kumite manifest`: the Kubernetes objects that run an experiment in shards, and merge them.

use std::time::Duration;

use clap::Parser;
use kumite_lab::seed_of;
use kumite_nodes::{Image, Manifest, Memory, some_for_each};

use crate::exit::Failure;
use crate::planning::{Extent, Planning};
use crate::sittings::sittings_elsewhere;
use crate::{duration, output};

#[derive(Parser)]
#[command(mut_arg("experiment", |arg| arg.help(
    "Experiment: a name below experiments/ of the image, or a folder with an experiment.toml, which the image has too"
)))]
pub struct Args {
    /// Shards: pods of an Indexed Job, each with a node of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    shards: u32,
    /// Container image with kumite and the experiment
    #[arg(long)]
    image: Image,
    #[command(flatten)]
    planning: Planning,
    #[command(flatten)]
    extent: Extent,
    /// Known only to be refused with the reason
    #[arg(long, value_name = "N", hide = true)]
    sittings: Option<String>,
    /// Whole CPUs of each pod, its own where the node's CPU manager is static
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u32).range(1..))]
    cpus: u32,
    /// Memory of each pod, as Kubernetes writes it
    #[arg(long, value_name = "QUANTITY", default_value = "4Gi")]
    memory: Memory,
    /// Longest time of each of the two jobs, waiting for nodes included; then the cluster ends it as failed
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "4h")]
    deadline: Duration,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    if args.sittings.is_some() {
        return Err(sittings_elsewhere("shards"));
    }
    let (experiment, _) = args.planning.read(&args.extent, |of_profile| of_profile)?;
    some_for_each("--shards", args.shards, "shards", &experiment)?;
    let mut run = vec!["kumite".to_owned(), "run".to_owned(), args.planning.contenders.experiment.clone()];
    run.push(format!("--profile={}", experiment.profile));
    run.extend(args.planning.words(&args.extent, &experiment));
    let manifest = Manifest {
        experiment: &experiment.name,
        run,
        seed: args.extent.seed.unwrap_or_else(|| seed_of(&experiment)),
        shards: args.shards,
        image: &args.image,
        cpus: args.cpus,
        memory: &args.memory,
        deadline: args.deadline,
    };
    output::document(&manifest.text()?)
}
