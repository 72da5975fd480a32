//! `kumite merge`: shards of a run, from several stores, merged into the run and judged.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
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
    /// What verdicts are about: these nodes (blocks are the repetitions), or nodes like these (each node is one
    /// repetition)
    #[arg(long, default_value = "these-nodes", value_parser = scope())]
    scope: Scope,
    /// Merge the shards of the run with this seed, where the stores hold several runs
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    ending: Ending,
}

fn scope() -> impl TypedValueParser<Value = Scope> {
    PossibleValuesParser::new(["these-nodes", "nodes-like-these"]).map(|word| match word.as_str() {
        "nodes-like-these" => Scope::NodesLikeThese,
        _ => Scope::TheseNodes,
    })
}

pub fn run(args: &Args) -> Result<(), Failure> {
    args.ending.check()?;
    let stores: Vec<Store> =
        args.stores.iter().map(|path| Store::open_existing(path)).collect::<Result<_, _>>()?;
    let mut into = Store::open(&args.ending.db.path())?;
    let options = MergeOptions {
        seed: args.seed,
        scope: args.scope,
        is_gate: args.ending.gate.is_set(),
        command: output::command_line_of_run(),
    };
    let export = merged(&nodes::driver(&Arc::default()), &stores, &options, &mut into)?;
    args.ending.conclude(export, None)
}
