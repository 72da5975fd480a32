//! Comparisons with known figures, in words.

use kumite_record::{Alone, Outlier, SteadyClass};
use kumite_record::{
    Better, CommandMetric, ComparedDoubt, ComparedPair, ComparedProbe, ComparedUse, Comparison,
    ComparisonEnd, ComparisonGate, Doubt, GateBar, GateDoubt, GateState, ImportedRatio, JudgedMetric,
    PairGate, Probe, Ratio, Remaining, Speed, Thrift,
};
use kumite_report::{
    MetricUnit, Shown, Style, TimeUnit, Units, compare_asciidoc, compare_csv, compare_html, compare_markdown,
    compare_orgmode, compare_terminal,
};
use serde_json::json;

use crate::page::{leaf, texts};

/// All that a page says outside of its charts.
pub const READ: &str = "h1, h2, p, li, pre, desc, figcaption, tr";
pub const STYLE: Style = Style { color: false, width: 100 };

/// One pair, made as a reader of the document would write it.
pub fn comparison() -> Comparison {
    let command = |name: &str, wall: f64| {
        let estimate = |value: f64, unit: &str| json!({"estimate": value, "low": value * 0.99, "high": value * 1.01, "unit": unit, "n": 14});
        json!({
            "name": name, "command": name, "shell": null, "wall_s": estimate(wall, "s"), "user_s": estimate(0.018, "s"),
            "system_s": estimate(0.0005, "s"), "peak_rss_bytes": estimate(737_280.0, "bytes"), "peak_rss_is_floor": 0,
            "times": vec![wall; 14], "user_times": vec![0.018; 14], "system_times": vec![0.0005; 14],
            "peak_rss": vec![737_280; 14], "exit_codes": vec![0; 14], "involuntary_switches": 28
        })
    };
    let document = json!({
        "schema": 1, "command": "kumite compare a b", "kumite": "0.1.0", "started": "2026-01-02T03:04:05Z",
        "machine": {
            "kernel": "Linux 6", "os": "", "cpu": "", "cpus": 2, "smt_siblings": [], "memory_bytes": 1,
            "virtual_machine": true, "governor": null, "cores": {"contender": [0], "engine": [1]}
        },
        "seed": 7, "alpha": 0.05, "alpha_per_pair": 0.05, "margin": 0.0025, "ended": "decided",
        "commands": [command("A", 0.0187), command("B", 0.0195)],
        "pairs": [{
            "a": "B", "b": "A", "verdict": "slower", "ratio": {"estimate": 0.9588, "low": 0.9479, "high": 0.9699},
            "blocks": 14, "seconds": 9.2, "remaining": null, "cpu": null, "memory": null
        }],
        "costs": {"seconds": 9.2, "between_runs_us": 12.0, "empty_process_s": 0.0005, "empty_shell_s": null},
        "noise": null, "warnings": []
    });
    serde_json::from_value(document).unwrap()
}

fn sentence(change: impl FnOnce(&mut ComparedPair)) -> String {
    let mut comparison = comparison();
    change(&mut comparison.pairs[0]);
    let text = compare_terminal(&comparison, Shown::default(), &Style { width: 1_000, ..STYLE });
    text.lines().next().unwrap().to_owned()
}

#[test]
fn the_answer_has_four_forms() {
    assert_eq!(
        sentence(|_| {}),
        "A is 1.043× as fast as B (95 %: 1.031–1.055), decided after 14 pairs in 9.2 s"
    );
    let faster = sentence(|pair| {
        pair.verdict = Speed::Faster;
        pair.ratio = Ratio { estimate: 12.345, low: Some(11.0), high: Some(13.0) };
        (pair.blocks, pair.seconds) = (6, 123.4);
    });
    assert_eq!(faster, "B is 12.35× as fast as A (95 %: 11.00–13.00), decided after 6 pairs in 2 min");
    let same = sentence(|pair| {
        pair.verdict = Speed::NoDifference;
        pair.ratio = Ratio { estimate: 1.0, low: Some(0.9981), high: Some(1.0019) };
    });
    assert_eq!(
        same,
        "no difference: B is as fast as A within ±0.25 % (95 %: 0.998–1.002), decided after 14 pairs in 9.2 s"
    );
    let undecided = sentence(|pair| {
        pair.verdict = Speed::Undecided;
        pair.ratio.high = Some(1.01);
        pair.remaining = Some(kumite_record::Remaining { blocks: 1_200, seconds: 780.0 });
    });
    assert_eq!(
        undecided,
        "undecided after 14 pairs in 9.2 s: B is 0.959× as fast as A (95 %: 0.948–1.010); about 1,200 more pairs \
         (~13 min) would tell"
    );
    let few = sentence(|pair| {
        pair.verdict = Speed::Undecided;
        pair.ratio = Ratio { estimate: 1.0, low: None, high: None };
        pair.blocks = 1;
    });
    assert_eq!(
        few,
        "undecided after 1 pair in 9.2 s: too few pairs to tell B from A; as it looks, more pairs would not tell"
    );
}

