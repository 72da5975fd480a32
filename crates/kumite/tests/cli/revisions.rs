//! `kumite compare --rev`, with repositories that each test makes. No test needs the network.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::place::{EXPERIMENT, Place, Said};
use crate::printed::printed;

pub const BUILD: &str = "sh build";
pub const TOOL: &str = "sh tool";

/// git in a folder of the place, as on a machine without settings, on one day.
pub fn git(place: &Place, folder: &str, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    let settings =
        ["-c", "user.name=ann", "-c", "user.email=ann@example.org", "-c", "protocol.file.allow=always"];
    command.args(settings).args(arguments).current_dir(place.path(folder));
    alone(&mut command);
    let done = command.output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn alone(command: &mut Command) {
    let variables = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"),
        ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
    ];
    command.envs(variables);
}

pub fn commit(place: &Place, folder: &str, what: &str) {
    git(place, folder, &["add", "-A"]);
    git(place, folder, &["commit", "-q", "-m", what]);
}

/// A repository whose branch `slow` is slower than `main`. Each build adds a line to `builds`.
pub fn project() -> Place {
    let place = Place::new("", &[]);
    place.write("project/work", "exec sleep 0.05\n");
    place.write("project/build", "cp work tool; pwd >> \"$BUILDS\"\n");
    place.write("project/.gitignore", "/tool\n/ignored\n");
    place.write("project/sub/here", "");
    git(&place, "project", &["init", "-q", "-b", "main"]);
    commit(&place, "project", "the first");
    git(&place, "project", &["checkout", "-q", "-b", "slow"]);
    place.write("project/work", "exec sleep 0.3\n");
    commit(&place, "project", "slower");
    place
}

fn command(place: &Place, folder: &str, arguments: &[&str]) -> Command {
    let mut command = place.command(&[&["compare"], arguments].concat());
    alone(&mut command);
    command.current_dir(place.path(folder)).env("BUILDS", place.path("builds"));
    command
}

pub fn compare(place: &Place, folder: &str, arguments: &[&str]) -> Said {
    let said = command(place, folder, arguments).output().unwrap();
    Said::after(&[&["compare"], arguments].concat(), said)
}

/// The folders in which something was built, in the order of the builds.
pub fn builds(place: &Place) -> Vec<String> {
    let builds = std::fs::read_to_string(place.path("builds")).unwrap_or_default();
    builds.lines().map(str::to_owned).collect()
}

/// The commands of a comparison, by a member of each.
pub fn each(result: &Value, of: &str) -> Vec<Value> {
    result["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command.pointer(of).unwrap().clone())
        .collect()
}

/// All files below a folder with their content, and what git says of it.
fn state(place: &Place, folder: &str) -> (Vec<(String, Vec<u8>)>, String, String) {
    fn add(folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => add(&path, files),
                false => files.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default())),
            }
        }
    }
    let mut files = Vec::new();
    add(&place.path(folder), &mut files);
    files.sort();
    let status = git(place, folder, &["--no-optional-locks", "status", "--porcelain", "--branch"]);
    (files, status, git(place, folder, &["worktree", "list", "--porcelain"]))
}

#[test]
fn each_revision_is_built_once_and_the_repository_is_as_it_was() {
    let place = project();
    place.write("project/untracked", "");
    place.write("project/ignored", "");
    let before = state(&place, "project");
    let arguments = ["--rev", "main", "--rev", "slow", "--build", BUILD, TOOL];
    let said = compare(&place, "project", &arguments).ended(0);
    printed!(said.notes());
    printed!(said.outcome());
    let again = compare(&place, "project", &arguments).ended(0);
    printed!(again.notes());
    printed!(again.outcome());
    let result = compare(&place, "project", &[&arguments[..], &["--json", "-"]].concat()).ended(0).json();
    assert_eq!(each(&result, "/name"), ["main", "slow"]);
    let commits = ["main", "slow"].map(|name| git(&place, "project", &["rev-parse", name]).trim().to_owned());
    assert_eq!(each(&result, "/revision/commit"), commits);
    assert_eq!(each(&result, "/revision/was_cached"), [true, true]);
    assert!(each(&result, "/revision/build_s").iter().all(|seconds| seconds.as_f64().unwrap() > 0.0));
    assert_eq!(result["pairs"][0]["verdict"], "slower");
    let built = builds(&place);
    assert!(built.len() == 2 && built[0] != built[1] && built[0].len() == built[1].len(), "{built:?}");
    assert_eq!(state(&place, "project"), before);
    let anew = compare(&place, "project", &[&arguments[..], &["--no-cache"]].concat()).ended(0);
    printed!(anew.notes());
    assert_eq!(builds(&place).len(), 4);
}

