//! A load in steps, and what follows them: an axis within each trial.

use crate::place::{EXPERIMENT, Place, standing};
use crate::printed::printed;
use crate::schema::assert_right;

/// Parameters in place of the window of the others.
const STEPS: &str = r#"rate_rps = "20@0.5s,80@0.5s"
good_ms = 20000
timeout_ms = 20000
connections = 100
"#;

const CLAIMS: &str = r#"
[[claim]]
id = "each-step"
assert = "every $rate_rps: goodput_rps(a) > 10 /s"
[[claim]]
id = "one-step"
assert = "goodput_rps(a at rate_rps=80) > 2 * goodput_rps(a at rate_rps=20)"
[[claim]]
id = "the-whole"
assert = "refusals(a) = 0 and timeouts(a) = 0"
"#;

fn place(claims: &str) -> Place {
    let place = Place::new("", &[("a", "pong")]);
    let window = "rate_rps = 200\nduration_s = 0.2\nwarm_up_s = 0\nconnections = 40\ntimeout_ms = 20000\n";
    assert!(EXPERIMENT.contains(window));
    let text = EXPERIMENT.replace(window, STEPS);
    place.write("experiments/fake/experiment.toml", &format!("{text}{claims}"));
    place
}

#[test]
fn steps_are_an_axis_within_trials() {
    let place = place(CLAIMS);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0);
    let export = said.json();
    assert_right("run", &export);
    assert_eq!(export["run"]["within"]["axis"], "rate_rps");
    let parts = standing(&export)[0]["sample"]["parts"].as_array().unwrap();
    let goodput: Vec<(&serde_json::Value, &serde_json::Value)> =
        parts.iter().map(|part| (&part["at"], &part["metrics"]["goodput_rps"])).collect();
    assert_eq!(goodput, [(&20.into(), &20.0.into()), (&80.into(), &80.0.into())]);
    let cells: Vec<&serde_json::Value> =
        export["parts"].as_array().unwrap().iter().map(|cell| &cell["point"]["rate_rps"]).collect();
    assert_eq!(cells, [20, 80]);
    let claims = export["claims"].as_array().unwrap();
    assert_eq!(claims[0]["verdict"], "undecided", "{}", claims[0]);
    assert_eq!(claims[1]["reason"]["what"], "more-blocks", "{}", claims[1]);
    assert_eq!(claims[1]["effect"]["value"], 2.0, "{}", claims[1]);
    assert_eq!(claims[2]["verdict"], "holds", "{}", claims[2]);
    let report = place.kumite(&["report", "last", "--markdown", "-"]).ended(0);
    assert!(report.out.contains("80"), "{}", report.out);
}

#[test]
fn claims_of_steps_are_judged_by_the_parts_of_trials() {
    let place = place(CLAIMS);
    let script = |first: u32| {
        format!(
            "[[trial]]\nmetrics = {{ refusals = 0, timeouts = 0 }}\n\
             parts = [{{ at = 20, metrics = {{ goodput_rps = {first} }} }}, {{ at = 80, metrics = {{ goodput_rps = 60 }} }}]\n"
        )
    };
    let verdicts = |first: u32| -> Vec<String> {
        place.write("script.toml", &script(first));
        let export = place.scripted(&["run", "fake", "--blocks", "20", "--json", "-"]).ended(0).json();
        let claims = export["claims"].as_array().unwrap();
        claims.iter().map(|claim| claim["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(verdicts(20), ["holds", "holds", "holds"]);
    assert_eq!(verdicts(9), ["fails", "holds", "holds"], "one step is enough");
    assert_eq!(verdicts(40), ["holds", "fails", "holds"]);
}

#[test]
fn what_claims_of_steps_must_say() {
    let claim = |assert: &str| format!("[[claim]]\nid = 'c'\nassert = '{assert}'\n");
    let cases = [
        "goodput_rps(a) > 1",
        "answered(a at rate_rps=20) > 1",
        "goodput_rps(a at rate_rps=30) > 1",
        "goodput(a) > 1",
    ];
    for assert in cases {
        let said = place(&claim(assert)).kumite(&["run", "fake", "--dry-run"]).ended(2);
        printed!(format!("# {assert}\n{}", said.notes()));
    }
    // A fault of the load comes before the metrics that claims then lack.
    let place = place(CLAIMS);
    let text = place
        .read("experiments/fake/experiment.toml")
        .replace("good_ms = 20000", "good_ms = 20000\ndrop_to_rps = 20\nwatch_s = 2");
    place.write("experiments/fake/experiment.toml", &text);
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(2);
    printed!(said.notes());
}
