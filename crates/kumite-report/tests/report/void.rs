//! The report of blocks that were void.

use std::collections::BTreeSet;

use kumite_record::{Export, Outcome, Trial, Void, VoidCause};
use kumite_report::{Style, html, load_terminal, markdown, terminal};

use crate::fixture;

const PLAIN: Style = Style { color: false, width: 100 };

fn stopped() -> Option<Void> {
    Some(Void { what: VoidCause::KumiteStopped, process: None, node: None, lasted_ms: 1234.0 })
}

/// With an attempt before the first trial's block, of one trial that is void; it failed.
fn with_void(again: bool) -> Export {
    let mut export = fixture::export();
    let first = export.trials[0].clone();
    for trial in
        export.trials.iter_mut().filter(|trial| (&trial.point, trial.block) == (&first.point, first.block))
    {
        trial.attempt = 1;
    }
    if !again {
        export.trials.retain(|trial| trial.attempt == 0);
    }
    let void = stopped();
    let reason = Some("it gave no answer to the stopped kumite".to_owned());
    export.trials.push(Trial { seq: 1000, attempt: 0, void, outcome: Outcome::Failed, reason, ..first });
    export
}

/// The lines that the second has and the first has not.
fn added(before: &str, after: &str) -> String {
    let before: BTreeSet<&str> = before.lines().collect();
    let lines = after.lines().filter(|line| !before.contains(line));
    lines.fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn a_void_block_is_counted_by_its_cause_and_shown_among_the_trials() {
    let (calm, export) = (fixture::export(), with_void(true));
    insta::assert_snapshot!(added(&terminal(&calm, &PLAIN), &terminal(&export, &PLAIN)));
    insta::assert_snapshot!(added(&markdown(&calm), &markdown(&export)));
    insta::assert_snapshot!(added(&html(&calm), &html(&export)));
}

#[test]
fn a_block_without_a_result_is_said_to_have_none() {
    insta::assert_snapshot!(added(
        &terminal(&fixture::export(), &PLAIN),
        &terminal(&with_void(false), &PLAIN)
    ));
}

#[test]
fn a_load_that_was_stopped_says_so_before_its_figures() {
    let mut load = fixture::load();
    load.void = stopped();
    let text = load_terminal(&load, &PLAIN);
    assert_eq!(text.lines().next(), Some("void: kumite was stopped for 1.2 s, so measure again"));
}
