//! `kumite run --sittings`: several sittings, one after the other.

use std::process::{Child, Stdio};

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::{Place, Said};
use crate::printed::printed;

const CLAIM: &str = r#"
[[claim]]
id = "a-first"
assert = "throughput_rps(a) > throughput_rps(b)"
"#;

const SCRIPT: &str = "began = '2026-01-01T10:00:00Z'\n\
                      [[trial]]\ncontender = 'a'\nmetrics.throughput_rps = 120.0\n\
                      [[trial]]\ncontender = 'b'\nmetrics.throughput_rps = 100.0\n";

fn place() -> Place {
    let place = Place::new(CLAIM, &[("a", "pong"), ("b", "pong")]);
    place.write("script.toml", SCRIPT);
    place
}

fn json(place: &Place, arguments: &[&str]) -> Value {
    place.scripted(&[arguments, &["--json", "-"]].concat()).ended(0).json()
}

/// Where each began and ended, and its rounds.
fn sittings(export: &Value) -> Vec<(&str, &str, u64)> {
    let all = export["run"]["sittings"].as_array().unwrap();
    all.iter()
        .map(|of| {
            let time = |key: &str| of[key].as_str().unwrap();
            (time("started"), time("finished"), of["rounds"].as_u64().unwrap())
        })
        .collect()
}

/// A run that waits for its second sitting; what it says once `then` has been done.
fn between(place: &Place, arguments: &[&str], then: impl FnOnce(&Child)) -> Said {
    place.write("script.toml", &format!("waits = true\n{SCRIPT}"));
    let mut command = place.scripted_command(arguments);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    place.write("script.toml", SCRIPT);
    then(&run);
    Said::after(arguments, run.wait_with_output().unwrap())
}

fn interrupt(run: &Child) {
    kill(Pid::from_raw(run.id() as i32), Signal::SIGINT).unwrap();
}

#[test]
fn three_sittings_an_hour_apart_are_one_run_that_is_judged_by_them() {
    let place = place();
    let said = place.scripted(&["run", "fake", "--sittings", "3", "--json", "r.json"]).ended(0);
    printed!(said.notes());
    printed!(said.report());
    let run: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    // A trial takes a second here, and six blocks of two take twelve.
    let expected = [
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:12Z", 6),
        ("2026-01-01T11:00:12Z", "2026-01-01T11:00:24Z", 6),
        ("2026-01-01T12:00:24Z", "2026-01-01T12:00:36Z", 6),
    ];
    assert_eq!(sittings(&run), expected);
    let claim = &run["claims"][0];
    assert_eq!((&claim["verdict"], claim["sittings"].as_array().unwrap().len()), (&"holds".into(), 3));
}

#[test]
fn sittings_that_are_too_near_are_said_to_count_as_one_before_and_after() {
    let place = place();
    let arguments = ["run", "fake", "--sittings", "3", "--apart", "1s", "--json", "r.json"];
    let said = place.scripted(&arguments).ended(0);
    printed!(said.notes());
    printed!(said.report());
    let run: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(sittings(&run).len(), 3);
    let claim = &run["claims"][0];
    assert_eq!(claim["sittings"].as_array().unwrap().len(), 1);
    assert_eq!(claim["doubts"][0]["what"], "one-sitting");
}

#[test]
fn a_first_sitting_is_ended_by_no_verdict_and_the_next_is_as_long() {
    let place = place();
    let text = place.read("experiments/fake/experiment.toml").replace("blocks = 6", "blocks = 12");
    place.write("experiments/fake/experiment.toml", &text);
    let one = json(&place, &["run", "fake", "--sittings", "1", "--db", "other.db"]);
    assert_eq!(one["trials"].as_array().unwrap().len(), 20, "ten rounds, where nobody said how many");
    let one = json(&place, &["run", "fake", "--sittings", "1", "--blocks", "11"]);
    assert_eq!(one["trials"].as_array().unwrap().len(), 22);
    place.write("script.toml", &SCRIPT.replace("01-01", "01-02"));
    let two = json(&place, &["again"]);
    assert_eq!(sittings(&two).iter().map(|of| of.2).collect::<Vec<_>>(), [11, 11]);
}

