//! `[services]` of experiment.toml.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kumite_record::{AxisValue, Metric, Unit};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Parameters;
use super::dynamodb::{Request, requests};

/// What a service is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The real server.
    Postgresql,
    /// An HTTP server that answers after a delay.
    Stub,
    /// Files on a disk that may be slow.
    Files,
    /// AWS's DynamoDB Local.
    Dynamodb,
}

impl Kind {
    pub const ALL: [Kind; 4] = [Kind::Postgresql, Kind::Stub, Kind::Files, Kind::Dynamodb];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Postgresql => "postgresql",
            Kind::Stub => "stub",
            Kind::Files => "files",
            Kind::Dynamodb => "dynamodb",
        }
    }

    /// The tools without which there is none.
    pub fn needs(self) -> &'static [&'static str] {
        match self {
            Kind::Postgresql => &["postgres >= 13", "initdb", "psql", "setpriv"],
            Kind::Dynamodb => &["java >= 17", "mvn"],
            Kind::Stub | Kind::Files => &[],
        }
    }

    /// The packages that bring them.
    pub fn packages(self) -> &'static [&'static str] {
        match self {
            Kind::Postgresql => &["postgresql"],
            Kind::Dynamodb => &["default-jre-headless", "maven"],
            Kind::Stub | Kind::Files => &[],
        }
    }

    /// The metrics that it adds to a trial's.
    fn metrics(self, name: &str) -> Vec<Metric> {
        let metric = |end: &str, about: &str| {
            Metric::new(&format!("{name}_{end}"), &format!("Of the service `{name}`: {about}"))
        };
        let count = |end, about| Metric { unit: Unit::Count, ..metric(end, about) };
        let late = || metric("late_p99_us", "99th percentile of how late its waits ended.");
        let mut metrics = vec![metric("cpu_s", "its CPU time.")];
        metrics.extend(match self {
            Kind::Postgresql => vec![count("queries", "queries that were counted.")],
            Kind::Stub => vec![count("requests", "requests that it answered."), late()],
            Kind::Files => vec![count("seeks", "reads that did not go on where the last one ended."), late()],
            Kind::Dynamodb => Vec::new(),
        });
        metrics
    }

    fn keys(self) -> &'static [&'static str] {
        match self {
            Kind::Postgresql => &["connections", "setup", "counts"],
            Kind::Stub => &["delay_ms", "body"],
            Kind::Files => &["files", "size_bytes", "delay_ms"],
            Kind::Dynamodb => &["setup"],
        }
    }
}

/// What runs beside the contenders: started before each trial, ended after it, on the load engine's CPU.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Service")]
pub(crate) struct File {
    /// What it is: the real PostgreSQL, kumite's delay stub, a folder of files, or AWS's DynamoDB Local.
    #[schemars(extend("enum" = Kind::ALL.map(Kind::as_str)))]
    kind: String,
    /// Of a stub: how long each answer takes. Of files: how long each read takes that does not go on where the last one
    /// ended; one waits at a time. A number of milliseconds, or `"$parameter"`.
    delay_ms: Option<AxisValue>,
    /// Of a stub: what it answers; `pong` if it is not given.
    body: Option<String>,
    /// Of PostgreSQL: how many connections contenders may have at once; it refuses more.
    #[schemars(range(min = 1, max = 1000))]
    connections: Option<u32>,
    /// A file in the experiment's folder by which it is filled before each trial. Of PostgreSQL: SQL, executed in the
    /// contenders' database. Of DynamoDB: a JSON list of requests, each an object `{"PutItem": {…}}`.
    setup: Option<PathBuf>,
    /// Of PostgreSQL: a pattern of the queries that are counted.
    counts: Option<String>,
    /// Of files: how many there are. A number or `"$parameter"`.
    files: Option<AxisValue>,
    /// Of files: how long each is. A number or `"$parameter"`.
    size_bytes: Option<AxisValue>,
}

