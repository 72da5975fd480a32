//! A run's export is searched for trials and contenders without a result.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

/// An error names the first trial, or contender that takes part, that gave no result; no trial at all is one, too. The
/// contender `wrong` answers wrong by purpose, so that being disqualified is its result.
pub fn every_trial_is_ok(export: &Path) -> Result<()> {
    let text = std::fs::read_to_string(export).with_context(|| export.display().to_string())?;
    let export: Value = serde_json::from_str(&text).with_context(|| export.display().to_string())?;
    wrong(&export).map_or(Ok(()), |why| Err(anyhow!(why)))
}

fn wrong(export: &Value) -> Option<String> {
    let all = |key: &str| export[key].as_array().into_iter().flatten();
    for contender in all("contenders") {
        let left_out = contender["reason"]
            .as_str()
            .is_some_and(|why| why.starts_with("left out") || why.starts_with("the profile"));
        if contender["status"] != "ran" && !left_out {
            return Some(format!("{} {}: {}", contender["status"], contender["name"], contender["reason"]));
        }
    }
    if all("trials").next().is_none() {
        return Some("there is no trial".to_owned());
    }
    let is_right = |trial: &&Value| {
        trial["outcome"] == "ok" || trial["contender"] == "wrong" && trial["outcome"] == "disqualified"
    };
    let failed = all("trials").find(|trial| !is_right(trial))?;
    Some(format!("a trial of {} is {}: {}", failed["contender"], failed["outcome"], failed["reason"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_failed_trial_and_a_skipped_contender_are_wrong_and_one_left_out_is_not() {
        let trial = |outcome: &str| json!({"contender": "a", "outcome": outcome, "reason": "it died"});
        let contender = |status: &str, reason: &str| json!({"name": "a", "status": status, "reason": reason});
        let out = contender("skipped", "left out by --only");
        let right = json!({"contenders": [contender("ran", ""), out], "trials": [trial("ok")]});
        assert_eq!(wrong(&right), None);
        let wrong_by_purpose = json!({"contender": "wrong", "outcome": "disqualified"});
        assert_eq!(wrong(&json!({"contenders": [], "trials": [wrong_by_purpose]})), None);
        let failed = json!({"contenders": [], "trials": [trial("ok"), trial("failed")]});
        assert_eq!(wrong(&failed).unwrap(), "a trial of \"a\" is \"failed\": \"it died\"");
        let skipped = json!({"contenders": [contender("skipped", "needs go")], "trials": [trial("ok")]});
        assert_eq!(wrong(&skipped).unwrap(), "\"skipped\" \"a\": \"needs go\"");
        assert_eq!(wrong(&json!({"trials": []})).unwrap(), "there is no trial");
    }
}
