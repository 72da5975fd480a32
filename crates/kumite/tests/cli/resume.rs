//! Nothing is lost: a run that was killed goes on where it stopped.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use kumite_record::{Run, Store};
use kumite_testing::eventually;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::place::{EXPERIMENT, Place};
use crate::printed::printed;

const CONTENDERS: [(&str, &str); 3] = [("a", "pong"), ("b", "pong"), ("c", "leaver")];
/// 2 points × 3 contenders × 6 blocks.
const TRIALS: usize = 36;

fn place() -> Place {
    let place = Place::new("", &CONTENDERS);
    let axes = "[axes]\nconnections = [1, 2]\n[answer]";
    let text = EXPERIMENT.replace("connections = 40\n", "").replace("[answer]", axes);
    place.write("experiments/fake/experiment.toml", &text);
    place.write("script.toml", "");
    place
}

const RUN: &[&str] = &["run", "fake", "--seed", "7"];
const RESUME: &[&str] = &["resume", "last"];

/// Kills kumite in the trial with this number.
fn killed_in(place: &Place, arguments: &[&str], seq: usize) {
    place.write("script.toml", &format!("[[trial]]\nseq = {seq}\ndoes = 'kill'\n"));
    let ended = place.scripted_command(arguments).output().unwrap().status;
    assert_eq!(ended.signal(), Some(Signal::SIGKILL as i32), "in trial {seq}");
    place.write("script.toml", "");
}

fn export(place: &Place) -> Value {
    place.kumite(&["export", "last"]).ended(0).json()
}

/// The trials in order.
fn trials(export: &Value) -> Vec<(u64, u64, String, String)> {
    let of = |trial: &Value| {
        let number = |key: &str| trial[key].as_u64().unwrap();
        (number("seq"), number("block"), trial["contender"].to_string(), trial["point"].to_string())
    };
    export["trials"].as_array().unwrap().iter().map(of).collect()
}

/// The trials of a run that nobody kills.
fn whole() -> Vec<(u64, u64, String, String)> {
    let place = place();
    place.scripted(RUN).ended(0);
    let all = trials(&export(&place));
    assert_eq!(all.len(), TRIALS);
    all
}

#[test]
fn a_run_that_is_killed_in_each_of_its_trials_has_what_one_has_that_is_not() {
    let (whole, place) = (whole(), place());
    // In the first and the last twice.
    for (nth, seq) in [0].into_iter().chain(0..TRIALS).chain([TRIALS - 1]).enumerate() {
        killed_in(&place, if nth == 0 { RUN } else { RESUME }, seq);
        let store = Store::open_read_only(&place.path(".kumite/results.db")).unwrap();
        let kept = store.trials(&store.find("last").unwrap()).unwrap();
        let kept: Vec<u32> = kept.iter().map(|trial| trial.seq).collect();
        assert_eq!(
            kept,
            (0..seq as u32).collect::<Vec<_>>(),
            "all before trial {seq}, in which it was killed"
        );
    }
    place.scripted(RESUME).ended(0);
    let export = export(&place);
    assert_eq!(trials(&export), whole, "no trial is lost, doubled or in another place");
    assert!(!export["run"]["finished"].is_null());
}

/// With servers that are started: what a killed kumite leaves is ended by the next.
#[test]
fn no_process_of_a_killed_run_is_left() {
    let place = place();
    let text = place.read("experiments/fake/experiment.toml");
    // A run that is killed does not have to be waited for.
    place.write("experiments/fake/experiment.toml", &text.replace("duration_s = 0.2", "duration_s = 600"));
    let mut child = place.command(RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually(|| place.begun() > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    let said = place.scripted(RESUME).ended(0);
    assert_eq!(place.left(), [""; 0], "{}", said.err);
    assert_eq!(trials(&export(&place)).len(), TRIALS);
}

#[test]
fn what_was_complete_or_has_changed_is_not_resumed() {
    let place = place();
    place.scripted(&["run", "fake", "--blocks", "1"]).ended(0);
    let said = place.scripted(&["resume"]).ended(2);
    printed!(said.notes());

    killed_in(&place, RUN, 4);
    let said = place.kumite(&["report"]).ended(0);
    printed!(said.words());
    let text = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &text.replace("rate_rps = 200", "rate_rps = 300"));
    let said = place.scripted(&["resume"]).ended(2);
    printed!(said.notes());

    place.write("experiments/fake/experiment.toml", &text);
    changed(&place, |run| run.measures = run.measures.map(|measures| measures + 1));
    let said = place.scripted(&["resume"]).ended(2);
    printed!(said.notes());
    changed(&place, |run| run.measures = run.measures.map(|measures| measures - 1));

    let contender = place.read("experiments/fake/contenders/b/contender.toml");
    place.write("experiments/fake/contenders/b/contender.toml", &contender.replace("pong", "slow"));
    let said = place.scripted(&["resume"]).ended(2);
    printed!(said.notes());

    let said = place.kumite(&["report", "--gate"]).ended(3);
    printed!(said.notes());

    place.write("experiments/fake/contenders/b/contender.toml", &contender);
    let said = place.scripted(&["resume", "--budget", "4s", "--json", "-"]).ended(0);
    // Two seconds for what was begun, then a block of three seconds does not fit any more.
    assert_eq!(said.json()["trials"].as_array().unwrap().len(), 6);
}

/// The last run as another kumite would have begun it.
fn changed(place: &Place, change: impl Fn(&mut Run)) {
    let mut store = Store::open_existing(&place.path(".kumite/results.db")).unwrap();
    let mut whole = store.read(&store.find("last").unwrap()).unwrap();
    change(&mut whole.run);
    store.put(&whole).unwrap();
}

#[test]
fn another_kumite_with_other_tools_and_words_goes_on_and_is_named() {
    let place = place();
    let of_b = "experiments/fake/contenders/b/contender.toml";
    place.write(of_b, &place.read(of_b).replace("echo fake 1.0", "cat $XDG_DATA_HOME/version"));
    place.write("data/version", "fake 1.0");
    killed_in(&place, RUN, 4);
    changed(&place, |run| run.kumite = "0.0.1".to_owned());
    let _ = std::fs::remove_dir_all(place.path("cache"));
    place.write("data/version", "fake 2.0");
    let text = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &text.replace("Which", "What"));
    place.scripted(RESUME).ended(0);
    let export = export(&place);
    assert_eq!(trials(&export), whole());
    assert_eq!(export["run"]["question"]["text"], "What fake is faster?", "its words are those of now");
    let at = export["run"]["resumed"][0].as_str().unwrap();
    let warned = export["warnings"].to_string();
    for named in [
        "its version differs: 0.0.1 at first, ".to_owned(),
        format!("its tools differ: fake 1.0 at first, fake 2.0 in what was measured from {at} on"),
    ] {
        assert!(warned.contains(&named), "{warned}");
    }
}

#[test]
fn two_do_not_measure_at_once() {
    let place = place();
    place.write("script.toml", "[[trial]]\ndoes = 'wait'\n");
    let mut first = place.scripted_command(RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    for arguments in [RUN, RESUME] {
        let said = place.kumite(arguments).ended(3);
        printed!(said.notes());
    }
    // It times nothing, and takes nothing from who does.
    let said = place.kumite(&["check", "fake", "--only", "a,b"]).ended(0);
    printed!(said.report());
    assert!(first.try_wait().unwrap().is_none(), "it measures still");
    first.kill().unwrap();
    first.wait().unwrap();
    place.write("script.toml", "");
    place.scripted(RESUME).ended(0);
}
