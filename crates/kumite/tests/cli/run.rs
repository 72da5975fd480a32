use std::collections::BTreeSet;

use kumite_record::Mark;
use serde_json::{Value, json};

use crate::place::{EXPERIMENT, Place};
use crate::printed::{printed, without_figures};

/// One is about 3.4 times as fast as the other.
const SCRIPT: &str = r#"
[[trial]]
takes_ms = 500
metrics = { response_p50_us = 100, cpu_cores = 0.5, peak_rss_bytes = 1e6, failures = 0 }
[[trial]]
contender = "fast"
metrics = { throughput_rps = [1000, 1010, 1020, 1030, 1040] }
[[trial]]
contender = "slow"
metrics = { throughput_rps = 300 }
"#;

const FASTER: &str = r#"
[[claim]]
id = "fast-is-faster"
assert = "throughput_rps(fast) > 2 * throughput_rps(slow)"
[[claim]]
id = "slow-is-faster"
assert = "throughput_rps(slow) > throughput_rps(fast)"
"#;

/// In which a trial takes half a second, as far as can be said before.
fn place(claims: &str, contenders: &[(&str, &str)]) -> Place {
    let place = Place::new("", contenders);
    let closed = EXPERIMENT.replace("rate_rps = 200\n", "").replace("duration_s = 0.2", "duration_s = 0.5");
    place.write("experiments/fake/experiment.toml", &format!("{closed}{claims}"));
    place
}

fn verdicts(export: &Value) -> Vec<(&str, &str)> {
    let claims = export["claims"].as_array().unwrap();
    claims.iter().map(|claim| (claim["id"].as_str().unwrap(), claim["verdict"].as_str().unwrap())).collect()
}

/// Those without the words of a mark: how busy the machine was is no part of a test.
fn warnings(export: &Value) -> String {
    let all = export["warnings"].as_array().unwrap().iter();
    let is_of_mark = |what: &str| Mark::ALL.iter().any(|mark| what.contains(mark.warning()));
    let calm: Vec<&Value> = all.filter(|warning| !is_of_mark(warning["what"].as_str().unwrap())).collect();
    serde_json::to_string_pretty(&calm).unwrap()
}

