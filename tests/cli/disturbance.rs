//! A contender is disturbed on purpose, and watched.

use std::time::Duration;

use serde_json::Value;

use crate::place::{EXPERIMENT, Place, Said};
use crate::still::undisturbed;

/// The trials of a contender, where nothing else disturbed them.
fn trials(more: &str) -> Vec<Value> {
    let said = undisturbed(Duration::from_millis(100), || run(more));
    said.map_or(Vec::new(), |said| said.ended(0).json()["trials"].as_array().unwrap().clone())
}

fn run(more: &str) -> Said {
    let place = Place::new("", &[("a", "pong")]);
    let text = EXPERIMENT
        .replace("connections = 2", &format!("connections = 2\ntimeout_ms = 200\nwatch_s = 1.5\n{more}"));
    place.write("experiments/fake/experiment.toml", &text);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]);
    assert_eq!(place.left(), [""; 0]);
    said
}

#[test]
fn a_server_that_was_stopped_recovers_when_it_goes_on() {
    for trial in trials("disturbance = 'pause'\npause_s = 0.6") {
        let sample = &trial["sample"];
        let (metrics, disturbance) = (&sample["metrics"], &sample["disturbance"]);
        assert_eq!(trial["outcome"], "ok");
        assert_eq!(metrics["failures"], 0.0, "those of the disturbance are not the window's");
        assert!(disturbance["errors"]["timeout"].as_u64().unwrap() >= 2, "{disturbance}");
        let stopped = disturbance["ended_ms"].as_f64().unwrap() - disturbance["began_ms"].as_f64().unwrap();
        assert!(stopped >= 600.0, "{stopped}");
        assert!(metrics["recovery_ms"].as_f64().unwrap() < 900.0, "{metrics}");
        assert!(!trial["marks"].as_array().unwrap().contains(&"not-recovered".into()), "{trial}");
        assert!(
            sample["series"]["columns"]["cpu_cores"].as_array().unwrap().iter().any(|cpu| !cpu.is_null())
        );
    }
}

#[test]
fn a_burst_comes_once_and_is_counted_apart() {
    for trial in trials("disturbance = 'burst'\nburst_connections = 20") {
        let disturbance = &trial["sample"]["disturbance"];
        let count = |key: &str| disturbance[key].as_u64().unwrap();
        assert_eq!(
            (count("burst_ok") + count("burst_errors"), &disturbance["kind"]),
            (20, &Value::from("burst"))
        );
        assert!(count("ok") > count("burst_ok"), "the load goes on");
    }
}
