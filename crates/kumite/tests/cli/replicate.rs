//! A run that somebody else made, tried here; and two runs beside each other.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use serde_json::{Value, json};

use crate::place::{Place, Said};
use crate::printed::printed;
use crate::schema::assert_right;

const CLAIMS: &str = r#"
[[claim]]
id = "a-first"
title = "A serves more than B."
assert = "throughput_rps(a) > throughput_rps(b)"
[[claim]]
id = "a-fast"
assert = "throughput_rps(a) > 110 /s"
"#;

/// Where a is this much faster than b.
fn place(ratio: f64) -> Place {
    let place = Place::new(CLAIMS, &[("a", "pong"), ("b", "pong")]);
    script(&place, ratio);
    place
}

fn script(place: &Place, ratio: f64) {
    let script = format!(
        "[[trial]]\ncontender = 'a'\nmetrics.throughput_rps = {}\n\
         [[trial]]\ncontender = 'b'\nmetrics.throughput_rps = 100.0\n",
        100.0 * ratio
    );
    place.write("script.toml", &script);
}

/// The run of another kumite, in which a was 1.2 times as fast as b.
fn theirs(place: &Place, change: impl FnOnce(&mut Value)) {
    let now = place.read("script.toml");
    script(place, 1.2);
    let mut export = place.scripted(&["run", "fake", "--json", "-"]).ended(0).json();
    export["run"]["kumite"] = json!("0.0.9");
    change(&mut export);
    place.write("theirs.json", &export.to_string());
    place.write("script.toml", &now);
}

/// The project.
const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

const REPLICATE: &[&str] = &["replicate", "theirs.json"];

#[test]
fn what_comes_out_alike_here_is_the_same_verdict_and_the_end_is_a_good_one() {
    let place = place(1.3);
    theirs(&place, |_| ());
    printed!(place.scripted(REPLICATE).ended(0).report());
}

