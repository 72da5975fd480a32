//! Runs whose server and engine have nodes of their own. The hosts are homes of this machine, as in `on.rs`; the host `h5`
//! has the address 127.0.0.5.

use std::path::Path;

use kumite_record::Probe;
use kumite_testing::example;
use serde_json::json;

use crate::on::{command, place};
use crate::place::{EXPERIMENT, Place, Said, standing};
use crate::printed::printed;
use crate::protocol::USERS;

fn run(place: &Place, roles: &[&str]) -> Said {
    let roles = roles.iter().flat_map(|role| ["--role", role]);
    let arguments: Vec<&str> =
        ["run", "fake", "--blocks", "2", "--seed", "7", "--json", "-"].into_iter().chain(roles).collect();
    Said::of(command(place, &arguments).output().unwrap())
}

pub fn assert_apart(said: &Said, server: &str) {
    let export = said.json();
    let roles = export["run"]["roles"].as_array().unwrap();
    assert_eq!(roles.len(), 1);
    assert_eq!((&roles[0]["role"], &roles[0]["node"]["name"]), (&json!("server"), &json!(server)));
    assert_eq!(export["machine"]["cores"]["apart"], true);
    let trials = standing(&export);
    assert_eq!(trials.len(), 4);
    for trial in trials {
        assert_eq!(trial["outcome"], "ok", "{}", trial["reason"]);
        let metrics = &trial["sample"]["metrics"];
        for name in ["network_round_trip_us", "throughput_rps", "peak_rss_bytes", "cpu_cores"] {
            assert!(metrics[name].as_f64().is_some(), "{name}: {metrics}");
        }
        let noise = trial["sample"]["noise"].as_object().unwrap();
        // The trial's own probes are those of the contender's node.
        for probe in Probe::ALL.map(Probe::name) {
            assert!(metrics[probe].as_f64().is_some(), "{probe}: {metrics}");
            assert!(noise.contains_key(&format!("engine_{probe}")), "{probe}: {noise:?}");
        }
        assert!(
            noise.contains_key("server_clock_jump_ms") && noise.contains_key("clock_jump_ms"),
            "{noise:?}"
        );
    }
}

#[test]
fn a_server_runs_on_its_node_and_is_measured_from_here() {
    let place = place();
    let said = run(&place, &["server=h5"]).ended(0);
    printed!(said.notes());
    assert_apart(&said, "h5");
    // Nothing is kept there but builds, and nothing runs.
    assert_eq!(std::fs::read_dir(place.path("homes/h5/.cache/kumite/nodes")).unwrap().count(), 0);
    assert_eq!(place.left(), [""; 0]);
    let shown = place.kumite(&["report", "last"]).ended(0);
    assert!(shown.out.contains("server on h5 (") && shown.out.contains("of its own node"), "{}", shown.out);
}

#[test]
fn an_engine_elsewhere_measures_and_what_it_asks_is_relayed() {
    let place = place();
    let said = run(&place, &["server=h5", "engine=h6"]).ended(0);
    printed!(said.notes());
    assert_apart(&said, "h5");
    // Words of the run there are notes, with its node's name; its questions are none.
    assert!(!said.err.contains("\"tell\""), "{}", said.err);
    // The same command has it already, and the engine's node keeps nothing of it.
    assert_eq!(std::fs::read_dir(place.path("homes/h6/.cache/kumite/nodes")).unwrap().count(), 0);
    assert_eq!(place.left(), [""; 0]);
    place.kumite(&["report", "last"]).ended(0);
}

/// Makes the contenders servers that speak the protocol of the point.
fn speak_as_asked(place: &Place, first: &str) {
    for name in ["a", "b"] {
        let run = format!("{first}exec {} asked {}", example("fake_protocols").display(), place.mark());
        let text =
            format!("version = 'echo 1'\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = '{run}'\n");
        place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
    }
}

