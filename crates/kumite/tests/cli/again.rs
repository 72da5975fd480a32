//! More sittings of a kept run.

use std::process::Stdio;

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

fn place() -> Place {
    Place::new(CLAIM, &[("a", "pong"), ("b", "pong")])
}

/// kumite at ten on this day, with a so much faster than b.
fn on_day(place: &Place, day: u32, ratio: f64, arguments: &[&str]) -> Value {
    at(place, &format!("2026-01-{day:02}T10:00:00Z"), ratio, arguments)
}

fn at(place: &Place, began: &str, ratio: f64, arguments: &[&str]) -> Value {
    let script = format!(
        "began = '{began}'\n\
         [[trial]]\ncontender = 'a'\nmetrics.throughput_rps = {}\n\
         [[trial]]\ncontender = 'b'\nmetrics.throughput_rps = 100.0\n",
        100.0 * ratio
    );
    place.write("script.toml", &script);
    let arguments = [arguments, &["--json", "-"]].concat();
    place.scripted(&arguments).ended(0).json()
}

#[test]
fn each_sitting_is_a_run_of_its_own_and_all_together_are_judged_by_what_they_agree_on() {
    let place = place();
    let first = on_day(&place, 1, 1.2, &["run", "fake"]);
    let second = on_day(&place, 2, 1.2, &["again"]);
    let id = first["run"]["id"].as_str().unwrap();
    assert_eq!(second["run"]["id"], format!("{id}-sittings"));
    let third = on_day(&place, 3, 1.2, &["again", &format!("{id}-sittings")]);
    let rounds: Vec<u64> = third["run"]["sittings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|of| of["rounds"].as_u64().unwrap())
        .collect();
    // No verdict ends a sitting: it has the six rounds that were planned.
    assert_eq!((rounds, third["trials"].as_array().unwrap().len()), (vec![6, 6, 6], 36));
    let claim = &third["claims"][0];
    assert_eq!((&claim["verdict"], claim["sittings"].as_array().unwrap().len()), (&"holds".into(), 3));
    let seeds: std::collections::BTreeSet<u64> =
        third["run"]["sittings"].as_array().unwrap().iter().map(|of| of["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds.len(), 3, "each has an order of its own");
    let said = place.kumite(&["report", &format!("{id}-sittings")]).ended(0);
    assert!(
        said.out.contains("in each sitting: 1.20 × (6 rounds, as claimed), 1.20 × (6 rounds, as claimed)"),
        "{}",
        said.out
    );
}

#[test]
fn a_sitting_that_contradicts_the_others_leaves_the_claim_to_depend_on_the_sitting() {
    let place = place();
    on_day(&place, 1, 1.2, &["run", "fake"]);
    on_day(&place, 2, 0.8, &["again"]);
    let third = on_day(&place, 3, 1.2, &["again"]);
    assert_eq!(third["claims"][0]["verdict"], "depends-on-sitting");
    assert_eq!(
        third["run"]["sittings"].as_array().unwrap().len(),
        3,
        "the last run is a sitting of the joined one"
    );
}

#[test]
fn sittings_of_one_hour_count_as_one() {
    let place = place();
    let first = on_day(&place, 1, 1.2, &["run", "fake", "--blocks", "12"]);
    assert!(first["trials"].as_array().unwrap().len() < 24, "its verdict ended it");
    let second = at(&place, "2026-01-01T10:59:00Z", 1.2, &["again"]);
    let rounds = &second["run"]["sittings"][1]["rounds"];
    assert_eq!(rounds, 10, "a sitting has no more, where its run was none");
    let claim = &second["claims"][0];
    assert_eq!(claim["sittings"].as_array().unwrap().len(), 1);
    let doubts: Vec<&str> =
        claim["doubts"].as_array().unwrap().iter().map(|of| of["what"].as_str().unwrap()).collect();
    assert_eq!(doubts, ["one-sitting", "ended-by-verdicts"]);
}

#[test]
fn a_sitting_that_was_cut_goes_on_and_is_joined_anew() {
    let place = place();
    on_day(&place, 1, 1.2, &["run", "fake"]);
    let cut = on_day(&place, 2, 1.2, &["again", "--budget", "5s"]);
    assert!(cut["run"]["sittings"][1]["rounds"].as_u64().unwrap() < 6);
    let id = cut["run"]["id"].as_str().unwrap();
    let longer = on_day(&place, 2, 1.2, &["resume", id, "--budget", "5s"]);
    let rounds = |of: &Value| of["run"]["sittings"][1]["rounds"].as_u64().unwrap();
    assert!(rounds(&cut) < rounds(&longer) && rounds(&longer) < 6);
    let of = cut["run"]["sittings"][1]["run"].as_str().unwrap();
    let whole = on_day(&place, 2, 1.2, &["resume", of]);
    assert_eq!((&whole["run"]["id"], rounds(&whole)), (&id.into(), 6));
    printed!(place.scripted(&["resume", id]).ended(2).notes());
}

#[test]
fn a_sitting_that_was_killed_is_not_dropped() {
    let place = place();
    let first = on_day(&place, 1, 1.2, &["run", "fake"]);
    let script = place.read("script.toml").replace("2026-01-01", "2026-01-02");
    place.write("script.toml", &(script + "[[trial]]\nseq = 4\ndoes = 'kill'\n"));
    place.scripted(&["again"]).ended(-1);
    let third = on_day(&place, 3, 1.2, &["again", first["run"]["id"].as_str().unwrap()]);
    let rounds = |of: &Value| {
        let sittings = of["run"]["sittings"].as_array().unwrap();
        sittings.iter().map(|of| of["rounds"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(rounds(&third), [6, 2, 6]);
    let whole = on_day(&place, 3, 1.2, &["resume", third["run"]["id"].as_str().unwrap()]);
    assert_eq!(rounds(&whole), [6, 6, 6]);
}

#[test]
fn what_has_changed_is_no_other_sitting() {
    let place = place();
    on_day(&place, 1, 1.2, &["run", "fake"]);
    let text = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &text.replace("rate_rps = 200", "rate_rps = 300"));
    let said = place.scripted(&["again"]).ended(2);
    assert!(
        said.err.contains("experiment.toml, workload.rate_rps has changed from 200 to 300"),
        "{}",
        said.err
    );
    assert_eq!(place.scripted(&["again", "no-such-run"]).ended(2).out, "");
}

#[test]
fn no_sitting_is_dropped_whichever_of_them_is_named() {
    let place = place();
    let first = on_day(&place, 1, 1.2, &["run", "fake"]);
    let first = first["run"]["id"].as_str().unwrap();
    let count = |of: &Value| of["run"]["sittings"].as_array().unwrap().len();
    let second = on_day(&place, 2, 1.2, &["again", first]);
    let third = on_day(&place, 3, 1.2, &["again", first]);
    let fourth = on_day(&place, 4, 1.2, &["again", second["run"]["sittings"][1]["run"].as_str().unwrap()]);
    assert_eq!([count(&second), count(&third), count(&fourth)], [2, 3, 4]);
    assert_eq!(fourth["run"]["id"], second["run"]["id"]);
}

#[test]
fn what_is_no_first_sitting_is_refused_before_anything_is_measured() {
    let place = place();
    place.write("script.toml", "[[trial]]\nseq = 3\ndoes = 'kill'\n");
    place.scripted_command(&["run", "fake"]).output().unwrap();
    let said = place.scripted(&["again"]).ended(2);
    assert!(said.err.contains("is not finished: `kumite resume "), "{}", said.err);
    place.write("script.toml", "[[trial]]\nmetrics.throughput_rps = 100.0\n");
    place.scripted(&["run", "fake", "--shard", "1/2", "--seed", "1"]).ended(0);
    let said = place.scripted(&["again"]).ended(2);
    assert!(said.err.contains("is a share of a run"), "{}", said.err);
}

#[test]
fn ctrl_c_keeps_what_was_measured_joins_it_and_says_how_it_goes_on() {
    let place = place();
    on_day(&place, 1, 1.2, &["run", "fake"]);
    let script = place.read("script.toml").replace("2026-01-01", "2026-01-02");
    place.write("script.toml", &(script + "[[trial]]\nseq = 4\ndoes = 'wait'\n"));
    let again =
        place.scripted_command(&["again"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    kill(Pid::from_raw(again.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(again.wait_with_output().unwrap()).ended(3);
    assert!(said.err.contains("it was interrupted after 4 trials; `kumite resume "), "{}", said.err);
    assert!(said.out.contains("1 claim: 1 holds"), "{}", said.out);
}
