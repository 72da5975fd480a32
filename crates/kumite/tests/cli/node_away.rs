//! A node with a role is away in a trial: it stands still, or cannot be reached. The trial is void, whatever came of it.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::kit_test::fake_worker;
use crate::on::{command, place};
use crate::place::{Place, Said, fake, standing};
use crate::schema::assert_right;

/// Long enough to be noticed by who looks 20 times a second, if it is given a CPU now and then.
const STOPPED: Duration = Duration::from_secs(1);
/// Longer than a sign of life may be late.
const CUT_OFF: Duration = Duration::from_secs(4);

/// The stand-in for ssh has no process of a node below it, for kumite would see that it was stopped: it hands its call
/// to [`Hosts`].
const SSH: &str = r#"#!/bin/sh
# ssh -T -o BatchMode=yes -- HOST SCRIPT
call=$(mktemp -d "$HOMES/call.XXXXXX")
mkfifo "$call/in" "$call/out"
printf '%s' "$6" > "$call/script"
echo "$5" > "$call/new"
mv "$call/new" "$call/host"
exec 3<&0
cat <&3 > "$call/in" &
exec cat < "$call/out"
"#;

/// A host that takes calls. All that is said goes through two processes, which can be stopped: the way.
const HOST: &str = r#"
host=$(cat "$CALL/host")
unset XDG_CACHE_HOME XDG_DATA_HOME
export HOME="$HOMES/$host" KUMITE_LOCK="$HOMES/$host.lock" NODE_NAME="$host" WAY="$HOMES/$host.way"
export SSH_CONNECTION="127.0.0.1 1 127.0.0.${host#h} 22"
mkdir -p "$HOME"
way() { sh -c 'echo $$ >> "$WAY"; exec cat'; }
way < "$CALL/in" | sh -c "$(cat "$CALL/script")" | way > "$CALL/out"
"#;

/// Takes the calls of what stands for ssh, until it is dropped.
struct Hosts {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Hosts {
    fn of(place: &Place) -> Hosts {
        let homes = place.path("homes");
        std::fs::create_dir_all(&homes).unwrap();
        place.write("bin/ssh", SSH);
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(place.path("bin/ssh"), executable).unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let ends = Arc::clone(&ends);
            move || take_calls(&homes, &ends)
        });
        Hosts { ends, thread: Some(thread) }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().map(JoinHandle::join);
    }
}

