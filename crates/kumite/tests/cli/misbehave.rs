//! Contenders that do what no contender should: each has its own outcome, the end of its log, and no heir.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::mpsc;

use kumite_testing::{eventually, example};
use serde_json::Value;

use crate::place::{EXPERIMENT, Place, standing, trial};
use crate::printed::{printed, without_figures};

/// Runs one block of a contender in this mode beside one that is right, with shorter limits where needed.
fn run(mode: &str, more: &[(&str, &str)]) -> (Place, Value, String) {
    let place = Place::new("", &[("odd", mode), ("even", "pong")]);
    let text = more.iter().fold(EXPERIMENT.to_owned(), |text, (from, to)| text.replace(from, to));
    place.write("experiments/fake/experiment.toml", &text);
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0);
    let export = said.json();
    assert_eq!(trial(&export, "even")["outcome"], "ok", "the run goes on for the others");
    let trial = trial(&export, "odd").clone();
    assert_eq!(place.left(), [""; 0]);
    let log = trial["log"].as_str().map(|log| place.path(".kumite").join(log));
    println!("{mode}: {}: {}", trial["outcome"], trial["reason"].as_str().unwrap_or("-"));
    (place, trial, log.map(|log| std::fs::read_to_string(log).unwrap_or_default()).unwrap_or_default())
}

#[track_caller]
fn ends(mode: &str, outcome: &str, reason: &str) {
    let (_place, trial, _) = run(mode, &[]);
    let why = trial["reason"].as_str().unwrap_or_default();
    assert!(trial["outcome"] == outcome && why.contains(reason), "{}: {why}", trial["outcome"]);
}

/// Known by no parent, group, session or environment.
fn detached() -> Place {
    let place = Place::new("", &[]);
    let server = format!("{} pong {}", example("fake_contender").display(), place.mark());
    let run =
        format!(r#"env -i PATH="$PATH" HOST="$HOST" PORT="$PORT" setsid setsid {server} & exec sleep 999"#);
    let text = format!("version = 'echo 1'\n[[variant]]\nname = 'a'\nmodel = 'threads'\nrun = '''{run}'''\n");
    place.write("experiments/fake/contenders/a/contender.toml", &text);
    place
}

#[test]
fn a_server_that_detached_twice_and_cleared_its_environment_ends_with_its_trial() {
    let place = detached();
    let said = place.kumite(&["check", "fake"]);
    assert_eq!(place.left(), [""; 0], "{}", said.out);
    let export = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0).json();
    let trial = standing(&export)[0];
    assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_server_that_detached_twice_and_cleared_its_environment_ends_with_kumite() {
    let place = detached();
    let mut killed = place.command(&["run", "fake"]).stderr(Stdio::null()).spawn().unwrap();
    let runs = || place.left().iter().any(|line| line.contains("pong") && !line.contains("exec sleep"));
    eventually(runs);
    killed.kill().unwrap();
    killed.wait().unwrap();
    eventually(|| place.left().is_empty());
}

#[test]
fn a_contender_that_crashes_at_its_start_fails() {
    ends(
        "crash",
        "failed",
        "it ended with status 7 before it was ready; its log: fake: no configuration found",
    );
}

#[test]
fn a_contender_that_crashes_in_the_middle_fails() {
    let (_place, trial, _) = run("die", &[]);
    let why = trial["reason"].as_str().unwrap_or_default();
    printed!(without_figures(why));
    assert_eq!(trial["outcome"], "failed");
}

#[test]
fn contenders_that_do_not_listen_or_do_so_elsewhere_fail() {
    let place = Place::new("", &[("elsewhere", "elsewhere"), ("mute", "mute")]);
    let text = EXPERIMENT.replace("[answer]", "ready_s = 1.5\n[answer]");
    place.write("experiments/fake/experiment.toml", &text);
    let export = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(3).json();
    for (name, reason) in [
        ("elsewhere", "(last: 1 refused; it listens on 127.0.0.1:"),
        ("mute", "it gave no right answer on PORT within 1.5 s (last: 1 refused; it listens nowhere)"),
    ] {
        let trial = trial(&export, name);
        let why = trial["reason"].as_str().unwrap_or_default();
        assert!(trial["outcome"] == "failed" && why.contains(reason), "{}: {why}", trial["outcome"]);
    }
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_contender_that_hangs_fails() {
    let place = Place::new("", &[("odd", "hang")]);
    let text = EXPERIMENT.replace("timeout_ms = 20000", "timeout_ms = 1000");
    let text = text.replace("rate_rps = 200", "rate_rps = 20").replace("duration_s = 0.2", "duration_s = 3");
    place.write("experiments/fake/experiment.toml", &text);
    let export = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(3).json();
    let trial = standing(&export)[0];
    let why = trial["reason"].as_str().unwrap_or_default();
    assert_eq!(trial["outcome"], "failed");
    printed!(without_figures(why));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_contender_that_ignores_sigterm_is_killed() {
    ends("stubborn", "ok", "it ignored SIGTERM for 3 s and was killed");
}

#[test]
fn a_contender_that_leaves_processes_behind_has_them_killed() {
    ends("leaver", "ok", "it ended and left 2 of its processes behind, which were killed");
}

#[test]
fn a_contender_that_answers_wrongly_is_disqualified() {
    ends("liar", "disqualified", "its answer is wrong (");
}

#[test]
fn a_contender_that_answers_slowly_is_measured() {
    let (_place, trial, _) = run("slow", &[]);
    assert_eq!(trial["outcome"], "ok");
    assert!(trial["sample"]["metrics"]["response_mean_us"].as_f64().unwrap() >= 20_000.0);
}

#[test]
fn a_contender_that_fills_the_disk_with_its_log_fails() {
    let (_place, trial, log) = run("chatty", &[("duration_s = 0.2", "duration_s = 2")]);
    let why = trial["reason"].as_str().unwrap_or_default();
    assert_eq!(trial["outcome"], "failed");
    assert!(
        why.contains("it wrote more than 64 MiB to its log") && why.contains("fake: all is well"),
        "{why}"
    );
    assert!(log.len() < 1 << 20, "what is kept of the log is its end: {} bytes", log.len());
}

/// Somebody else has the port that the contender was given, and even answers rightly there.
#[test]
fn a_contender_whose_port_another_has_taken_fails_the_check() {
    let place = Place::new("", &[("odd", "decoy")]);
    let told: PathBuf = place.path("experiments/fake/contenders/odd/port");
    let (ended, end) = mpsc::channel();
    let stranger = std::thread::spawn(move || {
        let port = || std::fs::read_to_string(&told).ok()?.parse::<u16>().ok();
        eventually(|| port().is_some());
        let listener = TcpListener::bind(("127.0.0.2", port().unwrap())).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npong").unwrap();
        let _ = end.recv();
    });
    let said = place.kumite(&["check", "fake"]).ended(1);
    drop::<mpsc::Sender<()>>(ended);
    stranger.join().unwrap();
    printed!(said.report());
    assert_eq!(place.left(), [""; 0]);
}
