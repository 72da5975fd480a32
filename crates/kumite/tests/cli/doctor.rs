use crate::place::{Place, Said};
use crate::printed::{printed, without_figures};

const GROUPS: [&str; 6] = ["cpu", "memory", "limits", "cgroups", "rights", "clock"];

/// The lines on tools, and the headings above: the rest is of this machine. So are dead mounts of disks, which another
/// kumite may have left.
fn tools(said: &Said) -> String {
    let (machine, tools) = said.out.split_once("\nTOOLS").unwrap_or((&said.out, ""));
    let is_heading = |line: &&str| !line.is_empty() && !line.starts_with(' ') && *line != "DISKS";
    let headings = machine.lines().filter(is_heading);
    without_figures(&format!("{}\nTOOLS{tools}", headings.collect::<Vec<_>>().join("\n")))
}

#[test]
fn the_machine_is_looked_at_and_nothing_is_changed() {
    let place = Place::new("", &[("a", "pong")]);
    let said = place.kumite(&["doctor"]).ended(0);
    printed!(tools(&said));
    assert!(!said.out.contains('\x1b') && said.err.is_empty(), "{}{}", said.out, said.err);
    assert!(place.kept().is_empty(), "nothing is written");
}

#[test]
fn programs_can_read_it() {
    let place = Place::new("", &[("a", "pong")]);
    let json = place.kumite(&["doctor", "--json"]).ended(0).json();
    let schema = place.kumite(&["schema", "doctor"]).ended(0).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert_eq!(wrong, [""; 0]);
    let findings = json["findings"].as_array().unwrap();
    for group in GROUPS {
        assert!(findings.iter().any(|finding| finding["group"] == group), "{group}");
    }
    for finding in findings {
        let unmet = finding["state"] == "limited" || finding["state"] == "missing";
        assert_eq!(unmet, finding["consequence"].is_string() && finding["remedy"].is_string(), "{finding}");
    }
    let reading = findings.iter().find(|finding| finding["name"] == "reading").unwrap();
    let cost = reading["figures"]["cost_ns"].as_f64().unwrap();
    assert!((1.0..1e6).contains(&cost), "measured: {cost}");
    place.kumite(&["doctor", "--json", "d.json"]).ended(0);
    assert!(place.read("d.json").contains("\"overshoot_p99_us\""));
}

#[test]
fn what_a_contender_lacks_is_named_with_how_to_get_it() {
    let place = Place::new("", &[("a", "pong")]);
    place.contender("b", "pong", "needs = ['no-such-tool >= 2', 'sh']\ninstall.get = 'https://example.org'");
    let said = place.kumite(&["doctor"]).ended(0);
    printed!(tools(&said));
}

#[test]
fn a_tool_that_says_no_version_and_a_file_that_is_wrong_do_not_stop_it() {
    let place = Place::new("", &[]);
    place.contender("b", "pong", "needs = ['true >= 1']");
    let said = place.kumite(&["doctor"]).ended(0);
    printed!(tools(&said));
    place.contender("b", "pong", "need = 1");
    let said = place.kumite(&["doctor"]).ended(0);
    printed!(tools(&said));
    let nothing = tempfile::tempdir().unwrap();
    let output = place.command(&["doctor"]).current_dir(nothing.path()).output().unwrap();
    let said = crate::place::Said::of(output).ended(0);
    printed!(tools(&said));
}