#[test]
fn ctrl_c_between_sittings_keeps_them_and_says_how_it_goes_on() {
    let place = place();
    let said = between(&place, &["run", "fake", "--sittings", "2"], interrupt).ended(3);
    printed!(said.notes());
    printed!(said.report());
    place.write("script.toml", &SCRIPT.replace("01-01", "01-02"));
    assert_eq!(sittings(&json(&place, &["again"])).len(), 2);
}

#[test]
fn ctrl_c_in_a_sitting_keeps_it_and_says_how_it_goes_on() {
    let place = place();
    place.write("script.toml", &format!("{SCRIPT}[[trial]]\nseq = 5\ndoes = 'wait'\n"));
    let mut command = place.scripted_command(&["run", "fake", "--sittings", "2"]);
    let run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    interrupt(&run);
    let said = Said::of(run.wait_with_output().unwrap()).ended(3);
    printed!(said.notes());
    place.write("script.toml", SCRIPT);
    let whole = json(&place, &["resume"]);
    assert_eq!(whole["trials"].as_array().unwrap().len(), 12);
    place.write("script.toml", &SCRIPT.replace("01-01", "01-02"));
    assert_eq!(sittings(&json(&place, &["again"])).len(), 2);
}

#[test]
fn ctrl_c_in_a_later_sitting_ends_it_in_order_too() {
    let place = place();
    let said = between(&place, &["run", "fake", "--sittings", "3", "--json", "r.json"], |run| {
        std::fs::remove_file(place.path("begun")).unwrap();
        place.write("script.toml", &format!("{SCRIPT}[[trial]]\nseq = 4\ndoes = 'wait'\n"));
        place.write("go", "");
        eventually(|| place.path("begun").exists());
        interrupt(run);
    });
    printed!(said.ended(3).notes());
    let run: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(sittings(&run).iter().map(|of| of.2).collect::<Vec<_>>(), [6, 2]);
    place.write("script.toml", SCRIPT);
    let whole = json(&place, &["resume"]);
    assert_eq!(sittings(&whole).iter().map(|of| of.2).collect::<Vec<_>>(), [6, 6]);
}

#[test]
fn a_gate_is_of_all_sittings_together() {
    let place = place();
    // Two blocks alone decide nothing.
    printed!(place.scripted(&["run", "fake", "--blocks", "2", "--gate"]).ended(2).notes());
    let gate = ["--gate", "--json", "r.json"];
    let said = place.scripted(&[&["run", "fake", "--blocks", "2", "--sittings", "3"], &gate[..]].concat());
    printed!(said.ended(0).notes());
    place.write("script.toml", &SCRIPT.replace("01-01", "01-02").replace("120", "80"));
    let said = place.scripted(&[&["again"], &gate[..]].concat());
    printed!(said.report());
}

#[test]
fn another_measures_between_two_sittings() {
    let place = place();
    let said = between(&place, &["run", "fake", "--sittings", "2"], |_| {
        place.scripted(&["run", "fake", "--db", "other.db"]).ended(0);
        place.write("go", "");
    });
    printed!(said.ended(0).notes());
}

#[test]
fn a_sitting_that_cannot_be_measured_loses_none_of_the_others() {
    let place = place();
    let said = between(&place, &["run", "fake", "--sittings", "3", "--json", "r.json"], |_| {
        place.write("experiments/fake/contenders/a/another-file", "");
        place.write("go", "");
    });
    printed!(said.ended(3).notes());
    let run: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(
        (&run["claims"][0]["verdict"], run["trials"].as_array().unwrap().len()),
        (&"holds".into(), 12)
    );
}

#[test]
fn what_makes_no_sense_is_refused_and_a_plan_says_how_long_it_takes() {
    let place = place();
    for more in [
        &["--sittings", "0"][..],
        &["--sittings", "101"],
        &["--sittings", "x"],
        &["--apart", "2h"],
        &["--sittings", "2", "--apart", "soon"],
        &["--sittings", "2", "--shard", "1/2"],
        &["--sittings", "2", "--on", "ssh:host"],
    ] {
        printed!(place.scripted(&[&["run", "fake"], more].concat()).ended(2).notes());
    }
    for more in [&["--sittings", "3"][..], &["--sittings", "3", "--apart", "1s"], &["--sittings", "1"]] {
        printed!(place.scripted(&[&["run", "fake", "--dry-run"], more].concat()).ended(0).report());
    }
}
