//! What each contender took once, by the profile `everyone`: `found/everyone.json.gz`. No verdict is made of it. A README's
//! tables may show its figures where the found run has none.

use std::path::Path;

use anyhow::{Result, bail};
use kumite_record::Export;
use serde_json::Value;

use super::earlier::is_of_earlier;
use super::{MOST_BYTES_OF_SITTING, is_ended, unpacked};

pub const PROFILE: &str = "everyone";
pub const RECORD: &str = "found/everyone.json.gz";

/// The record of the experiment whose specification this is, or None if it keeps none. An error if what it has is no
/// whole run of the profile as it is now.
pub fn read(experiment: &Path, specification: &str) -> Result<Option<Value>> {
    let file = experiment.join(RECORD);
    if !file.is_file() {
        return Ok(None);
    }
    let run = unpacked(&file, MOST_BYTES_OF_SITTING)?;
    let of_run = |key: &str| run["run"][key].as_str();
    if of_run("profile") != Some(PROFILE) || !is_ended(of_run("cut_short")) {
        bail!("it is no complete run of the profile {PROFILE}");
    }
    if is_of_earlier(&run, specification) {
        bail!(
            "experiment.toml asks something else in the profile {PROFILE} now: make it again, by `cargo xtask found NAME \
             --{PROFILE}`"
        );
    }
    Ok(Some(run))
}

/// Why this run cannot be kept, if it cannot.
pub fn unfit(run: &Export) -> Option<String> {
    run.run.cut_short.clone().or_else(|| run.run.finished.is_none().then(|| "it did not end".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::packed;
    use super::super::tests::run;
    use super::*;

    #[test]
    fn only_a_whole_run_of_the_profile_as_it_is_now_is_read() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("found")).unwrap();
        let spec = "blocks = 3\nquestion = \"a\"\n[profiles.everyone]\nblocks = 1";
        let kept = |key: &str, value: &str| {
            let mut of = run();
            of["run"]["spec"] = spec.into();
            of["run"]["profile"] = PROFILE.into();
            of["run"][key] = value.into();
            std::fs::write(folder.path().join(RECORD), packed(&of).unwrap()).unwrap();
            read(folder.path(), spec)
        };
        assert_eq!(read(folder.path(), spec).unwrap(), None);
        assert_eq!(kept("id", "a").unwrap().unwrap()["run"]["id"], "a");
        let unfit = |key: &str, value: &str| kept(key, value).unwrap_err().to_string();
        let incomplete = "it is no complete run of the profile everyone";
        assert_eq!(unfit("profile", "standard"), incomplete);
        assert_eq!(unfit("cut_short", "interrupted"), incomplete);
        let earlier = unfit("spec", &spec.replace("blocks = 1", "blocks = 2"));
        assert!(earlier.starts_with("experiment.toml asks something else"), "{earlier}");
    }
}
