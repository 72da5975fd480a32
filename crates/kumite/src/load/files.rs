//! The files that the result of a load is written to, beside the terminal.

use std::path::PathBuf;

use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
#[group(skip)]
pub struct Files {
    /// Write the result as JSON (- for standard output, in place of the report)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the report as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

impl Files {
    /// Refuses a file that is a folder, or whose folder does not exist, and one file for two documents. Permissions are
    /// not looked at.
    pub fn check(&self) -> Result<(), Failure> {
        output::check_files([&self.json, &self.markdown, &self.html].into_iter().flatten())
    }

    /// True if the report is printed: the JSON document does not go to standard output.
    pub fn is_on_terminal(&self) -> bool {
        self.json.as_deref() != Some(std::path::Path::new("-"))
    }

    /// Prints the report, unless the JSON document goes to standard output, and writes the files that are named. An
    /// error if one cannot be written.
    pub fn write(
        &self,
        document: &impl serde::Serialize,
        terminal: &dyn Fn() -> String,
        markdown: &dyn Fn() -> String,
        html: &dyn Fn() -> String,
    ) -> Result<(), Failure> {
        output::report_or_json(&self.json, document, terminal)?;
        output::write_each([(&self.markdown, &|| Ok(markdown())), (&self.html, &|| Ok(html()))])
    }
}
