//! Somebody is away in a trial: it is void, and its block is measured again.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use kumite_testing::process::output;
use kumite_testing::{Capability, eventually, lacks};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::kit_test::fake_worker;
use crate::load::Server;
use crate::place::{Place, Said, fake};
use crate::printed::printed;
use crate::schema::assert_right;

/// Long enough to be noticed by who looks 20 times a second, if it is given a CPU now and then.
const STOPPED: Duration = Duration::from_secs(1);

const EXPERIMENT: &str = r#"
question = "Who adds up faster?"
kind = "task"
blocks = 2
[services.backend]
kind = "command"
run = '''echo $$ > SERVICE; exec FAKE pong'''
ready = { tcp = true }
[workload]
n = 100
ms = 1
[metrics]
added_bytes = { value = "worker", about = "Eight bytes for each number." }
[answer]
at = { "/sum" = 5050 }
"#;

/// The export of a run in whose first trial the process is stopped whose id is in that file; kumite itself, without one.
/// The contender waits until that is over.
fn with_stop_of(file: Option<&str>) -> Value {
    let place = Place::new("", &[]);
    let path = |name| place.path(name).display().to_string();
    let text = EXPERIMENT.replace("SERVICE", &path("service")).replace("FAKE", &fake().display().to_string());
    place.write("experiments/fake/experiment.toml", &text);
    let wait = format!("echo $$ > {}; until [ -e {} ]; do sleep 0.01; done", path("contender"), path("go"));
    let worker = format!("exec {} right {}", fake_worker().display(), place.mark());
    for name in ["a", "b"] {
        let text = format!(
            "version = 'echo fake 1.0'\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = '''{wait}; {worker}'''\n"
        );
        place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
    }
    let mut command = place.command(&["run", "fake", "--json", "-"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let written = |name| std::fs::read_to_string(place.path(name)).ok()?.trim().parse::<i32>().ok();
    eventually(|| written("contender").is_some());
    let stopped = Pid::from_raw(file.map_or(child.id() as i32, |file| written(file).unwrap()));
    kill(stopped, Signal::SIGSTOP).unwrap();
    std::thread::sleep(STOPPED);
    kill(stopped, Signal::SIGCONT).unwrap();
    place.write("go", "");
    let said = Said::of(child.wait_with_output().unwrap()).ended(0);
    said.json()
}

/// The first trial is void by that, and its block was measured again at once.
#[track_caller]
fn assert_repeated(export: &Value, what: &str) {
    assert_right("run", export);
    let trials = export["trials"].as_array().unwrap();
    assert_eq!((&trials[0]["void"]["what"], &trials[0]["block"]), (&what.into(), &0.into()), "{}", trials[0]);
    assert_eq!((&trials[1]["attempt"], &trials[1]["block"]), (&1.into(), &0.into()), "{}", trials[1]);
    for cell in export["cells"].as_array().unwrap() {
        assert_eq!(cell["trials"], 2, "one for each block: {cell}");
    }
}

#[test]
fn a_kumite_that_was_stopped_measures_the_block_again() {
    let export = with_stop_of(None);
    assert_repeated(&export, "kumite-stopped");
    let lasted_ms = export["trials"][0]["void"]["lasted_ms"].as_f64().unwrap();
    assert!(lasted_ms >= 900.0, "{lasted_ms}");
}

#[test]
fn a_block_in_which_a_contender_was_stopped_is_measured_again() {
    let export = with_stop_of(Some("contender"));
    assert_repeated(&export, "process-stopped");
    assert_eq!(export["trials"][0]["void"]["process"], "sh");
}

#[test]
fn a_block_in_which_a_service_was_stopped_is_measured_again() {
    assert_repeated(&with_stop_of(Some("service")), "process-stopped");
}

#[test]
fn a_load_in_which_kumite_was_stopped_says_so() {
    let (place, server) = (Place::new("", &[]), Server::start("pong"));
    let mut command = place.command(&["load", &server.url, "-d", "ping", "-z", "600s", "--json", "r.json"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut progress = BufReader::new(child.stderr.take().unwrap());
    progress.read_line(&mut String::new()).unwrap();
    let kumite = Pid::from_raw(child.id() as i32);
    kill(kumite, Signal::SIGSTOP).unwrap();
    std::thread::sleep(STOPPED);
    kill(kumite, Signal::SIGCONT).unwrap();
    kill(kumite, Signal::SIGINT).unwrap();
    std::io::read_to_string(progress).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_right("load", &result);
    assert_eq!(result["void"]["what"], "kumite-stopped", "{}", result["void"]);
}

/// A namespace of its own has fifty ports for connections; a hundred are asked for.
#[test]
fn a_want_of_local_ports_is_this_machines_and_makes_trials_void() {
    let place = Place::new("", &[("a", "pong")]);
    let text = place.read("experiments/fake/experiment.toml");
    let text = text.replacen("connections = 40", "connections = 100", 1);
    place.write("experiments/fake/experiment.toml", &text);
    let kumite = place.command(&["run", "fake", "--blocks", "1"]);
    let set_up = "ip link set lo up && echo 40000 40049 > /proc/sys/net/ipv4/ip_local_port_range || exit 77; exec \"$@\"";
    let mut apart = Command::new("unshare");
    apart.args(["--user", "--map-root-user", "--net", "sh", "-c", set_up, "sh"]).arg(kumite.get_program());
    apart.args(kumite.get_args()).current_dir(kumite.get_current_dir().unwrap());
    for (name, value) in kumite.get_envs() {
        match value {
            Some(value) => apart.env(name, value),
            None => apart.env_remove(name),
        };
    }
    let said = Said::of(output(&mut apart).unwrap());
    if said.code == 77 || said.err.starts_with("unshare: ") {
        return lacks(Capability::Namespaces, said.err);
    }
    let said = said.ended(3);
    printed!(said.notes());
    let export = place.kumite(&["report", "last", "--json", "-"]).ended(0).json();
    let trials = export["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 4, "{export}");
    for trial in trials {
        assert_eq!(trial["void"]["what"], "no-port", "{trial}");
    }
    let report = place.kumite(&["report", "last"]).ended(0).out;
    assert!(report.contains("4 × no-port"), "{report}");
}
