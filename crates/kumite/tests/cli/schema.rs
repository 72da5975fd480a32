use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::place::{Place, Said, nobody};
use crate::printed::printed;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn kumite(arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kumite"));
    Said::of(command.args(arguments).stdin(Stdio::null()).output().unwrap()).ended(0)
}

fn schema(name: &str) -> Value {
    kumite(&["schema", name]).json()
}

/// The faults of a document, a line each.
fn wrong(schema: &Value, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[track_caller]
pub fn assert_right(name: &str, document: &Value) {
    assert_eq!(wrong(&schema(name), document), [""; 0], "{name}");
}

fn toml(text: &str) -> Value {
    toml::from_str(text).unwrap()
}

fn names() -> Vec<String> {
    let list = kumite(&["schema"]).out;
    list.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn there_is_a_list_and_each_of_it_is_a_schema() {
    let names = names();
    assert_eq!(
        names,
        [
            "experiment",
            "contender",
            "functions",
            "scenario",
            "run",
            "replication",
            "load",
            "found-rate",
            "slo",
            "compare",
            "selfcheck",
            "stub",
            "play",
            "disk",
            "doctor"
        ]
    );
    for name in names {
        assert!(jsonschema::meta::is_valid(&schema(&name)), "{name}");
    }
    let unknown = Command::new(env!("CARGO_BIN_EXE_kumite")).args(["schema", "dance"]).output().unwrap();
    let unknown = Said::of(unknown).ended(2);
    printed!(unknown.notes());
}

#[test]
fn every_key_is_described_in_words_for_people() {
    fn walk(at: &str, value: &Value, seen: &mut usize) {
        if let Some(text) = value["description"].as_str() {
            assert!(!text.contains("[`") && !text.contains('\n'), "{at}: {text}");
        }
        for (name, property) in value["properties"].as_object().into_iter().flatten() {
            *seen += 1;
            assert!(property["description"].is_string(), "{at}/{name} has no description");
        }
        let inside: Vec<(String, &Value)> = match value {
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value)).collect(),
            Value::Array(list) => {
                list.iter().enumerate().map(|(nth, value)| (nth.to_string(), value)).collect()
            }
            _ => Vec::new(),
        };
        for (key, value) in inside {
            walk(&format!("{at}/{key}"), value, seen);
        }
    }
    for name in names() {
        let mut seen = 0;
        walk(&name, &schema(&name), &mut seen);
        assert!(seen > 5, "{name} describes {seen} keys");
    }
}

#[test]
fn the_files_of_this_repository_are_right() {
    let root = Path::new(REPOSITORY).join("experiments");
    let folders = |root: &Path| -> Vec<_> {
        let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_dir()).collect()
    };
    let mut contenders = 0;
    for experiment in folders(&root) {
        let read = |file: &Path| toml(&std::fs::read_to_string(file).unwrap());
        assert_right("experiment", &read(&experiment.join("experiment.toml")));
        for folder in folders(&experiment.join("contenders")) {
            assert_right("contender", &read(&folder.join("contender.toml")));
            contenders += 1;
        }
    }
    assert!(contenders > 0);
}

#[test]
fn the_examples_of_the_kinds_are_right() {
    let pages = std::fs::read_dir(Path::new(REPOSITORY).join("docs/kinds")).unwrap();
    let text: String = pages.map(|page| std::fs::read_to_string(page.unwrap().path()).unwrap()).collect();
    let examples: Vec<Value> =
        text.split("```toml\n").skip(1).map(|after| toml(after.split("```").next().unwrap())).collect();
    assert!(examples.len() >= 4);
    for example in examples {
        assert_right(if example["version"].is_string() { "contender" } else { "experiment" }, &example);
    }
}

