//! The experiments of `tests/smoke`, which are run whole where a pipeline has a program to try.

use std::path::Path;

use crate::place::Place;

#[test]
fn each_kind_has_an_experiment_that_can_be_planned() {
    let smoke = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/smoke");
    for (kind, trials) in [("command", 24), ("function", 12), ("http", 12), ("pacing", 12), ("task", 24)] {
        let place = Place::new("", &[]);
        let folder = smoke.join(kind).display().to_string();
        let said = place.kumite(&["run", &folder, "--dry-run"]).ended(0);
        let expected = format!("6 blocks each, {trials} trials; ");
        assert!(said.out.contains(&expected), "{kind}: {}", said.out);
        let run = std::fs::read_to_string(smoke.join(kind).join("experiment.toml")).unwrap();
        assert!(run.contains(&format!("kind = \"{kind}\"")) && run.contains("[[claim]]"), "{kind}");
    }
}
