//! `kumite report`: a run that is in the store, shown again.

use std::path::PathBuf;

use clap::Parser;
use kumite_lab::export;
use kumite_record::Store;

use crate::exit::Failure;
use crate::gate::Gate;
use crate::output;
use crate::store::DEFAULT_DB;

#[derive(Parser)]
pub struct Args {
    /// The run: its id, the beginning of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    documents: output::Documents,
    #[command(flatten)]
    gate: Gate,
    /// The results store
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DB)]
    db: PathBuf,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let store = Store::open_existing(&args.db)?;
    let export = export(&store, &store.find(&args.run)?)?;
    args.documents.write(&export)?;
    args.gate.check(&export)
}
