use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::Instant;

use kumite_testing::{LONG, eventually};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::load::Server;
use crate::place::{Place, Said};
use crate::printed::printed;

const FAST: &str = "sleep 0.01";
const SLOW: &str = "sleep 0.06";

fn compare(place: &Place, arguments: &[&str]) -> Said {
    place.kumite(&[&["compare"], arguments].concat())
}

fn here() -> Place {
    Place::new("", &[])
}

#[test]
fn the_answer_is_a_sentence_with_the_faster_one_first() {
    let place = here();
    for commands in [[FAST, SLOW], [SLOW, FAST]] {
        let said = compare(&place, &commands).ended(0);
        printed!(said.outcome());
    }
}

#[test]
fn the_json_has_its_documented_form() {
    let place = here();
    let arguments = [FAST, SLOW, "-n", "a", "-n", "b", "--seed", "7", "--json", "-"];
    let result = compare(&place, &arguments).ended(0).json();
    let schema = place.kumite(&["schema", "compare"]).ended(0).json();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&result)
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors, [""; 0]);
    assert_eq!(
        (&result["schema"], &result["seed"], &result["ended"]),
        (&5.into(), &7.into(), &"decided".into())
    );
    let pair = &result["pairs"][0];
    assert_eq!((&pair["a"], &pair["b"], &pair["verdict"]), (&"b".into(), &"a".into(), &"slower".into()));
    let ratio = &pair["ratio"];
    let of = |key: &str| ratio[key].as_f64().unwrap();
    assert!(
        0.0 < of("low") && of("low") <= of("estimate") && of("estimate") <= of("high") && of("high") < 1.0
    );
    for key in ["cpu", "memory"] {
        assert!(
            ["less", "more", "no-difference", "undecided"].contains(&pair[key]["verdict"].as_str().unwrap())
        );
    }
    let times = result["commands"][1]["times"].as_array().unwrap();
    assert!(times.len() >= 6 && times.iter().all(|time| time.as_f64().unwrap() >= 0.06), "{times:?}");
    assert!(result["commands"][0]["shell"].is_null());
    assert!(result["costs"]["empty_process_s"].as_f64().unwrap() > 0.0);
    assert!(result["costs"]["empty_shell_s"].is_null(), "no shell was used");
}

#[test]
fn a_control_is_run_once_more_in_each_block_and_is_no_command() {
    let place = here();
    let counted = "sh -c 'echo >> runs; sleep 0.01'";
    for (flag, of) in [("--control", "a"), ("--control=b", "b")] {
        let arguments = [counted, SLOW, "-n", "a", "-n", "b", "--runs", "12", "--json", "-", flag];
        let result = compare(&place, &arguments).ended(0).json();
        let control = &result["control"];
        assert_eq!((&control["contender"], &control["itself"]["blocks"]), (&of.into(), &12.into()));
        assert_eq!(control["itself"]["metric"], "time_wall_clock");
        let counts = |key: &str| result[key].as_array().unwrap().len();
        assert_eq!((counts("commands"), counts("pairs")), (2, 1));
    }
    assert_eq!(place.read("runs").lines().count(), 24 + 12);
    let refused = |arguments: &[&str]| compare(&place, arguments).ended(2).notes();
    printed!(
        [
            refused(&["true", "--control"]),
            refused(&["true", "false", "-n", "old", "-n", "new", "--control=odl"]),
        ]
        .concat()
    );
}

#[test]
fn two_of_the_same_get_an_interval_and_never_more_runs_than_allowed() {
    let place = here();
    let result = compare(&place, &["true", "true", "--max-runs", "20", "--json", "-"]).ended(0).json();
    assert_eq!(
        (&result["pairs"][0]["a"], &result["pairs"][0]["b"]),
        (&"true (2)".into(), &"true (1)".into())
    );
    assert!(result["commands"][0]["times"].as_array().unwrap().len() <= 20);
    let exactly = compare(&place, &["true", "true", "--runs", "9", "--json", "-"]).ended(0).json();
    assert_eq!(exactly["commands"][0]["times"].as_array().unwrap().len(), 9);
    let few = compare(&place, &["true", "true", "--runs", "3"]).ended(0);
    printed!(few.outcome());
}

#[test]
fn what_cannot_be_decided_says_what_it_would_take() {
    let place = here();
    // On either side of each other, far apart: turn and turn about.
    let turn = "test -e $X && rm $X || { touch $X; sleep 0.03; }";
    let command = |file: &str| turn.replace("$X", file);
    place.write("y", "");
    let said = compare(&place, &[&command("x"), &command("y"), "--runs", "8"]).ended(0);
    printed!(said.outcome());
}

/// Times decide if a difference is within it: see `compare::judge` and `kumite-report`.
#[test]
fn a_margin_is_taken_as_a_share_or_in_percent() {
    let place = here();
    for (margin, is) in [("90%", 0.9), ("0.05", 0.05)] {
        let arguments = ["true", "true", "--margin", margin, "--runs", "1", "--json", "-", "-N"];
        assert_eq!(compare(&place, &arguments).ended(0).json()["margin"], is);
    }
}

