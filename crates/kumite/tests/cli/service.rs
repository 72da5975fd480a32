//! Services beside contenders: there for them, counted, and gone after them.

mod command;

use std::process::{Child, Command, Stdio};

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::kit_test::fake_worker;
use crate::place::{Place, Said, standing, trial};
use crate::printed::printed;
use crate::schema::assert_right;

/// The fake adds up the numbers to n in its sleep.
const EXPERIMENT: &str = r#"
question = "Who adds up faster?"
kind = "task"
blocks = 1
[services.backend]
kind = "stub"
delay_ms = "$delay_ms"
body = "it's \"there\""
[workload]
n = 100
ms = 1
delay_ms = 0.5
[metrics]
added_bytes = { value = "worker", about = "Eight bytes for each number." }
[answer]
at = { "/sum" = 5050 }
"#;

/// An experiment with a worker that does this before it begins. Services keep their files in the place too, so that
/// nothing of them is overlooked.
fn place(experiment: &str, before: &str) -> Place {
    let place = Place::new("", &[]);
    place.write("experiments/fake/experiment.toml", experiment);
    let run = format!("{before} exec {} right {}", fake_worker().display(), place.mark());
    let text =
        format!("version = 'echo fake 1.0'\n[[variant]]\nname = 'a'\nmodel = 'threads'\nrun = '''{run}'''\n");
    place.write("experiments/fake/contenders/a/contender.toml", &text);
    place.write("tmp/empty", "");
    place
}

fn kumite(place: &Place, arguments: &[&str]) -> Said {
    Said::of(place.command(arguments).env("TMPDIR", place.path("tmp")).output().unwrap())
}

/// No process, no folder.
#[track_caller]
fn nothing_is_left(place: &Place) {
    eventually(|| place.left().is_empty());
    assert_eq!(std::fs::read_dir(place.path("tmp")).unwrap().count(), 1);
}

fn metrics(export: &Value) -> &Value {
    &standing(export)[0]["sample"]["metrics"]
}

#[test]
fn a_stub_is_there_for_a_contender_and_counts() {
    let load = format!(
        "echo $BACKEND_URL > ../../url; {} load $BACKEND_URL -n 5 -c 1 --json ../../load.json >/dev/null 2>&1;",
        env!("CARGO_BIN_EXE_kumite")
    );
    let place = place(EXPERIMENT, &load);
    let export = kumite(&place, &["run", "fake", "--json", "-"]).ended(0).json();
    assert_right("run", &export);
    assert!(place.read("experiments/fake/url").starts_with("http://127.0.0.1:"));
    let load: Value = serde_json::from_str(&place.read("experiments/fake/load.json")).unwrap();
    assert!(load["response_us"]["mean"].as_f64() >= Some(500.0), "{}", load["response_us"]);
    assert_eq!(metrics(&export)["backend_requests"], 5.0);
    assert!(metrics(&export)["backend_cpu_s"].as_f64() >= Some(0.0));
    assert_eq!(export["run"]["services"][0]["kind"], "stub");
    nothing_is_left(&place);
    kumite(&place, &["check", "fake"]).ended(0);
    kumite(&place, &["task", "fake", "--contender", "a"]).ended(0);
    nothing_is_left(&place);
}

