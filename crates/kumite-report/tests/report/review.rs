//! Comparisons and runs as machines and reviewers take them in: whole outputs, and what no name can break.

use std::collections::BTreeSet;

use comrak::{Options, markdown_to_html};
use kumite_record::{
    CommandMetric, Comparison, ComparisonEnd, ComparisonGate, ContenderStatus, Export, GateBar, GateDoubt,
    GateReason, GateState, PairGate, Ratio, Remaining, RunGate, Speed, Verdict, Warning,
};
use kumite_report::{
    Review, annotations, comment, compare_markdown, compare_review, job_summary, junit, markdown, run_review,
};
use proptest::prelude::*;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus};
use scraper::{ElementRef, Html, Node};

use crate::compare::{comparison, two_metrics};
use crate::counts::changed;
use crate::fixture;

/// A gate of 1 % on B, C and D against A: each with its state and ratio, and how many more pairs would tell.
fn gated(state: GateState, pairs: &[(GateState, [f64; 3], Option<usize>)]) -> Comparison {
    let mut comparison = comparison();
    (comparison.alpha, comparison.margin) = (0.01, 0.01);
    comparison.alpha_per_pair = 0.01 / pairs.len() as f64;
    comparison.gate = Some(ComparisonGate {
        passes: GateBar::Fails,
        state,
        alpha: None,
        on: None,
        by_counts: false,
        by_failures: false,
    });
    let first = comparison.pairs[0].clone();
    let pair =
        |(nth, (state, [estimate, low, high], more)): (usize, &(GateState, [f64; 3], Option<usize>))| {
            let remaining = more.map(|blocks| Remaining { blocks, seconds: 26.0 });
            let mut pair = first.clone();
            pair.a = ["B", "C", "D"][nth].to_owned();
            pair.verdict = Speed::Undecided;
            pair.ratio = Ratio { estimate: *estimate, low: Some(*low), high: Some(*high) };
            pair.gate = Some(PairGate { remaining, ..PairGate::of(*state) });
            pair
        };
    comparison.pairs = pairs.iter().enumerate().map(pair).collect();
    comparison
}

const SHUT: (GateState, [f64; 3], Option<usize>) = (GateState::Shut, [0.968, 0.954, 0.987], None);
const OPEN: (GateState, [f64; 3], Option<usize>) = (GateState::Open, [1.002, 0.998, 1.006], None);
const UNTOLD: (GateState, [f64; 3], Option<usize>) = (GateState::Undecided, [0.99, 0.981, 1.004], Some(40));

/// One of each, and one that is worse than the first.
fn shut() -> Comparison {
    gated(GateState::Shut, &[SHUT, UNTOLD, (GateState::Shut, [0.41, 0.4, 0.42], None)])
}

fn undecided() -> Comparison {
    let mut comparison = gated(GateState::Undecided, &[OPEN, UNTOLD]);
    comparison.ended = ComparisonEnd::Budget;
    comparison
        .warnings
        .push(Warning { place: "A".to_owned(), what: "it takes as long to start as to run".to_owned() });
    comparison
}

fn failed() -> Comparison {
    let mut comparison = gated(GateState::Undecided, &[UNTOLD]);
    comparison.ended = ComparisonEnd::Failed;
    comparison.failure = Some("`false` ended with exit status: 1 in run 4 of `B`".to_owned());
    comparison
}

/// By CPU time, against two runs of the reference: one shuts the gate and may do so for the machine, and of two it cannot
/// be told.
fn doubtful() -> Comparison {
    let mut comparison = gated(GateState::Shut, &[SHUT, UNTOLD, UNTOLD]);
    comparison.gate.as_mut().unwrap().on = Some(CommandMetric::TimeCpu);
    use GateDoubt::{ControlIsOff, NotClearOfControl, SlowerThanOneOnly};
    let ratio = Some(Ratio { estimate: 0.96, low: Some(0.94), high: Some(0.98) });
    for (pair, doubt) in comparison.pairs.iter_mut().zip([NotClearOfControl, ControlIsOff, SlowerThanOneOnly])
    {
        pair.gate = pair.gate.map(|gate| PairGate { doubt: Some(doubt), ratio, ..gate });
    }
    comparison
}