#[test]
fn several_are_judged_together_against_the_reference() {
    let place = here();
    let arguments = ["sleep 0.5", FAST, "--reference", "sleep 0.2", "--json", "-"];
    let result = compare(&place, &arguments).ended(0).json();
    let names: Vec<&str> =
        result["commands"].as_array().unwrap().iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sleep 0.2", "sleep 0.5", FAST]);
    let verdicts: Vec<(&Value, &Value)> =
        result["pairs"].as_array().unwrap().iter().map(|pair| (&pair["b"], &pair["verdict"])).collect();
    assert_eq!(verdicts, [(&"sleep 0.2".into(), &"slower".into()), (&"sleep 0.2".into(), &"faster".into())]);
    assert_eq!(result["alpha_per_pair"], 0.025);
}

#[test]
fn what_goes_around_runs_comes_in_its_order() {
    let place = here();
    let write = |what: &str| format!("echo {what} >> order");
    let (a, b) = (format!("sh -c '{}'", write("a")), format!("sh -c '{}'", write("b")));
    let [setup, cleanup, for_a, for_b, conclude] =
        ["setup", "cleanup", "for-a", "for-b", "conclude"].map(write);
    let mut arguments = vec![a.as_str(), &b, "--setup", &setup, "--cleanup", &cleanup];
    arguments.extend(["--prepare", &for_a, "--prepare", &for_b, "--conclude", &conclude]);
    arguments.extend(["--runs", "6", "--warmup", "1", "--seed", "1"]);
    compare(&place, &arguments).ended(0);
    let order = place.read("order");
    let lines: Vec<&str> = order.lines().collect();
    let n = lines.len();
    assert_eq!((&lines[..2], &lines[n - 2..]), (&["setup"; 2][..], &["cleanup"; 2][..]));
    let mut runs = Vec::new();
    for around in lines[2..n - 2].chunks(3) {
        let before = format!("for-{}", around[1]);
        assert_eq!(around, [before.as_str(), around[1], "conclude"]);
        runs.push(around[1]);
    }
    assert!(runs.chunks(2).all(|block| block == ["a", "b"] || block == ["b", "a"]), "{runs:?}");
    // As often as it was told, and not once more.
    assert!(runs.len() == 14 && runs[2..].chunks(2).any(|block| block == ["b", "a"]), "{runs:?}");
}

#[test]
fn a_failure_is_shown_with_its_output_and_can_be_ignored() {
    let place = here();
    let fails = "sh -c 'echo because >&2; exit 3'";
    let said = compare(&place, &["true", fails]).ended(3);
    printed!(said.notes());
    let shown = compare(&place, &["true", fails, "--show-output"]).ended(3);
    printed!(shown.notes());
    let warm = compare(&place, &[fails, "--warmup", "1", "--conclude", "echo x >> concluded"]).ended(3);
    printed!(warm.notes());
    assert_eq!(place.read("concluded"), "x\n");
    let only = |codes: &str| compare(&place, &["true", fails, "--runs", "6", codes]);
    let ignored = only("--ignore-failure=3").ended(0);
    assert!(ignored.out.contains("6 of 6 runs did not end with 0"), "{}", ignored.out);
    only("-i").ended(0);
    only("-i=1,2").ended(3);
    let late = "sh -c 'echo x >> count; test $(wc -l < count) -lt 8'";
    let said = compare(&place, &[FAST, late, "--min-runs", "30"]).ended(3);
    assert!(said.out.contains("! cut short: a run failed"), "what there is is reported: {}", said.out);
}

#[test]
fn a_command_runs_as_often_as_told_and_no_more_once_one_has_failed() {
    let place = here();
    let count = |file: &str| place.read(file).lines().count();
    compare(&place, &["echo x >> a", "--runs", "1"]).ended(0);
    assert_eq!(count("a"), 1);
    let around = ["--prepare", "echo x >> p", "--conclude", "echo x >> c"];
    for (files, more) in [(["b", "d"], &around[..]), (["e", "f"], &[])] {
        let writes = files.map(|file| format!("echo x >> {file}"));
        compare(&place, &[&[&writes[0], &writes[1], "--runs", "3"], more].concat()).ended(0);
        assert_eq!(files.map(count), [3, 3], "{more:?}");
    }
    assert_eq!(["p", "c"].map(count), [6, 6]);
    // Two at once, too: nothing accompanies them.
    let duet = compare(&place, &["echo x >> g", "echo x >> h", "--duet", "--runs", "3"]);
    if duet.code != 2 {
        assert_eq!(["g", "h"].map(count), [3, 3]);
    }
    place.write("fails", "#!/bin/sh\necho x >> m\n[ $(wc -l < m) -ne 4 ]\n");
    let fails = "sh fails";
    let said = compare(&place, &[fails, "--runs", "100", "--json", "r.json"]).ended(3);
    printed!(said.notes());
    assert_eq!(count("m"), 4, "in one queue with all the others");
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(result["commands"][0]["times"].as_array().unwrap().len(), 3);
}

#[test]
fn what_cannot_be_started_is_told_alone() {
    let place = here();
    for _ in 0..10 {
        let said = compare(&place, &["true", "./missing", "--runs", "5"]).ended(3);
        assert_eq!(
            said.err,
            "error: cannot start `./missing`; is it there, and executable? No such file or directory (os error 2)\n"
        );
    }
}

