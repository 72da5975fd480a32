//! `kumite schema`: the JSON schemas of files and documents, for editors and programs.

use clap::Parser;
use clap::builder::PossibleValuesParser;
use kumite_lab::SCHEMAS;

use crate::exit::Failure;
use crate::output;

#[derive(Parser)]
pub struct Args {
    /// Document whose schema to print [default: a list of them]
    #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.iter().map(|of| of.name)))]
    document: Option<String>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let wanted = args.document.as_deref();
    match SCHEMAS.iter().find(|of| Some(of.name) == wanted) {
        Some(of) => output::document(&output::json(&(of.schema)())?),
        None => SCHEMAS.iter().try_for_each(|of| output::print(&format!("{:12} {}\n", of.name, of.what))),
    }
}
