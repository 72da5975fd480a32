//! A contender that stands in each block twice.

use serde_json::Value;

use crate::place::Place;
use crate::printed::printed;
use crate::schema::assert_right;

const CLAIMS: &str = r#"
[[claim]]
id = "near"
assert = "throughput_rps(a) > throughput_rps(b)"
[[claim]]
id = "far"
assert = "throughput_rps(a) > throughput_rps(c)"
"#;

/// "a" is 2 % before "b" and three times as fast as "c"; its second trial in a block has this part of its throughput.
fn place(twin: &str) -> Place {
    let place = Place::new(CLAIMS, &[("a", "pong"), ("b", "pong"), ("c", "pong")]);
    let trial =
        |name, rps| format!("[[trial]]\ncontender = '{name}'\nmetrics = {{ throughput_rps = {rps} }}\n");
    let script = [("a", "1000"), ("a--control", twin), ("b", "980"), ("c", "333")];
    place.write("script.toml", &script.map(|(name, rps)| trial(name, rps)).concat());
    place
}

/// On both sides in turn.
const LIKE_ITSELF: &str = "[1001, 999, 1002, 998]";

fn run(place: &Place, arguments: &[&str]) -> Value {
    let export = place.scripted(&[arguments, &["--json", "-"]].concat()).ended(0).json();
    assert_right("run", &export);
    export
}

fn names<'a>(export: &'a Value, of: &str, key: &str) -> Vec<&'a str> {
    export[of].as_array().unwrap().iter().map(|it| it[key].as_str().unwrap()).collect()
}

/// In how many blocks there is a trial of "a", and a second one.
fn trials(export: &Value) -> [usize; 2] {
    ["a", "a--control"].map(|name| {
        let all = export["trials"].as_array().unwrap().iter();
        all.filter(|trial| trial["contender"] == name && trial["control"].is_boolean() == (name != "a"))
            .count()
    })
}

fn verdicts(export: &Value) -> Vec<&str> {
    names(export, "claims", "verdict")
}

const RUN: &[&str] = &["run", "fake", "--blocks", "20", "--control=a", "--seed", "1"];

#[test]
fn a_control_stands_in_each_block_twice_and_is_no_contender() {
    let place = place(LIKE_ITSELF);
    let export = run(&place, RUN);
    assert_eq!(verdicts(&export), ["holds", "holds"]);
    for of in ["contenders", "cells"] {
        let key = if of == "cells" { "contender" } else { "name" };
        assert_eq!(names(&export, of, key), ["a", "b", "c"], "{of}");
    }
    let [first, second] = trials(&export);
    // Of as many metrics as servers have, no control is off in fewer blocks.
    assert!(first == second && first >= 13, "{first} {second}");
    let control = &export["run"]["control"];
    assert_eq!((&control["contender"], &control["twin"]), (&"a".into(), &"a--control".into()));
    assert_eq!(control["itself"]["metric"], "throughput_rps");
    assert_eq!(control["itself"]["blocks"], first);
    assert_eq!(control["off"], Value::Null);
    printed!(place.kumite(&["report"]).ended(0).report());
}

#[test]
fn what_a_control_that_is_off_might_turn_is_undecided_and_what_is_further_stands() {
    let place = place("970");
    let export = run(&place, &[RUN, &["--strict"]].concat());
    assert_eq!(verdicts(&export), ["undecided", "holds"]);
    let off = &export["run"]["control"]["off"][0];
    assert_eq!(off["metric"], "throughput_rps");
    assert!((off["ratio"]["estimate"].as_f64().unwrap() - 0.97).abs() < 1e-9, "{off}");
    assert_eq!(export["claims"][0]["reason"]["what"], "control-is-off");
    assert_eq!(&export["claims"][0]["reason"]["by"], off);
    // It is measured as long as it might still be told.
    assert_eq!(trials(&export), [20, 20]);
    printed!(place.kumite(&["report", "--gate"]).ended(0).report());
    place.kumite(&["report", "--gate=holds"]).ended(1);
    let markdown = place.kumite(&["report", "--markdown", "-"]).ended(0).out;
    printed!(markdown.lines().take(8).map(|line| format!("{line}\n")).collect::<String>());
}

#[test]
fn shards_resume_and_again_keep_the_control() {
    let place = place(LIKE_ITSELF);
    for (share, file) in [("1/2", "1.db"), ("2/2", "2.db")] {
        place.scripted(&[RUN, &["--shard", share, "--db", file]].concat()).ended(0);
    }
    let merged = run(&place, &["merge", "1.db", "2.db", "--db", "all.db"]);
    assert_eq!((trials(&merged), &merged["run"]["control"]["itself"]["blocks"]), ([20, 20], &20.into()));
    place
        .scripted(&[&RUN[..4], &["--control=b", "--db", "b1.db", "--shard", "1/2", "--seed", "1"]].concat())
        .ended(0);
    printed!(place.kumite(&["merge", "b1.db", "2.db", "--db", "no.db"]).ended(2).notes());

    let cut = run(&place, &[RUN, &["--budget", "20s"]].concat());
    assert!(cut["run"]["cut_short"].is_string() && trials(&cut)[1] < 6, "{:?}", trials(&cut));
    let whole = run(&place, &["resume"]);
    let [first, second] = trials(&whole);
    assert!(first == second && whole["run"]["control"]["itself"]["blocks"] == first, "{whole}");
    let id = whole["run"]["id"].as_str().unwrap();
    let again = run(&place, &["again", id]);
    assert_eq!(trials(&again), [first + 10, first + 10]);
    assert_eq!(again["run"]["control"]["itself"]["blocks"], first + 10);
}

#[test]
fn a_control_that_is_no_contender_or_is_left_out_is_refused() {
    let place = place(LIKE_ITSELF);
    let refused = |arguments: &[&str]| place.kumite(&[&["run", "fake"], arguments].concat()).ended(2).notes();
    let said = [refused(&["--control=d"]), refused(&["--control=b", "--skip", "b"])];
    let file = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &format!("control = \"aa\"\n{file}"));
    printed!([&said[0], &said[1], &refused(&[])].map(String::as_str).concat());
}

#[test]
fn the_file_names_the_control_and_the_flag_alone_takes_the_first() {
    let place = place(LIKE_ITSELF);
    let control = |arguments: &[&str]| {
        run(&place, &[&["run", "fake", "--blocks", "6"], arguments].concat())["run"]["control"]["contender"]
            .clone()
    };
    assert_eq!(control(&[]), Value::Null);
    assert_eq!(control(&["--control"]), "a");
    assert_eq!(control(&["--control", "--skip", "a"]), "b");
    let file = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &format!("control = \"c\"\n{file}"));
    assert_eq!(control(&[]), "c");
    assert_eq!(control(&["--control=b"]), "b");
}
