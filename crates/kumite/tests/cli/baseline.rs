//! `kumite compare --save-baseline` and `--baseline`: the baseline that was kept is what runs, whatever has become of the
//! project since.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use kumite_testing::{eventually, process};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::counts::{loops, made};
use crate::place::{Place, Said};
use crate::printed::printed;
use crate::revisions;

/// A program that adds its letter to a file, so that each of its runs is seen.
const TOOL: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words) {
    FILE *runs = fopen(words[1], "a");
    fputs(LETTER, runs);
    fclose(runs);
    sleep(count > 2 ? 600 : 0);
    return FAILS;
}
"#;
const RUN: &str = "./tool runs";

/// Makes `tool` as a program with this letter and exit code, in place of the one before.
fn make(place: &Place, letter: &str, fails: u8) {
    place.write("tool.c", TOOL);
    let defined = [format!("-DLETTER=\"{letter}\""), format!("-DFAILS={fails}")];
    let mut compiler = Command::new("cc");
    compiler.args(defined).args(["-o", "tool.new", "tool.c"]).current_dir(place.path("."));
    let made = process::output(&mut compiler).unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::rename(place.path("tool.new"), place.path("tool")).unwrap();
}

fn place() -> Place {
    let place = Place::new("", &[]);
    make(&place, "1", 0);
    place
}

fn save(place: &Place, name: &str, more: &[&str]) -> Said {
    place.kumite(&[&["compare", RUN, "--runs", "2", "--save-baseline", name], more].concat())
}

/// The number of runs of each program since the last look.
fn runs(place: &Place) -> [usize; 2] {
    let runs = std::fs::read_to_string(place.path("runs")).unwrap_or_default();
    place.write("runs", "");
    ["1", "2"].map(|letter| runs.matches(letter).count())
}

/// All that is kept of a baseline: each file with its content.
fn kept(place: &Place, name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![place.path(".kumite/baselines").join(name)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push((path.clone(), std::fs::read(path).unwrap())),
            }
        }
    }
    files.sort();
    files
}

fn file(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(&format!(".kumite/baselines/{name}/baseline.json"))).unwrap()
}

#[test]
fn the_program_that_was_kept_is_what_runs_when_the_project_has_another() {
    let place = place();
    let saved = save(&place, "main", &[]).ended(0);
    printed!(saved.timeless());
    assert_eq!(runs(&place), [2, 0]);
    // Nothing was built since.
    printed!(place.kumite(&["compare", "--baseline", "main", "--runs", "1"]).ended(0).notes());
    assert_eq!(runs(&place), [2, 0]);
    let then = &file(&place, "main")["comparison"]["commands"][0];
    let program = std::fs::read(place.path("tool")).unwrap();
    make(&place, "2", 0);
    let said = place.kumite(&["compare", "--baseline", "main", "--runs", "3"]).ended(0);
    printed!(said.outcome());
    assert_eq!(runs(&place), [3, 3]);
    let arguments = ["compare", "--baseline", "main", "--runs", "3", "./tool runs", "--json", "-"];
    let result = place.kumite(&arguments).ended(0).json();
    assert_eq!(runs(&place), [3, 3]);
    assert_eq!(revisions::each(&result, "/name"), ["baseline main", RUN]);
    assert_eq!(revisions::each(&result, "/command"), [RUN, RUN]);
    assert_eq!((&result["pairs"][0]["a"], &result["pairs"][0]["b"]), (&RUN.into(), &"baseline main".into()));
    let [baseline, new] = [0, 1].map(|at: usize| &result["commands"][at]);
    assert!(new.get("baseline").is_none());
    assert_eq!(baseline["baseline"]["wall_s"], then["wall_s"], "the figures of then are shown");
    assert_ne!(baseline["wall_s"], then["wall_s"], "and those of now are others");
    assert_eq!(baseline["times"].as_array().unwrap().len(), 3);
    assert_eq!(baseline["baseline"]["program"]["bytes"], program.len());
    assert_eq!(baseline["baseline"]["program"]["word"], "./tool");
    let now = std::fs::read(place.path("tool")).unwrap();
    assert_eq!(revisions::each(&result, "/program_bytes"), [program.len(), now.len()]);
}

