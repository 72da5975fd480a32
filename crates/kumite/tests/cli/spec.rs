use crate::place::{EXPERIMENT, Place, Said};

#[test]
fn what_is_wrong_in_a_file_is_said_with_its_place_before_anything_starts() {
    let claim = "[[claim]]\nid = 'c'\nassert = 'throughput_rps(b) > 1 /s'\n";
    let cases = [
        ("colour = 'red'\n", "experiments/fake/experiment.toml:16:1: unknown field `colour`"),
        ("[axes]\nspeed = [1]\n", "unknown workload parameter 'speed'"),
        (claim, "no contender 'b'; there are: a"),
        ("[[claim]]\nid = 'c'\nassert = 'joy(a) > 1'\n", "no metric 'joy'; there are: recovery_ms"),
        ("[profiles.quick]\nblock = 1\n", "unknown field `block`"),
    ];
    for (more, expected) in cases {
        let place = Place::new(more, &[("a", "pong")]);
        let said = place.kumite(&["run", "fake"]).ended(2);
        assert!(said.err.contains(expected), "{more}: {}", said.err);
        assert!(place.kept().is_empty(), "nothing is begun");
    }
}

#[test]
fn a_contender_file_is_checked_as_strictly() {
    let cases = [
        ("version = 'true'\ncolor = 1\n", "contender.toml:2:1: unknown field `color`"),
        ("version = 'true'\n", "no [[variant]]"),
        (
            "version = 'true'\n[[variant]]\nname = 'x'\nmodel = 'magic'\nrun = 'true'\n",
            "contender.toml:4:1: unknown model 'magic'",
        ),
        (
            "version = 'true'\n[[variant]]\nname = '../x'\nmodel = 'threads'\nrun = 'true'\n",
            "'../x' is not a name",
        ),
        (
            "version = 'true'\n[[variant]]\nname = 'contender'\nmodel = 'threads'\nrun = 'true'\n",
            "'contender' is not a name",
        ),
        ("needs = ['go > 1']\nversion = 'true'\n", "contender.toml:1:10: 'go > 1' is not a need"),
        (
            "version = 'true'\n[[variant]]\nname = 'a'\nmodel = 'threads'\nrun = 'true'\n",
            "two contenders are called 'a'",
        ),
    ];
    for (text, expected) in cases {
        let place = Place::new("", &[("a", "pong")]);
        place.write("experiments/fake/contenders/x/contender.toml", text);
        let said = place.kumite(&["run", "fake"]).ended(2);
        assert!(said.err.contains(expected), "{text}: {}", said.err);
    }
}

#[test]
fn what_was_typed_wrong_is_named() {
    let place = Place::new("", &[("a", "pong")]);
    let cases: [(&[&str], &str); 8] = [
        (&["run", "fakes"], "no experiment 'fakes'"),
        (
            &["run", "fake", "--profile", "slow"],
            "no profile 'slow' in fake; there are: quick, standard, full",
        ),
        (&["run", "fake", "--only", "b"], "--only b: no such contender; there are: a"),
        (&["run", "fake", "--budget", "soon"], "expected a duration such as 10s"),
        (&["run", "fake", "--blocks", "0"], "0 is not in 1..=100000"),
        (
            &["report", "nothing", "--db", "none.db"],
            "cannot open the results store none.db: there is no such file",
        ),
        (&["load", "ftp://127.0.0.1/"], "ftp"),
        (&["load", "http://127.0.0.1/", "-H", "no colon"], "expected 'name: value'"),
    ];
    for (arguments, expected) in cases {
        let said = place.kumite(arguments);
        assert!(said.err.contains(expected), "{arguments:?}: {}", said.err);
        assert!(said.code == 2 || said.err.contains("none.db"), "{arguments:?} ended with {}", said.code);
    }
}

