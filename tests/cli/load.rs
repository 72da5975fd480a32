use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::place::{Place, fake, nobody};

/// A server that somebody else started.
pub struct Server {
    child: Child,
    pub url: String,
}

impl Server {
    pub fn start(mode: &str) -> Server {
        let mut fake = Command::new(fake());
        let mut child = fake.arg(mode).env("PORT", "0").stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut port).unwrap();
        Server { child, url: format!("http://127.0.0.1:{}/", port.trim()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn every_request_is_counted_and_the_json_has_its_documented_form() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let result = place
        .kumite(&[
            "load",
            &server.url,
            "-c",
            "3",
            "-n",
            "1000",
            "-d",
            "ping",
            "--expect-body",
            "pong",
            "-t",
            "20s",
            "--json",
            "-",
        ])
        .ended(0)
        .json();
    assert_eq!(
        (&result["schema"], &result["requests"], &result["ok"]),
        (&4.into(), &1000.into(), &1000.into())
    );
    for kind in ["status", "body", "timeout", "refused", "connect", "reset", "closed", "malformed"] {
        assert_eq!(result["errors"][kind], 0, "{kind}");
    }
    for key in ["mean", "p50", "p90", "p99", "max"] {
        assert!(result["response_us"][key].as_f64().unwrap() > 0.0, "{key}");
        assert_eq!(
            result["service_us"][key], result["response_us"][key],
            "in a closed loop they are the same"
        );
    }
    assert!(result["response_us"]["p99_9"].is_null(), "one of 1,000 requests is beyond it");
    assert_eq!(result["needs"], serde_json::json!({"response_p99_9_us": 9000}));
    assert!(result["engine"]["cpu_us_per_request"].as_f64().unwrap() > 0.0);
    assert!(result["engine"]["send_lag_p99_us"].is_null(), "a closed loop has no schedule to lag behind");
    let in_bins: u64 =
        result["histogram_us"].as_array().unwrap().iter().map(|bin| bin[1].as_u64().unwrap()).sum();
    assert_eq!(in_bins, 1000);
}

#[test]
fn answers_that_were_not_expected_are_a_failed_gate() {
    let (place, server) = (Place::new("", &[]), Server::start("slip"));
    let arguments = ["load", &server.url, "-c", "1", "-n", "1000", "-d", "ping", "--expect-body", "pong"];
    let said = place.kumite(&[&arguments[..], &["-t", "20s"]].concat()).ended(1);
    assert!(said.out.contains("950 ok"), "{}", said.out);
    assert!(said.err.contains("error: 50 of 1000 requests did not get the expected answer"), "{}", said.err);
}

#[test]
fn a_body_comes_from_a_file_and_a_status_can_be_expected() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    place.write("body", "ping");
    let load = |more: &[&str]| {
        place.kumite(
            &[&["load", &server.url, "-n", "10", "-c", "1", "-D", "body", "-H", "x-a: b", "-t", "20s"], more]
                .concat(),
        )
    };
    load(&[]).ended(0);
    load(&["--expect-status", "200", "-m", "PUT", "-z", "60s"]).ended(0);
    let said = load(&["--expect-status", "201"]).ended(1);
    assert!(said.err.contains("error: no right answer from"), "{}", said.err);
    let missing = place.kumite(&["load", &server.url, "-D", "none"]).ended(2);
    assert!(missing.err.contains("cannot read the body from none"), "{}", missing.err);
}

#[test]
fn nobody_there_is_said_and_counted() {
    let place = Place::new("", &[]);
    let (addr, _port) = nobody();
    let url = format!("http://{addr}/");
    let said = place.kumite(&["load", &url, "-n", "20", "-c", "2", "--timeout", "20s"]).ended(1);
    assert!(said.out.contains("20 refused"), "{}", said.out);
    assert!(said.err.contains(&format!("error: no right answer from {url}")), "{}", said.err);
}
