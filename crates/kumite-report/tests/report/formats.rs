//! One record, every format, compared with what was reviewed by reading.

use std::collections::BTreeSet;

use kumite_record::{
    AxisValue, CellName, ContenderStatus, Doubt, Estimate, Export, JobEvent, Mark, Reason, SelfCheck, Series,
    Side, Trial, Unit, Verdict,
};
use kumite_report::{
    Style, csv, forest_svg, html, load_html, load_terminal, markdown, selfcheck_terminal, summary, terminal,
};

use crate::fixture;
use crate::page::{accessible, heard, leaf, parsed, sparse, texts};

const NONE: [&str; 0] = [];
const PLAIN: Style = Style { color: false, width: 100 };

#[test]
fn terminal_report() {
    insta::assert_snapshot!(terminal(&fixture::export(), &PLAIN));
}

#[test]
fn a_summary_is_one_screen() {
    let narrow = Style { color: false, width: 80 };
    for export in [fixture::export(), fixture::sparse(), fixture::overload(), fixture::sweep()] {
        let said = summary(&export, &narrow);
        assert!(said.lines().count() <= 40, "{said}");
        assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    }
    insta::assert_snapshot!(summary(&fixture::export(), &narrow));
}

#[test]
fn a_summary_of_many_claims_has_a_line_for_each() {
    let mut export = fixture::export();
    let claim = export.claims[0].clone();
    export.claims = vec![claim; 13];
    let said = summary(&export, &Style { color: false, width: 80 });
    assert!(said.lines().count() <= 40, "{said}");
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("✗ ")).count(), 13, "{said}");
}

#[test]
fn what_was_not_tested_says_why_and_no_comparison() {
    let mut export = fixture::export();
    let claim = export.claims.iter_mut().find(|claim| claim.verdict == Verdict::NotTested).unwrap();
    let why = format!("its build command ended with status 1 (log: {})", "/of/a/path".repeat(9));
    let (contender, status) = ("python-asyncio".into(), ContenderStatus::Failed);
    claim.reason = Some(Reason::Absent { contender, status, why });
    let said = summary(&export, &Style { color: false, width: 80 });
    insta::assert_snapshot!(said);
}

#[test]
fn what_is_undecided_says_how_much_more_would_tell() {
    let mut export = fixture::export();
    let claim = export.claims.iter_mut().find(|claim| claim.verdict == Verdict::Undecided).unwrap();
    claim.reason = Some(Reason::MoreBlocks { blocks: Some(19), alone: None });
    let claim = claim.clone();
    export.claims = vec![claim];
    for width in [60, 80, 132] {
        let said = summary(&export, &Style { color: false, width });
        let verdict = said.lines().skip_while(|line| !line.starts_with("? ")).skip(1);
        let verdict: Vec<&str> = verdict.take_while(|line| !line.is_empty()).map(str::trim).collect();
        assert_eq!(
            verdict.join(" "),
            "undecided: node-botkit / elixir-hedwig = 1.01 × (0.941 to 1.08 ×; 0.95 to 1.05 claimed), 1.00 against 0.990 cores at connections=100; about 19 more blocks would tell"
        );
        assert!(said.lines().all(|line| line.chars().count() <= width), "{said}");
    }
}

#[test]
fn a_verdict_about_calls_rests_on_the_marks_of_their_trials() {
    let mut export = fixture::function();
    let mark = Mark::OtherProcesses;
    let (contender, mut point) = (export.cells[0].contender.clone(), export.cells[0].point.clone());
    let of_cell = |trial: &&mut Trial| (&trial.contender, &trial.point) == (&contender, &point);
    export.trials.iter_mut().filter(of_cell).for_each(|trial| trial.marks = vec![mark]);
    export.cells[0].marked = export.cells[0].trials;
    let within = export.run.within.clone().unwrap();
    point.0.insert(within.axis, within.values[2].clone());
    let mut claim = fixture::export().claims[0].clone();
    claim.doubts = vec![Doubt::Marked { cell: CellName { contender, point }, mark }];
    export.claims = vec![claim];
    insta::assert_snapshot!(summary(&export, &PLAIN));
}

#[test]
fn terminal_report_fits_its_width() {
    for export in [fixture::export(), fixture::sparse()] {
        for width in [40, 60, 80, 132] {
            let text = terminal(&export, &Style { color: false, width });
            let wide: Vec<&str> = text
                .lines()
                .filter(|line| line.chars().count() > width && !line.starts_with("again: "))
                .collect();
            assert!(wide.is_empty(), "at {width}: {wide:#?}");
        }
    }
}

#[test]
fn colours_are_an_addition() {
    let plain = terminal(&fixture::export(), &PLAIN);
    let coloured = terminal(&fixture::export(), &Style { color: true, ..PLAIN });
    assert!(!plain.contains('\x1b'));
    assert!(coloured.contains("\x1b[1m\x1b[32m✓\x1b[0m"), "{coloured:?}");
    let mut stripped = String::new();
    for (index, part) in coloured.split('\x1b').enumerate() {
        stripped += if index == 0 { part } else { part.split_once('m').unwrap().1 };
    }
    assert_eq!(stripped, plain);
}

