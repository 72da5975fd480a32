//! Runs on nodes of a Slurm cluster, as far as that can be seen without one: what stands for Slurm's commands keeps its jobs
//! as files, and its nodes are homes of this machine, as in `on.rs`. `tests/cluster/slurm.sh` has a real one.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::place::{Place, Said, standing};
use crate::printed::{printed, without_figures};
use crate::{on, roles};

const SBATCH: &str = r#"#!/bin/sh
# A job's nodes are h1, h2 and so on; it waits for one look.
cd "$HOMES"
if test -n "$KUMITE_TREE"; then echo "the job would be taken for a process of ours" >&2; exit 1; fi
if test -e refused; then cat refused >&2; exit 1; fi
id=$(($(ls -d words-* 2> /dev/null | wc -l) + 1))
echo "$*" > "words-$id"
nodes=1 array=
for word; do case $word in --nodes=*) nodes=${word#*=} ;; --array=*) array=${word#*=} ;; esac; done
if test -n "$array"; then
    for index in $(echo "$array" | tr , ' '); do echo "$id$index|${id}_$index|$index|RUNNING|None|h$index|UNLIMITED"; done
else
    echo "$id|$id|N/A|RUNNING|None|$(seq -f h%g -s , "$nodes")|1:00:00"
fi > "job-$id"
touch waits
if test -e says; then eval "$(cat says)"; else echo "$id"; fi
"#;

const SQUEUE: &str = r#"#!/bin/sh
cd "$HOMES"
case "$*" in *--name=*)
    name=${*##*--name=}
    for words in $(grep -l -e "--job-name=${name%% *} " words-*); do echo "${words#words-}"; done
    exit
esac
for word; do case $word in --jobs=*) id=${word#*=} ;; esac; done
if test -e waits; then
    sed 's/|RUNNING|None|[^|]*/|PENDING|Resources|/' "job-$id"
    test -e waits-for-ever || rm waits
else
    cat "job-$id"
fi
"#;

const SCONTROL: &str = r#"#!/bin/sh
for list; do :; done
for node in $(echo "$list" | tr , ' '); do
    case $2 in
        hostnames) echo "$node" ;;
        node) echo "NodeName=$node Arch=x86_64 NodeAddr=127.0.0.${node#h} OS=Linux" ;;
    esac
done
"#;

const SCANCEL: &str = r#"#!/bin/sh
echo "$1" >> "$HOMES/cancelled"
"#;

