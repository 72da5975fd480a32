//! The claims of an experiment, parsed and checked.

use std::collections::{BTreeMap, BTreeSet};

use kumite_judge::{Claim, ClaimError, ClaimSpec, Names};
use kumite_record::{AxisValue, Metric, Unit, Within};

use super::file::ExperimentFile;
use crate::toml_source::{SpecError, TomlSource};

/// What claims may speak of beside parameters.
pub(super) struct Known<'a> {
    pub contenders: &'a BTreeSet<String>,
    pub metrics: &'a [Metric],
    pub part_metrics: &'a [Metric],
    pub units: &'a BTreeMap<String, Unit>,
    pub within: Option<Within>,
}

pub(super) fn parse_claims(
    source: &TomlSource,
    file: &ExperimentFile,
    workload: &BTreeMap<String, AxisValue>,
    known: &Known,
) -> Result<Vec<ClaimSpec>, SpecError> {
    // A value that any profile measures is no typing error, even where the chosen profile leaves it out.
    let mut axes = file.axes.clone();
    for profile in file.profiles.values() {
        for (axis, values) in &profile.axes {
            axes.entry(axis.clone()).or_default().extend(values.iter().cloned());
        }
    }
    for (axis, values) in &mut axes {
        let profiles = file.profiles.values().map(|profile| &profile.workload);
        let defaults = std::iter::once(&file.workload).chain(profiles);
        values.extend(defaults.filter_map(|workload| workload.get(axis).cloned()));
    }
    if let Some(Within { axis, values }) = &known.within {
        axes.insert(axis.clone(), values.clone());
    }
    // Within trials it is an axis, and no parameter with a value.
    let mut workload = workload.clone();
    workload.retain(|name, _| known.within.as_ref().is_none_or(|within| within.axis != *name));
    let names = Names {
        contenders: known.contenders,
        axes: &axes,
        workload: &workload,
        units: known.units,
        metrics: known.metrics,
        within: known.within.as_ref().map(|within| within.axis.as_str()),
        part_metrics: known.part_metrics,
    };
    let mut claims = Vec::<ClaimSpec>::new();
    for (index, claim) in file.claim.iter().enumerate() {
        let at = |key, what: String| source.error_at(&["claim", &index.to_string(), key], what);
        if claims.iter().any(|other| other.id == claim.id) {
            return Err(at("id", format!("two claims have the id '{}'", claim.id)));
        }
        let parsed = Claim::new(&claim.assert, &names).map_err(|ClaimError { column, what }| {
            let path = ["claim", &index.to_string(), "assert"];
            source.error_in(&path, &claim.assert, column, &format!("claim '{}': {what}", claim.id))
        })?;
        claims.push(ClaimSpec {
            id: claim.id.clone(),
            title: claim.title.clone(),
            assert: claim.assert.clone(),
            published: claim.published.clone(),
            parsed,
        });
    }
    Ok(claims)
}