/// What a build reads is another build; so is another command, and another content of a named variable.
#[test]
fn a_build_is_found_again_by_all_that_it_reads() {
    let place = project();
    let built = |build: &str, name: &str, value: &str| {
        let arguments = ["--rev", "main", "--build", build, "--build-env", "NAMED", "--runs", "1", TOOL];
        let mut command = command(&place, "project", &arguments);
        let said = Said::of(command.env(name, value).output().unwrap()).ended(0);
        assert!(said.code == 0);
        builds(&place).len()
    };
    assert_eq!(built(BUILD, "OTHER", "1"), 1);
    assert_eq!(built(BUILD, "OTHER", "2"), 1);
    assert_eq!(built(BUILD, "NAMED", "1"), 2);
    assert_eq!(built(BUILD, "NAMED", "2"), 3);
    assert_eq!(built(BUILD, "CFLAGS", "-O2"), 4);
    assert_eq!(built("sh  build", "OTHER", "1"), 4, "the same words");
    assert_eq!(built("sh build x", "OTHER", "1"), 5);
}

#[test]
fn a_command_and_its_hooks_run_in_the_folder_of_the_revision() {
    let place = project();
    let out = place.path("folders");
    let says = |what: &str| format!("echo {what} $(pwd) {{dir}} >> {}", out.display());
    let (setup, prepare, conclude, cleanup) =
        (says("setup"), says("prepare"), says("conclude"), says("cleanup"));
    let run = format!("sh -c '{}'", says("run"));
    let arguments = [
        "--rev",
        "main",
        "--rev",
        "slow",
        "--runs",
        "1",
        "--setup",
        &setup,
        "--prepare",
        &prepare,
        "--conclude",
        &conclude,
        "--cleanup",
        &cleanup,
        "--output",
        "out",
        &run,
    ];
    compare(&place, "project/sub", &arguments).ended(0);
    let said = place.read("folders");
    let mut folders: Vec<(&str, &str)> = Vec::new();
    for line in said.lines() {
        let [what, here, named] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        assert!(here == named && here.ends_with("/project/sub"), "{line}");
        folders.push((what, here));
    }
    let of = |wanted: &str| -> Vec<&str> {
        let mut of: Vec<&str> =
            folders.iter().filter(|(what, _)| *what == wanted).map(|(_, folder)| *folder).collect();
        of.sort_unstable();
        of
    };
    let first = of("run");
    assert!(first.len() == 2 && first[0] != first[1] && first[0].len() == first[1].len(), "{first:?}");
    for hook in ["setup", "prepare", "conclude", "cleanup"] {
        assert_eq!(of(hook), first, "{hook}");
    }
    assert!(place.path("project/sub/out").exists(), "a file is where the user is");
    let nowhere = |arguments: &[&str]| {
        std::fs::create_dir_all(place.path("project/new")).unwrap();
        compare(&place, "project/new", arguments).ended(2).notes()
    };
    printed!(nowhere(&["--rev", "main", "true"]));
    printed!(nowhere(&["--rev", "main", "-L", "dir", "a,b", "true"]));
}