/// Everything that is made of it.
fn all_forms(review: &Review, report: &str) -> String {
    let parts = [
        ("--junit", junit(review).unwrap()),
        ("--comment", comment(review)),
        ("--github, on standard output", annotations(review)),
        ("--github, in the summary of the job", job_summary(review, report)),
    ];
    parts.iter().map(|(head, text)| format!("──── {head}\n\n{}\n\n", text.trim_end())).collect()
}

#[test]
fn a_comparison_in_every_form() {
    let short = "# (the report in Markdown)\n";
    for (name, comparison) in [
        ("review_shut", shut()),
        ("review_doubtful", doubtful()),
        ("review_open", gated(GateState::Open, &[OPEN, OPEN])),
        ("review_undecided", undecided()),
        ("review_failed", failed()),
        ("review_two_metrics_and_no_gate", two_metrics()),
    ] {
        insta::assert_snapshot!(name, all_forms(&compare_review(&comparison), short));
    }
    let whole = compare_markdown(&shut(), Default::default());
    assert!(job_summary(&compare_review(&shut()), &whole).contains(&whole));
}

/// Of servers more is better: B has 0.96 of A's throughput, and C has more.
#[test]
fn a_server_is_worse_where_it_gives_fewer_right_answers() {
    let mut comparison = comparison();
    let server = |name: &str| {
        serde_json::json!({
            "name": name, "url": "http://127.0.0.1:1/", "throughput_rps": null, "response_p50_us": null,
            "response_p99_us": null, "failures": 0, "requests": 10, "throughputs": [], "p50s": [], "p99s": [],
            "generator_bound": 0
        })
    };
    comparison.commands.clear();
    comparison.servers = ["A", "B", "C"].map(server).map(|of| serde_json::from_value(of).unwrap()).to_vec();
    let mut faster = comparison.pairs[0].clone();
    faster.a = "C".to_owned();
    faster.verdict = Speed::Faster;
    faster.ratio = Ratio { estimate: 1.5, low: Some(1.4), high: Some(1.6) };
    comparison.pairs.push(faster);
    insta::assert_snapshot!("review_servers", comment(&compare_review(&comparison)));
}

/// Without a gate more instructions are worse; a gate asks for time.
#[test]
fn instruction_counts_are_cases_of_their_own() {
    let mut comparison = changed();
    insta::assert_snapshot!("review_counts", comment(&compare_review(&comparison)));
    let failures = |comparison: &Comparison| read_back(&junit(&compare_review(comparison)).unwrap()).failures;
    assert_eq!(failures(&comparison), 2, "of time and of instructions");
    comparison.gate = shut().gate;
    comparison.pairs[0].gate = shut().pairs[0].gate;
    assert_eq!(failures(&comparison), 1, "of time");
}

/// A run with checks of each outcome and claims of each verdict, with a gate that one name is allowed to pass.
fn run() -> Export {
    let mut export = fixture::export();
    export.checks = fixture::checks();
    let because = export.claims.iter().find(|claim| claim.verdict == Verdict::Fails).unwrap();
    let reason = GateReason { name: because.id.clone(), why: format!("claim {} fails", because.id) };
    export.gate = Some(RunGate {
        passes: GateBar::Fails,
        state: GateState::Shut,
        because: vec![reason],
        allowed: Vec::new(),
    });
    export
}

#[test]
fn a_run_in_every_form() {
    let short = "# (the report in Markdown)\n";
    insta::assert_snapshot!("review_run", all_forms(&run_review(&run()), short));
    let mut cut = fixture::empty();
    cut.contenders = run().contenders;
    cut.contenders[0].status = ContenderStatus::Failed;
    cut.contenders[0].reason = Some("its build command ended with status 1".to_owned());
    insta::assert_snapshot!("review_run_failed", all_forms(&run_review(&cut), short));
}

