//! Instruction counts of a comparison, in words.

use kumite_record::{
    CommandCounts, ComparedCounts, Comparison, ComparisonEnd, ComparisonGate, CountRatio, CountState,
    Counting, FunctionCounts, GateBar, GateState, PairGate, Uncounted,
};
use kumite_report::{Shown, Style, compare_html, compare_markdown, compare_review, compare_terminal, junit};

use crate::compare::{READ, STYLE, comparison};
use crate::page::texts;

/// A is the reference, and B has these counts.
fn counted(b: &[u64], state: CountState, ratio: (f64, f64)) -> Comparison {
    let mut comparison = comparison();
    let counts = |instructions: &[u64], nth: usize| CommandCounts {
        instructions: instructions.to_vec(),
        processes: 1,
        file: Some(format!("/home/me/.cache/kumite/counts/20260102T030405Z.7/{nth}/out.70{nth}")),
        uncounted: None,
    };
    comparison.commands[0].counts = Some(counts(&[2_123_096; 3], 1));
    comparison.commands[1].counts = Some(counts(b, 2));
    comparison.counts = Some(Counting {
        tool: Some("callgrind-3.19.0".to_owned()),
        margin: 0.001,
        folder: "/home/me/.cache/kumite/counts/20260102T030405Z.7".to_owned(),
    });
    let ratio = Some(CountRatio { low: ratio.0, high: ratio.1 });
    comparison.pairs[0].counts = Some(ComparedCounts { state, ratio, functions: Vec::new() });
    comparison
}

pub fn changed() -> Comparison {
    let mut comparison =
        counted(&[2_163_096, 2_163_100, 2_163_096], CountState::Changed, (0.981_506, 0.981_508));
    let function = |name: &str, a, b| FunctionCounts { name: name.to_owned(), a, b };
    comparison.pairs[0].counts.as_mut().unwrap().functions = vec![
        function("app::grind", 2_040_001, 2_000_001),
        function("app::added", 500, 0),
        function("app::gone", 0, 400),
    ];
    comparison
}

#[test]
fn changed_counts_are_told_with_their_functions_in_every_format() {
    let comparison = changed();
    insta::assert_snapshot!("counts_terminal", compare_terminal(&comparison, Shown::default(), &STYLE));
    insta::assert_snapshot!("counts_markdown", compare_markdown(&comparison, Shown::default()));
    let page = compare_html(&comparison, Shown::default());
    insta::assert_snapshot!("counts_page", texts(&page, READ).join("\n"));
}

/// The sentence on counts, which is the second.
fn sentence(comparison: &Comparison) -> String {
    let text = compare_terminal(comparison, Shown::default(), &Style { width: 1_000, ..STYLE });
    text.lines().nth(1).unwrap().to_owned()
}

#[test]
fn counts_that_are_the_same_and_counts_that_cannot_be_told_are_other_sentences() {
    let same = counted(&[2_123_100; 3], CountState::Same, (0.999_998, 0.999_998));
    let unsteady = counted(&[2_100_000, 2_163_096], CountState::CannotTell, (0.9815, 1.0110));
    let uncounted = |why| {
        let mut comparison = counted(&[], CountState::CannotTell, (1.0, 1.0));
        comparison.commands[1].counts.as_mut().unwrap().uncounted = Some(why);
        comparison.pairs[0].counts.as_mut().unwrap().ratio = None;
        comparison
    };
    let said = "vex amd64->IR: unhandled instruction bytes: 0x62 0xF1".to_owned();
    let program = "/usr/bin/su".to_owned();
    let reasons = [
        Uncounted::Failed { exit_code: 132, said },
        Uncounted::TooLong { seconds: 60.0 },
        Uncounted::Lost { processes: 1 },
        Uncounted::Lost { processes: 2 },
        Uncounted::Repeated { processes: 1 },
        Uncounted::Privileged { program },
        Uncounted::NoProcess,
        Uncounted::Error { error: "No space left on device".to_owned() },
        Uncounted::Interrupted,
    ];
    let all = [same, unsteady].into_iter().chain(reasons.map(uncounted));
    let sentences: Vec<String> = all.map(|comparison| sentence(&comparison)).collect();
    insta::assert_snapshot!("counts_sentences", sentences.join("\n"));
}

#[test]
fn a_gate_on_counts_says_what_they_are_and_that_of_times_nothing() {
    let line = |mut comparison: Comparison, state: GateState| {
        let gate = ComparisonGate {
            passes: GateBar::Fails,
            state,
            alpha: Some(0.01),
            on: None,
            by_counts: true,
            by_failures: false,
        };
        (comparison.gate, comparison.pairs[0].gate) = (Some(gate), Some(PairGate::of(state)));
        comparison.ended = ComparisonEnd::Budget;
        let review = junit(&compare_review(&comparison)).unwrap();
        let failures = review.lines().filter(|line| line.contains("<failure")).count();
        assert_eq!(failures, usize::from(state == GateState::Shut), "by counts alone");
        let text = compare_terminal(&comparison, Shown::default(), &STYLE);
        text.lines().last().unwrap().to_owned()
    };
    let none = Comparison { counts: None, ..changed() };
    let lines = [
        line(changed(), GateState::Shut),
        line(counted(&[2_000_001], CountState::Same, (1.0, 1.0)), GateState::Open),
        line(counted(&[2_000_001, 2_100_000], CountState::CannotTell, (0.95, 1.0)), GateState::Undecided),
        line(none, GateState::Undecided),
    ];
    insta::assert_snapshot!("counts_gates", lines.join("\n"));
}