#[test]
fn what_cannot_be_had_is_said_with_the_remedy() {
    let place = project();
    let said = |folder: &str, code: i32, arguments: &[&str]| {
        let said = compare(&place, folder, arguments).ended(code);
        said.notes()
    };
    place.write("elsewhere/x", "");
    printed!(
        [
            said("project", 2, &["--rev", "nothing", "true"]),
            said("project", 2, &["--rev", "-x", "true"]),
            said("project", 2, &["--rev", "main...nothing", "true"]),
            said("elsewhere", 2, &["--rev", "main", "true"]),
            said("project", 2, &["--build-env", "X", "true"]),
            said("project", 2, &["--no-cache", "true"]),
            said("project", 2, &["--rev", "main", "http://127.0.0.1:1/", "http://127.0.0.1:2/"]),
            said("project", 3, &["--rev", "main", "--build", "echo so much; exit 7", "true"]),
            said("project", 3, &["--rev", "main", "--rev", "slow", "--build", "grep -q 0.05 work", "true"]),
            said("project", 3, &["--rev", "main", "--rev", "slow", "grep -q 0.05 work"]),
            said("project", 3, &["--rev", "main", "--rev", "slow", "--prepare", "grep -q 0.05 work", "true"]),
        ]
        .concat()
    );
    // The failed build is not kept, and its log is.
    assert_eq!(builds(&place), [""; 0]);
    let logs: Vec<String> = std::fs::read_dir(place.path(".kumite/builds"))
        .unwrap()
        .map(|log| std::fs::read_to_string(log.unwrap().path()).unwrap())
        .filter(|log| !log.is_empty())
        .collect();
    assert_eq!(logs, ["so much\n"]);
}

#[test]
fn a_shallow_clone_that_lacks_a_commit_says_how_to_get_it() {
    let place = project();
    let from = format!("file://{}", place.path("project").display());
    git(&place, ".", &["clone", "-q", "--depth", "1", "--no-single-branch", &from, "shallow"]);
    let before = state(&place, "shallow");
    let refused = |arguments: &[&str]| compare(&place, "shallow", arguments).ended(2).notes();
    printed!(
        [
            refused(&["--rev", "HEAD~1", "--rev", "HEAD", TOOL]),
            refused(&["--rev", "main", "--rev", "HEAD", TOOL]),
            refused(&["--rev", "origin/main...HEAD", "--rev", "HEAD", TOOL]),
        ]
        .concat()
    );
    // What is there can be compared, on a detached head that no branch has, too.
    git(&place, "shallow", &["checkout", "-q", "--detach"]);
    place.write("shallow/work", "exec sleep 0.4\n");
    commit(&place, "shallow", "of nobody");
    let detached = state(&place, "shallow");
    let arguments = ["--rev", "origin/main", "--rev", "HEAD", "--build", BUILD, "--json", "-", TOOL];
    let result = compare(&place, "shallow", &arguments).ended(0).json();
    assert_eq!(result["pairs"][0]["verdict"], "slower");
    assert_eq!(state(&place, "shallow"), detached);
    assert_ne!(before, detached);
}

#[test]
fn the_working_tree_is_what_is_there_without_what_is_ignored() {
    let place = project();
    let before = git(&place, "project", &["rev-parse", "HEAD"]);
    let of = |arguments: &[&str]| {
        let arguments =
            [&["--rev", ".", "--runs", "1", "--json", "-", "--build", "pwd >> \"$BUILDS\""], arguments]
                .concat();
        let result = compare(&place, "project", &[&arguments[..], &["true"]].concat()).ended(0).json();
        result["commands"][0]["revision"].clone()
    };
    let clean = of(&[]);
    assert_eq!((&clean["commit"], &clean["changed"]), (&before.trim().into(), &Value::Null));
    place.write("project/work", "exec sleep 0.03\n");
    place.write("project/new file", "new\n");
    place.write("project/ignored", "1");
    std::fs::remove_file(place.path("project/sub/here")).unwrap();
    std::fs::create_dir_all(place.path("project/sub/deep")).unwrap();
    std::os::unix::fs::symlink("../../work", place.path("project/sub/deep/link")).unwrap();
    let state_before = state(&place, "project");
    let dirty = of(&[]);
    assert_eq!(dirty["commit"], before.trim());
    assert!(dirty["changed"].is_string() && dirty["was_cached"] == false, "{dirty}");
    let tree = builds(&place).pop().unwrap();
    let mut there: Vec<String> = git(&place, &tree, &["status", "--porcelain", "-z", "-uall", "--ignored"])
        .split_terminator('\0')
        .map(str::to_owned)
        .collect();
    there.sort();
    assert_eq!(there, [" D sub/here", " M work", "?? new file", "?? sub/deep/link"]);
    assert_eq!(std::fs::read_link(format!("{tree}/sub/deep/link")).unwrap(), Path::new("../../work"));
    assert_eq!(state(&place, "project"), state_before);
    // What is ignored is no other tree, and a change is.
    place.write("project/ignored", "2");
    assert_eq!(of(&[])["changed"], dirty["changed"]);
    place.write("project/new file", "newer\n");
    assert_ne!(of(&[])["changed"], dirty["changed"]);
}

