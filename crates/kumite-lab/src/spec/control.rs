//! The control of an experiment: the contender that has two trials in each block.

use std::collections::BTreeSet;

use kumite_record::there_are;

use super::file::ExperimentFile;
use crate::toml_source::{SpecError, TomlSource};

/// The control that the file names. None if the file names no control; an error if the control is no contender.
pub(super) fn read_control(
    source: &TomlSource,
    file: &ExperimentFile,
    names: &BTreeSet<String>,
) -> Result<Option<String>, SpecError> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match file.control.as_ref().and_then(|name| no_such_control(name, &names)) {
        Some(what) => Err(source.error_at(&["control"], what)),
        None => Ok(file.control.clone()),
    }
}

/// A sentence on a control that is no contender. None if it is one.
pub(crate) fn no_such_control(name: &str, names: &[&str]) -> Option<String> {
    if names.contains(&name) {
        return None;
    }
    Some(format!("control '{name}': no such contender{}", there_are(name, names)))
}
