//! The check of the parameters that the source of an argument had.

use kumite_record::AxisValue;

use super::file::ExperimentFile;
use crate::toml_source::{SpecError, TomlSource};

/// Returns an error if the source has a parameter that the experiment does not have, or a value of another type.
pub(super) fn check_source(source: &TomlSource, file: &ExperimentFile) -> Result<(), SpecError> {
    for (name, value) in file.source.iter().flat_map(|source| &source.workload) {
        let at = |what: String| Err(source.error_at(&["source", "workload", name], what));
        let fixed = file.workload.get(name);
        let ours: Vec<&AxisValue> =
            fixed.into_iter().chain(file.axes.values.get(name).into_iter().flatten()).collect();
        let Some(first) = ours.first() else {
            return at(format!(
                "'{name}' is neither in [workload] nor in [axes]: only what is there can differ"
            ));
        };
        if ours.iter().all(|ours| kind(ours) != kind(value)) {
            return at(format!(
                "'{name}' is {} here, as in {name} = {first}, not {}",
                kind(first),
                kind(value)
            ));
        }
    }
    Ok(())
}

fn kind(value: &AxisValue) -> &'static str {
    match value {
        AxisValue::Int(_) | AxisValue::Float(_) => "a number",
        AxisValue::Text(_) => "text",
        AxisValue::Bool(_) => "true or false",
    }
}