/// A run that is in the middle of it.
fn begun(place: &Place) -> Child {
    let child = place
        .command(&["run", "fake", "--blocks", "1000"])
        .env("TMPDIR", place.path("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let trials = || place.path(".kumite/logs").read_dir().into_iter().flatten().flatten();
    let second = || trials().any(|run| run.path().join("0001-a.log").exists());
    eventually(second);
    child
}

#[test]
fn ctrl_c_ends_it() {
    let place = place(EXPERIMENT, "");
    let mut child = begun(&place);
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(3));
    nothing_is_left(&place);
}

#[test]
fn a_kumite_that_is_killed_leaves_no_process_and_the_next_one_clears_its_files() {
    let place = place(EXPERIMENT, "");
    let mut child = begun(&place);
    child.kill().unwrap();
    child.wait().unwrap();
    eventually(|| place.left().is_empty());
    kumite(&place, &["run", "fake"]).ended(0);
    nothing_is_left(&place);
}

/// A run where these tools are.
fn with_tools(place: &Place, scripts: &[(&str, &str)]) -> Said {
    for (name, script) in scripts {
        place.write(&format!("bin/{name}.sh"), &format!("#!/bin/sh\n{script}\n"));
        // Copied by another process: a child that another test is just starting has open what we write, and what is open to
        // be written cannot be executed.
        let copied = Command::new("install")
            .args(["-m", "755", &format!("{name}.sh"), name])
            .current_dir(place.path("bin"))
            .status();
        assert!(copied.unwrap().success());
    }
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = place.command(&["run", "fake", "--json", "-"]);
    Said::of(command.env("TMPDIR", place.path("tmp")).env("PATH", path).output().unwrap())
}

/// A PostgreSQL that says this and ends.
fn with_postgres_that(place: &Place, says: &str) -> Said {
    let postgres =
        format!("[ \"$1\" = --version ] && echo 'postgres (PostgreSQL) 15.1' && exit\n{says}\nexit 1");
    let scripts = [
        ("postgres", postgres.as_str()),
        ("initdb", "mkdir -p \"$DATA\""),
        ("psql", "exit 2"),
        ("setpriv", "while [ \"${1#--}\" != \"$1\" ]; do shift; done; exec \"$@\""),
    ];
    with_tools(place, &scripts)
}

#[test]
fn a_postgresql_that_cannot_start_is_one_error_with_the_end_of_its_log() {
    let experiment = EXPERIMENT.replace(STUB, "kind = \"postgresql\"");
    let place = place(&experiment, "");
    let said = with_postgres_that(&place, "echo 'FATAL:  data directory has no room'");
    let said = said.ended(3);
    printed!(said.notes());
    assert_eq!(said.err.matches("postgresql").count(), 1, "{}", said.err);
    nothing_is_left(&place);
}

const STUB: &str = "kind = \"stub\"\ndelay_ms = \"$delay_ms\"\nbody = \"it's \\\"there\\\"\"";

/// A script that says that it is a Java, and then does this.
fn java(does: &str) -> String {
    format!("[ \"$1\" = -version ] && echo 'openjdk version \"25.0.3\"' && exit\n{does}")
}

/// Fetches only where it may use the network.
const MAVEN: &str = "[ \"$1\" = -o ] && exit 1\necho a.jar:b.jar > class-path";

#[test]
fn a_dynamodb_is_fetched_filled_and_told() {
    let experiment = EXPERIMENT.replace(STUB, "kind = \"dynamodb\"\nsetup = \"items.json\"");
    let tell = "echo $BACKEND_URL $BACKEND_HOST $BACKEND_PORT > ../../told;";
    let place = place(&experiment, tell);
    place.write("experiments/fake/items.json", r#"[{"CreateTable": {}}, {"PutItem": {}}]"#);
    // Says yes to everything.
    let yes = format!(
        "for port; do :; done\necho $CLASSPATH\nexec {} stub --port $port",
        env!("CARGO_BIN_EXE_kumite")
    );
    let said = with_tools(&place, &[("java", &java(&yes)), ("mvn", MAVEN)]).ended(0);
    let fetching = "fetching DynamoDB Local 2.6.1 (for the service 'backend')";
    assert_eq!(said.err.matches(fetching).count(), 1, "{}", said.err);
    let export = said.json();
    assert_right("run", &export);
    assert_eq!(export["run"]["services"][0]["version"], "2.6.1, java 25.0.3");
    assert!(metrics(&export)["backend_cpu_s"].as_f64() >= Some(0.0));
    let told = place.read("experiments/fake/told");
    let [url, host, port] = told.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{told}") };
    assert_eq!((url, host), (format!("http://127.0.0.1:{port}").as_str(), "127.0.0.1"));
    nothing_is_left(&place);
}

#[test]
fn a_dynamodb_that_cannot_be_had_is_one_error() {
    let experiment = EXPERIMENT.replace(STUB, "kind = \"dynamodb\"");
    let no_network = "echo '[ERROR] Unknown host: no.network -> [Help 1]'\necho '[ERROR] more'\nexit 1";
    let dies = java("echo 'Address already in use'; exit 3");
    for mvn in [no_network, MAVEN] {
        let place = place(&experiment, "");
        let said = with_tools(&place, &[("java", &dies), ("mvn", mvn)]);
        printed!(said.notes());
        assert_eq!(said.err.matches("dynamodb").count(), 1, "{}", said.err);
        assert_ne!(said.code, 0, "{}", said.err);
        nothing_is_left(&place);
    }
}

#[test]
fn what_is_wrong_in_the_file_is_said_with_its_place() {
    let cases = [
        ("kind = \"stub\"", "kind = \"redis\""),
        ("\"$delay_ms\"", "\"$delay\""),
        ("body =", "sql ="),
        (STUB, "kind = \"command\"\nrun = \"x\"\nready = 1"),
        ("added_bytes =", "backend_cpu_s ="),
    ];
    for (from, to) in cases {
        let place = place(&EXPERIMENT.replace(from, to), "");
        let said = kumite(&place, &["run", "fake", "--dry-run"]).ended(2);
        printed!(format!("# {from} -> {to}\n{}", said.notes()));
    }
}

#[test]
fn a_point_that_cannot_be_measured_is_said_and_the_others_are_measured() {
    let more = "[axes]\ncores = [1, 4096]\n[[claim]]\nid = 'far'\nassert = 'elapsed_ms(a at cores=4096) > 1 ms'\n\
                [[claim]]\nid = 'here'\nassert = 'every $cores: elapsed_ms(a) > 1 ms'\n";
    let place = place(&format!("{EXPERIMENT}{more}"), "");
    let dry = kumite(&place, &["run", "fake", "--dry-run"]).ended(0);
    printed!(dry.report());
    let said = kumite(&place, &["run", "fake", "--json", "-"]).ended(0);
    printed!(said.notes());
    let export = said.json();
    assert_right("run", &export);
    assert_eq!(export["run"]["unavailable"][0]["point"]["cores"], 4096);
    assert_eq!(export["cells"].as_array().unwrap().len(), 1);
    let claim = &export["claims"][0];
    assert_eq!(claim["verdict"], "not-tested");
    assert_eq!(claim["reason"]["what"], "unavailable");
    assert!(claim["reason"]["why"].as_str().unwrap().starts_with("cores = 4096"), "{claim}");
    let claim = &export["claims"][1];
    assert_ne!(claim["verdict"], "not-tested");
    assert_eq!(claim["left_out"], 1, "{claim}");
    let report = kumite(&place, &["report", "last", "--markdown", "-"]).ended(0);
    assert!(
        report.out.contains("; 1 more at points that cannot be measured here are left out"),
        "{}",
        report.out
    );
}

/// An experiment with a benchmark that writes this.
fn benchmark(json: &str, more: &str) -> Place {
    let place = place(EXPERIMENT, "");
    let run = format!("echo $N > ../../n; cat jmh.json > \"$SCRATCH/jmh.json\"; {more}");
    let text = format!(
        "version = 'echo fake 1.0'\n[[variant]]\nname = 'b'\nmodel = 'threads'\nrun = '''{run}'''\nreads = 'jmh'\n"
    );
    place.write("experiments/fake/contenders/b/contender.toml", &text);
    place.write("experiments/fake/contenders/b/jmh.json", json);
    place
}

const JMH: &str = r#"[{"benchmark": "x", "mode": "avgt", "primaryMetric":
    {"score": 2.0, "scoreUnit": "ms/op", "rawData": [[1.0, 3.0]]}}]"#;

