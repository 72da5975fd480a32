//! The claims and checks of an experiment, parsed and checked against the names and units that it declares.
//!
//! Those of a kept run are read from its file as it was when the run began, so that a run is judged by what it asked.

use std::collections::{BTreeMap, BTreeSet};

use kumite_judge::{CheckSpec, Claim, ClaimError, ClaimSpec, Names};
use kumite_record::{AxisValue, Contender, Metric, Probe, Run, Unit, Within, there_are};

use super::axis_values::values_of_all;
use super::experiment::Experiment;
use super::file::ExperimentFile;
use crate::parameter::Parameters;
use crate::toml_source::{SpecError, TomlSource};

/// The names that claims may use, except for parameters.
pub(super) struct Known<'a> {
    pub contenders: &'a BTreeSet<String>,
    pub metrics: &'a [Metric],
    pub part_metrics: &'a [Metric],
    pub units: &'a BTreeMap<String, Unit>,
    /// The axis within trials, with all values that the axis has in any profile. None if there is no such axis.
    pub within: Option<Within>,
}

/// The claims and checks of a run, parsed.
pub(crate) struct Judged {
    pub claims: Vec<ClaimSpec>,
    pub checks: Vec<CheckSpec>,
    /// The ids of the claims that the profile does not judge.
    pub not_judged: Vec<String>,
}

impl Judged {
    pub(super) fn read(
        source: &TomlSource,
        file: &ExperimentFile,
        profile: &str,
        fixed: &Parameters,
        known: &Known,
    ) -> Result<Judged, SpecError> {
        check_ids(source, file)?;
        // The axis within trials is no parameter with a value.
        let mut fixed = fixed.clone();
        fixed.retain(|name, _| known.within.as_ref().is_none_or(|within| within.axis != *name));
        // Probes are of the machine: a claim about one would say nothing of a contender.
        let is_contender_s = |metric: &&Metric| Probe::of_name(&metric.name).is_none();
        let metrics: Vec<Metric> = known.metrics.iter().filter(is_contender_s).cloned().collect();
        let names = Names {
            contenders: known.contenders,
            axes: &axes_of_all(file, known),
            fixed: &fixed,
            units: known.units,
            metrics: &metrics,
            within: known.within.as_ref().map(|within| within.axis.as_str()),
            part_metrics: known.part_metrics,
        };
        let (mut claims, checks) = (claims(source, file, &names)?, checks(source, file, &names)?);
        let listed = file.profiles.get(profile).and_then(|profile| profile.claims.as_ref());
        let is_judged = |claim: &ClaimSpec| listed.is_none_or(|listed| listed.contains(&claim.id));
        let not_judged =
            claims.iter().filter(|claim| !is_judged(claim)).map(|claim| claim.id.clone()).collect();
        claims.retain(is_judged);
        Ok(Judged { claims, checks, not_judged })
    }
}

/// The axes with all values that any profile gives them. A value that any profile measures is no typing error, even
/// if the chosen profile leaves it out.
fn axes_of_all(file: &ExperimentFile, known: &Known) -> BTreeMap<String, Vec<AxisValue>> {
    let mut axes = values_of_all(file);
    if let Some(Within { axis, values }) = &known.within {
        axes.insert(axis.clone(), values.clone());
    }
    axes
}

fn claims(source: &TomlSource, file: &ExperimentFile, names: &Names) -> Result<Vec<ClaimSpec>, SpecError> {
    let spec = |(nth, claim): (usize, &super::file::ClaimFile)| {
        Ok(ClaimSpec {
            id: claim.id.clone(),
            title: claim.title.clone(),
            assert: claim.assert.clone(),
            published: claim.published.clone(),
            parsed: parse(source, ("claim", nth), &claim.id, &claim.assert, names)?,
        })
    };
    file.claim.iter().enumerate().map(spec).collect()
}

