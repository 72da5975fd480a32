//! JSON Schemas of the documents that kumite reads and writes, made from the types that read and write them.

use kumite_record::{
    Comparison, Diagnosis, DiskResult, Export, FoundRate, LoadResult, PlayResult, Replication, SelfCheck,
    SloResult, StubResult,
};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};

use crate::contender::ContenderFile;
use crate::driver::scenario::ScenarioFile;
use crate::spec::{ExperimentFile, FunctionsFile};

/// A kind of document, with the function that makes its schema.
pub struct Described {
    /// The name that `kumite schema` takes.
    pub name: &'static str,
    /// The line about the document in the list of `kumite schema`.
    pub what: &'static str,
    /// Makes the document's JSON Schema, draft 2020-12.
    pub schema: fn() -> Schema,
}

/// Every kind of document that has a schema.
pub const SCHEMAS: &[Described] = &[
    Described { name: "experiment", what: "experiment.toml", schema: read::<ExperimentFile> },
    Described { name: "contender", what: "contender.toml", schema: read::<ContenderFile> },
    Described {
        name: "functions",
        what: "functions.toml, which `kumite function serve` reads",
        schema: read::<FunctionsFile>,
    },
    Described {
        name: "scenario",
        what: "the file of `kumite load --scenario`",
        schema: read::<ScenarioFile>,
    },
    Described {
        name: "run",
        what: "a run, as `kumite run --json` and `kumite export` write it",
        schema: written::<Export>,
    },
    Described {
        name: "replication",
        what: "two runs beside each other, as `kumite replicate --json` writes them",
        schema: written::<Replication>,
    },
    Described {
        name: "load",
        what: "a load result, as `kumite load --json` writes it",
        schema: written::<LoadResult>,
    },
    Described {
        name: "found-rate",
        what: "the highest rate, as `kumite load --find-rate --json` writes it",
        schema: written::<FoundRate>,
    },
    Described {
        name: "slo",
        what: "whether an objective is met at a rate, as `kumite load --slo --json` writes it",
        schema: written::<SloResult>,
    },
    Described {
        name: "compare",
        what: "a comparison, as `kumite compare --json` writes it",
        schema: written::<Comparison>,
    },
    Described {
        name: "selfcheck",
        what: "a self-check, as `kumite selfcheck --json` writes it",
        schema: written::<SelfCheck>,
    },
    Described {
        name: "stub",
        what: "what a delay stub did, as `kumite stub --json` writes it",
        schema: written::<StubResult>,
    },
    Described {
        name: "play",
        what: "how exactly a macro was played, as `kumite play --json` writes it",
        schema: written::<PlayResult>,
    },
    Described {
        name: "disk",
        what: "what a slow disk did, as `kumite disk --json` writes it",
        schema: written::<DiskResult>,
    },
    Described {
        name: "doctor",
        what: "a diagnosis, as `kumite doctor --json` writes it",
        schema: written::<Diagnosis>,
    },
];

/// The schema of a document that people write and kumite reads.
fn read<T: JsonSchema>() -> Schema {
    let settings =
        SchemaSettings::draft2020_12().for_deserialize().with_transform(RecursiveTransform(without_null));
    plain(settings.into_generator().into_root_schema_for::<T>())
}

/// The schema of a document that kumite writes. It allows unknown keys, because a later kumite may add some.
fn written<T: JsonSchema>() -> Schema {
    plain(SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>())
}

/// Removes null from a schema, since TOML has none: a key that may be absent is not required, and that is all.
fn without_null(schema: &mut Schema) {
    if schema.get("default").is_some_and(|default| default.is_null()) {
        schema.remove("default");
    }
    if let Some(types) = schema.get_mut("type").and_then(|types| types.as_array_mut()) {
        types.retain(|of| of != "null");
        if let [only] = &types[..] {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(choices) = schema.get_mut("anyOf").and_then(|choices| choices.as_array_mut()) {
        choices.retain(|of| of["type"] != "null");
        if let [only] = &choices[..]
            && let Some(reference) = only.get("$ref").cloned()
        {
            schema.remove("anyOf");
            schema.insert("$ref".to_owned(), reference);
        }
    }
}

/// Joins the lines of descriptions. They are broken for the source, not for readers of the schema.
fn plain(mut schema: Schema) -> Schema {
    RecursiveTransform(|schema: &mut Schema| {
        let description = schema.get("description").and_then(|text| text.as_str());
        if let Some(text) = description.map(|text| text.replace('\n', " ")) {
            schema.insert("description".to_owned(), text.into());
        }
    })
    .transform(&mut schema);
    schema
}