#[test]
fn what_may_be_meant_by_a_mistyped_word_is_said() {
    let place = Place::new("", &[("a", "pong")]);
    let cases: [(&[&str], &str); 8] = [
        (&["run", "fale"], "write 'fake' if that is meant"),
        (&["run", "fake", "--bugdet", "1s"], "--budget"),
        (&["compare", "--marjin", "5%", "true"], "--margin"),
        (&["rnu", "fake"], "run"),
        (&["compare", "--margin", "5", "true"], "write 5% or 0.05"),
        (&["report", "missing.json.gz"], "cannot read missing.json.gz: there is no such file"),
        (&["report", "gone/run"], "cannot read gone/run: there is no such file"),
        (
            &["task", "fake", "--contender", "a", "--param", "n=9223372036854775808"],
            "a whole number has 64 bits here",
        ),
    ];
    for (arguments, expected) in cases {
        let said = place.kumite(arguments).ended(2);
        assert!(said.err.contains(expected), "{arguments:?}: {}", said.err);
    }
    let said = place.kumite(&["run", "fake", "--frobnicate"]).ended(2);
    assert!(!said.err.contains("similar"), "what is near nothing is not guessed: {}", said.err);
    for file in ["experiments/fake/experiment.toml", "./experiments/fake/experiment.toml"] {
        place.kumite(&["run", file, "--dry-run"]).ended(0);
    }
    place.write("experiments/fake/contenders/b/server.py", "");
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    assert!(said.err.contains("contenders/b is no contender: it has no contender.toml"), "{}", said.err);
}

#[test]
fn a_value_that_is_none_is_told_at_its_place() {
    for (from, to, expected) in [
        ("connections = 40", "connections = [40]", "here is one value, and no list of them"),
        (
            "connections = 40",
            "connections = { a = 1 }",
            "a value is a number, a text, true or false, and no table",
        ),
        ("connections = 40", "connections = 2000-01-01", "a value is a number, a text, true or false"),
        ("[answer]", "[axes]\nconnections = 50\n[answer]", "invalid type: integer `50`, expected a list"),
        ("[answer]", "[axes]\nconnections = [1, [50]]\n[answer]", "here is one value"),
    ] {
        let place = Place::new("", &[("a", "pong")]);
        let text = EXPERIMENT.replacen(from, to, 1);
        assert_ne!(text, EXPERIMENT);
        place.write("experiments/fake/experiment.toml", &text);
        let said = place.kumite(&["run", "fake"]).ended(2);
        let line = 1 + text
            .lines()
            .position(|line| line.starts_with("connections = ") && line != "connections = 40")
            .unwrap();
        assert!(said.err.contains(&format!("experiment.toml:{line}:")), "{to}: {}", said.err);
        assert!(said.err.contains(expected), "{to}: {}", said.err);
    }
}

#[test]
fn a_run_that_is_not_there_is_named() {
    let place = Place::new("", &[("a", "pong")]);
    place.kumite(&["run", "fake", "--blocks", "1"]).ended(0);
    let said = place.kumite(&["report", "1999"]).ended(2);
    assert!(said.err.contains("no run '1999' in the results store .kumite/results.db"), "{}", said.err);
}

#[test]
fn a_file_that_is_no_run_is_named() {
    let place = Place::new("", &[("a", "pong")]);
    for (text, expected) in [
        (
            "{\"schema\": 4}",
            "its form is version 4; this kumite reads version 5: report it with the kumite that wrote it",
        ),
        ("pong", "no run that --json has written"),
        ("\x1f\u{8b}", "no run that --json has written"),
    ] {
        place.write("run.json", text);
        let said = place.kumite(&["report", "run.json"]).ended(2);
        assert!(said.err.contains("run.json: ") && said.err.contains(expected), "{}", said.err);
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
    assert!(said.out.contains("experiments/other: cannot be run: "), "{}", said.out);
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
    let mine = format!("in {}:\nfar: ", place.path("mine").display());
    assert!(said.out.starts_with("in experiments:\nfake: ") && said.out.contains(&mine), "{}", said.out);
    let mut command = place.command(&["run", "far", "--dry-run"]);
    Said::of(command.env("KUMITE_EXPERIMENTS", place.path("mine")).output().unwrap()).ended(0);
    let said = place.kumite(&["run", "far"]).ended(2);
    assert!(said.err.contains("neither far nor experiments/far has an experiment.toml"), "{}", said.err);
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
