//! The lines of a server or a disk: one with its address at the beginning, and one with its counts at the end.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
pub struct Closing {
    /// Write counts and times as JSON at the end (- for standard output, in place of the closing line; the address is
    /// then on standard error)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Closing {
    fn is_on_stdout(&self) -> bool {
        self.json.as_deref() == Some(Path::new("-"))
    }

    /// Refuses a file for the document that is a folder, or whose folder does not exist. Permissions are not looked at.
    pub fn check(&self) -> Result<(), Failure> {
        output::check_files(self.json.iter())
    }

    /// Prints `place`, at which the server or disk is reached from now on: to standard error if the document goes to
    /// standard output. An error if standard output cannot be written.
    pub fn open(&self, place: &str) -> Result<(), Failure> {
        if self.is_on_stdout() {
            output::note(place);
            return Ok(());
        }
        say_now(&format!("{place}\n"))
    }

    /// Writes the document of the result if `--json` names a file for it. Prints the closing line, unless the document
    /// goes to standard output. An error if either cannot be written.
    pub fn close(&self, result: &impl Serialize, line: &str) -> Result<(), Failure> {
        if let Some(file) = &self.json {
            output::write(file, &output::json(result)?)?;
        }
        if self.is_on_stdout() { Ok(()) } else { output::print(line) }
    }
}

/// Prints a text at once, for a program that waits for it. If nobody reads it, that is no error.
pub fn say_now(text: &str) -> Result<(), Failure> {
    output::print(text)?;
    let _ = std::io::stdout().flush();
    Ok(())
}
