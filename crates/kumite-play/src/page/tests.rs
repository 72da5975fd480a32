//! Tests of the server by raw requests.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::playing::{PlayerThread, TurnKind};
use super::*;
use crate::{Device, DeviceError, FPS, Macro, PadState};

/// The limit for all waits of the tests: longer than any takes, even on a machine that stands still for a while.
const LONG: Duration = Duration::from_secs(60);
const JSON: &str = "Content-Type: application/json\r\n";

/// The states that a test's device was given, and the number of times that it was opened.
#[derive(Clone, Default)]
struct TestDevice {
    states: Arc<Mutex<Vec<PadState>>>,
    opened: Arc<AtomicUsize>,
}

struct Recorder(TestDevice, fn(usize) -> Result<(), DeviceError>);

impl Device for Recorder {
    fn write(&mut self, state: PadState, _since_start: Duration) -> Result<(), DeviceError> {
        let mut states = self.0.states.lock().unwrap();
        states.push(state);
        let nth = states.len();
        drop(states);
        self.1(nth)
    }

    fn description(&self) -> Option<String> {
        Some("a recorder".to_owned())
    }
}

impl TestDevice {
    fn states(&self) -> Vec<String> {
        self.states.lock().unwrap().iter().map(PadState::to_string).collect()
    }
}

fn failing() -> DeviceError {
    DeviceError::Gamepad { at_ms: 0.0, source: io::Error::other("unplugged") }
}

/// A page on a device that calls `does` with the number of each state. It waits for its end as long as a test waits
/// for anything.
fn page_that(host: &str, does: fn(usize) -> Result<(), DeviceError>) -> (Page, TestDevice) {
    page_at(host, FPS, does)
}

fn page_at(host: &str, fps: f64, does: fn(usize) -> Result<(), DeviceError>) -> (Page, TestDevice) {
    let told = TestDevice::default();
    let recorder = told.clone();
    let open = move || {
        recorder.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Recorder(recorder.clone(), does)) as Box<dyn Device>)
    };
    let mut page = Page::start(host, 0, fps, Box::new(open)).unwrap();
    page.patience = LONG;
    (page, told)
}

fn page() -> (Page, TestDevice) {
    page_that("127.0.0.1", |_| Ok(()))
}

/// The playing thread without a server.
fn playing(told: TestDevice, fps: f64) -> (Arc<Playing>, JoinHandle<()>) {
    let open = move || Ok(Box::new(Recorder(told.clone(), |_| Ok(()))) as Box<dyn Device>);
    let PlayerThread { playing, thread: player, .. } = Playing::start(Box::new(open), fps).unwrap();
    (playing, player)
}

impl Page {
    fn port(&self) -> u16 {
        let (_, port) =
            self.link.split_once("://").unwrap().1.split('/').next().unwrap().rsplit_once(':').unwrap();
        port.parse().unwrap()
    }

    /// Sends raw bytes. Returns the status, and all that came.
    fn raw(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        // A server that refuses a body may close before it has read all of it.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        (answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer:?}")).parse().unwrap(), answer)
    }

    /// Sends a request with these headers beside the right `Host`. Returns the status, and the body as JSON.
    fn ask(&self, what: &str, headers: &str, body: &str) -> (u16, Value) {
        let head = format!(
            "{what} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n",
            self.port(),
            body.len()
        );
        let (status, answer) = self.raw((head + body).as_bytes());
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        (status, serde_json::from_str(body).unwrap_or_default())
    }

    fn post(&self, path: &str, body: Value) -> (u16, Value) {
        self.ask(&format!("POST {path}"), JSON, &body.to_string())
    }

    fn status(&self) -> Value {
        let (status, answer) = self.ask("GET /status", "", "");
        assert_eq!(status, 200, "{answer}");
        answer
    }

    /// Waits for the outcome of a turn.
    fn outcome(&self, number: u64) -> Value {
        let mut last = Value::Null;
        until(|| {
            last = self.status()["last"].take();
            last["number"].as_u64() >= Some(number)
        });
        last
    }
}

