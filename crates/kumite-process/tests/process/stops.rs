//! Processes that somebody else has stopped.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use kumite_process::Stops;
use kumite_testing::eventually;
use kumite_testing::process::Bench;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// By its name it is known from what other tests stop meanwhile.
const NAME: &str = "napper";

#[test]
fn a_process_that_another_has_stopped_is_seen_and_one_that_we_have_paused_is_not() {
    let bench = Bench::new();
    let script = bench.dir().join(NAME);
    fs::write(&script, "#!/bin/sh\necho $$ > $1\nwhile :; do sleep 1; done\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let is_seen = |stops: &mut Stops| stops.look().as_deref() == Some(NAME);

    let mut early = bench.start("./napper early & wait");
    let early_pid = bench.pid("early");
    let mut stops = Stops::begin();
    let late = bench.start("./napper late & wait");
    for pid in [early_pid, bench.pid("late")].map(|pid| Pid::from_raw(pid.cast_signed())) {
        kill(pid, Signal::SIGSTOP).unwrap();
        eventually(|| is_seen(&mut stops));
        kill(pid, Signal::SIGCONT).unwrap();
        eventually(|| !is_seen(&mut stops));
    }
    assert!(early.pause());
    assert!((0..10).all(|_| !is_seen(&mut stops)));
    early.resume();
    assert!((0..10).all(|_| !is_seen(&mut stops)));
    drop(late);
}
