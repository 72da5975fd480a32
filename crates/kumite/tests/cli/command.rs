//! Commands: what is timed, what they write, and those that go wrong.

use kumite_record::Probe;
use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::place::{Place, Said, standing, trial};
use crate::printed::printed;
use crate::schema::assert_right;

const EXPERIMENT: &str = r#"
question = "Who says it sooner?"
kind = "command"
blocks = 1
[workload]
greeting = "hello"
[answer]
equals = "hello\n"
"#;

const METRICS: [&str; 8] = [
    "wall_ms",
    "output_bytes",
    "cpu_ms",
    "user_ms",
    "system_ms",
    "cpu_cores",
    "peak_rss_bytes",
    "involuntary_switches",
];

/// An experiment with this part of [`EXPERIMENT`] replaced, and contenders with these commands.
fn place((from, to): (&str, &str), contenders: &[(&str, &str)]) -> Place {
    let place = Place::new("", &[]);
    assert!(EXPERIMENT.contains(from), "{from}");
    place.write("experiments/fake/experiment.toml", &EXPERIMENT.replacen(from, to, 1));
    for (name, run) in contenders {
        let text = format!(
            "version = 'echo fake 1.0'\n[[variant]]\nname = '{name}'\nmodel = 'sequential'\nrun = '''{run}'''\n"
        );
        place.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
    }
    place
}

fn run(place: &Place) -> Value {
    let export = place.kumite(&["run", "fake", "--json", "-"]).ended(0).json();
    assert_eq!(place.left(), [""; 0]);
    assert_right("run", &export);
    export
}

/// The outcome of a contender, whose reason has these words.
#[track_caller]
fn comes_to(export: &Value, name: &str, outcome: &str, words: &str) {
    let trial = trial(export, name);
    assert_eq!(trial["outcome"], outcome, "{trial}");
    assert!(trial["reason"].as_str().unwrap_or_default().contains(words), "{trial}");
}

#[test]
fn a_trial_is_as_many_runs_as_were_asked_for_and_has_every_metric() {
    let more = "greeting = \"hello\"\nruns = 3\nwarm_up_runs = 2";
    let place = place(("greeting = \"hello\"", more), &[("a", "echo hello")]);
    let export = run(&place);
    let sample = &trial(&export, "a")["sample"];
    let mut found: Vec<&str> = sample["metrics"].as_object().unwrap().keys().map(String::as_str).collect();
    let mut expected = [&METRICS[..], &Probe::ALL.map(Probe::name)].concat();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected);
    assert_eq!(sample["metrics"]["output_bytes"], 6.0);
    let warm_up = |job: &Value| job["warm_up"] == true;
    let jobs: Vec<bool> = sample["jobs"].as_array().unwrap().iter().map(warm_up).collect();
    assert_eq!(jobs, [true, true, false, false, false]);
}