/// One service of an experiment.
#[derive(Clone, Debug)]
pub(crate) enum ServiceSpec {
    /// The real server.
    Postgresql(PostgresqlSpec),
    /// An HTTP server that answers after a delay.
    Stub(StubSpec),
    /// Files on a disk that may be slow.
    Files(FilesSpec),
    /// AWS's DynamoDB Local.
    Dynamodb(DynamodbSpec),
}

#[derive(Clone, Debug)]
pub(crate) struct PostgresqlSpec {
    pub connections: u32,
    pub setup: Option<PathBuf>,
    pub counts: String,
}

#[derive(Clone, Debug)]
pub(crate) struct StubSpec {
    pub delay_ms: Figure,
    pub body: String,
}

#[derive(Clone, Debug)]
pub(crate) struct FilesSpec {
    pub files: Figure,
    pub size_bytes: Figure,
    pub delay_ms: Figure,
}

#[derive(Clone, Debug)]
pub(crate) struct DynamodbSpec {
    /// What it is asked before contenders are.
    pub setup: Vec<Request>,
}

/// A number, or the parameter that is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Figure {
    Number(f64),
    Parameter(String),
}

impl Figure {
    pub fn of(&self, parameters: &Parameters) -> Result<f64, String> {
        let value = match self {
            Figure::Number(number) => *number,
            Figure::Parameter(name) => {
                let value = parameters.get(name);
                let number = value.and_then(AxisValue::number);
                number.ok_or_else(|| format!("takes ${name}, which is no number"))?
            }
        };
        let sensible = (0.0..=1e12).contains(&value);
        if sensible { Ok(value) } else { Err(format!("cannot do with {value}")) }
    }
}

impl ServiceSpec {
    pub fn kind(&self) -> Kind {
        match self {
            ServiceSpec::Postgresql(_) => Kind::Postgresql,
            ServiceSpec::Stub(_) => Kind::Stub,
            ServiceSpec::Files(_) => Kind::Files,
            ServiceSpec::Dynamodb(_) => Kind::Dynamodb,
        }
    }

    /// The metrics that it adds to a trial's.
    pub fn metrics(&self, name: &str) -> Vec<Metric> {
        self.kind().metrics(name)
    }

