use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use kumite_stub::{Config, Delay, Running, Stub};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, Said, nobody};
use crate::printed::printed;
use crate::schema::assert_right;

/// One worker: so many answers a second and no more.
fn stub(delay_ms: u64) -> (Running, String) {
    let delay = Delay::Fixed(Duration::from_millis(delay_ms));
    let stub = Stub::start(Config { delay, workers: Some(1), ..Config::default() }).unwrap();
    let url = format!("http://{}/", stub.addr);
    (stub, url)
}

fn find(url: &str, slo: &str, more: &[&str]) -> Said {
    let place = Place::new("", &[]);
    place.kumite(&[&["load", url, "--find-rate", "--slo", slo], more].concat())
}

/// The rate that is found is the machine's; that each trial is told, and counted, is not.
#[test]
fn a_search_tells_its_trials_and_has_its_documented_form() {
    let (_stub, url) = stub(2);
    let place = Place::new("", &[]);
    let find = ["load", &url, "--find-rate", "--slo", "max < 10s", "-z", "50ms", "-t", "20s"];
    let said = place.kumite(&[&find[..], &["--budget", "1s", "--json", "found.json"]].concat());
    assert!([0, 1, 3].contains(&said.code), "{}", said.err);
    let found = serde_json::from_str(&place.read("found.json")).unwrap();
    assert_right("found-rate", &found);
    let trials = found["trials"].as_array().unwrap();
    assert_eq!(
        trials.len(),
        said.err.lines().filter(|line| line.contains(" req/s: ") || line.contains(" failed, ")).count()
    );
    for trial in trials.iter().filter(|trial| trial["verdict"] != "void") {
        let failed = trial["errors"].as_object().unwrap().values().any(|n| n.as_u64() > Some(0));
        assert_eq!(trial["verdict"] == "met", !failed, "{trial}");
    }
}

#[test]
#[ignore = "timing"]
fn a_rate_is_found_on_sockets() {
    // 500/s for ever; in 50 ms, with a backlog of 50 ms allowed, about 1,000/s.
    let (_stub, url) = stub(2);
    let said = find(&url, "errors = 0", &["-z", "50ms", "-t", "50ms", "--budget", "30s"]).ended(0);
    printed!(said.words());
}

#[test]
fn ctrl_c_ends_it_with_what_there_is() {
    let (_stub, url) = stub(1);
    let place = Place::new("", &[]);
    let arguments = ["load", &url, "--find-rate", "--slo", "max < 900ms", "-z", "300ms", "--json", "-"];
    let mut command = place.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(lines.by_ref().map_while(Result::ok).any(|line| line.contains(" req/s: ")), "it has begun");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let rest = thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    let err = rest.join().unwrap();
    assert_eq!(err.lines().last(), Some("error: it was interrupted"), "{err}");
    assert_eq!(said.json()["ended"], "interrupted");
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_sent() {
    let (_stub, url) = stub(1);
    for (slo, more) in
        [("p99 > 10ms", &[][..]), ("p99 < 10", &[]), ("p99 < 2s", &[]), ("p99 < 10ms", &["-n", "5"])]
    {
        let said = find(&url, slo, more).ended(2);
        printed!(said.notes());
        assert_eq!(said.out, "");
    }
    let place = Place::new("", &[]);
    assert!(place.kumite(&["load", &url, "--find-rate"]).ended(2).err.contains("--slo <SLO>"));
    // Without --find-rate nothing is searched for, whatever else is given.
    for more in [&["-R", "500"][..], &["-n", "9"], &["--replay", "times"], &[]] {
        let said = place.kumite(&[&["load", &url, "--slo", "p99 < 1s"], more].concat()).ended(2);
        printed!(said.notes());
        let said = place.kumite(&[&["load", &url, "--budget", "1s"], more].concat()).ended(2);
        printed!(said.notes());
    }
    let (addr, _port) = nobody();
    let said = find(&format!("http://{addr}/"), "p99 < 10ms", &[]).ended(3);
    printed!(said.notes());
}
