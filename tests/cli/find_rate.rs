use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use kumite_load::stub::{Config, Delay, Running, Stub};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, Said, nobody};
use crate::schema::assert_right;
use crate::still::undisturbed;

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

#[test]
fn an_answer_has_an_interval_and_the_trials_it_is_made_of() {
    // 500/s for ever; in 50 ms, with a backlog of 50 ms allowed, about 1,000/s.
    let (_stub, url) = stub(2);
    let place = Place::new("", &[]);
    let find = ["load", &url, "--find-rate", "--slo", "errors = 0", "-z", "50ms", "-t", "50ms"];
    let arguments = [&find[..], &["--budget", "30s", "--json", "found.json"]].concat();
    let Some(said) = undisturbed(Duration::from_millis(40), || place.kumite(&arguments)) else { return };
    let said = said.ended(0);
    assert!(
        said.out.starts_with("highest rate: ") && said.out.contains(" req/s, 95 % interval "),
        "{}",
        said.out
    );
    assert!(said.err.lines().any(|line| line.ends_with(" req/s: met")), "{}", said.err);
    assert!(said.err.lines().any(|line| line.ends_with(" failed, not met: errors = 0")), "{}", said.err);

    let found = serde_json::from_str(&place.read("found.json")).unwrap();
    assert_right("found-rate", &found);
    assert_eq!((&found["schema"], &found["ended"]), (&1.into(), &"found".into()));
    let rate = |key: &str| found["rate_rps"][key].as_f64().unwrap();
    assert!(rate("low") <= rate("estimate") && rate("estimate") <= rate("high"));
    assert!(rate("n") >= 6.0 && rate("n") as usize == found["answers_rps"].as_array().unwrap().len());
    let trials = found["trials"].as_array().unwrap();
    assert_eq!(trials.len(), said.err.lines().filter(|line| line.contains(" req/s: ")).count());
    for trial in trials.iter().filter(|trial| trial["verdict"] != "void") {
        let failed = trial["errors"].as_object().unwrap().values().any(|n| n.as_u64() > Some(0));
        assert_eq!(trial["verdict"] == "met", !failed, "{trial}");
    }
}

#[test]
fn a_server_that_is_always_too_slow_has_no_rate() {
    let (_stub, url) = stub(50);
    let said = find(&url, "p50 < 1ms", &["-z", "200ms", "--budget", "4s", "-c", "2"]).ended(1);
    let expected = "no rate: the server does not meet p50 < 1ms and errors = 0 even at 100 req/s, the lowest";
    assert!(said.out.starts_with(expected), "{}", said.out);
    assert!(
        said.err.contains("error: no rate was found that meets p50 < 1ms and errors = 0"),
        "{}",
        said.err
    );
}

#[test]
fn what_is_known_when_time_is_over_is_said() {
    let (_stub, url) = stub(1);
    let more = ["-z", "100ms", "--budget", "2s", "--json", "-"];
    let said = undisturbed(Duration::from_millis(50), || find(&url, "max < 900ms", &more));
    let Some(said) = said else { return };
    let said = said.ended(3);
    assert!(said.err.contains("error: the budget was spent"), "{}", said.err);
    let found = said.json();
    assert_right("found-rate", &found);
    assert_eq!((&found["ended"], &found["rate_rps"]), (&"out-of-time".into(), &serde_json::Value::Null));
    assert!(found["met_rps"].as_f64().unwrap() >= 100.0, "{found}");
    assert!(found["seconds"].as_f64().unwrap() < 5.0);
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
    assert!(err.contains("error: it was interrupted"), "{err}");
    assert_eq!(said.json()["ended"], "interrupted");
}

#[test]
fn what_makes_no_sense_is_said_before_anything_is_sent() {
    let (_stub, url) = stub(1);
    for (slo, more, expected) in [
        ("p99 > 10ms", &[][..], "\"p99 > 10ms\", character 5: expected < or <=; write an SLO like"),
        ("p99 < 10", &[], "character 9: expected a unit: us, ms or s"),
        ("p99 < 2s", &[], "the time-out of 1s is not above 2s, which the SLO allows: raise it (--timeout)"),
        ("p99 < 10ms", &["-n", "5"], "cannot be used with"),
    ] {
        let said = find(&url, slo, more).ended(2);
        assert!(said.err.contains(expected), "{slo}: {}", said.err);
        assert_eq!(said.out, "");
    }
    let place = Place::new("", &[]);
    assert!(place.kumite(&["load", &url, "--find-rate"]).ended(2).err.contains("--slo <SLO>"));
    let (addr, _port) = nobody();
    let said = find(&format!("http://{addr}/"), "p99 < 10ms", &[]).ended(1);
    assert!(said.err.contains("no right answer from the server: 3 refused"), "{}", said.err);
}