/// The blocks of code of a kind's page from this heading on, or from its beginning, as files of an experiment.
fn experiment_of_page(kind: &str, heading: &str, files: &[&str]) -> Place {
    let page = std::fs::read_to_string(Path::new(REPOSITORY).join(format!("docs/kinds/{kind}.md"))).unwrap();
    let place = Place::new("", &[]);
    let page = &page[page.find(heading).unwrap()..];
    let blocks = page.split("```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap().1);
    for (file, text) in files.iter().zip(blocks) {
        place.write(&format!("experiments/page/{file}"), text);
    }
    place
}

#[test]
fn the_whole_example_of_a_page_is_one_that_kumite_checks() {
    let http = ["contenders/threads/contender.toml", "contenders/threads/server.py", "experiment.toml"];
    let requests = ["contenders/site/contender.toml", "contenders/site/server.py", "experiment.toml"];
    let command = ["contenders/gzip/contender.toml", "experiment.toml"];
    let python = "contenders/python/";
    let task =
        ["protocol", &format!("{python}double.py"), &format!("{python}contender.toml"), "experiment.toml"];
    for (kind, heading, files) in [
        ("http", "", &http[..]),
        ("http", "## Several requests, and sessions", &requests),
        ("command", "", &command),
        ("task", "", &task),
    ] {
        let place = experiment_of_page(kind, heading, files);
        if kind == "task" {
            let kit =
                std::fs::read_to_string(Path::new(REPOSITORY).join("kits/python/kumite_kit.py")).unwrap();
            place.write("experiments/page/kits/python/kumite_kit.py", &kit);
        }
        let said = place.kumite(&["check", "page"]).ended(0);
        printed!(said.words());
    }
}

#[test]
fn what_is_wrong_in_a_file_is_wrong_for_its_schema() {
    let experiment = r#"
question = "Which?"
kind = "http"
blocks = 6
[workload]
duration_s = 1
[axes]
connections = [1, 10]
[profiles.quick]
workload.duration_s = 0.5
points = [{ connections = [1, 10], contenders = ["a"] }, { connections = 1 }]
[services.backend]
kind = "stub"
body = "x"
[services.cache]
kind = "command"
run = "serve $PORT"
ready = { tcp = true }
[[claim]]
id = "x"
assert = "failures(a) = 0"
"#;
    let contender = r#"
needs = ["go >= 1.22"]
version = "true"
[install]
apt = ["golang-go"]
[[variant]]
name = "a-b_1"
model = "threads"
run = "true"
"#;
    let cases = [
        ("experiment", experiment, "kind = \"http\"", "kind = \"dance\""),
        ("experiment", experiment, "question =", "questions ="),
        ("experiment", experiment, "blocks = 6", "blocks = 0"),
        ("experiment", experiment, "duration_s = 1", "duration_s = 0"),
        ("experiment", experiment, "duration_s = 1", "duration = 1"),
        ("experiment", experiment, "connections = [1, 10]\n", "connections = []\n"),
        ("experiment", experiment, "connections = [1, 10]\n", "connections = [1, 1]\n"),
        ("experiment", experiment, "workload.duration_s = 0.5", "workload.durations_s = 0.5"),
        ("experiment", experiment, "assert =", "asserts ="),
        ("experiment", experiment, "kind = \"stub\"", "kind = \"redis\""),
        ("experiment", experiment, "body = \"x\"", "setup = \"x\""),
        ("experiment", experiment, "run = \"serve $PORT\"\n", ""),
        ("experiment", experiment, "{ tcp = true }", "{ udp = true }"),
        ("contender", contender, "version =", "versions ="),
        ("contender", contender, "model = \"threads\"", "model = \"magic\""),
        ("contender", contender, "name = \"a-b_1\"", "name = \"a--b\""),
        ("contender", contender, "name = \"a-b_1\"", "name = \"contender\""),
        ("contender", contender, "[[variant]]", "[variant]"),
        ("contender", contender, "apt = [\"golang-go\"]", "apt = \"golang-go\""),
    ];
    for (name, text, from, to) in cases {
        assert_right(name, &toml(text));
        assert_ne!(wrong(&schema(name), &toml(&text.replace(from, to))), [""; 0], "{to}");
    }
}

#[test]
fn what_commands_write_is_as_described() {
    let claims = "[[claim]]\nid = 'x'\nassert = 'throughput_rps(a) > 1 /s'\n";
    let place = Place::new(claims, &[("a", "pong"), ("b", "slip")]);
    let run = place.kumite(&["run", "fake", "--blocks", "2", "--json", "-"]).ended(0).json();
    assert_eq!(run["claims"][0]["id"], "x");
    assert_right("run", &run);
    assert_right("run", &place.kumite(&["export", "last"]).ended(0).json());
    let mut less = run.clone();
    less["run"].as_object_mut().unwrap().remove("seed");
    assert_eq!(wrong(&schema("run"), &less), ["/run: \"seed\" is a required property"]);

    let (addr, _port) = nobody();
    let url = format!("http://{addr}/");
    let nobody = place.kumite(&["load", &url, "-n", "2", "-c", "1", "--json", "-"]).ended(1);
    assert_right("load", &nobody.json());
}