fn outcome(case: &TestCase) -> &'static str {
    match &case.status {
        TestCaseStatus::Success { .. } => "passed",
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Failure, .. } => "failure",
        TestCaseStatus::NonSuccess { kind: NonSuccessKind::Error, .. } => "error",
        TestCaseStatus::Skipped { .. } => "skipped",
    }
}

/// Read back by a parser, the counts that are written are those of the cases, and the times add up to the whole.
fn read_back(text: &str) -> Report {
    let report = Report::deserialize_from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let [suite] = &report.test_suites[..] else { panic!("one suite: {text}") };
    let count = |what: &str| suite.test_cases.iter().filter(|case| outcome(case) == what).count();
    let counted = (suite.test_cases.len(), count("failure"), count("error"), count("skipped"));
    assert_eq!((suite.tests, suite.failures, suite.errors, suite.skipped), counted);
    assert_eq!((report.tests, report.failures, report.errors, report.skipped), counted);
    let sum: f64 = suite.test_cases.iter().map(|case| case.time.unwrap().as_secs_f64()).sum();
    let whole = suite.time.unwrap().as_secs_f64();
    // Each time is written in milliseconds.
    assert!((sum - whole).abs() <= 0.0005 * (suite.tests + 1) as f64, "{sum} of {whole}");
    report
}

#[test]
fn a_test_report_has_the_outcome_of_each_pair_and_the_time_and_date_of_the_comparison() {
    let of = |comparison: &Comparison| -> Vec<(String, &'static str)> {
        let report = read_back(&junit(&compare_review(comparison)).unwrap());
        let cases = report.test_suites[0].test_cases.iter();
        cases.map(|case| (case.name.to_string(), outcome(case))).collect()
    };
    let named = |cases: &[(&str, &'static str)]| -> Vec<(String, &'static str)> {
        cases.iter().map(|(name, outcome)| ((*name).to_owned(), *outcome)).collect()
    };
    assert_eq!(
        of(&shut()),
        named(&[
            ("B against A: wall time", "failure"),
            ("C against A: wall time", "skipped"),
            ("D against A: wall time", "failure"),
            ("came to its end", "passed"),
        ])
    );
    assert_eq!(of(&failed()), named(&[("B against A: wall time", "skipped"), ("came to its end", "error")]));
    // Without a gate the verdict counts, and here B is slower and uses less memory.
    assert_eq!(
        of(&two_metrics()),
        named(&[
            ("B against A: wall time", "failure"),
            ("B against A: peak memory", "passed"),
            ("came to its end", "passed"),
        ])
    );
    let report = read_back(&junit(&compare_review(&shut())).unwrap());
    let suite = &report.test_suites[0];
    assert_eq!(suite.timestamp.unwrap().to_rfc3339(), "2026-01-02T03:04:05+00:00");
    assert_eq!(suite.time.unwrap().as_secs_f64(), 9.2);
}

/// What the gate asks for shuts it or not by itself, and so the test report is red where the gate is shut and only there.
#[test]
fn a_test_report_is_red_where_the_gate_is_shut_and_only_there() {
    use GateState::{Open, Shut, Undecided};
    let state = |pairs: &[GateState]| GateState::of_all(pairs.iter().copied());
    for pairs in [[Open, Open], [Open, Undecided], [Undecided, Undecided], [Open, Shut], [Undecided, Shut]] {
        let with: Vec<_> = pairs.iter().map(|state| (*state, UNTOLD.1, None)).collect();
        let report = read_back(&junit(&compare_review(&gated(state(&pairs), &with))).unwrap());
        assert_eq!(report.failures + report.errors > 0, state(&pairs) == Shut, "{pairs:?}");
    }
}

#[test]
fn what_a_gate_allows_is_skipped_and_what_it_asked_for_in_vain_is_an_error() {
    let outcomes = |export: &Export| -> Vec<(String, &'static str)> {
        let report = read_back(&junit(&run_review(export)).unwrap());
        let cases = report.test_suites[0].test_cases.iter();
        cases.map(|case| (case.name.to_string(), outcome(case))).collect()
    };
    let of = |export: &Export, id: &str| -> &'static str {
        let name = format!("claim {id}");
        outcomes(export).iter().find(|(of, _)| *of == name).unwrap().1
    };
    let mut export = run();
    export.claims[1].verdict = Verdict::NoDifference;
    let id = |verdict| export.claims.iter().find(|claim| claim.verdict == verdict).unwrap().id.clone();
    let [fails, untested, same] = [Verdict::Fails, Verdict::NotTested, Verdict::NoDifference].map(id);
    assert_eq!([&fails, &untested, &same].map(|id| of(&export, id)), ["failure", "skipped", "passed"]);
    let gate = export.gate.as_mut().unwrap();
    gate.allowed = std::mem::take(&mut gate.because);
    gate.passes = GateBar::Holds;
    assert_eq!([&fails, &same].map(|id| of(&export, id)), ["skipped", "failure"]);
    let untested_claim = export.claims.iter().find(|claim| claim.id == untested).unwrap();
    let why = kumite_report::gate_reason(&export.run, &kumite_record::Amiss::Claim(untested_claim));
    export.gate.as_mut().unwrap().because = vec![why];
    assert_eq!(of(&export, &untested), "error");
}

