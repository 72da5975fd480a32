//! Tasks: workers that do their jobs, and workers that do what none should.

use std::process::Stdio;
use std::time::{Duration, Instant};

use kumite_testing::{LONG, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::kit_test::fake_worker;
use crate::place::{Place, Said, standing, trial};
use crate::printed::{printed, without_figures};
use crate::schema::assert_right;

/// The fake adds up the numbers to n in its sleep.
const EXPERIMENT: &str = r#"
question = "Who adds up faster?"
kind = "task"
blocks = 1
[workload]
n = 100
ms = 5
iterations = 2
[metrics]
added_bytes = { value = "worker", about = "Eight bytes for each number." }
[answer]
at = { "/sum" = 5050, "/n" = "$n" }
"#;

/// Metrics that every task has, unless no event tells how many threads it used.
const METRICS: [&str; 10] = [
    "elapsed_ms",
    "worker_elapsed_ms",
    "first_elapsed_ms",
    "jobs_per_s",
    "cpu_s",
    "cpu_cores",
    "peak_rss_bytes",
    "peak_threads",
    "context_switches",
    "round_trip_p50_us",
];

/// An experiment with these parts of [`EXPERIMENT`] replaced, and a worker for each mode, named after it.
fn place(replaced: &[(&str, &str)], modes: &[&str]) -> Place {
    let place = Place::new("", &[]);
    let replace = |text: String, (from, to): &(&str, &str)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    };
    let text = replaced.iter().fold(EXPERIMENT.to_owned(), replace);
    place.write("experiments/fake/experiment.toml", &text);
    modes.iter().for_each(|mode| contender(&place, mode, mode, "", ""));
    place
}

fn contender(place: &Place, name: &str, mode: &str, top: &str, variant: &str) {
    // The mark in its command finds its processes again.
    let run = format!("exec {} {mode} {}", fake_worker().display(), place.mark());
    let text = format!(
        "version = 'echo fake 1.0'\n{top}\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = '{run}'\n{variant}\n"
    );
    place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
}

fn run(place: &Place) -> Value {
    let export = place.kumite(&["run", "fake", "--json", "-"]).ended(0).json();
    assert_eq!(place.left(), [""; 0]);
    export
}

#[test]
fn jobs_are_measured_until_their_number_and_their_time_are_reached() {
    for (iterations, duration_s) in [(2, 0.2), (60, 0.01)] {
        let more = format!("iterations = {iterations}\nduration_s = {duration_s}");
        let export = run(&place(&[("iterations = 2", &more)], &["right"]));
        let sample = &trial(&export, "right")["sample"];
        let jobs = sample["jobs"].as_array().unwrap().len();
        let time_s = jobs as f64 / sample["metrics"]["jobs_per_s"].as_f64().unwrap();
        assert!(jobs >= iterations, "{jobs}");
        // The last answer came a moment before the clock was read that said enough.
        assert!(time_s > duration_s - 0.05, "{time_s}");
        assert!(iterations == 2 || jobs == iterations, "60 jobs of 5 ms take longer than 0.01 s: {jobs}");
    }
}

/// What comes of these modes: an outcome each, and a reason that has these words. One that is right is measured beside them.
#[track_caller]
fn come_to(replaced: &[(&str, &str)], cases: &[(&str, &str, &str)]) {
    let began = Instant::now();
    let modes: Vec<&str> = cases.iter().map(|(mode, ..)| *mode).chain(["right"]).collect();
    let export = run(&place(replaced, &modes));
    assert_eq!(trial(&export, "right")["outcome"], "ok", "{}", trial(&export, "right")["reason"]);
    for (mode, outcome, reason) in cases {
        let trial = trial(&export, mode);
        let why = trial["reason"].as_str().unwrap_or_default();
        println!("{mode}: {}: {why}", trial["outcome"]);
        assert!(trial["outcome"] == *outcome && why.contains(reason), "{mode}: {}: {why}", trial["outcome"]);
    }
    assert!(began.elapsed() < SILENCE, "{:?}", began.elapsed());
}

/// The time that a worker hangs, longer than any limit.
const SILENCE: Duration = Duration::from_secs(300);
/// A job that a worker has 2 s for; more would make these tests slow, and less would fail on a busy machine.
const SHORT: (&str, &str) = ("ms = 5", "ms = 5\ntimeout_s = 2");

