//! The conformance script: a worker that does all right passes, and each fault is found by the check that is made for it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use kumite_testing::{LONG, eventually, example};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, Said};
use crate::printed::printed;

pub fn fake_worker() -> PathBuf {
    example("fake_worker")
}

fn kit_test(place: &Place, command: &str) -> Said {
    place.kumite(&["kit-test", command])
}

/// Tried anew where there was no time for an answer, or an end, of a worker that does answer and end: a build for tests
/// needs seconds of CPU time for 16 MiB, and has 10 s, whoever else has the CPU.
#[track_caller]
fn with_faults(faults: &[&str]) -> Said {
    let place = Place::new("", &[]);
    let ends = !faults.contains(&"lenient-of-requests");
    let too_late =
        |line: &str| line.contains("it gave no answer to job") || ends && line.contains(" within 3 s");
    for _ in 0..4 {
        let said = with_faults_once(&place, faults);
        // Its job was over before its input was.
        let unseen = faults.contains(&"drops-jobs") && !said.out.contains("before it exits: it ended");
        if !unseen && !said.out.lines().any(too_late) {
            return said;
        }
    }
    with_faults_once(&place, faults)
}

#[track_caller]
fn with_faults_once(place: &Place, faults: &[&str]) -> Said {
    let said = kit_test(place, &format!("exec {} kit{}", fake_worker().display(), faults.join(",")));
    assert_eq!(place.left(), [""; 0]);
    said
}

/// Workers with these faults, each of which fails one check; no other fails.
#[track_caller]
fn found(faults: &[&str]) -> String {
    let said = with_faults(faults).ended(1);
    let failing = said.out.lines().filter(|line| line.starts_with('✗')).count();
    assert_eq!(failing, faults.len(), "{}", said.out);
    said.words() + &said.notes()
}

#[test]
fn a_right_worker_passes() {
    let said = with_faults(&[]).ended(0);
    assert!(said.out.lines().filter(|line| line.starts_with('✓')).count() > 20, "{}", said.out);
    printed!(said.words());
}

#[test]
fn what_is_wrong_with_answers_and_the_end_is_found() {
    printed!(found(&[
        "no-cores",
        "small-numbers",
        "no-kanji",
        "echoes-twice",
        "vague-errors",
        "no-thread",
        "events-always",
        "no-metrics",
        "short-lines",
        "short-lines",
        "short-lines",
        "exits-with-1",
        "exits-with-1",
        "exits-with-1",
        "without-message",
        "without-message"
    ]));
}

#[test]
fn what_is_wrong_with_reading_and_times_is_found() {
    printed!(found(&[
        "wrong-pid",
        "key-order",
        "no-unknown-keys",
        "times-reading",
        "fails-for-good",
        "does-not-sleep",
        "claims-more",
        "half-a-line",
        "drops-jobs",
        "lenient-of-json",
        "lenient-of-requests"
    ]));
}

#[test]
fn what_cannot_be_started_is_not_tested() {
    let place = Place::new("", &[]);
    let said = kit_test(&place, "no-such-kit").ended(3);
    printed!(said.notes());
    assert_eq!(said.out, "");
}

#[test]
fn who_cannot_say_hello_is_asked_for_nothing_else() {
    let said = kit_test(&Place::new("", &[]), "exec cat").ended(1);
    assert_eq!(
        said.out,
        "✗ a hello is answered: it wrote a line that is no answer (it lacks \"name\") in its first hello: \
         '{\\\"hello\\\":1}'\n0 right, 1 failing\n"
    );
}

#[test]
fn ctrl_c_ends_it_and_the_worker() {
    let place = Place::new("", &[]);
    let command = format!("touch begun; exec {} mute", fake_worker().display());
    let child =
        place.command(&["kit-test", &command]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    let asked = Instant::now();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    assert!(asked.elapsed() < LONG, "{:?}", asked.elapsed());
    assert_eq!(said.err, "error: it was interrupted\n");
    assert_eq!(place.left(), [""; 0]);
}
