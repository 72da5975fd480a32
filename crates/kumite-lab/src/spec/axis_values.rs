//! The values of axes over all profiles, and the check that those of an axis with labels are its labels.

use std::collections::BTreeMap;

use kumite_record::{AxisValue, there_are};

use super::file::ExperimentFile;
use crate::toml_source::{SpecError, TomlSource};

/// Returns an error if a value of an axis with labels, a default or one of a profile, is none of its labels.
pub(super) fn check_labels(source: &TomlSource, file: &ExperimentFile) -> Result<(), SpecError> {
    for (axis, texts) in &file.axes.texts {
        let known: Vec<&str> = texts.keys().map(String::as_str).collect();
        let check = |value: &AxisValue, path: &[&str]| match value {
            AxisValue::Text(label) if texts.contains_key(label) => Ok(()),
            value => {
                let value = value.to_string();
                let what = format!("axis '{axis}' has no label '{value}'{}", there_are(&value, &known));
                Err(source.error_at(path, what))
            }
        };
        file.workload.get(axis).map_or(Ok(()), |value| check(value, &["workload", axis]))?;
        for (name, profile) in &file.profiles {
            let path = ["profiles", name, "workload", axis];
            profile.workload.get(axis).map_or(Ok(()), |value| check(value, &path))?;
            for (nth, value) in profile.axes.get(axis).into_iter().flatten().enumerate() {
                check(value, &["profiles", name, "axes", axis, &nth.to_string()])?;
            }
        }
    }
    Ok(())
}

/// The values that each axis has in any profile, its defaults included.
pub(super) fn values_of_all(file: &ExperimentFile) -> BTreeMap<String, Vec<AxisValue>> {
    let mut axes = file.axes.values.clone();
    for profile in file.profiles.values() {
        for (axis, values) in &profile.axes {
            add(axes.entry(axis.clone()).or_default(), values);
        }
    }
    for (axis, values) in &mut axes {
        let profiles = file.profiles.values().map(|profile| &profile.workload);
        let defaults = std::iter::once(&file.workload).chain(profiles);
        add(values, defaults.filter_map(|workload| workload.get(axis)));
    }
    axes
}

/// Adds the values that are not there yet.
fn add<'a>(values: &mut Vec<AxisValue>, more: impl IntoIterator<Item = &'a AxisValue>) {
    for value in more {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
}
