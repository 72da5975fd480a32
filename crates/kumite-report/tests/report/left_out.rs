//! Runs that are left out of a comparison, in all its forms.

use kumite_record::{
    ComparedFailures, Comparison, ComparisonGate, Control, FailedRuns, FailureVerdict, GateBar, GateState,
    LeftOut, LeftOutReason, OneFailed, PairGate,
};
use kumite_report::{Shown, Style, compare_html, compare_markdown, compare_review, compare_terminal, junit};

use crate::compare::{READ, STYLE, comparison};
use crate::page::{leaf, texts};

/// B failed in 9 of 23 runs, A in one of its second ones; with this verdict.
fn failing(verdict: FailureVerdict) -> Comparison {
    use LeftOutReason::{Failed, Killed, TimedOut};
    let mut comparison = comparison();
    comparison.control = Some(Control::of("A"));
    let left_out = |block, why| LeftOut { block, is_second: false, why };
    let killed = (1..=6).map(|block| left_out(block, Killed { signal: 9 }));
    let others = [
        left_out(8, TimedOut { seconds: 1.5 }),
        left_out(9, Failed { exit_code: 3 }),
        left_out(10, Failed { exit_code: 4 }),
    ];
    comparison.commands[1].left_out = killed.chain(others).collect();
    comparison.commands[0].left_out =
        vec![LeftOut { block: 3, is_second: true, why: Failed { exit_code: 3 } }];
    comparison.pairs[0].failures = Some(ComparedFailures {
        verdict,
        alpha: 0.025,
        a: FailedRuns { failed: 9, runs: 23 },
        b: FailedRuns { failed: 1, runs: 46 },
        against: vec![OneFailed { only_a: 9, only_b: 0 }, OneFailed { only_a: 8, only_b: 0 }],
    });
    comparison
}

fn sentence(verdict: FailureVerdict) -> String {
    let mut comparison = failing(verdict);
    let failures = comparison.pairs[0].failures.as_mut().unwrap();
    if verdict == FailureVerdict::Less {
        (failures.a, failures.b) = (failures.b, failures.a);
        failures.against = vec![OneFailed { only_a: 0, only_b: 9 }];
    }
    let text = compare_terminal(&comparison, Shown::default(), &Style { width: 1_000, ..STYLE });
    text.lines().find(|line| line.starts_with("failures: ")).unwrap().to_owned()
}

#[test]
fn who_fails_more_often_is_said_with_the_figures_of_both() {
    use FailureVerdict::{Less, More, Undecided};
    insta::assert_snapshot!("left_out_sentences", [More, Less, Undecided].map(sentence).join("\n"));
}

#[test]
fn what_is_left_out_is_in_every_form() {
    let mut comparison = failing(FailureVerdict::More);
    let gate = ComparisonGate {
        passes: GateBar::Fails,
        state: GateState::Shut,
        alpha: Some(0.01),
        on: None,
        by_counts: false,
        by_failures: true,
    };
    comparison.gate = Some(gate);
    comparison.pairs[0].gate = Some(PairGate::of(GateState::Open));
    insta::assert_snapshot!("left_out_terminal", compare_terminal(&comparison, Shown::default(), &STYLE));
    insta::assert_snapshot!("left_out_markdown", compare_markdown(&comparison, Shown::default()));
    let page = compare_html(&comparison, Shown::default());
    leaf(&page);
    insta::assert_snapshot!("left_out_page", texts(&page, READ).join("\n"));
    insta::assert_snapshot!("left_out_junit", junit(&compare_review(&comparison)).unwrap());
}