#[track_caller]
fn until(mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < LONG, "it did not come to that");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_macro_is_played_and_its_pacing_told() {
    let (page, told) = page();
    assert_eq!(page.status(), json!({ "fps": 59.94, "device": "a recorder", "playing": null, "last": null }));
    let text = "# a fireball\n2,mk 2\r\n<loop 2>\n3 1\n</loop>\n6,lp 1";
    assert_eq!(page.post("/play", json!({ "macro": text })), (202, json!({ "number": 1 })));
    let last = page.outcome(1);
    assert_eq!(told.states(), ["2,mk", "3", "3", "6,lp", "5"]);
    assert_eq!((&last["kind"], &last["ended"]), (&json!("macro"), &json!("whole")), "{last}");
    assert_eq!(last["pacing"]["states"], 5);
    for figure in ["p50_us", "p99_us", "max_us", "missed_frames"] {
        assert!(last["pacing"][figure].is_number(), "{last}");
    }
    assert!(last["real_time"].is_boolean());
    assert_eq!(page.status()["playing"], Value::Null);
}

#[test]
fn an_error_has_its_place_and_nothing_is_played() {
    let (page, told) = page();
    let (status, answer) = page.post("/play", json!({ "macro": "2,mk 8\n3 1\n6,xx 1" }));
    assert_eq!((status, &answer["line"], &answer["column"]), (400, &json!(3), &json!(3)));
    let message = answer["message"].as_str().unwrap();
    let refused = Macro::parse(b"2,mk 8\n3 1\n6,xx 1").unwrap_err();
    assert_eq!(format!("3:3: {message}"), refused.to_string());
    assert_eq!((page.status()["playing"].take(), told.states().len()), (Value::Null, 0));
}

#[test]
fn a_second_macro_is_refused_or_replaces_the_first() {
    let (page, told) = page();
    page.post("/play", json!({ "macro": "2 60000\n3 60000" }));
    until(|| page.status()["playing"]["at"] == 1);
    let playing = json!({ "number": 1, "kind": "macro", "at": 1, "of": 2, "keys": "2" });
    assert_eq!(page.status()["playing"], playing);
    for (path, body, remedy) in [
        ("/play", json!({ "macro": "8 1" }), "stop it first, or replace it."),
        ("/press", json!({ "keys": "8" }), "stop it first."),
    ] {
        let (status, answer) = page.post(path, body);
        let message = &*format!("A macro plays, state 1 of 2: {remedy}");
        assert_eq!((status, answer["message"].as_str()), (409, Some(message)));
    }
    assert_eq!(page.post("/play", json!({ "macro": "lp 1", "replace": true })).0, 202);
    assert_eq!(page.outcome(2)["ended"], "whole");
    assert_eq!(told.states(), ["2", "5", "lp", "5"]);
}

#[test]
fn stop_releases_everything() {
    let (page, told) = page();
    page.post("/play", json!({ "macro": "2,hp 60000" }));
    until(|| told.states().len() == 1);
    assert_eq!(page.post("/stop", json!({})), (202, json!({})));
    assert_eq!(page.outcome(1)["ended"], "stopped");
    assert_eq!(told.states(), ["2,hp", "5"]);
    assert_eq!(page.post("/stop", json!({})).0, 202, "also if nothing plays");
    // The stop comes as soon as can be: the macro may have begun or not.
    for number in 2..12 {
        page.post("/play", json!({ "macro": "3 60000" }));
        page.post("/stop", json!({}));
        let last = page.outcome(number);
        assert_eq!((&last["ended"], last["number"].as_u64()), (&json!("stopped"), Some(number)));
        assert_eq!(told.states().last().map(String::as_str), Some("5"));
    }
}

