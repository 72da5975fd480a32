//! Nothing is lost: a run that was killed goes on where it stopped.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::place::{Place, eventually};

const CONTENDERS: [(&str, &str); 3] = [("a", "pong"), ("b", "pong"), ("c", "leaver")];
const SHORT: &str = "\n[axes]\nconnections = [1, 2]\n";

/// An experiment whose 2 points × 3 contenders × 6 blocks take about 7 s.
fn place() -> Place {
    let place = Place::new("", &CONTENDERS);
    let text = crate::place::EXPERIMENT
        .replace("connections = 2\n", "")
        .replace("duration_s = 0.5", "duration_s = 0.1")
        .replace("[answer]", &format!("{SHORT}[answer]"));
    place.write("experiments/fake/experiment.toml", &text);
    place
}

/// When to kill: so long after so many trials have begun.
type Moment = (usize, Duration);

/// Trials that have begun, of all runs.
fn begun(place: &Place) -> usize {
    let folders = std::fs::read_dir(place.path(".kumite/logs")).into_iter().flatten().flatten();
    folders.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten()).count()
}

/// Starts `kumite ARGUMENTS`, kills it by SIGKILL at that moment, and tells whether it had ended by itself.
fn killed(place: &Place, arguments: &[&str], (trials, after): Moment) -> bool {
    let before = begun(place);
    let mut child = place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually(|| begun(place) >= before + trials || child.try_wait().unwrap().is_some());
    std::thread::sleep(after);
    let ended = child.try_wait().unwrap().is_some();
    child.kill().unwrap();
    child.wait().unwrap();
    ended
}

fn export(place: &Place) -> Value {
    place.kumite(&["export", "last"]).ended(0).json()
}

/// What was tried, in order.
fn trials(export: &Value) -> Vec<(u64, u64, String, String)> {
    let of = |trial: &Value| {
        let number = |key: &str| trial[key].as_u64().unwrap();
        (number("seq"), number("block"), trial["contender"].to_string(), trial["point"].to_string())
    };
    export["trials"].as_array().unwrap().iter().map(of).collect()
}

/// A run that is killed at these moments and resumed each time. Returns how often it was killed in the middle.
fn survives(kills: impl Iterator<Item = Moment>) -> usize {
    let place = place();
    let mut kept = false;
    let mut interrupted = 0;
    for after in kills {
        let before = if kept { trials(&export(&place)) } else { Vec::new() };
        let arguments: &[&str] = if kept { &["resume", "last"] } else { &["run", "fake", "--seed", "7"] };
        let ended = killed(&place, arguments, after);
        kept = kept || place.kumite(&["report", "last"]).code == 0;
        if !kept {
            continue;
        }
        let now = trials(&export(&place));
        assert_eq!(now[..before.len()], before[..], "what was kept stays as it was");
        interrupted += usize::from(!ended);
        if ended {
            break;
        }
    }
    let complete = !export(&place)["run"]["finished"].is_null();
    if !complete {
        place.kumite(if kept { &["resume", "last"] } else { &["run", "fake", "--seed", "7"] }).ended(0);
    }
    assert_eq!(place.left(), [""; 0], "no process of any of the killed ones is left");
    let all = trials(&export(&place));
    let distinct: BTreeSet<_> = all.iter().map(|(_, block, name, point)| (block, name, point)).collect();
    assert_eq!((all.len(), distinct.len()), (36, 36), "no trial is lost or doubled");
    assert_eq!(all.iter().map(|trial| trial.0).collect::<Vec<_>>(), (0..36).collect::<Vec<_>>());
    interrupted
}

#[test]
fn a_killed_run_goes_on_where_it_stopped() {
    let moments = [(3, 50), (5, 0), (2, 100)].map(|(trials, ms)| (trials, Duration::from_millis(ms)));
    assert_eq!(survives(moments.into_iter()), 3);
}

/// The same at 50 random moments: `cargo test --test cli -- --ignored fifty --nocapture`.
#[test]
#[ignore = "takes ten minutes"]
fn fifty_runs_killed_at_random_moments_lose_and_double_nothing() {
    // A linear congruential generator; what it gives need only be spread out.
    let mut state = 20_261_121_u64;
    for run in 1..=50 {
        let mut kills = Vec::new();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            kills.push((0, Duration::from_millis((state >> 33) % 4000)));
        }
        let interrupted = survives(kills.into_iter());
        println!("run {run}: killed {interrupted} times in the middle, resumed, whole");
    }
}

#[test]
fn what_was_complete_or_has_changed_is_not_resumed() {
    let place = place();
    place.kumite(&["run", "fake", "--blocks", "1"]).ended(0);
    let said = place.kumite(&["resume"]).ended(2);
    assert!(said.err.contains("is complete; `kumite report"), "{}", said.err);

    assert!(
        !killed(&place, &["run", "fake", "--seed", "1"], (4, Duration::ZERO)),
        "it was in the middle of it"
    );
    let said = place.kumite(&["report"]).ended(0);
    assert!(said.out.contains("it is not finished, or was killed; no claim was judged"), "{}", said.out);
    let text = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &text.replace("Which", "What"));
    let said = place.kumite(&["resume"]).ended(2);
    assert!(said.err.contains("experiment.toml has changed since run"), "{}", said.err);

    place.write("experiments/fake/experiment.toml", &text);
    let contender = place.read("experiments/fake/contenders/b/contender.toml");
    place.write("experiments/fake/contenders/b/contender.toml", &contender.replace("fake 1.0", "fake 2.0"));
    let said = place.kumite(&["resume"]).ended(2);
    assert!(said.err.contains("b was 'fake 1.0' and is 'fake 2.0': it has changed"), "{}", said.err);

    place.write("experiments/fake/contenders/b/contender.toml", &contender.replace("pong", "slow"));
    let said = place.kumite(&["resume"]).ended(2);
    assert!(said.err.contains("b's files, commands or tools have changed since run"), "{}", said.err);

    let said = place.kumite(&["report", "--gate"]).ended(3);
    assert!(said.err.contains("is not finished: `kumite resume"), "{}", said.err);

    place.write("experiments/fake/contenders/b/contender.toml", &contender);
    place.kumite(&["resume", "--budget", "1s"]).ended(0);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn two_do_not_measure_at_once() {
    let place = place();
    let mut first =
        place.command(&["run", "fake"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually(|| begun(&place) > 0);
    let said = place.kumite(&["run", "fake"]).ended(3);
    assert!(said.err.contains(&format!("another kumite (process {})", first.id())), "{}", said.err);
    first.kill().unwrap();
    first.wait().unwrap();
    place.kumite(&["resume", "--budget", "1s"]).ended(0);
    assert_eq!(place.left(), [""; 0]);
}
