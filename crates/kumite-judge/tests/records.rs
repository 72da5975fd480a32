//! Runs that were judged by kumite cd3f10c, by intervals of two sides that all claims shared 5 % for: bets of one side give
//! the same verdicts, of fewer rounds. Of the records only what verdicts need is kept, and a number that now needs a unit
//! has one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kumite_judge::{Claim, ClaimSpec, Names, judge};
use kumite_record::{AxisValue, EffectKind, Export, Metric, Rule, Trial, standing};

fn record(name: &str) -> Export {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records").join(name).with_extension("json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Its claims, read anew.
fn claims(record: &Export) -> Vec<ClaimSpec> {
    let mut axes: BTreeMap<String, Vec<AxisValue>> = BTreeMap::new();
    for (axis, value) in record.run.points.iter().flat_map(|point| &point.0) {
        axes.entry(axis.clone()).or_default().push(value.clone());
    }
    axes.extend(record.run.within.iter().map(|within| (within.axis.clone(), within.values.clone())));
    let samples = || record.trials.iter().map(|trial| &trial.sample);
    let metrics = |names: BTreeSet<&str>| names.into_iter().map(Metric::named).collect::<Vec<_>>();
    let measured = samples().flat_map(|sample| sample.metrics.keys()).map(String::as_str);
    let names = Names {
        contenders: &record.contenders.iter().map(|contender| contender.name.clone()).collect(),
        axes: &axes,
        workload: &record.run.workload,
        units: &BTreeMap::new(),
        // One claim is about a metric that no trial has.
        metrics: &metrics(measured.chain(["response_p99_us"]).collect()),
        within: record.run.within.as_ref().map(|within| within.axis.as_str()),
        part_metrics: &metrics(
            samples()
                .flat_map(|sample| &sample.parts)
                .flat_map(|part| part.metrics.keys())
                .map(String::as_str)
                .collect(),
        ),
    };
    let claim = |claim: &kumite_record::Claim| ClaimSpec {
        id: claim.id.clone(),
        title: None,
        assert: claim.assert.clone(),
        published: None,
        parsed: Claim::new(&claim.assert, &names)
            .unwrap_or_else(|error| panic!("{}: {error:?}", claim.assert)),
    };
    record.claims.iter().map(claim).collect()
}

fn judged_alike(name: &str) -> usize {
    let mut record = record(name);
    record.run.rule = Rule::FalseDiscoveryRate;
    let trials: Vec<&Trial> = standing(&record.trials).collect();
    let (judged, _) = judge(&record.run, &trials, &record.contenders, &claims(&record), &[]);
    assert_eq!(judged.len(), record.claims.len());
    for (now, then) in judged.iter().zip(&record.claims) {
        assert_eq!((now.verdict, now.effect_kind), (then.verdict, then.effect_kind), "{}", then.assert);
        if now.effect_kind == Some(EffectKind::Exact) {
            assert_eq!(
                (now.effect, now.low, now.high),
                (then.effect, then.low, then.high),
                "{}",
                then.assert
            );
        }
    }
    judged.len()
}

#[test]
fn a_kept_run_over_axes_is_judged_alike() {
    assert_eq!(judged_alike("axes"), 13);
}

#[test]
fn a_kept_run_in_steps_is_judged_alike() {
    assert_eq!(judged_alike("steps"), 5);
}

#[test]
fn a_kept_run_of_tasks_is_judged_alike() {
    assert_eq!(judged_alike("task"), 3);
}

#[test]
fn a_kept_run_of_functions_is_judged_alike() {
    assert_eq!(judged_alike("function"), 2);
}
