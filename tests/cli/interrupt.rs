use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::{EXPERIMENT, Place, Said, eventually};

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
        assert!(
            said.err.contains("error: it was interrupted after 5 trials; `kumite resume "),
            "{}",
            said.err
        );
        assert!(said.out.contains("it was interrupted after 5 trials"), "{}", said.out);
        let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
        assert_eq!(export["trials"].as_array().unwrap().len(), 5);
        place.write("script.toml", "");
        let export = place.scripted(&["resume", "--json", "-"]).ended(0).json();
        assert_eq!(export["trials"].as_array().unwrap().len(), 12);
    }
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
    assert!(said.err.contains("error: it was interrupted"), "{}", said.err);
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
    assert!(said.err.contains("error: it was interrupted before the first trial"), "{}", said.err);
    assert_eq!(place.left(), [""; 0]);
}
