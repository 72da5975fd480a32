//! What the machine charges before each trial, by the process that asks it.

use kumite_record::{Export, Probe};
use serde_json::from_str;

use crate::place::Place;

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
    assert_eq!(place.left(), [""; 0], "the process that asks has ended");
}