#[test]
fn a_doubt_stands_below_the_answer_and_what_the_machine_charged_among_the_notes() {
    let mut comparison = comparison();
    let doubt = |metric, doubt| ComparedDoubt { a: "B".to_owned(), b: "A".to_owned(), metric, doubt };
    comparison.doubts = vec![
        doubt(None, Doubt::ChangedDuringRun { first: 1.0341, last: 0.981 }),
        doubt(Some(CommandMetric::TimeCpu), Doubt::WentWith { probe: Probe::WakeUp, low: 0.9, high: 1.2 }),
    ];
    let probe = |nth: usize, wake_up: f64, load: f64| ComparedProbe {
        blocks: nth,
        after_s: nth as f64,
        figures: [(Probe::WakeUp, wake_up), (Probe::Chase, load)]
            .map(|(of, it)| (of.name().to_owned(), it))
            .into(),
    };
    comparison.probes = vec![probe(6, 5.0, 90.0), probe(7, 11.0, 91.0), probe(8, 6.5, 89.0)];
    comparison.costs.probes_s = Some(0.16);
    insta::assert_snapshot!("compare_doubted", compare_terminal(&comparison, Shown::default(), &STYLE));
    insta::assert_snapshot!("compare_doubted_markdown", compare_markdown(&comparison, Shown::default()));
    let page = compare_html(&comparison, Shown::default());
    insta::assert_snapshot!("compare_doubted_page", texts(&page, READ).join("\n"));
}

/// Of one pair, in which B is slower; the last line of the report.
fn gate(state: GateState, passes: GateBar, change: impl FnOnce(&mut Comparison)) -> String {
    let mut comparison = comparison();
    comparison.gate =
        Some(ComparisonGate { passes, state, alpha: None, on: None, by_counts: false, by_failures: false });
    comparison.pairs[0].gate = Some(PairGate::of(state));
    change(&mut comparison);
    let text = compare_terminal(&comparison, Shown::default(), &STYLE);
    let line = text.lines().last().unwrap().to_owned();
    let markdown = compare_markdown(&comparison, Shown::default()).replace('\\', "");
    assert!(markdown.contains(&format!("**{line}**")), "{markdown}");
    line
}

#[test]
fn a_gate_has_one_line_however_long_which_is_the_last() {
    let (fails, holds) = (GateBar::Fails, GateBar::Holds);
    assert_eq!(
        gate(GateState::Shut, fails, |_| {}),
        "gate: shut: B is slower than A by more than 0.25 %; measured: A is 1.043× as fast (95 %: 1.031–1.055)"
    );
    let open = gate(GateState::Open, holds, |comparison| {
        comparison.pairs[0].ratio = Ratio { estimate: 1.0, low: Some(0.998), high: Some(1.02) };
    });
    assert_eq!(
        open,
        "gate: open: B is not slower than A by more than 0.25 %; measured: A is 1.000× as fast (95 %: 0.980–1.002)"
    );
    let undecided = |passes| {
        gate(GateState::Undecided, passes, |comparison| {
            comparison.ended = ComparisonEnd::Budget;
            comparison.margin = 0.04;
            let remaining = Some(kumite_record::Remaining { blocks: 40, seconds: 26.0 });
            comparison.pairs[0].gate = Some(PairGate { remaining, ..PairGate::of(GateState::Undecided) });
        })
    };
    let whether = "gate: undecided: whether B is slower than A by more than 4 % is not shown; measured: A is 1.043× as fast (95 %: \
                   1.031–1.055); about 40 more pairs (~26 s) would tell; --budget was spent; ";
    assert_eq!(undecided(fails), format!("{whether}--gate passes what is undecided"));
    assert_eq!(undecided(holds), format!("{whether}--gate=holds does not pass what is undecided"));
    let interrupted = gate(GateState::Undecided, fails, |comparison| {
        comparison.ended = ComparisonEnd::Interrupted;
        comparison.pairs[0].gate = Some(PairGate::of(GateState::Open));
    });
    assert_eq!(interrupted, "gate: undecided: it was interrupted; --gate passes what is undecided");
}

