use std::thread;

use kumite_stub::{Config, Running, Stub};

use crate::place::{Place, Said, nobody};
use crate::printed::printed;
use crate::schema::assert_right;

/// A stub of which this share of answers are none: by its seed, so that the first ones are the same each time.
fn stub(failing: &str) -> (Running, String) {
    let failures = Some(failing.parse().unwrap());
    let stub = Stub::start(Config { failures, ..Config::default() }).unwrap();
    let url = format!("http://{}/", stub.addr);
    (stub, url)
}

fn load(place: &Place, url: &str, slo: &str, more: &[&str]) -> Said {
    place.kumite(&[&["load", url, "--slo", slo], more].concat())
}

/// Objectives that are met, or are not, on any machine. Of failures a load is never void: the engine is not the reason.
const MET: &str = "max < 19s and errors < 90%";
const UNMET: &str = "errors < 5%";
const SHORT: [&str; 8] = ["-R", "200", "-z", "200ms", "-t", "20s", "--repeat", "6"];

#[test]
fn whole_loads_are_judged_until_it_is_decided() {
    let place = Place::new("", &[]);
    let answers = [("0", MET, "--gate=holds", 0, "holds"), ("0.3", UNMET, "--gate", 1, "fails")];
    thread::scope(|scope| {
        let judged = answers.map(|(failing, slo, gate, status, verdict)| {
            let place = &place;
            let file = format!("{verdict}.json");
            scope.spawn(move || {
                let (_stub, url) = stub(failing);
                let said =
                    load(place, &url, slo, &[&SHORT[..], &[gate, "--json", &file]].concat()).ended(status);
                (said, place.read(&file), verdict)
            })
        });
        for (said, document, verdict) in judged.map(|judged| judged.join().unwrap()) {
            printed!(said.words());
            let document = serde_json::from_str::<serde_json::Value>(&document).unwrap();
            assert_right("slo", &document);
            assert_eq!((&document["verdict"], &document["ended"]), (&verdict.into(), &"decided".into()));
            let loads = document["loads"].as_array().unwrap();
            assert_eq!(loads.len(), 5, "the sixth is not needed");
            assert_eq!(said.err.lines().filter(|line| line.starts_with("load ")).count(), 5);
            assert_eq!(document["met"].as_u64(), Some(if verdict == "holds" { 5 } else { 0 }));
        }
    });
}

#[test]
fn a_verdict_without_a_gate_is_a_finding_and_has_its_documents() {
    let (_stub, url) = stub("0.3");
    let place = Place::new("", &[]);
    let files = ["--markdown", "slo.md", "--html", "slo.html", "--json", "-"];
    let said = load(&place, &url, UNMET, &[&SHORT[..], &files].concat()).ended(0);
    assert_eq!(said.json()["verdict"], "fails");
    assert!(said.json()["gate"].is_null());
    assert!(place.read("slo.md").starts_with("**fails: at most half of such loads at 200"));
    assert!(place.read("slo.html").contains("fails: at most half of such loads at 200"));
}

#[test]
fn what_cannot_be_decided_is_refused_before_anything_is_sent() {
    let (_stub, url) = stub("0");
    let place = Place::new("", &[]);
    for more in [
        &["-R", "500", "--repeat", "4"][..],
        &["-R", "50", "-z", "2s"],
        &["-R", "100@5s,200@5s"],
        &["-R", "500", "-n", "9"],
        &["--gate"],
        &["-R", "500", "--save", "mine"],
        &["--replay", "times"],
    ] {
        let said = load(&place, &url, "p99 < 20ms and errors < 0.1%", more).ended(2);
        printed!(said.notes());
        assert_eq!(said.out, "");
    }
    for alone in [&["--repeat", "6"][..], &["--gate"]] {
        printed!(place.kumite(&[&["load", &url, "-R", "500"], alone].concat()).ended(2).notes());
    }
}

#[test]
fn a_server_that_is_not_up_has_another_status_than_one_that_is_too_slow() {
    let (addr, _port) = nobody();
    let place = Place::new("", &[]);
    let said = load(&place, &format!("http://{addr}/"), MET, &[&SHORT[..], &["--gate"]].concat()).ended(3);
    printed!(said.notes());
    assert_eq!(said.out, "");
}

const SHOP: &str = r#"
[[request]]
name = "list"
path = "/"
[[session]]
name = "buy"
[[session.request]]
name = "token"
path = "/"
[[session.request]]
name = "item"
path = "/"
"#;

#[test]
fn a_condition_is_about_one_request_or_one_session() {
    let (_stub, url) = stub("0");
    let place = Place::new("", &[]);
    place.write("shop.toml", SHOP);
    let judged = |slo: &str, status| {
        let more = ["--scenario", "shop.toml", "-c", "2", "--json", "-"];
        load(&place, &url, slo, &[&SHORT[..], &more].concat()).ended(status)
    };
    let slo = "max of buy < 99s, mean of item of buy < 19s, errors of list < 90%, max < 19s, errors < 90%";
    let result = judged(slo, 0).json();
    assert_right("slo", &result);
    assert_eq!(result["verdict"], "holds", "{result}");
    for made in result["loads"].as_array().unwrap() {
        let parts = &made["parts"];
        let named = [("buy", "session_max_us"), ("item of buy", "response_mean_us"), ("list", "error_share")];
        assert!(named.iter().all(|(part, name)| parts[part][name].is_number()), "{made}");
    }
    printed!(judged("p95 of items < 1s", 2).notes());
}
