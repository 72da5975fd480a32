use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{LONG, Place, Said, eventually};

/// Ctrl-C in the middle: it ends at once with what there is, and leaves no process.
#[test]
fn ctrl_c_reports_what_there_is_and_leaves_nothing() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let place = Place::new("", &[("a", "pong"), ("b", "pong")]);
        let mut child = place
            .command(&["run", "fake", "--blocks", "1000", "--json", "r.json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let begun = lines.by_ref().map_while(Result::ok).any(|line| line.contains("trials will take about"));
        assert!(begun, "it is in the middle of it");
        let asked = Instant::now();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        // What it writes must go somewhere, or it could not end.
        let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
        let mut said = Said::of(child.wait_with_output().unwrap());
        assert!(asked.elapsed() < LONG, "{:?}", asked.elapsed());
        said.err = rest.join().unwrap();
        let said = said.ended(3);
        assert!(said.err.contains("error: it was interrupted after"), "{}", said.err);
        assert!(said.out.contains("it was interrupted after"), "{}", said.out);
        assert!(place.read("r.json").contains("\"trials\""));
        assert_eq!(place.left(), [""; 0]);
    }
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
