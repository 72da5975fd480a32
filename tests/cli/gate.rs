//! Verdicts as an exit status.

use crate::place::Place;

fn claim(assert: &str) -> String {
    format!("[[claim]]\nid = 'it'\nassert = '{assert}'\n")
}

#[test]
fn a_claim_that_fails_shuts_the_gate_and_only_if_there_is_one() {
    let place = Place::new(
        &claim("throughput_rps(slow) > throughput_rps(fast)"),
        &[("slow", "slow"), ("fast", "pong")],
    );
    place.kumite(&["run", "fake"]).ended(0);
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
    let place = Place::new(
        &claim("throughput_rps(fast) > throughput_rps(slow)"),
        &[("slow", "slow"), ("fast", "pong")],
    );
    place.kumite(&["run", "fake", "--blocks", "1", "--gate"]).ended(0);
    let said = place.kumite(&["report", "--gate", "holds"]).ended(1);
    assert!(said.err.contains("it (undecided)"), "{}", said.err);
    place.kumite(&["run", "fake", "--gate", "holds"]).ended(0);
}

#[test]
fn without_a_claim_there_is_no_gate() {
    let place = Place::new("", &[("fast", "pong")]);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--gate"]).ended(2);
    assert!(said.err.contains("--gate: fake makes no claim that could pass"), "{}", said.err);
}