fn checks(source: &TomlSource, file: &ExperimentFile, names: &Names) -> Result<Vec<CheckSpec>, SpecError> {
    let spec = |(nth, check): (usize, &super::file::CheckFile)| {
        let parsed = parse(source, ("check", nth), &check.id, &check.assert, names)?;
        if let Some(column) = parsed.disqualified_at() {
            let what = format!(
                "check '{}': wrong answers are a finding already: leave `disqualified` out, or claim it",
                check.id
            );
            let path = ["check", &nth.to_string(), "assert"];
            return Err(source.error_in(&path, &check.assert, column, &what));
        }
        if check.because.trim().is_empty() {
            let what = format!("check '{}': say in a sentence why it must be so", check.id);
            return Err(source.error_at(&["check", &nth.to_string(), "because"], what));
        }
        let says = ClaimSpec {
            id: check.id.clone(),
            title: check.title.clone(),
            assert: check.assert.clone(),
            published: None,
            parsed,
        };
        Ok(CheckSpec { says, binds: check.binds, because: check.because.clone() })
    };
    file.check.iter().enumerate().map(spec).collect()
}

/// Returns an error if an expression of a claim or check has no value at a point that the profile tries, or if a metric
/// that it compares is in no trial there. The ids are those of the file, in its order.
pub(super) fn check_values(
    source: &TomlSource,
    experiment: &Experiment,
    claims: &[String],
    checks: &[String],
) -> Result<(), SpecError> {
    let run = Run {
        workload: experiment.fixed.clone(),
        points: experiment.points(),
        contenders_at: experiment.contenders_at(),
        within: experiment.within(),
        within_at: experiment.within_at(),
        ..Run::default()
    };
    let contender = |name: &str| Contender { name: name.to_owned(), ..Contender::default() };
    let variants = experiment.variants().into_iter();
    let contenders: Vec<Contender> = variants.map(|(_, variant)| contender(&variant.name)).collect();
    let says = experiment.checks.iter().map(|check| ("check", checks, &check.says));
    let all = experiment.claims.iter().map(|claim| ("claim", claims, claim)).chain(says);
    for (table, ids, spec) in all {
        let nth = ids.iter().position(|id| *id == spec.id).unwrap_or(0).to_string();
        if let Some(ClaimError { column, what }) = kumite_judge::without_value(&run, &contenders, spec) {
            let what = format!("{table} '{}': {what}", spec.id);
            return Err(source.error_in(&[table, &nth, "assert"], &spec.assert, column, &what));
        }
        for of in kumite_judge::references(&run, &contenders, spec) {
            let Some(parameter) = experiment.planned[of.point].workload.lacks(&of.metric) else { continue };
            let cell = run.cell(&of.contender, &run.points[of.point]);
            let what = format!(
                "{table} '{}': {cell} has no {}, for its workload has no `{parameter}`",
                spec.id, of.metric
            );
            return Err(source.error_at(&[table, &nth, "assert"], what));
        }
    }
    Ok(())
}

/// Parses the sentence of the claim or check with this index in its table. An error has its place in the file.
fn parse(
    source: &TomlSource,
    (table, nth): (&str, usize),
    id: &str,
    assert: &str,
    names: &Names,
) -> Result<Claim, SpecError> {
    Claim::new(assert, names).map_err(|ClaimError { column, what }| {
        let path = [table, &nth.to_string(), "assert"];
        source.error_in(&path, assert, column, &format!("{table} '{id}': {what}"))
    })
}

/// Returns an error if two claims or checks have one id, or a profile lists an id twice, or one that no claim has.
fn check_ids(source: &TomlSource, file: &ExperimentFile) -> Result<(), SpecError> {
    let mut seen = BTreeSet::new();
    let claims = file.claim.iter().enumerate().map(|(nth, claim)| ("claim", nth, &claim.id));
    let checks = file.check.iter().enumerate().map(|(nth, check)| ("check", nth, &check.id));
    for (table, nth, id) in claims.chain(checks) {
        if !seen.insert(id) {
            let what = format!("two claims or checks have the id '{id}'");
            return Err(source.error_at(&[table, &nth.to_string(), "id"], what));
        }
    }
    let known: Vec<&str> = file.claim.iter().map(|claim| claim.id.as_str()).collect();
    for (profile, listed) in &file.profiles {
        let Some(listed) = &listed.claims else { continue };
        let at = |nth: &str, what: String| Err(source.error_at(&["profiles", profile, "claims", nth], what));
        for (nth, id) in listed.iter().enumerate() {
            if !known.contains(&id.as_str()) {
                return at(&nth.to_string(), format!("no claim '{id}'{}", there_are(id, &known)));
            }
            if listed[..nth].contains(id) {
                return at(&nth.to_string(), format!("claim '{id}' is listed twice"));
            }
        }
    }
    Ok(())
}