#[test]
fn an_experiment_is_run_judged_kept_and_reported() {
    let place = place(FASTER, &[("fast", "pong"), ("slow", "slow")]);
    place.write("script.toml", SCRIPT);
    let files =
        ["--json", "r.json", "--html", "r.html", "--markdown", "r.md", "--seed", "4", "--blocks", "10"];
    let said = place.scripted(&[&["run", "fake", "--verbose"][..], &files].concat()).ended(0);
    printed!(said.report());
    printed!(said.notes());
    printed!(said.report());
    assert!(!said.out.contains('\x1b'), "no colour where there is no terminal");

    let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    for key in ["schema", "run", "machine", "contenders", "cells", "claims", "warnings", "trials"] {
        assert!(!export[key].is_null(), "{key}");
    }
    assert_eq!(verdicts(&export), [("fast-is-faster", "holds"), ("slow-is-faster", "fails")]);
    assert_eq!((&export["schema"], &export["run"]["seed"]), (&5.into(), &4.into()));
    assert_eq!(export["contenders"][0]["version"], "fake 1.0");
    let cell = &export["cells"][0];
    assert_eq!((&cell["contender"], &cell["trials"]), (&"fast".into(), &6.into()));
    // Of 1000, 1010, … 1040, 1000, 1010, 1020.
    assert_eq!(cell["metrics"]["throughput_rps"]["estimate"], 1015.0, "{cell}");
    assert_eq!(cell["metrics"]["response_p50_us"]["estimate"], 100.0, "{cell}");
    let trials = export["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 12, "both claims are clear in the six blocks that each cell gets");
    assert!(trials.iter().all(|trial| trial["took_ms"] == 500.0));

    assert!(place.read("r.html").to_lowercase().starts_with("<!doctype html>"));
    assert!(place.read("r.md").contains("fast-is-faster"));
    let again = place.kumite(&["report", "last"]).ended(0);
    assert_eq!(again.out, said.out, "the store gives the same report again");
    place.kumite(&["report", "--json", "run.json.gz", "--svg", "run.svg"]).ended(0);
    let again = place.kumite(&["report", "run.json.gz", "--db", "none.db"]).ended(0);
    assert_eq!(again.out, said.out, "and so does a document");
    let json = |run: &str| place.kumite(&["report", run, "--json", "-"]).ended(0).out;
    assert_eq!(json("run.json.gz"), json("last"));
    assert!(place.read("run.svg").starts_with("<svg"));
    let id = export["run"]["id"].as_str().unwrap();
    assert_eq!(place.kumite(&["export", id]).ended(0).json(), export);
    assert!(place.kumite(&["export", &id[..13], "--format", "csv"]).ended(0).out.contains("fast,"));
    assert!(place.kumite(&["list", "--runs"]).ended(0).out.contains(id));
}

#[test]
fn a_run_ends_on_one_screen() {
    let place = place(FASTER, &[("fast", "pong"), ("slow", "slow")]);
    place.write("script.toml", SCRIPT);
    let said = place.scripted(&["run", "fake"]).ended(0);
    assert!(said.out.lines().count() <= 40 && said.out.contains("holds: "), "{}", said.out);
    printed!(said.report());
}

#[test]
fn servers_are_asked_in_turn_and_every_answer_is_counted() {
    let place = Place::new("", &[("fast", "pong"), ("slow", "slow")]);
    let export = place.kumite(&["run", "fake", "--blocks", "2", "--json", "-"]).ended(0).json();
    let trials = export["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    for trial in trials {
        let sample = &trial["sample"];
        let of =
            |metric: &str| sample["metrics"][metric].as_f64().unwrap_or_else(|| panic!("{metric}: {sample}"));
        assert_eq!((&trial["outcome"], of("received"), of("failures")), (&"ok".into(), 40.0, 0.0), "{trial}");
        let ok = sample["series"]["columns"]["ok"].as_array().unwrap();
        let sum: f64 = ok.iter().filter_map(Value::as_f64).sum();
        assert_eq!(sum, 40.0, "the series has every answer");
        // Answers after the window are no throughput, on a machine that stands still.
        assert!(
            of("throughput_rps") >= 0.0 && of("response_p50_us") > 0.0 && of("peak_rss_bytes") > 0.0,
            "{sample}"
        );
        // The slow one sleeps for so long.
        assert!(trial["contender"] == "fast" || of("response_mean_us") >= 20_000.0, "{sample}");
    }
    let cores = &export["machine"]["cores"];
    assert!(export["machine"]["cpus"] == 1 || cores["contender"][0] != cores["engine"][0], "{cores}");
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn blocks_are_interleaved_and_paired() {
    let place = Place::new("", &[("a", "pong"), ("b", "pong"), ("c", "pong")]);
    place.write("script.toml", "");
    let orders = |seed: &str| -> Vec<Vec<String>> {
        let arguments = ["run", "fake", "--seed", seed, "--blocks", "8", "--json", "-"];
        let export = place.scripted(&arguments).ended(0).json();
        let trials = export["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 24);
        let name = |trial: &Value| trial["contender"].as_str().unwrap().to_owned();
        for (nth, block) in trials.chunks(3).enumerate() {
            assert!(block.iter().all(|trial| trial["block"] == nth));
            assert_eq!(block.iter().map(name).collect::<BTreeSet<_>>().len(), 3, "each once: {block:?}");
        }
        trials.chunks(3).map(|block| block.iter().map(name).collect()).collect()
    };
    let first = orders("9");
    assert_eq!(first, orders("9"), "the seed repeats the order");
    assert_ne!(first, orders("10"));
    assert!(first.iter().collect::<BTreeSet<_>>().len() > 2, "blocks have orders of their own: {first:?}");
}

#[test]
fn a_contender_left_out_leaves_its_claims_untested() {
    let place = Place::new(FASTER, &[("fast", "pong"), ("slow", "slow")]);
    place.write("script.toml", SCRIPT);
    let export =
        place.scripted(&["run", "fake", "--skip", "slow", "--blocks", "1", "--json", "-"]).ended(0).json();
    assert_eq!(verdicts(&export), [("fast-is-faster", "not-tested"), ("slow-is-faster", "not-tested")]);
    assert_eq!(export["contenders"][1]["reason"], "left out by --skip");
    let reason =
        json!({ "what": "absent", "contender": "slow", "status": "skipped", "why": "left out by --skip" });
    assert_eq!(export["claims"][0]["reason"], reason);
}

#[test]
fn a_missing_tool_skips_its_contender_by_name() {
    let place = Place::new(FASTER, &[("fast", "pong")]);
    let needs = "needs = ['no-such-tool >= 3']\ninstall.get = 'https://example.org/tool'";
    place.contender("slow", "slow", needs);
    place.write("script.toml", SCRIPT);
    let said = place.scripted(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0);
    let reason = "needs no-such-tool >= 3, which is not on PATH; see https://example.org/tool";
    printed!(said.notes());
    let export = said.json();
    assert_eq!(
        (&export["contenders"][1]["status"], &export["contenders"][1]["reason"]),
        (&"skipped".into(), &reason.into())
    );
    assert_eq!(verdicts(&export)[0].1, "not-tested");
}

#[test]
fn wrong_answers_disqualify() {
    let claims = "[[claim]]\nid = 'it-lies'\nassert = 'disqualified(slip)'\n[[claim]]\nid = 'faster'\nassert = 'throughput_rps(slip) > 1 /s'\n";
    let place = Place::new(claims, &[("honest", "pong"), ("slip", "slip")]);
    let export = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0).json();
    assert_eq!(verdicts(&export), [("it-lies", "holds"), ("faster", "not-tested")]);
    let cell = &export["cells"][1];
    assert_eq!(
        (&cell["contender"], &cell["disqualified"], &cell["metrics"]),
        (&"slip".into(), &1.into(), &serde_json::json!({}))
    );
    let warnings = warnings(&export);
    printed!(without_figures(&warnings));
    assert!(warnings.contains("pang"), "{warnings}");
}

#[test]
fn a_contender_that_dies_loses_its_cell_and_the_log_says_why() {
    let place = Place::new("", &[("crash", "crash"), ("die", "die"), ("fine", "pong")]);
    let export = place.kumite(&["run", "fake", "--blocks", "3", "--json", "-"]).ended(0).json();
    let warnings = warnings(&export);
    printed!(without_figures(&warnings));
    let count = |name: &str| {
        export["trials"].as_array().unwrap().iter().filter(|trial| trial["contender"] == name).count()
    };
    assert_eq!(
        (count("crash"), count("die"), count("fine")),
        (2, 2, 3),
        "a cell is lost after two failures in a row"
    );
    let log =
        export["trials"].as_array().unwrap().iter().find(|trial| trial["contender"] == "crash").unwrap();
    let log = format!(".kumite/{}", log["log"].as_str().unwrap());
    assert_eq!(place.read(&log), "fake: no configuration found\n");
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_run_without_a_result_is_not_done() {
    let place = Place::new("", &[("crash", "crash")]);
    let said = place.kumite(&["run", "fake", "--blocks", "1"]).ended(3);
    printed!(said.notes());
}

#[test]
fn a_build_that_fails_is_a_named_failure() {
    let place = Place::new("", &[("fine", "pong")]);
    place.contender("broken", "pong", "build = 'echo cannot find library >&2; exit 4'");
    place.write("script.toml", "");
    let said = place.scripted(&["run", "fake", "--blocks", "1"]).ended(0);
    printed!(said.notes());
}

#[test]
fn a_dry_run_starts_nothing() {
    let place = place("", &[("crash", "crash")]);
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    printed!(said.report());
    assert!(place.kept().is_empty());
}

#[test]
fn the_budget_is_kept_and_said_at_once() {
    let place = place("", &[("fast", "pong"), ("slow", "pong")]);
    // One of them stands still in the third block, for longer than all the others take.
    let stands_still = "[[trial]]\ncontender = 'slow'\nblock = 2\ntakes_ms = 60000\n";
    place.write("script.toml", &format!("[[trial]]\ntakes_ms = 1000\n{stands_still}"));
    let said =
        place.scripted(&["run", "fake", "--blocks", "1000", "--budget", "30s", "--json", "-"]).ended(0);
    printed!(said.notes());
    let export = said.json();
    assert_eq!(export["run"]["cut_short"], "the budget of 30 s was spent after 6 of at most 2000 trials");
    assert_eq!(export["trials"].as_array().unwrap().len(), 6);
}