#[test]
fn what_comes_out_otherwise_here_is_another_verdict_and_ends_with_1() {
    let place = place(0.9);
    theirs(&place, |_| ());
    let said = place.scripted(REPLICATE).ended(1);
    printed!(said.report());
    printed!(said.notes());
    let document = place.scripted(&["replicate", "theirs.json", "--json", "-"]).ended(1).json();
    assert_right("replication", &document);
    let claims = document["claims"].as_array().unwrap();
    let of = |key: &str| claims.iter().map(|claim| claim[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("outcome"), ["another", "another"]);
    assert_eq!(of("intervals"), ["apart", "apart"]);
    assert_eq!(document["names"], json!(["theirs", "here"]));
}

#[test]
fn a_run_that_was_ended_early_tells_nothing_and_that_is_no_contradiction() {
    let place = place(1.2);
    theirs(&place, |_| ());
    printed!(place.scripted(&["replicate", "theirs.json", "--blocks", "2"]).ended(0).report());
}

#[test]
fn a_contender_that_has_changed_is_named_with_both_digests_and_one_that_is_gone_is_not_tried() {
    let place = place(1.2);
    place.contender("c", "pong", "");
    theirs(&place, |export| {
        let contenders = export["contenders"].as_array_mut().unwrap();
        contenders[0]["digests"]["source"] = json!("0123456789abcdef");
        contenders[1]["version"] = json!("fake 0.9");
        contenders[2]["name"] = json!("gone");
        export["run"]["spec"] = json!(place.read("experiments/fake/experiment.toml").replace("110", "115"));
        export["claims"][1]["assert"] = json!("throughput_rps(a) > 115 /s");
    });
    let report = place.scripted(REPLICATE).ended(0).report();
    let digest = regex::Regex::new(r"(0123456789ab… +)[0-9a-f]{12}…").unwrap();
    printed!(digest.replace(&report, "${1}DIGEST…"));
}

#[test]
fn another_folder_and_a_store_are_taken_as_well() {
    let place = place(1.2);
    theirs(&place, |_| ());
    place.scripted(&["run", "fake", "--db", "theirs.db"]).ended(0);
    place.scripted(&["replicate", "theirs.db"]).ended(0);
    std::fs::rename(place.path("experiments/fake"), place.path("elsewhere")).unwrap();
    let said = place.scripted(&["replicate", "theirs.db", "--experiment", "elsewhere"]).ended(0);
    printed!(said.report());
}

/// Each is refused before anything is built.
#[test]
fn what_cannot_be_tried_here_is_refused() {
    let place = place(1.2);
    theirs(&place, |_| ());
    let export: Value = serde_json::from_str(&place.read("theirs.json")).unwrap();
    let changed = |file: &str, change: &dyn Fn(&mut Value)| {
        let mut export = export.clone();
        change(&mut export);
        place.write(file, &export.to_string());
    };
    changed("unknown.json", &|of| of["run"]["experiment"] = json!("fakes"));
    changed("path.json", &|of| of["run"]["experiment"] = json!("../experiments/fake"));
    changed("newer.json", &|of| of["schema"] = json!(99));
    changed("profile.json", &|of| of["run"]["profile"] = json!("theirs"));
    changed("spec.json", &|of| of["run"]["spec"] = json!("question = "));
    changed("no-verdicts.json", &|of| of["claims"] = json!([]));
    changed("unfinished.json", &|of| {
        of["claims"] = json!([]);
        of["run"]["finished"] = Value::Null;
    });
    changed("others.json", &|of| {
        for contender in of["contenders"].as_array_mut().unwrap() {
            contender["name"] = json!("somebody");
        }
    });
    place.write("text.json", "not JSON");
    place.write("other.json", r#"{"schema": 5, "commands": []}"#);
    place.write("broken.db", "SQLite format 3\0 and nothing else");
    let commands: &[&[&str]] = &[
        &["replicate", "nothing.json"],
        &["replicate", "unknown.json"],
        &["replicate", "path.json"],
        &["replicate", "newer.json"],
        &["replicate", "profile.json"],
        &["replicate", "spec.json"],
        &["replicate", "no-verdicts.json"],
        &["replicate", "unfinished.json"],
        &["replicate", "others.json"],
        &["replicate", "text.json"],
        &["replicate", "other.json"],
        &["replicate", "broken.db"],
        &["replicate", "theirs.json", "--experiment", "nowhere"],
        &["replicate", "theirs.json", "--only", "nobody"],
        &["replicate", "theirs.json", "--run", "2026"],
        &["replicate", "theirs.json", "--svg", "picture.svg"],
        &["report", "theirs.json", "nothing.json"],
        &["report", "theirs.json", "theirs.json", "--gate"],
        &["report", "theirs.json", "theirs.json", "--svg", "picture.svg"],
    ];
    let begun = place.kept().len();
    let sessions = commands.iter().map(|arguments| {
        let said = place.scripted(arguments);
        assert!(said.code > 1 && said.out.is_empty(), "{arguments:?}: {}\n{}", said.code, said.out);
        said.notes()
    });
    printed!(sessions.collect::<Vec<_>>().join("\n"));
    assert_eq!(place.kept().len(), begun, "nothing was built");
}

#[test]
fn two_runs_are_set_beside_each_other_and_nothing_is_measured() {
    let place = place(0.9);
    theirs(&place, |_| ());
    let second = place.scripted(&["run", "fake", "--json", "-"]).ended(0).out;
    place.write("second.json", &second);
    let begun = place.kumite(&["list", "--runs"]).ended(0).out;
    printed!(place.kumite(&["report", "theirs.json", "second.json"]).ended(0).report());
    printed!(place.kumite(&["report", "theirs.json", "last", "--markdown", "-"]).ended(0).report());
    assert_eq!(place.kumite(&["list", "--runs"]).ended(0).out, begun);
}

/// Every text of a document, with its place.
fn each_text(value: &mut Value, key: &str, change: &mut dyn FnMut(&str, &mut String)) {
    match value {
        Value::String(text) => change(key, text),
        Value::Array(all) => all.iter_mut().for_each(|one| each_text(one, key, change)),
        Value::Object(all) => all.iter_mut().for_each(|(key, one)| each_text(one, key, change)),
        _ => {}
    }
}

/// A pipe that is noticed when it is opened.
struct Watched {
    is_open: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<()>,
    pipe: std::path::PathBuf,
}

impl Watched {
    fn new(pipe: &Path) -> Watched {
        nix::unistd::mkfifo(pipe, Mode::S_IRWXU).unwrap();
        let is_open = Arc::new(AtomicBool::new(false));
        let (flag, path) = (Arc::clone(&is_open), pipe.to_owned());
        // It waits until somebody opens the other end.
        let thread = std::thread::spawn(move || {
            std::fs::OpenOptions::new().write(true).open(path).unwrap();
            flag.store(true, Ordering::SeqCst);
        });
        Watched { is_open, thread, pipe: pipe.to_owned() }
    }

    fn was_opened(self) -> bool {
        let was = self.is_open.load(Ordering::SeqCst);
        drop(open(&self.pipe, OFlag::O_RDONLY | OFlag::O_NONBLOCK, Mode::empty()).unwrap());
        self.thread.join().unwrap();
        was
    }
}

/// A run whose commands, paths, services, builds and versions are all somebody's wish to have something done.
#[test]
fn nothing_of_an_export_is_executed_and_no_path_of_it_is_opened() {
    let place = place(1.2);
    std::fs::create_dir_all(place.path("planted/contenders/a")).unwrap();
    let planted = place.path("planted").display().to_string();
    let ran = place.path("ran").display().to_string();
    let watched = [
        Watched::new(&place.path("planted/experiment.toml")),
        Watched::new(&place.path("planted/contenders/a/contender.toml")),
        Watched::new(&place.path("planted/pipe")),
    ];
    let touch = format!("touch {ran}");
    let service = format!(
        "[services.mine]\nkind = 'command'\nrun = '{touch}'\n[setup]\nrun = '{touch}'\n[install]\napt = ['$({touch})']\n"
    );
    theirs(&place, |export| {
        let spec = export["run"]["spec"].as_str().unwrap().to_owned();
        let mut changed = 0;
        let of_run = ["command", "experiment_given", "question", "kumite", "cut_short"];
        for key in of_run {
            let text = if key == "experiment_given" { planted.clone() } else { touch.clone() };
            export["run"][key] = if key == "question" { json!({"text": text}) } else { json!(text) };
        }
        export["run"]["spec"] = json!(format!("{spec}\n{service}"));
        export["run"]["services"] = json!([{"name": touch, "kind": touch, "version": touch}, {"name": "x", "kind": "command", "version": planted}]);
        export["run"]["roles"] =
            json!([{"role": "server", "node": {"name": touch, "machine": export["machine"]}}]);
        export["run"]["published"] = json!({"note": touch, "beside": [], "main": [], "rows": []});
        let pipe = format!("{planted}/pipe");
        for part in ["contenders", "trials", "warnings", "machine"] {
            each_text(&mut export[part], "", &mut |key, text| {
                if [
                    "version", "reason", "model", "log", "what", "place", "kernel", "os", "cpu", "source",
                    "tools",
                ]
                .contains(&key)
                {
                    *text = if changed % 2 == 0 { touch.clone() } else { pipe.clone() };
                    changed += 1;
                }
            });
        }
        assert!(changed > 10, "{changed} texts are planted");
    });
    let said = place.scripted(REPLICATE).ended(0);
    // The record was read: its wishes are among what differs.
    assert!(said.out.contains(&format!("touch {ran}")[..20]), "{}", said.out);
    for form in ["--json", "--html", "--markdown"] {
        place.kumite(&["report", "theirs.json", "theirs.json", form, "-"]).ended(0);
        place.kumite(&["report", "theirs.json", form, "-"]).ended(0);
    }
    place.scripted(&["replicate", "theirs.json", "--html", "page.html", "--markdown", "page.md"]).ended(0);
    assert!(!Path::new(&ran).exists(), "a command of the export ran");
    let opened = watched.map(Watched::was_opened);
    assert_eq!(opened, [false; 3]);
}

/// A title, a cleared screen, a C1 sequence, a turned direction, a colour; a script, and the end of a tag.
const HOSTILE: &str =
    "\u{1b}]0;PWN\u{7}\u{1b}[2J\u{9b}31m\u{202e}\u{1b}[31m<script>alert(1)</script>\"'>|`*_\nevil";

#[test]
fn texts_of_a_stranger_act_neither_on_a_terminal_nor_on_a_page() {
    let place = place(1.2);
    theirs(&place, |export| {
        let keys = [
            "version",
            "reason",
            "kernel",
            "os",
            "cpu",
            "source",
            "tools",
            "title",
            "published",
            "text",
            "kumite",
            "profile",
        ];
        for part in ["run", "contenders", "machine", "claims"] {
            each_text(&mut export[part], "", &mut |key, text| {
                if keys.contains(&key) {
                    *text = HOSTILE.to_owned();
                }
            });
        }
        export["claims"][0]["id"] = json!(HOSTILE);
        export["claims"][1]["decided_by"]["sides"]["left"]["contender"] = json!(HOSTILE);
        let spec = export["run"]["spec"].as_str().unwrap().to_owned();
        let escaped = "\\u001b[2J\\u202e<script>";
        export["run"]["spec"] = json!(format!("{spec}\n[metrics.\"{escaped}\"]\nvalue = \"{escaped}\"\n"));
    });
    let acts =
        |c: char| (c.is_control() && !['\n', '\t'].contains(&c)) || ('\u{202a}'..='\u{202e}').contains(&c);
    let harmless = |said: &Said| {
        for text in [&said.out, &said.err] {
            assert!(!text.contains(acts), "{text:?}");
        }
    };
    let said = place.scripted(&["replicate", "theirs.json", "--profile", "standard"]);
    assert!(said.out.contains("evil"), "{}{}", said.out, said.err);
    harmless(&said);
    let beside = |form: &[&str]| place.kumite(&[&["report", "theirs.json", "last"], form].concat()).ended(0);
    harmless(&beside(&[]));
    for form in ["--html", "--markdown"] {
        let said = beside(&[form, "-"]);
        harmless(&said);
        assert!(said.out.contains("evil") && !said.out.contains("<script>alert"), "{}", said.out);
    }
}

/// The experiment of a found run, as it is below experiments/, with contenders of the same names that do nothing; and the
/// trials that are as that run's cells, but for one contender, which is so many times as much of everything.
fn of_found_run(name: &str, other: &str, times: f64) -> Place {
    let place = Place::new("", &[]);
    let (from, to) = (Path::new(REPOSITORY).join("experiments").join(name), format!("experiments/{name}"));
    std::fs::create_dir_all(place.path(&format!("{to}/contenders/all"))).unwrap();
    for entry in std::fs::read_dir(&from).unwrap().flatten().filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), place.path(&to).join(entry.file_name())).unwrap();
    }
    std::fs::copy(from.join("found/standard.json.gz"), place.path("theirs.json.gz")).unwrap();
    let found = kumite_record::Export::read(&place.path("theirs.json.gz")).unwrap();
    // Ours may ask other things by now.
    place.write(&format!("{to}/experiment.toml"), &found.run.spec);
    let mut contender = "version = 'echo 1'\n".to_owned();
    for of in &found.contenders {
        contender += &format!("[[variant]]\nname = '{}'\nmodel = '{}'\nrun = 'true'\n", of.name, of.model);
    }
    place.write(&format!("{to}/contenders/all/contender.toml"), &contender);
    let mut script = String::new();
    for cell in &found.cells {
        let factor = if cell.contender == other { times } else { 1.0 };
        script += &format!("[[trial]]\ncontender = '{}'\n", cell.contender);
        for (axis, value) in &cell.point.0 {
            script += &format!("at.{axis} = {}\n", json!(value));
        }
        for (metric, estimate) in &cell.metrics {
            script += &format!("metrics.{metric} = {:?}\n", factor * estimate.estimate);
        }
        let Some(within) = &found.run.within else { continue };
        let parts = found.parts.iter().filter(|part| part.contender == cell.contender).filter_map(|part| {
            let mut point = part.point.clone();
            let at = json!(point.0.remove(&within.axis)?);
            let metric = |(metric, estimate): (&String, &kumite_record::Estimate)| {
                format!("{metric} = {:?}", factor * estimate.estimate)
            };
            let metrics: Vec<String> = part.metrics.iter().map(metric).collect();
            let part = format!("{{ at = {at}, metrics = {{ {} }} }}", metrics.join(", "));
            (point == cell.point).then_some(part)
        });
        script += &format!("parts = [{}]\n", parts.collect::<Vec<_>>().join(", "));
    }
    place.write("script.toml", &script);
    place
}

