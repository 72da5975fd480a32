//! The folders for contenders' files: of kumites that run at once, and of those that were killed.

use std::process::Stdio;

use kumite_testing::eventually;
use serde_json::Value;

use crate::place::{Place, Said, standing};
use crate::printed::printed;

/// Two blocks, and so one for each of two shards.
const EXPERIMENT: &str = r#"
question = "Do they meet?"
kind = "KIND"
blocks = 2
[workload]
MORE
[answer]
equals = ANSWER
"#;

fn place(kind: &str, more: &str, answer: &str, run: &str) -> Place {
    let place = Place::new("", &[]);
    let text = EXPERIMENT.replace("KIND", kind).replace("MORE", more).replace("ANSWER", answer);
    place.write("experiments/fake/experiment.toml", &text);
    let text = format!(
        "version = 'echo fake 1.0'\n[[variant]]\nname = 'a'\nmodel = 'sequential'\nrun = '''{run}'''\n"
    );
    place.write("experiments/fake/contenders/a/contender.toml", &text);
    for folder in ["met", "tmp"] {
        std::fs::create_dir(place.path(folder)).unwrap();
    }
    place
}

/// Both shards at once, each as on a node of its own, with their stores in one folder. What each came to.
fn two_shards(place: &Place) -> Vec<Value> {
    let shards: Vec<_> = ["1", "2"]
        .into_iter()
        .map(|nth| {
            let (share, store) = (format!("{nth}/2"), format!("stores/{nth}.db"));
            let mut command = place
                .command(&["run", "fake", "--shard", &share, "--seed", "1", "--db", &store, "--json", "-"]);
            command.env("KUMITE_LOCK", place.path(&format!("{nth}.lock"))).env("TMPDIR", place.path("tmp"));
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let said = shards.into_iter().map(|shard| Said::of(shard.wait_with_output().unwrap()));
    let exports: Vec<Value> = said.map(|said| said.ended(0).json()).collect();
    let met = std::fs::read_dir(place.path("met")).unwrap().count();
    assert!(met >= 2, "they ran at once: {met}");
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 0, "all folders have gone");
    assert_eq!(place.left(), [""; 0]);
    exports
}

fn all_right(exports: &[Value]) {
    for export in exports {
        let trials = standing(export);
        assert_eq!(trials.len(), 1);
        assert_eq!(trials[0]["outcome"], "ok", "{}", trials[0]["reason"]);
    }
}

/// Writes who it is, waits until another one has begun, and looks whether that is still there.
const MEETS: &str = r#"echo $$ > "$SCRATCH/me"; echo > ../../../../met/$$
until [ $(ls ../../../../met | wc -l) -ge 2 ]; do sleep 0.02; done; sleep 0.2
[ "$(cat "$SCRATCH/me")" = $$ ] && [ "$(ls "$SCRATCH")" = me ] && "#;

#[test]
fn commands_of_two_shards_at_once_with_their_stores_in_one_folder_do_not_meet() {
    let place = place("command", "timeout_s = 120", r#""right\n""#, &format!("{MEETS}echo right"));
    std::fs::create_dir(place.path("tmp/kumite-scratch-of-a-killed-one")).unwrap();
    all_right(&two_shards(&place));
    let merged = ["merge", "stores/1.db", "stores/2.db", "--db", "all.db", "--json", "-"];
    let merged = place.kumite(&merged).ended(0).json();
    assert_eq!(standing(&merged).len(), 2);
}

#[test]
fn workers_of_two_shards_at_once_do_not_meet_on_disk_nor_in_memory() {
    for scratch in ["disk", "memory"] {
        let worker = format!(
            r#"while read -r line; do case "$line" in
*hello*) echo '{{"hello":1,"name":"sh","runtime":"sh 1","pid":'$$'}}' ;;
*) {MEETS}:; wrong=$?
echo '{{"job":1,"elapsed_ns":1000000,"result":'$wrong'}}' ;;
esac; done"#
        );
        let place = place("task", &format!("timeout_s = 120\nscratch = '{scratch}'"), "'0'", &worker);
        all_right(&two_shards(&place));
    }
}

#[test]
fn a_run_says_where_the_files_are_and_what_a_killed_one_left_goes() {
    let place = place(
        "command",
        "runs = 1",
        r#""right\n""#,
        r#"ls "$SCRATCH/../.." > ../../../../seen; echo $$ > ../../../../pid; until [ -e ../../../../go ]; do sleep 0.02; done; echo right"#,
    );
    let run = |lock: &str| {
        let mut command = place.command(&["run", "fake", "--blocks", "1"]);
        command.env("TMPDIR", place.path("tmp")).env("KUMITE_LOCK", place.path(lock));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut killed = run("1.lock");
    eventually(|| place.path("pid").exists());
    killed.kill().unwrap();
    killed.wait().unwrap();
    let left = || std::fs::read_dir(place.path("tmp")).unwrap().count();
    assert_eq!(left(), 2, "its files and its home");
    place.write("go", "");
    let said = Said::of(run("1.lock").wait_with_output().unwrap()).ended(0);
    printed!(said.notes());
    assert_eq!(place.read("seen").lines().count(), 2, "{}", place.read("seen"));
    assert_eq!(left(), 0);
}
