//! Warm-ups whose end evidence decides, through the binary. How soon a server settles depends on the machine: here none can,
//! for the limit comes before there is enough to tell.

use serde_json::Value;

use crate::kit_test::fake_worker;
use crate::place::{EXPERIMENT, Place, standing};
use crate::printed::printed;

fn run(place: &Place) -> Value {
    place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0).json()
}

#[test]
fn a_server_without_evidence_until_the_limit_is_measured_then_and_marked() {
    let place = Place::new("", &[("pong", "pong")]);
    let limit = |limit_s: &str| {
        let text =
            EXPERIMENT.replace("warm_up_s = 0\n", &format!("warm_up_s = 0.1\nwarm_up_limit_s = {limit_s}\n"));
        place.write("experiments/fake/experiment.toml", &text);
    };
    limit("0.3");
    let export = run(&place);
    let trial = standing(&export)[0];
    assert_eq!(trial["sample"]["series"]["start_ms"], -300, "{trial}");
    assert_eq!((&trial["sample"]["metrics"]["received"], &trial["outcome"]), (&40.0.into(), &"ok".into()));
    assert!(trial["marks"].as_array().unwrap().contains(&"unsteady".into()), "{}", trial["marks"]);
    limit("0.1");
    let fixed = run(&place);
    let trial = standing(&fixed)[0];
    assert_eq!(trial["sample"]["series"]["start_ms"], -100, "{trial}");
    assert!(!trial["marks"].as_array().unwrap().contains(&"unsteady".into()), "{}", trial["marks"]);
    limit("0.05");
    let said = place.kumite(&["check", "fake"]).ended(2);
    printed!(said.notes());
}

/// One experiment with a worker whose jobs take 20 ms or more: fewer of them, on any machine, than a judgement of how steady
/// they are needs. So only what ended the warm-up decides about the mark.
fn of_tasks(workload: &str) -> Value {
    let place = Place::new("", &[]);
    let text = format!(
        "question = 'Who adds up faster?'\nkind = 'task'\nblocks = 1\n[workload]\nn = 100\nms = 20\niterations = 2\n{workload}\n\
         [metrics]\nadded_bytes = {{ value = 'worker', about = 'Eight bytes for each number.' }}\n\
         [answer]\nat = {{ '/sum' = 5050 }}\n"
    );
    place.write("experiments/fake/experiment.toml", &text);
    let command = format!("exec {} right {}", fake_worker().display(), place.mark());
    let text =
        format!("version = 'echo fake'\n[[variant]]\nname = 'right'\nmodel = 'threads'\nrun = '{command}'\n");
    place.write("experiments/fake/contenders/right/contender.toml", &text);
    run(&place)
}

/// The times of its jobs before those that count, and its marks.
fn warm_up(export: &Value) -> (Vec<f64>, &Vec<Value>) {
    let trial = standing(export)[0];
    assert_eq!(trial["outcome"], "ok", "{trial}");
    let (warm_up, measured): (Vec<&Value>, Vec<&Value>) =
        trial["sample"]["jobs"].as_array().unwrap().iter().partition(|job| job["warm_up"] == true);
    assert_eq!(measured.len(), 2);
    let times = warm_up.iter().map(|job| job["elapsed_ms"].as_f64().unwrap());
    (times.collect(), trial["marks"].as_array().unwrap())
}

#[test]
fn a_worker_is_given_jobs_until_the_time_has_passed_and_all_iterations_are_done() {
    let by_count = of_tasks("warm_up_s = 0.001\nwarm_up_iterations = 3");
    assert_eq!(warm_up(&by_count).0.len(), 3);
    let by_time = of_tasks("warm_up_s = 0.1\nwarm_up_iterations = 1");
    let (times_ms, marks) = warm_up(&by_time);
    let before_last: f64 = times_ms[..times_ms.len() - 1].iter().sum();
    assert!((1..=5).contains(&times_ms.len()) && before_last < 100.0, "{times_ms:?}");
    assert!(!marks.contains(&"unsteady".into()), "{marks:?}");
}

#[test]
fn a_worker_without_evidence_until_the_limit_is_measured_then_and_marked() {
    let export = of_tasks("warm_up_limit_s = 0.05\nconcurrency = 2");
    let (times_ms, marks) = warm_up(&export);
    assert!((2..=6).contains(&times_ms.len()), "{times_ms:?}");
    assert!(marks.contains(&"unsteady".into()), "{marks:?}");
}
