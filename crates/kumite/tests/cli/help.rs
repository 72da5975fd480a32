//! The help of every command, short and long.

use clap::Command;

use crate::place::Place;
use crate::printed::printed;

/// Each command that is shown, by the words that name it.
fn commands(of: &Command, path: &[String]) -> Vec<Vec<String>> {
    let shown = of.get_subcommands().filter(|command| !command.is_hide_set());
    let below =
        shown.flat_map(|command| commands(command, &[path, &[command.get_name().to_owned()]].concat()));
    [path.to_vec()].into_iter().chain(below).collect()
}

fn helps(flag: &str) -> Vec<String> {
    let place = Place::new("", &[]);
    let help = |path: &Vec<String>| {
        let words: Vec<&str> = path.iter().map(String::as_str).chain([flag]).collect();
        place.kumite(&words).ended(0).report()
    };
    let all: Vec<String> = commands(&kumite::command(), &[]).iter().map(help).collect();
    assert!(all.len() > 20, "every command is asked: {}", all.len());
    all
}

#[test]
fn short() {
    printed!(helps("-h").join("\n"));
}

#[test]
fn long() {
    printed!(helps("--help").join("\n"));
}

#[test]
fn version() {
    printed!(Place::new("", &[]).kumite(&["--version"]).ended(0).report());
}
