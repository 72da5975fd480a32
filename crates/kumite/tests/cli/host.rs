//! `kumite function serve` and `invoke`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kumite_testing::{Capability, LONG, example, lacks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::place::{Place, Said};
use crate::printed::{printed, steady, without_figures};

/// A host at work, and what it says.
struct Host {
    /// None once it is ended.
    child: Option<Child>,
    endpoint: String,
    said: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
    /// True if it may limit memory.
    limits: bool,
}

impl Host {
    /// Serves functions, each a name and what its table has beside the command.
    fn start(place: &Place, functions: &[(&str, &str)]) -> Host {
        let fake = example("fake_function");
        let table = |(name, more): &(&str, &str)| {
            let command = if more.contains("command") {
                String::new()
            } else {
                format!("command = 'exec {}'\n", fake.display())
            };
            format!("[functions.{name}]\n{command}{}\n", more.replace("FAKE", &fake.display().to_string()))
        };
        place.write("functions.toml", &functions.iter().map(table).collect::<String>());
        let mut command = place.command(&["function", "serve", "functions.toml", "--port", "0"]);
        command.env("AWS_SESSION_TOKEN", "of whoever starts the host");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        lines.read_line(&mut first).unwrap();
        let endpoint =
            first.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{first}")).to_owned();
        let said = Arc::new(Mutex::new(String::new()));
        let ours = Arc::clone(&said);
        let reader = thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                *ours.lock().unwrap() += &format!("{line}\n");
            }
        });
        // It says first which limits it cannot set.
        let limits = Path::new("/sys/fs/cgroup").exists() && nix::unistd::geteuid().is_root();
        Host { child: Some(child), endpoint, said, reader: Some(reader), limits }
    }

    fn invoke(&self, place: &Place, name: &str, payload: &str) -> Said {
        place.kumite(&["function", "invoke", name, "--endpoint", &self.endpoint, "--payload", payload])
    }

    /// A call that is answered rightly.
    #[track_caller]
    fn answer(&self, place: &Place, name: &str, payload: &str) -> Value {
        self.invoke(place, name, payload).ended(0).json()
    }

    /// A call that fails: its error's kind and message.
    #[track_caller]
    fn error(&self, place: &Place, name: &str, payload: &str) -> (String, String) {
        let document = self.invoke(place, name, payload).ended(1).json();
        let text = |key: &str| document[key].as_str().unwrap_or_default().to_owned();
        (text("errorType"), text("errorMessage"))
    }

    /// Sends a call as it stands and returns all that comes back, in lower case.
    fn raw(&self, name: &str, headers: &str, body: &str) -> String {
        self.raw_for(self.address(), name, headers, body)
    }

    fn address(&self) -> &str {
        self.endpoint.trim_start_matches("http://").trim_end_matches('/')
    }

    /// Likewise, as if it were meant for that host.
    fn raw_for(&self, host: &str, name: &str, headers: &str, body: &str) -> String {
        let headers = format!("host: {host}\r\n{headers}content-length: {}\r\n", body.len());
        self.sent(&format!("POST /2015-03-31/functions/{name}/invocations"), &headers, body.as_bytes())
    }

    /// Likewise, any request, of which the host is given.
    fn sent(&self, request: &str, headers: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let head = format!("{request} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        String::from_utf8(all).unwrap().to_lowercase()
    }

    /// Waits until its log has this.
    #[track_caller]
    fn says(&self, what: &str) -> String {
        let until = Instant::now() + LONG;
        loop {
            let said = self.said.lock().unwrap().clone();
            if said.contains(what) {
                return said;
            }
            assert!(Instant::now() < until, "'{what}' was not said, but:\n{said}");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends it: nothing may be left, no process and no control group.
    fn end(mut self, place: &Place) -> String {
        let mut child = self.child.take().unwrap();
        let pid = child.id();
        kill(Pid::from_raw(pid as i32), Signal::SIGTERM).unwrap();
        assert!(child.wait().unwrap().success());
        self.reader.take().unwrap().join().unwrap();
        assert_eq!(place.left(), Vec::<String>::new());
        assert_eq!(groups(pid), Vec::<String>::new());
        self.said.lock().unwrap().clone()
    }
}

impl Drop for Host {
    /// None is left behind, also where a test fails.
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
            let _ = child.wait();
        }
    }
}

