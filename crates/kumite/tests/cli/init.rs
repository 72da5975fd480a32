//! `kumite init`.

use crate::place::{Place, Said, standing};
use crate::printed::printed;

#[test]
fn what_it_makes_runs() {
    let place = Place::new("", &[]);
    let said = place.kumite(&["init", "mine"]).ended(0);
    printed!(said.report());
    let said = place.kumite(&["check", "mine"]).ended(0);
    printed!(said.report());
    let export = place.kumite(&["run", "mine", "--blocks", "1", "--json", "-"]).ended(0).json();
    let trials = standing(&export);
    assert!(trials.len() == 4 && trials.iter().all(|trial| trial["outcome"] == "ok"), "{export}");
    assert_eq!(export["claims"][0]["id"], "awk-is-twice-as-fast");
}

#[test]
fn each_kind_is_a_plan() {
    let place = Place::new("", &[]);
    for kind in ["command", "http", "task", "function"] {
        place.kumite(&["init", kind, "--kind", kind]).ended(0);
        for profile in ["quick", "standard", "full"] {
            let said = place.kumite(&["run", kind, "--profile", profile, "--dry-run"]).ended(0);
            printed!(said.report());
        }
        for (schema, file) in [("experiment", "experiment.toml"), ("contender", "contenders")] {
            assert!(place.path(kind).join("schema").join(format!("{schema}.json")).is_file());
            assert!(place.path(kind).join(file).exists());
        }
    }
}

#[test]
fn nothing_is_overwritten_and_nothing_is_left_half_made() {
    let place = Place::new("", &[]);
    place.write("mine/note", "kept");
    let said = place.kumite(&["init", "mine"]).ended(2);
    printed!(said.notes());
    assert_eq!(place.read("mine/note"), "kept");
    let said = place.kumite(&["init", "1st"]).ended(2);
    printed!(said.notes());
    let said = place.kumite(&["init", "nowhere/mine"]).ended(3);
    printed!(said.notes());
    assert!(!place.path("nowhere").exists());
}

fn add(place: &Place, folder: &str, language: &str) -> Said {
    let mut command = place.command(&["init", "--contender", language]);
    Said::of(command.current_dir(place.path(folder)).output().unwrap())
}

/// In a language that needs no build: the others are built where their tools are.
#[test]
fn a_contender_more_speaks_the_protocol_and_is_told_that_its_answer_is_wrong() {
    for kind in ["command", "http", "task", "function"] {
        let place = Place::new("", &[]);
        place.kumite(&["init", "mine", "--kind", kind]).ended(0);
        let said = add(&place, "mine/contenders", "python").ended(0);
        printed!(said.words());
        let said = place.kumite(&["check", "mine"]).ended(1);
        printed!(said.report());
    }
}

#[test]
fn a_contender_needs_an_experiment_and_a_name_of_its_own() {
    let place = Place::new("", &[]);
    let said = place.kumite(&["init", "--contender", "go"]).ended(2);
    printed!(said.notes());
    place.kumite(&["init", "mine"]).ended(0);
    add(&place, "mine", "go").ended(0);
    let said = add(&place, "mine", "go").ended(2);
    printed!(said.notes());
}