/// The rows are read where the engine is.
#[test]
fn sessions_have_their_rows_and_cookies_on_the_engines_node() {
    for roles in [&["server=h5"][..], &["server=h5", "engine=h6"]] {
        let place = place();
        place.write(
            "experiments/fake/experiment.toml",
            &USERS.replace(r#"["http", "https", "h2", "h2c"]"#, r#"["h2"]"#),
        );
        place.write("experiments/fake/users.csv", "name\nann\nbob\neve\n");
        speak_as_asked(&place, "");
        let export = run(&place, roles).ended(0).json();
        for trial in standing(&export) {
            let metrics = &trial["sample"]["metrics"];
            // Forty sessions are due, of two requests each.
            assert_eq!(
                (&metrics["received"], &metrics["session_failures"]),
                (&json!(80.0), &json!(0.0)),
                "{trial}"
            );
        }
        assert_eq!(export["run"]["roles"][0]["node"]["name"], "h5");
        assert_eq!(place.left(), [""; 0]);
    }
}

/// The files are written where the server is, and are gone when it is.
#[test]
fn a_server_in_tls_has_its_certificate_on_its_node() {
    let place = place();
    let text = EXPERIMENT.replace("[answer]", "protocol = \"h2\"\n[answer]");
    place.write("experiments/fake/experiment.toml", &text);
    speak_as_asked(&place, "echo $TLS_CERT; ");
    let said = run(&place, &["server=h5"]).ended(0);
    assert_apart(&said, "h5");
    for trial in standing(&said.json()) {
        let log = place.read(&format!(".kumite/{}", trial["log"].as_str().unwrap()));
        let certificate = Path::new(log.trim());
        assert!(certificate.is_absolute() && !certificate.parent().unwrap().exists(), "{log}");
    }
    assert_eq!(place.left(), [""; 0]);
}

/// By the agents of two nodes, or of one: with an engine elsewhere the flag goes there, too.
#[test]
fn a_control_stands_in_each_block_twice_on_the_servers_node() {
    for roles in [&["server=h5"][..], &["server=h5", "engine=h6"]] {
        let place = place();
        let roles = roles.iter().flat_map(|role| ["--role", role]);
        let arguments = ["run", "fake", "--blocks", "2", "--seed", "7", "--control=b", "--json", "-"];
        let arguments: Vec<&str> = arguments.into_iter().chain(roles).collect();
        let export = Said::of(command(&place, &arguments).output().unwrap()).ended(0).json();
        let control = &export["run"]["control"];
        assert_eq!((&control["contender"], &control["twin"]), (&json!("b"), &json!("b--control")));
        assert_eq!(export["run"]["roles"][0]["node"]["name"], "h5");
        let of = |name: &str| {
            let trials = standing(&export).into_iter().filter(|trial| trial["contender"] == name);
            let is_right = |trial: &serde_json::Value| {
                trial["outcome"] == "ok" && trial["control"].is_boolean() == (name == "b--control")
            };
            let trials: Vec<_> = trials.collect();
            assert!(trials.iter().all(|trial| is_right(trial)), "{trials:?}");
            trials.len()
        };
        assert_eq!(["a", "b", "b--control"].map(of), [2, 2, 2]);
        assert_eq!(place.left(), [""; 0]);
    }
}

#[test]
fn roles_that_make_no_sense_are_refused_before_anything_is_reached() {
    let place = place();
    for roles in [
        &["server"][..],
        &["client=h5"],
        &["server=-oX"],
        &["server=h5", "server=h6"],
        &["engine=h6"],
        &["server=h5", "engine=h5"],
        &["services=h5"],
    ] {
        let said = run(&place, roles).ended(2);
        printed!(said.notes());
    }
    assert!(!place.path("homes/h5").exists());
}

#[test]
fn a_node_that_cannot_be_reached_is_named_and_nothing_is_measured() {
    let place = place();
    command(&place, &["list"]).output().unwrap();
    place.write("homes/h5.closed", "");
    let said = run(&place, &["server=h5"]).ended(3);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn an_engine_that_can_run_no_contender_says_why_and_keeps_nothing() {
    let place = place();
    for name in ["a", "b"] {
        let file = format!("experiments/fake/contenders/{name}/contender.toml");
        let text = place.read(&file).replace("[[variant]]", "build = 'echo no compiler; false'\n[[variant]]");
        place.write(&file, &text);
    }
    let said = run(&place, &["server=h5", "engine=h6"]).ended(3);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}