/// Control groups of a process.
fn groups(pid: u32) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![std::path::PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        let below = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for folder in below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
            let name = folder.file_name().to_string_lossy().into_owned();
            if name.starts_with("kumite-") && name.contains(&format!("-{pid}-")) {
                found.push(name);
            }
            folders.push(folder.path());
        }
    }
    found
}

#[test]
fn a_function_is_called_with_its_log() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "handler = 'h'\nenv = { A = 'b' }")]);
    let said = host.invoke(&place, "f", r#"{"n":1}"#).ended(0);
    let answer = said.json();
    assert_eq!(
        (&answer["handler"], &answer["count"], &answer["event"]),
        (&json!("h"), &json!(1), &json!({"n":1}))
    );
    printed!(said.timeless());
    let warm = host.invoke(&place, "f", "{}").ended(0);
    assert_eq!(warm.json()["count"], json!(2));
    let variable = |name: &str| host.answer(&place, "f", &json!({ "do": format!("env={name}") }).to_string());
    assert_eq!((variable("A"), variable("AWS_ACCESS_KEY_ID")), (json!("b"), json!("dummy")));
    assert!(variable("PATH").is_string());
    assert_eq!(
        variable("AWS_SESSION_TOKEN"),
        json!("dummy"),
        "credentials stay with whoever started the host"
    );
    assert!(!warm.err.contains("Init Duration"), "{}", warm.err);
    let log = host.end(&place);
    assert!(log.contains("initialization of h\nSTART"), "{log}");
}