#[test]
fn of_several_only_those_that_decide_a_gate_are_named_and_only_three() {
    let line = gate(GateState::Shut, GateBar::Fails, |comparison| {
        let shut = comparison.pairs[0].clone();
        let open =
            ComparedPair { a: "C".to_owned(), gate: Some(PairGate::of(GateState::Open)), ..shut.clone() };
        comparison.pairs = vec![open, shut.clone(), shut.clone(), shut.clone(), shut];
    });
    let named =
        "B is slower than A by more than 0.25 %; measured: A is 1.043× as fast (simultaneous 95 %: 1.031–1.055); "
            .repeat(3);
    assert_eq!(line, format!("gate: shut: {named}and so of 1 more"));
}

/// By the run of the reference that is nearer to the margin, and by the end of its interval that the gate asks about.
#[test]
fn a_gate_against_two_runs_of_the_reference_says_by_how_much_at_least_and_what_cannot_be_told() {
    let ratio = Some(ratio(0.97, 0.96, 0.98));
    let line = |state, doubt, change: &dyn Fn(&mut Comparison)| {
        gate(state, GateBar::Fails, |comparison| {
            comparison.gate = comparison.gate.map(|gate| ComparisonGate { alpha: Some(0.01), ..gate });
            (comparison.alpha, comparison.margin) = (0.02, 0.01);
            comparison.pairs[0].gate = Some(PairGate { doubt, ratio, ..PairGate::of(state) });
            change(comparison);
        })
    };
    use GateDoubt::{ControlIsOff, NotClearOfControl, SlowerThanOneOnly};
    use GateState::{Open, Shut, Undecided};
    let budget = |comparison: &mut Comparison| comparison.ended = ComparisonEnd::Budget;
    let on_cpu = |comparison: &mut Comparison| {
        comparison.gate.as_mut().unwrap().on = Some(CommandMetric::TimeCpu);
    };
    let hidden = |comparison: &mut Comparison| {
        on_cpu(comparison);
        comparison.pairs[0].gate =
            Some(PairGate { ratio: Some(Ratio::default()), untold: 9, ..PairGate::of(Undecided) });
    };
    let lines = [
        line(Shut, None, &|_| {}),
        line(Shut, Some(NotClearOfControl), &budget),
        line(Open, None, &|_| {}),
        line(Undecided, None, &budget),
        line(Undecided, Some(ControlIsOff), &|_| {}),
        line(Undecided, Some(SlowerThanOneOnly), &budget),
        line(Shut, None, &on_cpu),
        line(Undecided, None, &hidden),
    ];
    insta::assert_snapshot!("compare_gates", lines.join("\n"));
}

#[test]
fn the_report_is_the_answer_and_what_it_rests_on() {
    let mut comparison = comparison();
    let ratio = Ratio { estimate: 1.0, low: Some(1.0), high: Some(1.0) };
    comparison.pairs[0].memory = Some(ComparedUse { verdict: Thrift::NoDifference, ratio, blocks: 14 });
    insta::assert_snapshot!("compare_terminal", compare_terminal(&comparison, Shown::default(), &STYLE));
    insta::assert_snapshot!("compare_markdown", compare_markdown(&comparison, Shown::default()));
    insta::assert_snapshot!("compare_csv", compare_csv(&comparison));
}