fn take_calls(homes: &Path, ends: &AtomicBool) {
    let mut taken = BTreeSet::new();
    let mut calls = Vec::new();
    while !ends.load(Ordering::Relaxed) {
        for call in std::fs::read_dir(homes).unwrap().flatten().map(|entry| entry.path()) {
            if call.join("host").is_file() && taken.insert(call.clone()) {
                let mut host = Command::new("sh");
                host.args(["-c", HOST]).env("CALL", call).env("HOMES", homes);
                calls.push(host.stdin(Stdio::null()).spawn().unwrap());
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // They end with kumite, whose call they are.
    for call in &mut calls {
        call.wait().unwrap();
    }
}

/// Its first trial waits for `go`, and then does this; all others serve as they should.
fn contenders(place: &Place, then: &str) {
    let path = |name| place.path(name).display().to_string();
    let (first, go, serves) =
        (path("first"), path("go"), format!("exec {} pong {}", fake().display(), place.mark()));
    let waits = format!("echo $$ > {first}; until [ -e {go} ]; do sleep 0.01; done; {then}");
    for name in ["a", "b"] {
        let run = format!("[ -e {first} ] || {{ {waits}; }}; {serves}");
        let text = format!(
            "version = 'echo fake 1.0'\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = '''{run}'''\n"
        );
        place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
    }
}

/// The agent on a host of this place.
fn agent(place: &Place, host: &str) -> Option<Pid> {
    let of_host = format!("HOME={}", place.path("homes").join(host).display());
    let is_agent = |pid: &i32| {
        let read = |file| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let (words, env) = (read("cmdline"), read("environ"));
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"agent"[..])
            && env.split(|byte| *byte == 0).any(|of| of == of_host.as_bytes())
    };
    let pids = std::fs::read_dir("/proc").unwrap().flatten();
    let mut pids = pids.filter_map(|entry| entry.file_name().to_string_lossy().parse::<i32>().ok());
    pids.find(is_agent).map(Pid::from_raw)
}

fn way(place: &Place, host: &str) -> Vec<Pid> {
    let pids = std::fs::read_to_string(place.path(&format!("homes/{host}.way"))).unwrap_or_default();
    pids.lines().map(|pid| Pid::from_raw(pid.parse().unwrap())).collect()
}

/// The export of a run in whose first trial these processes are stopped for so long.
fn with_stop_of(place: &Place, roles: &[&str], stopped: &dyn Fn() -> Vec<Pid>, long: Duration) -> Value {
    let roles = roles.iter().flat_map(|role| ["--role", role]);
    let words: Vec<&str> =
        ["run", "fake", "--blocks", "2", "--seed", "7", "--json", "-"].into_iter().chain(roles).collect();
    let _hosts = Hosts::of(place);
    let mut command = command(place, &words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| std::fs::read_to_string(place.path("first")).is_ok_and(|pid| !pid.is_empty()));
    let stopped = stopped();
    assert!(!stopped.is_empty());
    stopped.iter().for_each(|pid| kill(*pid, Signal::SIGSTOP).unwrap());
    std::thread::sleep(long);
    stopped.iter().for_each(|pid| kill(*pid, Signal::SIGCONT).unwrap());
    place.write("go", "");
    let said = Said::of(child.wait_with_output().unwrap()).ended(0);
    said.json()
}

/// The first trial is void by that, and its block was measured again at once.
#[track_caller]
fn assert_void(export: &Value, what: &str, at_least_ms: f64) {
    assert_right("run", export);
    let trials = export["trials"].as_array().unwrap();
    let void = &trials[0]["void"];
    assert_eq!((&void["what"], &void["node"]), (&what.into(), &"h5".into()), "{}", trials[0]);
    assert!(void["lasted_ms"].as_f64().unwrap() >= at_least_ms, "{void}");
    assert_eq!((&trials[1]["attempt"], &trials[1]["block"]), (&1.into(), &0.into()), "{}", trials[1]);
    let standing = standing(export);
    assert!(standing.iter().all(|trial| trial["outcome"] == "ok"), "{standing:?}");
    for cell in export["cells"].as_array().unwrap() {
        assert_eq!(cell["trials"], 2, "one for each block: {cell}");
    }
}

#[test]
fn a_servers_node_that_stood_still_voids_what_was_measured() {
    let place = place();
    contenders(&place, ":");
    let export = with_stop_of(&place, &["server=h5"], &|| agent(&place, "h5").into_iter().collect(), STOPPED);
    assert_eq!(export["trials"][0]["outcome"], "ok", "{}", export["trials"][0]);
    assert_void(&export, "kumite-stopped", 300.0);
}

#[test]
fn a_contender_that_failed_because_its_node_stood_still_has_not_failed() {
    let place = place();
    contenders(&place, "exit 7");
    let export = with_stop_of(&place, &["server=h5"], &|| agent(&place, "h5").into_iter().collect(), STOPPED);
    assert_eq!(export["trials"][0]["outcome"], "failed", "{}", export["trials"][0]);
    assert_void(&export, "kumite-stopped", 300.0);
}

#[test]
fn a_node_of_services_alone_that_stood_still_voids_too() {
    let place = place();
    let text = r#"
question = "Who adds up faster?"
kind = "task"
blocks = 2
[services.backend]
kind = "stub"
[workload]
n = 100
ms = 1
[metrics]
added_bytes = { value = "worker", about = "Eight bytes for each number." }
[answer]
at = { "/sum" = 5050 }
"#;
    place.write("experiments/fake/experiment.toml", text);
    contenders(&place, ":");
    for name in ["a", "b"] {
        let file = format!("experiments/fake/contenders/{name}/contender.toml");
        let worker = format!("{} right", fake_worker().display());
        place.write(&file, &place.read(&file).replace(&format!("{} pong", fake().display()), &worker));
    }
    let export =
        with_stop_of(&place, &["services=h5"], &|| agent(&place, "h5").into_iter().collect(), STOPPED);
    assert_void(&export, "kumite-stopped", 300.0);
}

#[test]
fn a_node_that_could_not_be_reached_voids_the_trial_and_loses_no_cell() {
    let place = place();
    contenders(&place, ":");
    let export = with_stop_of(&place, &["server=h5"], &|| way(&place, "h5"), CUT_OFF);
    assert_void(&export, "unreachable", 2000.0);
}

#[test]
fn a_node_that_could_not_be_reached_voids_the_trial_of_an_engine_elsewhere() {
    let place = place();
    contenders(&place, ":");
    let export = with_stop_of(&place, &["server=h5", "engine=h6"], &|| way(&place, "h5"), CUT_OFF);
    assert_void(&export, "unreachable", 2000.0);
}