const SRUN: &str = r#"#!/bin/sh
while test "$1" != "${1#--}"; do
    case $1 in --nodelist=*) node=${1#*=} ;; esac
    shift
done
if test -e "$HOMES/$node.fails"; then
    sed -i 1d "$HOMES/$node.fails"
    test -s "$HOMES/$node.fails" || rm "$HOMES/$node.fails"
    echo "srun: error: Node failure on $node" >&2
    exit 1
fi
mkdir -p "$HOMES/$node"
unset XDG_CACHE_HOME XDG_DATA_HOME SLURM_JOB_ID
export HOME="$HOMES/$node" KUMITE_LOCK="$HOMES/$node.lock" SLURMD_NODENAME="$node"
exec "$@"
"#;

fn place() -> Place {
    let place = on::place();
    for (name, script) in
        [("sbatch", SBATCH), ("squeue", SQUEUE), ("scontrol", SCONTROL), ("scancel", SCANCEL), ("srun", SRUN)]
    {
        let file = format!("bin/{name}");
        place.write(&file, script);
        std::fs::set_permissions(place.path(&file), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    let whole = ["run", "fake", "--on", "slurm", "--seed", "7", "--json", "-"];
    on::command(place, &[&whole[..], arguments].concat())
}

fn run(place: &Place, arguments: &[&str]) -> Said {
    Said::of(command(place, arguments).output().unwrap())
}

fn kept(place: &Place, name: &str) -> String {
    std::fs::read_to_string(place.path(&format!("homes/{name}"))).unwrap_or_default()
}

fn nodes(export: &Value) -> Vec<&str> {
    let mut nodes: Vec<&str> =
        standing(export).into_iter().map(|trial| trial["node"].as_str().unwrap()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes.len(), 12);
    nodes.dedup();
    nodes
}

#[test]
fn a_job_is_submitted_waited_for_and_ended() {
    let place = place();
    let said = run(&place, &["--slurm", "--nodes=2 --comment='a b'"]).ended(0);
    assert_eq!(nodes(&said.json()), ["h1", "h2"]);
    printed!(said.notes());
    let words = kept(&place, "words-1");
    assert!(words.starts_with("--parsable --exclusive --no-requeue "), "{words}");
    printed!(without_figures(&words));
    assert_eq!(kept(&place, "cancelled"), "1\n");
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_job_is_found_and_ended_whatever_sbatch_says_of_it() {
    for says in [
        "echo Welcome; echo $id",
        "echo \"$id;cluster\"",
        "echo hello >&2; echo $id",
        "echo; echo $id; echo",
        "echo Submitted batch job $id",
        ":",
    ] {
        let place = place();
        on::command(&place, &["list"]).output().unwrap();
        place.write("homes/says", says);
        run(&place, &["--slurm", "--nodes=2"]).ended(0);
        assert_eq!(kept(&place, "cancelled"), "1\n", "{says}");
    }
}

#[test]
fn a_job_that_cannot_be_found_again_is_ended_by_its_name() {
    for says in ["echo Welcome; rm words-*", "echo $id; echo it broke >&2; rm words-*; exit 1"] {
        let place = place();
        on::command(&place, &["list"]).output().unwrap();
        place.write("homes/says", says);
        run(&place, &["--slurm", "--nodes=2"]).ended(3);
        let cancelled = kept(&place, "cancelled");
        assert!(cancelled.starts_with("--name=kumite-fake-"), "{says}: {cancelled}");
    }
}

#[test]
fn a_job_that_one_is_in_is_used_and_not_ended() {
    let place = place();
    on::command(&place, &["list"]).output().unwrap();
    place.write("homes/job-9", "9|8_2|2|RUNNING|None|h3,h4|UNLIMITED\n10|8_1|1|RUNNING|None|h5|UNLIMITED\n");
    let said = Said::of(command(&place, &[]).env("SLURM_JOB_ID", "9").output().unwrap()).ended(0);
    assert_eq!(nodes(&said.json()), ["h3", "h4"]);
    assert_eq!((kept(&place, "words-1"), kept(&place, "cancelled")), (String::new(), String::new()));
}

#[test]
fn a_server_and_the_engine_have_nodes_of_a_job() {
    let place = place();
    let said = run(&place, &["--blocks", "2", "--role", "server=h1", "--role", "engine"]).ended(0);
    roles::assert_apart(&said, "h1");
    assert!(kept(&place, "words-1").contains("--nodes=2 --nodelist=h1 "), "{}", kept(&place, "words-1"));
    assert_eq!(kept(&place, "cancelled"), "1\n");
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_share_of_an_array_that_is_lost_is_submitted_again_once() {
    let place = place();
    on::command(&place, &["list"]).output().unwrap();
    place.write("homes/h2.fails", "once\n");
    let said = run(&place, &["--shards", "3"]).ended(0);
    assert_eq!(nodes(&said.json()), ["h1", "h2", "h3"]);
    printed!(said.notes());
    assert!(kept(&place, "words-1").contains("--array=1,2,3 --nodes=1 "), "{}", kept(&place, "words-1"));
    assert!(kept(&place, "words-2").contains("--array=2 --nodes=1 "), "{}", kept(&place, "words-2"));
    let cancelled = kept(&place, "cancelled");
    for id in ["1_1", "1_2", "1_3", "2_2", "1", "2"] {
        assert!(cancelled.lines().any(|line| line == id), "{id}: {cancelled}");
    }
    // All of it is there now.
    run(&place, &["--shards", "3"]).ended(0);
    assert_eq!(kept(&place, "words-3"), "");
}

#[test]
fn what_is_lost_twice_is_missing_and_the_rest_is_kept() {
    let place = place();
    on::command(&place, &["list"]).output().unwrap();
    place.write("homes/h2.fails", "once\ntwice\n");
    let said = run(&place, &["--shards", "3"]).ended(3);
    printed!(said.notes());
    let said = run(&place, &["--shards", "3"]).ended(0);
    assert_eq!(nodes(&said.json()), ["h1", "h2", "h3"]);
    assert!(kept(&place, "words-3").contains("--array=2 "), "{}", kept(&place, "words-3"));
}

#[test]
fn who_waits_too_long_gives_up_and_leaves_no_job() {
    for (arguments, cancelled) in [
        (&["--queue-timeout", "1s"][..], "1\n"),
        (&["--queue-timeout", "1s", "--shards", "2"], "1_1\n1_2\n1\n"),
    ] {
        let place = place();
        on::command(&place, &["list"]).output().unwrap();
        place.write("homes/waits-for-ever", "");
        let said = run(&place, arguments).ended(3);
        printed!(said.notes());
        assert_eq!(kept(&place, "cancelled"), cancelled);
        assert_eq!(kept(&place, "words-2"), "");
    }
}

#[test]
fn what_slurm_says_is_said_and_so_is_that_it_is_not_there() {
    let place = place();
    on::command(&place, &["list"]).output().unwrap();
    let refused = "sbatch: error: invalid partition specified: none";
    place.write("homes/refused", refused);
    let said = run(&place, &["--slurm", "-p none"]).ended(3);
    printed!(said.notes());
    std::fs::remove_file(place.path("bin/sbatch")).unwrap();
    let path = format!("{}:/nowhere", place.path("bin").display());
    let said = Said::of(command(&place, &[]).env("PATH", path).output().unwrap()).ended(3);
    printed!(said.notes());
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_submitted() {
    let place = place();
    for arguments in [
        &["--on", "local", "--shards", "2"][..],
        &["--on", "local", "--slurm", "-p x"],
        &["--shards", "50"],
        &["--role", "server"],
        &["--slurm", "'"],
        &["--slurm", "a : b"],
        &["--role", "server", "--role", "engine", "--slurm", "a : b : c"],
    ] {
        let mut words = vec!["run", "fake"];
        words.extend((arguments[0] != "--on").then_some(["--on", "slurm"]).into_iter().flatten());
        words.extend(arguments);
        let said = Said::of(on::command(&place, &words).output().unwrap()).ended(2);
        printed!(said.notes());
    }
    for arguments in [&["--shards", "2"][..], &["--slurm", "-p x"]] {
        let said = Said::of(command(&place, arguments).env("SLURM_JOB_ID", "9").output().unwrap()).ended(2);
        printed!(said.notes());
    }
    assert_eq!(kept(&place, "words-1"), "");
}
