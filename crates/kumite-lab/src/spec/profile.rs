//! Profiles: the overrides of each, and the points that it plans.

use std::collections::BTreeSet;

use kumite_record::there_are;

use super::file::{ExperimentFile, Profile};
use super::points::{Axes, Listed};
use crate::parameter::Parameters;
use crate::toml_source::{SpecError, TomlSource};

/// The profiles that every experiment has, even without overrides for them.
const PROFILES: [&str; 3] = ["quick", "standard", "full"];

/// Returns an error if a profile overrides what the experiment does not have, or if there is no profile of the chosen
/// name.
pub(super) fn check_profiles(
    source: &TomlSource,
    file: &ExperimentFile,
    chosen: &str,
    experiment: &str,
) -> Result<(), SpecError> {
    for (name, profile) in &file.profiles {
        check(source, file, name, profile)?;
    }
    if PROFILES.contains(&chosen) || file.profiles.contains_key(chosen) {
        return Ok(());
    }
    let known: Vec<&str> = names_of(file).collect();
    Err(SpecError::Usage(format!("no profile '{chosen}' in {experiment}{}", there_are(chosen, &known))))
}

/// The names of all profiles.
pub(super) fn names_of(file: &ExperimentFile) -> impl Iterator<Item = &str> {
    let own = file.profiles.keys().map(String::as_str).filter(|name| !PROFILES.contains(name));
    PROFILES.into_iter().chain(own)
}

/// The fixed parameters with the overrides of a profile.
pub(super) fn fixed_of(file: &ExperimentFile, profile: Option<&Profile>) -> Parameters {
    let mut fixed = file.workload.clone();
    fixed.extend(profile.map(|profile| profile.workload.clone()).unwrap_or_default());
    fixed
}

/// The fixed parameters and the points of the experiment without a profile, and of every profile.
pub(super) fn of_all(
    source: &TomlSource,
    file: &ExperimentFile,
    contenders: &BTreeSet<String>,
) -> Result<Vec<(Parameters, Vec<Listed>)>, SpecError> {
    let named = file.profiles.iter().map(|(name, profile)| (Some(name.as_str()), Some(profile)));
    let of_one =
        |(name, profile)| Ok((fixed_of(file, profile), plan_of(source, file, name, profile, contenders)?));
    std::iter::once((None, None)).chain(named).map(of_one).collect()
}

/// The points of a profile: its own list, else the experiment's, else every combination of axis values.
pub(super) fn plan_of(
    source: &TomlSource,
    file: &ExperimentFile,
    name: Option<&str>,
    profile: Option<&Profile>,
    contenders: &BTreeSet<String>,
) -> Result<Vec<Listed>, SpecError> {
    let own = profile.and_then(|profile| profile.points.as_ref());
    let entries = own.or(file.points.as_ref());
    let mut defaults = file.workload.clone();
    let mut values = file.axes.values.clone();
    if let Some(profile) = profile {
        defaults.extend(profile.workload.clone());
        values.extend(profile.axes.clone());
    }
    let axes = Axes::new(source, values, &defaults)?;
    let listed_at: Vec<&str> = match name.filter(|_| own.is_some()) {
        Some(name) => vec!["profiles", name, "points"],
        None => vec!["points"],
    };
    match entries {
        None => Ok(axes.product(contenders)),
        Some(entries) => axes.listed(entries, contenders, source, &listed_at),
    }
}

/// Returns an error if a profile overrides what the experiment does not have. A parameter that only a profile knows
/// would be a typing error.
fn check(source: &TomlSource, file: &ExperimentFile, name: &str, profile: &Profile) -> Result<(), SpecError> {
    for parameter in profile.workload.keys() {
        if !file.workload.contains_key(parameter) {
            let what = format!(
                "profile '{name}' overrides workload parameter '{parameter}', which [workload] does not have"
            );
            return Err(source.error_at(&["profiles", name, "workload", parameter], what));
        }
    }
    for axis in profile.axes.keys() {
        if !file.axes.values.contains_key(axis) {
            let what = format!("profile '{name}' overrides axis '{axis}', which [axes] does not have");
            return Err(source.error_at(&["profiles", name, "axes", axis], what));
        }
    }
    Ok(())
}
