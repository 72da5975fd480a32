//! What is wrong with a command line or a file, and what to do about it: one session for each area. (What is wrong only in
//! the course of a run stands beside the tests that bring it about.)

use crate::place::{EXPERIMENT, Place};
use crate::printed::printed;

/// Each is refused before anything is measured.
fn refused(place: &Place, commands: &[&[&str]]) -> String {
    let sessions = commands.iter().map(|arguments| {
        let said = place.kumite(arguments);
        assert!(
            said.code > 1 && said.out.is_empty(),
            "{arguments:?}: {}\n{}\n{}",
            said.code,
            said.out,
            said.err
        );
        said.notes()
    });
    sessions.collect::<Vec<_>>().join("\n")
}

/// The same of experiments: each has one line replaced.
fn replaced(lines: &[(&str, &str)]) -> String {
    let claims = "[[claim]]\nid = 'it'\nassert = 'throughput_rps(a) > throughput_rps(b)'\n";
    let place = Place::new(claims, &[("a", "pong"), ("b", "slow")]);
    let text = place.read("experiments/fake/experiment.toml");
    let sessions = lines.iter().map(|(from, to)| {
        assert!(text.contains(from), "{from}");
        place.write("experiments/fake/experiment.toml", &text.replacen(from, to, 1));
        let said = place.kumite(&["run", "fake", "--dry-run"]);
        assert_eq!(said.code, 2, "{to}: {}{}", said.out, said.err);
        format!("# {} -> {}\n{}", from.trim(), to.trim().replace('\n', " ⏎ "), said.notes())
    });
    sessions.collect::<Vec<_>>().join("\n")
}

#[test]
fn typing_errors() {
    printed!(refused(
        &Place::new("", &[("a", "pong"), ("contender", "pong")]),
        &[
            &[],
            &["compres", "true", "true"],
            &["rnu", "fake"],
            &["compare", "true", "true", "--marjin", "5%"],
            &["run", "fake", "--blokcs", "3"],
            &["run"],
            &["run", "fake", "--blocks", "0"],
            &["run", "fake", "--budget", "10"],
            &["run", "fake", "--on", "shh:a"],
            &["run", "fake", "--shard", "3/2"],
            &["run", "fake", "--shard", "1/2", "--gate"],
            &["compare", "true", "true", "--metrics", "tme_wall_clock"],
            &["run", "fake", "--only", "nobody"],
            &["run", "fake", "--only", "contendre"],
            &["run", "fake", "--gate", "--gate-allow", "contendre"],
            &["check", "fkae"],
            &["run", "fake", "--skip", "a"],
            &["run", "fake", "--profile", "qick"],
            &["export", "last", "--format", "xml"],
            &["schema", "runs"],
            &["init", "it", "--kind", "https"],
        ],
    ));
}

#[test]
fn things_that_are_not_there() {
    printed!(refused(
        &Place::new("", &[("a", "pong")]),
        &[
            &["run", "fak"],
            &["run", "experiments/fake/contenders/a/contender.toml"],
            &["check", "nowhere/experiment.toml"],
            &["report"],
            &["report", "2026"],
            &["report", "missing.json.gz"],
            &["replicate", "missing.json"],
            &["merge", "missing.json"],
            &["report", "experiments/fake/experiment.toml"],
            &["resume"],
            &["export", "last"],
            &["merge", "one.db", "two.db"],
            &["list", "--runs", "--db", "nowhere/results.db"],
            &["task", "fake"],
            &["play", "combo.txt"],
            &["disk", "nowhere", "mount", "--delay", "1ms"],
            &["compare", "--import", "results.json"],
            &["load", "http://127.0.0.1:1/", "-D", "body"],
            &["load", "http://127.0.0.1:1/", "--csv", "rows.csv"],
            &["function", "serve", "functions"],
        ],
    ));
}