    /// Why this machine cannot have it with these parameters, if it cannot.
    pub fn wanting(&self, parameters: &Parameters) -> Option<String> {
        match self {
            ServiceSpec::Files(spec) => match spec.delay_ms.of(parameters) {
                Ok(delay) if delay > 0.0 => kumite_disk::available().err(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Reads a service; an error comes with the key it is about.
pub(crate) fn parse(
    name: &str,
    file: &File,
    folder: &Path,
    parameters: &BTreeSet<String>,
) -> Result<ServiceSpec, (&'static str, String)> {
    let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.as_str() == file.kind) else {
        let known = Kind::ALL.map(Kind::as_str).join(", ");
        return Err(("kind", format!("unknown kind of service '{}'; known: {known}", file.kind)));
    };
    let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !is_name {
        return Err((
            "kind",
            format!("'{name}' is not a service's name: use lower-case letters, digits and _"),
        ));
    }
    let given = [
        ("delay_ms", file.delay_ms.is_some()),
        ("body", file.body.is_some()),
        ("connections", file.connections.is_some()),
        ("setup", file.setup.is_some()),
        ("counts", file.counts.is_some()),
        ("files", file.files.is_some()),
        ("size_bytes", file.size_bytes.is_some()),
    ];
    if let Some((key, _)) = given.into_iter().find(|(key, given)| *given && !kind.keys().contains(key)) {
        let known = kind.keys().join(", ");
        return Err((key, format!("a service of kind {} has no {key}; it has {known}", file.kind)));
    }
    let figure = |key, value: &Option<AxisValue>, default: Option<f64>| match value {
        Some(AxisValue::Text(text)) => match text.strip_prefix('$') {
            Some(parameter) if parameters.contains(parameter) => Ok(Figure::Parameter(parameter.to_owned())),
            Some(parameter) => Err((key, format!("no workload parameter '{parameter}'"))),
            None => Err((key, format!("{key} is a number or \"$parameter\", not \"{text}\""))),
        },
        Some(value) => match value.number() {
            Some(number) if number >= 0.0 => Ok(Figure::Number(number)),
            _ => Err((key, format!("{key} is a number or \"$parameter\", not {value}"))),
        },
        None => {
            default.map(Figure::Number).ok_or((key, format!("a service of kind {} needs {key}", file.kind)))
        }
    };
    let setup = file.setup.as_ref().map(|setup| folder.join(setup));
    if let Some(missing) = setup.as_ref().filter(|setup| !setup.is_file()) {
        return Err(("setup", format!("there is no file {}", missing.display())));
    }
    Ok(match kind {
        Kind::Postgresql => {
            let counts = file.counts.clone().unwrap_or_else(|| ".".to_owned());
            ServiceSpec::Postgresql(PostgresqlSpec {
                connections: file.connections.unwrap_or(20),
                setup,
                counts,
            })
        }
        Kind::Stub => ServiceSpec::Stub(StubSpec {
            delay_ms: figure("delay_ms", &file.delay_ms, Some(0.0))?,
            body: file.body.clone().unwrap_or_else(|| "pong".to_owned()),
        }),
        Kind::Files => ServiceSpec::Files(FilesSpec {
            files: figure("files", &file.files, Some(1.0))?,
            size_bytes: figure("size_bytes", &file.size_bytes, None)?,
            delay_ms: figure("delay_ms", &file.delay_ms, Some(0.0))?,
        }),
        Kind::Dynamodb => ServiceSpec::Dynamodb(DynamodbSpec {
            setup: setup.map_or(Ok(Vec::new()), |setup| {
                let text = std::fs::read_to_string(&setup).map_err(|error| error.to_string());
                let read = text.and_then(|text| requests(&text));
                read.map_err(|why| ("setup", format!("{}: {why}", setup.display())))
            })?,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(text: &str) -> Result<ServiceSpec, (&'static str, String)> {
        let file: File = toml::from_str(text).unwrap();
        parse("backend", &file, Path::new("."), &["delay_ms".to_owned()].into())
    }

    #[test]
    fn a_figure_may_be_a_parameter() {
        let Ok(ServiceSpec::Stub(stub)) = spec("kind = 'stub'\ndelay_ms = '$delay_ms'") else { panic!() };
        assert_eq!(stub.delay_ms, Figure::Parameter("delay_ms".into()));
        assert_eq!(stub.delay_ms.of(&[("delay_ms".to_owned(), AxisValue::Float(1.5))].into()), Ok(1.5));
        assert!(stub.delay_ms.of(&Parameters::new()).unwrap_err().contains("$delay_ms, which is no number"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_key() {
        let cases = [
            (
                "kind = 'redis'",
                "kind",
                "unknown kind of service 'redis'; known: postgresql, stub, files, dynamodb",
            ),
            ("kind = 'stub'\nsetup = 'x'", "setup", "of kind stub has no setup; it has delay_ms, body"),
            ("kind = 'stub'\ndelay_ms = -1", "delay_ms", "not -1"),
            ("kind = 'stub'\ndelay_ms = '5'", "delay_ms", "a number or \"$parameter\", not \"5\""),
            ("kind = 'stub'\ndelay_ms = '$x'", "delay_ms", "no workload parameter 'x'"),
            ("kind = 'files'", "size_bytes", "of kind files needs size_bytes"),
            ("kind = 'postgresql'\nsetup = 'gone.sql'", "setup", "there is no file ./gone.sql"),
            ("kind = 'dynamodb'\nsetup = 'Cargo.toml'", "setup", "./Cargo.toml: no list of requests"),
        ];
        for (text, key, expected) in cases {
            let (found, what) = spec(text).unwrap_err();
            assert!(found == key && what.contains(expected), "{found}: {what}");
        }
        let file: File = toml::from_str("kind = 'stub'").unwrap();
        assert!(
            parse("Back-end", &file, Path::new("."), &BTreeSet::new())
                .unwrap_err()
                .1
                .contains("not a service's name")
        );
    }
}
