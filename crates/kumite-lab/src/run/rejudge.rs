//! A new judgement of a kept run.

use kumite_record::{Export, judge_outputs};

use super::export::{document, findings};
use crate::spec::judged_of;
use crate::toml_source::SpecError;

/// Makes everything anew that follows from a run's trials: estimates, verdicts and doubts. The claims are those of the
/// run's own file. An error if the run was merged, or if this kumite cannot read the run's own file.
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