fn judged(metric: CommandMetric, verdict: Thrift, ratio: Ratio) -> JudgedMetric {
    let (better, untold) = (Better::Lower, 0);
    JudgedMetric { metric, better, verdict, ratio, untold, remaining: None, gate: None, imported: None }
}

fn ratio(estimate: f64, low: impl Into<Option<f64>>, high: impl Into<Option<f64>>) -> Ratio {
    Ratio { estimate, low: low.into(), high: high.into() }
}

/// B is slower, and uses less memory.
pub fn two_metrics() -> Comparison {
    let mut comparison = comparison();
    let walls = comparison.pairs[0].ratio;
    comparison.metrics = vec![CommandMetric::TimeWallClock, CommandMetric::MemoryPeakResident];
    comparison.alpha_per_pair = 0.025;
    comparison.commands[1].peak_rss_bytes.as_mut().unwrap().estimate = 368_640.0;
    comparison.pairs[0].metrics = vec![
        judged(CommandMetric::TimeWallClock, Thrift::More, walls),
        judged(CommandMetric::MemoryPeakResident, Thrift::Less, ratio(2.0, 1.98, 2.02)),
    ];
    comparison
}

#[test]
fn a_comparison_by_two_metrics_has_a_verdict_on_each() {
    let mut comparison = two_metrics();
    let terminal = |comparison: &Comparison, units| {
        compare_terminal(comparison, Shown { units, ..Shown::default() }, &Style { width: 80, ..STYLE })
    };
    let mut units = Units::default();
    units.set(CommandMetric::MemoryPeakResident, MetricUnit { factor: 1.0 / 1024.0, name: "KiB" });
    let text = terminal(&comparison, units);
    insta::assert_snapshot!("compare_two_metrics_terminal", text);
    insta::assert_snapshot!("compare_two_metrics_markdown", compare_markdown(&comparison, Shown::default()));
    insta::assert_snapshot!("compare_two_metrics_csv", compare_csv(&comparison));
    let page = compare_html(&comparison, Shown::default());
    insta::assert_snapshot!("compare_two_metrics_page", texts(&page, READ).join("\n"));
    // Those of `--metrics all` fit into a terminal.
    comparison.metrics = CommandMetric::ALL[..5].to_vec();
    let of = |metric| judged(metric, Thrift::Undecided, ratio(1.0, 0.99, 1.01));
    comparison.pairs[0].metrics = comparison.metrics.iter().copied().map(of).collect();
    let all = terminal(&comparison, Units::default());
    let longest = all.lines().map(|line| line.chars().count()).max();
    assert!(longest <= Some(80), "{longest:?}: {all}");
    assert_eq!(all.matches("undecided").count(), 8, "wall time is decided, and in the table, too: {all}");
}

#[test]
fn a_metric_that_was_named_has_its_answer_in_five_forms() {
    let second = |judged: JudgedMetric| {
        let mut comparison = two_metrics();
        comparison.pairs[0].metrics[1] = judged;
        let text = compare_terminal(&comparison, Shown::default(), &Style { width: 1_000, ..STYLE });
        text.lines().nth(1).unwrap().to_owned()
    };
    let cpu = |verdict, ratio| judged(CommandMetric::TimeCpu, verdict, ratio);
    assert_eq!(
        second(cpu(Thrift::Less, ratio(1.25, 1.2, 1.3))),
        "A uses 1.250× as much CPU time as B (simultaneous 95 %: 1.200–1.300), decided by the same pairs"
    );
    assert_eq!(
        second(cpu(Thrift::More, ratio(0.8, 0.5, 0.9))),
        "B uses 1.250× as much CPU time as A (simultaneous 95 %: 1.111–2.000), decided by the same pairs"
    );
    assert_eq!(
        second(cpu(Thrift::NoDifference, ratio(1.0, 1.0, 1.0))),
        "no difference: B uses as much CPU time as A within ±0.25 % (simultaneous 95 %: 1.000–1.000), decided by the same pairs"
    );
    let undecided = JudgedMetric {
        remaining: Some(Remaining { blocks: 30, seconds: 20.0 }),
        ..cpu(Thrift::Undecided, ratio(1.1, 0.9, 1.2))
    };
    assert_eq!(
        second(undecided),
        "undecided by the same pairs: A uses 1.100× as much CPU time as B (simultaneous 95 %: 0.900–1.200); about 30 more pairs \
         (~20 s) would tell"
    );
    assert_eq!(
        second(cpu(Thrift::Undecided, ratio(1.1, None, None))),
        "undecided by the same pairs: too few pairs to tell the CPU time of B from that of A; as it looks, more pairs would \
         not tell"
    );
    let untold =
        |metric| JudgedMetric { untold: 9, ..judged(metric, Thrift::Undecided, ratio(1.0, None, None)) };
    assert_eq!(
        second(untold(CommandMetric::TimeSystem)),
        "undecided by the same pairs: system time cannot be told: in 9 of 14 pairs it was read as 0, which is less than a \
         tick of the kernel"
    );
    assert_eq!(
        second(untold(CommandMetric::MemoryPeakResident)),
        "undecided by the same pairs: peak memory cannot be told: in 9 of 14 pairs it is known only to be below what kumite's helper needs"
    );
    // Of one only is known that it was below a tick.
    assert_eq!(
        second(judged(CommandMetric::TimeSystem, Thrift::Less, ratio(50.0, 48.0, None))),
        "A uses at least 48.00× as much system time as B (simultaneous 95 %), decided by the same pairs"
    );
}