/// A comparison with so many pairs that are worse, that cannot be told and that are right.
fn many(of: usize) -> Comparison {
    let mut comparison = shut();
    let (shut, untold) = (comparison.pairs[0].clone(), comparison.pairs[1].clone());
    let mut right = shut.clone();
    right.gate = Some(PairGate::of(GateState::Open));
    for (nth, kind) in [shut, untold, right].iter().cycle().take(3 * of).enumerate() {
        let mut pair = kind.clone();
        pair.a = format!("number {nth}");
        pair.ratio.high = pair.ratio.high.map(|high| high - nth as f64 * 1e-4);
        comparison.pairs.push(pair);
        comparison.warnings.push(Warning { place: format!("{nth}"), what: "a doubt".to_owned() });
    }
    comparison
}

#[test]
fn of_many_the_worst_come_first_and_the_others_are_counted() {
    let review = compare_review(&many(20));
    let said = comment(&review);
    assert!(said.lines().count() <= 25, "{said}");
    insta::assert_snapshot!("review_of_many", said);
    for kind in ["::error ", "::warning ", "::notice "] {
        let lines = annotations(&review);
        let count = lines.lines().filter(|line| line.starts_with(kind)).count();
        assert_eq!(count, if kind == "::notice " { 1 } else { 10 }, "{lines}");
    }
}

#[test]
fn a_report_that_is_too_long_for_a_summary_is_left_out() {
    let review = compare_review(&shut());
    let (short, long) = (job_summary(&review, "short"), job_summary(&review, &"x".repeat(1 << 20)));
    assert!(short.contains("<summary>") && !long.contains("<summary>") && long.len() < 10_000);
}

/// As GitHub renders a comment: line ends are breaks, and bare addresses links. Raw HTML stays, so that it would be seen.
fn rendered(text: &str) -> Html {
    let mut options = Options::default();
    options.extension.autolink = true;
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.math_dollars = true;
    options.extension.alerts = true;
    options.render.hardbreaks = true;
    options.render.r#unsafe = true;
    Html::parse_fragment(&markdown_to_html(text, &options))
}

