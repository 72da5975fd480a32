use crate::place::{EXPERIMENT, Place, Said};
use crate::printed::printed;

#[test]
fn what_is_wrong_in_a_file_is_said_with_its_place_before_anything_starts() {
    let claim = "[[claim]]\nid = 'c'\nassert = 'throughput_rps(b) > 1 /s'\n";
    let cases = [
        "colour = 'red'\n",
        "[axes]\nspeed = [1]\n",
        claim,
        "[[claim]]\nid = 'c'\nassert = 'joy(a) > 1'\n",
        "[profiles.quick]\nblock = 1\n",
    ];
    for more in cases {
        let place = Place::new(more, &[("a", "pong")]);
        let said = place.kumite(&["run", "fake"]).ended(2);
        printed!(format!("# {more}\n{}", said.notes()));
        assert!(place.kept().is_empty(), "nothing is begun");
    }
}

#[test]
fn a_contender_file_is_checked_as_strictly() {
    let cases = [
        "version = 'true'\ncolor = 1\n",
        "version = 'true'\n",
        "version = 'true'\n[[variant]]\nname = 'x'\nmodel = 'magic'\nrun = 'true'\n",
        "version = 'true'\n[[variant]]\nname = '../x'\nmodel = 'threads'\nrun = 'true'\n",
        "version = 'true'\n[[variant]]\nname = 'contender'\nmodel = 'threads'\nrun = 'true'\n",
        "needs = ['go > 1']\nversion = 'true'\n",
        "version = 'true'\n[[variant]]\nname = 'a'\nmodel = 'threads'\nrun = 'true'\n",
    ];
    for text in cases {
        let place = Place::new("", &[("a", "pong")]);
        place.write("experiments/fake/contenders/x/contender.toml", text);
        let said = place.kumite(&["run", "fake"]).ended(2);
        printed!(format!("# {text}\n{}", said.notes()));
    }
}

#[test]
fn what_was_typed_wrong_is_named() {
    let place = Place::new("", &[("a", "pong")]);
    let cases: [&[&str]; 8] = [
        &["run", "fakes"],
        &["run", "fake", "--profile", "slow"],
        &["run", "fake", "--only", "b"],
        &["run", "fake", "--budget", "soon"],
        &["run", "fake", "--blocks", "0"],
        &["report", "nothing", "--db", "none.db"],
        &["load", "ftp://127.0.0.1/"],
        &["load", "http://127.0.0.1/", "-H", "no colon"],
    ];
    for arguments in cases {
        let said = place.kumite(arguments);
        printed!(said.notes());
        assert!(said.code == 2 || said.err.contains("none.db"), "{arguments:?} ended with {}", said.code);
    }
}

#[test]
fn what_may_be_meant_by_a_mistyped_word_is_said() {
    let place = Place::new("", &[("a", "pong")]);
    let cases: [&[&str]; 8] = [
        &["run", "fale"],
        &["run", "fake", "--bugdet", "1s"],
        &["compare", "--marjin", "5%", "true"],
        &["rnu", "fake"],
        &["compare", "--margin", "5", "true"],
        &["report", "missing.json.gz"],
        &["report", "gone/run"],
        &["task", "fake", "--contender", "a", "--param", "n=9223372036854775808"],
    ];
    for arguments in cases {
        let said = place.kumite(arguments).ended(2);
        printed!(said.notes());
    }
    let said = place.kumite(&["run", "fake", "--frobnicate"]).ended(2);
    assert!(!said.err.contains("similar"), "what is near nothing is not guessed: {}", said.err);
    for file in ["experiments/fake/experiment.toml", "./experiments/fake/experiment.toml"] {
        place.kumite(&["run", file, "--dry-run"]).ended(0);
    }
    place.write("experiments/fake/contenders/b/server.py", "");
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    printed!(said.notes());
}

#[test]
fn a_value_that_is_none_is_told_at_its_place() {
    for (from, to) in [
        ("connections = 40", "connections = [40]"),
        ("connections = 40", "connections = { a = 1 }"),
        ("connections = 40", "connections = 2000-01-01"),
        ("[answer]", "[axes]\nconnections = 50\n[answer]"),
        ("[answer]", "[axes]\nconnections = [1, [50]]\n[answer]"),
    ] {
        let place = Place::new("", &[("a", "pong")]);
        let text = EXPERIMENT.replacen(from, to, 1);
        assert_ne!(text, EXPERIMENT);
        place.write("experiments/fake/experiment.toml", &text);
        let said = place.kumite(&["run", "fake"]).ended(2);
        printed!(format!("# {from} -> {to}\n{}", said.notes()));
    }
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let place = Place::new("", &[("a", "pong")]);
    place.kumite(&["run", "fake", "--blocks", "1"]).ended(0);
    let said = place.kumite(&["report", "1999"]).ended(2);
    printed!(said.notes());
}

#[test]
fn a_file_that_is_no_run_is_named() {
    let place = Place::new("", &[("a", "pong")]);
    for text in ["{\"schema\": 4}", "pong", "\x1f\u{8b}"] {
        place.write("run.json", text);
        let said = place.kumite(&["report", "run.json"]).ended(2);
        printed!(format!("# {text}\n{}", said.notes()));
    }
}

#[test]
fn experiments_are_listed_with_what_is_wrong_with_them() {
    let place = Place::new("", &[("a", "pong")]);
    assert_eq!(
        place.kumite(&["list"]).ended(0).out,
        "in experiments:\nfake: Which fake is faster?\n  a                        threads\n"
    );
    place.write("experiments/other/experiment.toml", &EXPERIMENT.replace("http", "dance"));
    let said = place.kumite(&["list"]).ended(2);
    printed!(said.report());
}

#[test]
fn an_experiment_is_found_by_name_and_the_nearest_wins() {
    let place = Place::new("", &[("a", "pong")]);
    place.write("mine/far/experiment.toml", &place.read("experiments/fake/experiment.toml"));
    place.write(
        "mine/far/contenders/a/contender.toml",
        &place.read("experiments/fake/contenders/a/contender.toml"),
    );
    place.write("mine/fake/experiment.toml", "this one is hidden by the nearer");
    let mut command = place.command(&["list"]);
    let said = Said::of(command.env("KUMITE_EXPERIMENTS", place.path("mine")).output().unwrap()).ended(0);
    printed!(said.words());
    let mut command = place.command(&["run", "far", "--dry-run"]);
    Said::of(command.env("KUMITE_EXPERIMENTS", place.path("mine")).output().unwrap()).ended(0);
    let said = place.kumite(&["run", "far"]).ended(2);
    printed!(said.notes());
}

#[test]
fn results_are_in_the_nearest_folder_of_ours_or_with_the_users_data() {
    let place = Place::new("", &[("a", "pong")]);
    place.write("below/here", "");
    let run = |folder: &str| {
        let mut command = place.command(&["run", "../experiments/fake", "--blocks", "1"]);
        Said::of(command.current_dir(place.path(folder)).output().unwrap()).ended(0)
    };
    assert!(run("below").err.contains(".kumite/results.db"));
    assert!(place.path(".kumite/results.db").is_file());
    std::fs::remove_dir_all(place.path(".kumite")).unwrap();
    assert!(run("below").err.contains("data/kumite/results.db"));
    assert!(place.path("data/kumite/results.db").is_file() && !place.path("below/.kumite").exists());
}
