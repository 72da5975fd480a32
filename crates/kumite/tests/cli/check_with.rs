use crate::load::Server;
use crate::place::{Place, standing};
use crate::printed::printed;

/// Says right of an answer with `pong` in it, of this request.
const RIGHT: &str = "grep -q '\"status\":200.*\"body\":\"pong\"'";

#[test]
fn a_checker_looks_at_a_sample_of_the_answers_after_the_load() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let load = ["load", &server.url, "-c", "2", "-n", "400", "-t", "20s"];
    let right = [&load[..], &["--check-with", RIGHT]].concat();
    let result = place.kumite(&[&right[..], &["--json", "-"]].concat()).ended(0).json();
    let of = &result["answers_checked"]["requests"];
    assert_eq!(
        (&of[0]["name"], &of[0]["right"], &of[0]["wrong"]),
        (&server.url.as_str().into(), &20.into(), &0.into())
    );
    assert_eq!((&result["ok"], result["answers_checked"]["checker"].as_str()), (&400.into(), Some(RIGHT)));
    printed!(place.kumite(&right).ended(0).words());
    let wrong = "grep -q ping || { echo 'no ping in it' >&2; exit 1; }";
    let said = place.kumite(&[&load[..], &["--check-with", wrong]].concat()).ended(1);
    printed!(said.words());
    printed!(said.notes());
}

#[test]
fn what_a_checker_finds_is_counted_by_request() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let scenario = "[[request]]\npath = '/a'\n[[request]]\nname = 'b'\npath = '/b'\n";
    place.write("s.toml", scenario);
    let not_b = "! grep -q '\"request\":\"b\"'";
    let load =
        ["load", &server.url, "--scenario", "s.toml", "-c", "1", "-n", "100", "-t", "20s", "--json", "-"];
    let result = place.kumite(&[&load[..], &["--check-with", not_b]].concat()).ended(1).json();
    let of = |nth: usize, what: &str| result["answers_checked"]["requests"][nth][what].clone();
    assert_eq!(
        (of(0, "name"), of(0, "wrong"), of(1, "name"), of(1, "right")),
        ("GET /a".into(), 0.into(), "b".into(), 0.into())
    );
    assert_eq!(of(0, "right").as_u64().unwrap() + of(1, "wrong").as_u64().unwrap(), 20);
    assert_eq!(of(1, "first_wrong"), "ended with status 1");
}

#[test]
fn a_checker_that_comes_to_no_finding_does_not_pass_and_the_load_is_reported() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let load = ["load", &server.url, "-c", "1", "-n", "10", "-t", "20s"];
    let said = place.kumite(&[&load[..], &["--check-with", "./no-such-checker"]].concat()).ended(3);
    assert!(said.out.contains("10 requests: 10 ok"), "{}", said.out);
    assert!(said.err.contains("the checker came to no finding on http://"), "{}", said.err);
    assert!(said.err.contains("it cannot be run: ") && said.err.contains("no-such-checker"), "{}", said.err);
    // One that hangs is ended, with all that it started.
    let said = place.kumite(&[&load[..], &["--check-with", "sleep 1000 & wait"]].concat()).ended(3);
    assert!(said.err.contains("it took longer than 10 s"), "{}", said.err);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn the_checker_of_an_experiment_looks_at_the_answers_of_each_contender() {
    let of = |checker: &str| Place::new(&format!("checker = {checker:?}\n"), &[("a", "pong")]);
    let outcome = |place: &Place, code: i32| {
        let run = place.kumite(&["run", "fake", "--blocks", "1", "--json", "-"]).ended(code).json();
        let trial = standing(&run)[0];
        (trial["outcome"].clone(), trial["reason"].as_str().unwrap_or_default().to_owned())
    };
    let right = of("grep -q '\"body\":\"pong\"' && touch looked-at");
    right.kumite(&["check", "fake"]).ended(0);
    std::fs::remove_file(right.path("experiments/fake/looked-at")).unwrap();
    assert_eq!(outcome(&right, 0), ("ok".into(), String::new()));
    assert!(right.path("experiments/fake/looked-at").exists());

    let wrong = of("echo 'no ping in it' >&2; exit 1");
    let said = wrong.kumite(&["check", "fake"]).ended(1);
    assert!(
        said.out.contains("the checker found 1 of 1 answers wrong, one to 'POST /': no ping in it"),
        "{}",
        said.out
    );
    let (is, why) = outcome(&wrong, 3);
    assert_eq!(is, "disqualified");
    assert!(why.starts_with("the checker found ") && why.ends_with(": no ping in it"), "{why}");

    let (is, why) = outcome(&of("./no-such-checker"), 3);
    assert_eq!(is, "failed");
    assert!(why.starts_with("an answer could not be checked: "), "{why}");
}

#[test]
fn a_checker_is_for_one_load() {
    let place = Place::new("", &[]);
    let many = ["load", "http://127.0.0.1:1", "-R", "9", "--slo", "p99 < 1s", "--check-with", "true"];
    let said = place.kumite(&many).ended(2);
    let says = |what: &str| said.err.contains(what);
    assert!(says("--check-with <CMD>") && says("--slo <SLO>") && says("cannot be used with"), "{}", said.err);
}
