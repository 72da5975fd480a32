//! `--gate`: a run's result as an exit status.

use serde_json::Value;

use crate::place::{Place, Said};
use crate::printed::printed;
use crate::schema::assert_right;

/// A claim that all blocks decide, if `fast` does not say otherwise.
fn two_of(assert: &str, fast: &str) -> Place {
    let place = Place::new(
        &format!("[[claim]]\nid = 'it'\nassert = '{assert}'\n"),
        &[("slow", "slow"), ("fast", "pong")],
    );
    let trial =
        |name, rps| format!("[[trial]]\ncontender = '{name}'\nmetrics = {{ throughput_rps = {rps} }}\n");
    place.write("script.toml", &(trial("slow", "300") + &trial("fast", fast)));
    place
}

fn two(assert: &str) -> Place {
    two_of(assert, "1000")
}

/// The last line of a report, which is the gate's.
#[track_caller]
fn line(said: &Said) -> &str {
    let line = said.out.lines().last().unwrap_or_default();
    assert!(line.starts_with("gate: "), "{}\n{}", said.out, said.err);
    line
}

#[test]
fn a_claim_that_fails_shuts_the_gate_and_only_if_there_is_one() {
    let place = two("throughput_rps(slow) > throughput_rps(fast)");
    place.scripted(&["run", "fake", "--strict"]).ended(0);
    let said = place.kumite(&["report", "--gate"]).ended(1);
    assert_eq!((line(&said), said.err.as_str()), ("gate: shut: claim it fails", ""), "it is said once");
    printed!(said.words());
    assert!(!place.kumite(&["report"]).ended(0).out.contains("gate:"), "nobody asked");
    let said = place.kumite(&["report", "--gate", "--gate-allow", "it"]).ended(0);
    printed!(line(&said));
}

#[test]
fn every_document_has_the_gate() {
    let place = two("throughput_rps(slow) > throughput_rps(fast)");
    let files = ["--json", "r.json", "--markdown", "r.md", "--html", "r.html"];
    let said = place.scripted(&[&["run", "fake", "--gate"][..], &files].concat()).ended(1);
    assert_eq!(line(&said), "gate: shut: claim it fails");
    for verbose in [&["run", "fake", "--gate", "--verbose"][..], &["report", "--gate"]] {
        assert_eq!(line(&place.scripted(verbose).ended(1)), "gate: shut: claim it fails");
    }
    let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_right("run", &export);
    let because = serde_json::json!([{ "name": "it", "why": "claim it fails" }]);
    assert_eq!(export["gate"], serde_json::json!({ "passes": "fails", "state": "shut", "because": because }));
    for file in ["r.md", "r.html"] {
        assert!(place.read(file).contains("gate: shut: claim it fails"), "{file}");
    }
    // In place of the report there is a document: the line is said all the same.
    let said = place.scripted(&["run", "fake", "--gate", "--json", "-"]).ended(1);
    printed!(said.notes());
    assert_eq!(said.json()["gate"]["state"], "shut");
}

#[test]
fn what_is_undecided_passes_unless_all_must_hold() {
    let place = two_of("throughput_rps(fast) > throughput_rps(slow)", "[1000, 100]");
    let said = place.scripted(&["run", "fake", "--gate"]).ended(0);
    assert_eq!(line(&said), "gate: undecided: claim it is undecided; --gate passes what is undecided");
    let said = place.kumite(&["report", "--gate=holds"]).ended(1);
    assert_eq!(
        line(&said),
        "gate: undecided: claim it is undecided; --gate=holds does not pass what is undecided"
    );
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    let said = place.scripted(&["run", "fake", "--gate=holds"]).ended(0);
    assert_eq!(line(&said), "gate: open: nothing is wrong with 1 claim, 2 contenders");
}

#[test]
fn no_difference_passes_unless_all_must_hold() {
    let place = two_of("throughput_rps(fast) > throughput_rps(slow)", "300");
    let said = place.scripted(&["run", "fake", "--gate"]).ended(0);
    assert!(line(&said).starts_with("gate: open: "), "{}", said.out);
    let said = place.kumite(&["report", "--gate=holds"]).ended(1);
    assert_eq!(line(&said), "gate: shut: claim it is no difference");
}

#[test]
fn a_gate_takes_a_strict_run() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    let rule = |said: Value| said["run"]["rule"].as_str().unwrap().to_owned();
    assert_eq!(rule(place.scripted(&["run", "fake", "--gate", "--json", "-"]).ended(0).json()), "strict");
    let run = ["run", "fake", "--budget", "1ms", "--json", "-"];
    assert_eq!(rule(place.scripted(&run).ended(0).json()), "false-discovery-rate");
    let said = place.kumite(&["report", "--gate"]).ended(2);
    printed!(said.notes());
    let said = place.scripted(&["resume", "--gate"]).ended(2);
    printed!(said.notes());
}

/// A contender `pong` that is right, of which a claim holds, and another one, which no claim speaks of.
fn beside(name: &str, mode: &str, more: &str) -> Place {
    let place =
        Place::new("[[claim]]\nid = 'it'\nassert = 'throughput_rps(pong) > 1 /s'\n", &[("pong", "pong")]);
    place.contender(name, mode, more);
    place
}