#[test]
fn a_baseline_is_replaced_whole_or_not_at_all() {
    let place = place();
    save(&place, "main", &[]).ended(0);
    make(&place, "2", 0);
    save(&place, "main", &[]).ended(0);
    assert_eq!(kept(&place, "main").len(), 2, "the file, and one program");
    make(&place, "1", 0);
    runs(&place);
    place.kumite(&["compare", "--baseline", "main", "--runs", "1"]).ended(0);
    assert_eq!(runs(&place), [1, 1], "the second program is kept");
    let before = kept(&place, "main");
    // A run fails; the program is another at the end; a hook fails; and what cannot be kept is refused.
    make(&place, "1", 1);
    printed!(save(&place, "main", &[]).ended(3).notes());
    make(&place, "1", 0);
    printed!(save(&place, "main", &["--cleanup", "cp tool t; echo >> t; mv t tool"]).ended(3).notes());
    save(&place, "main", &["--cleanup", "false"]).ended(3);
    place.kumite(&["compare", "sh -c true", "--save-baseline", "main"]).ended(2);
    assert_eq!(kept(&place, "main"), before);
    place.kumite(&["compare", "/bin/false", "--save-baseline", "other"]).ended(3);
    assert!(!place.path(".kumite/baselines/other").exists());
}

