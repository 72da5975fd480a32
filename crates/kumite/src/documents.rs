//! The files that a report is written to, in each form, beside the terminal.

use std::path::{Path, PathBuf};

use kumite_report::{Review, Style};

use crate::exit::Failure;
use crate::for_review::ForReview;
use crate::output::{self, Make};

/// The flags for the files that a run's report is written to, beside the terminal.
#[derive(clap::Args)]
pub struct Documents {
    /// Write everything as JSON (- for standard output, in place of the report; FILE.gz is compressed)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the verdicts as a picture
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    review: ForReview,
}

impl Documents {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.json, &self.html, &self.markdown, &self.svg].into_iter().flatten().chain(self.review.files())
    }

    /// Refuses a file that is a folder, or whose folder does not exist; one file for two documents; and `--github`
    /// beside a document on standard output. Permissions are not looked at.
    pub fn check(&self) -> Result<(), Failure> {
        output::check_files(self.files())?;
        self.review.check(self.is_on_terminal())
    }

    /// False if a document goes to standard output, in place of the report.
    pub fn is_on_terminal(&self) -> bool {
        !self.files().any(|file| file == Path::new("-"))
    }

    /// Refuses `--svg` and the flags for reviewers, which show the verdicts of one run. It is for commands that set two
    /// runs beside each other.
    pub fn refuse_verdicts(&self) -> Result<(), Failure> {
        match self.svg {
            Some(_) => Err(no_svg()),
            None => self.review.refuse(),
        }
    }

    /// Writes the documents whose files are named. Writes the report on the terminal, unless a document goes to
    /// standard output. An error if one cannot be made or written, or if a form is asked for that `forms` does not
    /// have.
    pub fn write(&self, forms: &Forms) -> Result<(), Failure> {
        match forms.review {
            Some(review) => self.review.annotate(review, forms.markdown)?,
            None => self.review.refuse()?,
        }
        if self.is_on_terminal() {
            output::report(&(forms.terminal)(&output::style()))?;
        }
        output::write_each([
            (&self.json, forms.json),
            (&self.html, &|| Ok((forms.html)())),
            (&self.markdown, &|| Ok((forms.markdown)())),
            (&self.svg, &|| forms.svg.map_or_else(|| Err(no_svg()), |svg| Ok(svg()))),
        ])?;
        forms.review.map_or(Ok(()), |review| self.review.write(review))
    }
}

fn no_svg() -> Failure {
    Failure::Usage("--svg is a picture of verdicts on claims, which only a run has".to_owned())
}

/// The forms of a result, each made only when it is wanted.
pub struct Forms<'a> {
    pub terminal: &'a dyn Fn(&Style) -> String,
    pub json: Make<'a>,
    pub html: &'a dyn Fn() -> String,
    pub markdown: &'a dyn Fn() -> String,
    /// The picture of verdicts; `None` for a result that is no run.
    pub svg: Option<&'a dyn Fn() -> String>,
    /// The verdicts in the form for CI and reviewers; `None` for a result that judges nothing.
    pub review: Option<&'a dyn Fn() -> Review>,
}
