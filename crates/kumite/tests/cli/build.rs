//! Builds are made once for all checkouts, whoever is killed, stopped or at it at the same time.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::place::{Place, Said, fake};
use crate::printed::printed;

/// One that counts its builds, and takes as long as it is told to.
fn place() -> Place {
    let place = Place::new("", &[]);
    write(&place, "experiments/fake", "until [ -e \"$GO\" ]; do sleep 0.01; done");
    place.write("go", "");
    place
}

fn write(place: &Place, experiment: &str, waits: &str) {
    let (run, count) = (fake(), place.path("count"));
    place.write(
        &format!("{experiment}/contenders/built/contender.toml"),
        &format!(
            "version = 'cat out'\nbuild = '''\necho half > out\necho x >> {count}\n{waits}\npwd > where\necho whole > out\n'''\n\
             [[variant]]\nname = 'built'\nmodel = 'threads'\nrun = 'test \"$(pwd)\" = \"$(cat where)\" && exec {run} pong'\n",
            run = run.display(),
            count = count.display(),
        ),
    );
}

fn kumite(place: &Place, arguments: &[&str]) -> Command {
    let mut command = place.command(arguments);
    command.env("GO", place.path("go"));
    command
}

fn said(place: &Place, arguments: &[&str]) -> Said {
    Said::of(kumite(place, arguments).output().unwrap())
}

fn begin(place: &Place, arguments: &[&str]) -> Child {
    kumite(place, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// As if on another machine, or they would refuse each other.
fn begin_elsewhere(place: &Place, arguments: &[&str]) -> Child {
    let mut command = kumite(place, arguments);
    command.env("KUMITE_LOCK", place.path("other.lock")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn count(place: &Place) -> usize {
    std::fs::read_to_string(place.path("count")).unwrap_or_default().lines().count()
}

/// The files of the cache with this ending. Each build has a folder, a lock, and a mark once it is complete.
fn cached(place: &Place, ending: &str) -> usize {
    let Ok(names) = std::fs::read_dir(place.path("cache/kumite/builds")) else { return 0 };
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(ending)).count()
}

#[test]
fn it_is_built_once_for_every_checkout() {
    let place = place();
    let first = said(&place, &["build", "fake"]).ended(0);
    assert_eq!(first.out, "✓ built built: whole\n");
    printed!(first.notes());
    // Another checkout, with a results store of its own.
    write(&place, "elsewhere/experiments/fake", "until [ -e \"$GO\" ]; do sleep 0.01; done");
    place
        .write("elsewhere/experiments/fake/experiment.toml", &place.read("experiments/fake/experiment.toml"));
    let mut there = kumite(&place, &["check", "fake"]);
    let there = Said::of(there.current_dir(place.path("elsewhere")).output().unwrap()).ended(0);
    printed!(there.words());
    assert!(!there.err.contains("building"), "{}", there.err);
    assert_eq!(said(&place, &["build", "fake"]).ended(0).out, "✓ built found: whole\n");
    assert_eq!(count(&place), 1);
    assert_eq!(said(&place, &["build", "fake", "--no-cache"]).ended(0).out, "✓ built built: whole\n");
    assert_eq!(count(&place), 2);
    assert_eq!((cached(&place, ".lock"), cached(&place, ".mark")), (1, 1));
    place.write("experiments/fake/contenders/built/source", "changed");
    let again = || said(&place, &["build", "fake"]).ended(0).out;
    assert_eq!([again(), again()], ["✓ built built: whole\n", "✓ built found: whole\n"]);
    assert_eq!((cached(&place, ".lock"), cached(&place, ".mark")), (2, 2));
}

#[test]
fn a_killed_build_leaves_nothing_that_counts() {
    let place = place();
    std::fs::remove_file(place.path("go")).unwrap();
    let mut child = begin(&place, &["build", "fake"]);
    eventually(|| count(&place) == 1);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    assert_eq!((cached(&place, ".lock"), cached(&place, ".mark")), (1, 0));
    place.write("go", "");
    let next = said(&place, &["build", "fake"]).ended(0);
    assert_eq!(next.out, "✓ built built: whole\n");
    assert!(!next.err.contains("waiting"), "{}", next.err);
    assert_eq!(count(&place), 2);
    assert_eq!(said(&place, &["build", "fake"]).ended(0).out, "✓ built found: whole\n");
}

#[test]
fn two_at_once_build_once() {
    let place = place();
    std::fs::remove_file(place.path("go")).unwrap();
    let first = begin(&place, &["build", "fake"]);
    eventually(|| count(&place) == 1);
    let mut second = begin_elsewhere(&place, &["build", "fake"]);
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("waiting for another kumite that builds built")));
    place.write("go", "");
    assert_eq!(Said::of(first.wait_with_output().unwrap()).ended(0).out, "✓ built built: whole\n");
    let rest: Vec<String> = lines.collect();
    assert!(!rest.iter().any(|line| line.contains("waiting") || line.contains("building")), "{rest:?}");
    assert_eq!(Said::of(second.wait_with_output().unwrap()).ended(0).out, "✓ built found: whole\n");
    assert_eq!(count(&place), 1);
}

#[test]
fn ctrl_c_ends_who_builds_and_who_waits() {
    let place = place();
    std::fs::remove_file(place.path("go")).unwrap();
    let first = begin(&place, &["build", "fake"]);
    eventually(|| count(&place) == 1);
    let mut second = begin_elsewhere(&place, &["build", "fake"]);
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("waiting for another kumite that builds built")));
    for child in [&second, &first] {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    }
    assert!(lines.any(|line| line == "error: it was interrupted"));
    assert_eq!(second.wait().unwrap().code(), Some(3));
    let first = Said::of(first.wait_with_output().unwrap()).ended(3);
    printed!(first.notes());
    assert_eq!((cached(&place, ".lock"), cached(&place, ".mark")), (0, 0));
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn check_finds_who_writes_into_what_is_built() {
    let place = Place::new("", &[]);
    // Root can write everywhere; others may have to ask for the right, and get it, for the folder is theirs.
    // By then the clock of the file system has gone on.
    let run = format!("sleep 0.05; chmod u+w . && touch written && exec {} pong", fake().display());
    place.write(
        "experiments/fake/contenders/writer/contender.toml",
        &format!("version = 'cat out'\nbuild = 'echo 1 > out'\n[[variant]]\nname = 'writer'\nmodel = 'threads'\nrun = '{run}'\n"),
    );
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
}

