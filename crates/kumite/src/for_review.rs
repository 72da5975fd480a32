//! The flags for CI and reviewers: a test report, a comment, annotations and a job summary.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use kumite_report::Review;

use crate::exit::Failure;
use crate::output::{self, check_writable};

/// The variable with the file that a runner of GitHub Actions shows as the summary of a job.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

#[derive(clap::Args)]
pub struct ForReview {
    /// Write a test report as JUnit XML: worse is a failure, what did not run an error, undecided is skipped
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write what a reviewer needs as a comment of at most 25 lines of Markdown
    #[arg(long, value_name = "FILE")]
    comment: Option<PathBuf>,
    /// Print annotations of GitHub Actions before the report, and append the job's summary to $GITHUB_STEP_SUMMARY if that is
    /// set
    #[arg(long)]
    github: bool,
}

impl ForReview {
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.junit, &self.comment].into_iter().flatten()
    }

    /// Refuses `--github` if a document goes to standard output, so that `is_on_terminal` is false; or if the file of
    /// the job's summary is a folder, or its folder does not exist. The other files are not looked at.
    pub fn check(&self, is_on_terminal: bool) -> Result<(), Failure> {
        if self.github && !is_on_terminal {
            return Err(Failure::Usage(
                "--github prints annotations on standard output, and so does a document for `-`: give that a file"
                    .to_owned(),
            ));
        }
        self.summary().as_deref().map_or(Ok(()), check_writable)
    }

    /// An error if any of these flags is given. It is for results that judge nothing.
    pub fn refuse(&self) -> Result<(), Failure> {
        let given = [
            ("--junit", self.junit.is_some()),
            ("--comment", self.comment.is_some()),
            ("--github", self.github),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(Failure::Usage(format!(
                "{flag} is for the verdicts of a run or of a comparison, and there are none here"
            ))),
            None => Ok(()),
        }
    }

    /// With `--github`, prints the annotations and appends the report to the job's summary. It is called before the
    /// report is printed, because the report's last line may be the gate's. An error if either cannot be written.
    pub fn annotate(&self, make: &dyn Fn() -> Review, report: &dyn Fn() -> String) -> Result<(), Failure> {
        if !self.github {
            return Ok(());
        }
        let review = make();
        output::print(&kumite_report::annotations(&review))?;
        let Some(file) = self.summary() else { return Ok(()) };
        append(&file, &kumite_report::job_summary(&review, &report()))
    }

    /// Writes the test report and the comment, if `--junit` and `--comment` name files for them. An error if one cannot
    /// be made or written.
    pub fn write(&self, make: &dyn Fn() -> Review) -> Result<(), Failure> {
        let junit = || {
            kumite_report::junit(&make())
                .map_err(|error| Failure::Incomplete(format!("cannot write JUnit XML: {error}")))
        };
        output::write_each([(&self.junit, &junit), (&self.comment, &|| Ok(kumite_report::comment(&make())))])
    }

    fn summary(&self) -> Option<PathBuf> {
        let file = std::env::var_os(SUMMARY).filter(|file| self.github && !file.is_empty());
        file.map(PathBuf::from)
    }
}

fn append(file: &Path, text: &str) -> Result<(), Failure> {
    let opened = OpenOptions::new().create(true).append(true).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::Incomplete(format!("cannot append to {}, which ${SUMMARY} names: {error}", file.display()))
    })
}