/// It is shut by `other`, and open if that is allowed by its name.
#[track_caller]
fn shut_by(place: &Place, other: &str, why: &str) {
    // A busy machine may leave rounds without a result.
    let said = place.kumite(&["run", "fake", "--gate", "--blocks", "20"]).ended(1);
    let line_of_run = line(&said);
    assert!(line_of_run.starts_with("gate: shut: ") && line_of_run.contains(why), "{line_of_run}");
    let said = place.kumite(&["report", "--gate=holds"]).ended(1);
    assert!(line(&said).contains(why), "{}", line(&said));
    let said = place.kumite(&["report", "--gate", "--gate-allow", other]).ended(0);
    let (open, allowed) = line(&said).split_once("; ignored by --gate-allow: ").unwrap_or_default();
    assert!(open.starts_with("gate: open: ") && allowed.contains(why), "{}", line(&said));
}

#[test]
fn a_contender_that_does_not_start_shuts_the_gate() {
    shut_by(&beside("gone", "crash", ""), "gone", "contender gone failed in ");
}

#[test]
fn a_contender_that_cannot_be_built_shuts_the_gate() {
    shut_by(&beside("gone", "pong", "build = 'exit 4'"), "gone", "contender gone failed: ");
}

#[test]
fn a_contender_whose_tool_is_missing_shuts_the_gate() {
    let needs = "needs = ['no-such-tool >= 3']\ninstall.get = 'https://example.org/tool'";
    shut_by(&beside("gone", "pong", needs), "gone", "contender gone was skipped: needs no-such-tool >= 3");
}

#[test]
fn a_contender_that_answers_wrong_shuts_the_gate() {
    shut_by(&beside("slip", "slip", ""), "slip", "contender slip answered wrong in ");
}

#[test]
fn a_claim_that_is_not_tested_shuts_the_gate() {
    let claims = "[[claim]]\nid = 'tail'\nassert = 'response_p99_us(pong) < 60 s'\n";
    let place = Place::new(claims, &[("pong", "pong")]);
    shut_by(&place, "tail", "claim tail was not tested: pong has too few values for response_p99_us");
}

#[test]
fn a_claim_is_not_tested_for_want_of_a_contender_and_who_allows_that_allows_both() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    place.contender("slow", "slow", "needs = ['no-such-tool >= 3']");
    let said = place.scripted(&["run", "fake", "--gate"]).ended(1);
    printed!(line(&said));
    place.kumite(&["report", "--gate", "--gate-allow", "it"]).ended(1);
    place.kumite(&["report", "--gate", "--gate-allow", "slow"]).ended(0);
}

#[test]
fn who_is_left_out_on_purpose_shuts_no_gate_and_neither_does_who_is_to_answer_wrong() {
    let place = beside("other", "pong", "needs = ['no-such-tool >= 3']");
    for choice in [["--only", "pong"], ["--skip", "other"]] {
        place.kumite(&[&["run", "fake", "--gate"][..], &choice].concat()).ended(0);
    }
    let place = Place::new(
        "[[claim]]\nid = 'it-lies'\nassert = 'disqualified( slip )'\n",
        &[("pong", "pong"), ("slip", "slip")],
    );
    place.kumite(&["run", "fake", "--gate", "--blocks", "2"]).ended(0);
}

#[test]
fn a_plan_that_can_decide_nothing_is_refused_before_anything_runs() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    for which in ["--gate", "--gate=holds"] {
        let said = place.kumite(&["run", "fake", "--blocks", "4", which]).ended(2);
        printed!(said.notes());
    }
    // Two contenders at 0.2 s, five times.
    let said = place.kumite(&["run", "fake", "--budget", "1s", "--gate"]).ended(2);
    printed!(said.notes());
    let without = Place::new("", &[("fast", "pong")]);
    let said = without.kumite(&["run", "fake", "--gate"]).ended(2);
    printed!(said.notes());
    assert_eq!((place.begun(), without.begun()), (0, 0));
    place.scripted(&["run", "fake", "--blocks", "5", "--gate"]).ended(0);
}

#[test]
fn a_name_that_is_nobodys_is_an_error() {
    let place = two("throughput_rps(fast) > throughput_rps(slow)");
    let said = place.scripted(&["run", "fake", "--gate", "--gate-allow", "nobody"]).ended(2);
    printed!(said.notes());
    place.scripted(&["run", "fake", "--gate", "--gate-allow", "it", "--gate-allow", "slow"]).ended(0);
    let said = place.kumite(&["report", "--gate", "--gate-allow", "nobody"]).ended(2);
    printed!(said.notes());
    let said = place.kumite(&["report", "--gate-allow", "it"]).ended(2);
    printed!(said.notes());
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
        printed!(said.notes());
    }
    let said = place.scripted(&["resume", "--gate", "last"]).ended(2);
    printed!(said.notes());
    let said = place.kumite(&["merge", "--gate", "no-such.db"]).ended(3);
    printed!(said.notes());
}