#[test]
fn the_end_of_the_page_releases_everything() {
    let (page, told) = page();
    page.post("/play", json!({ "macro": "2,hp 60000" }));
    until(|| told.states().len() == 1);
    let port = page.port();
    page.stop().unwrap();
    assert_eq!(told.states(), ["2,hp", "5"]);
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn the_end_comes_although_others_ask_for_more() {
    for _ in 0..10 {
        let told = TestDevice::default();
        let (playing, player) = playing(told.clone(), FPS);
        let asking: Vec<_> = (0..2)
            .map(|_| {
                let (playing, schedule) =
                    (Arc::clone(&playing), Macro::parse(b"lp 60000").unwrap().schedule());
                let ask = move || while playing.play(TurnKind::Macro, schedule.clone(), true).is_ok() {};
                std::thread::spawn(ask)
            })
            .collect();
        until(|| !told.states().is_empty());
        playing.end();
        until(|| player.is_finished());
        asking.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(told.states().last().map(String::as_str), Some("5"));
    }
}

#[test]
fn a_press_is_held_for_two_frames_and_is_no_macro() {
    let (page, told) = page_at("127.0.0.1", 1_000.0, |_| Ok(()));
    for keys in ["1", "2", "3", "4", "5", "6", "7", "8", "9", "lp", "pause", "reload", "save", "2,mk"] {
        let (status, answer) = page.post("/press", json!({ "keys": keys }));
        assert_eq!(status, 202, "{answer}");
        let last = page.outcome(answer["number"].as_u64().unwrap());
        assert_eq!((&last["kind"], &last["pacing"]["states"]), (&json!("press"), &json!(2)));
    }
    let pressed: Vec<String> = told.states().into_iter().step_by(2).collect();
    let expected = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "lp", "start", "select", "save", "2,mk"];
    assert_eq!(pressed, expected);
    for keys in ["", "xx", "2 60000\nmk", "<loop 9>\n2 1\n</loop>\n2", "# ", "2 60000 #", "2\r", "4,6"] {
        let (status, answer) = page.post("/press", json!({ "keys": keys }));
        assert!(status == 400 && answer["message"].is_string(), "{keys:?}: {status} {answer}");
    }
    assert_eq!(told.states().len(), 28);
}

#[test]
fn fast_presses_wait_and_are_told_apart() {
    let fps = 4.0 * FPS;
    let (page, told) = page_at("127.0.0.1", fps, |_| Ok(()));
    let began = Instant::now();
    for keys in ["2", "3", "6", "6,lp", "6,lp"] {
        assert_eq!(page.post("/press", json!({ "keys": keys })).0, 202);
    }
    page.outcome(5);
    assert_eq!(told.states(), ["2", "5", "3", "5", "6", "5", "6,lp", "5", "6,lp", "5"]);
    // Two frames pressed and two released, but for those after the last.
    assert!(began.elapsed() >= Duration::from_secs_f64(18.0 / fps), "{:?}", began.elapsed());
}

#[test]
fn no_more_presses_wait_than_somebody_remembers() {
    // A press of minutes, so that nothing of this is over before all have asked.
    let told = TestDevice::default();
    let (playing, player) = playing(told.clone(), 0.01);
    let press = || playing.play(TurnKind::Press, Macro::parse(b"lp 2").unwrap().schedule(), false);
    press().unwrap();
    until(|| !told.states().is_empty());
    until(|| press().is_err());
    let (_, last) = playing.look();
    assert!(last.is_none(), "nothing was dropped");
    playing.stop();
    assert_eq!(playing.look().1.unwrap().number, 9, "one is played, and eight waited");
    playing.end();
    until(|| player.is_finished());
}

#[test]
fn a_device_that_failed_is_opened_again() {
    let (page, told) = page_that("127.0.0.1", |nth| if nth == 2 { Err(failing()) } else { Ok(()) });
    page.post("/play", json!({ "macro": "2 1\n3 1" }));
    let last = page.outcome(1);
    let error = last["error"].as_str().unwrap();
    assert!(last["ended"] == "failed" && error.ends_with("unplugged"), "{last}");
    page.post("/play", json!({ "macro": "6 1" }));
    assert_eq!(page.outcome(2)["ended"], "whole");
    assert_eq!(told.states(), ["2", "3", "5", "6", "5"]);
    assert_eq!(told.opened.load(Ordering::Relaxed), 2);
}

#[test]
fn what_cannot_be_released_is_said() {
    let (page, told) = page_that("127.0.0.1", |nth| if nth == 2 { Err(failing()) } else { Ok(()) });
    page.post("/play", json!({ "macro": "2 60000" }));
    until(|| told.states().len() == 1);
    page.post("/stop", json!({}));
    let last = page.outcome(1);
    let error = last["error"].as_str().unwrap();
    assert!(
        last["ended"] == "failed" && error.ends_with("unplugged; what was pressed may still be"),
        "{last}"
    );
}

#[test]
fn a_device_that_panics_does_not_end_the_server() {
    let (page, told) = page_that("127.0.0.1", |nth| if nth == 1 { panic!("as it should") } else { Ok(()) });
    page.post("/play", json!({ "macro": "2 1" }));
    assert!(page.outcome(1)["error"].as_str().unwrap().contains("panicked"));
    page.post("/play", json!({ "macro": "6 1" }));
    assert_eq!(page.outcome(2)["ended"], "whole");
    assert!(told.states().ends_with(&["6".to_owned(), "5".to_owned()]));
}

