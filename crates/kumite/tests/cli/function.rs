//! Functions: called on a host of kumite's own, by contenders that behave and by some that do not.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use kumite_testing::{LONG, eventually, example};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::place::{Place, Said, standing, trial};
use crate::printed::{printed, without_figures};
use crate::schema::assert_right;

/// The fake answers with its event, and counts its calls.
const EXPERIMENT: &str = r#"
question = "Who is called faster?"
kind = "function"
blocks = 1
[workload]
calls = 3
n = 7
cpu = "core"
[metrics]
count = { value = "worker", about = "What the function counts." }
wall_us = { value = "wall_ms * $n / $n", about = "The same in another unit." }
[answer]
at = { "/event/n" = "$n" }
"#;

/// The metrics of each trial whose functions are called more than once.
const METRICS: [&str; 12] = [
    "cold_calls",
    "instances",
    "wall_ms",
    "duration_ms",
    "init_ms",
    "warm_wall_ms",
    "warm_duration_ms",
    "warm_billed_2016_ms",
    "warm_billed_2025_ms",
    "warm_billed_2025_min_ms",
    "warm_billed_2025_max_ms",
    "max_memory_bytes",
];

fn fake_function() -> PathBuf {
    example("fake_function")
}

/// An experiment with these parts of [`EXPERIMENT`] replaced, and contenders that do in each call what is said.
fn place(replaced: &[(&str, &str)], contenders: &[(&str, &str)]) -> Place {
    let place = Place::new("", &[]);
    let replace = |text: String, (from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    place.write("experiments/fake/experiment.toml", &replaced.iter().fold(EXPERIMENT.to_owned(), replace));
    contenders.iter().for_each(|(name, what)| contender(&place, name, &format!("DO=\"{what}\""), ""));
    place
}

fn contender(place: &Place, name: &str, env: &str, more: &str) {
    // The mark in its command finds its processes again.
    let run = format!("{env} exec {} {}", fake_function().display(), place.mark());
    let text = format!(
        "version = 'echo fake 1.0'\n[[variant]]\nname = '{name}'\nmodel = 'event-loop'\nrun = '{run}'\n{more}\n"
    );
    place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
}

fn run(place: &Place) -> Value {
    let export = place.kumite(&["run", "fake", "--json", "-"]).ended(0).json();
    assert_eq!(place.left(), [""; 0]);
    export
}

/// One member of each call of a trial.
fn of_calls(trial: &Value, key: &str) -> Vec<Value> {
    trial["sample"]["calls"].as_array().unwrap().iter().map(|call| call[key].clone()).collect()
}

/// What comes of these contenders: an outcome each, and a reason that has these words. One that is right is called beside
/// them.
#[track_caller]
fn come_to(replaced: &[(&str, &str)], cases: &[(&str, &str, &str, &str)]) {
    let did: Vec<(&str, &str)> =
        cases.iter().map(|(name, does, ..)| (*name, *does)).chain([("right", "")]).collect();
    let export = run(&place(replaced, &did));
    assert_eq!(trial(&export, "right")["outcome"], "ok", "{}", trial(&export, "right")["reason"]);
    for (name, _, outcome, reason) in cases {
        let trial = trial(&export, name);
        let why = trial["reason"].as_str().unwrap_or_default();
        println!("{name}: {}: {why}", trial["outcome"]);
        assert!(trial["outcome"] == *outcome && why.contains(reason), "{name}: {}: {why}", trial["outcome"]);
    }
}

#[test]
fn calls_are_an_axis_within_trials() {
    let claims = r#"
[[claim]]
id = "the-first-is-cold"
assert = "cold(a at call=1) = 1 and cold(a at call=3) = 0 and cold_calls(b) = 1"
[[claim]]
id = "each-call"
assert = "every $call: wall_ms(a) > 0 ms and count(a) = $call"
[[claim]]
id = "what-follows"
assert = "wall_us(a at call=2) within 1% of wall_ms(a at call=2)"
[[claim]]
id = "elsewhere"
assert = "inits(a at call=1, calls=2) = 1"
[axes]
calls = [3, 2]
"#;
    let with_claims = format!("[answer]\nat = {{ \"/event/n\" = \"$n\" }}\n{claims}");
    let place = place(
        &[("blocks = 1", "blocks = 2"), ("[answer]\nat = { \"/event/n\" = \"$n\" }\n", &with_claims)],
        &[("a", "sleep=5"), ("b", "")],
    );
    let export = run(&place);
    assert_right("run", &export);
    assert_eq!(export["run"]["within"], json!({ "axis": "call", "values": [1, 2, 3] }));
    assert_eq!(export["run"]["within_at"], json!([3, 2]));
    let trials = standing(&export);
    assert_eq!(trials.len(), 8, "2 contenders at 2 points in 2 blocks");
    for trial in trials {
        assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
        let calls = trial["point"]["calls"].as_u64().unwrap() as usize;
        let metrics = &trial["sample"]["metrics"];
        let of = |name: &str| metrics[name].as_f64().unwrap_or_else(|| panic!("no {name}: {metrics}"));
        METRICS.iter().for_each(|name| assert!(of(name).is_finite()));
        assert_eq!((of("cold_calls"), of("instances"), of("count")), (1.0, 1.0, (calls as f64 + 1.0) / 2.0));
        assert!((of("wall_us") / of("wall_ms") / 1e3 - 1.0).abs() < 1e-9, "{metrics}");
        assert_eq!(trial["ready_ms"], trial["sample"]["calls"][0]["init_ms"]);
        assert_eq!(of_calls(trial, "instance"), vec![json!(1); calls]);
        let least_ms = if trial["contender"] == "a" { 5.0 } else { 0.0 };
        for (nth, call) in trial["sample"]["calls"].as_array().unwrap().iter().enumerate() {
            let ms = |key: &str| call[key].as_f64().unwrap();
            assert_eq!(call["cold"], if nth == 0 { json!(true) } else { Value::Null });
            assert!(
                least_ms <= ms("duration_ms") && ms("init_ms") + ms("duration_ms") <= ms("wall_ms"),
                "{call}"
            );
            assert_eq!(ms("billed_2016_ms"), (ms("duration_ms") / 100.0).ceil() * 100.0);
            assert_eq!(ms("billed_2025_ms"), (ms("init_ms") + ms("duration_ms")).ceil());
            let part = &trial["sample"]["parts"][nth];
            assert_eq!((&part["at"], &part["metrics"]["count"]), (&json!(nth + 1), &json!(nth as f64 + 1.0)));
            assert_eq!(part["metrics"]["wall_ms"], call["wall_ms"]);
        }
        let phases = trial["sample"]["phases"].as_array().unwrap();
        let count = |kind: &str| phases.iter().filter(|phase| phase["kind"] == kind).count();
        assert_eq!((count("init"), count("invoke"), count("killed")), (1, calls, 1), "{phases:?}");
        assert!(phases.iter().all(|phase| phase["from_ms"].as_f64() <= phase["to_ms"].as_f64()));
        let log = place.path(".kumite").join(trial["log"].as_str().unwrap());
        assert!(log.is_dir() && std::fs::read_dir(log).unwrap().count() == 1);
    }
    let verdicts: Vec<&str> =
        export["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts[0], "holds", "{}", export["claims"][0]);
    assert_eq!(verdicts[3], "holds", "{}", export["claims"][3]);
    let parts = export["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 10, "2 contenders, 3 and 2 calls");

    let said = place.kumite(&["report", "last"]).ended(0);
    assert!(said.out.contains("wall"), "{}", said.out);
}

#[test]
fn the_same_seed_goes_to_the_same_instances() {
    let spread = ("calls = 3", "calls = 12\nmax_instances = 2\nrouting = \"spread\"");
    let place = place(&[spread, ("blocks = 1", "blocks = 2")], &[("a", ""), ("b", "")]);
    let instances = |seed: &str| {
        let export = place.kumite(&["run", "fake", "--json", "-", "--seed", seed]).ended(0).json();
        let trials = standing(&export);
        let of_block = |block: u64| -> Vec<Vec<Value>> {
            let here = trials.iter().filter(|trial| trial["block"] == block);
            here.map(|trial| of_calls(trial, "instance")).collect()
        };
        let blocks: Vec<Vec<Vec<Value>>> = [0, 1].map(of_block).into();
        for of_block in &blocks {
            assert_eq!(of_block[0], of_block[1], "all contenders of a block");
        }
        assert!(trials.iter().all(|trial| trial["sample"]["metrics"]["cold_calls"] == 2.0), "{export}");
        blocks.into_iter().map(|mut of_block| of_block.remove(0)).collect::<Vec<_>>()
    };
    let first = instances("7");
    assert_eq!(first, instances("7"));
    assert_ne!(first, instances("8"));
    assert_ne!(first[0], first[1], "each block its own");
}

#[test]
fn what_goes_wrong_fails_the_trial_and_says_which_call_it_was() {
    come_to(
        &[("calls = 3", "calls = 2\ntimeout_s = 2")],
        &[
            ("told", "error", "failed", "call 1 failed: Told: as told; its log: START"),
            ("ends", "exit=3", "failed", "call 1 failed: Runtime.ExitError: RequestId:"),
            ("hangs", "hang", "failed", "Task timed out after 2.00 seconds"),
            ("other", "other", "ok", "instance 1: "),
            ("bare", "bytes=10", "disqualified", "its answer is wrong: it has no /event/n"),
        ],
    );
}

#[test]
fn a_wrong_answer_disqualifies() {
    let other = ("at = { \"/event/n\" = \"$n\" }", "at = { \"/event/n\" = 8 }");
    let export = run_failed(&place(&[other], &[("a", "")]));
    let trial = trial(&export, "a");
    assert_eq!(
        (&trial["outcome"], &trial["reason"]),
        (&json!("disqualified"), &json!("its answer is wrong: /event/n is 7, not 8"))
    );
    assert_eq!(of_calls(trial, "instance").len(), 3, "its calls are kept");
}

#[test]
fn one_that_cannot_start_fails() {
    let place = place(&[("calls = 3", "calls = 1\ntimeout_s = 20\ninit_limit_s = 20")], &[("right", "")]);
    contender(&place, "exits", "INIT=exit=4", "");
    place.write(
        "experiments/fake/contenders/gone/contender.toml",
        "version = 'echo 1'\n[[variant]]\nname = 'gone'\nmodel = 'threads'\nrun = 'exec no-such-command'\n",
    );
    let export = run(&place);
    assert_eq!(trial(&export, "right")["outcome"], "ok");
    for name in ["exits", "gone"] {
        let trial = trial(&export, name);
        let why = trial["reason"].as_str().unwrap();
        assert!(
            trial["outcome"] == "failed" && why.contains("call 1 failed: Runtime.ExitError"),
            "{name}: {why}"
        );
    }
}

#[test]
fn a_constructor_that_is_cut_off_is_run_again_within_the_call() {
    let place = place(&[("calls = 3", "calls = 2\ninit_limit_s = 0.3\ninit = \"sleep=900\"")], &[("a", "")]);
    let export = run(&place);
    let trial = trial(&export, "a");
    assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
    assert_eq!(of_calls(trial, "inits"), [2, 0]);
    let ms = |key: &str| trial["sample"]["calls"][0][key].as_f64().unwrap();
    assert!(ms("init_ms") >= 300.0 && ms("duration_ms") >= 900.0 && ms("wall_ms") >= 1200.0, "{trial}");
    assert!(ms("billed_2016_ms") >= 900.0);
    let phases = trial["sample"]["phases"].as_array().unwrap();
    let kinds: Vec<&str> = phases.iter().map(|phase| phase["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..4], ["init", "killed", "reinit", "invoke"], "{phases:?}");
    assert!(phases[0]["ending"].as_str().unwrap().contains("cut off after 0.3 s"), "{}", phases[0]);
}

#[test]
fn calls_at_a_rate_wait_for_nobody() {
    let at_a_rate = |max: u32| format!("calls = 4\nrate_per_s = 20\nmax_instances = {max}");
    let many = place(&[("calls = 3", &at_a_rate(4))], &[("a", "sleep=2500")]);
    let export = run(&many);
    let all = trial(&export, "a");
    assert_eq!(all["outcome"], "ok", "{}", all["reason"]);
    assert_eq!(all["sample"]["metrics"]["instances"], 4.0);
    let offered: Vec<f64> = of_calls(all, "offered_ms").iter().map(|ms| ms.as_f64().unwrap()).collect();
    assert_eq!(offered, [0.0, 50.0, 100.0, 150.0]);

    let export = run_failed(&place(&[("calls = 3", &at_a_rate(1))], &[("a", "sleep=2500")]));
    let refused = trial(&export, "a");
    let why = refused["reason"].as_str().unwrap();
    printed!(without_figures(why));
    assert!(of_calls(refused, "error").iter().any(Value::is_string));
}

/// One in which no trial gave a result.
fn run_failed(place: &Place) -> Value {
    let export = place.kumite(&["run", "fake", "--json", "-"]).ended(3).json();
    assert_eq!(place.left(), [""; 0]);
    export
}

#[test]
fn a_file_is_the_event_and_services_are_told_of() {
    let service = "[services.api]\nkind = \"stub\"\n[answer]";
    let payload = ("calls = 3", "calls = 1\npayload = \"event.json\"");
    let place = place(&[payload, ("[answer]", service), ("\"$n\"", "\"seven\"")], &[]);
    place.write("experiments/fake/event.json", "{\"n\": \"seven\"}");
    // It ends at once where it was told nothing.
    contender(&place, "a", "test -n \"$API_URL\" && test $N = 7 || exit 9; DO=", "");
    let export = run(&place);
    let trial = trial(&export, "a");
    assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
    assert_eq!(trial["sample"]["metrics"]["api_requests"], 0.0);
}

#[test]
fn a_contender_may_have_its_own_memory() {
    let place = place(
        &[
            ("calls = 3", "calls = 1\nmemory_mb = 256"),
            ("\"/event/n\" = \"$n\"", "\"/event/memory_mb\" = \"$memory_mb\""),
        ],
        &[("a", "")],
    );
    contender(
        &place,
        "b",
        "test $AWS_LAMBDA_FUNCTION_MEMORY_SIZE$MEMORY_MB = 192192 || exit 9; DO=",
        "memory_mb = 192",
    );
    let export = run(&place);
    for name in ["a", "b"] {
        assert_eq!(trial(&export, name)["outcome"], "ok", "{}", trial(&export, name)["reason"]);
    }
}

/// Before the function says that it is ready, a child of it has had 90 MB, and is gone when somebody looks.
#[test]
fn memory_of_a_child_that_has_ended_counts() {
    let place = place(&[("calls = 3", "calls = 1\nmemory_mb = 512")], &[]);
    let child = "head -c 90000000 /dev/zero | tail -c 90000000 > /dev/null;";
    contender(&place, "a", &format!("{child} DO=\"\""), "");
    let export = run(&place);
    let trial = trial(&export, "a");
    assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
    let is_marked = trial["marks"].as_array().unwrap().contains(&json!("memory-uncounted"));
    let bytes = trial["sample"]["metrics"]["max_memory_bytes"].as_f64().unwrap();
    assert!(is_marked || bytes >= 90e6, "{bytes}");
    let unmet = export["run"]["unmet"].to_string();
    assert_eq!(is_marked, unmet.contains("memory is not limited"), "{unmet}");
}

#[test]
fn what_is_not_limited_is_marked() {
    let place = place(&[("cpu = \"core\"", "memory_mb = 1024"), ("calls = 3", "calls = 1")], &[("a", "")]);
    let export = run(&place);
    let marks = trial(&export, "a")["marks"].as_array().unwrap();
    let unmet = export["run"]["unmet"].as_array().cloned().unwrap_or_default();
    let limits = |what: &str| unmet.iter().all(|line| !line.as_str().unwrap().contains(what));
    let is_marked = marks.contains(&json!("not-throttled"));
    assert_eq!(
        is_marked,
        !limits("CPU shares are not limited") || !limits("memory is not limited"),
        "{unmet:?}"
    );
    let warnings = export["warnings"].as_array().unwrap();
    for line in &unmet {
        assert_eq!(warnings.iter().filter(|warning| warning["what"] == *line).count(), 1, "it is said once");
    }
}

/// Ctrl-C in a call ends it soon, and leaves no process.
#[test]
fn it_does_not_wait_for_a_call_that_takes_long() {
    let place = place(&[], &[("a", "sleep=600000")]);
    let child = place.command(&["run", "fake"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let logs = place.path(".kumite/logs");
    let called = || {
        let runs = std::fs::read_dir(&logs).into_iter().flatten().flatten();
        let of_trial = runs.map(|run| run.path().join("0000-a/a-1-1.log"));
        let texts: String = of_trial.filter_map(|log| std::fs::read_to_string(log).ok()).collect();
        texts.contains("call 1 of a")
    };
    eventually(called);
    let asked = Instant::now();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    assert!(asked.elapsed() < LONG, "{:?}", asked.elapsed());
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_run_that_ended_early_is_taken_up_again() {
    let place = place(&[("blocks = 1", "blocks = 2"), ("calls = 3", "calls = 1")], &[("a", "sleep=50")]);
    let cut = place.kumite(&["run", "fake", "--budget", "1ms", "--json", "-"]).ended(0).json();
    assert_eq!(cut["trials"].as_array().unwrap().len(), 1, "{}", cut["run"]["cut_short"]);
    let whole = place.kumite(&["resume", "--json", "-"]).ended(0).json();
    assert_eq!(standing(&whole).len(), 2);
}

#[test]
fn check_calls_every_handler_once() {
    let handlers = "[answer]\nat = { \"/event/n\" = \"$n\", \"/handler\" = \"$handler\" }\n[axes]\nhandler = [\"one\", \"two\"]\nmemory_mb = [128, 256]\n";
    let place = place(&[("[answer]\nat = { \"/event/n\" = \"$n\" }\n", handlers)], &[("a", "")]);
    // It is another function for each handler, and one of them is broken.
    contender(&place, "b", "test $_HANDLER = two && DO=error; export DO;", "");
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.words());
    let calls =
        |name: &str| std::fs::read_dir(place.path(&format!(".kumite/logs/check/{name}"))).unwrap().count();
    assert!(calls("a") >= 1 && calls("b") >= 1);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn what_cannot_be_is_said_before_anything_starts() {
    let said = place(&[], &[("a", "")]).kumite(&["run", "fake", "--dry-run"]).ended(0);
    printed!(said.report());
    let said = place(&[], &[("a", "")]).kumite(&["task", "fake", "--contender", "a"]).ended(2);
    printed!(said.notes());

    let refused = |replaced: &[(&str, &str)], more: &str, expected: &str| {
        let place = place(replaced, &[]);
        contender(&place, "a", "", more);
        let said = place.kumite(&["run", "fake", "--dry-run"]);
        assert_eq!(said.code, 2, "{expected}");
        printed!(said.notes());
    };
    refused(&[("n = 7", "n = 7\ncall = 1")], "", "call is the axis within each trial");
    refused(&[("n = 7", "n = 7\npayload = \"gone.json\"")], "", "gone.json: No such file");
    refused(
        &[("[metrics]", "[axes]\nmemory_mb = [128]\n[metrics]")],
        "memory_mb = 192",
        "contender a has a `memory_mb` of its own",
    );
    refused(
        &[],
        "memory_mb = 64",
        "contender.toml:6:1: memory_mb is a whole number from 128 to 10240, not 64",
    );
    refused(&[], "reads = 'jmh'", "contender a: only tasks have `reads`");
    refused(&[("blocks = 1", "blocks = 1\ndisk = \"1 MB\"")], "", "only tasks have `disk`");
    refused(
        &[("n = 7", "n = 7\nrouting = \"any\"")],
        "",
        "routing is \"warm-first\" or \"spread\", not \"any\"",
    );
}
