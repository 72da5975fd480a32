//! A run whose blocks several machines share, merged into one.

use kumite_record::{Run, Store};
use serde_json::Value;

use crate::place::{EXPERIMENT, Place, Said};
use crate::printed::{printed, without_figures};

const CLAIMS: &str = r#"
[[claim]]
id = "a-first"
assert = "throughput_rps(a) > throughput_rps(b)"
[[claim]]
id = "even"
assert = "throughput_rps(b) > throughput_rps(c)"
"#;

/// "a" is before "b" in all rounds; "b" is before "c" in every other one.
const SCRIPT: &str = r#"
[[trial]]
contender = "a"
metrics = { throughput_rps = [300, 310, 290, 305] }
[[trial]]
contender = "b"
metrics = { throughput_rps = [200, 205, 195, 201] }
[[trial]]
contender = "c"
metrics = { throughput_rps = [190, 215, 185, 211] }
"#;

fn place() -> Place {
    let place = Place::new("", &[("a", "pong"), ("b", "pong"), ("c", "pong")]);
    let text = EXPERIMENT.replace("blocks = 6", "blocks = 24");
    place.write("experiments/fake/experiment.toml", &format!("{text}{CLAIMS}"));
    place.write("script.toml", SCRIPT);
    place
}

/// Executes a share on a node of that name.
fn shard(place: &Place, share: &str, node: &str, more: &[&str]) -> Value {
    let file = format!("{}.db", share.replace('/', "-"));
    let arguments = [&["run", "fake", "--shard", share, "--db", &file, "--json", "-"], more].concat();
    let output = place.scripted_command(&arguments).env("NODE_NAME", node).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const MERGE: &[&str] = &["merge", "1-2.db", "2-2.db", "--db", "all.db"];

/// The trials by round, in their order, and their metrics.
fn trials(export: &Value) -> Vec<(u64, u64, String, String)> {
    let of = |trial: &Value| {
        let number = |key: &str| trial[key].as_u64().unwrap();
        let metrics = trial["sample"]["metrics"].to_string();
        (number("seq"), number("block"), trial["contender"].to_string(), metrics)
    };
    export["trials"].as_array().unwrap().iter().map(of).collect()
}

fn verdicts(export: &Value) -> Vec<(String, String, Value)> {
    let of = |claim: &Value| (claim["id"].to_string(), claim["verdict"].to_string(), claim["effect"].clone());
    export["claims"].as_array().unwrap().iter().map(of).collect()
}

#[test]
fn shards_that_are_merged_are_the_run_that_one_machine_would_have_made() {
    let place = place();
    let of_two = shard(&place, "2/2", "n2", &["--seed", "7"]);
    assert_eq!((&of_two["claims"], &of_two["run"]["shard"]["nth"]), (&Value::Array(Vec::new()), &2.into()));
    let warned = of_two["warnings"].to_string();
    printed!(without_figures(&warned));
    shard(&place, "1/2", "n1", &["--seed", "7"]);
    let merged = place.kumite(&[MERGE, &["--json", "-"]].concat()).ended(0).json();

    // Of one that is alone none ends by a verdict either, if it is to have all its blocks.
    let text = place.read("experiments/fake/experiment.toml");
    place.write(
        "experiments/fake/experiment.toml",
        &text.replace("blocks = 24", "blocks = 24\nmin_blocks = 24"),
    );
    let whole = place.scripted(&["run", "fake", "--seed", "7", "--json", "-"]).ended(0).json();
    assert_eq!(trials(&merged), trials(&whole));
    assert_eq!(merged["claims"][0]["verdict"], "holds");
    assert_eq!(verdicts(&merged)[1], verdicts(&whole)[1]);
    let nodes: Vec<&Value> =
        merged["trials"].as_array().unwrap().iter().map(|trial| &trial["node"]).collect();
    assert_eq!((nodes[0], nodes[3], nodes[6]), (&"n1".into(), &"n2".into(), &"n1".into()));
    let effects = merged["claims"][0]["nodes"].as_array().unwrap();
    assert_eq!(effects.len(), 2, "{effects:?}");
}

#[test]
fn merging_twice_changes_nothing_and_a_shard_counts_once() {
    let place = place();
    shard(&place, "1/2", "n1", &[]);
    let missing = place.kumite(&["merge", "1-2.db", "--db", "all.db", "--json", "-"]).ended(0).json();
    assert_eq!(missing["run"]["cut_short"], "shard 2 of 2 is missing");
    shard(&place, "2/2", "n2", &["--budget", "1ms"]);
    let short = place.kumite(&[MERGE, &["--json", "-"]].concat()).ended(0).json();
    let why = short["run"]["cut_short"].as_str().unwrap();
    printed!(without_figures(why));
    assert_eq!(short["run"]["id"], missing["run"]["id"], "it is the same run, with more of it");

    // Its second execution is the first complete one; a third does not count.
    let second = shard(&place, "2/2", "n2", &[]);
    shard(&place, "2/2", "n2", &[]);
    let first = place.kumite(&[MERGE, &["--json", "-"]].concat()).ended(0).json();
    assert_eq!(first["run"]["merged"]["runs"][1], second["run"]["id"]);
    assert_eq!(first["run"].get("cut_short").unwrap(), &Value::Null);
    assert_eq!(first["trials"].as_array().unwrap().len(), 24 * 3);
    let warned = first["warnings"].to_string();
    printed!(without_figures(&warned));
    let again = place.kumite(&[MERGE, &["--json", "-"]].concat()).ended(0).json();
    assert_eq!(again, first);
    // The target alone has all that there is.
    let alone = place.kumite(&["merge", "all.db", "--db", "all.db", "--json", "-"]).ended(0).json();
    assert_eq!((&alone["trials"], &alone["claims"]), (&first["trials"], &first["claims"]));

    printed!(place.kumite(&["list", "--runs", "--db", "all.db"]).ended(0).report());
    let said = place.scripted(&["resume", "last", "--db", "all.db"]).ended(2);
    printed!(said.notes());
}

#[test]
fn a_shard_that_was_interrupted_goes_on_as_what_it_is() {
    let place = place();
    shard(&place, "1/2", "n1", &[]);
    shard(&place, "2/2", "n2", &["--budget", "1ms"]);
    let resumed = place.scripted(&["resume", "last", "--db", "2-2.db", "--json", "-"]).ended(0).json();
    let rounds: Vec<u64> = trials(&resumed).iter().map(|(_, block, ..)| *block).collect();
    assert!(rounds.len() == 36 && rounds.iter().all(|round| round % 2 == 1), "{rounds:?}");
    let merged = place.kumite(&[MERGE, &["--json", "-"]].concat()).ended(0).json();
    assert_eq!(merged["run"]["cut_short"], Value::Null);
    assert_eq!(merged["trials"].as_array().unwrap().len(), 24 * 3);
}

#[test]
fn what_differs_among_shards_is_named() {
    let place = place();
    let of_b = "experiments/fake/contenders/b/contender.toml";
    let contender = place.read(of_b).replace("echo fake 1.0", "cat $XDG_DATA_HOME/version");
    place.write(of_b, &contender);
    let tools = |version: &str| {
        place.write("data/version", version);
        let _ = std::fs::remove_dir_all(place.path("cache"));
    };
    tools("fake 1.0");
    shard(&place, "1/2", "n1", &[]);
    let refused = || {
        let said = place.kumite(MERGE).ended(2);
        printed!(said.notes());
        let _ = std::fs::remove_file(place.path("2-2.db"));
    };
    let said = place.kumite(&["merge", "2-2.db", "--db", "all.db"]).ended(3);
    printed!(said.notes());

    tools("fake 2.0");
    shard(&place, "2/2", "n2", &[]);
    let merged = place.kumite(&[MERGE, &["--json", "-"]].concat()).ended(0).json();
    let named = "its tools differ: fake 1.0 at first, fake 2.0 in shard 2 of 2";
    assert!(merged["warnings"].to_string().contains(named), "{}", merged["warnings"]);
    std::fs::remove_file(place.path("2-2.db")).unwrap();
    std::fs::remove_file(place.path("all.db")).unwrap();

    tools("fake 1.0");
    place.write(of_b, &contender.replace("pong", "slow"));
    shard(&place, "2/2", "n2", &[]);
    refused();
    place.write(of_b, &contender);

    shard(&place, "2/2", "n2", &["--skip", "c"]);
    refused();
    shard(&place, "2/2", "n2", &["--blocks", "12"]);
    refused();
    shard(&place, "2/2", "n2", &["--seed", "8"]);
    refused();
    shard(&place, "2/2", "n2", &["--profile", "full", "--seed", "8"]);
    refused();

    place.scripted(&["run", "fake", "--db", "whole.db"]).ended(0);
    let said = place.kumite(&["merge", "whole.db", "--db", "other.db"]).ended(2);
    assert!(!place.path("other.db").exists(), "nothing was kept in it");
    printed!(said.notes());
    let said = place.scripted(&["run", "fake", "--shard", "30/30"]).ended(2);
    printed!(said.notes());
}

#[test]
fn shards_belong_together_by_how_they_were_measured_and_not_by_which_kumite() {
    let place = place();
    let experiment = place.read("experiments/fake/experiment.toml");
    let asks = |text: &str| place.write("experiments/fake/experiment.toml", text);
    let merged = || place.kumite(&[MERGE, &["--json", "-"]].concat());
    shard(&place, "1/2", "n1", &[]);
    asks(
        &experiment
            .replace("Which", "What")
            .replace("id = \"a-first\"", "id = \"a-first\"\ntitle = \"A first\""),
    );
    shard(&place, "2/2", "n2", &[]);
    let of_words = merged().ended(0).json();
    assert_eq!(of_words["run"]["cut_short"], Value::Null, "words make no other run, nor another seed");
    assert_eq!(of_words["run"]["question"]["text"], "Which fake is faster?", "they are those of the first");
    assert_eq!(of_words["claims"][0]["title"], Value::Null);
    assert_eq!(of_words["warnings"].as_array().unwrap().len(), 0, "{}", of_words["warnings"]);

    // Nobody looks at the experiment as it is now.
    std::fs::remove_dir_all(place.path("experiments")).unwrap();
    changed(&place, "2-2.db", |run| run.kumite = "0.0.1".to_owned());
    let of_versions = merged().ended(0).json();
    assert_eq!(verdicts(&of_versions), verdicts(&of_words));
    let warned = of_versions["warnings"].to_string();
    printed!(without_figures(&warned));

    let refused = |change: fn(&mut Run)| {
        changed(&place, "2-2.db", change);
        let said = merged().ended(2);
        printed!(said.notes());
    };
    refused(|run| run.spec = run.spec.replace("rate_rps = 200", "rate_rps = 300"));
    refused(|run| run.measures = run.measures.map(|measures| measures + 1));
}

/// The runs of a store as another kumite, or of something else, would have made them.
fn changed(place: &Place, store: &str, change: impl Fn(&mut Run)) {
    let mut store = Store::open_existing(&place.path(store)).unwrap();
    for run in store.runs().unwrap() {
        let mut whole = store.read(&run.id).unwrap();
        change(&mut whole.run);
        store.put(&whole).unwrap();
    }
}

#[test]
fn about_nodes_like_these_each_node_is_one_repetition() {
    let place = place();
    let stores: Vec<String> = (1..=12).map(|nth| format!("{nth}-12.db")).collect();
    for nth in 1..=12 {
        shard(&place, &format!("{nth}/12"), &format!("n{nth}"), &[]);
    }
    let mut merge = vec!["merge", "--db", "all.db", "--scope", "nodes-like-these", "--json", "-"];
    merge.extend(stores.iter().map(String::as_str));
    let merged = place.kumite(&merge).ended(0).json();
    let claim = |nth: usize| &merged["claims"][nth];
    assert_eq!(
        (&claim(0)["verdict"], &claim(0)["bet"]["rounds"]),
        (&"holds".into(), &12.into()),
        "{}",
        claim(0)
    );
    assert_eq!(claim(0)["nodes"].as_array().unwrap().len(), 12);
    assert_eq!(
        (&claim(1)["verdict"], &claim(1)["reason"]["what"]),
        (&"undecided".into(), &"more-nodes".into())
    );
    let few = place.kumite(&[&merge[..7], &["1-12.db", "2-12.db"]].concat()).ended(0).json();
    assert_eq!(few["claims"][0]["verdict"], "holds", "the target has the others");
    merge[2] = "few.db";
    let few = place.kumite(&[&merge[..7], &["1-12.db", "2-12.db"]].concat()).ended(0).json();
    assert_eq!(
        (&few["claims"][0]["verdict"], &few["claims"][0]["reason"]["nodes"]),
        (&"undecided".into(), &4.into())
    );
}

/// The script of docs/clusters.md for Slurm, with a kumite that is killed once it has kept a trial.
#[test]
fn what_a_shard_had_that_was_killed_is_in_the_store_that_its_script_copies() {
    let place = Place::new("", &[("a", "pong")]);
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/clusters.md")).unwrap();
    let (_, script) = document.split_once("`shard.sh`:\n\n").unwrap();
    let script: Vec<&str> = script.lines().map_while(|line| line.strip_prefix("    ")).collect();
    place.write("shard.sh", &script.join("\n").replace("kumite run chatbot", "kumite run fake"));
    let real = place.command(&[]).get_program().to_string_lossy().into_owned();
    // It is known to have kept a trial when it says so.
    let killed = format!(
        "#!/bin/sh\n[ \"$1\" = run ] || exec {real} \"$@\"\n{real} \"$@\" 2> said & kumite=$!\n\
         while kill -0 $kumite 2> /dev/null && ! grep -q '^1/' said; do sleep 0.02; done\n\
         kill -KILL $kumite; wait $kumite\n"
    );
    place.write("bin/kumite", &killed);
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(place.path("bin/kumite"), executable).unwrap();
    let kumite = place.command(&[]);
    let mut shell = std::process::Command::new("sh");
    shell.arg("shard.sh").current_dir(place.path("")).env_remove("KUMITE_EXPERIMENTS");
    shell.envs(kumite.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let path = std::env::var("PATH").unwrap();
    shell.env("PATH", format!("{}:{path}", place.path("bin").display())).env("TMPDIR", place.path(""));
    for (name, value) in [("ID", "1"), ("MIN", "1"), ("MAX", "2"), ("COUNT", "2")] {
        shell.env(format!("SLURM_ARRAY_TASK_{name}"), value);
    }
    let said = Said::of(kumite_testing::process::output(&mut shell).unwrap()).ended(128 + 9);
    assert!(said.out.contains("shard 1 of 2"), "{}{}", said.out, said.err);
    // As another node sees it: the file alone.
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    std::fs::copy(place.path("1.db"), place.path("elsewhere/1.db")).unwrap();
    assert!(!place.path("1.db-wal").exists());
    let merged = place.kumite(&["merge", "elsewhere/1.db", "--db", "all.db", "--json", "-"]).ended(0).json();
    assert!(!merged["trials"].as_array().unwrap().is_empty(), "{merged}");
}

#[test]
fn a_merge_that_is_refused_makes_no_store() {
    let place = place();
    place.kumite(&["merge", "no-such-run", "--db", "new.db"]).ended(2);
    assert!(!place.path("new.db").exists());
}