#[test]
fn a_device_that_cannot_be_opened_is_said_at_the_start_and_later() {
    let error = Page::start("127.0.0.1", 0, FPS, Box::new(|| Err(failing().into()))).err().unwrap();
    assert!(matches!(error, PageError::Device(_)) && error.to_string().ends_with("unplugged"));
    let mut once = Some(Recorder(TestDevice::default(), |_| Err(failing())));
    let open =
        move || once.take().map(|device| Box::new(device) as Box<dyn Device>).ok_or_else(|| failing().into());
    let page = Page::start("127.0.0.1", 0, FPS, Box::new(open)).unwrap();
    for number in 1..=2 {
        page.post("/play", json!({ "macro": "2 1" }));
        let last = page.outcome(number);
        assert!(last["ended"] == "failed" && last["error"].is_string(), "{last}");
    }
}

#[test]
fn a_device_that_hangs_does_not_keep_the_server_from_ending() {
    let hanging = |_| loop {
        std::thread::park();
    };
    let (mut page, told) = page_that("127.0.0.1", hanging);
    page.patience = Duration::ZERO;
    page.post("/play", json!({ "macro": "2 1" }));
    until(|| told.states().len() == 1);
    assert!(matches!(page.stop(), Err(PageError::Hangs)));
}

#[test]
fn what_is_no_right_request_is_refused_and_harms_nothing() {
    let (page, _) = page();
    let deep = "[".repeat(100_000);
    for path in ["/play", "/press"] {
        for body in ["", "{", "null", "[]", "{}", "\0", "{\"macro\": 1}", "{\"keys\": []}", &deep] {
            let (status, answer) = page.ask(&format!("POST {path}"), JSON, body);
            assert!(status == 400 && answer["message"].is_string(), "{path} {body}: {status} {answer}");
        }
    }
    let unknown = json!({ "macro": "2 1", "replaces": true });
    assert_eq!(page.post("/play", unknown).0, 400);
    let (host, port) = ("127.0.0.1", page.port());
    let no_utf_8 = format!(
        "POST /play HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n{JSON}Content-Length: 2\r\n\r\n"
    );
    assert_eq!(page.raw(&[no_utf_8.as_bytes(), b"\"\xff"].concat()).0, 400);
    let much = format!("{{\"macro\": \"{}\"}}", "2 1\\n".repeat(1 << 18));
    let (status, answer) = page.ask("POST /play", JSON, &much);
    assert!(status == 413 && answer["message"].as_str().is_some_and(|why| why.contains("1 MiB")), "{answer}");
    for path in ["/nothing", "/page", "/../page.js", "/play/", "//"] {
        assert_eq!(page.ask(&format!("GET {path}"), "", "").0, 404, "{path}");
        assert_eq!(page.ask(&format!("POST {path}"), JSON, "{}").0, 404, "{path}");
    }
    for what in
        ["GET /play", "GET /press", "GET /stop", "POST /status", "POST /", "OPTIONS /play", "PUT /play"]
    {
        let (status, answer) = page.ask(what, JSON, "{}");
        assert!(status == 405 && answer["message"].is_string(), "{what}: {status} {answer}");
    }
    assert_eq!(page.raw(b"nothing at all\r\n\r\n").0, 400);
    assert_eq!(page.post("/play", json!({ "macro": "2 1" })).0, 202);
}

#[test]
fn the_page_is_whole_and_allows_nothing_else() {
    let (page, _) = page();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/icon.svg", "image/svg+xml"),
    ] {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", page.port());
        let (status, answer) = page.raw(request.as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(status, 200);
        for header in [
            format!("content-type: {kind}"),
            "x-content-type-options: nosniff".to_owned(),
            "referrer-policy: same-origin".to_owned(),
            "cache-control: no-store".to_owned(),
        ] {
            assert!(head.contains(&header), "{path}: {header} is not in {head}");
        }
        let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).unwrap();
        assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"), "{policy}");
        assert!(!head.contains("set-cookie") && !head.contains("access-control"), "{head}");
        let elsewhere = body.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("://"), "{path} names another server");
        assert!(
            !body.contains(" style=") && !body.contains("<script>") && !body.contains("<style"),
            "{path}"
        );
    }
}

