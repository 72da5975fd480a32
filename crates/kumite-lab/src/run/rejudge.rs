//! A kept run, judged anew.

use kumite_record::{Export, judge_outputs};

use super::export::{document, findings};
use crate::spec::judged_of;
use crate::toml_source::SpecError;

/// Makes all anew that is made from a run's trials: estimates, verdicts and doubts. What is asked is what its own file asked.
pub fn rejudge(kept: &Export) -> Result<Export, SpecError> {
    let Export { run, machine, contenders, .. } = kept;
    if run.merged.is_some() {
        let why = format!("run {} was merged, and is judged anew by `kumite merge`", run.id);
        return Err(SpecError::Usage(why));
    }
    let judged = judged_of(run, contenders)?;
    let mut trials = kept.trials.clone();
    judge_outputs(&mut trials);
    let findings = findings(&judged.claims, &judged.checks, run, machine, contenders, &trials);
    Ok(document(run.clone(), machine.clone(), contenders.clone(), trials, findings))
}
