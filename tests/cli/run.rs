use std::time::Duration;

use serde_json::Value;

use crate::place::Place;
use crate::still::undisturbed;

/// In a window of 200 ms there is time for it.
const HELD_UP: Duration = Duration::from_millis(100);

const FASTER: &str = r#"
[[claim]]
id = "fast-is-faster"
assert = "throughput_rps(fast) > 2 * throughput_rps(slow)"
[[claim]]
id = "slow-is-faster"
assert = "throughput_rps(slow) > throughput_rps(fast)"
"#;

fn verdicts(export: &Value) -> Vec<(&str, &str)> {
    let claims = export["claims"].as_array().unwrap();
    claims.iter().map(|claim| (claim["id"].as_str().unwrap(), claim["verdict"].as_str().unwrap())).collect()
}

fn warnings(export: &Value) -> String {
    serde_json::to_string_pretty(&export["warnings"]).unwrap()
}

#[test]
fn an_experiment_is_run_judged_kept_and_reported() {
    let files =
        ["--json", "r.json", "--html", "r.html", "--markdown", "r.md", "--seed", "4", "--blocks", "10"];
    // Its windows are short.
    let run = undisturbed(HELD_UP, || {
        let place = Place::new(FASTER, &[("fast", "pong"), ("slow", "slower")]);
        let said = place.kumite(&[&["run", "fake"][..], &files].concat());
        (place, said)
    });
    let Some((place, said)) = run else { return };
    let said = said.ended(0);
    assert!(said.out.contains("✓") && said.out.contains("holds: ratio"), "{}", said.out);
    assert!(said.err.contains("/20 "), "plain lines of progress: {}", said.err);
    assert!(said.out.contains("It ended when its verdicts were in: 4 trials fewer"), "{}", said.out);
    assert!(!said.out.contains('\x1b'), "no colour where there is no terminal");

    let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    for key in ["schema", "run", "machine", "contenders", "cells", "claims", "warnings", "trials"] {
        assert!(!export[key].is_null(), "{key}");
    }
    assert_eq!(verdicts(&export), [("fast-is-faster", "holds"), ("slow-is-faster", "fails")]);
    assert_eq!((&export["schema"], &export["run"]["seed"]), (&1.into(), &4.into()));
    assert_eq!(export["contenders"][0]["version"], "fake 1.0");
    let cell = &export["cells"][0];
    assert_eq!((&cell["contender"], &cell["trials"]), (&"fast".into(), &8.into()));
    for metric in ["throughput_rps", "response_p50_us", "cpu_cores", "peak_rss_bytes", "failures"] {
        let estimate = &cell["metrics"][metric];
        let of =
            |key: &str| estimate[key].as_f64().unwrap_or_else(|| panic!("{metric} has no {key}: {estimate}"));
        assert!(of("low") <= of("estimate") && of("estimate") <= of("high"), "{metric}: {estimate}");
    }
    let of = |metric: &str| cell["metrics"][metric]["estimate"].as_f64().unwrap();
    assert!((0.01..=1.5).contains(&of("cpu_cores")), "on one core, and not idle: {cell}");
    assert!((1e5..1e9).contains(&of("peak_rss_bytes")), "{cell}");
    let littles_law = of("throughput_rps") * of("response_mean_us") / 1e6;
    assert!((1.5..=2.05).contains(&littles_law), "two connections are in the system: {littles_law}");
    let cores = &export["machine"]["cores"];
    assert!(export["machine"]["cpus"] == 1 || cores["contender"][0] != cores["engine"][0], "{cores}");
    // Blocks: both contenders in each, one after the other.
    let trials = export["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 16, "each of two claims takes eight blocks");
    for pair in trials.chunks(2) {
        assert_eq!(pair[0]["block"], pair[1]["block"]);
        assert_ne!(pair[0]["contender"], pair[1]["contender"]);
    }
    for trial in trials {
        let series = &trial["sample"]["series"];
        let sum: f64 = series["columns"]["ok"].as_array().unwrap().iter().filter_map(Value::as_f64).sum();
        assert_eq!(
            sum,
            trial["sample"]["metrics"]["received"].as_f64().unwrap(),
            "the series has every answer"
        );
    }

    assert!(
        place.read("r.html").starts_with("<!doctype html>")
            || place.read("r.html").starts_with("<!DOCTYPE html>")
    );
    assert!(place.read("r.md").contains("fast-is-faster"));
    let again = place.kumite(&["report", "last"]).ended(0);
    assert_eq!(again.out, said.out, "the store gives the same report again");
    let id = export["run"]["id"].as_str().unwrap();
    assert_eq!(place.kumite(&["export", id]).ended(0).json(), export);
    assert!(place.kumite(&["export", &id[..13], "--format", "csv"]).ended(0).out.contains("fast,"));
    assert!(place.kumite(&["list", "--runs"]).ended(0).out.contains(id));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn the_seed_repeats_the_order() {
    let place = Place::new("", &[("a", "pong"), ("b", "pong"), ("c", "pong")]);
    let order = || {
        let arguments = ["run", "fake", "--seed", "9", "--blocks", "2", "--json", "-"];
        let export = place.kumite(&arguments).ended(0).json();
        let trials = export["trials"].as_array().unwrap().clone();
        trials.iter().map(|trial| trial["contender"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(order(), order());
}

#[test]
fn a_contender_left_out_leaves_its_claims_untested() {
    let place = Place::new(FASTER, &[("fast", "pong"), ("slow", "slow")]);
    let export =
        place.kumite(&["run", "fake", "--skip", "slow", "--blocks", "1", "--json", "-"]).ended(0).json();
    assert_eq!(verdicts(&export), [("fast-is-faster", "not-tested"), ("slow-is-faster", "not-tested")]);
    assert_eq!(export["contenders"][1]["reason"], "left out by --skip");
    let why = export["claims"][0]["why"].as_str().unwrap();
    assert!(why.contains("slow was skipped: left out by --skip"), "{why}");
}

#[test]
fn a_missing_tool_skips_its_contender_by_name() {
    let place = Place::new(FASTER, &[("fast", "pong")]);
    let needs = "needs = ['no-such-tool >= 3']\ninstall.get = 'https://example.org/tool'";
    place.contender("slow", "slow", needs);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0);
    let reason = "needs no-such-tool >= 3, which is not on PATH; see https://example.org/tool";
    assert!(said.err.contains(&format!("skipped slow: {reason}")), "{}", said.err);
    let export = said.json();
    assert_eq!(
        (&export["contenders"][1]["status"], &export["contenders"][1]["reason"]),
        (&"skipped".into(), &reason.into())
    );
    assert_eq!(verdicts(&export)[0].1, "not-tested");
}

#[test]
fn wrong_answers_disqualify() {
    let claims = "[[claim]]\nid = 'it-lies'\nassert = 'disqualified(slip)'\n[[claim]]\nid = 'faster'\nassert = 'throughput_rps(slip) > 1'\n";
    let said = undisturbed(HELD_UP, || {
        Place::new(claims, &[("honest", "pong"), ("slip", "slip")]).kumite(&["run", "fake", "--json", "-"])
    });
    let Some(said) = said else { return };
    let export = said.ended(0).json();
    assert_eq!(verdicts(&export), [("it-lies", "holds"), ("faster", "not-tested")]);
    let cell = &export["cells"][1];
    assert_eq!(
        (&cell["contender"], &cell["disqualified"], &cell["metrics"]),
        (&"slip".into(), &6.into(), &serde_json::json!({}))
    );
    let warnings = warnings(&export);
    assert!(
        warnings.contains("6 of 6 trials disqualified") && warnings.contains("status 200, 4 bytes"),
        "{warnings}"
    );
    assert!(warnings.contains("pang"), "{warnings}");
}

#[test]
fn a_contender_that_dies_loses_its_cell_and_the_log_says_why() {
    let run = undisturbed(HELD_UP, || {
        let place = Place::new("", &[("crash", "crash"), ("die", "die"), ("fine", "pong")]);
        let said = place.kumite(&["run", "fake", "--json", "-"]);
        (place, said)
    });
    let Some((place, said)) = run else { return };
    let export = said.ended(0).json();
    let warnings = warnings(&export);
    assert!(
        warnings
            .contains("it ended with status 7 before it was ready; its log: fake: no configuration found"),
        "{warnings}"
    );
    assert!(warnings.contains("it ended with status 9 under load; its log: fake: out of luck"), "{warnings}");
    let count = |name: &str| {
        export["trials"].as_array().unwrap().iter().filter(|trial| trial["contender"] == name).count()
    };
    assert_eq!(
        (count("crash"), count("die"), count("fine")),
        (2, 2, 6),
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
    let said = place.kumite(&["run", "fake"]).ended(3);
    assert!(said.err.contains("error: no trial gave a result"), "{}", said.err);
}

#[test]
fn a_build_that_fails_is_a_named_failure() {
    let place = Place::new("", &[("fine", "pong")]);
    place.contender("broken", "pong", "build = 'echo cannot find library >&2; exit 4'");
    let said = place.kumite(&["run", "fake", "--blocks", "1"]).ended(0);
    assert!(said.err.contains("failed broken: its build command"), "{}", said.err);
    assert!(said.err.contains("ended with status 4: cannot find library"), "{}", said.err);
}

#[test]
fn a_dry_run_starts_nothing() {
    let place = Place::new("", &[("crash", "crash")]);
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    assert!(said.out.contains("1 point, 6 blocks each, 6 trials; 3.0 s under load"), "{}", said.out);
    assert!(!place.path(".kumite").exists());
}

#[test]
fn the_budget_is_kept_and_said_at_once() {
    let place = Place::new("", &[("fast", "pong")]);
    let said = place.kumite(&["run", "fake", "--blocks", "1000", "--budget", "1s"]).ended(0);
    assert!(said.err.contains("the budget of 1.0 s will do for about"), "{}", said.err);
    assert!(said.out.contains("the budget of 1.0 s was spent after"), "{}", said.out);
}
