//! `kumite export`: a run as one document.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use kumite_lab::export;
use kumite_record::Store;

use crate::exit::Failure;
use crate::output;
use crate::store::Db;

#[derive(Parser)]
pub struct Args {
    /// Run: its id, the beginning of its id, or `last`
    run: String,
    /// Format: everything as JSON, or the estimates as CSV
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// File to write (- for standard output)
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    db: Db,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Json,
    Csv,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let store = Store::open_existing(&args.db.path())?;
    let export = export(&store, &store.find(&args.run)?)?;
    let text = match args.format {
        Format::Json => output::json(&export)?,
        Format::Csv => kumite_report::csv(&export),
    };
    output::write(&args.output, &text)
}
