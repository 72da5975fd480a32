//! The lock of the machine, and who waits for it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, Said};
use crate::printed::printed;

fn place() -> Place {
    let place = Place::new("", &[("a", "pong")]);
    place.write("script.toml", "");
    place
}

/// The test measures.
fn held(place: &Place) -> File {
    let lock = File::create(place.path("measuring.lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// A run that waits, and has said so; and all that it says, once `then` has been done.
fn waiting(place: &Place, then: impl FnOnce(&Child)) -> Said {
    let mut command = place.scripted_command(&["run", "fake", "--wait", "10m"]);
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap());
    let mut err = String::new();
    lines.read_line(&mut err).unwrap();
    then(&run);
    lines.read_to_string(&mut err).unwrap();
    Said { err, ..Said::of(run.wait_with_output().unwrap()) }
}

#[test]
fn a_run_that_waits_begins_when_the_other_has_ended() {
    let place = place();
    let lock = held(&place);
    let said = waiting(&place, |_| drop(lock));
    printed!(said.ended(0).notes());
}

#[test]
fn ctrl_c_ends_who_waits() {
    let place = place();
    let _lock = held(&place);
    let said = waiting(&place, |run| kill(Pid::from_raw(run.id() as i32), Signal::SIGINT).unwrap());
    printed!(said.ended(3).notes());
}

#[test]
fn all_that_measures_waits_no_longer_than_it_is_told() {
    let place = place();
    place.scripted(&["run", "fake"]).ended(0);
    let _lock = held(&place);
    for arguments in [
        &["run", "fake"][..],
        &["again"],
        &["resume"],
        &["build", "fake"],
        &["selfcheck"],
        &["compare", "true", "false"],
        &["compare", "http://127.0.0.1:9/", "http://127.0.0.1:8/"],
        &["load", "http://127.0.0.1:9/"],
    ] {
        let arguments = [arguments, &["--wait", "1ms"]].concat();
        printed!(place.scripted(&arguments).ended(3).notes());
    }
    printed!(place.scripted(&["run", "fake", "--wait", "0s"]).ended(2).notes());
}