/// Succeeds if the process whose id is in `pid` lives. (One that was killed may be a zombie.)
const LIVES: &str = "grep -q . /proc/$(cat pid)/cmdline";

#[test]
fn what_hooks_and_runs_leave_lives_until_everything_is_over() {
    let leaves = "sleep 300 & echo $! > pid";
    let once = format!("if [ -e pid ]; then {LIVES}; else {leaves}; fi");
    let cases: &[(&[&str], Option<&str>)] = &[
        (&["--setup", leaves, LIVES], None),
        (&["--setup", leaves, "--cleanup", LIVES, "true"], None),
        (&["--prepare", leaves, LIVES], None),
        (&["--conclude", "kill $(cat pid)", leaves], None),
        (&["--prepare", leaves, "--conclude", "kill $(cat pid)", "true"], None),
        (&[&once, "--cleanup", LIVES], None),
        (&["--setup", leaves, "sh -c 'exit 1'", "--cleanup", LIVES], Some("ended with status 1")),
        (&["--setup", leaves, "sleep 300", "--timeout", "1s", "--cleanup", LIVES], Some("did not end")),
    ];
    for (arguments, fails) in cases {
        let place = here();
        let said = compare(&place, &[arguments, &["--runs", "3"][..]].concat());
        let said = said.ended(if fails.is_some() { 3 } else { 0 });
        assert!(fails.is_none_or(|why| said.err.contains(why)), "{arguments:?}: {}", said.err);
        let was_ended_by_a_hook = arguments.contains(&"kill $(cat pid)");
        // Where nothing could be measured there is no report to say it in.
        let is_said = said.out.contains("`sleep 300`") && said.out.contains("after everything, and w");
        assert_eq!(is_said, !was_ended_by_a_hook && fails.is_none(), "{arguments:?}: {}", said.out);
        assert_eq!(place.left(), [""; 0], "{arguments:?}");
    }
}

#[test]
fn each_run_and_what_goes_around_it_knows_its_number() {
    let place = here();
    let tells = |file: &str| format!("echo $HYPERFINE_ITERATION >> {file}");
    let [command, prepare, conclude] = ["n", "p", "c"].map(tells);
    let arguments =
        [&command, "--runs", "3", "--warmup", "1", "--prepare", &prepare, "--conclude", &conclude];
    compare(&place, &arguments).ended(0);
    for file in ["n", "p", "c"] {
        assert_eq!(place.read(file), "warmup-0\n0\n1\n2\n", "{file}");
    }
    compare(&place, &[&tells("alone"), "--runs", "3"]).ended(0);
    assert_eq!(place.read("alone"), "0\n1\n2\n");
}

#[test]
fn the_metrics_that_are_listed_are_shown_in_their_units() {
    let place = here();
    let heads = |metrics: &[&str]| {
        let said = compare(&place, &[&["true", "true", "--runs", "6"], metrics].concat()).ended(0);
        let head = said.out.lines().find(|line| line.starts_with("command ")).unwrap().to_owned();
        let is_judged = |what: &str| said.out.contains(&format!("\n{what}, true"));
        (head.split_whitespace().collect::<Vec<_>>().join(" "), is_judged("CPU time"), is_judged("peak RSS"))
    };
    let of = |head: &str, cpu, memory| (head.to_owned(), cpu, memory);
    assert_eq!(heads(&[]), of("command wall median [95 %] user system peak RSS runs", true, true));
    assert_eq!(heads(&["--metrics", "default"]), of("command wall median [95 %] peak RSS runs", false, true));
    assert_eq!(
        heads(&["--metrics", "time"]),
        of("command wall median [95 %] CPU user system runs", true, false)
    );
    assert_eq!(heads(&["--metrics", "time_cpu"]), of("command CPU runs", true, false));
    let listed = ["true", "--runs", "6", "--metrics", "memory_peak_resident:KiB,time_wall_clock:us"];
    let said = compare(&place, &listed).ended(0);
    let row = said.out.lines().find(|line| line.starts_with("true ") && line.contains(" KiB ")).unwrap();
    assert!(row.contains(" µs "), "{row}");
}

/// Memory is counted, and no machine is too slow for it.
const BIG: &str = "head -c 30000000 /dev/zero | tail -n 1";

