//! A run whose blocks several hosts share. Here the hosts are homes of this machine: what stands for ssh runs the script of
//! its last argument in one of them.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{EXPERIMENT, Place, Said, standing};
use crate::printed::printed;

const SSH: &str = r#"#!/bin/sh
# ssh -T -o BatchMode=yes -- HOST SCRIPT
host=$5
echo "Welcome to $host"
if test -e "$HOMES/$host.closed"; then echo "$host: Permission denied (publickey)." >&2; exit 255; fi
mkdir -p "$HOMES/$host"
unset XDG_CACHE_HOME XDG_DATA_HOME
export HOME="$HOMES/$host" KUMITE_LOCK="$HOMES/$host.lock" NODE_NAME="$host"
export SSH_CONNECTION="127.0.0.1 1 127.0.0.${host#h} 22"
exec sh -c "$6"
"#;

pub fn place() -> Place {
    let place = Place::new("", &[("a", "pong"), ("b", "pong")]);
    let claim = "[[claim]]\nid = \"any\"\nassert = \"throughput_rps(a) > 0.5 * throughput_rps(b)\"\n";
    place.write("experiments/fake/experiment.toml", &format!("{EXPERIMENT}{claim}"));
    place.write("bin/ssh", SSH);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.path("bin/ssh"), executable).unwrap();
    place
}

pub fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    let path = std::env::var("PATH").unwrap();
    command.env("PATH", format!("{}:{path}", place.path("bin").display()));
    command.env("HOMES", place.path("homes"));
    std::fs::create_dir_all(place.path("homes")).unwrap();
    command
}

const RUN: &[&str] = &["run", "fake", "--on", "ssh:h1,h2", "--seed", "7", "--json", "-"];

fn run(place: &Place) -> Said {
    Said::of(command(place, RUN).output().unwrap())
}

/// The number of runs of which agents keep anything.
fn kept(place: &Place, host: &str) -> usize {
    let folder = place.path(&format!("homes/{host}/.cache/kumite/nodes"));
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

#[test]
fn each_host_executes_its_share_and_all_are_judged_together() {
    let place = place();
    let said = run(&place).ended(0);
    printed!(said.notes());
    let export = said.json();
    let trials = standing(&export);
    let nodes: Vec<(u64, &str)> = trials
        .iter()
        .map(|trial| (trial["block"].as_u64().unwrap(), trial["node"].as_str().unwrap()))
        .collect();
    assert_eq!(nodes.len(), 12);
    assert!(nodes.iter().all(|(block, node)| *node == if block % 2 == 0 { "h1" } else { "h2" }), "{nodes:?}");
    assert_eq!(export["claims"][0]["nodes"].as_array().unwrap().len(), 2);
    assert_eq!((kept(&place, "h1"), kept(&place, "h2")), (0, 0));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_host_that_cannot_be_reached_is_named_and_its_share_is_made_later() {
    let place = place();
    place.write("homes/h2.closed", "");
    let said = run(&place).ended(3);
    printed!(said.notes());
    let first = said.json();
    std::fs::remove_file(place.path("homes/h2.closed")).unwrap();
    let second = run(&place).ended(0).json();
    assert_eq!(first["run"]["id"], second["run"]["id"]);
    assert_eq!(
        first["run"]["merged"]["runs"][0], second["run"]["merged"]["runs"][0],
        "h1 has made its share"
    );
    // All of it is there now.
    let third = run(&place).ended(0).json();
    assert_eq!((&third["trials"], &third["claims"]), (&second["trials"], &second["claims"]));
}

#[test]
fn a_driver_that_is_killed_leaves_no_process_and_what_was_made_is_not_made_again() {
    let place = place();
    let text = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &text.replace("duration_s = 0.2", "duration_s = 1"));
    let mut child = command(&place, RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let trials = |host: &str| {
        let nodes = place.path(&format!("homes/{host}/.cache/kumite/nodes"));
        let key = std::fs::read_dir(nodes).ok()?.flatten().next()?.path();
        let store = kumite_record::Store::open_read_only(&key.join("results.db")).ok()?;
        let id = store.find("last").ok()?;
        Some((id.clone(), store.trials(&id).ok()?.len()))
    };
    let some = |host: &str| trials(host).is_some_and(|(_, count)| count >= 2);
    eventually(|| some("h1") && some("h2"));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    eventually(|| place.left().is_empty());
    let (begun, _) = trials("h1").unwrap();
    let export = run(&place).ended(0).json();
    assert_eq!(export["run"]["merged"]["runs"][0], begun.as_str(), "the run that was broken off went on");
    assert_eq!(standing(&export).len(), 12);
}

#[test]
fn hosts_are_shown_beside_each_other() {
    let place = place();
    let doctor = |more: &[&str]| {
        let arguments = [&["doctor", "--on", "ssh:h1,h2"], more].concat();
        Said::of(command(&place, &arguments).output().unwrap()).ended(0)
    };
    let said = doctor(&[]).out;
    let (differs, same) = said.split_once("THE SAME ON ALL").unwrap();
    assert!(differs.starts_with("DIFFERENT\n") && same.contains("  cpu "), "{said}");
    let found = doctor(&["--json", "-"]).json();
    assert_eq!((&found[0]["node"], &found[1]["node"]), (&"h1".into(), &"h2".into()));
    assert!(found[1]["findings"].as_array().unwrap().len() > 5, "{found}");
}

#[test]
fn who_is_no_host_is_refused() {
    let place = place();
    let said = Said::of(command(&place, &["run", "fake", "--on", "ssh:-oProxyCommand=x"]).output().unwrap())
        .ended(2);
    printed!(said.notes());
    let said = Said::of(command(&place, &["run", "fake", "--on", "ssh:a,a"]).output().unwrap()).ended(2);
    printed!(said.notes());
}