#[test]
fn what_callers_may_ask_for() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60\nmax_instances = 1")]);
    let kind = |kind: &str| format!("x-amz-invocation-type: {kind}\r\n");
    let event = host.raw("f", &kind("Event"), r#"{"do":"sleep=1"}"#);
    assert!(event.starts_with("http/1.1 202"), "{event}");
    host.says("REPORT");
    let dry = host.raw("f", &kind("DryRun"), "{}");
    assert!(dry.starts_with("http/1.1 204"), "{dry}");
    let by_arn = host.raw("arn:aws:lambda:us-east-1:123456789012:function:f:$LATEST", "", "");
    assert!(by_arn.starts_with("http/1.1 200") && by_arn.contains("\"event\":{}"), "{by_arn}");
    let tail = host.raw("f", "x-amz-log-type: Tail\r\n", "{}");
    assert!(
        tail.contains("x-amz-log-result: ") && tail.contains("x-amz-executed-version: $latest"),
        "{tail}"
    );
    // While its only instance has a call that somebody waits for, another is refused.
    let until = Instant::now() + LONG;
    let busy = std::iter::repeat_with(|| {
        let slow = || host.raw("f", "", r#"{"do":"sleep=1500"}"#);
        thread::scope(|scope| [scope.spawn(slow), scope.spawn(slow)].map(|call| call.join().unwrap()))
    });
    let mut answers = busy.take_while(|_| Instant::now() < until).flatten();
    let busy = answers.find(|answer| answer.starts_with("http/1.1 429"));
    let busy = busy.expect("a call is refused while another runs");
    assert!(busy.contains("x-amzn-errortype: toomanyrequestsexception"), "{busy}");
    host.end(&place);
}

#[test]
fn whatever_is_refused_is_refused_as_aws_does() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60")]);
    let of = |headers: &str| format!("host: {}\r\n{headers}", host.address());
    let post = "POST /2015-03-31/functions/f/invocations";
    let long = vec![b'1'; 26_000_000];
    let length = |bytes: usize| format!("content-length: {bytes}\r\n");
    let event = "x-amz-invocation-type: Event\r\n";
    let with_context = |context: &[u8]| {
        format!("x-amz-client-context: {}\r\n{}", BASE64_STANDARD.encode(context), length(2))
    };
    let chunked = {
        let mut body = format!("{:x}\r\n", long.len()).into_bytes();
        body.extend_from_slice(&long);
        body.extend_from_slice(b"\r\n0\r\n\r\n");
        body
    };
    let named = |name: &str| format!("POST /2015-03-31/functions/{name}/invocations");
    let cases: Vec<(String, String, &[u8], &str, &str)> = vec![
        (
            post.into(),
            format!("x-amz-invocation-type: Sideways\r\n{}", length(2)),
            b"{}",
            "400",
            "invalidparametervalue",
        ),
        (post.into(), length(1), b"{", "400", "invalidrequestcontent"),
        (post.into(), length(1), b" ", "400", "invalidrequestcontent"),
        (post.into(), length(4), b"\"\xff\xfe\"", "400", "invalidrequestcontent"),
        (post.into(), format!("{event}{}", length(1)), b"{", "400", "invalidrequestcontent"),
        (
            post.into(),
            format!("x-amz-invocation-type: DryRun\r\n{}", length(1)),
            b"{",
            "400",
            "invalidrequestcontent",
        ),
        (
            post.into(),
            format!("x-amz-client-context: ?\r\n{}", length(2)),
            b"{}",
            "400",
            "invalidrequestcontent",
        ),
        (post.into(), with_context(b"[1]"), b"{}", "400", "invalidrequestcontent"),
        (named("nobody"), length(2), b"{}", "404", "resourcenotfound"),
        (named("nobody"), format!("{event}{}", length(2)), b"{}", "404", "resourcenotfound"),
        (named("f:7"), length(2), b"{}", "404", "resourcenotfound"),
        (format!("{post}?Qualifier=7"), length(2), b"{}", "404", "resourcenotfound"),
        (named("%FF"), length(2), b"{}", "400", "invalidparametervalue"),
        (named("a%20b"), length(2), b"{}", "400", "invalidparametervalue"),
        (named(&"f".repeat(257)), length(2), b"{}", "400", "invalidparametervalue"),
        (format!("{}?Qualifier=8", named("f:7")), length(2), b"{}", "400", "invalidparametervalue"),
        (post.into(), length(6_291_457), &long[..6_291_457], "413", "requesttoolarge"),
        (
            post.into(),
            format!("{event}{}", length((1 << 20) + 1)),
            &long[..(1 << 20) + 1],
            "413",
            "requesttoolarge",
        ),
        (post.into(), length(long.len()), &long, "413", "requesttoolarge"),
        (post.into(), "transfer-encoding: chunked\r\n".into(), &chunked, "413", "requesttoolarge"),
        // It waits to be told to go on, and is not.
        (
            post.into(),
            format!("expect: 100-continue\r\n{}", length(long.len())),
            b"",
            "413",
            "requesttoolarge",
        ),
        (post.into(), format!("sec-fetch-site: cross-site\r\n{}", length(2)), b"{}", "403", "accessdenied"),
        ("GET /2015-03-31/functions/f/invocations".into(), String::new(), b"", "404", "unknownoperation"),
        ("POST /2015-03-31/functions".into(), length(0), b"", "404", "unknownoperation"),
        (named(""), length(0), b"", "400", "invalidparametervalue"),
    ];
    for (request, headers, body, status, kind) in cases {
        let answer = host.sent(&request, &of(&headers), body);
        let right = answer.starts_with(&format!("http/1.1 {status}"))
            && answer.contains(&format!("x-amzn-errortype: {kind}exception\r\n"))
            && answer.contains("x-amzn-requestid: ")
            && answer.contains("content-type: application/json\r\n")
            && answer.contains("\"message\":\"");
        assert!(right, "{request} {headers}: {answer}");
    }
    let context = host.sent(post, &of(&with_context("{\n\"a\": \"ü\"\n}\n".as_bytes())), b"{}");
    assert!(context.starts_with("http/1.1 200"), "{context}");
    assert!(host.raw("f", "", "{}").contains("\"count\":2,"), "no other came to the function");
    host.end(&place);
}