#[test]
fn submodules_are_those_of_the_users_own_copy() {
    let place = project();
    for (name, text) in [("part", "part 1"), ("inner", "inner 1"), ("unused", "unused 1")] {
        place.write(&format!("{name}/text"), text);
        git(&place, name, &["init", "-q", "-b", "main"]);
        commit(&place, name, "the first");
    }
    git(&place, "part", &["submodule", "--quiet", "add", "../inner", "inner"]);
    commit(&place, "part", "with a part of its own");
    git(&place, "project", &["submodule", "--quiet", "add", "../part", "lib/part"]);
    git(&place, "project", &["submodule", "--quiet", "add", "../unused", "lib/unused"]);
    git(&place, "project", &["submodule", "--quiet", "update", "--init", "--recursive"]);
    commit(&place, "project", "one");
    place.write("part/text", "part 2");
    commit(&place, "part", "the second");
    git(&place, "project/lib/part", &["pull", "-q"]);
    commit(&place, "project", "two");
    git(&place, "project", &["submodule", "--quiet", "deinit", "lib/unused"]);
    std::fs::remove_dir_all(place.path("project/.git/modules/lib/unused")).unwrap();
    // The upstream is not asked: it is gone.
    for name in ["part", "inner", "unused"] {
        std::fs::remove_dir_all(place.path(name)).unwrap();
    }
    let before = state(&place, "project");
    let read = "cat lib/part/text lib/part/inner/text lib/unused/text >> ../../../../texts 2>/dev/null; true";
    let arguments = ["--rev", "HEAD~1", "--rev", "HEAD", "--runs", "1", "--build", read, "true"];
    let said = compare(&place, "project", &arguments).ended(0);
    printed!(said.notes());
    assert_eq!(state(&place, "project"), before);
    place.write("project/lib/part/text", "part 3");
    let arguments = ["--rev", ".", "--runs", "1", "--build", read, "true"];
    compare(&place, "project", &arguments).ended(0);
    let texts = std::fs::read_to_string(place.path("cache/kumite/texts")).unwrap();
    assert_eq!(texts, "part 1inner 1part 2inner 1part 3inner 1");
    // A commit that the user's copy does not have.
    git(&place, "project/lib/part", &["checkout", "-q", "-f", "HEAD"]);
    let tree = "160000,1111111111111111111111111111111111111111,lib/part";
    git(&place, "project", &["update-index", "--cacheinfo", tree]);
    git(&place, "project", &["commit", "-q", "-m", "three"]);
    printed!(compare(&place, "project", &["--rev", "HEAD", "true"]).ended(3).notes());
}

#[test]
fn two_builds_of_one_revision_are_two_trees() {
    let place = project();
    let build = "echo \"exec sleep {seconds}\" > tool; pwd >> \"$BUILDS\"";
    let arguments = ["-L", "seconds", "0.01,0.3", "--build", build, TOOL];
    let said = compare(&place, "project", &arguments).ended(0);
    printed!(said.outcome());
    let built = builds(&place);
    assert!(built.len() == 2 && built[0] != built[1], "{built:?}");
}