#[test]
fn a_metric_that_is_named_is_judged_and_shuts_a_gate() {
    let place = here();
    let named = ["true", BIG, "-n", "small", "-n", "big", "--json", "r.json", "--metrics"];
    let said = compare(&place, &[&named[..], &["memory_peak_resident:MiB"]].concat()).ended(0);
    assert!(!said.out.contains("wall"), "{}", said.out);
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let judged = &result["pairs"][0]["metrics"][0];
    assert_eq!(result["metrics"], serde_json::json!(["memory_peak_resident"]));
    assert_eq!((&judged["verdict"], &judged["better"]), (&"more".into(), &"lower".into()));
    assert_eq!((&result["ended"], &result["pairs"][0]["blocks"]), (&"decided".into(), &6.into()));
    let schema = place.kumite(&["schema", "compare"]).ended(0).json();
    assert!(jsonschema::is_valid(&schema, &result), "{result}");

    let two = [&named[..], &["memory_peak_resident,time_wall_clock", "--runs", "12", "--gate"]].concat();
    let said = compare(&place, &two).ended(1);
    assert!(
        gate(&said)
            .starts_with("gate: shut: big uses more peak memory than small by more than 1 %; measured: big"),
        "{}",
        said.out
    );
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let (all, each) = (result["alpha"].as_f64().unwrap(), result["alpha_per_pair"].as_f64().unwrap());
    assert!((all - 0.02).abs() < 1e-12 && (each - 0.01).abs() < 1e-12, "{all} and {each}");
    assert_eq!((&result["gate"]["alpha"], &result["margin"]), (&0.01.into(), &0.01.into()));
    assert_eq!(result["pairs"][0]["metrics"][0]["gate"]["state"], "shut");
    // Metrics that share a level need more runs for a verdict, which is said before any.
    let few = [&named[..], &["default", "--runs", "8", "--gate"]].concat();
    let said = compare(&place, &few).ended(2);
    printed!(said.notes());
}

#[test]
fn a_gate_on_one_metric_asks_nothing_of_the_others() {
    let place = here();
    let named = ["true", BIG, "-n", "small", "-n", "big", "--json", "-", "--gate"];
    let gated = |on: &[&str]| compare(&place, &[&named[..], on].concat());
    let result = gated(&["--gate-on", "memory", "--runs", "8"]).ended(1).json();
    let pair = &result["pairs"][0];
    assert_eq!(
        (&result["gate"]["on"], &pair["gate"]["state"]),
        (&"memory_peak_resident".into(), &"shut".into())
    );
    assert_eq!((&result["metrics"], &pair["metrics"]), (&Value::Null, &Value::Null));
    let metrics = ["--metrics", "wall,memory", "--gate-on", "memory_peak_resident", "--runs", "8"];
    let metrics = metrics.map(|word| word.replace("wall,memory", "time_wall_clock,memory_peak_resident"));
    let result = gated(&metrics.each_ref().map(String::as_str)).ended(1).json();
    let gates = [0, 1].map(|nth| result["pairs"][0]["metrics"][nth]["gate"]["state"].clone());
    assert_eq!(
        gates,
        [Value::Null, "shut".into()],
        "the whole level is that metric's: eight runs are enough"
    );
    let schema = place.kumite(&["schema", "compare"]).ended(0).json();
    assert!(jsonschema::is_valid(&schema, &result), "{result}");
    let urls = ["http://127.0.0.1:1/", "http://127.0.0.1:2/", "--gate", "--gate-on", "wall"];
    let refused = [
        gated(&["--gate-on", "time_cpu_"]),
        compare(&place, &["true", "false", "--gate-on", "cpu"]),
        compare(&place, &urls),
    ];
    printed!(refused.map(|said| said.ended(2).notes()).concat());
}

/// How often each ran.
fn lines(place: &Place, file: &str) -> usize {
    place.read(file).lines().count()
}

#[test]
fn a_gate_runs_the_reference_twice_in_each_block_and_no_other() {
    let place = here();
    let counted = |file: &str| format!("sh -c 'echo >> {file}'");
    let (old, new) = (counted("old-runs"), counted("new-runs"));
    let arguments = [&old, &new, "-n", "old", "-n", "new", "--runs", "8", "--json", "-", "--gate"];
    let gated = |more: &[&str]| compare(&place, &[&arguments[..], more].concat());
    for more in [&[][..], &["--control"], &["--control=old"]] {
        let result = gated(more).json();
        let control = &result["control"];
        assert_eq!((&control["contender"], &control["itself"]["blocks"]), (&"old".into(), &8.into()));
        assert_eq!(result["commands"].as_array().unwrap().len(), 2);
    }
    assert_eq!((lines(&place, "old-runs"), lines(&place, "new-runs")), (3 * 16, 3 * 8));
    printed!(gated(&["--control=new"]).ended(2).notes());
    // Two at once leave no place for a second run.
    let duet = gated(&["--duet"]);
    if duet.code != 2 {
        assert_eq!(duet.json()["control"], Value::Null);
        assert_eq!((lines(&place, "old-runs"), lines(&place, "new-runs")), (3 * 16 + 8, 3 * 8 + 8));
    }
}

#[test]
fn commands_and_what_goes_around_them_have_the_environment_that_is_set() {
    let place = here();
    let write = |file: &str| format!("echo $A-$B >> {file}");
    let [one, other, setup, prepare] = ["one", "other", "setup", "prepare"].map(write);
    let arguments = [
        &one,
        "--env",
        "A=1 B='x y'",
        "--runs",
        "1",
        &other,
        "--env",
        "A=2",
        "--setup",
        &setup,
        "-p",
        &prepare,
    ];
    compare(&place, &arguments).ended(0);
    assert_eq!((&*place.read("one"), &*place.read("other")), ("1-x y\n", "2-\n"));
    assert_eq!(place.read("setup"), "1-x y\n2-\n");
    assert_eq!(place.read("prepare").len(), place.read("setup").len());
    // -S of hyperfine 2.0, and of 1.x.
    compare(&place, &["-S", "echo $0 > shell", "--runs", "1"]).ended(0);
    assert_eq!(place.read("shell"), "sh\n");
    compare(&place, &["-S", "bash", "echo $0 > shell", "--runs", "1"]).ended(0);
    assert_eq!(place.read("shell"), "bash\n");
}

