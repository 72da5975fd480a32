//! The capacity of a server under an objective, through the binary. How much a machine bears is its own; what a server that
//! sleeps cannot bear is not.

use serde_json::Value;

use crate::place::{EXPERIMENT, Place, standing};
use crate::printed::printed;

/// The rate that two connections bear at most, if each answer takes 20 ms and half of those to a load of a second take less
/// than 300 ms: by then the server is 0.3 s behind at the half of the load.
const MOST_RPS: f64 = 160.0;

fn place(workload: &str) -> Place {
    let place = Place::new("", &[("slow", "slow")]);
    let text = EXPERIMENT
        .replace("connections = 40\n", &format!("connections = 2\n{workload}\n"))
        .replace("timeout_ms = 20000", "timeout_ms = 2000");
    place.write("experiments/fake/experiment.toml", &text);
    place
}

#[test]
fn a_trial_with_an_objective_draws_a_capacity_after_its_window() {
    let place = place("objective = 'p50 < 300ms and errors < 50%'");
    let run = ["run", "fake", "--blocks", "1", "--json", "-", "--seed", "3"];
    let export: Value = place.kumite(&run).ended(0).json();
    let trial = standing(&export)[0];
    assert_eq!(trial["outcome"], "ok", "{trial}");
    let metrics = &trial["sample"]["metrics"];
    let capacity = metrics["capacity_rps"].as_f64().unwrap();
    assert!(capacity > 0.0 && capacity < MOST_RPS * 1.1, "{capacity}");
    assert_eq!(metrics["finished"], 40.0, "the window's figures are of the window alone");
}

#[test]
fn an_objective_that_cannot_be_judged_is_refused() {
    for workload in
        ["objective = 'p99 > 1s'", "objective = 'p99 < 2s'", "objective = 'p99 < 1s'\ndisturbance = 'pause'"]
    {
        printed!(place(workload).kumite(&["check", "fake"]).ended(2).notes());
    }
}