#[test]
fn markdown_report() {
    insta::assert_snapshot!(markdown(&fixture::export()));
}

#[test]
fn csv_report() {
    insta::assert_snapshot!(csv(&fixture::export()));
}

#[test]
fn empty_run() {
    let empty = fixture::empty();
    insta::assert_snapshot!("empty_terminal", terminal(&empty, &PLAIN));
    insta::assert_snapshot!("empty_markdown", markdown(&empty));
    assert_eq!(csv(&empty).lines().count(), 1);
}

#[test]
fn a_run_without_an_end_says_so() {
    let mut export = fixture::export();
    export.run.cut_short = None;
    export.run.finished = None;
    assert_eq!(
        texts(&html(&export), ".cut-short"),
        ["⚠ Cut short: the record has no end: it is still running or was killed"]
    );
}

#[test]
fn other_kinds_get_all_their_metrics() {
    let mut export = fixture::export();
    fixture::of_kind(&mut export, &fixture::task());
    export.cells.truncate(4);
    for (cell, elapsed_ms) in export.cells.iter_mut().zip([3_512.0, 120.4, 88.0, 1_200.0]) {
        let of = |estimate: f64, unit| Estimate {
            estimate,
            low: Some(estimate * 0.9),
            high: Some(estimate * 1.1),
            unit,
            n: 5,
            lower_bounds: 0,
        };
        cell.point.0 = [("students".to_owned(), AxisValue::Int(30))].into();
        cell.metrics = [
            ("wakeups".to_owned(), of(12.0, Unit::Number)),
            ("elapsed_ms".to_owned(), of(elapsed_ms, Unit::Milliseconds)),
            ("gc_pause_us".to_owned(), of(950.0, Unit::Microseconds)),
        ]
        .into();
    }
    export.run.points.clear();
    let text = terminal(&export, &PLAIN);
    let table: Vec<&str> =
        text.lines().skip_while(|line| !line.starts_with("students = 30")).take(6).collect();
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn a_record_without_descriptors_has_all_its_metrics_and_a_page() {
    let mut export = fixture::export();
    export.run.metrics.clear();
    let text = terminal(&export, &PLAIN);
    let head = text.lines().find(|line| line.starts_with("contender") && line.contains("model")).unwrap();
    assert_eq!(
        head,
        "contender             model                      CPU cores  engine CPU cores  failures  finished",
        "by name"
    );
    accessible(&html(&export));
}

#[test]
fn a_kind_that_nobody_knows_has_its_tables() {
    let mut export = fixture::export();
    export.run.kind = "unheard-of".into();
    let text = markdown(&export);
    assert!(text.contains("| rust-axum | native-async | 78,900 (76,500–81,800) |"), "{text}");
    let page = html(&export);
    accessible(&page);
    assert_eq!(texts(&page, "#percentiles"), NONE, "a chapter of kind http");
}

#[test]
fn what_is_drawn_is_found_by_its_role_whatever_its_name() {
    let mut export = fixture::export();
    let old = "response_p50_us";
    let metric = export.run.metrics.iter_mut().find(|metric| metric.name == old).unwrap();
    metric.name = "latency_median_us".to_owned();
    for cell in &mut export.cells {
        let renamed = cell.metrics.remove(old).map(|estimate| ("latency_median_us".to_owned(), estimate));
        cell.metrics.extend(renamed);
    }
    let text = markdown(&export);
    let table = text.split("## Response times by percentile").nth(1).unwrap();
    let head = table.lines().find(|line| line.starts_with("| "));
    assert_eq!(
        head,
        Some("| contender | latency median | response p90 | response p99 | response p99.9 | response max |")
    );
}

#[test]
fn a_sparse_run_in_every_format() {
    let export = fixture::sparse();
    insta::assert_snapshot!("sparse_terminal", terminal(&export, &PLAIN));
    insta::assert_snapshot!("sparse_markdown", markdown(&export));
    let page = sparse();
    shown("sparse.html", page);
    accessible(page);
    assert!(page.len() < 3_000_000, "{} bytes for {} trials", page.len(), export.trials.len());
    assert!(page.contains("&gt; 5.00 s") || page.contains("> 5.00 s"));
}

#[test]
fn an_overload_in_every_format() {
    let export = fixture::overload();
    insta::assert_snapshot!("overload_terminal", terminal(&export, &PLAIN));
    insta::assert_snapshot!("overload_markdown", markdown(&export));
    let page = html(&export);
    shown("overload.html", &page);
    let (charts, _) = accessible(&page);
    // At each of two points: recovery in rows, goodput and median over the rate, and three trials over time.
    assert_eq!(charts, 2 * (1 + 2 + 3));
    assert!(page.len() < 500_000, "{} bytes", page.len());
    insta::assert_snapshot!("overload_page_by_step", heard(&page, "by-step"));
    // Each load that was due has a picture of its own, so trials over time have only theirs.
    insta::assert_snapshot!("overload_page_time", heard(&page, "time"));
}

#[test]
fn a_task_run_in_every_format() {
    let export = fixture::task();
    insta::assert_snapshot!("task_terminal", terminal(&export, &PLAIN));
    insta::assert_snapshot!("task_markdown", markdown(&export));
    let page = html(&export);
    shown("task.html", &page);
    // Rows of elapsed, events and jobs of each contender; the disqualified one has no jobs that count.
    assert_eq!(accessible(&page).0, 1 + 5 + 4);
    assert_eq!(page.matches(">disqualified</text>").count(), 1);
    assert_eq!(texts(&page, "td.lost"), ["disqualified", "6 disqualified", "disqualified"]);
}

#[test]
fn events_are_told_by_thread() {
    let page = html(&fixture::task());
    insta::assert_snapshot!(heard(&page, "threads"));
    let document = parsed(&page);
    let chart = |contender: &str| {
        let mut charts = document.descendants().filter(|node| node.tag_name().name() == "figure");
        charts.find(|node| figure_of(node, contender)).unwrap()
    };
    let texts_in = |chart: roxmltree::Node, tag: &str| -> Vec<String> {
        let nodes = chart.descendants().filter(|node| node.tag_name().name() == tag);
        nodes.filter_map(|node| node.text()).map(str::to_owned).collect()
    };
    // Each of 276 events has its mark, and each mark says what it is.
    let titles = texts_in(chart("reactor-single"), "title");
    assert_eq!(titles.len(), 1 + 276);
    assert!(titles.iter().any(|title| title == "101.207 ms, single-1: next student 0"));

    let many = chart("java-virtual-threads");
    let lanes =
        many.descendants().filter(|node| node.attribute("class").is_some_and(|c| c.starts_with("lane")));
    assert_eq!(lanes.count(), 16);
    assert!(texts_in(many, "text").iter().any(|text| text == "and 186 more threads"));
}

/// True if its caption begins with that contender's name.
fn figure_of(figure: &roxmltree::Node, contender: &str) -> bool {
    let caption = figure.children().find(|node| node.tag_name().name() == "figcaption");
    caption.and_then(|node| node.text()).is_some_and(|text| text.trim().split(',').next() == Some(contender))
}

#[test]
fn events_of_one_length_have_one_axis() {
    let page = html(&fixture::task());
    // The end of the 3.52 s job; the 1.91 s of the wrong answer have room on it, and decide nothing.
    let captions = texts(&page, "section[aria-labelledby=threads] figcaption");
    assert_eq!(
        captions,
        [
            "reactor-single, block 5: 3.52 s",
            "reactor-parallel, block 6: 6.69 s, on a time axis of its own",
            "reactor-blocking, block 1: 18.1 s, on a time axis of its own",
            "java-virtual-threads, block 5: 3.52 s",
            "reactor-subscribe, block 3: 1.91 s disqualified"
        ]
    );
    let ends = texts(&page, "text").into_iter().filter(|text| text == "end of the others’ axis");
    assert_eq!(ends.count(), 2);
}

#[test]
fn hostile_events_are_only_words() {
    let mut export = fixture::task();
    let text = "<script>alert(1)</script>\u{202e}\x1b";
    for event in export.trials.iter_mut().flat_map(|trial| &mut trial.sample.events) {
        *event = JobEvent(u64::MAX - event.0, text.to_owned(), text.to_owned(), text.to_owned());
    }
    for trial in export.trials.iter_mut().filter(|trial| trial.contender == "reactor-single") {
        trial.sample.events = vec![JobEvent(0, String::new(), "next".into(), String::new())];
    }
    let page = html(&export);
    accessible(&page);
    assert_eq!(
        texts(&page, "[id=\"events-0-0-desc\"]"),
        [
            "The events of a job of reactor-single, the last after 0 ns, on 1 thread: 1 next. Of 1 next event 1 on a thread without a name."
        ]
    );
    assert!(!page.contains("<script") && !page.contains(['\x1b', '\u{202e}']));
}

#[test]
fn very_many_events_stay_a_small_picture_and_none_is_left_out() {
    let mut export = fixture::task();
    let trial = export.trials.iter_mut().find(|trial| trial.contender == "reactor-single").unwrap();
    let event = |n: u64| JobEvent(n * 31_000, format!("t-{}", n % 7), "next".into(), format!("{n}"));
    trial.sample.events = (0..100_000).map(event).collect();
    let name = trial.contender.clone();
    export.trials.retain(|trial| trial.contender != name || trial.block == 0);
    let page = html(&export);
    insta::assert_snapshot!(heard(&page, "threads"));
    let document = parsed(&page);
    let mut figures = document.descendants().filter(|node| node.tag_name().name() == "figure");
    let chart = figures.find(|node| figure_of(node, &name)).unwrap();
    assert!(chart.range().len() < 100_000, "{} bytes", chart.range().len());
}

#[test]
fn a_page_of_very_many_events_stays_small() {
    let mut export = fixture::sweep();
    for trial in export.trials.iter_mut().filter(|trial| trial.block == 0) {
        let event = |n: u64| JobEvent(n * 31_000, format!("t-{}", n % 7), "next".into(), format!("a {n}"));
        trial.sample.events = (0..400).map(event).collect();
    }
    let page = html(&export);
    let captions = texts(&page, "section[aria-labelledby=threads] figcaption");
    let captions: BTreeSet<&str> =
        captions.iter().filter_map(|text| Some(text.split_once(": ")?.1)).collect();
    assert_eq!(
        captions,
        [
            "12.4 ms (400 events are drawn as 315 marks)",
            "12.4 ms disqualified (400 events are drawn as 315 marks)",
            "12.4 ms failed (400 events are drawn as 315 marks)"
        ]
        .into()
    );
    assert!(page.len() < 3_000_000, "{} bytes for {} trials", page.len(), export.trials.len());
}

#[test]
fn ids_of_many_sorts_are_no_families() {
    let export = fixture::task();
    let key = |export: &Export| {
        let page = html(export);
        [">next (student)<", ">next (score)<", ">next<"].map(|label| page.matches(label).count())
    };
    // The lanes' column has the same word in its head.
    assert_eq!(key(&export), [5, 5, 5]);
    let mut many = export;
    for (nth, event) in many.trials.iter_mut().flat_map(|trial| &mut trial.sample.events).enumerate() {
        event.3 = ["a", "b", "c", "d"][nth % 4].to_owned();
    }
    assert_eq!(key(&many), [0, 0, 2 * 5]);
}

#[test]
fn a_sweep_of_many_contenders_is_readable() {
    let export = fixture::sweep();
    let page = html(&export);
    shown("sweep.html", &page);
    accessible(&page);
    assert!(page.contains(">1,024</text>"), "a value of the axis is not rounded");
    let line = |name: &str| {
        let measurements = page.split("id=\"measurements\"").nth(1).unwrap();
        let chart = measurements.split("<svg").nth(1).unwrap();
        let start = chart.find(&format!("<title>{name}, students = 10: ")).unwrap();
        let line = &chart[..start];
        line[line.rfind("class=\"line\"").unwrap()..].split('"').nth(3).unwrap().to_owned()
    };
    let parts = |name| (line(name).matches('M').count(), line(name).matches('L').count());
    assert_eq!(parts("contender-00-by-name"), (1, 9));
    assert_eq!(parts("contender-01-by-name"), (2, 7), "it failed in the middle");
    assert_eq!(parts("contender-02-by-name"), (1, 7), "it failed at the end");
    assert!(page.contains("contender-01-by-name, students = 1024: failed."));
    // Reasons that differ from trial to trial do not crowd out the others'.
    insta::assert_snapshot!(heard(&page, "failures"));
}

#[test]
fn a_csv_has_a_row_for_what_could_not_be_given() {
    let mut export = fixture::sparse();
    export.cells.truncate(1);
    export.cells[0].metrics.clear();
    export.cells[0].needs = [("response_p99_9_us".to_owned(), 1_204)].into();
    let text = csv(&export);
    let row: Vec<&str> = text.lines().nth(1).unwrap().split(",response_p99_9_us,").collect();
    assert_eq!((text.lines().count(), row[1]), (2, "us,,,,,,6,0,0,0,1204"));
}

/// Where someone who changes the page can look at it.
fn shown(name: &str, page: &str) {
    std::fs::write(std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name), page).unwrap();
}