#[test]
fn what_it_uses_is_named_from_its_folder() {
    let place = place();
    let file = "experiments/fake/contenders/built/contender.toml";
    place.write(file, &format!("uses = ['/tmp']\n{}", place.read(file)));
    let said = place.kumite(&["build", "fake"]).ended(2);
    printed!(said.notes());
}

#[test]
fn deps_name_files_that_are_there() {
    let place = place();
    let file = "experiments/fake/contenders/built/contender.toml";
    let text = place.read(file);
    let (before, variants) = text.split_once("[[variant]]").unwrap();
    for files in ["[]", "['list']", "['/tmp']"] {
        place.write(file, &format!("{before}[deps]\nfiles = {files}\nbuild = 'true'\n[[variant]]{variants}"));
        let said = place.kumite(&["build", "fake"]).ended(2);
        printed!(format!("# {files}\n{}", said.notes()));
    }
}

/// Built beside its libraries, for each change of its own file.
#[test]
fn a_changed_line_of_a_program_makes_no_libraries_anew() {
    let place = place();
    let (contender, libraries) = ("experiments/fake/contenders/built", place.path("libraries"));
    place.write(
        &format!("{contender}/contender.toml"),
        &format!(
            "version = 'cat lib/all line'\n[deps]\nfiles = ['list']\n\
             build = 'mkdir lib && cp list lib/all && echo x >> {}'\n\
             [[variant]]\nname = 'built'\nmodel = 'threads'\nrun = 'test -e lib/all && exec {} pong'\n",
            libraries.display(),
            fake().display(),
        ),
    );
    place.write(&format!("{contender}/list"), "libraries of ");
    for line in ["one", "two"] {
        place.write(&format!("{contender}/line"), line);
        let said = place.kumite(&["check", "fake"]).ended(0);
        printed!(said.report());
    }
    assert_eq!(place.read("libraries"), "x\n");
}
