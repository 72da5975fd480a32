use std::io::{BufRead, BufReader};
use std::process::Stdio;

use jiff::Timestamp;
use kumite_host::{cores, machine};
use kumite_record::{SelfCheck, Store};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::{Place, Said};
use crate::printed::printed;

#[test]
fn what_was_found_is_shown_by_runs_and_comparisons() {
    let place = Place::new("", &[("a", "pong")]);
    place.write("script.toml", "");
    assert_eq!(of_comparison(&place), Value::Null, "there is no store");
    assert!(place.kept().is_empty(), "and none is made");
    let run = ["run", "fake", "--blocks", "1", "--json", "r.json", "--verbose"];
    place.scripted(&run).ended(0);
    assert_eq!(of_run(&place), Value::Null);

    // Of this machine, as if it had just been checked.
    let found = SelfCheck { started: Timestamp::now(), machine: machine(cores()), ..SelfCheck::default() };
    Store::open(&place.path(".kumite/results.db")).unwrap().keep_selfcheck(&found).unwrap();
    assert_eq!(of_comparison(&place)["measured"], found.started.to_string());
    place.scripted(&run).ended(0);
    assert_eq!(of_run(&place)["measured"], found.started.to_string());
}

/// The noise floor that a comparison shows; null if it has none.
fn of_comparison(place: &Place) -> Value {
    let compare = ["compare", "true", "true", "--runs", "1", "--json", "-"];
    place.kumite(&compare).ended(0).json()["noise_floor"].take()
}

/// That of the run in r.json.
fn of_run(place: &Place) -> Value {
    serde_json::from_str::<Value>(&place.read("r.json")).unwrap()["run"]["noise_floor"].take()
}

#[test]
#[ignore = "timing"]
fn what_it_finds_has_its_form_and_is_kept() {
    let place = Place::new("", &[]);
    let said = place.kumite(&["selfcheck", "--budget", "3s", "--seed", "7", "--json", "-"]);
    assert!(said.code == 0 || said.code == 1, "{}{}", said.out, said.err);
    let found = said.json();
    let schema = place.kumite(&["schema", "selfcheck"]).ended(0).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&found).map(|error| error.to_string()).collect();
    assert_eq!(wrong, [""; 0]);
    assert_eq!((&found["seed"], &found["cut_short"]), (&7.into(), &false.into()));
    assert_eq!(said.code == 0, found["problems"].as_array().unwrap().is_empty(), "{}", found["problems"]);
    sensible(&found);
    assert!(of_comparison(&place)["measured"].is_string());
    assert_eq!(place.left(), [""; 0]);
}

fn sensible(found: &Value) {
    for (part, metrics) in
        [("commands", vec!["wall time", "CPU time", "memory"]), ("server", vec!["throughput"])]
    {
        let same = &found[part];
        let number = |key: &str| same[key].as_f64().unwrap();
        assert!(number("comparisons") >= 1.0 && number("pairs") >= 6.0 * number("comparisons"), "{same}");
        assert!((1e-4..10.0).contains(&number("seconds_per_pair")), "{same}");
        let verdicts = same["false_verdicts"].as_array().unwrap();
        let names: Vec<&str> = verdicts.iter().map(|of| of["metric"].as_str().unwrap()).collect();
        assert_eq!(names, metrics);
        for of in verdicts {
            let [low, share, high] = ["low", "share", "high"].map(|key| of[key].as_f64().unwrap());
            assert!(0.0 <= low && low <= share && share <= high && high <= 1.0, "{of}");
            assert!(of["comparisons"] == same["comparisons"] && high > low, "{of}");
        }
    }
    let servers: Vec<_> = found["engine"].as_array().unwrap().iter().collect();
    assert_eq!(servers.len(), 2);
    for of in servers {
        let answers = &of["figures"][0];
        assert_eq!((&answers["name"], &answers["engine"]), (&"right_answers".into(), &1000.0.into()), "{of}");
    }
    for cpu in found["cpus"].as_array().unwrap() {
        assert!(cpu["looks"].as_u64().unwrap() > 0 && cpu["worst_gap_us"].as_f64().unwrap() > 0.0, "{cpu}");
    }
    assert!((1.0..1e6).contains(&found["clock"]["cost_ns"].as_f64().unwrap()), "{}", found["clock"]);
}

#[test]
fn ctrl_c_ends_it_and_nothing_is_kept() {
    let place = Place::new("", &[]);
    let mut child = place
        .command(&["selfcheck", "--budget", "10m"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains("clock and CPUs")), "it has begun");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    printed!(said.words());
    let said = rest.join().unwrap();
    assert_eq!(said.lines().last(), Some("error: it was interrupted, and is not kept"), "{said}");
    assert_eq!(of_comparison(&place), Value::Null);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_budget_that_does_not_do_is_refused() {
    let place = Place::new("", &[]);
    for budget in ["1s", "0s", "soon"] {
        place.kumite(&["selfcheck", "--budget", budget]).ended(2);
    }
}