#[test]
fn the_reference_of_a_gate_is_where_the_revision_left_the_default_branch() {
    let place = project();
    git(&place, "project", &["checkout", "-q", "main"]);
    place.write("project/work", "exec sleep 2\n");
    commit(&place, "project", "main has gone on");
    git(&place, "project", &["checkout", "-q", "slow"]);
    let shut = compare(&place, "project", &["--rev", "HEAD", "--gate", "--build", BUILD, TOOL]).ended(1);
    printed!(shut.outcome());
    place.write("project/work", "exec true\n");
    let arguments = ["--rev", ".", "--gate", "--build", BUILD, "--json", "-", TOOL];
    let result = compare(&place, "project", &arguments).ended(0).json();
    assert_eq!(each(&result, "/name"), ["main...HEAD", "."]);
    assert_eq!(each(&result, "/revision/commit")[0], git(&place, "project", &["rev-parse", "slow~1"]).trim());
    assert_eq!(result["gate"]["state"], "open");
    git(&place, "project", &["branch", "-q", "-m", "main", "trunk"]);
    printed!(compare(&place, "project", &["--rev", "HEAD", "--gate", TOOL]).ended(2).notes());
    let with = ["--rev", "trunk...", "--rev", "HEAD", "--gate", "--build", BUILD, TOOL];
    printed!(compare(&place, "project", &with).ended(1).outcome());
    // On the default branch itself.
    git(&place, "project", &["checkout", "-q", "-f", "trunk"]);
    git(&place, "project", &["branch", "-q", "-m", "trunk", "main"]);
    let arguments = ["--rev", "HEAD", "--gate", "--max-runs", "9", "true"];
    let said = compare(&place, "project", &arguments);
    printed!(said.ended(0).notes());
}

/// What one comparison leaves in a tree would be an advantage in the next one.
#[test]
fn a_tree_that_was_written_to_is_made_anew() {
    let place = project();
    let arguments = ["--rev", "main", "--build", BUILD, "--runs", "1"];
    let writes = |file: &str| format!("sh -c 'touch {file}'");
    let (inside, outside) = (writes("left"), writes("../../../../outside"));
    let first = compare(&place, "project", &[&arguments[..], &[&inside]].concat()).ended(0);
    printed!(first.notes());
    let second = compare(&place, "project", &[&arguments[..], &[&outside]].concat()).ended(0);
    printed!(second.notes());
    let third = compare(&place, "project", &[&arguments[..], &["true"]].concat()).ended(0);
    printed!(third.notes());
    assert_eq!(builds(&place).len(), 2);
}

