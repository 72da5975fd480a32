//! `kumite report`: a run that is in the store, or in a document, shown again.

use std::io::Read;
use std::path::Path;

use clap::Parser;
use flate2::read::GzDecoder;
use kumite_lab::export;
use kumite_record::{Export, SCHEMA, Store};
use serde::Deserialize;

use crate::exit::Failure;
use crate::gate::Gate;
use crate::output;
use crate::store::Db;

/// No run's document is as long; what is compressed may be any length.
const LIMIT: u64 = 1 << 30;

#[derive(Parser)]
pub struct Args {
    /// The run: its id, the beginning of its id, or `last`; a name that --save gave; or a file of a run that --json has written, .gz or not
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    documents: output::Documents,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let file = Path::new(&args.run);
    let export = match file.is_file() {
        true => read(file).map_err(|what| Failure::Usage(format!("{}: {what}", file.display())))?,
        false if is_name_of_file(&args.run) => {
            return Err(Failure::Usage(format!("cannot read {}: there is no such file", file.display())));
        }
        false => {
            let store = Store::open_existing(&args.db.path())?;
            if let Some(kept) = store.named(&args.run)? {
                if args.gate.is_set() {
                    return Err(Failure::Usage("--gate: a comparison and a load have no claims".to_owned()));
                }
                return args.documents.write(&kept);
            }
            export(&store, &store.find(&args.run)?)?
        }
    };
    args.gate.conclude(export, &args.documents, kumite_report::terminal, |_| Ok(()))
}

/// No run is called so.
fn is_name_of_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".json") || name.ends_with(".gz")
}

fn read(file: &Path) -> Result<Export, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("cannot be read: {error}"))?;
    let text = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => {
            let mut text = Vec::new();
            let read = GzDecoder::new(&bytes[..]).take(LIMIT).read_to_end(&mut text);
            read.map_err(|error| format!("cannot be unpacked: {error}"))?;
            text
        }
        false => bytes,
    };
    /// What tells at first whose form it is.
    #[derive(Deserialize)]
    struct Form {
        schema: u32,
    }
    let no_export = |error| format!("no run that --json has written: {error}");
    let Form { schema } = serde_json::from_slice(&text).map_err(no_export)?;
    if schema != SCHEMA {
        return Err(format!(
            "its form is version {schema}; this kumite reads version {SCHEMA}: report it with the kumite that wrote it, or \
             measure again"
        ));
    }
    serde_json::from_slice(&text).map_err(no_export)
}
