//! Servers in TLS and in HTTP/2: what they are given, and what becomes of those that speak something else.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use kumite_process::spawn_unmarked;
use kumite_testing::example;
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use serde_json::Value;

use crate::place::{EXPERIMENT, Place, standing};
use crate::printed::{printed, without_figures};

/// An experiment with this before its answer, and contenders, each of which speaks what its name says.
fn place(more: &str, contenders: &[&str]) -> Place {
    let place = Place::new("", &[]);
    place.write(
        "experiments/fake/experiment.toml",
        &EXPERIMENT.replace("[answer]", &format!("{more}\n[answer]")),
    );
    for name in contenders {
        let run = format!("exec {} {name} {}", example("fake_protocols").display(), place.mark());
        contender(&place, name, &run);
    }
    place
}

fn contender(place: &Place, name: &str, run: &str) {
    let text =
        format!("version = 'echo 1'\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = '{run}'\n");
    place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
}

fn trials(place: &Place) -> Vec<Value> {
    let said = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]);
    assert_eq!(place.left(), [""; 0]);
    standing(&said.json()).into_iter().cloned().collect()
}

/// As an axis: the certificate goes to those that need it.
#[test]
fn a_server_answers_in_each_protocol() {
    let place = place("[axes]\nprotocol = ['http', 'https', 'h2', 'h2c']", &["asked"]);
    let (mut seen, mut costs) = (Vec::new(), 0);
    for trial in trials(&place) {
        let sample = &trial["sample"];
        assert_eq!(
            (&trial["outcome"], &sample["metrics"]["received"], &sample["metrics"]["failures"]),
            (&"ok".into(), &40.0.into(), &0.0.into()),
            "{trial}"
        );
        let metric = |name: &str| sample["metrics"][name].as_f64();
        assert_eq!(metric("served_share"), Some(1.0));
        // A machine may be so busy that it has no two looks at the server, or no answer within the window.
        let cost = metric("cpu_cores").zip(metric("throughput_rps").filter(|rps| *rps > 0.0));
        assert_eq!(metric("cpu_us_per_request"), cost.map(|(cpu, rps)| cpu * 1e6 / rps));
        costs += usize::from(cost.is_some());
        seen.push(trial["point"]["protocol"].as_str().unwrap().to_owned());
    }
    assert!(costs > 0);
    seen.sort();
    assert_eq!(seen, ["h2", "h2c", "http", "https"]);
    place.kumite(&["check", "fake"]).ended(0);
}

/// Its forty requests are in flight at once on two connections.
#[test]
fn streams_share_a_connection() {
    let place = place("protocol = 'h2c'\nstreams = 20", &["asked"]);
    let text = place.read("experiments/fake/experiment.toml").replace("connections = 40", "connections = 2");
    place.write("experiments/fake/experiment.toml", &text);
    let trials = trials(&place);
    assert_eq!(
        (&trials[0]["outcome"], &trials[0]["sample"]["metrics"]["received"]),
        (&"ok".into(), &40.0.into())
    );
}

/// A session for each row of `users.csv`, in each protocol.
pub const USERS: &str = r#"
question = "Who knows its users?"
kind = "http"
blocks = 2
csv = "users.csv"
cookies = true
[workload]
rate_rps = 100
duration_s = 0.4
warm_up_s = 0
connections = 8
timeout_ms = 20000
[axes]
protocol = ["http", "https", "h2", "h2c"]
[answer]
status = 200
[[session]]
name = "user"
[[session.request]]
name = "login"
path = "/login?{{name}}"
[[session.request]]
name = "me"
path = "/me?{{name}}"
answer = { equals = "me" }
"#;