#[test]
fn a_long_run_stays_small() {
    let mut export = fixture::sparse();
    for trial in &mut export.trials {
        for values in trial.sample.series.columns.values_mut() {
            *values = values.repeat(3);
        }
    }
    let page = html(&export);
    assert!(page.len() < 3_000_000, "{} bytes for {} trials", page.len(), export.trials.len());
    insta::assert_snapshot!(texts(&page, "section[aria-labelledby=time] p")[0]);
}

#[test]
fn the_sources_runs_disagree_only_where_they_do() {
    let mut export = fixture::sparse();
    let published = export.run.published.as_mut().unwrap();
    published.rows.retain(|row| row.series != "run 2, 30 s");
    let columns = |page: &str| texts(page, "section[aria-labelledby=published] th[scope=col]");
    assert!(columns(sparse()).contains(&"remark".to_owned()));
    assert!(!columns(&html(&export)).contains(&"remark".to_owned()));
}

#[test]
fn one_trial_that_had_not_recovered_opens_the_interval_only() {
    let recovery = |marked: usize| {
        let mut export = fixture::sparse();
        let of_cell = |trial: &&mut Trial| {
            trial.contender == "go-net-http"
                && trial.sample.disturbance.as_ref().is_some_and(|d| d.kind == "pause")
        };
        let mut trials: Vec<&mut Trial> = export.trials.iter_mut().filter(of_cell).collect();
        trials.sort_by(|a, b| a.sample.metrics["recovery_ms"].total_cmp(&b.sample.metrics["recovery_ms"]));
        for trial in trials.into_iter().rev().take(marked) {
            trial.sample.lower_bounds.insert("recovery_ms".to_owned());
        }
        let text = terminal(&export, &PLAIN);
        let row = text.lines().skip_while(|line| !line.starts_with("connections = 50, disturbance = pause"));
        row.into_iter().find(|line| line.starts_with("go-net-http")).unwrap().to_owned()
    };
    assert_eq!(
        [recovery(0), recovery(1), recovery(3)],
        [
            "go-net-http           goroutines       46.7 ms (45.6–53.1)      18.7 ms    1,362,882  timeout 600",
            "go-net-http           goroutines       46.7 ms (45.6 or more)      18.7 ms    1,362,882",
            "go-net-http           goroutines       > 46.7 ms (45.6 or more)      18.7 ms    1,362,882"
        ]
    );
}

