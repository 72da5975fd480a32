//! The report of blocks that were void.

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

#[test]
fn a_void_block_is_counted_by_its_cause_and_shown_among_the_trials() {
    let (calm, export) = (fixture::export(), with_void(true));
    let said = "1 block was void (1 × kumite-stopped) and measured again, so that 1 trial counts for nothing";
    assert!(!terminal(&calm, &PLAIN).contains("void"));
    for text in [terminal(&export, &PLAIN), markdown(&export), html(&export)] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(said), "{text}");
        assert!(!words.contains("it gave no answer to the stopped kumite"), "it failed for nothing: {text}");
    }
    assert!(html(&export).contains("<td>void: kumite was stopped for 1.2 s</td>"));
}

#[test]
fn a_block_without_a_result_is_said_to_have_none() {
    let text = terminal(&with_void(false), &PLAIN);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(", and 1 of them has no result"), "{text}");
}

#[test]
fn a_load_that_was_stopped_says_so_before_its_figures() {
    let mut load = fixture::load();
    load.void = stopped();
    assert!(
        load_terminal(&load, &PLAIN).starts_with("void: kumite was stopped for 1.2 s, so measure again\n")
    );
}