#[test]
fn calls_that_nobody_waits_for_are_made_one_after_another_and_refuse_no_caller() {
    let place = Place::new("", &[]);
    let rules = "timeout_s = 60\nmax_instances = 2\ncpu = 'unlimited'";
    let host = Host::start(&place, &[("f", rules), ("other", "timeout_s = 60")]);
    let event = |name: &str, payload: &str| {
        let answer = host.raw(name, "x-amz-invocation-type: Event\r\n", payload);
        assert!(answer.starts_with("http/1.1 202") && answer.contains("x-amzn-requestid: "), "{answer}");
    };
    for _ in 0..60 {
        event("f", r#"{"do":"sleep=50"}"#);
    }
    // With pauses that grow the last would be made after minutes; and no caller is refused meanwhile.
    let until = Instant::now() + LONG;
    let mut calls = 60;
    loop {
        let done = host.said.lock().unwrap().matches("\nREPORT ").count();
        if done >= calls {
            break;
        }
        assert!(Instant::now() < until, "{done} of {calls} calls were made");
        host.answer(&place, "f", "{}");
        calls += 1;
    }
    // Both instances have a long call, and whoever calls waits for one of them.
    event("f", r#"{"do":"sleep=1500"}"#);
    event("f", r#"{"do":"sleep=1500"}"#);
    host.answer(&place, "f", "{}");
    host.answer(&place, "other", "{}");
    // Calls that are not made are told.
    for _ in 0..3 {
        event("f", r#"{"do":"hang"}"#);
    }
    let log = host.end(&place);
    assert_eq!(log.matches(" of f is given up: the host is stopped\n").count(), 3, "{log}");
}

#[test]
fn an_event_whose_request_was_given_up_comes_again() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60\nmax_instances = 1")]);
    host.answer(&place, "f", r#"{"do":"forget"}"#);
    let answer = host.answer(&place, "f", r#"{"n":2}"#);
    assert_eq!((&answer["count"], &answer["event"]), (&json!(2), &json!({"n":2})));
    host.says("of f: it gave up its request for an event, and was given that once more");
    assert_eq!(host.answer(&place, "f", "{}")["count"], json!(3));
    host.end(&place);
}

#[test]
fn a_streamed_answer_may_fail_after_it_has_begun() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60\nmax_instances = 1")]);
    assert_eq!(host.error(&place, "f", r#"{"do":"stream=Boom"}"#), ("Boom".into(), String::new()));
    let (kind, message) = host.error(&place, "f", r#"{"do":"stream"}"#);
    assert_eq!(kind, "Runtime.TruncatedResponse");
    printed!(without_figures(&message));
    assert_eq!(host.answer(&place, "f", "{}")["count"], json!(3), "the instance lives on");
    host.end(&place);
}

#[test]
fn a_port_may_be_forwarded() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60")]);
    for name in ["localhost:8000", "localhost", "127.0.0.1:8000", "[::1]"] {
        assert!(host.raw_for(name, "f", "", "{}").starts_with("http/1.1 200"), "{name}");
        let other = host.raw_for(name, "f", "origin: http://localhost:3000\r\n", "{}");
        assert!(other.starts_with("http/1.1 403"), "{name}: {other}");
    }
    for name in ["evil.example:8000", "localhost.evil.example", "192.0.2.7"] {
        assert!(host.raw_for(name, "f", "", "{}").starts_with("http/1.1 403"), "{name}");
    }
    host.end(&place);
}

#[test]
fn the_end_of_a_log_is_whole_characters() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60")]);
    let mut stream = TcpStream::connect(host.address()).unwrap();
    let body = r#"{"do":"log=3000"}"#;
    let head = format!(
        "POST /2015-03-31/functions/f/invocations HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nx-amz-log-type: Tail\r\ncontent-length: {}\r\n\r\n",
        host.address(),
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
    let mut raw = String::new();
    stream.read_to_string(&mut raw).unwrap();
    let encoded = raw.lines().find_map(|line| line.strip_prefix("x-amz-log-result: "));
    let log = BASE64_STANDARD.decode(encoded.unwrap_or_else(|| panic!("{raw}"))).unwrap();
    assert!((4093..=4096).contains(&log.len()), "{} bytes", log.len());
    let log = String::from_utf8(log).unwrap();
    assert!(log.starts_with('ü') && log.contains("\nREPORT RequestId: "), "{log}");
    host.end(&place);
}

#[test]
fn pages_of_other_sites_call_nothing() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "")]);
    let rebound = host.raw_for("evil.example", "f", "", "{}");
    let refused = [
        rebound,
        host.raw("f", "origin: http://evil.example\r\n", "{}"),
        host.raw("f", "sec-fetch-site: cross-site\r\n", "{}"),
    ];
    for answer in refused {
        let right = answer.starts_with("http/1.1 403") && answer.contains("accessdeniedexception");
        assert!(right, "{answer}");
    }
    assert!(host.raw("f", "", "{}").contains("\"count\":1,"), "none of them came to the function");
    host.end(&place);
}

#[test]
fn errors_of_functions_are_told() {
    let place = Place::new("", &[]);
    let host = Host::start(
        &place,
        &[
            ("f", "timeout_s = 2\nmax_instances = 1"),
            ("big", "timeout_s = 60\ncpu = 'unlimited'"),
            ("unborn", "env = { INIT = 'error' }"),
            ("stillborn", "env = { INIT = 'exit=7' }"),
            ("gone", "command = 'exec /no/such/program'"),
        ],
    );
    let error = |name: &str, payload: &str| host.error(&place, name, payload);
    assert_eq!(error("f", r#"{"do":"error"}"#), ("Told".into(), "as told".into()));
    assert_eq!(host.answer(&place, "f", "{}")["count"], json!(2), "the instance lives on");
    let (kind, message) = error("f", r#"{"do":"hang"}"#);
    assert_eq!(kind, "Sandbox.Timedout");
    printed!(without_figures(&message));
    assert_eq!(host.answer(&place, "f", "{}")["count"], json!(1), "the instance was replaced");
    let (kind, message) = error("f", r#"{"do":"exit=3"}"#);
    assert_eq!(kind, "Runtime.ExitError");
    printed!(without_figures(&message));
    let (kind, message) = error("big", r#"{"do":"bytes=6291560"}"#);
    assert_eq!(kind, "Function.ResponseSizeTooLarge");
    printed!(without_figures(&message));
    assert_eq!(error("unborn", "{}"), ("Init.Failed".into(), "as told".into()));
    printed!(steady(&error("stillborn", "{}").1));
    printed!(steady(&error("gone", "{}").1));
    let log = host.end(&place);
    assert_eq!(log.matches("INIT_REPORT").count(), 3, "{log}");
}

#[test]
fn a_slow_initialization_is_begun_again_within_the_call() {
    let place = Place::new("", &[]);
    let rules = "init_limit_s = 1\ntimeout_s = 60\nbilling = '2016'\nenv = { INIT = 'sleep=1500' }";
    let host = Host::start(&place, &[("slow", rules)]);
    let said = host.invoke(&place, "slow", "{}").ended(0);
    assert_eq!(said.json()["count"], json!(1));
    let report = said.err.lines().find(|line| line.starts_with("REPORT")).unwrap().to_owned();
    let figure = |name: &str| -> f64 {
        let after = report.split(name).nth(1).unwrap_or_else(|| panic!("{name} is not in {report}"));
        after.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(figure("\tDuration: ") >= 1500.0, "the second is in the call: {report}");
    assert!(
        figure("\tBilled Duration: ") >= 1500.0 && figure("\tBilled Duration: ") % 100.0 == 0.0,
        "{report}"
    );
    assert!(!report.contains("Init Duration"), "{report}");
    let log = host.end(&place);
    assert!(log.contains("killed: its initialization was cut off after 1 s"), "{log}");
    assert!(log.contains("INIT_REPORT Init Duration: 1000.00 ms\tPhase: init\tStatus: timeout"), "{log}");
    assert_eq!(log.matches("initialization of slow").count(), 2, "{log}");
}

#[test]
fn an_instance_may_do_anything() {
    let place = Place::new("", &[]);
    let stubborn = "timeout_s = 1\ncommand = \"trap '' TERM; exec FAKE\"";
    let host = Host::start(
        &place,
        &[
            ("f", "timeout_s = 60\nmax_instances = 1"),
            ("short", "timeout_s = 2"),
            ("stubborn", stubborn),
            ("good", "timeout_s = 60"),
        ],
    );
    let good = || {
        assert_eq!(host.answer(&place, "good", "{}")["handler"], json!("good"));
    };
    let f = |told: &str| host.answer(&place, "f", &json!({ "do": told }).to_string());
    good();
    assert_eq!(f("twice"), json!("the first"));
    host.says("of f: it answered '");
    assert_eq!(f("other")["count"], json!(2), "it answered its own request after that");
    host.says("it answered request 'another' while it had '");
    f("garbage");
    host.says("it sent what is not HTTP");
    f("close");
    host.says("it answered something that broke off");
    assert_eq!(f("fork")["count"], json!(5), "all that was one instance");
    good();
    f("early");
    host.says("it asked for an event before it had answered the last one");
    assert_eq!(host.error(&place, "short", r#"{"do":"silent"}"#).0, "Sandbox.Timedout");
    assert_eq!(host.error(&place, "stubborn", r#"{"do":"hang"}"#).0, "Sandbox.Timedout");
    host.says("instance 1 of stubborn: killed: time-out after 1 s");
    good();
    let log = host.says("child ");
    let child: i32 = log.split("child ").nth(1).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    host.end(&place);
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    // A process that has ended is init's to take note of.
    assert!(state.is_empty() || state.contains(") Z "), "what it forked is gone: {state}");
}

#[test]
fn an_instance_that_takes_too_much_memory_is_ended() {
    let place = Place::new("", &[]);
    let host = Host::start(&place, &[("f", "timeout_s = 60")]);
    if !host.limits {
        lacks(Capability::MemoryLimit, "its log says that memory is not limited");
        return;
    }
    let (kind, message) = host.error(&place, "f", r#"{"do":"leak"}"#);
    assert_eq!(kind, "Runtime.OutOfMemory", "{message}");
    host.end(&place);
}

#[test]
fn a_host_that_is_killed_leaves_nothing() {
    let place = Place::new("", &[]);
    let mut host = Host::start(&place, &[("f", "")]);
    host.answer(&place, "f", r#"{"do":"fork"}"#);
    let mut child = host.child.take().unwrap();
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    let until = Instant::now() + LONG;
    while !(place.left().is_empty() && groups(pid).is_empty()) {
        assert!(Instant::now() < until, "left are {:?} and {:?}", place.left(), groups(pid));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_typed_wrong() {
    let place = Place::new("", &[]);
    place.write("functions.toml", "[functions.f]\ncommand = 'true'\nmemory = 5\n");
    place.write("reserved.toml", "[functions.f]\ncommand = 'true'\nenv = { AWS_REGION = 'x' }\n");
    let cases: [&[&str]; 6] = [
        &["function", "serve", "none.toml"],
        &["function", "serve", "reserved.toml"],
        &["function", "serve", "functions.toml"],
        &["function", "invoke", "a b"],
        &["function", "invoke", "f", "--endpoint", "ftp://x"],
        &["function", "invoke", "f", "--payload", "@gone"],
    ];
    for arguments in cases {
        let said = place.kumite(arguments).ended(2);
        printed!(said.notes());
    }
    let said = place.kumite(&["function", "invoke", "f", "--endpoint", "http://127.0.0.1:1"]).ended(3);
    printed!(said.notes());
    let host = Host::start(&place, &[("f", "")]);
    for (name, payload) in [("f", "{"), ("nobody", "{}"), ("f", "@long")] {
        place.write("long", &format!("\"{}\"", "x".repeat(6_291_456)));
        let said = host.invoke(&place, name, payload).ended(2);
        printed!(said.notes());
    }
    host.end(&place);
}
