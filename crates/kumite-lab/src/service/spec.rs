//! The table `[services]` of experiment.toml.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use kumite_record::Metric;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::{Value, json};

use super::registration::Given;
use super::{KINDS, Service};
use crate::parameter::Parameters;
use crate::toml_source::{SpecError, TomlSource};

/// A service beside the contenders. Its other keys depend on its kind.
#[derive(Debug, Deserialize)]
#[serde(expecting = "a table with the key kind")]
pub(crate) struct ServiceFile {
    kind: String,
}

/// One service of an experiment.
#[derive(Clone, Debug)]
pub(crate) struct ServiceSpec {
    pub kind: &'static str,
    pub(super) service: Arc<dyn Service>,
}

impl ServiceSpec {
    pub fn read(
        name: &str,
        file: &ServiceFile,
        source: &TomlSource,
        folder: &Path,
        parameters: &BTreeSet<String>,
    ) -> Result<ServiceSpec, SpecError> {
        let wrong = |what| source.error_at(&["services", name, "kind"], format!("service '{name}': {what}"));
        let Some(kind) = KINDS.iter().find(|kind| kind.name == file.kind) else {
            let known = KINDS.map(|kind| kind.name).join(", ");
            return Err(wrong(format!("unknown kind of service '{}'; known: {known}", file.kind)));
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        if !is_name {
            return Err(wrong("that is not a service's name: use lower-case letters, digits and _".into()));
        }
        let given = Given { source, name, kind: kind.name, folder, parameters };
        Ok(ServiceSpec { kind: kind.name, service: (kind.read)(&given)? })
    }

    /// The metrics that the service adds to those of a trial. `name` is the service's name, with which the name of each
    /// begins.
    pub fn metrics(&self, name: &str) -> Vec<Metric> {
        let own = |metric: Metric| Metric {
            name: format!("{name}_{}", metric.name),
            about: format!("Of the service `{name}`: {}", metric.about),
            ..metric
        };
        let cpu = Metric::new("cpu_s", "its CPU time.");
        std::iter::once(cpu).chain(self.service.metrics()).map(own).collect()
    }

    /// The reason why this machine cannot have the service with these parameters. None if it can.
    pub fn unavailable(&self, parameters: &Parameters) -> Option<String> {
        self.service.unavailable(parameters)
    }
}

/// Makes a schema in which the keys of a service depend on its kind.
impl JsonSchema for ServiceFile {
    fn schema_name() -> Cow<'static, str> {
        "Service".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let kinds = KINDS.map(|kind| {
            let mut schema = (kind.schema)(generator);
            let properties = schema.ensure_object().entry("properties").or_insert_with(|| json!({}));
            properties["kind"] = json!({ "description": "What it is.", "const": kind.name });
            let required = schema.ensure_object().entry("required").or_insert_with(|| json!([]));
            required.as_array_mut().into_iter().for_each(|required| required.push("kind".into()));
            schema.to_value()
        });
        let known: Vec<Value> = KINDS.map(|kind| kind.name.into()).to_vec();
        json_schema!({
            "description": "What runs beside the contenders: started before each trial, ended after it, on the load engine's CPU.",
            "type": "object",
            "properties": { "kind": { "description": "What it is.", "enum": known } },
            "required": ["kind"],
            "oneOf": kinds,
        })
    }
}

/// Reads a service called `backend` from these keys. An error has line and column.
#[cfg(test)]
pub(super) fn read_service(keys: &str) -> Result<ServiceSpec, SpecError> {
    let text = format!("[services.backend]\n{keys}\n");
    let source = TomlSource { file: "x.toml".into(), text };
    let file = source.parse_at(&["services", "backend"], "").map_err(|(at, what)| source.error(at, what))?;
    let parameters = ["delay_ms".to_owned()].into();
    ServiceSpec::read("backend", &file, &source, Path::new("."), &parameters)
}

#[cfg(test)]
mod tests {
    use super::read_service as read;
    use super::*;

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place() {
        let cases = [
            (
                "kind = 'redis'",
                "x.toml:2:1: service 'backend': unknown kind of service 'redis'; known: postgresql, stub, files, dynamodb, command",
            ),
            (
                "kind = 'stub'\nsetup = 'x'",
                "x.toml:3:1: service 'backend' (stub): unknown key `setup` (known: `delay_ms`, `body`)",
            ),
            ("kind = 'stub'\ndelay_ms = -1", "3:12: service 'backend' (stub): write a number from 0 on or"),
            ("kind = 'stub'\ndelay_ms = '5'", "a number from 0 on or \"$parameter\", not \"5\""),
            ("kind = 'stub'\ndelay_ms = '$x'", "3:1: service 'backend' (stub): no workload parameter 'x'"),
            ("kind = 'files'", "1:1: service 'backend' (files): missing key `size_bytes`"),
            (
                "kind = 'postgresql'\nsetup = 'gone.sql'",
                "3:1: service 'backend' (postgresql): there is no file ./gone.sql",
            ),
            ("kind = 'postgresql'\nconnections = 0", "3:1: service 'backend' (postgresql): write 1 to 1000"),
            ("kind = 'dynamodb'\nsetup = 'Cargo.toml'", "(dynamodb): ./Cargo.toml: no list of requests"),
        ];
        for (keys, expected) in cases {
            let found = read(keys).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_name_that_no_variable_can_begin_with_is_refused() {
        let source =
            TomlSource { file: "x.toml".into(), text: "[services.Back-end]\nkind = 'stub'\n".into() };
        let file = ServiceFile { kind: "stub".into() };
        let read = ServiceSpec::read("Back-end", &file, &source, Path::new("."), &BTreeSet::new());
        let found = read.unwrap_err().to_string();
        assert_eq!(
            found,
            "x.toml:2:1: service 'Back-end': that is not a service's name: use lower-case letters, digits and _"
        );
    }

    #[test]
    fn metrics_begin_with_the_name_of_the_service() {
        let metrics = read("kind = 'stub'").unwrap().metrics("db");
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        assert_eq!(names, ["db_cpu_s", "db_requests", "db_late_p99_us"]);
        assert_eq!(metrics[1].about, "Of the service `db`: requests that it answered.");
    }
}