#[test]
fn who_was_measured_under_disturbances_only_was_measured() {
    let mut export = fixture::sparse();
    export.trials.retain(|trial| trial.sample.disturbance.is_some());
    let disturbed: Vec<_> = export.trials.iter().map(|trial| trial.point.clone()).collect();
    export.run.points.retain(|point| disturbed.contains(point));
    export.cells.retain(|cell| disturbed.contains(&cell.point));
    let said = |export: &Export| texts(&html(export), "section[aria-labelledby=measurements] p");
    assert_eq!(
        said(&export),
        ["Every trial had a disturbance: what was measured is below, with the failures."]
    );
    export.trials.clear();
    export.run.points.clear();
    export.cells.clear();
    assert_eq!(said(&export), ["Nothing was measured."]);
}

#[test]
fn the_page_has_every_trial() {
    let (export, page) = (fixture::sparse(), sparse());
    let start = "<script type=\"application/json\" id=\"trials\">";
    let data = page.split_once(start).unwrap().1.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    let trials = data["trials"].as_array().unwrap();
    assert_eq!(trials.len(), export.trials.len());
    let length = |trial: &serde_json::Value| trial["ok"].as_array().unwrap().len();
    assert_eq!((length(&trials[0]), trials[0]["start_ms"].as_i64()), (30, Some(-1_000)));
}