#[test]
fn a_gates_line_says_which_metric_it_was() {
    let of = |state, wall, memory| {
        gate(state, GateBar::Fails, |comparison| {
            let gate = comparison.gate;
            *comparison = Comparison { gate, ended: comparison.ended, ..two_metrics() };
            let pair = &mut comparison.pairs[0];
            pair.metrics[1].ratio = ratio(0.5, 0.4, 0.625);
            for (judged, state) in pair.metrics.iter_mut().zip([wall, memory]) {
                judged.gate = Some(PairGate::of(state));
            }
        })
    };
    use GateState::{Open, Shut, Undecided};
    let memory = "B uses 2.000× as much peak memory as A (simultaneous 95 %: 1.600–2.500)";
    let wall = "A is 1.043× as fast (simultaneous 95 %: 1.031–1.055)";
    assert_eq!(
        of(Shut, Open, Shut),
        format!("gate: shut: B uses more peak memory than A by more than 0.25 %; measured: {memory}")
    );
    assert_eq!(
        of(Shut, Shut, Undecided),
        format!("gate: shut: B is slower than A by more than 0.25 %; measured: {wall}")
    );
    assert_eq!(
        of(Open, Open, Open),
        format!(
            "gate: open: B is not slower than A by more than 0.25 %; measured: {wall}; B does not use more peak memory than A by more \
             than 0.25 %; measured: {memory}"
        )
    );
    assert_eq!(
        of(Undecided, Open, Undecided),
        format!(
            "gate: undecided: whether B uses more peak memory than A by more than 0.25 % is not shown; measured: {memory}; as it \
             looks, more pairs would not tell; --gate passes what is undecided"
        )
    );
}

#[test]
fn what_a_document_says_of_a_metric_stands_beside_ours() {
    let mut comparison = two_metrics();
    let imported = |ratio, stddev| Some(ImportedRatio { file: "h.json".to_owned(), ratio, stddev });
    comparison.pairs[0].imported = imported(0.9, None);
    comparison.pairs[0].metrics[0].imported = imported(0.9, None);
    comparison.pairs[0].metrics[1].imported = imported(1.9, Some(0.1));
    let text = compare_terminal(&comparison, Shown::default(), &Style { width: 1_000, ..STYLE });
    let found: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("h.json: ")).collect();
    let how = "there, by means of runs that were made one command after the other";
    assert_eq!(
        found,
        [
            format!("B is 0.900× as fast as A {how}"),
            format!("A uses 1.900 ± 0.100× as much peak memory as B {how}")
        ]
    );
}

#[test]
fn one_command_has_its_time_and_how_its_runs_differ() {
    let mut comparison = comparison();
    comparison.pairs.clear();
    comparison.commands.truncate(1);
    comparison.commands[0].times[3] = 0.0391;
    comparison.alone = Some(Alone {
        steadiness: Some(SteadyClass::WarmUp),
        warm_up_runs: Some(2),
        outliers: vec![Outlier { run: 3, wall_s: 0.0391, involuntary_switches: 15 }],
    });
    insta::assert_snapshot!("compare_alone", compare_terminal(&comparison, Shown::default(), &STYLE));
    let page = compare_html(&comparison, Shown::default());
    insta::assert_snapshot!("compare_alone_page", texts(&page, READ).join("\n"));
}

