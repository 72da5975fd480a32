//! How a server or a disk of ours says where it is, and at its end what it did.

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

    /// Refuses a file that cannot be written, before anything is served.
    pub fn check(&self) -> Result<(), Failure> {
        output::check_files(self.json.iter())
    }

    /// Says where it is reached, once it is.
    pub fn open(&self, place: &str) -> Result<(), Failure> {
        if self.is_on_stdout() {
            output::note(place);
            return Ok(());
        }
        say_now(&format!("{place}\n"))
    }

    /// Writes the document, and the closing line unless the document is in its place.
    pub fn close(&self, result: &impl Serialize, line: &str) -> Result<(), Failure> {
        if let Some(file) = &self.json {
            output::write(file, &output::json(result)?)?;
        }
        if self.is_on_stdout() { Ok(()) } else { output::print(line) }
    }
}

/// Prints for who waits for it. Whoever does not read has no use for it.
pub fn say_now(text: &str) -> Result<(), Failure> {
    output::print(text)?;
    let _ = std::io::stdout().flush();
    Ok(())
}
