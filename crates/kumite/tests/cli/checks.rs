//! Checks, claims that a profile does not judge, and the source's scale, from the file to every document.

use serde_json::Value;

use crate::place::Place;
use crate::printed::printed;
use crate::schema::assert_right;

const CLAIMS: &str = r#"
[source]
title = "Fakes"
author = "Nobody"
workload.rate_rps = 9000
[profiles.quick]
min_blocks = 1
claims = ["faster"]
[[claim]]
id = "faster"
assert = "throughput_rps(fast) > throughput_rps(slow)"
[[claim]]
id = "slower"
assert = "throughput_rps(fast) < throughput_rps(slow)"
[[check]]
id = "all-are-sent"
title = "Every request was sent"
assert = "every contender: received(contender) = 40"
binds = "trials"
because = "200 a second for 0.2 s are 40."
[[check]]
id = "somebody-answers"
assert = "throughput_rps(slow) > 0 /s"
binds = "median"
because = "It was started."
"#;

const SCRIPT: &str = "
[[trial]]
takes_ms = 500
metrics = { throughput_rps = 300, received = 40 }
[[trial]]
contender = 'fast'
metrics = { throughput_rps = 1000, received = [40, 40, 39] }
";

fn place(script: &str) -> Place {
    let place = Place::new(CLAIMS, &[("slow", "slow"), ("fast", "pong")]);
    place.write("script.toml", script);
    place
}

#[test]
fn a_red_check_is_said_before_the_verdicts_is_a_doubt_of_them_and_shuts_the_gate() {
    let place = place(SCRIPT);
    let files = ["--json", "r.json", "--html", "r.html", "--markdown", "r.md", "--gate", "--verbose"];
    let said = place.scripted(&[&["run", "fake"][..], &files].concat()).ended(1);
    printed!(said.report());
    let red = "✗ check all-are-sent is red: Every request was sent\n    received(contender) = 40, contender fast: not so in";
    let (before, _) = said.out.split_once("VERDICTS").unwrap();
    assert!(before.contains("2 checks: 1 red, 1 green.\n") && before.contains(red), "{}", said.out);
    printed!(said.report());
    for document in ["r.html", "r.md"] {
        assert!(place.read(document).contains("2 checks: 1 red, 1 green."), "{document}");
    }
    let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_right("run", &export);
    let check = &export["checks"][0];
    assert_eq!((&check["outcome"], &check["binds"]), (&"red".into(), &"trials".into()), "{check}");
    assert_eq!((&check["red"][0]["effect"], &check["green"]), (&(-1.0).into(), &1.into()), "{check}");
    assert_eq!(export["claims"][0]["doubts"][0]["id"], "all-are-sent");
    // A gate is of the command that asks for one.
    let mut kept = export;
    kept.as_object_mut().unwrap().remove("gate");
    assert_eq!(place.kumite(&["export", "last"]).ended(0).json(), kept, "the store has it");
}

#[test]
fn green_checks_are_a_line_and_leave_the_gate_open() {
    let place = place(&SCRIPT.replace("[40, 40, 39]", "40"));
    let said = place.scripted(&["run", "fake", "--profile", "quick", "--gate"]).ended(0);
    printed!(said.report());
}

#[test]
fn claims_that_a_profile_does_not_judge_are_a_line_and_stay_so_when_it_is_resumed() {
    let place = place(SCRIPT);
    printed!(place.kumite(&["run", "fake", "--profile", "quick", "--dry-run"]).ended(0).report());
    place.scripted(&["run", "fake", "--profile", "quick", "--budget", "2s"]).ended(0);
    let said = place.scripted(&["resume", "--json", "r.json"]).ended(0);
    printed!(said.report());
    let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_right("run", &export);
    assert_eq!(
        (&export["run"]["not_judged"], &export["claims"][1]),
        (&Value::from(["slower"]), &Value::Null)
    );
}

#[test]
fn a_verdict_says_at_which_scale_it_is_where_the_source_had_another() {
    let place = place(SCRIPT);
    let said =
        place.scripted(&["run", "fake", "--markdown", "r.md", "--html", "r.html", "--verbose"]).ended(0);
    let scale = "at rate_rps = 200; the source had 9,000";
    assert_eq!(said.out.matches(scale).count(), 2, "one for each verdict: {}", said.out);
    assert!(place.read("r.html").contains(scale));
    assert!(place.read("r.md").contains(&scale.replace('_', "\\_")));
}