#[test]
fn a_foreign_host_is_refused() {
    let (page, told) = page();
    let port = page.port();
    let asked = |host: &str| {
        let play = "{\"macro\": \"2 1\", \"replace\": true}";
        let head = format!(
            "POST /play HTTP/1.1\r\n{host}Connection: close\r\n{JSON}Content-Length: {}\r\n\r\n",
            play.len()
        );
        page.raw((head + play).as_bytes()).0
    };
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("localhost:{port}@evil.example"),
        format!("evil@localhost:{port}"),
        format!("192.0.2.1:{port}"),
        format!("127.0.0.1.:{port}"),
        format!("[::2]:{port}"),
        ":".to_owned(),
        String::new(),
    ] {
        assert!(matches!(asked(&format!("Host: {host}\r\n")), 400 | 403), "{host}");
    }
    assert_eq!(asked(""), 403, "without a host");
    assert_eq!(asked(&format!("Host: localhost:{port}\r\nHost: evil.example\r\n")), 403);
    assert_eq!(told.states().len(), 0);
    for host in ["localhost", "LOCALHOST", "127.0.0.1", "[::1]"] {
        assert_eq!(asked(&format!("Host: {host}:{port}\r\n")), 202, "{host}");
    }
    for forwarded in [format!("localhost:{}", port ^ 1), "localhost".to_owned()] {
        assert_eq!(asked(&format!("Host: {forwarded}\r\n")), 202, "{forwarded}");
    }
}

#[test]
fn a_post_of_another_site_is_refused() {
    let (page, told) = page();
    let port = page.port();
    let play = json!({ "macro": "2 1", "replace": true }).to_string();
    let asked = |headers: &str| page.ask("POST /play", headers, &play).0;
    for origin in [
        "null".to_owned(),
        "https://evil.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://127.0.0.1:{port}.evil.example"),
        "http://127.0.0.1".to_owned(),
        format!("http://localhost:{port}"),
        String::new(),
    ] {
        assert_eq!(asked(&format!("{JSON}Origin: {origin}\r\n")), 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "what"] {
        assert_eq!(asked(&format!("{JSON}Sec-Fetch-Site: {site}\r\n")), 403, "{site}");
        let headers = format!("{JSON}Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: {site}\r\n");
        assert_eq!(asked(&headers), 403, "{site}, although its origin is right");
        assert_eq!(page.ask("GET /status", &format!("Sec-Fetch-Site: {site}\r\n"), "").0, 403);
        assert_eq!(
            page.ask("GET /", &format!("Sec-Fetch-Site: {site}\r\n"), "").0,
            200,
            "a link may lead here"
        );
    }
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonp",
    ] {
        assert_eq!(asked(&format!("Content-Type: {kind}\r\n")), 415, "{kind}");
    }
    assert_eq!(asked(""), 415);
    assert_eq!(page.ask("POST /stop", "", "").0, 415);
    assert_eq!(told.states().len(), 0);
    let ours = format!("Origin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n");
    assert_eq!(asked(&format!("{JSON}{ours}")), 202);
    assert_eq!(asked(&format!("Content-Type: Application/JSON; charset=utf-8\r\n{ours}")), 202);
    assert_eq!(asked(JSON), 202, "a program that is no browser");
}

