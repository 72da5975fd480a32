//! Players: recorded by kumite, contenders that behave and some that do not.

use kumite_record::Probe;
use kumite_testing::{eventually, example};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::{Place, Said, trial};
use crate::printed::printed;
use crate::schema::assert_right;

/// At 500 frames a second, so that a play is short.
const EXPERIMENT: &str = r#"
question = "Who is in time?"
kind = "pacing"
blocks = 1
[workload]
frames = 100
warm_up_frames = 10
fps = 500
[axes]
schedule = ["absolute"]
"#;

/// The metrics of each trial that has so many states.
const METRICS: [&str; 9] = [
    "error_p50_us",
    "error_p90_us",
    "error_max_us",
    "error_first_us",
    "error_last_us",
    "landed_share",
    "missed_frames",
    "cpu_cores",
    "peak_rss_bytes",
];

fn place(replaced: (&str, &str), more: &str, players: &[&str]) -> Place {
    let place = Place::new("", &[]);
    assert!(EXPERIMENT.contains(replaced.0));
    let text = EXPERIMENT.replace(replaced.0, replaced.1);
    place.write("experiments/fake/experiment.toml", &format!("{text}{more}"));
    place.write("experiments/fake/macro.txt", "<loop 8>\n2,mk 1\n3 1\n6,lp 2\n</loop>\n");
    for mode in players {
        let fake = example("fake_player");
        let run = format!("exec {} {mode} {}", fake.display(), place.mark());
        let text = format!(
            "version = 'echo fake 1.0'\n[[variant]]\nname = '{mode}'\nmodel = 'sequential'\nrun = '{run}'\n"
        );
        place.write(&format!("experiments/fake/contenders/{mode}/contender.toml"), &text);
    }
    place
}

fn run(place: &Place) -> (Said, Value) {
    let said = place.kumite(&["run", "fake", "--json", "run.json"]);
    let json = std::fs::read_to_string(place.path("run.json")).unwrap_or_default();
    assert_eq!(place.left(), Vec::<String>::new(), "{}", said.err);
    (said, serde_json::from_str(&json).unwrap_or_default())
}

#[test]
fn a_play_is_recorded_state_by_state() {
    let (said, json) = run(&place(("", ""), "", &["fake"]));
    said.ended(0);
    assert_right("run", &json);
    let trial = trial(&json, "fake");
    assert_eq!(trial["outcome"], "ok", "{trial}");
    let metrics = trial["sample"]["metrics"].as_object().unwrap();
    let mut found: Vec<&str> = metrics.keys().map(String::as_str).collect();
    let mut expected = [&METRICS[..], &Probe::ALL.map(Probe::name)].concat();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(trial["sample"]["needs"]["error_p99_us"], 500 - 76);
    let arrivals = trial["sample"]["arrivals"].as_array().unwrap();
    // Three states for each four frames, and the release.
    assert_eq!(arrivals.len(), 76);
    assert_eq!((&arrivals[4]["due_ms"], &arrivals[75]["due_ms"]), (&10.0.into(), &200.0.into()));
    let errors: Vec<f64> = arrivals.iter().map(|arrival| arrival["error_us"].as_f64().unwrap()).collect();
    assert!(errors[..45].contains(&0.0) && errors[..45].iter().all(|error| *error >= 0.0), "{errors:?}");
}

#[test]
fn a_schedule_of_holds_is_asked_for() {
    let place = place(("[\"absolute\"]", "[\"relative\"]"), "", &["fake"]);
    let (said, json) = run(&place);
    said.ended(0);
    let trial = trial(&json, "fake");
    assert_eq!(trial["sample"]["arrivals"].as_array().unwrap().len(), 76, "{trial}");
    let log = place.path(".kumite").join(trial["log"].as_str().unwrap());
    assert!(std::fs::read_to_string(&log).unwrap().contains("fake: relative"), "{}", log.display());
}

