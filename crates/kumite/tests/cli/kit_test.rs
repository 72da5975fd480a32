//! The conformance script: a worker that does all right passes, and each fault is found by the check that is made for it.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Instant;

use kumite_testing::{LONG, eventually, example};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, Said};

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

/// Workers with these faults, each of which is found by one check with these words, and no other check finds any.
#[track_caller]
fn found(faults: &[(&str, &str)]) {
    let said = with_faults(&faults.iter().map(|(fault, _)| *fault).collect::<Vec<_>>()).ended(1);
    let failing: Vec<&str> = said.out.lines().filter(|line| line.starts_with('✗')).collect();
    for (fault, expected) in faults {
        assert!(failing.iter().any(|line| line.contains(expected)), "{fault}: {failing:#?}");
    }
    assert_eq!(failing.len(), faults.len(), "{failing:#?}");
    let all = said.out.lines().filter(|line| line.starts_with(['✓', '✗'])).count();
    let sum = format!("{} right, {} failing\n", all - faults.len(), faults.len());
    assert!(said.out.ends_with(&sum), "{}", said.out);
    assert!(said.err.contains(&format!("error: the kit fails {} of {all}", faults.len())), "{}", said.err);
}

#[test]
fn a_right_worker_passes() {
    let said = with_faults(&[]).ended(0);
    assert!(said.out.lines().filter(|line| line.starts_with('✓')).count() > 20, "{}", said.out);
    assert!(
        said.out.contains("an empty job takes p50 ") && said.out.contains("by kumite's clock, of 1000"),
        "{}",
        said.out
    );
    assert!(said.out.ends_with(" right, 0 failing\n"), "{}", said.out);
}

#[test]
fn what_is_wrong_with_answers_and_the_end_is_found() {
    found(&[
        ("no-cores", "✗ a hello has name, runtime, cores, and a pid of its own: expected \"cores\""),
        (
            "small-numbers",
            "✗ job numbers are given back, up to 2^53 - 1: it answered job 4294967295 while it was asked for job 9007199254740991",
        ),
        (
            "no-kanji",
            "✗ echo gives back every shape of JSON: expected \"é 数学 🎉\" back, and it is \"é 学 🎉\"",
        ),
        ("echoes-twice", "✗ two requests that come together are both answered: it answered job"),
        ("vague-errors", "with \"no such student: \\\"Zoë\\\"\" in it, and it is \"it failed\""),
        ("no-thread", "✗ events have time, thread, kind and id: expected the name of a thread in each"),
        ("events-always", "✗ there are no events unless they are asked for: expected no events of"),
        (
            "no-metrics",
            "✗ metrics come with the answer: expected {\"answer_count\": 42} as metrics, and they are {}",
        ),
        ("short-lines", "✗ 1 MiB is given back: it ended with status 2 in job"),
        ("short-lines", "✗ a line of almost 16 MiB is given back: it ended with status 2 in job"),
        (
            "short-lines",
            "✗ the time is that of the job, not of reading its request: it ended with status 2 in job",
        ),
        ("exits-with-1", "✗ it exits with 0 at the end of its input: it ended with status 1"),
        ("exits-with-1", "✗ it exits with 0 when its input ends within a line: it ended with status 1"),
        ("exits-with-1", "✗ a job in flight is answered before it exits: it ended with status 1"),
        ("without-message", "✗ it exits with 2 at a line that is not JSON: expected a message on stderr"),
        ("without-message", "✗ it exits with 2 at a line that is no request: expected a message on stderr"),
    ]);
}

#[test]
fn what_is_wrong_with_reading_and_times_is_found() {
    found(&[
        ("wrong-pid", "expected the id of its own process as \"pid\", and 1 is none of its"),
        ("key-order", "✗ keys and spaces of a request are free: it ended with status 1 in job"),
        ("no-unknown-keys", "✗ unknown keys of a request are ignored: it ended with status 1 in job"),
        (
            "times-reading",
            "✗ the time is that of the job, not of reading its request: expected that elapsed_ns",
        ),
        (
            "fails-for-good",
            "✗ an exception is an error answer, and the worker goes on: it ended with status 3",
        ),
        ("does-not-sleep", "✗ a sleep takes its time on the worker's clock: expected at least 50 ms"),
        ("claims-more", "✗ an empty job takes next to no time on the worker's clock: expected at most the"),
        ("half-a-line", "✗ it exits with 0 when its input ends within a line: it ended with status 2"),
        ("drops-jobs", "✗ a job in flight is answered before it exits: it ended with status 0 in job"),
        (
            "lenient-of-json",
            "✗ it exits with 2 at a line that is not JSON: expected exit status 2 after the line a line of text, and it ended \
             with status 0",
        ),
        (
            "lenient-of-requests",
            "✗ it exits with 2 at a line that is no request: expected exit status 2 after the line [], and it has not ended \
             within 3 s",
        ),
    ]);
}

#[test]
fn what_cannot_be_started_is_not_tested() {
    let place = Place::new("", &[]);
    let said = kit_test(&place, "no-such-kit").ended(3);
    assert!(
        said.err.contains("error: `no-such-kit`: it ended with status 127 in its first hello; its log: "),
        "{}",
        said.err
    );
    assert!(said.err.contains("no-such-kit: not found"), "{}", said.err);
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