#[test]
fn charts_never_mix_the_values_of_another_axis() {
    let mut export = fixture::export();
    let shared = export.cells.clone().into_iter().map(|mut cell| {
        cell.point.0.insert("server_cores".to_owned(), AxisValue::Text("all".to_owned()));
        cell
    });
    let shared: Vec<_> = shared.collect();
    for cell in &mut export.cells {
        cell.point.0.insert("server_cores".to_owned(), AxisValue::Int(1));
    }
    export.cells.extend(shared);
    export.run.points.clear();
    let page = html(&export);
    let document = parsed(&page);
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "h3")
        .filter_map(|node| node.text())
        .filter(|title| title.starts_with("server_cores"))
        .collect();
    assert_eq!(titles, ["server_cores = 1", "server_cores = all"]);
    let lines = document.descendants().filter(|node| node.attribute("class") == Some("line")).count();
    assert_eq!(lines, 2 * 5 * 5);
}

#[test]
fn the_picture_has_a_row_for_each_claim_whatever_is_known_of_it() {
    let mut export = fixture::export();
    let classes = |svg: &str| -> Vec<String> {
        let parsed = parsed(svg);
        let classes = parsed.descendants().filter_map(|node| node.attribute("class"));
        classes.filter_map(|class| class.strip_prefix("row ")).map(str::to_owned).collect()
    };
    let verdicts: Vec<&str> = export.claims.iter().map(|claim| claim.verdict.as_str()).collect();
    assert_eq!(classes(&forest_svg(&export)), verdicts);
    for claim in &mut export.claims {
        claim.effect = None;
    }
    assert_eq!(classes(&forest_svg(&export)), verdicts);
}

#[test]
fn hostile_words_are_only_words() {
    let name = "<script>alert(\"1\")</script>|`b`\n*c* & 'd' ]]> \x1b[31m\u{202e}";
    let hostile = hostile(name);

    let page = html(&hostile);
    let document = parsed(&page);
    assert!(!page.contains("<script"));
    assert!(document.descendants().all(|node| !node.tag_name().name().eq_ignore_ascii_case("script")));
    assert!(
        document
            .descendants()
            .any(|node| node.text().is_some_and(|text| text.contains("<script>alert(\"1\")")))
    );

    let text = markdown(&hostile);
    let outside_code = text.split("```").step_by(2).collect::<String>();
    assert!(outside_code.contains("&lt;script&gt;alert(\"1\")&lt;/script&gt;\\|\\`b\\`"), "{outside_code}");
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
    let columns = |line: &str| line.replace("\\|", "").matches('|').count();
    assert!(table.iter().all(|line| columns(line) == columns(table[0])), "{table:#?}");

    let text = csv(&hostile);
    assert!(text.contains("\"<script>alert(\"\"1\"\")</script>|`b`\n*c*"), "{text}");

    let picture = forest_svg(&hostile);
    assert!(parsed(&picture).descendants().all(|node| node.tag_name().name() != "script"));

    for text in [page, picture, markdown(&hostile), terminal(&hostile, &PLAIN)] {
        assert!(!text.contains(['\x1b', '\u{202e}']), "{text:?}");
    }
}

