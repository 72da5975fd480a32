use crate::load::Server;
use crate::place::Place;
use crate::printed::printed;

const LETTERS: &str = r#"
answer = { status = 200, equals = "pong" }
[[request]]
path = "/search?q={{seq}}"
weight = 3
[[session]]
name = "letters"
[[session.request]]
name = "take"
body = "{{uuid}}"
take = { letter = { regex = "(p)ong" } }
[[session.request]]
path = "/{{letter}}"
think_ms = 1
"#;

#[test]
fn the_requests_of_a_scenario_are_counted_one_by_one() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    std::fs::write(place.path("s.toml"), LETTERS).unwrap();
    let load = ["load", &server.url, "--scenario", "s.toml", "-c", "4", "-n", "800", "-t", "20s"];
    let result = place.kumite(&[&load[..], &["--json", "-"]].concat()).ended(0).json();
    let ok = |session: usize, request: usize| {
        result["sessions"][session]["requests"][request]["ok"].as_u64().unwrap()
    };
    let (search, letters) = (ok(0, 0), ok(1, 0));
    assert_eq!((search + letters, ok(1, 1)), (800, letters));
    // Each of four connections has its share to within a turn.
    assert!(letters.abs_diff(200) <= 4, "{letters}");
    assert_eq!(result["sessions"][1]["ok"], letters);
    assert_eq!((&result["requests"], &result["ok"]), (&(800 + letters).into(), &(800 + letters).into()));
    printed!(place.kumite(&load).ended(0).words());
}

#[test]
fn a_request_of_a_scenario_that_fails_is_named_and_counted() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let wrong = LETTERS.replace("think_ms = 1", "answer = { status = 404 }");
    std::fs::write(place.path("s.toml"), wrong.replace("weight = 3", "weight = 0")).unwrap();
    let said =
        place.kumite(&["load", &server.url, "--scenario", "s.toml", "-c", "1", "-n", "10", "-t", "20s"]);
    let said = said.ended(1);
    printed!(said.words());
    printed!(said.notes());
}

#[test]
fn a_scenario_that_cannot_be_used_is_refused() {
    let place = Place::new("", &[]);
    let mut words = String::new();
    let mut refused = |text: &str, url: &[&str], more: &[&str]| {
        std::fs::write(place.path("s.toml"), text).unwrap();
        let said = place.kumite(&[&["load"], url, &["--scenario", "s.toml"], more].concat()).ended(2);
        words += &said.notes();
    };
    let nobody = "http://127.0.0.1:1";
    refused("", &[nobody], &[]);
    refused("[[request]]\npath = '/{{x}}'\n", &[nobody], &[]);
    refused("[[request]]\nbody_file = 'none'\n", &[nobody], &[]);
    refused("[[request]]\nthink_ms = 1\n", &[nobody], &[]);
    refused(LETTERS, &["http://127.0.0.1:1/path"], &[]);
    refused(LETTERS, &[nobody, nobody], &[]);
    refused(LETTERS, &[nobody], &["--pipeline", "2"]);
    refused(LETTERS, &[nobody], &["-d", "x"]);
    refused(LETTERS, &[nobody], &["--expect-status", "200"]);
    printed!(words);
}