#[test]
fn tables_are_written_in_the_forms_of_others() {
    let shown = Shown { by_time: false, time_unit: Some(TimeUnit::Millisecond), ..Shown::default() };
    insta::assert_snapshot!("compare_asciidoc", compare_asciidoc(&comparison(), shown));
    insta::assert_snapshot!("compare_orgmode", compare_orgmode(&comparison(), shown));
    let mut other = comparison();
    other.commands.swap(0, 1);
    let by_time = compare_orgmode(&other, Shown { by_time: true, ..shown });
    assert_eq!(by_time, compare_orgmode(&comparison(), shown), "the shortest comes first");
}

#[test]
fn a_page_of_one_command_has_no_ratios() {
    let mut comparison = comparison();
    comparison.pairs.clear();
    comparison.commands.truncate(1);
    assert_eq!(leaf(&compare_html(&comparison, Shown::default())), 1);
}

#[test]
fn a_page_has_a_dot_for_each_run_and_is_well_formed() {
    let mut comparison = comparison();
    comparison.commands[0].name = "<script>".to_owned();
    let page = compare_html(&comparison, Shown::default());
    assert_eq!(leaf(&page), 2, "ratios, and runs");
    assert_eq!(page.matches("<circle").count(), 28);
    assert_eq!(page.matches("class=\"steady\"").count(), 1, "a ratio of 1 is drawn");
    assert!(!page.contains("<script>"));
}

#[test]
fn a_ratio_near_one_is_not_rounded_to_one() {
    let near = sentence(|pair| pair.ratio = Ratio { estimate: 0.99, low: Some(0.98), high: Some(0.99996) });
    assert_eq!(near, "A is 1.010× as fast as B (95 %: 1.00004–1.020), decided after 14 pairs in 9.2 s");
    let same = sentence(|pair| {
        pair.verdict = Speed::Undecided;
        pair.ratio = Ratio { estimate: 1.00003, low: Some(0.99998), high: Some(1.02) };
    });
    assert_eq!(
        same,
        "undecided after 14 pairs in 9.2 s: B is 1.000× as fast as A (95 %: 0.99998–1.020); as it looks, more pairs would not tell"
    );
}

#[test]
fn long_commands_are_called_by_letters() {
    let mut comparison = comparison();
    let long = "a command line that goes on and on and on".to_owned();
    comparison.pairs[0].a = long.clone();
    comparison.commands[1].name = long;
    let terminal = compare_terminal(&comparison, Shown::default(), &STYLE);
    insta::assert_snapshot!("compare_long_terminal", terminal);
    insta::assert_snapshot!("compare_long_markdown", compare_markdown(&comparison, Shown::default()));
}

#[test]
fn names_of_others_cannot_act_on_the_reader() {
    let mut comparison = comparison();
    for name in [&mut comparison.pairs[0].b, &mut comparison.commands[0].name] {
        *name = "\u{1b}[31m|<b>\nx,\"y\"".to_owned();
    }
    let terminal = compare_terminal(&comparison, Shown::default(), &STYLE);
    assert!(!terminal.contains('\u{1b}'), "{terminal}");
    let markdown = compare_markdown(&comparison, Shown::default());
    assert!(!markdown.contains("<b>") && markdown.contains("\\|&lt;b&gt; x"), "{markdown}");
    assert!(compare_csv(&comparison).contains("\"\u{1b}[31m|<b>\nx,\"\"y\"\"\""));
}

#[test]
fn colour_says_nothing_that_words_do_not() {
    let plain = compare_terminal(&comparison(), Shown::default(), &STYLE);
    let colored = compare_terminal(&comparison(), Shown::default(), &Style { color: true, ..STYLE });
    assert_ne!(plain, colored);
    let mut stripped = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped += before;
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    assert_eq!(stripped + rest, plain);
}