/// Asserts that nothing but our own elements is in it, and outside of code nothing that GitHub makes something of.
fn assert_inert(text: &str) {
    const OURS: [&str; 8] = ["html", "body", "h3", "p", "ul", "li", "code", "br"];
    let html = rendered(text);
    for node in html.tree.nodes() {
        match node.value() {
            Node::Element(element) => {
                assert!(OURS.contains(&element.name()), "<{}> in {text}", element.name());
                assert_eq!(element.attrs().count(), 0, "{text}");
            }
            Node::Comment(comment) => assert_eq!(&**comment, " kumite compare ", "{text}"),
            Node::Text(said) => {
                let is_code =
                    node.ancestors().any(|of| of.value().as_element().is_some_and(|of| of.name() == "code"));
                if !is_code {
                    assert_no_reference(said, text);
                }
            }
            _ => {}
        }
    }
}

/// Asserts that no filter that reads rendered text finds a mention, a reference to an issue or an address.
fn assert_no_reference(said: &str, all: &str) {
    let letters: Vec<char> = said.chars().collect();
    for pair in letters.windows(2) {
        assert!(!(pair[0] == '@' && pair[1].is_alphanumeric()), "a mention in {all}");
        assert!(!(pair[0] == '#' && pair[1].is_ascii_digit()), "a reference in {all}");
    }
    let lower = said.to_ascii_lowercase();
    for begin in ["://", "www."] {
        assert!(!lower.contains(begin), "{begin} in {all}");
    }
    let of_issue = |at: usize| lower[at + 3..].starts_with(|c: char| c.is_ascii_digit());
    assert!(!lower.match_indices("gh-").any(|(at, _)| of_issue(at)), "a reference in {all}");
}

/// The texts of code spans.
fn spans(text: &str) -> BTreeSet<String> {
    let html = rendered(text);
    let all = html.tree.nodes().filter_map(ElementRef::wrap);
    all.filter(|element| element.value().name() == "code").map(|code| code.text().collect()).collect()
}

