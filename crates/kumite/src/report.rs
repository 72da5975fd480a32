//! `kumite report`: a run that is in the store, or in a document, shown again.

use std::path::Path;

use clap::Parser;
use kumite_lab::export;
use kumite_record::{Export, Named, Store};

use crate::exit::Failure;
use crate::gate::Gate;
use crate::output::{self, Documents, Forms};
use crate::store::Db;

#[derive(Parser)]
pub struct Args {
    /// The run: its id, the beginning of its id, or `last`; a name that --save gave; or a file of a run that --json has written, .gz or not
    #[arg(default_value = "last")]
    run: String,
    #[command(flatten)]
    documents: Documents,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let file = Path::new(&args.run);
    let export = match file.is_file() {
        true => Export::read(file).map_err(|error| Failure::Usage(error.to_string()))?,
        false if is_name_of_file(&args.run) => {
            return Err(Failure::Usage(format!("cannot read {}: there is no such file", file.display())));
        }
        false => {
            let store = Store::open_existing(&args.db.path())?;
            if let Some(kept) = store.named(&args.run)? {
                if args.gate.is_set() {
                    return Err(Failure::Usage("--gate: a comparison and a load have no claims".to_owned()));
                }
                return show(&args.documents, &kept);
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

fn show(documents: &Documents, kept: &Named) -> Result<(), Failure> {
    match kept {
        Named::Comparison(kept) => documents.write(&Forms {
            terminal: &|style| kumite_report::compare_terminal(kept, Default::default(), style),
            json: &|| output::json(kept),
            html: &|| kumite_report::compare_html(kept, Default::default()),
            markdown: &|| kumite_report::compare_markdown(kept, Default::default()),
            svg: None,
        }),
        Named::Load(kept) => documents.write(&Forms {
            terminal: &|style| kumite_report::load_terminal(kept, style),
            json: &|| output::json(kept),
            html: &|| kumite_report::load_html(kept),
            markdown: &|| kumite_report::load_markdown(kept),
            svg: None,
        }),
    }
}
