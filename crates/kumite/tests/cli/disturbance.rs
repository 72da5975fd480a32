//! A contender is disturbed on purpose, and watched.

use serde_json::Value;

use crate::place::{EXPERIMENT, Place, standing};

/// The trial of a contender that is disturbed like this.
fn trial(more: &str) -> Value {
    let place = Place::new("", &[("a", "pong")]);
    let limits = format!("timeout_ms = 1000\nwatch_s = 1.5\n{more}");
    // Longer than there is no CPU for one of them to be answered.
    let text =
        EXPERIMENT.replace("rate_rps = 200", "rate_rps = 40").replace("duration_s = 0.2", "duration_s = 1.5");
    let text = text.replace("timeout_ms = 20000", &limits);
    place.write("experiments/fake/experiment.toml", &text);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0);
    assert_eq!(place.left(), [""; 0]);
    standing(&said.json())[0].clone()
}

#[test]
fn a_server_is_stopped_for_as_long_as_it_is_to_be() {
    let trial = trial("disturbance = 'pause'\npause_s = 0.6");
    let sample = &trial["sample"];
    let disturbance = &sample["disturbance"];
    assert_eq!((&trial["outcome"], &disturbance["kind"]), (&"ok".into(), &"pause".into()));
    let stopped = disturbance["ended_ms"].as_f64().unwrap() - disturbance["began_ms"].as_f64().unwrap();
    assert!(stopped >= 600.0, "{stopped}");
    let cpu = sample["series"]["columns"]["cpu_cores"].as_array().unwrap();
    assert!(cpu.iter().any(|cpu| !cpu.is_null()), "{sample}");
}

#[test]
#[ignore = "timing"]
fn a_server_that_was_stopped_recovers_when_it_goes_on() {
    let trial = trial("disturbance = 'pause'\npause_s = 1.2");
    let (metrics, disturbance) = (&trial["sample"]["metrics"], &trial["sample"]["disturbance"]);
    assert_eq!(metrics["failures"], 0.0, "those of the disturbance are not the window's");
    assert!(disturbance["errors"]["timeout"].as_u64().unwrap() >= 2, "{disturbance}");
    assert!(metrics["recovery_ms"].as_f64().unwrap() < 1500.0, "{metrics}");
    assert!(!trial["marks"].as_array().unwrap().contains(&"not-recovered".into()), "{trial}");
}

#[test]
fn a_burst_comes_once_and_is_counted_apart() {
    let trial = trial("disturbance = 'burst'\nburst_connections = 20");
    let disturbance = &trial["sample"]["disturbance"];
    let count = |key: &str| disturbance[key].as_u64().unwrap();
    assert_eq!(
        (count("burst_ok") + count("burst_errors"), &disturbance["kind"]),
        (20, &Value::from("burst"))
    );
    assert!(count("ok") > count("burst_ok"), "the load goes on");
}