#[test]
fn an_interrupted_comparison_saves_nothing() {
    let place = place();
    save(&place, "main", &[]).ended(0);
    let before = kept(&place, "main");
    runs(&place);
    let mut command = place.command(&["compare", "./tool runs long", "--save-baseline", "main"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.read("runs") == "1");
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    Said::of(child.wait_with_output().unwrap()).ended(3);
    assert_eq!(kept(&place, "main"), before);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_revision_is_built_again_and_compared_with_the_files_as_they_are() {
    let place = revisions::project();
    let compare = |arguments: &[&str]| revisions::compare(&place, "project", arguments);
    let build = revisions::BUILD;
    let save = ["--rev", "main", "--build", build, revisions::TOOL, "--runs", "1", "--save-baseline", "fast"];
    printed!(compare(&save).ended(0).timeless());
    assert_eq!(revisions::builds(&place).len(), 1);
    let said = compare(&["--baseline", "fast"]).ended(0);
    printed!(said.timeless());
    printed!(said.outcome());
    let result = compare(&["--baseline", "fast", "--rev", "slow", "--json", "-"]).ended(0).json();
    assert_eq!(
        revisions::builds(&place).len(),
        2,
        "main was built, and the files as they are are those of slow"
    );
    assert_eq!(result["pairs"][0]["verdict"], "slower");
    let commits = ["main", "slow"].map(|name| revisions::git(&place, "project", &["rev-parse", name]));
    assert_eq!(
        revisions::each(&result, "/revision/commit"),
        commits.each_ref().map(|commit| commit.trim().to_owned())
    );
    assert_eq!(revisions::each(&result, "/revision/build"), [build, build]);
    // Its commit is no more what main is, and then it is gone.
    revisions::git(&place, "project", &["branch", "-f", "main", "slow"]);
    let result = compare(&["--baseline", "fast", "--rev", "main", "--json", "-"]).ended(0).json();
    assert_eq!(result["pairs"][0]["verdict"], "slower");
    let gone = place.read(".kumite/baselines/fast/baseline.json").replace(commits[0].trim(), &"0".repeat(40));
    place.write(".kumite/baselines/fast/baseline.json", &gone);
    printed!(compare(&["--baseline", "fast"]).ended(2).notes());
}

#[test]
fn the_flags_that_are_left_out_are_those_of_the_baseline() {
    let place = place();
    place.write("input", "");
    let flags =
        ["--prepare", "echo p >> hooks", "--env", "A='x y'", "--input", "input", "-i=3", "--shell", "sh -e"];
    save(&place, "main", &flags).ended(0);
    let of_file = &file(&place, "main")["flags"];
    place.write("hooks", "");
    let again = |more: &[&str]| {
        place.write("hooks", "");
        place
            .kumite(&[&["compare", "--baseline", "main", "--runs", "1", "--json", "-"], more].concat())
            .ended(0)
    };
    let result = again(&[]).json();
    assert_eq!(place.read("hooks"), "p\np\n");
    assert_eq!(revisions::each(&result, "/shell"), ["sh -e", "sh -e"]);
    again(&["--prepare", "echo q >> hooks"]);
    assert_eq!(place.read("hooks"), "q\nq\n");
    // One for each, in their order: the baseline is the first.
    again(&["--prepare", "echo q >> hooks", "--prepare", "true"]);
    assert_eq!(place.read("hooks"), "q\n");
    // What is typed counts, also where it is the default.
    std::fs::remove_file(place.path("input")).unwrap();
    again(&["--input", "null"]);
    let kept =
        ["prepare", "env", "input", "ignore_failure", "shell"].map(|flag| of_file[flag].as_str().unwrap());
    assert_eq!(kept, ["echo p >> hooks", "'A=x y'", "input", "3", "sh -e"]);
}

#[test]
fn a_gate_runs_the_baseline_twice() {
    let place = place();
    save(&place, "main", &[]).ended(0);
    make(&place, "2", 0);
    runs(&place);
    let arguments = ["compare", "--baseline", "main", "--gate", "--runs", "8", "--json", "-"];
    let result = place.kumite(&arguments).json();
    assert_eq!(runs(&place), [16, 8]);
    assert_eq!(result["control"]["contender"], "baseline main");
    assert!(result["gate"]["state"].is_string(), "{}", result["gate"]);
}

#[test]
fn what_cannot_be_kept_or_measured_is_refused_with_the_remedy() {
    let place = place();
    place.write("script", "#!/bin/sh\n./tool runs\n");
    std::fs::set_permissions(place.path("script"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    for refused in [
        &["compare", "gzip -V", "--save-baseline", "main"][..],
        &["compare", "./tool runs > out", "--save-baseline", "main"],
        &["compare", "./script", "--save-baseline", "main"],
        &["compare", "./absent", "--save-baseline", "main"],
        &["compare", RUN, RUN, "--save-baseline", "main"],
        &["compare", "./tool -H 'authorization: x'", "--save-baseline", "main"],
        &["compare", RUN, "--save-baseline", "../main"],
        &["compare", RUN, "--save-baseline", "main", "--baseline", "main"],
        &["compare", RUN, "--baseline", "main"],
        &["compare", "http://127.0.0.1:9/", "http://127.0.0.1:9/a", "--save-baseline", "main"],
    ] {
        printed!(place.kumite(refused).ended(2).notes());
    }
    assert_eq!(runs(&place), [0, 0]);
    save(&place, "main", &[]).ended(0);
    save(&place, "other", &[]).ended(0);
    printed!(place.kumite(&["compare", "--baseline", "mian"]).ended(2).notes());
    let again = |folder: &str| {
        let mut command = place.command(&["compare", "--baseline", "main", "--runs", "1"]);
        Said::of(command.current_dir(place.path(folder)).output().unwrap())
    };
    printed!(again("experiments").ended(2).notes());
    let text = place.read(".kumite/baselines/main/baseline.json");
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}: {text}");
        place.write(".kumite/baselines/main/baseline.json", &text.replace(from, to));
        again(".").ended(2).notes()
    };
    let arch = format!("\"arch\": \"{}\"", std::env::consts::ARCH);
    printed!(with(&arch, "\"arch\": \"z80\""));
    printed!(with("\"folder\": \"kept-", "\"folder\": \"../kept-"));
    printed!(with("\"form\": 1", "\"form\": 2"));
    printed!(with("\"form\": 1", "\"form\": 1, {"));
    printed!(with("\"folder\": \"kept-", "\"folder\": \"kept-no"));
    let program = kept(&place, "main").into_iter().find(|(path, _)| path.ends_with("tool")).unwrap().0;
    std::fs::write(program, "another").unwrap();
    printed!(with("\"form\": 1", "\"form\": 1"));
}

/// Its copy would load the library of another day, or none.
#[test]
fn a_program_with_a_library_of_the_project_is_not_kept() {
    let place = place();
    place.write("part.c", "int part(void) { return 0; }\n");
    place.write("main.c", "int part(void);\nint main(void) { return part(); }\n");
    made(&place, &["-shared", "-fPIC", "-o", "libpart.so", "part.c"]);
    let here = place.path(".").canonicalize().unwrap();
    for folder in [here.to_str().unwrap(), "$ORIGIN"] {
        let looks = format!("-Wl,-rpath,{folder}");
        made(&place, &["-o", "whole", "main.c", "-L.", "-lpart", &looks]);
        place.kumite(&["compare", "./whole", "--runs", "1"]).ended(0);
        printed!(place.kumite(&["compare", "./whole", "--save-baseline", "main"]).ended(2).notes());
    }
    made(&place, &["-o", "whole", "main.c", "part.c"]);
    place.kumite(&["compare", "./whole", "--runs", "1", "--save-baseline", "main"]).ended(0);
}

/// A shell's line may start anything on another day, so that nothing is kept of it but its instructions.
#[test]
fn what_cannot_be_measured_again_is_compared_by_its_instructions_alone() {
    let Some(place) = loops() else { return };
    let line = |turns: usize| format!("./loops loop {turns} > out");
    let fixed = ["compare", "--runs", "1", "--counts"];
    let save = |command: &str| place.kumite(&[&fixed, &["--save-baseline", "main", command][..]].concat());
    printed!(save(&line(1_000_000)).ended(0).notes());
    printed!(place.kumite(&["compare", "--baseline", "main"]).ended(2).notes());
    let compared = |command: &str| {
        let more = ["--baseline", "main", "--json", "-", command];
        let result = place.kumite(&[&fixed, &more[..]].concat()).ended(0).json();
        assert_eq!(result["pairs"], serde_json::json!([]), "no time is compared");
        assert_eq!(result["since"]["baseline"]["name"], "main");
        result["since"]["commands"][command].clone()
    };
    assert_eq!(compared(&line(1_000_000))["state"], "same");
    let more = compared(&line(1_500_000));
    assert_eq!(more["state"], "changed");
    assert!(more["ratio"]["high"].as_f64().unwrap() < 1.0, "the baseline is executed less: {more}");
    // What nothing was counted of is not saved, and the one before stays.
    let before = kept(&place, "main");
    printed!(save("true > out; :").ended(3).notes());
    assert_eq!(kept(&place, "main"), before);
}

/// A baseline lies with the user's data where the project has no folder for it, and each project has its own.
#[test]
fn each_project_has_its_own_baselines() {
    let place = place();
    std::fs::remove_dir(place.path(".kumite")).unwrap();
    for project in ["one", "two"] {
        std::fs::create_dir_all(place.path(project).join("sub")).unwrap();
        revisions::git(&place, project, &["init", "-q"]);
    }
    let tool = format!("{} runs", place.path("tool").display());
    let compare = |folder: &str, arguments: &[&str]| {
        let mut command = place.command(&[&["compare", "--runs", "1"], arguments].concat());
        Said::of(command.current_dir(place.path(folder)).output().unwrap())
    };
    compare("one/sub", &[&tool, "--save-baseline", "main"]).ended(0);
    compare("one/sub", &["--baseline", "main"]).ended(0);
    compare("two", &["--baseline", "main"]).ended(2);
    assert_eq!(revisions::git(&place, "one", &["status", "--porcelain", "--", ":!sub"]), "");
}
