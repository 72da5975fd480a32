//! `kumite load --check-with`: a program that looks at a sample of the answers.

use kumite_load::Sampling;
use kumite_record::AnswersChecked;

use crate::exit::Failure;

/// The seed of the choice of answers: the same command chooses alike.
const SEED: u64 = 1;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// Command that looks at up to 20 of the right answers after the load, each as JSON on standard input: exit status 0
    /// says right, another one wrong
    #[arg(
        long,
        value_name = "CMD",
        help_heading = "Right answers (all that is given must hold)",
        conflicts_with = "slo"
    )]
    check_with: Option<String>,
}

impl Args {
    pub fn command(&self) -> Option<&str> {
        self.check_with.as_deref()
    }

    /// The choice of answers that the load is to keep for the command of `--check-with`; `None` without that flag.
    pub fn sampling(&self) -> Option<Sampling> {
        self.check_with.as_ref().map(|_| kumite_lab::sampling(SEED))
    }
}

/// An error if the command found an answer wrong, came to no finding on one, or got no answer at all.
pub fn judge(checked: &AnswersChecked) -> Result<(), Failure> {
    if let Some(why) = &checked.undecided {
        return Err(Failure::Incomplete(format!("the checker came to no finding on {why}")));
    }
    match (checked.wrong(), checked.answers()) {
        (_, 0) => Err(Failure::Incomplete(
            "no answer was chosen for the checker: give the load more time or requests".to_owned(),
        )),
        (0, _) => Ok(()),
        (wrong, all) => Err(Failure::Gate(format!("the checker found {wrong} of {all} answers wrong"))),
    }
}
