use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::{EXPERIMENT, Place, Said};
use crate::printed::printed;

/// Ctrl-C in the middle of a trial: it ends with what there is, and the run goes on where it was.
#[test]
fn ctrl_c_reports_what_there_is() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let place = Place::new("", &[("a", "pong"), ("b", "pong")]);
        place.write("script.toml", "[[trial]]\nseq = 5\ndoes = 'wait'\n");
        let arguments = ["run", "fake", "--json", "r.json"];
        let mut command = place.scripted_command(&arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        eventually(|| place.path("begun").exists());
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let said = Said::of(child.wait_with_output().unwrap()).ended(3);
        printed!(said.notes());
        printed!(said.words());
        let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
        assert_eq!(export["trials"].as_array().unwrap().len(), 5);
        place.write("script.toml", "");
        let export = place.scripted(&["resume", "--json", "-"]).ended(0).json();
        assert_eq!(export["trials"].as_array().unwrap().len(), 12);
    }
}

/// All is kept by then, and a report can be made again.
#[test]
fn ctrl_c_while_a_report_is_made_ends_it_at_once() {
    let place = Place::new("", &[("a", "pong")]);
    place.write("script.toml", "");
    // Whoever opens it waits for a reader, and there is none.
    nix::unistd::mkfifo(&place.path("r.html"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut command = place.scripted_command(&["run", "fake", "--html", "r.html"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let kept = lines.find(|line| line.as_ref().unwrap().contains("kept as run"));
    assert!(kept.is_some(), "it ended before");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::SIGTERM as i32));
    assert!(place.scripted(&["report", "last"]).ended(0).out.contains("a "));
}

/// The same under load.
#[test]
fn ctrl_c_leaves_no_process() {
    let place = Place::new("", &[("a", "pong")]);
    let text = EXPERIMENT.replace("duration_s = 0.2", "duration_s = 600");
    place.write("experiments/fake/experiment.toml", &text);
    let child =
        place.command(&["run", "fake"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.begun() > 0);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn ctrl_c_in_a_build_ends_the_build() {
    let place = Place::new("", &[]);
    let pid = place.path("pid");
    let build = format!("build = 'echo $$ > {}; sleep 600 # {}'", pid.display(), place.mark());
    place.contender("built", "pong", &build);
    let child = place.command(&["run", "fake"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| pid.exists());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}
