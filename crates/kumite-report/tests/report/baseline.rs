//! A baseline in a comparison: what it is and took on its day, in words.

use kumite_record::{
    CommandCounts, ComparedBaseline, Comparison, CountsSince, Estimate, KeptProgram, Machine, Unit,
};
use kumite_report::{Shown, compare_html, compare_markdown, compare_terminal};

use crate::compare::{READ, STYLE, comparison};
use crate::page::texts;

/// A is a baseline whose program was kept on this machine.
fn compared() -> Comparison {
    let mut comparison = comparison();
    let wall = Estimate {
        estimate: 0.0123,
        low: Some(0.0121),
        high: Some(0.0127),
        unit: Unit::Seconds,
        n: 50,
        lower_bounds: 0,
    };
    (comparison.commands[0].program_bytes, comparison.commands[1].program_bytes) =
        (Some(16_032), Some(16_352));
    comparison.commands[0].baseline = Some(ComparedBaseline {
        name: "main".to_owned(),
        saved: "2026-01-02T03:04:05Z".parse().unwrap(),
        machine: comparison.machine.clone(),
        wall_s: Some(wall),
        counts: None,
        program: Some(KeptProgram {
            word: "./tool".to_owned(),
            bytes: 16_032,
            digest: "ab".repeat(32),
            arch: "x86_64".to_owned(),
        }),
    });
    comparison
}

fn note(change: impl FnOnce(&mut ComparedBaseline)) -> String {
    let mut comparison = compared();
    change(comparison.commands[0].baseline.as_mut().unwrap());
    let text = compare_markdown(&comparison, Shown::default());
    text.lines().find(|line| line.contains("saved 2026")).unwrap().to_owned()
}

#[test]
fn a_baseline_is_told_in_every_format() {
    let comparison = compared();
    insta::assert_snapshot!("baseline_terminal", compare_terminal(&comparison, Shown::default(), &STYLE));
    insta::assert_snapshot!("baseline_markdown", compare_markdown(&comparison, Shown::default()));
    let page = compare_html(&comparison, Shown::default());
    insta::assert_snapshot!("baseline_page", texts(&page, READ).join("\n"));
}

#[test]
fn another_machine_a_revision_and_counts_are_other_notes() {
    let here = compared().machine;
    let elsewhere = Machine { cpu: "AMD EPYC".to_owned(), cpus: 96, memory_bytes: 1 << 38, ..here.clone() };
    let notes = [
        note(|baseline| baseline.machine = elsewhere),
        note(|baseline| baseline.machine = Machine { kernel: "Linux 4.4".to_owned(), ..here }),
        note(|baseline| (baseline.program, baseline.wall_s) = (None, None)),
        note(|baseline| {
            let counts =
                |instructions| CommandCounts { instructions, processes: 1, file: None, uncounted: None };
            baseline.counts = Some(counts(vec![2_000_001, 2_000_004, 2_000_001]));
        }),
    ];
    insta::assert_snapshot!("baseline_notes", notes.join("\n"));
}

/// It has neither a program nor a revision, so that its counts of then stand beside those of now.
#[test]
fn a_baseline_that_cannot_be_measured_again_is_compared_by_its_counts_alone() {
    let mut comparison = crate::counts::changed();
    let baseline = compared().commands[0].baseline.clone().unwrap();
    let counts = comparison.commands[0].counts.clone();
    let finding = comparison.pairs[0].counts.clone().unwrap();
    let commands = [(comparison.commands[1].name.clone(), finding)].into();
    comparison.since =
        Some(CountsSince { baseline: ComparedBaseline { counts, program: None, ..baseline }, commands });
    comparison.pairs.clear();
    comparison.commands.remove(0);
    insta::assert_snapshot!("baseline_counts", compare_terminal(&comparison, Shown::default(), &STYLE));
}