#[test]
fn jobs_are_repeated_in_processes_that_are_repeated() {
    let more = "rate_per_s = { value = '$n / elapsed_ms', about = 'Numbers a second.' }\n[axes]\nevents = [true, false]\n";
    let place = place(
        &[
            ("blocks = 1", "blocks = 2"),
            ("iterations = 2", "iterations = 3\nwarm_up_iterations = 1"),
            ("[answer]", &format!("{more}[answer]")),
        ],
        &["a", "b"],
    );
    let export = run(&place);
    assert_right("run", &export);
    let trials = standing(&export);
    assert_eq!(trials.len(), 8, "2 contenders at 2 points in 2 blocks, each a process");
    for trial in trials {
        assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
        let jobs = trial["sample"]["jobs"].as_array().unwrap();
        let warm_up: Vec<bool> = jobs.iter().map(|job| job["warm_up"] == true).collect();
        assert_eq!(warm_up, [true, false, false, false]);
        for job in jobs {
            let ms = |key: &str| job[key].as_f64().unwrap();
            assert!(5.0 <= ms("worker_elapsed_ms") && ms("worker_elapsed_ms") <= ms("elapsed_ms"), "{job}");
            let metrics = (job["warm_up"] != true).then(|| json!({ "added_bytes": 800.0 }));
            assert_eq!(job["metrics"], metrics.unwrap_or_default(), "a warm-up keeps its times alone");
        }
        let metrics = &trial["sample"]["metrics"];
        let of = |name: &str| metrics[name].as_f64().unwrap_or_else(|| panic!("no {name}: {metrics}"));
        METRICS.iter().for_each(|name| assert!(of(name).is_finite()));
        let mut measured: Vec<f64> =
            jobs[1..].iter().map(|job| job["elapsed_ms"].as_f64().unwrap()).collect();
        measured.sort_by(f64::total_cmp);
        assert_eq!(of("elapsed_ms"), measured[1], "the median of the measured jobs");
        assert_eq!(of("first_elapsed_ms"), jobs[0]["elapsed_ms"].as_f64().unwrap());
        assert_eq!(of("added_bytes"), 800.0);
        assert!((of("rate_per_s") * of("elapsed_ms") / 1e3 - 100.0).abs() < 1e-6, "{metrics}");
        let events = trial["point"]["events"] == true;
        assert_eq!(metrics["threads_used"].as_f64(), events.then_some(1.0));
        let expected = if events { json!([[5, "main", "next", "sum"]]) } else { Value::Null };
        assert_eq!(trial["sample"]["events"], expected);
    }
    assert!(export["cells"][0]["metrics"]["rate_per_s"]["estimate"].is_f64(), "{}", export["cells"][0]);

    let said = place.kumite(&["report", "last"]).ended(0);
    assert!(said.out.contains("elapsed") && said.out.contains("events = true"), "{}", said.out);
    assert_eq!(place.kumite(&["export", "last"]).ended(0).json(), export);
}

#[test]
fn answers_in_another_order_are_right_where_several_jobs_are_in_flight() {
    come_to(
        &[("iterations = 2", "iterations = 6\nconcurrency = 3\ntimeout_s = 60")],
        &[
            ("reversed", "ok", ""),
            ("renumbered", "failed", "it answered job 101 while it was asked for job 1, 2, 3"),
        ],
    );
}

#[test]
fn what_is_said_wrong_fails() {
    come_to(
        &[],
        &[
            (
                "garbage",
                "failed",
                "it wrote a line that is no answer (expected value at line 1 column 1) in job 1: 'hello, world'",
            ),
            ("renumbered", "failed", "it answered job 101 while it was asked for job 1"),
            ("twice", "failed", "it answered job 1 while it was asked for job 2"),
            ("error", "failed", "job 1: no such luck"),
            (
                "undeclared",
                "failed",
                "job 1 has the metric 'speed', which [metrics] of experiment.toml does not have",
            ),
            (
                "crash",
                "failed",
                "it ended with status 7 in its first hello; its log: fake: no configuration found",
            ),
            ("die", "failed", "it ended with status 9 in job 1; its log: fake: out of luck"),
        ],
    );
}