#[test]
#[ignore = "timing"]
fn the_drift_of_holds_is_seen() {
    let claim = "[[claim]]\nid = 'drift'\nassert = 'error_last_us(fake) > error_first_us(fake)'\n";
    let (said, json) = run(&place(("[\"absolute\"]", "[\"relative\"]"), claim, &["fake"]));
    said.ended(0);
    let metrics = &trial(&json, "fake")["sample"]["metrics"];
    // 200 ms half as long again: 100 ms late at the end, and at least 76 ms in the mean of the last 60 frames.
    assert!(metrics["error_last_us"].as_f64().unwrap() > 70_000.0, "{metrics}");
    assert!(metrics["missed_frames"].as_f64().unwrap() > 60.0, "{metrics}");
}

#[test]
fn every_core_is_busy_if_that_is_asked_for() {
    for (load, outcome) in [("none", "disqualified"), ("every-core", "ok")] {
        let (said, json) =
            run(&place(("fps = 500", &format!("fps = 500\nload = '{load}'")), "", &["fake", "watcher"]));
        said.ended(0);
        let watcher = trial(&json, "watcher");
        assert_eq!(watcher["outcome"], outcome, "{load}: {watcher}");
    }
}

#[test]
fn a_line_that_nobody_asked_for_disqualifies_with_and_without_a_warm_up() {
    for warm_up in ["warm_up_frames = 10", "warm_up_frames = 0"] {
        let (said, json) = run(&place(("warm_up_frames = 10", warm_up), "", &["fake", "talker"]));
        said.ended(0);
        let talker = trial(&json, "talker");
        assert_eq!(talker["outcome"], "disqualified", "{talker}");
        assert!(talker["reason"].as_str().unwrap().contains("nobody asked for: 'that was it'"), "{talker}");
    }
}

#[test]
fn who_does_not_play_is_shown_with_the_reason() {
    let modes = ["crash", "greeter", "wrong", "leaver", "once"];
    let place = place(("", ""), "", &[&["fake"], &modes[..]].concat());
    let (said, json) = run(&place);
    said.ended(0);
    let cases = [
        ("crash", "failed", "ended with status 7 in getting ready; its log: fake: no configuration found"),
        ("greeter", "failed", "it wrote 'hello' and not 'ready'"),
        ("wrong", "disqualified", "state 6 of 9 is not what it should be: '1 2 3'"),
        ("leaver", "failed", "ended with status 3 in state 6 of 9; its log: fake: out of order"),
    ];
    for (contender, outcome, reason) in cases {
        let trial = trial(&json, contender);
        assert_eq!(trial["outcome"], outcome, "{trial}");
        assert!(trial["reason"].as_str().unwrap().contains(reason), "{trial}");
    }
    let once = &trial(&json, "once");
    assert_eq!(once["outcome"], "failed", "{once}");
    assert_eq!(trial(&json, "fake")["outcome"], "ok");
}

#[test]
fn check_plays_a_little() {
    let place = place(("", ""), "", &["fake", "wrong", "lingerer"]);
    let said = place.kumite(&["check", "fake"]);
    let said = said.ended(1);
    printed!(said.report());
    assert_eq!(place.left(), Vec::<String>::new());
}

#[test]
fn a_player_that_hangs_is_ended_with_the_run() {
    for mode in ["hanger", "mute"] {
        let place = place(("", ""), "", &[mode]);
        let kumite = place.command(&["run", "fake"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        let pid = Pid::from_raw(kumite.id().cast_signed());
        eventually(|| place.begun() > 0);
        kill(pid, Signal::SIGINT).unwrap();
        let said = Said::of(kumite.wait_with_output().unwrap());
        said.ended(3);
        assert_eq!(place.left(), Vec::<String>::new());
    }
}

#[test]
fn what_makes_no_sense_is_an_error_with_its_place() {
    let refused = |replaced, more| {
        let said = place(replaced, more, &["fake"]).kumite(&["run", "fake"]);
        let said = said.ended(2);
        printed!(said.notes());
    };
    refused(("frames = 100", "frams = 100"), "");
    refused(("frames = 100", "macro = 'none.txt'"), "");
    refused(("frames = 100", "macro = 'experiment.toml'"), "");
    refused(("", ""), "[answer]\nequals = '1'\n");
    refused(("", ""), "[services.db]\nkind = 'postgres'\n");
}
