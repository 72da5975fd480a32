//! The experiments of `tests/smoke`, which are run whole where a pipeline has a program to try.

use std::path::Path;

use crate::place::Place;
use crate::printed::printed;

#[test]
fn each_kind_has_an_experiment_that_can_be_planned() {
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/smoke");
    for kind in ["command", "function", "http", "pacing", "task"] {
        let place = Place::new("", &[]);
        let folder = smoke.join(kind).display().to_string();
        let said = place.kumite(&["run", &folder, "--dry-run"]).ended(0);
        printed!(said.report());
        let run = std::fs::read_to_string(smoke.join(kind).join("experiment.toml")).unwrap();
        let run: toml::Value = toml::from_str(&run).unwrap();
        assert!(run["kind"].as_str() == Some(kind) && run.get("claim").is_some(), "{kind}");
    }
}
