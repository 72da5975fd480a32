//! `kumite report`: a run that is in the store, shown again.

use std::path::{Path, PathBuf};

use clap::Parser;
use kumite_lab::export;
use kumite_record::Store;

use crate::exit::Failure;
use crate::output;
use crate::run::DEFAULT_DB;

#[derive(Parser)]
pub struct Args {
    /// The run: its id, the beginning of its id, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Write everything as JSON (- for standard output, in place of the report)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// The results store
    #[arg(long, value_name = "FILE", default_value = DEFAULT_DB)]
    db: PathBuf,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let store = Store::open_existing(&args.db)?;
    let export = export(&store, &store.find(&args.run)?)?;
    let files = [&args.json, &args.html, &args.markdown];
    if !files.iter().any(|file| file.as_deref() == Some(Path::new("-"))) {
        output::print(&kumite_report::terminal(&export, &output::style()))?;
    }
    output::documents(&export, files)
}
