//! The registration of a kind of service, and the reading of one service's keys.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;

use super::Service;
use super::figure::Figure;
use crate::toml_source::{SpecError, TomlSource};

/// The registration of a kind of service.
pub(super) struct Registration {
    /// The word for the kind in files and reports.
    pub name: &'static str,
    /// Makes the schema of the kind's keys, which are a struct with a sentence on each.
    pub schema: fn(&mut SchemaGenerator) -> Schema,
    /// Reads the keys of a service of this kind. An error for a key that the kind does not have.
    pub read: fn(&Given) -> Result<Arc<dyn Service>, SpecError>,
}

/// One service as an experiment's file gives it.
pub(super) struct Given<'a> {
    pub source: &'a TomlSource,
    pub name: &'a str,
    pub kind: &'static str,
    /// The folder of the experiment.
    pub folder: &'a Path,
    /// The names of all parameters of the workload.
    pub parameters: &'a BTreeSet<String>,
}

impl Given<'_> {
    /// Reads the service's keys. A key that the kind does not have is an error, which lists those that it has.
    pub fn keys<T: DeserializeOwned>(&self) -> Result<T, SpecError> {
        self.source
            .parse_at(&["services", self.name], "kind")
            .map_err(|(offset, what)| self.source.error(offset, self.what(&what)))
    }

    /// An error at one of the service's keys, or within its value.
    pub fn wrong(&self, key: &[&str], what: impl AsRef<str>) -> SpecError {
        let path = [&["services", self.name], key].concat();
        self.source.error_at(&path, self.what(what.as_ref()))
    }

    fn what(&self, what: &str) -> String {
        format!("service '{}' ({}): {what}", self.name, self.kind)
    }

    /// Returns an error if the figure is a parameter that the experiment does not have.
    pub fn check_figure(&self, key: &str, figure: &Figure) -> Result<(), SpecError> {
        match figure {
            Figure::Parameter(name) if !self.parameters.contains(name) => {
                Err(self.wrong(&[key], format!("no workload parameter '{name}'")))
            }
            _ => Ok(()),
        }
    }

    /// The path of a file of the experiment. An error if it is not there.
    pub fn file(&self, key: &str, file: &Path) -> Result<PathBuf, SpecError> {
        let file = self.folder.join(file);
        if file.is_file() {
            return Ok(file);
        }
        Err(self.wrong(&[key], format!("there is no file {}", file.display())))
    }
}

/// The schema of a struct of keys.
pub(super) fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    T::json_schema(generator)
}