/// The same text wherever a person could have written one, at a single point.
fn hostile(text: &str) -> Export {
    let mut export = fixture::export();
    let old = export.cells[0].contender.clone();
    let point = export.cells[0].point.clone();
    export.cells.retain(|cell| cell.point == point);
    export.run.points.truncate(1);
    for cell in export.cells.iter_mut().filter(|cell| cell.contender == old) {
        cell.contender = text.to_owned();
        let estimate = cell.metrics["cpu_cores"].clone();
        cell.metrics.insert(text.to_owned(), estimate);
    }
    for cell in &mut export.cells {
        cell.point.0.insert(text.to_owned(), AxisValue::Text(text.to_owned()));
    }
    for contender in &mut export.contenders {
        contender.model = text.to_owned();
        contender.version = Some(text.to_owned());
        contender.reason = Some(text.to_owned());
    }
    for claim in &mut export.claims {
        claim.id = text.to_owned();
        claim.assert = text.to_owned();
        claim.title = Some(text.to_owned());
        claim.published = Some(text.to_owned());
        let decider = claim.decided_by.as_mut().unwrap();
        decider.comparison = text.to_owned();
        decider.contender = Some(text.to_owned());
        for side in decider.sides.iter_mut().flat_map(|sides| [&mut sides.left, &mut sides.right]) {
            if let Side::Metric { contender, metric, point, .. } = side {
                (*contender, *metric) = (text.to_owned(), text.to_owned());
                point.0.insert(text.to_owned(), AxisValue::Text(text.to_owned()));
            }
        }
        let cell = CellName { contender: text.to_owned(), ..CellName::default() };
        claim.doubts = vec![Doubt::Marked { cell, mark: Mark::Unsteady }];
        let foreign = serde_json::json!({ "what": text, text: { text: [text] } });
        claim.doubts.push(serde_json::from_value(foreign).unwrap());
    }
    export.checks = fixture::checks();
    for check in &mut export.checks {
        check.id = text.to_owned();
        check.assert = text.to_owned();
        check.because = text.to_owned();
        check.red.iter_mut().for_each(|red| red.comparison = text.to_owned());
    }
    for warning in &mut export.warnings {
        warning.place = text.to_owned();
        warning.what = text.to_owned();
    }
    let run = &mut export.run;
    for field in
        [&mut run.experiment, &mut run.command, &mut run.profile, &mut run.id, &mut run.question.text]
    {
        *field = text.to_owned();
    }
    run.cut_short = Some(text.to_owned());
    export.machine.cpu = text.to_owned();
    export
}

#[test]
fn selfcheck_report() {
    insta::assert_snapshot!(selfcheck_terminal(&fixture::selfcheck(), &PLAIN));
}

#[test]
fn a_selfcheck_that_found_nothing_wrong_says_so_and_one_that_did_not_end_does_not() {
    // All that stands before the first table.
    let said = |check: &SelfCheck| {
        let text = selfcheck_terminal(check, &PLAIN);
        text.split_once("\n\n").unwrap().0.to_owned()
    };
    let mut good = SelfCheck { problems: Vec::new(), ..fixture::selfcheck() };
    assert_eq!(
        said(&good),
        "as promised, as far as it could be told: the machine was too busy to judge the load engine"
    );
    good.engine.retain(|check| check.truthful.is_some());
    assert_eq!(said(&good), "as promised: nothing was found here that makes kumite's results doubtful");
    let short = SelfCheck { cut_short: true, ..good };
    assert_eq!(said(&short), "! cut short: it was interrupted; what there is, is not kept");
    let nothing = SelfCheck { seconds: 0.1, ..SelfCheck::default() };
    assert!(!selfcheck_terminal(&nothing, &PLAIN).contains("NaN"));
}

#[test]
fn load_report() {
    insta::assert_snapshot!(load_terminal(&fixture::load(), &PLAIN));
}

#[test]
fn a_page_of_a_load_has_its_command_and_its_series() {
    let mut load = fixture::load();
    assert_eq!(leaf(&load_html(&load)), 0);
    let column = |value: f64| (0..100).map(|nth| Some(value * f64::from(nth % 7))).collect();
    let columns = [("ok", column(700.0)), ("errors", column(1.0))].map(|(name, of)| (name.to_owned(), of));
    load.series = Series { interval_ms: 100, columns: columns.into(), ..Series::default() };
    let page = load_html(&load);
    assert_eq!(leaf(&page), 1);
    assert_eq!(texts(&page, "pre"), ["kumite load http://127.0.0.1:8080/ -c 50 -d 10s"]);
    assert_eq!(
        texts(&page, "desc"),
        ["Right answers a second from 0 s to 10.0 s: between 0 and 42,000; 295 failures."]
    );
}

#[test]
fn a_bound_engine_is_said_first() {
    let mut load = fixture::load();
    load.engine.bound = true;
    assert!(load_terminal(&load, &PLAIN).starts_with("generator-bound: "));
}