/// Names as somebody gives them who wants them to act.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = [
        "@octocat",
        "#1",
        "gh-26",
        "GH-1",
        "a/b#3",
        "http://x.y",
        "https://evil.example/",
        "www.x.org",
        "m@x.org",
        "![i](http://x/y.png)",
        "[l](javascript:1)",
        "<img src=x onerror=alert(1)>",
        "<!-- kumite compare -->",
        "-->",
        "<details>",
        "</code>",
        "`",
        "``",
        "```",
        "\n",
        "\n\n",
        "\r\n",
        "\n# head",
        "\n- [x] done",
        "\n| a | b |\n|--|--|\n",
        "|",
        "\\",
        "\\`",
        "\\|",
        "*b*",
        "**",
        "_i_",
        "~~s~~",
        "$x$",
        "&lt;",
        "&#64;octocat",
        "&",
        "<",
        ">",
        "\n> q",
        "[^1]",
        "\n[^1]: note",
        "\t",
        "    code",
        " ",
        "::error::x",
        "\n::error title=x::y",
        "%0A",
        "%",
        ":",
        ",",
        "]]>",
        "<![CDATA[",
        "\u{1b}[31m",
        "\u{0}",
        "\u{7}",
        "\u{85}",
        "\u{202e}",
        "\u{feff}",
        "\u{200b}",
        "a",
        "é",
        "機",
        "--json",
        "x y",
        "\n:::warning",
        "\n> [!WARNING]\n> x",
        "mailto:a@b.c",
        "xmpp:a@b.c",
        "ftp://x",
    ];
    let piece =
        prop_oneof![3 => proptest::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"];
    proptest::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// The comparison with other names and texts everywhere.
fn named(reference: &str, other: &str, text: &str) -> Comparison {
    let mut comparison = shut();
    comparison.pairs.iter_mut().for_each(|pair| pair.b = reference.to_owned());
    comparison.pairs[0].a = other.to_owned();
    comparison.commands[0].name = reference.to_owned();
    comparison.commands[1].name = other.to_owned();
    comparison.command = text.to_owned();
    comparison.kumite = text.to_owned();
    comparison.warnings.push(Warning { place: text.to_owned(), what: text.to_owned() });
    (comparison.ended, comparison.failure) = (ComparisonEnd::Failed, Some(text.to_owned()));
    comparison
}

/// True if it has characters that every report replaces.
fn is_changed(name: &str) -> bool {
    let acts = |c: char| c.is_control() && !"\n\t".contains(c) || ('\u{202a}'..='\u{202e}').contains(&c);
    name.replace("\r\n", "\n").contains(acts)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_name_acts_in_a_comment(reference in hostile(), other in hostile(), text in hostile()) {
        let review = compare_review(&named(&reference, &other, &text));
        let said = comment(&review);
        prop_assert!(said.lines().count() <= 25 && said.len() < 65_536);
        prop_assert!(said.starts_with("<!-- kumite compare -->\n"));
        assert_inert(&said);
        // What is not too long is there as it was given, but for white space and control characters.
        let spans = spans(&said);
        for name in [&reference, &other] {
            let words: Vec<&str> = name.split_whitespace().collect();
            let name = words.join(" ");
            if !name.is_empty() && !is_changed(&reference) && !is_changed(&other) && name.chars().count() <= 60 && reference.chars().count().max(other.chars().count()) <= 60 {
                prop_assert!(spans.contains(&name), "{name:?} is none of {spans:?} in {said}");
            }
        }
    }

    #[test]
    fn no_title_of_a_claim_acts_in_a_comment(title in hostile(), id in hostile()) {
        let mut export = run();
        for claim in &mut export.claims {
            (claim.title, claim.id) = (Some(title.clone()), id.clone());
        }
        let said = comment(&run_review(&export));
        prop_assert!(said.lines().count() <= 25 && said.len() < 65_536);
        assert_inert(&said.replacen("<!-- kumite run chatbot -->", "<!-- kumite compare -->", 1));
    }

    /// A line that a runner would take for a command of its own is none: each line is one of ours.
    #[test]
    fn no_name_is_a_command_of_a_runner(reference in hostile(), other in hostile(), text in hostile()) {
        let comparison = named(&reference, &other, &text);
        let review = compare_review(&comparison);
        let lines = annotations(&review);
        prop_assert_eq!(lines.lines().count(), lines.matches('\n').count());
        // Two are worse, the whole of it failed; there are a doubt and one that cannot be told.
        let kinds: Vec<&str> = lines.lines().map(|line| line.split(' ').next().unwrap()).collect();
        prop_assert_eq!(kinds, ["::error", "::error", "::error", "::warning", "::warning", "::notice"]);
        for line in lines.lines() {
            let (head, _) = line[2..].split_once("::").unwrap();
            let (_, title) = head.split_once(" title=").unwrap();
            prop_assert!(!title.contains([',', ':', '\r', '\n']), "{line}");
        }
    }

    #[test]
    fn every_name_is_read_back_from_a_test_report(reference in hostile(), other in hostile(), text in hostile()) {
        let xml = junit(&compare_review(&named(&reference, &other, &text))).unwrap();
        let read = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
        prop_assert_eq!(read.root_element().tag_name().name(), "testsuites");
        let report = read_back(&xml);
        prop_assert_eq!((report.tests, report.failures, report.errors, report.skipped), (4, 2, 1, 1));
        let clean = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ");
        if !is_changed(&reference) && !is_changed(&other) {
            let name = format!("{} against {}: wall time", clean(&other), clean(&reference));
            prop_assert_eq!(report.test_suites[0].test_cases[0].name.to_string(), name);
        }
    }
}

#[test]
fn the_whole_report_is_below_the_summary_of_a_run() {
    let export = run();
    let whole = markdown(&export);
    assert!(job_summary(&run_review(&export), &whole).ends_with(&format!("\n\n{whole}\n</details>\n\n")));
}