/// The server answers only those that send back the cookie of their own row.
#[test]
fn a_session_has_a_row_and_cookies_of_its_own_in_each_protocol() {
    let place = place("", &["asked"]);
    let experiment = "experiments/fake/experiment.toml";
    place.write("experiments/fake/users.csv", "name\nann\nbob\neve\n");
    for (text, failures) in [(USERS.replace("cookies = true", ""), 40.0), (USERS.to_owned(), 0.0)] {
        place.write(experiment, &text);
        let trials = trials(&place);
        assert_eq!(trials.len(), 4);
        for trial in trials {
            let metrics = &trial["sample"]["metrics"];
            let metric = |name: &str| metrics[name].as_f64().unwrap();
            // Forty sessions are due, of two requests each.
            assert_eq!(
                (metric("received"), metric("session_failures")),
                (80.0 - failures, failures),
                "{trial}"
            );
        }
    }
    place.kumite(&["run", "fake", "--sittings", "1"]).ended(0);
    place.write("experiments/fake/users.csv", "name\nann\n");
    printed!(place.kumite(&["again"]).ended(2).notes());
}

/// By Python's own library, as people would.
#[test]
fn a_python_server_in_tls_needs_but_the_two_files() {
    let place = place("protocol = 'https'", &[]);
    contender(&place, "python", &format!("exec python3 server.py {}", place.mark()));
    place.write("experiments/fake/contenders/python/server.py", PYTHON);
    let trials = trials(&place);
    assert_eq!(
        (&trials[0]["outcome"], &trials[0]["sample"]["metrics"]["received"]),
        (&"ok".into(), &40.0.into()),
        "{}",
        trials[0]
    );
    place.kumite(&["check", "fake"]).ended(0);
}

const PYTHON: &str = r#"
import os, ssl
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Bot(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"pong")

    def log_message(self, *args):
        pass

class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def finish_request(self, request, address):
        with tls.wrap_socket(request, server_side=True) as request:
            super().finish_request(request, address)

    def handle_error(self, *args):
        pass

tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.environ["TLS_CERT"], os.environ["TLS_KEY"])
tls.set_alpn_protocols(["http/1.1"])
Server((os.environ["HOST"], int(os.environ["PORT"])), Bot).serve_forever()
"#;

#[test]
fn a_server_that_speaks_another_protocol_fails_and_is_told() {
    for (asked, speaks) in [
        ("http", &["https", "h2c"][..]),
        ("https", &["http", "h2c"]),
        ("h2", &["http", "https", "forged"]),
        ("h2c", &["http", "h2"]),
    ] {
        let place = place(&format!("protocol = '{asked}'\nready_s = 4"), speaks);
        let mut why = String::new();
        for (name, reason) in reasons(&place) {
            writeln!(why, "asked in {asked}, and it speaks {name}: {reason}").unwrap();
        }
        printed!(without_figures(&why));
    }
    let place = place("protocol = 'h2'\nready_s = 4", &["https"]);
    printed!(place.kumite(&["check", "fake"]).words());
}

#[test]
fn a_check_asks_in_each_protocol_of_an_axis() {
    let place = place("ready_s = 4\n[axes]\nprotocol = ['http', 'h2c']", &["asked", "http"]);
    printed!(place.kumite(&["check", "fake"]).words());
}

/// Why each contender failed, by name.
fn reasons(place: &Place) -> BTreeMap<String, String> {
    let reason = |trial: Value| {
        assert_eq!(trial["outcome"], "failed", "{trial}");
        let [name, why] = ["contender", "reason"].map(|key| trial[key].as_str().unwrap().to_owned());
        (name, why)
    };
    trials(place).into_iter().map(reason).collect()
}

/// A server in a protocol, with the certificate in `cert.pem`, that somebody has started.
struct Started {
    process: Child,
    port: u16,
}

impl Started {
    fn new(place: &Place, speaks: &str) -> Started {
        let mut command = Command::new(example("fake_protocols"));
        command.arg(speaks).env("HOST", "127.0.0.1").env("PORT", "0").stdout(Stdio::piped());
        command.env("TLS_CERT", place.path("cert.pem")).env("TLS_KEY", place.path("key.pem"));
        let mut process = spawn_unmarked(&mut command).unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Started { process, port: line.trim().parse().unwrap() }
    }

