//! Instruction counts of programs whose loops are known, under valgrind.

use std::path::Path;

use kumite_testing::{Capability, lacks, process};
use serde_json::Value;

use crate::place::Place;
use crate::printed::printed;

/// Loops of two instructions a turn, and a program that is nothing but one.
const LOOPS: &str = include_str!("../../../../bench/compare/loops/loops.c");
const BARE: &str = include_str!("../../../../bench/compare/loops/bare.c");

/// What callgrind counts of the 2,000,004 instructions: not those of the block whose system call ends the process.
const BARE_COUNTED: u64 = 2_000_001;

/// A place with those programs; none where no valgrind is.
pub fn loops() -> Option<Place> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    if !std::env::split_paths(&path).any(|folder| folder.join("valgrind").is_file()) {
        lacks(Capability::Valgrind, "valgrind is not on PATH");
        return None;
    }
    let place = Place::new("", &[]);
    place.write("loops.c", LOOPS);
    place.write("bare.c", BARE);
    made(&place, &["-O1", "-pthread", "-o", "loops", "loops.c"]);
    made(&place, &["-nostdlib", "-static", "-DTURNS=1000000", "-o", "bare", "bare.c"]);
    Some(place)
}

pub fn made(place: &Place, arguments: &[&str]) {
    let mut compiler = std::process::Command::new("cc");
    let made = process::output(compiler.args(arguments).current_dir(place.path("."))).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

fn counted(place: &Place, arguments: &[&str]) -> Value {
    let fixed = ["compare", "--counts", "--runs", "1", "--json", "-"];
    place.kumite(&[&fixed, arguments].concat()).ended(0).json()
}

/// The counts of each command.
fn instructions(comparison: &Value) -> Vec<Vec<u64>> {
    let of = |command: &Value| {
        let counts = command["counts"]["instructions"].as_array().unwrap();
        counts.iter().map(|count| count.as_u64().unwrap()).collect()
    };
    comparison["commands"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn a_program_without_a_library_is_counted_up_to_the_block_that_ends_it() {
    let Some(place) = loops() else { return };
    let comparison = counted(&place, &["./bare"]);
    assert_eq!(instructions(&comparison), [[BARE_COUNTED; 3]]);
    assert_eq!(comparison["commands"][0]["counts"]["processes"], 1);
}

#[test]
fn all_processes_and_threads_are_counted_once_and_the_shell_is_not() {
    let Some(place) = loops() else { return };
    // Of each, the loops that one more turn adds to.
    for (command, loops, processes) in [
        ("./loops loop TURNS", 1, 1),
        ("./loops threads TURNS", 2, 1),
        ("./loops fork TURNS", 2, 2),
        ("./loops start TURNS", 1, 2),
        ("./loops loop TURNS > out; (./loops loop TURNS) | cat", 2, 3),
        ("exec ./loops loop TURNS > out", 1, 1),
    ] {
        let of = |turns: &str| command.replace("TURNS", turns);
        let comparison = counted(&place, &[&of("1000000"), &of("2000000")]);
        let counts = instructions(&comparison);
        let more = counts[1][0] - counts[0][0];
        let off = more.abs_diff(loops * 2_000_000);
        assert!(off < 2_000, "{command}: {more} instructions more, off by {off}");
        assert_eq!(comparison["commands"][0]["counts"]["processes"], processes, "{command}");
    }
    // A shell counts a loop of its own, and its count would be seen.
    let shell = "i=0; while [ $i -lt TURNS ]; do i=$((i + 1)); done; ./bare";
    let of = |turns: &str| shell.replace("TURNS", turns);
    let counts = instructions(&counted(&place, &[&of("1"), &of("5000")]));
    assert_eq!(counts, [[BARE_COUNTED; 3]; 2]);
}

#[test]
fn a_change_is_found_with_its_function_and_the_files_that_show_it_are_kept() {
    let Some(place) = loops() else { return };
    let more = ["./loops fork 1000000", "./loops fork 1020000", "./loops fork 1000000"];
    let comparison = counted(&place, &[&["-n", "a", "-n", "b", "-n", "c"][..], &more].concat());
    let [changed, same] = [0, 1].map(|pair: usize| &comparison["pairs"][pair]["counts"]);
    assert_eq!((&changed["state"], &same["state"]), (&"changed".into(), &"same".into()));
    let function = &changed["functions"][0];
    let executed = ["a", "b"].map(|of| function[of].as_u64().unwrap());
    assert_eq!((&function["name"], executed[0] - executed[1]), (&"loop".into(), 2 * 2 * 20_000));
    assert!(changed["ratio"]["high"].as_f64().unwrap() < 1.0, "b is executed less than a");
    assert!(same.get("functions").is_none());
    for command in comparison["commands"].as_array().unwrap() {
        let file = command["counts"]["file"].as_str().unwrap();
        assert!(Path::new(file).starts_with(place.path("cache/kumite/counts")), "{file}");
        let shown = process::output(std::process::Command::new("callgrind_annotate").arg(file)).unwrap();
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
        assert!(!Path::new(file).with_file_name("run").exists(), "the other runs are gone");
    }
    assert_eq!(comparison["counts"]["margin"], 0.001);
}

/// The reasons of the commands, as the record has them.
fn uncounted(comparison: &Value) -> Vec<Value> {
    let commands = comparison["commands"].as_array().unwrap();
    commands.iter().map(|command| command["counts"]["uncounted"].clone()).collect()
}

#[test]
fn what_cannot_be_counted_says_why_and_its_time_stands() {
    let Some(place) = loops() else { return };
    std::fs::copy(place.path("bare"), place.path("privileged")).unwrap();
    std::fs::set_permissions(place.path("privileged"), std::os::unix::fs::PermissionsExt::from_mode(0o4755))
        .unwrap();
    let left = "(echo > begun; exec sleep 60) & until test -e begun; do sleep 0.05; done; rm begun; ./bare";
    let unlike = "case $LD_PRELOAD in *valgrind*) echo words of its own >&2; exit 3;; esac; ./bare";
    let comparison = counted(
        &place,
        &[
            "./bare",
            "./privileged",
            "./privileged; true",
            left,
            unlike,
            "true | :",
            "case $LD_PRELOAD in *valgrind*) kill -KILL $$;; esac; ./bare",
        ],
    );
    let reasons = uncounted(&comparison);
    assert!(reasons[0].is_null());
    let why = |nth: usize| &reasons[nth]["what"];
    assert_eq!((why(1), &reasons[1]["exit_code"]), (&"failed".into(), &126.into()));
    assert_eq!(
        reasons[2..6],
        [
            serde_json::json!({"what": "privileged", "program": "./privileged"}),
            serde_json::json!({"what": "lost", "processes": 1}),
            serde_json::json!({"what": "failed", "exit_code": 3, "said": "words of its own"}),
            serde_json::json!({"what": "no-process"}),
        ]
    );
    assert_eq!((why(6), &reasons[6]["exit_code"]), (&"failed".into(), &137.into()));
    for (command, counts) in comparison["commands"].as_array().unwrap().iter().zip(instructions(&comparison))
    {
        assert_eq!(command["times"].as_array().unwrap().len(), 1);
        assert_eq!(counts.is_empty(), command["name"] != "./bare");
    }
    for pair in comparison["pairs"].as_array().unwrap() {
        assert_eq!(pair["counts"], serde_json::json!({"state": "cannot-tell", "ratio": null}));
    }
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn hooks_run_around_counted_runs_too_and_the_file_of_output_is_the_last_ones() {
    let Some(place) = loops() else { return };
    let arguments = ["-p", "echo $HYPERFINE_ITERATION >> hooks", "-C", "echo concluded >> hooks", "./bare"];
    counted(&place, &arguments);
    let around = |nth: &str| format!("{nth}\nconcluded\n");
    assert_eq!(place.read("hooks"), ["0", "count-0", "count-1", "count-2"].map(around).concat());
    counted(&place, &["--output", "out", "--prepare", "rm -f out", "echo counted; ./bare"]);
    assert_eq!(place.read("out"), "counted\n");
}

#[test]
fn counts_are_of_commands_and_need_valgrind() {
    let place = Place::new("", &[]);
    let refused = |arguments: &[&str]| {
        let arguments = [&["compare"], arguments].concat();
        let mut kumite = place.command(&arguments);
        kumite.env("PATH", place.path("nothing"));
        crate::place::Said::after(&arguments, process::output(&mut kumite).unwrap()).ended(2).notes()
    };
    printed!(
        [
            refused(&["true", "true", "--counts"]),
            refused(&["http://127.0.0.1:1/", "http://127.0.0.1:2/", "--counts"]),
            refused(&["true", "true", "--count-margin", "1%"]),
        ]
        .concat()
    );
}

#[test]
fn a_gate_on_counts_is_decided_by_them_alone_and_runs_nothing_for_the_gate() {
    let Some(place) = loops() else { return };
    let [less, more] = ["./loops loop 1000000", "./loops loop 1020000"];
    let of = |commands: [&str; 2], which: &str| {
        let flags =
            ["--counts", "--gate-on", "counts", "--runs", "1", "-n", "a", "-n", "b", "--json", "r.json"];
        let said = place.kumite(&[&["compare", which], &commands[..], &flags].concat());
        let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
        crate::schema::assert_right("compare", &result);
        // The reference runs once in each block, and is no control.
        assert_eq!(
            (result["commands"][0]["times"].as_array().unwrap().len(), &result["control"]),
            (1, &Value::Null)
        );
        let gate = &result["gate"];
        assert_eq!(
            (&gate["by_counts"], &gate["state"]),
            (&Value::Bool(true), &result["pairs"][0]["gate"]["state"])
        );
        let line = said.out.lines().last().unwrap_or_default().to_owned();
        assert_eq!(place.kumite(&["report", "r.json"]).out.lines().last(), Some(&*line));
        (said.code, gate["state"].as_str().unwrap().to_owned(), line)
    };
    let found = [
        of([less, more], "--gate"),
        of([more, less], "--gate=holds"),
        of([less, less], "--gate=holds"),
        // Nothing of it is counted.
        of([less, "true && cd ."], "--gate"),
        of([less, "true && cd ."], "--gate=holds"),
    ];
    let states: Vec<(i32, &str)> = found.iter().map(|(code, state, _)| (*code, &**state)).collect();
    assert_eq!(states, [(1, "shut"), (0, "open"), (0, "open"), (0, "undecided"), (1, "undecided")]);
    printed!(place.kumite(&["compare", less, more, "--gate", "--gate-on", "counts"]).ended(2).notes());
}