#[test]
fn a_benchmark_of_jmh_is_read() {
    let place = benchmark(JMH, "true");
    let export = kumite(&place, &["run", "fake", "--json", "-"]).ended(0).json();
    let trial = trial(&export, "b");
    assert_eq!(trial["outcome"], "ok", "{trial}");
    assert_eq!(trial["sample"]["metrics"]["elapsed_ms"], 2.0);
    assert_eq!(trial["sample"]["jobs"].as_array().unwrap().len(), 2);
    assert_eq!(place.read("experiments/fake/n"), "100\n", "it is told the parameters");
    kumite(&place, &["check", "fake"]).ended(0);
    nothing_is_left(&place);
}

#[test]
fn a_benchmark_that_goes_wrong_fails() {
    for (json, more, expected) in [
        ("nothing", "true", "is not JMH's JSON"),
        (JMH, "echo out of memory; exit 3", "it ended with status 3; its log: out of memory"),
    ] {
        let place = benchmark(json, more);
        let export = kumite(&place, &["run", "fake", "--json", "-", "--only", "a,b"]).ended(0).json();
        let trial = trial(&export, "b");
        let why = trial["reason"].as_str().unwrap_or_default();
        assert!(trial["outcome"] == "failed" && why.contains(expected), "{trial}");
        let said = kumite(&place, &["check", "fake"]).ended(1);
        printed!(said.report());
    }
}
