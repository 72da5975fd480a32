use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::place::{Place, fake, nobody};
use crate::printed::printed;

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
        (&5.into(), &1000.into(), &1000.into())
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
        assert!(result["first_byte_us"][key].as_f64() <= result["response_us"][key].as_f64(), "{key}");
        assert!(result["first_byte_us"][key].as_f64() > Some(0.0), "{key}");
    }
    assert!(result["requests_per_connection"].is_null() && result["idle_connections"].is_null());
    assert!(result["response_us"]["p99_9"].is_null(), "one of 1,000 requests is beyond it");
    assert_eq!(result["needs"], serde_json::json!({"first_byte_p99_9_us": 9000, "response_p99_9_us": 9000}));
    assert!(result["engine"]["cpu_us_per_request"].as_f64().unwrap() > 0.0);
    assert!(result["engine"]["send_lag_p99_us"].is_null(), "a closed loop has no schedule to lag behind");
    let in_bins: u64 =
        result["histogram_us"].as_array().unwrap().iter().map(|bin| bin[1].as_u64().unwrap()).sum();
    assert_eq!(in_bins, 1000);
}

#[test]
fn connections_end_by_count_and_others_are_held_idle() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let arguments = ["load", &server.url, "-c", "3", "-n", "100", "-d", "ping", "-t", "20s"];
    let more = ["--requests-per-connection", "4", "--idle-connections", "7"];
    let said = place.kumite(&[&arguments[..], &more].concat()).ended(0);
    printed!(said.words());
    let result = place.kumite(&[&arguments[..], &more, &["--json", "-"]].concat()).ended(0).json();
    assert_eq!(result["requests_per_connection"], 4);
    assert_eq!(result["idle_connections"], serde_json::json!({"asked": 7, "open": 7, "ended": 0}));
    // A connection carries four; the last of each of the three may carry fewer.
    let reconnects = result["reconnects"].as_u64().unwrap();
    assert!((22..=24).contains(&reconnects), "{reconnects}");
}

#[test]
fn answers_that_were_not_expected_are_a_failed_gate() {
    let (place, server) = (Place::new("", &[]), Server::start("slip"));
    let arguments = ["load", &server.url, "-c", "1", "-n", "1000", "-d", "ping", "--expect-body", "pong"];
    let said = place.kumite(&[&arguments[..], &["-t", "20s"]].concat()).ended(1);
    printed!(said.words());
    printed!(said.notes());
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
    printed!(said.notes());
    let missing = place.kumite(&["load", &server.url, "-D", "none"]).ended(2);
    printed!(missing.notes());
}

#[test]
fn nobody_there_is_said_and_counted() {
    let place = Place::new("", &[]);
    let (addr, _port) = nobody();
    let url = format!("http://{addr}/");
    let said = place.kumite(&["load", &url, "-n", "20", "-c", "2", "--timeout", "20s"]).ended(1);
    printed!(said.words());
    printed!(said.notes());
}

/// Answers each connection's first bytes with these, and closes it; or, with none, never answers.
fn answering(bytes: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for connection in listener.incoming().flatten() {
            let mut connection = connection;
            if bytes.is_empty() {
                open.push(connection);
                continue;
            }
            let _ = std::io::Read::read(&mut connection, &mut [0; 1000]);
            let _ = std::io::Write::write_all(&mut connection, bytes);
        }
    });
    url
}

