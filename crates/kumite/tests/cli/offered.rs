//! `kumite load` beyond a closed loop, against a stub that counts.

use std::path::Path;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::place::Place;
use crate::printed::printed;
use crate::schema::assert_right;
use crate::stub::Stub;

/// The answers that the stub has counted, once it is ended.
fn answers(stub: Stub) -> Value {
    serde_json::from_str::<Value>(&stub.end(Signal::SIGTERM).out).unwrap()["answers"].take()
}

fn counting(place: &Place, arguments: &[&str]) -> Stub {
    Stub::start(place, &[arguments, &["--json", "-"]].concat())
}

#[test]
fn an_open_loop_has_both_times_and_what_the_engine_was_late() {
    let place = Place::new("", &[]);
    let stub = counting(&place, &["--delay", "2ms"]);
    let rate = ["-R", "100@200ms,200@200ms", "--warm-up", "100ms"];
    // A connection is free for each, so that whatever is late is the engine.
    let patient = ["-c", "60", "-t", "20s", "--json", "-"];
    let result = place.kumite(&[&["load", &stub.url], &rate[..], &patient].concat()).ended(0).json();
    assert_right("load", &result);
    // 10 of them in the warm-up.
    assert_eq!((&result["ok"], &result["warm_up_requests"]), (&50.into(), &10.into()));
    assert_eq!(result["seconds"], 0.3);
    assert!(result["service_us"]["mean"].as_f64() >= Some(2_000.0), "{}", result["service_us"]);
    assert!(result["response_us"]["mean"].as_f64() >= result["service_us"]["mean"].as_f64());
    assert!(result["engine"]["send_lag_p99_us"].is_f64());
    assert!(result["steadiness"].is_null(), "a rate says nothing about a server's warm-up");
    assert_eq!(answers(stub), 60);
}

#[test]
fn what_no_connection_was_free_for_is_said_first() {
    let place = Place::new("", &[]);
    // Ten a second, and a request waits for two: so most of a hundred are never sent.
    let stub = counting(&place, &["--delay", "100ms"]);
    let said = place.kumite(&["load", &stub.url, "-R", "200", "-z", "500ms", "-c", "1", "-t", "2s"]).ended(1);
    let place_of = |text: &str| said.out.find(text).unwrap_or_else(|| panic!("no {text}: {}", said.out));
    assert!(place_of("overloaded: ") < place_of("open loop at 200/s over 1 connection"), "{}", said.out);
    place_of("were due and not sent");
    printed!(said.words());
}

#[test]
fn nobody_there_is_said_in_an_open_loop_too() {
    let place = Place::new("", &[]);
    let said =
        place.kumite(&["load", "http://127.0.0.1:1/", "-R", "100", "-z", "200ms", "-t", "50ms"]).ended(1);
    printed!(said.words());
}

#[test]
fn a_recording_is_replayed() {
    let place = Place::new("", &[]);
    let stub = counting(&place, &[]);
    place.write("arrivals", "# seconds\n0\n0.01\n0.01\n0.2\n");
    for more in [&[][..], &["-n", "99"]] {
        let result =
            [&["load", &stub.url, "--replay", "arrivals", "-t", "20s", "--json", "-"], more].concat();
        assert_eq!(place.kumite(&result).ended(0).json()["ok"], 4);
    }
    assert_eq!(answers(stub), 8);
}

#[test]
fn both_transports_and_several_threads_count_alike() {
    let place = Place::new("", &[]);
    let stub = counting(&place, &[]);
    let cpus = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap();
    let cpu = (0..1024).find(|cpu| cpus.is_set(*cpu).unwrap()).unwrap();
    let cores = format!("{cpu},{cpu}");
    for more in [&["--io", "epoll"][..], &["--cores", &cores], &["--pipeline", "4"]] {
        let arguments =
            [&["load", &stub.url, "-n", "1000", "-c", "7", "-t", "20s", "--json", "-"], more].concat();
        let result = place.kumite(&arguments).ended(0).json();
        assert_right("load", &result);
        assert_eq!(result["ok"], 1000, "{more:?}");
    }
    assert_eq!(answers(stub), 3000);
}