#[test]
fn a_token_is_needed_for_everything_where_others_can_connect() {
    let (page, told) = page_that("0.0.0.0", |_| Ok(()));
    let token = page.link().split_once("/?token=").unwrap().1.to_owned();
    assert!(token.len() == 32 && token.bytes().all(|c| c.is_ascii_hexdigit()), "{token}");
    let (other, _) = page_that("0.0.0.0", |_| Ok(()));
    assert!(!other.link().ends_with(&token));

    let cookie = format!("kumite_{}", page.port());
    let body = json!({ "macro": "2 1", "replace": true, }).to_string();
    let wrong = ["", &token[..31], &format!("{token}0"), &"0".repeat(32)].map(str::to_owned);
    for what in
        ["GET /", "GET /page.js", "GET /page.css", "GET /status", "GET /nothing", "POST /play", "POST /stop"]
    {
        assert_eq!(page.ask(what, JSON, &body).0, 403, "{what}");
        for wrong in &wrong {
            assert_eq!(page.ask(&format!("{what}?token={wrong}"), JSON, &body).0, 403, "{what} {wrong}");
            let headers = format!("{JSON}Cookie: {cookie}={wrong}\r\n");
            assert_eq!(page.ask(what, &headers, &body).0, 403, "{what} {wrong}");
        }
        let elsewhere = format!("{JSON}Cookie: kumite={token}; {cookie}0={token}\r\n");
        assert_eq!(page.ask(what, &elsewhere, &body).0, 403, "{what}");
    }
    assert_eq!(told.states().len(), 0);

    let request = format!(
        "GET /?token={token} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nSec-Fetch-Site: cross-site\r\n\r\n",
        page.port()
    );
    let (status, answer) = page.raw(request.as_bytes());
    let set = format!("set-cookie: {cookie}={token}; Path=/; HttpOnly; SameSite=Strict\r\n");
    assert!(status == 200 && answer.contains(&set), "{answer}");
    let with_it = format!("{JSON}Cookie: a=b; {cookie}={token}\r\n");
    assert_eq!(page.ask("GET /", &with_it, "").0, 200);
    assert_eq!(page.ask("POST /play", &with_it, &body).0, 202);
    assert_eq!(page.ask(&format!("POST /play?token={token}"), JSON, &body).0, 202, "a program");
    let site = format!("{with_it}Origin: http://evil.example\r\n");
    assert_eq!(page.ask("POST /play", &site, &body).0, 403, "the token does not make it ours");

    let named = |host: &str| {
        let head = format!(
            "GET /status?token={token} HTTP/1.1\r\nHost: {host}:{}\r\nConnection: close\r\n\r\n",
            page.port()
        );
        page.raw(head.as_bytes()).0
    };
    assert_eq!(["192.0.2.7", "[2001:db8::7]"].map(named), [200, 200], "an address points nowhere else");
    assert_eq!(["evil.example", "localhost", "0x7f.1"].map(named), [403, 403, 403]);
}

#[test]
fn on_loopback_there_is_no_token() {
    for host in ["127.0.0.1", "localhost"] {
        let (page, _) = page_that(host, |_| Ok(()));
        assert_eq!(page.link(), format!("http://{host}:{}/", page.port()));
    }
}

#[test]
fn where_it_cannot_listen_is_said() {
    let (page, _) = page();
    let start =
        |host, port| match Page::start(host, port, FPS, Box::new(|| Err(failing().into()))).err().unwrap() {
            PageError::Listen { host, port, source } => (host, port, source.kind()),
            other => panic!("{other}"),
        };
    let taken = (start("127.0.0.1", page.port()), start("192.0.2.1", 0));
    let named = |host: &str, port, kind| (host.to_owned(), port, kind);
    assert_eq!(taken.0, named("127.0.0.1", page.port(), io::ErrorKind::AddrInUse));
    assert_eq!(taken.1, named("192.0.2.1", 0, io::ErrorKind::AddrNotAvailable), "not ours");
}

#[test]
fn a_link_leads_to_where_it_listens() {
    let at = |host, address: &str| link(host, address.parse().unwrap(), Some("7f"));
    assert_eq!(at("192.0.2.7", "192.0.2.7:80"), "http://192.0.2.7:80/?token=7f");
    assert_eq!(at("2001:db8::7", "[2001:db8::7]:8080"), "http://[2001:db8::7]:8080/?token=7f");
    assert_eq!(at("home.local", "192.0.2.7:8080"), "http://home.local:8080/?token=7f");
    let any = at("0.0.0.0", "0.0.0.0:8080");
    let host = any.strip_prefix("http://").and_then(|rest| rest.strip_suffix(":8080/?token=7f")).unwrap();
    assert!(host.parse::<Ipv4Addr>().is_ok_and(|address| !address.is_unspecified()), "{any}");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_does_not_end_is_closed() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (playing, _player) = playing(TestDevice::default(), FPS);
    let guard = Guard::new(address, "127.0.0.1").unwrap();
    let app = App { guard, playing: Arc::clone(&playing), fps: FPS, device: None };
    let server = tokio::spawn(serve(listener, Arc::new(app)));
    let mut slow = tokio::net::TcpStream::connect(address).await.unwrap();
    slow.write_all(b"POST /stop HTTP/1.1\r\n").await.unwrap();
    let mut answer = String::new();
    let _ = slow.read_to_string(&mut answer).await;
    assert_eq!(answer, "");
    server.abort();
    playing.end();
}
