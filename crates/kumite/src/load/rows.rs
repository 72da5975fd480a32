//! The flags for the values of names in double braces.

use std::path::PathBuf;

use kumite_load::{Rows, Variables};

use super::request::unreadable;
use crate::exit::Failure;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// Names in double braces always stand for something; some scripts still say so
    #[arg(long = "template", hide = true)]
    _template: bool,
    /// CSV file with a header row, of which each request has the next row: {{column}} stands for its value in path, headers
    /// and body. {{seq}} (number of the request), {{uuid}} and {{connection}} need no file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

impl Args {
    pub fn variables(&self) -> Result<Variables, Failure> {
        let rows = match &self.csv {
            Some(file) => {
                let text = std::fs::File::open(file).map_err(|error| unreadable("the rows", file, &error))?;
                let rows = Rows::read(&file.display().to_string(), text);
                rows.map_err(|error| Failure::Usage(error.to_string()))?
            }
            None => Rows::default(),
        };
        Ok(Variables { rows, seed: 0 })
    }
}
