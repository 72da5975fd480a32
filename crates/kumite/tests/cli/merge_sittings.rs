//! Whole runs that are merged as sittings: from stores, from documents, by their ids.

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

/// A run on this day, in a store and a document of its own: `DAY.db` and `DAY.json`.
fn day(place: &Place, day: u32, more: &[&str]) -> Value {
    let script = format!(
        "began = '2026-01-{day:02}T10:00:00Z'\n\
         [[trial]]\ncontender = 'a'\nmetrics.throughput_rps = 12{day}.0\n\
         [[trial]]\ncontender = 'b'\nmetrics.throughput_rps = 100.0\n"
    );
    place.write("script.toml", &script);
    let (db, json) = (format!("{day}.db"), format!("{day}.json"));
    place.scripted(&[&["run", "fake", "--db", &db, "--json", &json], more].concat()).ended(0);
    document(place, &json)
}

fn document(place: &Place, file: &str) -> Value {
    serde_json::from_str(&place.read(file)).unwrap()
}

fn merge(place: &Place, arguments: &[&str]) -> Said {
    place.kumite(&[&["merge"], arguments].concat())
}

fn merged(place: &Place, arguments: &[&str]) -> Value {
    merge(place, &[arguments, &["--json", "-"]].concat()).ended(0).json()
}

/// The effect and the rounds of the claim in each sitting.
fn effects(export: &Value) -> Vec<(f64, u64)> {
    let all = export["claims"][0]["sittings"].as_array().unwrap();
    all.iter().map(|of| (of["effect"].as_f64().unwrap(), of["rounds"].as_u64().unwrap())).collect()
}

#[test]
fn runs_of_several_stores_documents_and_a_run_that_was_merged_before_are_the_sittings_of_one() {
    let place = place();
    for nth in 1..=4 {
        day(&place, nth, &[]);
    }
    let two = merged(&place, &["2.db", "1.db", "--db", "all.db"]);
    assert_eq!(effects(&two), [(1.21, 6), (1.22, 6)]);
    let id = two["run"]["id"].as_str().unwrap();
    // A document has no ties to what is there: that is named.
    let three = merged(&place, &[id, "3.json", "--db", "all.db"]);
    assert_eq!((effects(&three).len(), &three["run"]["id"]), (3, &id.into()));
    // Any of the sittings names all of them.
    let of = three["run"]["sittings"][2]["run"].as_str().unwrap();
    let four = merged(&place, &["4.db", of, "--db", "all.db"]);
    let expected = [(1.21, 6), (1.22, 6), (1.23, 6), (1.24, 6)];
    assert_eq!((effects(&four).as_slice(), &four["run"]["id"]), (&expected[..], &id.into()));
    assert_eq!((&four["claims"][0]["verdict"], &four["run"]["rule"]), (&"holds".into(), &"strict".into()));
    let runs = place.kumite(&["list", "--runs", "--db", "all.db"]);
    assert_eq!(runs.code, 0, "{}", runs.err);

    // Once more, and what each came from, changes nothing.
    let again = merged(&place, &["all.db", "1.db", "2.json", "--db", "all.db"]);
    assert_eq!((&again["trials"], &again["claims"]), (&four["trials"], &four["claims"]));
    // The document of all of them is as good as they are.
    place.write("all.json", &four.to_string());
    let elsewhere = merged(&place, &["all.json", "1.json", "--db", "elsewhere.db"]);
    assert_eq!(effects(&elsewhere), expected);
    assert_eq!(&elsewhere["claims"], &four["claims"]);
    let said = merge(&place, &["1.db", "2.json", "--db", "printed.db"]).ended(0);
    printed!(said.notes());
}

#[test]
fn what_does_not_belong_together_is_named_and_nothing_is_kept() {
    let place = place();
    day(&place, 1, &[]);
    let refused = |more: &[&str]| {
        printed!(merge(&place, &[&["1.db"], more, &["--db", "all.db"]].concat()).ended(2).notes());
        let db = rusqlite_runs(&place);
        assert_eq!(db, 0, "{more:?}");
    };
    let of_a = "experiments/fake/contenders/a/more";
    place.write(of_a, "");
    day(&place, 2, &[]);
    refused(&["2.json"]);
    std::fs::remove_file(place.path(of_a)).unwrap();
    let spec = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &spec.replace("rate_rps = 200", "rate_rps = 300"));
    day(&place, 3, &[]);
    refused(&["3.db"]);
    place.write("experiments/fake/experiment.toml", &spec);
    day(&place, 4, &["--profile", "full"]);
    refused(&["4.json"]);
    day(&place, 5, &["--shard", "1/2"]);
    refused(&["5.json"]);
    refused(&["5.db", "2.json"]);
    refused(&["--scope", "nodes-like-these"]);
    // One alone, twice.
    refused(&["1.json"]);
}

#[test]
fn a_document_of_anything_else_is_refused_by_name() {
    let place = place();
    let run = day(&place, 1, &[]);
    day(&place, 2, &[]);
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut run = run.clone();
        change(&mut run);
        place.write("odd.json", &run.to_string());
    };
    let refused = |code| {
        let said = merge(&place, &["2.db", "odd.json", "--db", "all.db"]).ended(code);
        // Where in a document a value is, depends on the machine.
        printed!(said.timeless());
    };
    place.write("odd.json", "no run");
    refused(2);
    place.write("odd.json", "{\"schema\": 5}");
    refused(2);
    changed(&|run| run["run"]["id"] = "../../etc".into());
    refused(2);
    changed(&|run| run["run"]["experiment"] = "/tmp/evil".into());
    refused(2);
    changed(&|run| run["run"]["spec"] = "question = ".into());
    refused(2);
    changed(&|run| run["trials"][0]["block"] = u32::MAX.into());
    refused(2);
    changed(&|run| run["trials"] = Value::Array(Vec::new()));
    refused(0);
    for (given, code) in [("no-such-run", 2), ("no-such.json", 2), ("experiments", 3)] {
        printed!(merge(&place, &["2.db", given, "--db", "all.db"]).ended(code).notes());
    }
}

#[test]
fn a_document_replaces_no_run_that_is_kept_here() {
    let place = place();
    let mut run = day(&place, 1, &[]);
    day(&place, 2, &[]);
    for trial in run["trials"].as_array_mut().unwrap() {
        trial["sample"]["metrics"]["throughput_rps"] = 1.into();
        trial["log"] = "../../secret".into();
    }
    let mut more = run["trials"][0].clone();
    more["seq"] = 99.into();
    more["block"] = 99.into();
    run["trials"].as_array_mut().unwrap().push(more);
    run["run"]["experiment_given"] = "/tmp/evil".into();
    place.write("odd.json", &run.to_string());
    let kept = merged(&place, &["odd.json", "2.db", "--db", "1.db"]);
    assert_eq!(effects(&kept), [(1.21, 6), (1.22, 6)]);
    // Where there is none, its logs are nowhere, and its experiment is the one of that name.
    let taken = merged(&place, &["odd.json", "2.json", "--db", "new.db"]);
    assert!(taken["trials"].as_array().unwrap().iter().all(|trial| trial["log"].is_null()));
    assert_eq!(taken["run"]["experiment_given"], "fake");
}

/// How many runs the store has.
fn rusqlite_runs(place: &Place) -> usize {
    let runs = place.kumite(&["list", "--runs", "--db", "all.db"]);
    runs.out.lines().filter(|line| line.starts_with("20")).count()
}
