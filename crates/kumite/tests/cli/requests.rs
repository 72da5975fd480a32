//! Experiments whose servers are asked several requests, and sessions of them.

use crate::place::{Place, standing};
use crate::printed::printed;
use crate::schema::assert_right;

const SHOP: &str = r#"
question = "Which shop is faster?"
kind = "http"
blocks = 2
headers = { x-shop = "!" }
[workload]
item = 7
rate_rps = 200
duration_s = 0.4
warm_up_s = 0
connections = 40
timeout_ms = 20000
[answer]
status = 200
[[request]]
name = "item"
weight = 3
path = "/item/$item?{{seq}}"
answer = { matches = "^/item/7[?][0-9]+!$" }
[[session]]
name = "user"
[[session.request]]
name = "login"
path = "/login"
body = "{}"
take = { token = { json = "/token" } }
[[session.request]]
name = "me"
path = "/me"
headers = { authorization = "Bearer {{token}}" }
think_ms = 1
answer = { equals = "me" }
[[claim]]
id = "logins-are-answered"
assert = "failures(a at request=\"login\") = 0"
[[claim]]
id = "as-many-logins"
assert = "received(a at request=\"login\") = received(a at request=\"me\")"
"#;

fn shop(mode: &str) -> Place {
    let place = Place::new("", &[("a", mode)]);
    place.write("experiments/fake/experiment.toml", SHOP);
    place
}

#[test]
fn requests_are_an_axis_within_trials() {
    let place = shop("shop");
    let export = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(0).json();
    assert_right("run", &export);
    let values = &export["run"]["within"]["values"];
    assert_eq!(
        (&export["run"]["within"]["axis"], values),
        (&"request".into(), &serde_json::json!(["item", "login", "me"]))
    );
    let sample = &standing(&export)[0]["sample"];
    let parts = sample["parts"].as_array().unwrap();
    let received: Vec<f64> = parts.iter().map(|part| part["metrics"]["received"].as_f64().unwrap()).collect();
    // Eighty are due, three of four of the plain request; each connection has its own turns.
    assert_eq!(received[0] + received[1], 80.0, "{received:?}");
    assert_eq!(received[1], received[2]);
    assert_eq!(sample["metrics"]["received"], received.iter().sum::<f64>());
    assert_eq!(sample["metrics"]["sessions_per_s"], received[2] / 0.4);
    assert_eq!(sample["metrics"]["session_failures"], 0.0);
    let claims = export["claims"].as_array().unwrap();
    let verdicts: Vec<&serde_json::Value> = claims.iter().map(|claim| &claim["verdict"]).collect();
    assert_eq!(verdicts, ["holds", "holds"], "{claims:?}");
}

#[test]
fn every_request_is_checked_and_the_wrong_one_named() {
    for (mode, code) in [("shop", 0), ("odd-shop", 1)] {
        printed!(shop(mode).kumite(&["check", "fake"]).ended(code).words());
    }
}

/// Twenty of eighty turns are sessions, each of two requests; a p99 takes 1,000 values.
#[test]
fn a_window_that_is_too_short_for_a_request_or_a_session_is_an_error_and_says_how_long_would_do() {
    let place = shop("shop");
    let claims = r#"
[[claim]]
id = "tail-of-all"
assert = "response_p50_us(a) < 60 s"
[[claim]]
id = "tail-of-logins"
assert = "response_p99_us(a at request=\"login\") < 60 s"
[[claim]]
id = "tail-of-sessions"
assert = "every contender: session_p99_us(contender) < 60 s"
"#;
    let text = SHOP.replacen("blocks = 2", "blocks = 20", 1);
    let check = |text: &str| {
        place.write("experiments/fake/experiment.toml", &(text.to_owned() + claims));
        place.kumite(&["check", "fake"])
    };
    let said = check(&text).ended(1);
    printed!(said.notes());
    assert_eq!(said.err.matches("needs 1,000").count(), 2, "{}", said.err);
    // What is said to do does.
    check(&text.replacen("duration_s = 0.4", "duration_s = 24", 1)).ended(0);
    assert_eq!(place.left(), [""; 0]);
}

/// A trial with figures by request, of which `login` is the slowest.
const SCRIPT: &str = r#"
[[trial]]
metrics = { throughput_rps = 400, sessions_per_s = 100, session_mean_us = 3500, session_failures = 0, failures = 2 }
parts = [
  { at = "item", metrics = { throughput_rps = 200, response_mean_us = 800, response_p50_us = 700, failures = 2 }, needs = { response_p99_us = 20 } },
  { at = "login", metrics = { throughput_rps = 100, response_mean_us = 2000, response_p50_us = 1800, failures = 0 } },
  { at = "me", metrics = { throughput_rps = 100, response_mean_us = 500, response_p50_us = 450, failures = 0 } },
]
"#;

#[test]
fn requests_stand_in_plans_and_in_every_report() {
    let place = shop("shop");
    printed!(place.kumite(&["run", "fake", "--dry-run"]).ended(0).report());
    place.write("script.toml", SCRIPT);
    printed!(place.scripted(&["run", "fake", "--blocks", "2", "--html", "r.html"]).ended(0).report());
    let markdown = place.kumite(&["report", "last", "--markdown", "-"]).ended(0).report();
    let (_, chapter) = markdown.split_once("## Request by request").unwrap();
    printed!(chapter.split("\n## ").next().unwrap());
    printed!(place.kumite(&["export", "last", "--format", "csv"]).ended(0).report());
    let page = place.read("r.html");
    assert!(page.contains("Request by request") && page.contains("Each request to each contender"));
}

#[test]
fn requests_that_cannot_be_are_refused() {
    let place = shop("shop");
    let mut words = String::new();
    for (from, to) in [
        ("item = 7\n", "item = 7\nitems = 8\n"),
        ("item = 7\n", ""),
        ("item = 7\n", "item = 7\npath = '/'\n"),
        ("item = 7\n", "item = 7\nrequest = 1\n"),
        ("rate_rps = 200\nduration_s = 0.4\nwarm_up_s = 0\n", "rate_rps = '10@1s,20@1s'\n"),
        ("name = \"login\"", "name = \"item\""),
        ("{{token}}", "{{tokens}}"),
        ("request=\\\"login\\\"", "request=\\\"log\\\""),
        ("timeout_ms = 20000", "disturbance = 'burst'"),
        ("kind = \"http\"", "kind = \"command\""),
        ("headers = { x-shop", "csv = 'users.csv'\nheaders = { x-shop"),
    ] {
        assert!(SHOP.contains(from), "{from}");
        place.write("experiments/fake/experiment.toml", &SHOP.replace(from, to));
        words += &place.kumite(&["run", "fake", "--dry-run"]).ended(2).notes();
    }
    printed!(words);
}
