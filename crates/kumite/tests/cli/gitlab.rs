//! The example for GitLab in docs/ci.md: its YAML is a job, and its script does in a repository what the page says.

use std::path::Path;
use std::process::Command;

use kumite_testing::process::output;
use saphyr::{LoadableYamlNode, Yaml};

use crate::place::Place;

/// The job, as the page has it.
fn example() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, after) = page.split_once("## On GitLab").unwrap();
    let (_, block) = after.split_once("```yaml\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

fn git(place: &Place, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=ann", "-c", "user.email=ann@example.org"]).args(arguments);
    command.current_dir(place.path("project"));
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")]);
    let done = output(&mut command).unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

#[test]
fn the_gitlab_example_is_a_job_that_fails_where_a_change_is_slower_and_says_so_among_the_tests() {
    let text = example();
    assert!(text.lines().count() <= 10, "{text}");
    let documents = Yaml::load_from_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let job = &documents[0]["slower"];
    let script: Vec<&str> =
        job["script"].as_vec().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
    let report = job["artifacts"]["reports"]["junit"].as_str().unwrap();
    assert_eq!(job["artifacts"]["when"].as_str(), Some("always"));
    assert_eq!(job["rules"][0]["if"].as_str(), Some(r#"$CI_PIPELINE_SOURCE == "merge_request_event""#));

    let place = Place::new("", &[]);
    place.write("project/Makefile", "program: source\n\tcp source program && chmod +x program\n");
    place.write("project/.gitignore", "/program\n/slower.xml\n");
    let takes = |seconds: &str| place.write("project/source", &format!("#!/bin/sh\nexec sleep {seconds}\n"));
    takes("0.05");
    git(&place, &["init", "-q", "-b", "main"]);
    let commit = |what: &str| {
        git(&place, &["add", "-A"]);
        git(&place, &["commit", "-q", "-m", what]);
        git(&place, &["rev-parse", "HEAD"])
    };
    let base = commit("the first");
    takes("0.3");
    commit("slower");

    // GitLab runs the lines of a script in one shell, which ends with the first that fails.
    let kumite = Path::new(env!("CARGO_BIN_EXE_kumite"));
    let path = format!("{}:{}", kumite.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", &script.join("\n")]).current_dir(place.path("project"));
    shell.envs([("PATH", &*path), ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base)]);
    shell.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")]);
    shell.env("KUMITE_LOCK", place.path("measuring.lock")).env("XDG_CACHE_HOME", place.path("cache"));
    shell.env("XDG_DATA_HOME", place.path("data"));
    let ended = output(&mut shell).unwrap();
    let said = String::from_utf8_lossy(&ended.stdout).into_owned() + &String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let xml = std::fs::read_to_string(place.path("project").join(report)).unwrap();
    let read = roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{error}\n{xml}"));
    let failed = read.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
    let case = failed.parent().and_then(|case| case.attribute("name")).unwrap();
    assert_eq!(case, format!("HEAD against {base}: wall time"));
}