    fn url(&self, scheme: &str) -> String {
        format!("{scheme}://localhost:{}/", self.port)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A certificate for `localhost` as `openssl req -x509` makes it: that of an authority.
fn write_certificate(place: &Place) {
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    place.write("cert.pem", &params.self_signed(&key).unwrap().pem());
    place.write("key.pem", &key.serialize_pem());
}

const PING: [&str; 4] = ["--method", "POST", "-d", "ping"];

#[test]
fn urls_in_tls_and_http_2_are_compared_as_they_are_loaded() {
    let place = Place::new("", &[]);
    write_certificate(&place);
    for (speaks, scheme, more) in [
        ("https", "https", &["--ca", "cert.pem"][..]),
        ("h2", "https", &["--http2", "--ca", "cert.pem", "--pipeline", "4", "-H", "x-a: b"]),
        ("h2c", "http", &["--http2", "--cookies", "--accept", "text/plain"]),
    ] {
        let servers = [(); 2].map(|()| Started::new(&place, speaks));
        let urls = servers.each_ref().map(|server| server.url(scheme));
        let amount = [
            "--connections",
            "2",
            "-z",
            "2s",
            "-t",
            "20s",
            "-r",
            "1",
            "--expect-regex",
            "^pong$",
            "--json",
            "-",
        ];
        let arguments = [&["compare", &urls[0], &urls[1]], &PING[..], &amount, more].concat();
        let export = place.kumite(&arguments).ended(0).json();
        for command in export["commands"].as_array().unwrap() {
            assert_eq!(command["times"].as_array().unwrap().len(), 1, "{command}");
        }
        let loaded = [
            &["load", &urls[0], "-n", "10", "-t", "20s", "--expect-body", "pong", "--json", "-"],
            &PING[..],
            more,
        ];
        assert_eq!(place.kumite(&loaded.concat()).ended(0).json()["ok"], 10);
    }
}

#[test]
fn urls_that_do_not_speak_what_they_are_asked_in_are_told_by_what_the_command_has() {
    let place = Place::new("", &[]);
    write_certificate(&place);
    for (speaks, scheme, more) in [
        ("https", "https", &[][..]),
        ("http", "https", &["--insecure"]),
        ("http", "http", &["--http2"]),
        ("https", "https", &["--http2", "--insecure"]),
        ("https", "http", &[]),
        ("h2c", "http", &[]),
    ] {
        let servers = [(); 2].map(|()| Started::new(&place, speaks));
        let urls = servers.each_ref().map(|server| server.url(scheme));
        let compare =
            ["compare", &urls[0], &urls[1], "-z", "2s", "-t", "20s", "-r", "1", "--connections", "1"];
        let said = place.kumite(&[&compare, &PING[..], more].concat());
        printed!(said.timeless());
    }
}

/// A refusal is no load of ten seconds.
#[test]
fn nothing_is_sent_to_a_server_whose_certificate_is_refused() {
    let place = Place::new("", &[]);
    write_certificate(&place);
    let server = Started::new(&place, "https");
    printed!(place.kumite(&["load", &server.url("https"), "-z", "1h"]).timeless());
}

#[test]
fn flags_of_urls_are_refused_for_commands() {
    let place = Place::new("", &[]);
    for flags in [
        &["--http2"][..],
        &["--ca", "x"],
        &["--pipeline", "1"],
        &["--requests-per-connection", "1"],
        &["--idle-connections", "1"],
        &["--cookies"],
        &["--body-file", "x"],
        &["--expect-json", "/a=1"],
        &["--ca", "x", "--insecure"],
    ] {
        printed!(place.kumite(&[&["compare", "true", "false"], flags].concat()).timeless());
    }
}
