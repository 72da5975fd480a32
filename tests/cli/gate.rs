//! Verdicts as an exit status.

use std::time::Duration;

use crate::place::Place;
use crate::still::undisturbed;

/// A claim that all blocks decide, unless one of their short windows was held up.
fn two(assert: &str) -> Place {
    let claim = format!("[[claim]]\nid = 'it'\nassert = '{assert}'\n");
    Place::new(&claim, &[("slow", "slower"), ("fast", "pong")])
}
const HELD_UP: Duration = Duration::from_millis(100);

#[test]
fn a_claim_that_fails_shuts_the_gate_and_only_if_there_is_one() {
    let place = undisturbed(HELD_UP, || {
        let place = two("throughput_rps(slow) > throughput_rps(fast)");
        place.kumite(&["run", "fake"]);
        place
    });
    let Some(place) = place else { return };
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
    let place = || two("throughput_rps(fast) > throughput_rps(slow)");
    let once = undisturbed(HELD_UP, || {
        let place = place();
        let said = place.kumite(&["run", "fake", "--blocks", "1", "--gate"]);
        (place, said)
    });
    let Some((once, said)) = once else { return };
    said.ended(0);
    let said = once.kumite(&["report", "--gate", "holds"]).ended(1);
    assert!(said.err.contains("it (undecided)"), "{}", said.err);
    let all = undisturbed(HELD_UP, || place().kumite(&["run", "fake", "--gate", "holds"]));
    if let Some(said) = all {
        said.ended(0);
    }
}

#[test]
fn without_a_claim_there_is_no_gate() {
    let place = Place::new("", &[("fast", "pong")]);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--gate"]).ended(2);
    assert!(said.err.contains("--gate: fake makes no claim that could pass"), "{}", said.err);
}
