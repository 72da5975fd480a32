//! `kumite merge`: shards of a run, from several stores, merged into the run and judged; or whole runs, as its
//! sittings.

mod given;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use kumite_nodes::{MergeOptions, merged};
use kumite_record::{Scope, Store};

use crate::ending::Ending;
use crate::exit::Failure;
use crate::{nodes, output, sittings};

#[derive(Parser)]
pub struct Args {
    /// Results stores of shards, from `kumite run NAME --shard I/N --db FILE`; or whole runs, as the sittings of one: their
    /// stores, files of --json or `kumite export`, or ids of runs in --db
    #[arg(required = true, value_name = "STORE|FILE|RUN")]
    given: Vec<PathBuf>,
    /// Subject of the verdicts: these nodes, by all rounds on them, or nodes like these, each of which counts as one round
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
    let given = given::read(&args.given)?;
    let mut into = Store::open(&args.ending.db.path())?;
    let has_shards = given.has_shards()?;
    if has_shards || args.seed.is_some() || args.scope != Scope::default() {
        let stores = given.stores_alone()?;
        let options = MergeOptions {
            seed: args.seed,
            scope: args.scope,
            is_gate: args.ending.gate.is_set(),
            command: output::command_line_without_files(),
        };
        let export = merged(&nodes::driver(&Arc::default()), &stores, &options, &mut into)?;
        return args.ending.conclude(export, None);
    }
    let all = given.sittings(&into)?;
    match all.as_slice() {
        [] => Err(Failure::Usage(format!("there is no run in {}", names(&args.given)))),
        [one] => Err(Failure::Usage(format!(
            "run {id} is one sitting, and there is no other in {}: `kumite again {id}` measures one more",
            names(&args.given),
            id = one.run.id
        ))),
        all => {
            let export = sittings::join(&mut into, all).map_err(|failure| match failure {
                Failure::Usage(why) => Failure::Usage(format!(
                    "{why}; name only those that belong together, by their ids or by what --json wrote of them"
                )),
                other => other,
            })?;
            args.ending.conclude(export, None)
        }
    }
}

fn names(given: &[PathBuf]) -> String {
    given.iter().map(|given| given.display().to_string()).collect::<Vec<_>>().join(", ")
}