#[test]
fn how_the_first_request_failed_is_told() {
    let place = Place::new("", &[]);
    let socket = place.path("none.sock").display().to_string();
    let (alert, no_length) = (
        answering(b"\x15\x03\x01\0\x02\x02\x16"),
        answering(b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
    );
    for (arguments, told) in [
        (vec![alert.as_str()], "first failure: malformed: the server speaks TLS: ask for https://"),
        (
            vec![no_length.as_str()],
            "first failure: malformed: its Content-Length is no number; here: \"Content-Length: x\"",
        ),
        (
            vec!["http://no.such.host.invalid/", "--unix-socket", &socket],
            "none.sock: No such file or directory",
        ),
        (
            vec!["http://no.such.host.invalid/", "--connect-to", "127.0.0.1:1"],
            "127.0.0.1:1: Connection refused",
        ),
    ] {
        let said =
            place.kumite(&[&["load", "-n", "1", "-c", "1", "-t", "20s"], &arguments[..]].concat()).ended(1);
        assert!(said.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(told), "{}", said.out);
    }
}

#[test]
fn who_never_answers_is_told() {
    let place = Place::new("", &[]);
    let said = place.kumite(&["load", &answering(b""), "-z", "50ms", "-c", "3", "-t", "20s"]).ended(1);
    printed!(said.words());
}

#[test]
fn a_body_s_framing_that_is_not_the_body_s_is_sent_with_a_word() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let load = ["load", &server.url, "-n", "1", "-c", "1", "-d", "ping"];
    let said = place.kumite(&[&load[..], &["-H", "content-length: 4"]].concat()).ended(0);
    assert!(!said.err.contains("is sent as it is"), "{}", said.err);
    let said = place.kumite(&[&load[..], &["-H", "content-length: 2", "-t", "200ms"]].concat());
    printed!(said.notes());
}

#[test]
fn a_cpu_that_is_not_there_is_named() {
    let said = Place::new("", &[]).kumite(&["load", "http://127.0.0.1:1/", "--cores", "4095"]).ended(2);
    printed!(said.notes());
}

/// A server whose every answer is the last one of its connection, though it does not say so.
#[test]
fn a_failure_without_an_answer_has_words_and_a_url() {
    let place = Place::new("", &[]);
    let closing = answering(b"");
    let said = place.kumite(&["load", &closing, "-n", "1", "-c", "1", "-t", "100ms"]).ended(1);
    printed!(said.words());
}

#[test]
fn a_placeholder_that_stands_for_nothing_is_refused_wherever_it_is() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let path = format!("{}{{{{id}}}}", server.url);
    for arguments in [
        vec![path.as_str()],
        vec![&server.url, "-H", "x-id: {{id}}"],
        vec![&server.url, "-d", "{{id}}"],
        vec![&server.url, "-d", "{{id"],
    ] {
        let said = place.kumite(&[&["load", "-n", "1", "-c", "1"], &arguments[..]].concat()).ended(2);
        printed!(said.notes());
    }
    place.kumite(&["load", &server.url, "-n", "9", "-c", "1", "-H", "x: {{uuid}}", "-t", "20s"]).ended(0);
}

#[test]
fn what_makes_no_sense_is_refused_before_the_load() {
    let place = Place::new("", &[]);
    place.write("times", "1700000000\n");
    place.write("later", "0\n1\n1700000000\n");
    let socket = "s".repeat(200);
    let url = "http://127.0.0.1:1/";
    for arguments in [
        &["--replay", "times"][..],
        &["--replay", "later"],
        &["--unix-socket", &socket],
        &["--weights", "0"],
        &["--weights", "-1"],
        &["--weights", "NaN"],
    ] {
        let said = place.kumite(&[&["load", url, "-n", "1"], arguments].concat()).ended(2);
        printed!(said.notes());
    }
}

#[test]
fn secrets_of_headers_are_not_kept() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let said = place
        .kumite(&[
            "load",
            &server.url,
            "-n",
            "9",
            "-c",
            "1",
            "-t",
            "20s",
            "--json",
            "-",
            "-H",
            "authorization: Bearer s3cr3t",
            "-H",
            "Cookie: a=s3cr3t",
            "-H",
            "x-a: kept",
        ])
        .ended(0);
    assert!(!said.out.contains("s3cr3t"), "{}", said.out);
    assert!(said.out.contains("authorization: ***") && said.out.contains("x-a: kept"), "{}", said.out);
}
