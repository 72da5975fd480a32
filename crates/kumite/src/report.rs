//! `kumite report`: a result that is in the store, or in a document, shown again; or two runs, beside each other.

use std::path::Path;

use clap::Parser;
use kumite_lab::{export, replication};
use kumite_record::{Document, Export, Named, Store};

use crate::documents::{Documents, Forms};
use crate::exit::Failure;
use crate::exported;
use crate::gate::Gate;
use crate::output;
use crate::store::Db;

#[derive(Parser)]
pub struct Args {
    /// Run: its id, the beginning of its id, or `last`; a name of --save; a file that `--json` of a run or of `compare` wrote,
    /// .gz or not; or a results store, for its last run
    #[arg(default_value = "last")]
    run: String,
    /// Another run to set beside it; nothing is measured
    other: Option<String>,
    #[command(flatten)]
    documents: Documents,
    #[command(flatten)]
    gate: Gate,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let run = args.read(&args.run)?;
    let Some(other) = &args.other else {
        return match run {
            Shown::Run(export) => {
                args.gate.conclude(*export, &args.documents, kumite_report::terminal, |_| Ok(()))
            }
            Shown::Named(_) if args.gate.is_set() => {
                Err(Failure::Usage("--gate: a comparison and a load have no claims".to_owned()))
            }
            Shown::Named(kept) => show(&args.documents, &kept),
        };
    };
    if args.gate.is_set() {
        return Err(Failure::Usage("--gate is of one run: give it with one of them".to_owned()));
    }
    match [run, args.read(other)?] {
        [Shown::Run(first), Shown::Run(second)] => beside(&args.documents, &first, &second),
        _ => Err(Failure::Usage(
            "only two runs can be set beside each other: a comparison and a load have no claims".to_owned(),
        )),
    }
}

/// Shows two runs beside each other, claim by claim.
fn beside(documents: &Documents, first: &Export, second: &Export) -> Result<(), Failure> {
    documents.refuse_verdicts()?;
    let replication = replication(["first", "second"], [first.into(), second.into()])?;
    documents.write(&Forms {
        terminal: &|style| kumite_report::replication_terminal(&replication, style),
        json: &|| output::json(&replication),
        html: &|| kumite_report::replication_html(&replication),
        markdown: &|| kumite_report::replication_markdown(&replication),
        svg: None,
        review: None,
    })
}

/// A result that can be shown again.
enum Shown {
    Run(Box<Export>),
    Named(Box<Named>),
}

impl Args {
    /// Reads a result from a file, or by its name or id from the store.
    fn read(&self, name: &str) -> Result<Shown, Failure> {
        let file = Path::new(name);
        if file.is_file() || exported::is_name_of_file(name) {
            return Ok(match exported::document(file)? {
                Document::Run(export) => Shown::Run(export),
                Document::Comparison(comparison) => Shown::Named(Box::new(Named::Comparison(comparison))),
            });
        }
        let store = Store::open_existing(&self.db.path())?;
        Ok(match store.named(name)? {
            Some(kept) => Shown::Named(Box::new(kept)),
            None => Shown::Run(Box::new(export(&store, &store.find(name)?)?)),
        })
    }
}

fn show(documents: &Documents, kept: &Named) -> Result<(), Failure> {
    match kept {
        Named::Comparison(kept) => documents.write(&Forms {
            terminal: &|style| kumite_report::compare_terminal(kept, Default::default(), style),
            json: &|| output::json(kept),
            html: &|| kumite_report::compare_html(kept, Default::default()),
            markdown: &|| kumite_report::compare_markdown(kept, Default::default()),
            svg: None,
            review: Some(&|| kumite_report::compare_review(kept)),
        }),
        Named::Load(kept) => documents.write(&Forms {
            terminal: &|style| kumite_report::load_terminal(kept, style),
            json: &|| output::json(kept),
            html: &|| kumite_report::load_html(kept),
            markdown: &|| kumite_report::load_markdown(kept),
            svg: None,
            review: None,
        }),
    }
}