#[test]
fn requests_differ_and_answers_are_checked_in_several_ways() {
    let place = Place::new("", &[]);
    let stub = counting(&place, &["--body", r#"{"user":{"name":"ann"}}"#]);
    place.write("users.csv", "id\n7\n8\n");
    let url = format!("{}users/{{{{id}}}}?n={{{{seq}}}}", stub.url);
    let load = |more: &[&str]| {
        place.kumite(
            &[&["load", &url, "-n", "10", "-c", "2", "-t", "20s", "--csv", "users.csv", "--cookies"], more]
                .concat(),
        )
    };
    load(&["--expect-json", "/user/name=ann", "--expect-status", "200"]).ended(0);
    load(&["--expect-contains", "ann", "-H", "x-request-id: {{uuid}}"]).ended(0);
    load(&["--expect-regex", "^.*\"a[m-o]{2}\""]).ended(0);
    let said = load(&["--expect-json", "/user/name=bob"]).ended(1);
    printed!(said.words());
    let digest = "d7a5c2b2ad6e6b5f5e6d1d3c9a8e7e5f3c1b0a99887766554433221100ffeedd";
    let all: [&[&str]; 4] = [
        &["--expect-contains", "ann"],
        &["--expect-contains", "user", "--expect-regex", "^..u", "--expect-regex", "}}$"],
        &["--expect-json", "/user/name=ann", "--expect-json", "/user={\"name\":\"ann\"}"],
        &["--expect-header", "content-length: 23", "--expect-header-regex", "Content-Length: ^[0-9]+$"],
    ];
    let body = ["--expect-length", "23", "--expect-body", r#"{"user":{"name":"ann"}}"#];
    load(&[&all.concat(), &body[..]].concat()).ended(0);
    let wrong: [&[&str]; 5] = [
        &["--expect-header", "content-length: 24"],
        &["--expect-header-regex", "x-served-by: ."],
        &["--expect-length", "24"],
        &["--expect-sha256", digest],
        &["--expect-regex", "^..u", "--expect-regex", "^x"],
    ];
    for one in wrong {
        printed!(load(&[&all.concat(), one].concat()).ended(1).words());
    }
    let two =
        [&stub.url[..], &format!("{}b", stub.url), "--weights", "3,1", "-n", "8", "-c", "1", "-t", "20s"];
    place.kumite(&[&["load"], &two[..]].concat()).ended(0);
    assert_eq!(answers(stub), 108);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_sent() {
    let place = Place::new("", &[]);
    place.write("users.csv", "id\n7\n");
    place.write("arrivals", "1\n0\n");
    let url = "http://127.0.0.1:1/";
    let cases: [&[&str]; 15] = [
        &["-R", "fast"],
        &["-R", "100,200"],
        &["-R", "1e9"],
        &["--poisson"],
        &["-R", "1@1s", "--warm-up", "1s"],
        &["--replay", "arrivals"],
        &["--replay", "nothing"],
        &["--weights", "1,2"],
        &["-d", "{{name}}", "--csv", "users.csv"],
        &["--expect-json", "name"],
        &["--expect-regex", "("],
        &["--expect-sha256", "d7a5"],
        &["--expect-header", "a b: c"],
        &["http://127.0.0.1:2/"],
        &["--find-rate"],
    ];
    for more in cases {
        let said = place.kumite(&[&["load", url], more].concat()).ended(2);
        printed!(said.notes());
    }
    assert!(!Path::new(".kumite").exists(), "nothing is kept");
}

#[test]
#[ignore = "timing"]
fn there_is_a_line_each_second_where_there_is_no_terminal() {
    let place = Place::new("", &[]);
    let stub = Stub::start(&place, &[]);
    let said = place.kumite(&["load", &stub.url, "-R", "100", "-z", "2100ms", "-t", "20s"]).ended(0);
    stub.end(Signal::SIGTERM);
    let lines: Vec<&str> = said.err.lines().filter(|line| line.contains("errors; engine ")).collect();
    assert_eq!(lines.len(), 2, "{}", said.err);
    assert!(lines[0].starts_with("1/2 s; ") && lines[1].starts_with("2/2 s; "), "{}", said.err);
}
