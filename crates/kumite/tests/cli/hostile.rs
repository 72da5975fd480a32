//! Words of others act on no terminal, and a file that cannot be written is an error.

use std::process::Command;

use crate::place::{Place, Said};
use crate::printed::printed;

/// A title, a cleared screen, a C1 sequence, a turned direction.
const HOSTILE: &str = "\u{1b}]0;PWN\u{7}\u{1b}[2J\u{9b}31m\u{202e}evil";

#[track_caller]
fn harmless(said: &Said) {
    for text in [&said.out, &said.err] {
        let acts = |c: char| {
            (c.is_control() && !['\n', '\t'].contains(&c)) || ('\u{202a}'..='\u{202e}').contains(&c)
        };
        assert!(!text.contains(acts), "{text:?}");
    }
}

#[test]
fn no_escape_sequence_of_others_is_passed_on() {
    let place = Place::new("", &[("a", "pong")]);
    let build = r#"printf "\033]0;PWN\007\033[2J\302\23331m\342\200\256evil\n"; exit 1"#;
    let variant = "[[variant]]\nname = 'b'\nmodel = 'threads'\nrun = 'true'\n";
    let contender = format!("version = 'echo 1'\nbuild = '{build}'\n{variant}");
    place.write("experiments/fake/contenders/b/contender.toml", &contender);
    for command in [&["build", "fake"][..], &["check", "fake"], &["run", "fake", "--blocks", "1"]] {
        let said = place.kumite(command);
        assert!((said.out.clone() + &said.err).contains("evil"), "{command:?}: {} {}", said.out, said.err);
        harmless(&said);
    }
    for (file, text) in [
        ("run.json", format!("{{\"schema\": \"{HOSTILE}\"}}")),
        ("run.json", HOSTILE.to_owned()),
        ("other.json", format!("{{\"schema\": 3, \"{HOSTILE}\": 1")),
    ] {
        place.write(file, &text);
        harmless(&place.kumite(&["report", file]).ended(2));
        harmless(&place.kumite(&["compare", "--import", file, "--runs", "1"]));
    }
    place.write("experiments/bad/experiment.toml", &format!("question = 1\n'{HOSTILE}' = 2\n"));
    harmless(&place.kumite(&["run", "bad"]).ended(2));
    harmless(&place.kumite(&["list"]).ended(2));
    harmless(&place.kumite(&["run", HOSTILE]).ended(2));
    harmless(&place.kumite(&["run", "fake", "--budget", HOSTILE]).ended(2));
}

#[test]
fn two_documents_do_not_go_to_one_file() {
    let place = Place::new("", &[("a", "pong")]);
    for command in [
        &["run", "fake", "--json", "x", "--html", "x"][..],
        &["run", "fake", "--json", "x", "--markdown", "./x"],
        &["run", "fake", "--json", "-", "--html", "-"],
        &["compare", "true", "--json", "x", "--html", "x"],
        &["load", "http://127.0.0.1:1/", "--json", "x", "--markdown", "x"],
    ] {
        let said = place.kumite(command).ended(2);
        printed!(said.notes());
        assert!(!place.path("x").exists(), "{command:?}");
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_not_the_end_without_a_word() {
    let place = Place::new("", &[("a", "pong")]);
    let kumite = place.command(&["run", "fake", "--blocks", "1"]);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 40; exec \"$0\" \"$@\""])
        .arg(kumite.get_program())
        .args(kumite.get_args());
    limited.current_dir(place.path("."));
    for (name, value) in kumite.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let said = Said::of(limited.output().unwrap()).ended(3);
    printed!(said.notes());
}