#[test]
fn load() {
    let place = Place::new("", &[]);
    place.write("rows.csv", "id,name\n1,ann\n");
    let url = "http://127.0.0.1:1/";
    let with = |more: &[&'static str]| [&["load", url], more].concat();
    let commands = [
        vec!["load"],
        vec!["load", "127.0.0.1:1"],
        vec!["load", "ftp://127.0.0.1/"],
        vec!["load", "http://127.0.0.1:1/{{id}}"],
        vec!["load", url, "http://127.0.0.1:2/"],
        with(&["-c", "0"]),
        with(&["-n", "0"]),
        with(&["-z", "10"]),
        with(&["-t", "0s"]),
        with(&["-R", "0"]),
        with(&["-R", "many"]),
        with(&["-R", "1e9"]),
        with(&["-H", "nameless"]),
        with(&["-m", "G T"]),
        with(&["-d", "x", "-D", "rows.csv"]),
        with(&["--weights", "1,2"]),
        with(&["--weights", "0"]),
        with(&["--slo", "p99 < 10"]),
        with(&["--slo", "p99 < 10ms"]),
        with(&["-R", "500", "--slo", "p99 < 10ms", "--repeat", "4"]),
        with(&["--find-rate"]),
        with(&["--expect-status", "99"]),
        with(&["--expect-regex", "("]),
        with(&["--expect-json", "user"]),
        with(&["--csv", "rows.csv", "-d", "{{nmae}}"]),
        with(&["--cores", "x"]),
        with(&["--engine", "epol"]),
        with(&["--json", "no/where"]),
        with(&["--json", "a", "--markdown", "a"]),
    ];
    let commands: Vec<&[&str]> = commands.iter().map(Vec::as_slice).collect();
    printed!(refused(&place, &commands));
}

#[test]
fn experiments() {
    printed!(replaced(&[
        ("question =", "qestion ="),
        ("kind = \"http\"", "kind = \"htp\""),
        ("kind = \"http\"\n", ""),
        ("blocks = 6", "blocks = 0"),
        ("blocks = 6", "blocks = \"6\""),
        ("blocks = 6", "blocks = 6\nblocks = 7"),
        ("blocks = 6", "blocks = 6 7"),
        ("connections = 40", "conections = 40"),
        ("connections = 40", "connections = [40]"),
        ("connections = 40", "connections = 0"),
        ("connections = 40", "connections = 1.5"),
        ("connections = 40", "connections = 'many'"),
        ("connections = 40", "headers = { accept = 'text/plain' }"),
        ("[answer]", "[axes]\nconections = [1, 2]\n[answer]"),
        ("connections = 40\n", "[axes]\nconnections = [0, 1]\n"),
        ("connections = 40\n", "[axes]\nconnections = [1, 'x']\n"),
        ("status = 200", "stauts = 200"),
        ("equals = \"pong\"", "equals = 1"),
        ("[[claim]]", "[claim]"),
        ("id = 'it'", "id = 'it'\nid = 'it'"),
        ("id = 'it'\n", ""),
        ("throughput_rps(a) > throughput_rps(b)", "thoughput_rps(a) > throughput_rps(b)"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(c) > throughput_rps(b)"),
        ("[answer]", "[axes]\nrate_rps = [1, 2]\n[profiles.quick]\npoints = [{ rate_rsp = 1 }]\n[answer]"),
        ("[answer]", "[profiles.quick]\nclaims = ['ti']\n[answer]"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a) >"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a)"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a) > 10 ms"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a) > response_p50_us(b)"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a at connections=3) > 1 /s"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a) > 1 / 0"),
        ("throughput_rps(a) > throughput_rps(b)", "throughput_rps(a) within 5 of throughput_rps(b)"),
    ]));
}

#[test]
fn contenders() {
    let place = Place::new("", &[("a", "pong")]);
    let file = "experiments/fake/contenders/a/contender.toml";
    let text = place.read(file);
    let sessions = [
        ("version = ", "versoin = "),
        ("version = 'echo fake 1.0'\n", ""),
        ("version = ", "needs = ['python >= x']\nversion = "),
        ("version = ", "build = ''\nversion = "),
        ("[[variant]]", "[variant]"),
        ("[[variant]]", "[[varaint]]"),
        ("name = 'a'", "name = 'a b'"),
        ("name = 'a'", "nmae = 'a'"),
        ("model = 'threads'", "model = ''"),
        ("run = '", "run = ''\nruns = '"),
    ]
    .map(|(from, to)| {
        assert!(text.contains(from), "{from}");
        place.write(file, &text.replacen(from, to, 1));
        let said = place.kumite(&["build", "fake"]);
        format!("# {} -> {}\n{}", from.trim(), to.trim().replace('\n', " ⏎ "), said.notes())
    });
    std::fs::create_dir_all(place.path("experiments/fake/contenders/empty")).unwrap();
    place.write(file, &text);
    let empty = place.kumite(&["build", "fake", "--only", "a"]);
    printed!(sessions.join("\n") + "\n" + &empty.notes());
}

/// A file that another kumite or another tool has written, or that is none at all.
#[test]
fn documents() {
    let place = Place::new("", &[]);
    for (file, text) in [
        ("empty.json", ""),
        ("cut.json", "{\"schema\": 5, "),
        ("old.json", "{\"schema\": 4}"),
        ("new.json", "{\"schema\": 99}"),
        ("none.json", "[1, 2]"),
        ("run.json", "{\"schema\": 5}"),
        ("text.db", "no database"),
    ] {
        place.write(file, text);
    }
    let files = ["empty.json", "cut.json", "old.json", "new.json", "none.json", "run.json"];
    let reports = files.map(|file| refused(&place, &[&["report", file]])).join("\n");
    let stores = refused(
        &place,
        &[
            &["list", "--runs", "--db", "text.db"],
            &["merge", "text.db"],
            &["compare", "--import", "cut.json"],
            &["compare", "--import", "none.json"],
        ],
    );
    printed!(reports + "\n" + &stores);
}

/// The experiment is right, and what is asked of it is not.
#[test]
fn runs() {
    let place = Place::new("", &[("a", "pong")]);
    let commands: [&[&str]; 10] = [
        &["run", "fake", "--gate"],
        &["run", "fake", "--gate-allow", "nobody"],
        &["run", "fake", "--shard", "30/30"],
        &["run", "fake", "--on", "slurm", "--shard", "1/2"],
        &["run", "fake", "--shards", "2"],
        &["run", "fake", "--on", "ssh:a,a"],
        &["run", "fake", "--on", "ssh:-x"],
        &["run", "fake", "--role", "sever=h"],
        &["run", "fake", "--json", "nowhere/r.json"],
        &["run", "fake", "--json", "r", "--html", "r"],
    ];
    printed!(refused(&place, &commands));
    assert!(EXPERIMENT.contains("blocks = 6") && place.begun() == 0, "nothing was measured");
}
