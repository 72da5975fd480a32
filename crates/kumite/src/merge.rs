//! `kumite merge`: shards of a run, from several stores, merged into the run and judged.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Parser, ValueEnum};
use kumite_nodes::{MergeOptions, merged};
use kumite_record::{Scope, Store};

use crate::ending::Ending;
use crate::exit::Failure;
use crate::{nodes, output};

#[derive(Parser)]
pub struct Args {
    /// The results stores of shards: what `kumite run NAME --shard I/N --db FILE` wrote
    #[arg(required = true, value_name = "STORE")]
    stores: Vec<PathBuf>,
    /// What verdicts are to be about: these nodes, where blocks are the repetitions; or nodes like these, where each node is one
    #[arg(long, value_enum, default_value = "these-nodes")]
    scope: About,
    /// The seed of the run whose shards are wanted, where the stores have those of several
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    ending: Ending,
}

#[derive(Clone, Copy, ValueEnum)]
enum About {
    TheseNodes,
    NodesLikeThese,
}

impl From<About> for Scope {
    fn from(about: About) -> Scope {
        match about {
            About::TheseNodes => Scope::TheseNodes,
            About::NodesLikeThese => Scope::NodesLikeThese,
        }
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.ending.check()?;
    let stores: Vec<Store> =
        args.stores.iter().map(|path| Store::open_existing(path)).collect::<Result<_, _>>()?;
    let mut into = Store::open(&args.ending.db.path())?;
    let options = MergeOptions {
        seed: args.seed,
        scope: args.scope.into(),
        is_gate: args.ending.gate.is_set(),
        command: output::command_line_of_run(),
    };
    let export = merged(&nodes::driver(&Arc::default()), &stores, &options, &mut into)?;
    args.ending.conclude(export, None)
}
