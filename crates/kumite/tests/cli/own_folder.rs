//! Files that contenders write where they run and at home: found by `check`, and kept from the next trial by `run`.

use serde_json::Value;

use crate::place::{Place, Said, standing};
use crate::printed::printed;

const EXPERIMENT: &str = r#"
question = "Who remembers?"
kind = "command"
blocks = 4
[answer]
equals = "first\n"
"#;

fn place(build: &str, run: &str) -> Place {
    let place = Place::new("", &[]);
    place.write("experiments/fake/experiment.toml", EXPERIMENT);
    let text = format!(
        "version = 'echo 1'\n{build}\n[[variant]]\nname = 'a'\nmodel = 'sequential'\nrun = '''{run}'''\n"
    );
    place.write("experiments/fake/contenders/a/contender.toml", &text);
    place.write("experiments/fake/contenders/a/count", "");
    place
}

fn trials(place: &Place) -> (Value, Vec<String>) {
    outcomes(place.kumite(&["run", "fake", "--json", "-"]))
}

/// Whoever starts kumite has this home.
fn at_home(place: &Place, arguments: &[&str]) -> Said {
    place.write("home/.tool/version", "there");
    place.write("cache/old/x", "there");
    let mut command = place.command(arguments);
    Said::of(command.env("HOME", place.path("home")).output().unwrap())
}

fn outcomes(said: Said) -> (Value, Vec<String>) {
    let export = said.json();
    let outcomes =
        standing(&export).iter().map(|trial| trial["outcome"].as_str().unwrap().to_owned()).collect();
    (export, outcomes)
}

/// Has its answer at hand the second time.
const REMEMBERS: &str =
    "if [ -e cache ]; then echo again; else mkdir cache && touch cache/x && echo first; fi";

#[test]
fn a_file_that_a_contender_keeps_is_found_by_check_and_by_no_other_trial() {
    let place = place("", REMEMBERS);
    let said = place.kumite(&["check", "fake"]).ended(1);
    let wrote = "it wrote cache in its folder, ";
    printed!(said.report());
    assert!(place.path(".kumite/logs/check/a-wrote/cache/x").exists());
    assert!(!place.path("experiments/fake/contenders/a/cache").exists());
    let (export, outcomes) = trials(&place);
    assert_eq!(outcomes, ["ok"; 4], "each was the first: {}", export["trials"]);
    assert!(export["warnings"].to_string().contains(wrote), "{}", export["warnings"]);
    assert!(!place.path("experiments/fake/contenders/a/cache").exists());
}

#[test]
fn a_trial_that_changes_a_file_of_its_folder_does_not_count() {
    let place = place("", "echo x >> count; echo first");
    let changed = "it changed count in its folder, ";
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
    let (export, outcomes) = trials(&place);
    assert_eq!(outcomes, ["failed"; 2], "and is not tried again");
    assert!(standing(&export)[0]["reason"].as_str().unwrap().starts_with(changed), "{}", export["trials"]);
}

/// Only who may write everywhere, or gives itself the right, can.
#[test]
fn what_is_written_into_a_build_is_found_by_no_other_trial() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let place = place("build = 'touch built'", REMEMBERS);
    let (export, outcomes) = trials(&place);
    assert_eq!(outcomes, ["ok"; 4], "each was the first: {}", export["trials"]);
}

#[test]
fn compiled_python_and_files_elsewhere_are_right() {
    let place = place(
        "",
        r#"mkdir -p __pycache__ && touch __pycache__/a.pyc "$SCRATCH/x" && echo x >> ../../../../elsewhere && echo first"#,
    );
    place.kumite(&["check", "fake"]).ended(0);
    let (export, outcomes) = trials(&place);
    assert_eq!(
        (outcomes, export["warnings"].to_string().contains("it wrote")),
        (vec!["ok".to_owned(); 4], false)
    );
}

/// Has its answer at hand the second time, and needs what its user has at home.
fn remembers(file: &str) -> String {
    format!(
        "cat \"$HOME/.tool/version\" >&2 || exit 1; if [ -e {file} ]; then echo again; else mkdir -p \"$(dirname {file})\" && \
         touch {file} && echo first; fi"
    )
}

#[test]
fn what_a_contender_keeps_at_home_in_a_cache_or_among_temporary_files_no_other_trial_finds() {
    for file in [
        "\"$HOME/.kept\"",
        "\"$HOME/.cache/new/x\"",
        "\"$HOME/.local/state/new\"",
        "\"$XDG_CACHE_HOME/new/x\"",
        "\"$XDG_DATA_HOME/new\"",
        "\"$TMPDIR/new\"",
    ] {
        let place = place("", &remembers(file));
        let (export, outcomes) = outcomes(at_home(&place, &["run", "fake", "--json", "-"]));
        assert_eq!(outcomes, ["ok"; 4], "{file}: each was the first: {}", export["trials"]);
        at_home(&place, &["check", "fake"]).ended(0);
        for kept in ["home/.kept", "home/.cache", "home/.local", "cache/new", "data/new"] {
            assert!(!place.path(kept).exists(), "{kept}");
        }
    }
}

#[test]
fn what_a_contender_writes_into_a_cache_that_was_there_is_seen() {
    let place = place("", "echo x >> \"$XDG_CACHE_HOME/old/x\"; echo first");
    let (export, outcomes) = outcomes(at_home(&place, &["run", "fake", "--json", "-"]));
    assert_eq!(outcomes, ["ok"; 4]);
    let wrote = format!("{} was written while it ran", place.path("cache/old/x").display());
    assert!(export["warnings"].to_string().contains(&wrote), "{}", export["warnings"]);
}
