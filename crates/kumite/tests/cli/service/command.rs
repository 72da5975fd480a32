//! Any program as a service.

use kumite_testing::{Capability, lacks};

use super::*;
use crate::place::fake;
use crate::printed::printed;

/// The experiment with this service in place of the stub.
fn experiment(service: &str) -> String {
    EXPERIMENT.replace(STUB, &format!("kind = \"command\"\n{service}"))
}

fn trial(export: &Value) -> &Value {
    &export["trials"][0]
}

#[test]
fn a_command_is_ready_by_its_port_told_to_contenders_and_gone_after_them() {
    let service = format!(
        "run = '''exec {} pong'''\nready = {{ tcp = true }}\nvariables = {{ URL = \"http://127.0.0.1:$PORT/x\" }}",
        fake().display()
    );
    let place = place(&experiment(&service), "echo $BACKEND_PORT $BACKEND_URL > ../../told;");
    let export = kumite(&place, &["run", "fake", "--json", "-"]).ended(0).json();
    assert_right("run", &export);
    let told = place.read("experiments/fake/told");
    let (port, url) = told.trim().split_once(' ').unwrap();
    assert_eq!(url, format!("http://127.0.0.1:{port}/x"));
    assert!(metrics(&export)["backend_cpu_s"].as_f64() >= Some(0.0));
    assert_eq!(export["run"]["services"][0]["kind"], "command");
    assert_eq!(export["run"]["services"][0]["version"], "unknown");
    nothing_is_left(&place);
}

#[test]
fn a_command_is_ready_by_its_answer() {
    let service = format!(
        "run = '''exec {} stub --port $PORT'''\nready = {{ http = \"/health\" }}",
        env!("CARGO_BIN_EXE_kumite")
    );
    let place = place(&experiment(&service), "");
    kumite(&place, &["run", "fake"]).ended(0);
    nothing_is_left(&place);
}

/// Says that it is up, and ends once there is a file.
const UNTIL: &str = "run = \"echo up; until [ -e $SCRATCH/end ]; do sleep 0.01; done; echo yes > ended\"\n\
                     ready = { line = \"up\" }\n";

#[test]
fn a_command_with_a_stop_command_ends_by_it() {
    let place = place(&experiment(&format!("{UNTIL}stop = \"touch $SCRATCH/end\"")), "");
    kumite(&place, &["run", "fake"]).ended(0);
    assert_eq!(place.read("experiments/fake/ended"), "yes\n");
    nothing_is_left(&place);
}

#[test]
fn a_command_without_a_stop_command_is_ended_by_a_signal() {
    let place = place(&experiment(UNTIL), "");
    kumite(&place, &["run", "fake"]).ended(0);
    assert!(!place.path("experiments/fake/ended").exists());
    nothing_is_left(&place);
}

#[test]
fn a_stop_command_that_fails_is_an_error_and_nothing_is_left() {
    let place = place(&experiment(&format!("{UNTIL}stop = \"echo no such server; exit 5\"")), "");
    let said = kumite(&place, &["run", "fake"]).ended(3);
    printed!(said.notes());
    nothing_is_left(&place);
}

#[test]
fn a_command_that_is_never_ready_is_an_error_with_the_end_of_its_log() {
    let service = "run = \"echo warming; sleep 1000\"\nready = { line = \"up\" }\nready_s = 3\nstop = \"touch stopped\"";
    let place = place(&experiment(service), "");
    let said = kumite(&place, &["run", "fake"]).ended(3);
    printed!(said.notes());
    assert!(place.path("experiments/fake/stopped").exists());
    nothing_is_left(&place);
}

#[test]
fn a_command_that_does_not_listen_is_not_ready() {
    for ready in ["{ tcp = true }", "{ http = \"/\" }"] {
        let place = place(&experiment(&format!("run = \"sleep 1000\"\nready = {ready}\nready_s = 0.1")), "");
        let said = kumite(&place, &["run", "fake"]).ended(3);
        printed!(said.notes());
        nothing_is_left(&place);
    }
}