/// Without what this machine is, what its digests of contenders are, and how this kumite measures.
fn of_any_machine(said: &Said) -> String {
    let digest = regex::Regex::new("[0-9a-f]{12}…").unwrap();
    let report = digest.replace_all(&said.report(), "DIGEST…").into_owned();
    let measures = regex::Regex::new(r"(\(MEASURES\) +– +)\d+").unwrap();
    let report = measures.replace_all(&report, "${1}OURS").into_owned();
    let lines = report.lines().filter(|line| !line.starts_with("machine, "));
    lines.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn a_found_run_of_functions_is_tried_here() {
    let place = of_found_run("fib", "nobody", 1.0);
    printed!(of_any_machine(&place.scripted(&["replicate", "theirs.json.gz"]).ended(0)));
}

#[test]
fn a_found_run_of_tasks_is_tried_here_and_one_contender_is_slower() {
    let place = of_found_run("nplus1", "reactor-blocking", 0.5);
    printed!(of_any_machine(&place.scripted(&["replicate", "theirs.json.gz"]).ended(1)));
}

#[test]
fn a_found_run_of_workers_on_one_core_and_two_is_tried_here() {
    let place = of_found_run("async-api", "nobody", 1.0);
    printed!(of_any_machine(&place.scripted(&["replicate", "theirs.json.gz"]).ended(0)));
}

#[test]
fn near_ties_of_an_earlier_run_are_named_before_the_next() {
    let place = Place::new(CLAIMS, &[("a", "pong"), ("b", "pong")]);
    let script = "[[trial]]\ncontender = 'a'\nmetrics.throughput_rps = [117.0, 122.0]\n\
        [[trial]]\ncontender = 'b'\nmetrics.throughput_rps = 100.0\n";
    place.write("script.toml", script);
    printed!(place.scripted(&["run", "fake", "--dry-run"]).ended(0).report());
    // A is a fifth faster than b, which is clear; and 9 % above the second border, which is not.
    place.scripted(&["run", "fake"]).ended(0);
    printed!(place.scripted(&["run", "fake", "--dry-run"]).ended(0).report());
    // A plan of six blocks is a fault of its own.
    printed!(place.kumite(&["check", "fake"]).ended(1).report());
    // The experiment's own run serves where none is kept.
    std::fs::create_dir(place.path("experiments/fake/found")).unwrap();
    place.kumite(&["export", "last", "-o", "experiments/fake/found/standard.json.gz"]).ended(0);
    printed!(place.scripted(&["run", "fake", "--dry-run", "--db", "other.db"]).ended(0).report());
    // Another border is another question.
    let text = place.read("experiments/fake/experiment.toml").replace("110", "115");
    place.write("experiments/fake/experiment.toml", &text);
    printed!(place.scripted(&["run", "fake", "--dry-run"]).ended(0).report());
}