#[test]
fn two_at_once_build_a_revision_once() {
    let place = project();
    let build = format!(
        "touch {}; until [ -e {} ]; do sleep 0.01; done; sh build",
        place.path("begun").display(),
        place.path("go").display()
    );
    let arguments = ["--rev", "slow", "--build", &build, "--runs", "1", TOOL];
    let start = || {
        let mut command = command(&place, "project", &arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let first = start();
    eventually(|| place.path("begun").exists());
    let mut second = start();
    let mut lines = BufReader::new(second.stderr.take().unwrap()).lines();
    printed!(lines.next().unwrap().unwrap());
    place.write("go", "");
    Said::of(first.wait_with_output().unwrap()).ended(0);
    Said::of(second.wait_with_output().unwrap()).ended(0);
    assert_eq!(builds(&place).len(), 1);
}

#[test]
fn ctrl_c_in_a_build_leaves_nothing() {
    let place = project();
    let build = format!("echo $$ > {}; sleep 600 # {}", place.path("begun").display(), place.mark());
    let arguments = ["--rev", "slow", "--build", &build, TOOL];
    let mut command = command(&place, "project", &arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    eventually(|| place.path("begun").exists());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    printed!(Said::of(child.wait_with_output().unwrap()).ended(3).notes());
    assert_eq!(place.left(), [""; 0]);
    let cached = std::fs::read_dir(place.path("cache/kumite/builds")).unwrap().count();
    assert_eq!(cached, 0, "half a build is left");
}

/// An experiment with these contenders in a repository of the place's. What each says of its version is in its folder.
fn experiment(contenders: &[&str]) -> Place {
    let place = Place::new("", &[]);
    let text = EXPERIMENT.replace("blocks = 6", "blocks = 12\nheadline = \"throughput_rps\"");
    let closed = text.replace("rate_rps = 200\n", "").replace("connections = 40\n", "");
    let claim = "[[claim]]\nid = \"old\"\nassert = \"throughput_rps(a at connections=1) > 2 /s\"\n";
    let points = "[axes]\nconnections = [1, 8]\n[[points]]\nconnections = 1\n[[points]]\nconnections = 8\ncontenders = ['b']\n";
    place.write("experiments/fake/experiment.toml", &format!("{closed}{points}{claim}"));
    for name in contenders {
        let variant = format!("[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = 'exec false'\n");
        let file = format!("experiments/fake/contenders/{name}");
        place.write(&format!("{file}/contender.toml"), &format!("version = 'cat version'\n{variant}"));
        place.write(&format!("{file}/version"), "1.0\n");
    }
    place.write(".gitignore", "/.kumite\n/cache\n/data\n/script.toml\n/measuring.lock\n");
    git(&place, ".", &["init", "-q", "-b", "main"]);
    commit(&place, ".", "the first");
    place
}

/// By script: no contender is started, and so no figure is measured.
#[test]
fn each_contender_of_an_experiment_is_judged_against_itself_at_another_revision() {
    let place = experiment(&["a", "b", "gone"]);
    for name in ["a", "b"] {
        place.write(&format!("experiments/fake/contenders/{name}/version"), "2.0\n");
    }
    std::fs::remove_dir_all(place.path("experiments/fake/contenders/gone")).unwrap();
    place.write(
        "script.toml",
        r#"
[[trial]]
takes_ms = 500
metrics = { throughput_rps = [1000, 1001, 1002, 1001, 1000], response_p50_us = 100, cpu_cores = 0.5, peak_rss_bytes = 1e6, failures = 0 }
[[trial]]
contender = "b-after"
metrics = { throughput_rps = 300 }
"#,
    );
    let run = |arguments: &[&str]| {
        let arguments = [&["run", "fake"], arguments].concat();
        let mut command = place.scripted_command(&arguments);
        alone(&mut command);
        Said::after(&arguments, command.output().unwrap())
    };
    let said = run(&["--rev", "main", "--rev", ".", "--seed", "4", "--json", "r.json"]).ended(0);
    printed!(said.report());
    printed!(said.notes());
    let export: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let of = |list: &str, members: [&str; 2]| -> Vec<[Value; 2]> {
        let list = export[list].as_array().unwrap();
        list.iter().map(|of| members.map(|member| of[member].clone())).collect()
    };
    assert_eq!(
        of("contenders", ["name", "version"]),
        [["a-after", "2.0"], ["a-before", "1.0"], ["b-after", "2.0"], ["b-before", "1.0"]]
    );
    assert_eq!(
        of("claims", ["id", "verdict"]),
        [["a-1", "no-difference"], ["b-1", "fails"], ["b-2", "fails"]]
    );
    let revisions = export["run"]["revisions"].as_array().unwrap();
    assert_eq!(revisions.len(), 2);
    assert!(revisions[0]["changed"].is_null() && revisions[1]["changed"].is_string());
    assert_eq!(place.scripted(&["report", "--json", "-"]).ended(0).json()["claims"], export["claims"]);
    assert_eq!(run(&["--rev", "main", "--rev", ".", "--dry-run"]).code, 0);
    printed!(place.scripted(&["replicate", "r.json"]).ended(2).notes());
    printed!(place.scripted(&["again"]).ended(2).notes());
    printed!(run(&["--rev", "main"]).ended(2).notes());
    printed!(run(&["--rev", "main", "--rev", "nothing"]).ended(2).notes());
    let file = place.read("experiments/fake/experiment.toml");
    place.write("experiments/fake/experiment.toml", &file.replace("throughput_rps\"\n", "throughput\"\n"));
    printed!(run(&["--rev", "main", "--rev", "."]).ended(2).notes());
    place.write("experiments/fake/experiment.toml", &file.replace("headline = \"throughput_rps\"\n", ""));
    printed!(run(&["--rev", "main", "--rev", "."]).ended(2).notes());
}
