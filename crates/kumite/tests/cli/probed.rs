//! What the machine charges before each trial, and between the blocks of a comparison, by the process that asks it.

use kumite_record::{Comparison, Export, Probe};
use serde_json::from_str;

use crate::place::Place;

/// The command lines of the processes that ask, of all kumites that this test has started.
fn probers(place: &Place) -> Vec<String> {
    let mark = place.mark();
    let read = |entry: &std::fs::DirEntry, file: &str| {
        String::from_utf8_lossy(&std::fs::read(entry.path().join(file)).unwrap_or_default()).into_owned()
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter(|process| read(process, "environ").contains(&mark));
    ours.map(|process| read(&process, "cmdline")).filter(|line| line.contains("--prober")).collect()
}

#[test]
fn every_trial_has_what_the_machine_charged_and_no_contender_has() {
    let place = Place::new("", &[("a", "pong"), ("b", "pong")]);
    let said = place.kumite(&["run", "fake", "--blocks", "2", "--json", "-"]).ended(0);
    let export: Export = from_str(&said.out).unwrap();
    let counted: Vec<_> = kumite_record::standing(&export.trials).collect();
    assert_eq!(counted.len(), 4);
    for probe in Probe::ALL {
        assert!(export.run.metrics.contains(&probe.metric()), "{probe:?}");
        for trial in &counted {
            let charged = probe.of(&trial.sample.metrics);
            assert!(charged.is_some_and(|it| it.is_finite() && it > 0.0), "{probe:?}: {charged:?}");
        }
        assert!(export.cells.iter().all(|cell| !cell.metrics.contains_key(probe.name())), "{probe:?}");
    }
    assert_eq!(probers(&place), [""; 0], "the process that asks has ended");
}

#[test]
fn a_comparison_of_some_seconds_has_what_the_machine_charged_and_no_run_has_it() {
    let place = Place::new("", &[]);
    // However fast the machine is, 35 blocks take seven seconds, of which 20 ms each are enough for the first probe.
    let arguments =
        ["compare", "sleep 0.1", "sleep 0.1", "-n", "a", "-n", "b", "--runs", "35", "--json", "-"];
    let said = place.kumite(&arguments).ended(0);
    let found: Comparison = from_str(&said.out).unwrap();
    let first = &found.probes[0];
    assert!(first.after_s >= 5.0 && (1..35).contains(&first.blocks), "{first:?}");
    for probe in Probe::ALL {
        let charged = found.probes.iter().map(|of| probe.of(&of.figures));
        assert!(charged.into_iter().all(|it| it.is_some_and(|it| it > 0.0)), "{:?}", found.probes);
    }
    assert!(found.costs.probes_s.is_some_and(|took| took > 0.0 && took < found.costs.seconds));
    assert_eq!(found.commands.iter().map(|of| of.times.len()).collect::<Vec<_>>(), [35, 35]);
    assert_eq!(probers(&place), [""; 0], "the process that asks has ended");
    let short = ["compare", "sleep 0.01", "sleep 0.01", "-n", "a", "-n", "b", "--runs", "6", "--json", "-"];
    let found: Comparison = from_str(&place.kumite(&short).ended(0).out).unwrap();
    let is_short = found.costs.seconds < 5.0;
    assert_eq!((found.probes.is_empty(), found.costs.probes_s.is_none()), (is_short, is_short));
}
