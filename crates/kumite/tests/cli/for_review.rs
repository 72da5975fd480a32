//! `--junit`, `--comment` and `--github`: results for machines and reviewers.

use crate::place::{Place, Said};
use crate::printed::{printed, without_figures};
use crate::stub::Stub;

/// All that a command has written for CI, where no figure can be the same twice. The whole report, on standard output and
/// folded below the summary, has the noise of the machine in it.
fn forms(place: &Place, said: &Said) -> String {
    let annotations: Vec<&str> = said.out.lines().take_while(|line| line.starts_with("::")).collect();
    let summary = place.read("summary.md");
    let summary = summary.split("<details>").next().unwrap();
    let files = [
        ("standard output", &*annotations.join("\n")),
        ("r.xml", &place.read("r.xml")),
        ("c.md", &place.read("c.md")),
        ("summary.md", summary),
    ];
    without_figures(&files.map(|(file, text)| format!("──── {file}\n\n{text}\n")).concat())
}

const FORMS: [&str; 5] = ["--junit", "r.xml", "--comment", "c.md", "--github"];

/// kumite in a job of GitHub Actions that has written a line of its own into its summary.
fn in_a_job(place: &Place, mut command: std::process::Command, arguments: &[&str]) -> Said {
    place.write("summary.md", "before\n");
    command.args(FORMS).env("GITHUB_STEP_SUMMARY", place.path("summary.md"));
    Said::after(arguments, kumite_testing::process::output(&mut command).unwrap())
}

/// Memory is counted, so that its verdict is the same on every machine.
#[test]
fn a_comparison_is_a_test_report_a_comment_and_annotations() {
    let place = Place::new("", &[]);
    let big = "head -c 30000000 /dev/zero | tail -n 1";
    for (other, status) in [(big, 1), ("true", 0)] {
        let metric = ["--metrics", "memory_peak_resident", "--runs", "9", "--gate"];
        let arguments = [&["compare", "true", other, "-n", "before", "-n", "after"][..], &metric].concat();
        let said = in_a_job(&place, place.command(&arguments), &arguments).ended(status);
        printed!(forms(&place, &said));
    }
}

#[test]
fn a_kept_comparison_has_the_same_forms() {
    let place = Place::new("", &[]);
    let arguments = ["compare", "true", "true", "-n", "a", "-n", "b", "--runs", "3", "--save", "it"];
    in_a_job(&place, place.command(&arguments), &arguments).ended(0);
    let then = ["r.xml", "c.md", "summary.md"].map(|file| place.read(file));
    in_a_job(&place, place.command(&["report", "it"]), &["report", "it"]).ended(0);
    assert_eq!(["r.xml", "c.md", "summary.md"].map(|file| place.read(file)), then);
}

#[test]
fn a_run_is_a_test_report_a_comment_and_annotations() {
    let claims = "[[claim]]\nid = 'it'\ntitle = 'The slow one serves more'\nassert = 'throughput_rps(slow) > throughput_rps(fast)'\n\
                  [[claim]]\nid = 'other'\nassert = 'throughput_rps(fast) > throughput_rps(slow)'\n";
    let place = Place::new(claims, &[("slow", "slow"), ("fast", "pong")]);
    let trial =
        |name, rps| format!("[[trial]]\ncontender = '{name}'\nmetrics = {{ throughput_rps = {rps} }}\n");
    place.write("script.toml", &(trial("slow", 300) + &trial("fast", 1000)));
    let arguments = ["run", "fake", "--gate"];
    let said = in_a_job(&place, place.scripted_command(&arguments), &arguments).ended(1);
    printed!(forms(&place, &said));
    let files = || ["r.xml", "c.md"].map(|file| place.read(file));
    let then = files();
    in_a_job(&place, place.command(&["report", "--gate"]), &["report", "--gate"]).ended(1);
    assert_eq!(files(), then);
}

#[test]
fn what_fails_is_an_error_of_the_test_report_though_there_are_no_figures() {
    let place = Place::new("", &[]);
    let arguments = ["compare", "true", "false", "-n", "before", "-n", "after"];
    let said = in_a_job(&place, place.command(&arguments), &arguments).ended(3);
    printed!(forms(&place, &said));
}

#[test]
fn what_cannot_begin_is_an_error_of_the_test_report() {
    let place = Place::new("", &[]);
    let arguments = ["compare", "true", "true", "--setup", "exit 4"];
    let said = in_a_job(&place, place.command(&arguments), &arguments).ended(3);
    printed!(forms(&place, &said));
}

#[test]
fn no_form_has_a_secret_of_a_command() {
    let place = Place::new("", &[]);
    let secret = "true 'authorization: Bearer abcdef'";
    let fails = "false 'authorization: Bearer abcdef'";
    for (other, status) in [("true", 0), (fails, 3)] {
        let control: &[&str] = if status == 0 { &["--control"] } else { &[] };
        let files = ["--json", "r.json", "--markdown", "r.md", "--html", "r.html", "--csv", "r.csv"];
        let arguments = [&["compare", secret, other, "--runs", "10"][..], control, &files].concat();
        let said = in_a_job(&place, place.command(&arguments), &arguments).ended(status);
        let mut all =
            vec![said.out, said.err, place.read("r.xml"), place.read("c.md"), place.read("summary.md")];
        if status == 0 {
            all.extend(["r.json", "r.md", "r.html", "r.csv"].map(|file| place.read(file)));
        }
        for text in all {
            assert!(!text.contains("abcdef"), "{text}");
        }
    }
}

#[test]
fn without_a_job_there_are_annotations_alone() {
    let place = Place::new("", &[]);
    let said =
        place.kumite(&["compare", "true", "true", "-n", "a", "-n", "b", "--runs", "3", "--github"]).ended(0);
    assert!(said.out.starts_with("::warning title="), "{}", said.out);
    assert!(!place.path("summary.md").exists());
}

#[test]
fn what_cannot_be_written_or_judged_is_refused_before_anything_is_run() {
    let place = Place::new("", &[]);
    let two = ["compare", "true", "touch ran"];
    let refused = |more: &[&str]| place.kumite(&[&two[..], more].concat()).ended(2).notes();
    let mut texts = vec![
        refused(&["--github", "--json", "-"]),
        refused(&["--junit", "-", "--comment", "-"]),
        refused(&["--junit", "none/r.xml"]),
    ];
    let mut in_no_folder = place.command(&[&two[..], &["--github"]].concat());
    in_no_folder.env("GITHUB_STEP_SUMMARY", place.path("none/summary.md"));
    let output = kumite_testing::process::output(&mut in_no_folder).unwrap();
    texts.push(Said::after(&["compare", "true", "touch ran", "--github"], output).ended(2).notes());
    assert!(!place.path("ran").exists());
    let stub = Stub::start(&place, &[]);
    place.kumite(&["load", &stub.url, "-n", "10", "--save", "load"]).ended(0);
    texts.push(place.kumite(&["report", "load", "--comment", "c.md"]).ended(2).notes());
    printed!(texts.concat());
}
