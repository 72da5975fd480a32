use std::path::PathBuf;

use kumite_record::{Diagnosis, Equipment, Finding, Fitness, NeedFound};
use kumite_report::{Style, diagnosis};

fn need(need: &str, state: Fitness, version: Option<&str>, missing: Option<&str>) -> NeedFound {
    NeedFound {
        need: need.to_owned(),
        state,
        version: version.map(str::to_owned),
        path: missing.is_none().then(|| PathBuf::from("/usr/bin/tool")),
        missing: missing.map(str::to_owned),
    }
}

fn equipment(contenders: &[&str], state: Fitness, needs: Vec<NeedFound>) -> Equipment {
    Equipment {
        experiment: "fake".to_owned(),
        contenders: contenders.iter().map(ToString::to_string).collect(),
        state,
        needs,
        error: None,
        remedy: None,
    }
}

fn found() -> Diagnosis {
    let governor = Finding::ok("cpu", "governor", "powersave").but(
        Fitness::Limited,
        "the clock of a CPU rises only under load, so a short trial is slower than a long one",
        "cpupower frequency-set -g performance",
    );
    let missing = need("a-tool-of-a-long-name >= 20", Fitness::Missing, None, Some("not on PATH"));
    let unreadable = Equipment {
        error: Some("c/contender.toml:1:1: unknown key".to_owned()),
        ..equipment(&[], Fitness::Unknown, Vec::new())
    };
    Diagnosis {
        schema: Diagnosis::SCHEMA,
        kumite: "0.1.0".to_owned(),
        findings: vec![
            Finding::ok("cpu", "cpus", "2 CPUs"),
            governor,
            Finding::unknown("clock", "source", "cannot be read"),
        ],
        contenders: vec![
            equipment(&["a", "a-4"], Fitness::Ok, vec![need("sh", Fitness::Ok, Some("5.2"), None)]),
            Equipment {
                remedy: Some("see https://example.org".to_owned()),
                ..equipment(&["b"], Fitness::Missing, vec![missing])
            },
            unreadable,
        ],
    }
}

#[test]
fn what_will_not_do_has_its_consequence_and_its_remedy() {
    insta::assert_snapshot!("diagnosis", diagnosis(&found(), &Style { color: false, width: 70 }));
}

#[test]
fn nothing_is_said_by_colour_alone() {
    let coloured = diagnosis(&found(), &Style { color: true, width: 70 });
    let plain = diagnosis(&found(), &Style { color: false, width: 70 });
    assert_ne!(coloured, plain);
    assert_eq!(without_colours(&coloured), plain);
}

/// Without the codes for colours.
fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn without_experiments_there_are_no_tools() {
    let of = Diagnosis { findings: Vec::new(), contenders: Vec::new(), ..found() };
    insta::assert_snapshot!("diagnosis_of_nothing", diagnosis(&of, &Style { color: false, width: 70 }));
}