#[test]
fn a_row_is_shown_where_it_is_another_and_connections_are_told_as_they_were() {
    let mut load = fixture::load();
    load.first_byte_us = load.response_us.clone();
    assert_eq!(load_terminal(&load, &PLAIN), load_terminal(&fixture::load(), &PLAIN));
    load.first_byte_us.iter_mut().for_each(|of| (of.mean, of.p50) = (12.0, Some(11.0)));
    load.requests_per_connection = Some(1);
    load.idle_connections = Some(kumite_record::IdleConnections { asked: 1000, open: 998, ended: 41 });
    insta::assert_snapshot!(load_terminal(&load, &PLAIN));
}

#[test]
fn a_load_without_a_right_answer() {
    let mut load = fixture::load();
    load.ok = 0;
    load.requests = 31;
    load.throughput_rps = 0.0;
    load.response_us = None;
    load.service_us = None;
    load.engine.cpu_us_per_request = None;
    load.recovery_us = None;
    load.histogram_us.clear();
    insta::assert_snapshot!(load_terminal(&load, &PLAIN));
}

#[test]
fn a_load_that_could_not_even_begin_has_no_nonsense() {
    let mut load = fixture::load();
    (load.ok, load.requests, load.seconds, load.throughput_rps) = (0, 0, 0.0, f64::NAN);
    (load.response_us, load.service_us) = (None, None);
    load.histogram_us = vec![(f64::NAN, 1), (0.0, 1)];
    let text = load_terminal(&load, &PLAIN);
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[test]
fn noise_is_told_trial_by_trial_and_what_was_measured_anew_stays() {
    let mut export = fixture::export();
    let noisy = export.trials.iter().position(|trial| trial.marks.contains(&Mark::OtherProcesses)).unwrap();
    let mut anew = export.trials[noisy].clone();
    (anew.seq, anew.attempt) = (1000, 1);
    anew.marks.retain(|mark| !mark.is_outside());
    anew.sample.noise.insert("stolen_cores".to_owned(), 0.004);
    export.trials.push(anew);
    let page = html(&export);
    // stolen_cores is not zero everywhere.
    assert_eq!(
        texts(&page, "section[aria-labelledby=noise] p"),
        ["1 of 17 trials is marked for it: 1 other-processes."]
    );
    assert_eq!(page.matches("<td>other-processes, does not count</td>").count(), 1);
    assert_eq!(page.matches(">0.00400</td>").count(), 1);
    export.trials.iter_mut().for_each(|trial| trial.sample.noise.clear());
    export.trials.iter_mut().for_each(|trial| trial.marks.retain(|mark| !mark.is_outside()));
    assert!(!html(&export).contains("id=\"noise\""), "a record of before");
}

#[test]
fn a_function_in_every_format() {
    let export = fixture::function();
    insta::assert_snapshot!("function_terminal", terminal(&export, &PLAIN));
    insta::assert_snapshot!("function_markdown", markdown(&export));
    let page = html(&export);
    shown("function.html", &page);
    // At each of three points: rows of wall, billing of first and warm calls, wall by call, three trials.
    assert_eq!(accessible(&page).0, 3 * (1 + 2 + 1 + 3));
    assert!(page.len() < 500_000, "{} bytes", page.len());
}

#[test]
fn a_pacing_run_in_every_format() {
    let export = fixture::pacing();
    insta::assert_snapshot!("pacing_terminal", terminal(&export, &PLAIN));
    insta::assert_snapshot!("pacing_markdown", markdown(&export));
    let page = html(&export);
    shown("pacing.html", &page);
    // At each of four points: rows of error p99 and the distribution; and the states of each contender that played.
    // Tables: figures, details and shares of each point.
    assert_eq!(accessible(&page), (4 * 2 + 2 * (11 + 2), 4 * 3));
    assert!(page.len() < 350_000, "{} bytes", page.len());
}

#[test]
fn drift_is_told_to_those_who_do_not_see_it() {
    let mut export = fixture::pacing();
    let page = html(&export);
    let told = heard(&page, "pacing");
    insta::assert_snapshot!(told);
    assert_eq!(page.matches(">1 frame</text>").count(), 2 * (11 + 2));
    // Where the record does not say how long a frame is, its states do.
    export.run.workload.remove("fps");
    assert_eq!(heard(&html(&export), "pacing"), told);
}

#[test]
fn a_long_play_stays_a_small_page() {
    let page = html(&fixture::played(8));
    shown("pacing-long.html", &page);
    let short = html(&fixture::played(1));
    assert!(page.len() < 2 * short.len(), "{} bytes, and {} of 600 frames", page.len(), short.len());
}

#[test]
fn a_player_that_nothing_is_known_of_is_no_picture() {
    let mut export = fixture::pacing();
    for of in export.trials.iter_mut().flat_map(|trial| &mut trial.sample.arrivals) {
        (of.due_ms, of.error_us) = (f64::NAN, f64::INFINITY);
    }
    let page = html(&export);
    accessible(&page);
    assert!(!page.contains("NaN") && !page.contains("inf\""), "{page}");
    export.trials.iter_mut().for_each(|trial| trial.sample.arrivals.clear());
    assert!(!html(&export).contains("id=\"pacing\""));
}

#[test]
fn instances_are_told_to_those_who_do_not_see_them() {
    let page = html(&fixture::function());
    insta::assert_snapshot!(heard(&page, "calls"));
}

#[test]
fn very_many_calls_and_instances_stay_a_small_page() {
    let page = html(&fixture::called(3_000, 300));
    shown("function-long.html", &page);
    accessible(&page);
    assert!(page.len() < 250_000, "{} bytes", page.len());
    // Inits, invocations, what is between and behind them, and the calls.
    insta::assert_snapshot!("many_calls_page", heard(&page, "calls"));
    let texts = texts(&page, "text");
    let is_written = |what: &str| texts.iter().filter(|text| *text == what).count();
    assert_eq!(is_written("the first 40 of 3,000 calls in their order"), 2);
    assert_eq!(is_written("289 more"), 4);
    let calls = |calls| {
        let text = terminal(&fixture::called(calls, 2), &PLAIN);
        text.split("\nHOW THIS WAS MEASURED\n").next().unwrap().to_owned()
    };
    insta::assert_snapshot!("sixty_calls_terminal", calls(60));
    insta::assert_snapshot!("twenty_calls_terminal", calls(20));
}

#[test]
fn hostile_words_of_functions_are_only_words() {
    let mut export = fixture::function();
    let text = "<script>alert(1)</script>\n\u{202e}\x1b|".repeat(40);
    for trial in &mut export.trials {
        trial.sample.calls.iter_mut().for_each(|call| call.error = Some(text.clone()));
        trial.sample.phases.iter_mut().for_each(|phase| phase.ending = Some(text.clone()));
    }
    let page = html(&export);
    accessible(&page);
    assert!(!page.contains("<script"));
    for text in [&page, &markdown(&export), &terminal(&export, &PLAIN)] {
        assert!(!text.contains(['\x1b', '\u{202e}']), "{text}");
    }
    assert!(page.len() < 700_000, "{} bytes", page.len());
}

/// The same run in three sittings, in one of which the third claim came out the other way; the last claim is of one sitting.
fn of_sittings() -> Export {
    use kumite_record::{EffectKind, NextSitting, Sitting, SittingEffect, SittingSide};
    let mut export = fixture::export();
    let begun = ["2026-01-01T10:00:00Z", "2026-01-02T10:00:00Z", "2026-01-03T10:00:00Z"];
    let sitting = |started: &str| Sitting {
        started: started.parse().unwrap(),
        run: "20260101-100000-0000".to_owned(),
        rounds: 9,
        ..Sitting::default()
    };
    export.run.sittings = begun.map(sitting).into();
    export.run.saved = None;
    for (nth, claim) in export.claims.iter_mut().enumerate() {
        // Where no failure is claimed there is no picture.
        let effect = claim.effect.as_ref().filter(|effect| effect.kind == EffectKind::Ratio);
        let Some(effect) = effect.map(|effect| effect.value) else { continue };
        let of = |(nth, factor): (usize, f64)| SittingEffect {
            sittings: vec![nth],
            effect: effect * factor,
            rounds: 9,
            side: if claim.verdict == Verdict::Holds { SittingSide::So } else { SittingSide::NotSo },
        };
        claim.sittings = [0.98, 1.0, 1.03].into_iter().enumerate().map(of).collect();
        let ends = [0.93, 1.08, 0.85, 1.2].map(|factor| effect * factor);
        let [low_80, high_80, low_95, high_95] = ends;
        claim.next_sitting = Some(NextSitting { low_80, high_80, low_95, high_95 });
        match nth {
            1 => claim.doubts.push(Doubt::AnotherSittingMayDiffer),
            2 => {
                claim.verdict = Verdict::DependsOnSitting;
                claim.sittings[1].side = SittingSide::So;
                claim.sittings[1].effect = 1.0 / effect;
            }
            _ => {}
        }
    }
    export
}

#[test]
fn sittings_are_said_in_each_format_and_drawn_as_dots() {
    let export = of_sittings();
    insta::assert_snapshot!("sittings_summary", summary(&export, &PLAIN));
    let verdicts = |text: String, end: &str| text.split(end).next().unwrap().to_owned();
    insta::assert_snapshot!("sittings_terminal", verdicts(terminal(&export, &PLAIN), "\nMEASUREMENTS"));
    insta::assert_snapshot!("sittings_markdown", verdicts(markdown(&export), "\n## Measurements"));
    let page = html(&export);
    accessible(&page);
    let of = |name: &str, text: &str| text.matches(&format!("<circle class=\"sitting {name}\"")).count();
    let drawn = export.claims.iter().filter(|claim| !claim.sittings.is_empty()).count();
    assert_eq!(drawn, 3);
    for text in [page, forest_svg(&export)] {
        assert_eq!(of("so", &text) + of("not-so", &text), 3 * drawn);
        assert!(of("so", &text) > 0 && of("not-so", &text) > 0);
    }
}