#[test]
fn a_script_that_does_not_say_whose_it_is_is_a_shells() {
    let place = here();
    for (file, text) in [("script", "echo $1 > said\n"), ("other", "\0\x01 is no text")] {
        place.write(file, text);
        std::fs::set_permissions(place.path(file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    compare(&place, &["./script hello", "--runs", "2"]).ended(0);
    assert_eq!(place.read("said"), "hello\n");
    let said = compare(&place, &["./other"]).ended(3);
    printed!(said.notes());
}

#[test]
fn what_goes_around_may_fail_too() {
    let place = here();
    let said = compare(&place, &["true", "true", "--prepare", "sh -c 'echo why; exit 2'"]).ended(3);
    printed!(said.notes());
    let said = compare(&place, &["true", "true", "--setup", "exit 4", "--cleanup", "touch cleaned"]).ended(3);
    printed!(said.notes());
    assert!(place.path("cleaned").exists(), "it is cleaned up all the same");
}

#[test]
fn outputs_that_differ_fail_with_the_first_line_that_does() {
    let place = here();
    let same =
        |other: &str| compare(&place, &["seq 3", other, "--same-output", "--runs", "6", "--seed", "1"]);
    same("printf '1\\n2\\n3\\n'").ended(0);
    // Output that varies by our doing is no difference.
    compare(&place, &["env", "env", "--same-output", "--runs", "6"]).ended(0);
    let said = same("printf '1\\n2\\n4\\n'").ended(1);
    printed!(said.notes());
}

#[test]
fn input_and_output_go_where_they_are_told() {
    let place = here();
    place.write("in", "hello");
    compare(&place, &["cat", "cat", "--input", "in", "--output", "out", "--runs", "6"]).ended(0);
    assert_eq!(place.read("out"), "hello");
    compare(&place, &["echo a", "--output", "a", "echo b", "--output", "./b", "--runs", "2"]).ended(0);
    assert_eq!((&*place.read("a"), &*place.read("b")), ("a\n", "b\n"));
    compare(&place, &["cat", "cat", "--input", "in", "--output", "pipe", "--runs", "6"]).ended(0);
    let said =
        compare(&place, &["cat", "cat", "--input", "in", "--output", "inherit", "--runs", "6"]).ended(0);
    assert!(said.out.starts_with(&"hello".repeat(12)), "{}", said.out);
}

#[test]
fn parameters_make_commands() {
    let place = here();
    let of = |arguments: &[&str]| {
        let result = compare(&place, &[arguments, &["--runs", "1", "--json", "-"]].concat()).ended(0).json();
        let commands = result["commands"].as_array().unwrap().clone();
        commands.iter().map(|command| command["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(&["-L", "t", "0,0.01", "sleep {t}"]), ["sleep 0", "sleep 0.01"]);
    assert_eq!(
        of(&["-P", "t", "0", "0.02", "-D", "0.01", "sleep {t}"]),
        ["sleep 0.00", "sleep 0.01", "sleep 0.02"]
    );
    assert_eq!(
        of(&["-P", "a", "1", "2", "-P", "b", "7", "8", "echo {a}x{b}"]),
        ["echo 1x7", "echo 1x8", "echo 2x7", "echo 2x8"]
    );
    assert_eq!(
        of(&["-P", "a", "1", "3", "-P", "b", "7", "8", "-D", "2", "-D", "1", "echo {a}x{b}"]),
        ["echo 1x7", "echo 1x8", "echo 3x7", "echo 3x8"]
    );
    assert_eq!(
        of(&["-L", "a", "1,2", "-L", "b", "x,y", "echo {a}{b}"]),
        ["echo 1x", "echo 1y", "echo 2x", "echo 2y"]
    );
}

#[test]
fn csv_and_markdown_have_every_command() {
    let place = here();
    let files = ["--export-csv", "r.csv", "--export-markdown", "r.md", "--export-json", "r.json"];
    let said = compare(&place, &[&["-L", "t", "0.01,0.1", "sleep {t}"][..], &files[..]].concat()).ended(0);
    let csv = place.read("r.csv");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(lines.len() == 3 && lines.iter().all(|line| line.len() == lines[0].len()), "{csv}");
    let column = |name: &str| {
        lines[0].iter().position(|head| *head == name).unwrap_or_else(|| panic!("{name} in {csv}"))
    };
    assert_eq!((lines[1][column("parameter_t")], lines[2][column("wall_verdict")]), ("0.01", "slower"));
    assert!(lines[2][column("wall_low_s")].parse::<f64>().unwrap() >= 0.1);
    let markdown = place.read("r.md");
    assert!(markdown.starts_with("**sleep 0.01 is ") && markdown.contains("| sleep 0.1 | "), "{markdown}");
    assert!(place.read("r.json").contains("\"pairs\""));
    printed!(said.outcome());
}

#[test]
fn hyperfines_results_are_run_again_and_shown_beside() {
    let place = here();
    let results = r#"{"results": [
        {"command": "sleep 0.01", "mean": 0.02, "stddev": 0.001, "times": [0.02], "exit_codes": [0]},
        {"command": "sleep 0.1", "mean": 0.03, "stddev": 0.002, "times": [0.03], "exit_codes": [0], "parameters": {"t": "0.1"}}]}"#;
    place.write("h.json", results);
    let said = compare(&place, &["--import", "h.json", "--csv", "r.csv"]).ended(0);
    printed!(said.outcome());
    assert!(place.read("r.csv").contains("parameter_t"));
    place.write("h.json", "{}");
    let said = compare(&place, &["--import", "h.json"]).ended(2);
    printed!(said.notes());
}

/// The last line of a report, which is the gate's.
fn gate(said: &Said) -> &str {
    said.out.lines().last().unwrap_or_default()
}

#[test]
fn the_gate_is_shut_for_what_is_slower_and_says_so_in_the_last_line_and_every_document() {
    let place = here();
    let files = ["--json", "r.json", "--markdown", "r.md", "--html", "r.html", "--save", "mine"];
    let said = compare(&place, &[&[FAST, SLOW, "--gate"][..], &files].concat()).ended(1);
    let line = gate(&said);
    let shut = "gate: shut: sleep 0.06 is slower than sleep 0.01 by more than 1 %; measured: sleep 0.01 is ";
    assert!(line.starts_with(shut) && line.contains("× as fast (99 %: at least "), "{line}");
    assert!(!said.err.contains("gate"), "it is said once: {}", said.err);
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(result["gate"], serde_json::json!({"passes": "fails", "state": "shut", "alpha": 0.01}));
    let gated = &result["pairs"][0]["gate"];
    assert_eq!((&gated["state"], &gated["doubt"]), (&"shut".into(), &Value::Null));
    assert!(gated["ratio"]["high"].as_f64() < Some(1.0 / 1.01), "{gated}");
    for file in ["r.md", "r.html"] {
        assert!(place.read(file).contains("gate: shut: sleep 0.06 is slower"), "{file}");
    }
    assert_eq!(gate(&place.kumite(&["report", "mine"]).ended(0)), line);
    // In place of the report there is a document: the line is said all the same.
    let said = compare(&place, &[FAST, SLOW, "--gate", "--json", "-"]).ended(1);
    assert!(said.err.lines().last().unwrap().starts_with("gate: shut: sleep 0.06 is slower"), "{}", said.err);
    assert_eq!(said.json()["gate"]["state"], "shut");
}

#[test]
fn the_gate_is_open_for_what_is_not_slower() {
    let place = here();
    for which in ["--gate", "--gate=holds"] {
        let said = compare(&place, &[SLOW, FAST, which]).ended(0);
        let open = "gate: open: sleep 0.01 is not slower than sleep 0.06 by more than 1 %; measured: ";
        assert!(gate(&said).starts_with(open), "{}", said.out);
    }
    // Nobody asked.
    let said = compare(&place, &[FAST, SLOW]).ended(0);
    assert!(!said.out.contains("gate:"), "{}", said.out);
}

#[test]
fn one_of_several_shuts_the_gate() {
    let place = here();
    let said = compare(&place, &[FAST, FAST, "sleep 0.5", "--gate", "--margin", "90%"]).ended(1);
    assert!(gate(&said).starts_with("gate: shut: sleep 0.5 is slower than "), "{}", said.out);
}

#[test]
fn a_gate_that_is_undecided_in_the_end_says_so_and_what_it_lets_pass() {
    let place = here();
    // On either side of each other, far apart: turn and turn about.
    let turn = "test -e $X && rm $X || { touch $X; sleep 0.03; }";
    for (which, code, words) in [
        ("--gate", 0, "--gate passes what is undecided"),
        ("--gate=holds", 1, "does not pass what is undecided"),
    ] {
        place.write("y", "");
        let [x, y] = ["x", "y"].map(|file| turn.replace("$X", file));
        let said = compare(
            &place,
            &[&x, &y, "-n", "x", "-n", "y", "--runs", "10", which, "--json", "r.json", "--seed", "1"],
        );
        let said = said.ended(code);
        let line = gate(&said);
        assert!(line.starts_with(
            "gate: undecided: whether y is slower than x by more than 1 % is not shown; measured: "
        ));
        assert!(line.contains("the maximum number of runs was reached") && line.ends_with(words), "{line}");
        assert!(place.read("r.json").contains("\"state\": \"undecided\""));
    }
}

#[test]
fn a_gate_that_no_plan_could_decide_is_refused_before_anything_runs() {
    let place = here();
    let touches = "touch ran";
    for arguments in [
        &["--runs", "5", "--gate"][..],
        &["--max-runs", "5", "--gate=holds"],
        &["true", "true", "-r", "7", "--gate"],
    ] {
        let said = compare(&place, &[&[touches, touches], arguments].concat()).ended(2);
        printed!(said.notes());
    }
    let urls = ["http://127.0.0.1:1/", "http://127.0.0.1:2/"];
    let said = compare(&place, &[&urls[..], &["-r", "5", "--gate"]].concat()).ended(2);
    printed!(said.notes());
    assert!(!place.path("ran").exists());
    // Eight are enough, whatever they show of two that are alike.
    let said = compare(&place, &[touches, touches, "--runs", "8", "--gate"]);
    assert!(matches!(said.code, 0 | 1) && place.path("ran").exists(), "{}", said.err);
}

#[test]
fn two_at_once_say_what_that_gains() {
    let place = here();
    let said = compare(&place, &["--duet", FAST, SLOW, "--json", "r.json"]);
    if said.code == 2 {
        printed!(said.notes());
        return;
    }
    let said = said.ended(0);
    printed!(said.outcome());
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert!(
        result["duet"]["sequential_width"].as_f64().unwrap() > 0.0
            && result["duet"]["pairs"].as_u64().unwrap() >= 6
    );
    let three = compare(&place, &["--duet", FAST, SLOW, "true"]).ended(2);
    printed!(three.notes());
}

#[test]
fn running_servers_are_compared_by_what_they_answer() {
    let place = here();
    let (fast, slow) = (Server::start("pong"), Server::start("slow"));
    let (url, slow_url) = (&fast.url[..], &slow.url[..]);
    let load = ["--connections", "1", "-z", "1s", "-d", "ping", "-n", "one", "-n", "other", "--runs", "1"];
    let said = compare(&place, &[&[url, slow_url][..], &load, &["--json", "r.json"]].concat()).ended(0);
    printed!(said.outcome());
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let servers = result["servers"].as_array().unwrap();
    assert_eq!((servers.len(), &result["pairs"][0]["verdict"]), (2, &"undecided".into()));
    for server in servers {
        assert!(server["requests"].as_u64() > Some(0) && server["failures"] == 0, "{server}");
    }
    let wrong = compare(&place, &[url, slow_url, "--expect-body", "x", "-z", "100ms", "-d", "ping"]).ended(3);
    printed!(wrong.notes());
    // An answer takes four times that.
    let soon =
        compare(&place, &[slow_url, slow_url, "--connections", "1", "-z", "5ms", "-d", "ping"]).ended(3);
    printed!(soon.notes());
}

#[test]
fn ctrl_c_reports_what_there_is_and_leaves_nothing() {
    let place = here();
    let run = |pause| format!("sh -c 'echo >> count; sleep {pause}'");
    let (one, other) = (run("0.01"), run("0.0101"));
    let arguments = ["compare", &one, &other, "--min-runs", "100000", "--json", "r.json"];
    let mut command = place.command(&[&arguments[..], &["--cleanup", "touch cleaned"]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let count = place.path("count");
    eventually(|| std::fs::metadata(&count).is_ok_and(|count| count.len() >= 40));
    let asked = Instant::now();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    assert!(asked.elapsed() < LONG, "{:?}", asked.elapsed());
    printed!(said.notes());
    printed!(said.outcome());
    assert!(place.read("r.json").contains("\"ended\": \"interrupted\""));
    assert!(place.path("cleaned").exists());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn one_command_alone_is_timed() {
    let place = here();
    let said = place
        .kumite(&[
            "compare",
            "true",
            "--runs",
            "20",
            "--json",
            "r.json",
            "--html",
            "r.html",
            "--time-unit",
            "ms",
        ])
        .ended(0);
    printed!(said.outcome());
    assert!(said.out.contains("\nmean ") && !said.out.contains("ratio"), "{}", said.out);
    let document: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(document["pairs"], serde_json::json!([]));
    assert!(document["alone"]["outliers"].is_array());
    assert_eq!(place.read("r.html").matches("<circle").count(), 20);
}

#[test]
fn a_run_that_takes_too_long_ends_a_comparison_with_what_there_is() {
    let place = here();
    // The first run of the second ends at once, and the next never.
    let hangs = "if test -e been; then exec sleep 1000; fi; touch been";
    let said = place.kumite(&["compare", "true", hangs, "--timeout", "1s", "--json", "r.json"]).ended(3);
    printed!(said.notes());
    assert!(place.read("r.json").contains("\"ended\": \"failed\""));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_budget_ends_a_run_that_would_never_end_and_reports_what_there_is() {
    let place = here();
    let began = Instant::now();
    let said = compare(&place, &["sleep 0.01", "sleep 1000", "--budget", "1s"]).ended(3);
    printed!(said.notes());
    // The first run of the second ends at once, and the next never.
    let hangs = "if test -e been; then exec sleep 1000; fi; touch been";
    let arguments =
        ["true", hangs, "--budget", "4s", "--json", "r.json", "--cleanup", "touch cleaned", "--gate"];
    let said = compare(&place, &arguments).ended(0);
    printed!(said.outcome());
    assert!(gate(&said).contains("--budget was spent"), "{}", said.out);
    assert!(place.read("r.json").contains("\"ended\": \"budget\"") && place.path("cleaned").exists());
    // Nor one that goes before a run, nor a warm-up.
    let said = compare(&place, &["true", "true", "--prepare", "sleep 1000", "--budget", "1s"]).ended(3);
    printed!(said.notes());
    let said = compare(&place, &["true", "sleep 1000", "--warmup", "1", "--budget", "1s"]).ended(3);
    printed!(said.notes());
    // Nor one that goes after a run; what tidies up runs all the same, and to its end.
    let tidies = ["--cleanup", "sleep 1.2; touch tidied"];
    let said = compare(
        &place,
        &[&["true", "true", "--conclude", "sleep 1000", "--budget", "1s"][..], &tidies].concat(),
    );
    printed!(said.ended(3).notes());
    assert!(place.path("tidied").exists());
    std::fs::remove_file(place.path("tidied")).unwrap();
    let said = compare(
        &place,
        &[&["touch ran", "true", "--setup", "sleep 1000", "--budget", "1s"][..], &tidies].concat(),
    );
    let said = said.ended(3);
    printed!(said.notes());
    assert!(place.path("tidied").exists() && !place.path("ran").exists());
    // A run that is cut off has its conclusion.
    let said = compare(&place, &["sleep 1000", "true", "--conclude", "touch concluded", "--budget", "1s"]);
    printed!(said.ended(3).notes());
    assert!(place.path("concluded").exists());
    assert!(began.elapsed() < LONG, "{:?}", began.elapsed());
    assert_eq!(place.left(), [""; 0]);
    // It comes before the fewest runs with which there can be a verdict.
    let said = compare(&place, &[FAST, FAST, "--budget", "1ms"]);
    let (few, none) =
        (said.out.starts_with("undecided after 1 pair in "), said.err.contains("ended before every"));
    assert!(few && said.code == 0 || none && said.code == 3, "{}\n{}", said.out, said.err);
}

#[test]
fn what_makes_no_sense_is_said_before_anything_runs() {
    let place = here();
    let cases: &[&[&str]] = &[
        &[],
        &["true", "--gate"],
        &["true", "true", "--reference-name", "x"],
        &["true", ""],
        &["true", "--metrics", "cache_misses:k"],
        &["true", "--env", "A"],
        &["true", "# x"],
        &["true", "--setup", ""],
        &["true", "--prepare", " "],
        &["true", "--conclude", "# x"],
        &["true", "--cleanup", "''"],
        &["true", "--setup", "echo 'a", "-N"],
        &["-P", "n", "1", "2", "-D", "1", "-D", "1", "sleep {n}"],
        &["-P", "n", "1", "2", "-P", "n", "1", "2", "sleep {n}"],
        &["true", "true", "--output", "a", "--output", "b", "--output", "c"],
        &["true", "echo 'a"],
        &["true", "true", "--margin", "-1%"],
        &["true", "true", "--margin", "x"],
        &["true", "true", "--runs", "0"],
        &["true", "true", "--runs", "-3"],
        &["true", "true", "--min-runs", "5", "--max-runs", "4"],
        &["true", "true", "--budget", "0s"],
        &["true", "true", "-n", "a", "-n", "b", "-n", "c"],
        &["true", "true", "-p", "a", "-p", "b", "-p", "c"],
        &["-P", "n", "2", "1", "sleep {n}"],
        &["-P", "n", "a", "1", "sleep {n}"],
        &["true", "true", "--input", "nowhere"],
        &["true", "true", "--output", "no/where"],
        &["true", "true", "--json", "no/where"],
        &["true", "true", "--import", "nowhere"],
        &["true", "true", "--cores", "x"],
        &["true", "true", "--connections", "3"],
        &["true", "http://127.0.0.1:1/"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:2/", "--prepare", "x"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:2/", "--reference", "x"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:2/", "-z", "2s", "--budget", "3s"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:2/", "--budget", "11s", "--gate"],
    ];
    for arguments in cases {
        let said = compare(&place, arguments).ended(2);
        printed!(said.notes());
    }
    let said = compare(&place, &["true", "no-such-program-here"]).ended(3);
    printed!(said.notes());
    let said = compare(&place, &["http://127.0.0.1:1/", "http://127.0.0.1:2/", "-z", "100ms", "--seed", "1"])
        .ended(3);
    printed!(said.notes());
}

#[test]
fn what_is_saved_is_shown_again() {
    let place = Place::new("", &[]);
    let said = place
        .kumite(&["compare", "--runs", "3", "--save", "mine", "--json", "mine.json", "true", "false", "-i"])
        .ended(0);
    printed!(said.notes());
    for kept in ["mine", "mine.json"] {
        assert_eq!(place.kumite(&["report", kept]).ended(0).out, said.out, "{kept}");
    }
    place.kumite(&["report", "mine", "--html", "mine.html", "--markdown", "mine.md"]).ended(0);
    assert!(place.read("mine.html").contains("kumite compare") && place.read("mine.md").contains("| true |"));
    assert_eq!(place.kumite(&["list", "--runs"]).ended(0).out, "mine  kept by --save\n");
    for wrong in [
        &["compare", "--save", "mine", "true", "true"][..],
        &["compare", "--save", "last", "true", "true"],
        &["compare", "--save", "mine.json", "true", "true"],
        &["report", "mine", "--gate"],
        &["report", "mine", "--svg", "mine.svg"],
    ] {
        let said = place.kumite(wrong).ended(2);
        printed!(said.notes());
    }
}