#[test]
fn a_command_that_ends_before_it_is_ready_is_an_error_with_how_it_ended() {
    let place = place(&experiment("run = \"echo no luck; exit 4\"\nready = { tcp = true }"), "");
    let said = kumite(&place, &["run", "fake"]).ended(3);
    printed!(said.notes());
    nothing_is_left(&place);
}

#[test]
fn a_command_that_ends_in_the_middle_fails_the_trial() {
    let service = "run = \"echo $$ > pid; echo up; until [ -e go ]; do sleep 0.01; done; echo crashed; exit 4\"\n\
                   ready = { line = \"up\" }";
    let crash =
        "touch ../../go; until grep -q '^State:.Z' /proc/$(cat ../../pid)/status; do sleep 0.01; done;";
    let place = place(&experiment(service), crash);
    let export = kumite(&place, &["run", "fake", "--json", "-"]).json();
    let trial = trial(&export);
    let why = trial["reason"].as_str().unwrap_or_default();
    let expected = "the service 'backend' ended with status 4 before the end; its log: up ⏎ crashed";
    assert!(trial["outcome"] == "failed" && why.contains(expected), "{trial}");
    nothing_is_left(&place);
}

#[test]
fn ctrl_c_ends_a_command_and_what_it_started() {
    let place = place(&experiment("run = \"sleep 1000 & echo up; wait\"\nready = { line = \"up\" }"), "");
    let mut child = begun(&place);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    nothing_is_left(&place);
}

#[test]
fn a_command_that_refuses_root_is_run_by_another_user() {
    let service = "run = \"id -u; echo up; touch $SCRATCH/own; exec sleep 1000\"\n\
                   ready = { line = \"up\" }\nrefuses_root = true";
    let place = place(&experiment(service), "");
    let export = kumite(&place, &["run", "fake", "--json", "-"]).ended(0).json();
    let log = format!(".kumite/logs/{}/rehearsal-backend.log", export["run"]["id"].as_str().unwrap());
    let log = place.read(&log);
    assert!(log.ends_with("up\n") && log != "0\nup\n", "{log}");
    nothing_is_left(&place);
}

#[test]
fn a_tool_that_a_command_needs_and_is_missing_is_named_with_where_it_comes_from() {
    let service = "run = \"no-such-tool\"\nready = { tcp = true }\nneeds = [\"no-such-tool >= 6\"]\ninstall.apt = [\"no-such\"]";
    let place = place(&experiment(service), "");
    let said = kumite(&place, &["run", "fake"]);
    assert_ne!(said.code, 0);
    printed!(said.notes());
}

/// The example of docs/services.md: `[services.cache]` and its keys.
fn example() -> String {
    let page = include_str!("../../../../../docs/services.md");
    let from = page.find("    [services.cache]").expect("the page has an example of a command");
    let lines = page[from..].lines().map_while(|line| line.strip_prefix("    "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_example_of_the_page_is_a_redis_that_answers_a_ping() {
    let service = format!("[services.backend]\n{STUB}\n");
    let experiment = EXPERIMENT.replace(&service, &example());
    assert_right("experiment", &toml::from_str(&experiment).unwrap());
    let place = place(
        &experiment,
        "redis-cli -u $CACHE_URL ping > ../../said; echo $CACHE_PORT $CACHE_URL > ../../told;",
    );
    kumite(&place, &["run", "fake", "--dry-run"]).ended(0);
    if let Err(error) = Command::new("redis-server").arg("--version").output() {
        lacks(Capability::Redis, format!("redis-server: {error}"));
        return;
    }
    let export = kumite(&place, &["run", "fake", "--json", "-"]).ended(0).json();
    assert_right("run", &export);
    assert_eq!(place.read("experiments/fake/said"), "PONG\n");
    let told = place.read("experiments/fake/told");
    let (port, url) = told.trim().split_once(' ').unwrap();
    assert_eq!(url, format!("redis://127.0.0.1:{port}/0"));
    let version = export["run"]["services"][0]["version"].as_str().unwrap();
    assert!(version.starts_with("redis-server "), "{version}");
    assert!(metrics(&export)["cache_cpu_s"].as_f64() >= Some(0.0), "{}", metrics(&export));
    nothing_is_left(&place);
}