#[test]
fn a_command_finds_its_parameters_its_folder_and_what_setup_made() {
    let setup = "greeting = \"hello\"\nsetup = \"ls > $SCRATCH/here && echo $GREETING > $SCRATCH/made\"";
    let contenders = [
        ("a", r#"cat "$SCRATCH/made""#),
        ("b", r#"test -f contender.toml && grep -q experiment.toml "$SCRATCH/here" && echo "$GREETING""#),
    ];
    let export = run(&place(("greeting = \"hello\"", setup), &contenders));
    comes_to(&export, "a", "ok", "");
    comes_to(&export, "b", "ok", "");
    let failing = "greeting = \"hello\"\nsetup = \"echo no room >&2; exit 3\"";
    let said = place(("greeting = \"hello\"", failing), &contenders).kumite(&["run", "fake", "--json", "-"]);
    comes_to(&said.ended(3).json(), "a", "failed", "ended with status 3; its log: no room");
}

#[test]
fn who_fails_is_shown_with_its_last_lines() {
    let contenders = [
        ("right", "echo hello"),
        ("errors", "echo hello; echo no such thing >&2; exit 7"),
        ("prints", "echo out of order; exit 7"),
        ("killed", "kill -KILL $$"),
        ("absent", "./nowhere"),
        ("differs", "echo hallo"),
        ("leaver", "echo hello; sleep 600 > /dev/null &"),
    ];
    let export = run(&place(("", ""), &contenders));
    comes_to(&export, "right", "ok", "");
    comes_to(&export, "errors", "failed", "it ended with status 7; its log: no such thing");
    comes_to(&export, "prints", "failed", "it ended with status 7; its output: out of order");
    comes_to(&export, "killed", "failed", "it was ended by signal 9");
    comes_to(&export, "absent", "failed", "cannot start `./nowhere`");
    comes_to(&export, "differs", "disqualified", r#"its output is wrong: it is "hallo\n", not "hello\n""#);
    comes_to(&export, "leaver", "ok", "it left 1 of its processes behind");
}

#[test]
fn a_run_that_takes_too_long_is_ended() {
    let limit = "greeting = \"hello\"\ntimeout_s = 0.5";
    let place = place(("greeting = \"hello\"", limit), &[("hanger", "sleep 600")]);
    let said = place.kumite(&["run", "fake", "--json", "-"]);
    comes_to(&said.ended(3).json(), "hanger", "failed", "it did not end within 0.5 s");
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn metrics_of_its_own_are_the_last_line_and_what_follows_from_them() {
    let metrics = r#"[metrics]
made_bytes = { value = "worker", about = "What it made." }
share = { value = "made_bytes / 10 B", unit = "ratio", about = "Of ten." }
[answer]
equals = "hello\n""#;
    let contenders = [("a", r#"echo hello; echo "{\"made_bytes\":5,\"other\":1}""#), ("b", "echo hello")];
    let export = run(&place(("[answer]\nequals = \"hello\\n\"", metrics), &contenders));
    let found = &trial(&export, "a")["sample"]["metrics"];
    assert_eq!((&found["made_bytes"], &found["share"]), (&json!(5.0), &json!(0.5)), "{found}");
    comes_to(&export, "b", "failed", "the last line of its output, 'hello', is no object with metrics");
}

const SAME: (&str, &str) = ("equals = \"hello\\n\"", "same_output = true");

#[test]
fn what_most_contenders_write_is_right_whoever_is_tried_first() {
    // Where the wrong one stands among the files, and in the blocks, which seeds shuffle.
    for (odd, names) in [("a", ["b", "c"]), ("b", ["a", "c"]), ("c", ["a", "b"])] {
        let [one, other] = names;
        let place = place(SAME, &[(one, "echo one"), (other, "echo one"), (odd, "echo other")]);
        let said = place.kumite(&["check", "fake"]);
        let said = said.ended(1);
        printed!(said.report());
        let why = format!("its output is wrong: it is not what {one} and {other} wrote (2 of 3): compare ");
        printed!(said.report());
        for seed in ["1", "2", "3"] {
            let said = place.kumite(&["run", "fake", "--seed", seed, "--json", "-"]);
            let said = said.ended(0);
            let export = said.json();
            comes_to(&export, odd, "disqualified", &why);
            names.iter().for_each(|right| comes_to(&export, right, "ok", ""));
            printed!(said.notes());
        }
    }
}

#[test]
fn without_a_majority_of_all_contenders_none_is_right() {
    let why = "contenders differ, no output is that of more than half of them";
    for runs in [&["echo one", "echo other"][..], &["echo 1", "echo 1", "echo 2", "echo 2"]] {
        let contenders: Vec<(&str, &str)> =
            ["a", "b", "c", "d"].into_iter().zip(runs.iter().copied()).collect();
        let place = place(SAME, &contenders);
        let said = place.kumite(&["check", "fake"]);
        let said = said.ended(1);
        assert_eq!(said.out.matches(why).count(), runs.len(), "{}", said.out);
        // Nothing counts.
        let export = place.kumite(&["run", "fake", "--json", "-"]).ended(3).json();
        contenders.iter().for_each(|(name, _)| comes_to(&export, name, "disqualified", why));
    }
}

#[test]
fn a_run_that_is_taken_up_again_and_shards_that_are_merged_have_the_same_right_output() {
    let place = place(SAME, &[("a", "echo one"), ("b", "echo one"), ("c", "echo other")]);
    for shard in ["1/2", "2/2"] {
        let store = format!("{}.db", &shard[..1]);
        place.kumite(&["run", "fake", "--blocks", "2", "--shard", shard, "--db", &store]).ended(0);
    }
    let export = place.kumite(&["merge", "1.db", "2.db", "--json", "-"]).ended(0).json();
    let wrong = |export: &serde_json::Value| -> Vec<String> {
        let wrong = standing(export).into_iter().filter(|trial| trial["outcome"] == "disqualified");
        wrong.map(|trial| trial["contender"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(standing(&export).len(), 6);
    assert_eq!(wrong(&export), ["c", "c"]);
}

#[test]
fn outputs_are_kept_beside_a_store_that_is_on_another_disk() {
    let place = place(SAME, &[("a", "echo one"), ("b", "echo one"), ("c", "echo other")]);
    // Files of trials are never in memory.
    let elsewhere = tempfile::tempdir_in("/dev/shm").unwrap();
    let store = elsewhere.path().join("r.db").display().to_string();
    let export = place.kumite(&["run", "fake", "--db", &store, "--json", "-"]).ended(0).json();
    for (name, outcome) in [("a", "ok"), ("b", "ok"), ("c", "disqualified")] {
        assert_eq!(trial(&export, name)["outcome"], outcome, "{}", trial(&export, name)["reason"]);
    }
}

#[test]
fn a_checker_is_given_the_file_with_the_output() {
    let checker = r#"checker = "exec sh checker.sh""#;
    let place = place(("equals = \"hello\\n\"", checker), &[("a", "echo hello"), ("b", "echo other")]);
    let script = r#"while read -r line; do
  case $line in
    *hello*:*) echo '{"hello":1,"name":"sh","runtime":"sh","pid":'$$'}' ;;
  esac
  file=$(echo "$line" | sed -n 's/.*"result":"\([^"]*\)".*/\1/p')
  job=$(echo "$line" | sed -n 's/.*"job":\([0-9]*\).*/\1/p')
  if [ -n "$file" ]; then
    case $line in */fff*) file=/dev/null ;; esac
    if [ "$(cat "$file")" = hello ]; then verdict='{"right":true}'; else verdict='{"right":false,"why":"no greeting"}'; fi
    echo "{\"job\":$job,\"elapsed_ns\":0,\"result\":$verdict}"
  fi
done
"#;
    place.write("experiments/fake/checker.sh", &script.replace("*hello*:*)", "'{\"hello\":1}')"));
    let export = run(&place);
    comes_to(&export, "a", "ok", "");
    comes_to(&export, "b", "disqualified", "its output is wrong: no greeting");
    // Beside a control a contender runs by a link, of whose name a checker is told nothing.
    let arguments = ["run", "fake", "--only", "a", "--blocks", "1", "--control=a", "--json", "-"];
    comes_to(&place.kumite(&arguments).ended(0).json(), "a", "ok", "");
}

#[test]
fn a_run_goes_on_where_it_was_interrupted() {
    let place = place(
        ("blocks = 1", "blocks = 2"),
        &[("a", "echo hello; while [ -e ../../../../wait ]; do sleep 0.01; done")],
    );
    place.write("wait", "");
    let kumite = place.command(&["run", "fake"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    eventually(|| place.begun() > 0);
    kill(Pid::from_raw(kumite.id().cast_signed()), Signal::SIGINT).unwrap();
    Said::of(kumite.wait_with_output().unwrap()).ended(3);
    assert_eq!(place.left(), [""; 0]);
    std::fs::remove_file(place.path("wait")).unwrap();
    let export = place.kumite(&["resume", "last", "--json", "-"]).ended(0).json();
    assert_eq!(standing(&export).len(), 2);
    comes_to(&export, "a", "ok", "");
}

#[test]
fn what_makes_no_sense_is_an_error_with_its_place() {
    let refused = |replaced, run: &str| {
        let said = place(replaced, &[("a", run)]).kumite(&["run", "fake"]);
        let said = said.ended(2);
        printed!(said.notes());
    };
    refused(("greeting", "runs = 0\ngreeting"), "true");
    refused(("", ""), "echo \"a");
    refused(("blocks", "disk = \"1 MB\"\nblocks"), "true");
}