#[test]
fn the_last_answer_twice_fails_too() {
    come_to(
        &[("iterations = 2", "iterations = 1")],
        &[("twice", "failed", "it wrote a line that nobody asked for: '{\\\"elapsed_ns\\\":")],
    );
}

#[test]
fn silence_is_not_waited_for() {
    come_to(
        &[SHORT],
        &[
            ("shy", "failed", "it gave no answer to a hello within 2 s; its log: it printed nothing"),
            ("hang", "failed", "it gave no answer to job 1 within 2 s; its log: fake: thinking"),
        ],
    );
    let place = place(&[("ms = 5", "ms = 5\nready_s = 0.5")], &["mute"]);
    let export = place.kumite(&["run", "fake", "--json", "-"]).ended(3).json();
    let why = "it gave no answer to its first hello within 0.5 s; its log: it printed nothing";
    assert_eq!(trial(&export, "mute")["reason"], why);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn who_does_not_read_its_request_is_not_waited_for() {
    let long = format!("ms = 5\ntimeout_s = 2\ntext = '{}'", "x".repeat(200_000));
    come_to(
        &[("ms = 5", &long)],
        &[("deaf", "failed", "it did not read the request of job 1 within 2 s; its log: it printed nothing")],
    );
}

#[test]
fn floods_are_stopped() {
    come_to(
        &[("ms = 5", "ms = 5\ntimeout_s = 60")],
        &[
            ("flood", "failed", "it wrote 16 MiB without the end of a line in job 1"),
            (
                "flood-lines",
                "failed",
                "it wrote a line that is no answer (expected value at line 1 column 1) in job 1: 'x'",
            ),
        ],
    );
}

#[test]
fn a_bad_end_is_a_warning() {
    come_to(
        &[],
        &[
            ("late", "ok", "it wrote 'one more thing' after its last answer"),
            ("stubborn", "ok", "it did not end within 3 s of the end of its input"),
            ("leaver", "ok", "it ended and left 2 of its processes behind, which were killed"),
        ],
    );
}

#[test]
fn times_that_cannot_be_fail_and_times_that_differ_are_marked() {
    let export = run(&place(&[("ms = 5", "ms = 500")], &["claims-half", "claims-an-hour"]));
    let liar = trial(&export, "claims-an-hour");
    let why = liar["reason"].as_str().unwrap();
    assert_eq!(liar["outcome"], "failed");
    printed!(without_figures(why));
    let half = trial(&export, "claims-half");
    assert_eq!(half["outcome"], "ok");
    assert!(half["marks"].as_array().unwrap().contains(&"times-disagree".into()), "{half}");
    // Behind them may be one of other processes: the other tests.
    let warnings = Value::from(&export["warnings"].as_array().unwrap()[..2]).to_string();
    printed!(without_figures(&warnings));
}

#[test]
#[ignore = "timing"]
fn what_it_takes_to_make_the_answer_is_not_the_jobs() {
    let export = run(&place(&[("ms = 5", "ms = 50")], &["done"]));
    let metrics = &trial(&export, "done")["sample"]["metrics"];
    let of = |name: &str| metrics[name].as_f64().unwrap();
    let answering_ms = 1e3 / of("jobs_per_s") - of("elapsed_ms");
    // 100 ms, less what kumite noticed later than it was said.
    assert!(answering_ms >= 50.0, "{metrics}");
}

/// The values that an answer is compared with.
const AT: &str = r#"at = { "/sum" = 5050, "/n" = "$n" }"#;

fn checked_by(mode: &str) -> String {
    format!("checker = 'exec {} {mode}'", fake_worker().display())
}

#[test]
fn wrong_answers_are_disqualified() {
    let sum = "its answer is wrong: /sum is 5051, not 5050";
    come_to(&[], &[("wrong", "disqualified", sum)]);
    let whole = r#"its answer is wrong: it is {"n":100,"sum":5051}, not {"n":100,"sum":5050}"#;
    come_to(&[(AT, r#"equals = '{ "sum": 5050, "n": 100 }'"#)], &[("wrong", "disqualified", whole)]);
    let why = "its answer is wrong: the sum to 100 is 5050, not 5051";
    come_to(&[(AT, &checked_by("checker"))], &[("wrong", "disqualified", why)]);
}

#[test]
fn a_checker_that_does_not_work_is_no_verdict() {
    let cases = [
        (
            "checker-crash",
            "the answer could not be checked: it ended with status 5 in job 1; its log: fake: cannot add",
        ),
        (
            "checker-garbage",
            "the answer could not be checked: the checker's result is no verdict: invalid type",
        ),
    ];
    for (mode, reason) in cases {
        let place = place(&[(AT, &checked_by(mode))], &["right"]);
        let said = place.kumite(&["run", "fake", "--json", "-"]).ended(3);
        let (export, error) = (said.json(), &said.err);
        let trial = trial(&export, "right");
        let why = trial["reason"].as_str().unwrap_or_default();
        assert!(trial["outcome"] == "failed" && why.contains(reason), "{mode}: {}: {why}", trial["outcome"]);
        assert_eq!(error.lines().last(), Some("error: no trial gave a result"), "{error}");
        assert_eq!(place.left(), [""; 0]);
    }
    let place = place(&[(AT, "checker = 'exec no-such-checker'")], &["right"]);
    let said = place.kumite(&["run", "fake"]).ended(3);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn contenders_are_checked_and_those_known_to_be_wrong_have_to_be() {
    let place = place(&[], &["right", "wrong", "late"]);
    contender(&place, "liar", "wrong", "", "answers = 'wrong'");
    contender(&place, "reformed", "right", "", "answers = 'wrong'");
    let said = place.kumite(&["check", "fake"]).ended(1);
    assert_eq!(
        said.out,
        "✗ late: it wrote 'one more thing' after its last answer\n\
         ✓ liar answers wrong, as it is there to show: fake 1.0\n\
         ✗ reformed: its answer is right, and contender.toml says answers = \"wrong\"\n\
         ✓ right answers right: fake 1.0\n\
         ✗ wrong: its answer is wrong: /sum is 5051, not 5050\n\
         fake: 2 right, 3 failing\n"
    );
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_job_by_hand_shows_what_went_in_and_what_came_out() {
    let place = place(&[(AT, "at = { '/n' = '$n' }"), ("ms = 5", "ms = 5\ntext = 'so'")], &["right"]);
    let task = |more: &[&str]| place.kumite(&[&["task", "fake", "--contender", "right"], more].concat());
    let said = task(&[]).ended(0);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[0], "→ {\"hello\":1}");
    assert!(lines[1].starts_with("← {") && lines[1].contains("\"name\":\"fake\""), "{}", lines[1]);
    assert_eq!(lines[2], r#"→ {"job":1,"params":{"iterations":2,"ms":5,"n":100,"text":"so"}}"#);
    assert!(
        lines[3].starts_with("← {") && lines[3].contains(r#""result":{"n":100,"sum":5050}"#),
        "{}",
        lines[3]
    );
    printed!(without_figures(&lines[5..].join("\n")));
    assert_eq!(lines.len(), 7, "the hellos that measure the pipe are not shown: {}", said.out);

    let other = task(&["--param", "n=3", "--param", "ms=0.5", "--param", "text=of=two"]).ended(0);
    assert!(
        other.out.contains(r#""params":{"iterations":2,"ms":0.5,"n":3,"text":"of=two"}"#),
        "{}",
        other.out
    );
    assert!(other.out.contains(r#""result":{"n":3,"sum":6}"#), "{}", other.out);

    let long = format!("text={}", "x".repeat(5000));
    let cut = task(&["--param", &long]).ended(0);
    assert!(cut.out.contains("x… (5") && cut.out.contains(" bytes; --full shows all)"), "{}", cut.out);
    assert!(task(&["--param", &long, "--full"]).ended(0).out.contains(&"x".repeat(5000)));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_job_by_hand_that_goes_wrong_is_said_to() {
    let place = place(&[], &["wrong", "error"]);
    let task = |name: &str| place.kumite(&["task", "fake", "--contender", name]);
    let said = task("wrong").ended(1);
    assert!(said.out.contains(r#""sum":5051"#), "{}", said.out);
    printed!(said.notes());
    let said = task("error").ended(3);
    assert!(said.out.contains(r#"← {"error":"no such luck","job":1}"#), "{}", said.out);
    printed!(said.notes());
    let said = task("nobody").ended(2);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn servers_have_no_jobs() {
    let place = Place::new("", &[("a", "pong")]);
    let said = place.kumite(&["task", "fake", "--contender", "a"]).ended(2);
    printed!(said.notes());
}

/// In the middle of a job: it is ended, and done again by the one who resumes.
#[test]
fn ctrl_c_in_a_job_leaves_nothing_and_the_run_goes_on() {
    let long = [
        ("ms = 5", "ms = 5\ntimeout_s = 600"),
        ("blocks = 1", "blocks = 2"),
        ("iterations = 2", "iterations = 1"),
    ];
    let place = place(&long, &["waits"]);
    std::fs::create_dir(place.path("tmp")).unwrap();
    let mut command = place.command(&["run", "fake"]);
    command.env("TMPDIR", place.path("tmp"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    let asked = Instant::now();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    assert!(asked.elapsed() < LONG, "{:?}", asked.elapsed());
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0, "its folder has gone");

    place.write("go", "");
    place.kumite(&["resume", "last"]).ended(0);
    let export = place.kumite(&["export", "last"]).ended(0).json();
    let outcomes: Vec<&str> =
        standing(&export).iter().map(|trial| trial["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["ok", "ok"]);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn without_the_disk_that_it_needs_nothing_is_started() {
    let place = place(&[("[workload]", "disk = '$n * 1000000 GB'\n[workload]")], &[]);
    contender(&place, "built", "right", "build = 'touch built'", "");
    for command in [&["run", "fake"][..], &["task", "fake", "--contender", "built"], &["check", "fake"]] {
        let said = place.kumite(command).ended(3);
        printed!(said.notes());
        assert!(!place.path("cache").exists(), "{command:?}");
    }
    let text = place.read("experiments/fake/experiment.toml").replace("$n * 1000000 GB", "$n * 1 kB");
    place.write("experiments/fake/experiment.toml", &text);
    place.kumite(&["run", "fake"]).ended(0);
}

#[test]
fn a_dry_run_starts_nothing() {
    let place = place(&[("blocks = 1", "blocks = 3")], &["crash"]);
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    printed!(said.report());
    assert!(place.kept().is_empty());
}

#[test]
fn what_a_contender_uses_builds_it_again() {
    let place = place(&[], &[]);
    place.write("kits/fake/kit.txt", "one");
    let build = format!("build = 'echo built >> {}'", place.path("count").display());
    let uses = "uses = ['../../../../kits/fake']";
    contender(&place, "built", "right", &format!("{build}\n{uses}"), "");
    let built = || {
        place.kumite(&["run", "fake"]).ended(0);
        place.read("count").lines().count()
    };
    assert_eq!([built(), built()], [1, 1]);
    place.write("kits/fake/kit.txt", "two");
    assert_eq!([built(), built()], [2, 2]);

    let file = "experiments/fake/contenders/built/contender.toml";
    place.write(file, &place.read(file).replace("kits/fake'", "kits/other'"));
    let said = place.kumite(&["run", "fake"]).ended(2);
    printed!(said.notes());
}

#[test]
fn what_is_wrong_in_a_task_s_file_is_said_with_its_place() {
    let cases = [
        ("[answer]", "[answer]\nstatus = 200"),
        (AT, "equals = '{'"),
        (AT, "at = { 'sum' = 1 }"),
        (AT, "at = { '/sum' = '$m' }"),
        ("[answer]", "elapsed_ms = { value = 'worker', about = 'Twice.' }\n[answer]"),
        ("[answer]", "x_ms = { value = 'elapsed_ms / $m', about = 'None.' }\n[answer]"),
        ("[workload]", "disk = '$m'\n[workload]"),
        ("iterations = 2", "iterations = 0"),
        ("\"task\"", "\"http\""),
    ];
    for (from, to) in cases {
        let place = place(&[(from, to)], &["right"]);
        let said = place.kumite(&["run", "fake"]).ended(2);
        printed!(format!("# {from} -> {to}\n{}", said.notes()));
        assert!(place.kept().is_empty(), "nothing is begun");
    }
}

#[test]
fn a_parameter_that_may_be_mistyped_is_said_and_the_run_goes_on() {
    let place = place(&[("iterations = 2", "iteration = 2")], &["right"]);
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    printed!(said.notes());
}
