//! Verdicts as an exit status.

use serde_json::Value;

use crate::place::Place;

/// A claim that all blocks decide.
fn two(assert: &str) -> Place {
    let place = Place::new(
        &format!("[[claim]]\nid = 'it'\nassert = '{assert}'\n"),
        &[("slow", "slow"), ("fast", "pong")],
    );
    let trial =
        |name, rps| format!("[[trial]]\ncontender = '{name}'\nmetrics = {{ throughput_rps = {rps} }}\n");
    place.write("script.toml", &(trial("slow", 300) + &trial("fast", 1000)));
    place
}

#[test]
fn a_claim_that_fails_shuts_the_gate_and_only_if_there_is_one() {
    let place = two("throughput_rps(slow) > throughput_rps(fast)");
    place.scripted(&["run", "fake", "--strict"]).ended(0);
    let said = place.kumite(&["report", "--gate"]).ended(1);
    assert!(
        said.err.contains("error: the gate is shut: 1 of 1 claims do not pass: it (fails)"),
        "{}",
        said.err
    );
    assert!(said.out.contains("fails"), "the report is there all the same");
}

#[test]
fn what_is_undecided_passes_unless_all_must_hold() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    place.scripted(&["run", "fake", "--blocks", "1", "--gate"]).ended(0);
    let said = place.kumite(&["report", "--gate=holds"]).ended(1);
    assert!(said.err.contains("it (undecided)"), "{}", said.err);
    place.scripted(&["run", "fake", "--gate=holds"]).ended(0);
}

#[test]
fn a_gate_takes_a_strict_run() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    let rule = |said: Value| said["run"]["rule"].as_str().unwrap().to_owned();
    assert_eq!(rule(place.scripted(&["run", "fake", "--gate", "--json", "-"]).ended(0).json()), "strict");
    let run = ["run", "fake", "--budget", "1ms", "--json", "-"];
    assert_eq!(rule(place.scripted(&run).ended(0).json()), "false-discovery-rate");
    let said = place.kumite(&["report", "--gate"]).ended(2);
    assert!(said.err.contains("a gate takes `kumite run --gate` or `--strict`"), "{}", said.err);
    let said = place.scripted(&["resume", "--gate"]).ended(2);
    assert!(said.err.contains("was begun without --strict or --gate"), "{}", said.err);
}

#[test]
fn without_a_claim_there_is_no_gate() {
    let place = Place::new("", &[("fast", "pong")]);
    place.write("script.toml", "");
    let said = place.scripted(&["run", "fake", "--blocks", "1", "--gate"]).ended(2);
    assert!(
        said.err.contains("--gate: fake judges no claim in its profile standard, and has no check"),
        "{}",
        said.err
    );
}

/// It is given as `--gate` or `--gate=holds`, and so never takes what comes after it for its own.
#[test]
fn a_gate_takes_no_word_that_comes_after_it() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    place.scripted(&["run", "--gate", "fake"]).ended(0);
    place.kumite(&["report", "--gate", "last"]).ended(0);
    place.kumite(&["report", "--gate=holds", "last"]).ended(0);
    for command in ["run", "report", "resume", "merge", "compare"] {
        let said = place.kumite(&[command, "--gate=open", "last", "last"]).ended(2);
        assert!(said.err.contains("invalid value 'open' for '--gate"), "{}", said.err);
    }
    let said = place.scripted(&["resume", "--gate", "last"]).ended(2);
    assert!(said.err.contains("is complete"), "{}", said.err);
    let said = place.kumite(&["merge", "--gate", "no-such.db"]).ended(3);
    assert!(said.err.contains("no-such.db"), "{}", said.err);
}
