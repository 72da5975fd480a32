use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::place::{Place, Said};
use crate::printed::printed;
use crate::schema::assert_right;

/// A stub at work, and what it says first.
pub struct Stub {
    /// None once it is ended.
    child: Option<Child>,
    pub url: String,
}

impl Stub {
    pub fn start(place: &Place, arguments: &[&str]) -> Stub {
        let arguments = [&["stub"], arguments].concat();
        let to_stdout = arguments.ends_with(&["--json", "-"]);
        let mut command = place.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        // Byte by byte, so that nothing of what follows is taken.
        let mut first = |pipe: &mut dyn Read| BufReader::with_capacity(1, pipe).read_line(&mut line).unwrap();
        if to_stdout {
            first(child.stderr.as_mut().unwrap());
        } else {
            first(child.stdout.as_mut().unwrap());
        }
        let url = line.trim_end().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line:?}"));
        Stub { url: url.to_owned(), child: Some(child) }
    }

    fn addr(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix('/').unwrap()
    }

    pub fn end(mut self, signal: Signal) -> Said {
        let child = self.child.take().unwrap();
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        Said::of(child.wait_with_output().unwrap()).ended(0)
    }
}

impl Drop for Stub {
    /// None is left behind, also where a test fails.
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// All bytes that come back until the connection ends.
fn ask(addr: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_says_where_it_listens_and_in_the_end_what_it_did() {
    let place = Place::new("", &[]);
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let stub = Stub::start(&place, &["--body", "pang", "--status", "201", "--close-after", "2"]);
        let answers = ask(stub.addr(), &"GET / HTTP/1.1\r\n\r\n".repeat(2));
        assert_eq!(answers.matches("HTTP/1.1 201 Stub\r\n").count(), 2, "{answers}");
        assert!(answers.ends_with("Connection: close\r\n\r\npang"), "{answers}");
        let said = stub.end(signal);
        printed!(said.words());
        assert_eq!(said.err, "");
    }
}

#[test]
fn the_load_engine_and_the_stub_count_alike() {
    let place = Place::new("", &[]);
    let arguments = ["--errors", "0.1:503", "--seed", "4", "--json", "stub.json"];
    let stub = Stub::start(&place, &arguments);
    let load = place
        .kumite(&["load", &stub.url, "-c", "7", "-n", "3000", "-t", "20s", "--json", "-"])
        .ended(1)
        .json();
    let said = stub.end(Signal::SIGTERM);
    printed!(said.words());
    let did = serde_json::from_str(&place.read("stub.json")).unwrap();
    assert_right("stub", &did);
    assert_eq!(did["schema"], 5);
    assert_eq!((&did["requests"], &did["answers"]), (&json!(3000), &load["requests"]));
    assert_eq!(did["errors"], load["errors"]["status"]);
    assert!(did["errors"].as_u64().unwrap() > 0);
    assert!(did["late_us"]["p99"].is_f64() && did["cpu_s"].as_f64().unwrap() > 0.0, "{did}");
    let command = did["command"].as_str().unwrap();
    assert_eq!(command, "kumite stub --errors 0.1:503 --seed 4 --json stub.json");
}

#[test]
fn json_can_go_to_standard_output() {
    let place = Place::new("", &[]);
    let stub = Stub::start(&place, &["--json", "-"]);
    let url = stub.url.clone();
    let did = stub.end(Signal::SIGTERM).json();
    assert_right("stub", &did);
    let nothing = json!({"accepted": 0, "most": 0, "refused": 0});
    assert_eq!((&did["requests"], &did["connections"], &did["late_us"]), (&json!(0), &nothing, &json!(null)));
    assert_eq!(did["url"], url);
}

#[test]
fn what_makes_no_sense_is_said_before_it_listens() {
    let place = Place::new("", &[]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for arguments in [
        &["--delay", "soon"][..],
        &["--errors", "0.1:200"],
        &["--stall", "1s"],
        &["--body", "x", "--body-bytes", "3"],
        &["--over-limit", "close"],
        &["--workers", "0"],
        &["--status", "100"],
        &["--json", "missing/stub.json"],
        &["--port", &port],
    ] {
        let said = place.kumite(&[&["stub"], arguments].concat()).ended(2);
        printed!(said.notes());
        assert_eq!(said.out, "", "{arguments:?}");
    }
}

#[test]
fn a_load_of_which_more_than_one_in_a_hundred_fails_ends_with_1() {
    let place = Place::new("", &[]);
    for (arguments, code) in [
        (&["--errors", "0.5:403", "--seed", "1"][..], 1),
        (&["--errors", "0.5:reset", "--seed", "1"], 1),
        (&["--errors", "0.002:503", "--seed", "1"], 0),
        (&[], 0),
    ] {
        let stub = Stub::start(&place, arguments);
        let said = place.kumite(&["load", &stub.url, "-c", "2", "-n", "1000", "-t", "20s"]).ended(code);
        printed!(said.notes());
    }
}
