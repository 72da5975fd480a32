//! The parameters of workloads as the schema describes them. What counts is what [`crate::workload::Workload`] accepts; the
//! test holds the two together.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use crate::function::MEMORY_MB;
use crate::workload::Kind;

/// Makes the tables `workload` and `axes` of an experiment, and of its profiles, depend on its kind.
pub(crate) fn by_kind(schema: &mut Schema) {
    let of = |kind: Kind| {
        let described = |mut table: Schema, what: &str| {
            table.insert("description".to_owned(), what.into());
            table.to_value()
        };
        let tables = json!({
            "workload": described(fixed(kind), "Fixed parameters."),
            "axes": described(swept(kind), "Parameters that are swept."),
        });
        let mut all = tables.as_object().cloned().unwrap_or_default();
        let profiles = json!({
            "description": "What a profile overrides.", "additionalProperties": { "properties": tables },
        });
        all.insert("profiles".to_owned(), profiles);
        json!({
            "if": { "properties": { "kind": { "description": "The kind.", "const": kind.as_str() } } },
            "then": { "properties": all },
        })
    };
    schema.insert("allOf".to_owned(), Kind::ALL.map(of).into());
}

/// The `workload` table: a value for each parameter.
fn fixed(kind: Kind) -> Schema {
    match kind {
        Kind::Http => http(),
        Kind::Task => task(),
        Kind::Function => function(),
        Kind::Pacing => pacing(),
    }
}

fn task() -> Schema {
    json_schema!({
        "type": "object",
        // The contender's own.
        "additionalProperties": { "type": ["integer", "number", "string", "boolean"] },
        "properties": {
            "iterations": {
                "description": "Jobs of a process that count.",
                "type": "integer", "minimum": 1, "maximum": 100_000, "default": 1,
            },
            "warm_up_iterations": {
                "description": "Jobs of a process before them.",
                "type": "integer", "minimum": 0, "maximum": 100_000, "default": 0,
            },
            "concurrency": {
                "description": "Jobs in flight at a time.",
                "type": "integer", "minimum": 1, "maximum": 10_000, "default": 1,
            },
            "timeout_s": {
                "description": "A job that takes longer fails the trial.",
                "type": "number", "minimum": 0.1, "maximum": 86_400, "default": 60,
            },
            "ready_s": {
                "description": "A worker that takes longer to its first hello has failed.",
                "type": "number", "minimum": 0.1, "maximum": 600, "default": 30,
            },
            "cores": {
                "description": "How many CPUs the worker is given; `all` is every one.",
                "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 4096 }, { "const": "all" }], "default": 1,
            },
            "events": {
                "description": "Whether the worker is to tell what happened within a job.",
                "type": "boolean", "default": false,
            },
        },
    })
}

fn function() -> Schema {
    let (least_mb, most_mb) = (*MEMORY_MB.start(), *MEMORY_MB.end());
    json_schema!({
        "type": "object",
        // The function's own.
        "additionalProperties": { "type": ["integer", "number", "string", "boolean"] },
        "properties": {
            "calls": {
                "description": "Calls of a trial; the first hundred are values of the axis `call`.",
                "type": "integer", "minimum": 1, "maximum": 10_000, "default": 1,
            },
            "memory_mb": {
                "description": "Memory of an instance; a contender's own takes its place.",
                "type": "integer", "minimum": least_mb, "maximum": most_mb, "default": 128,
            },
            "cpu": {
                "description": "An instance's CPU share in a call: by its memory (1,769 MB are a core), or a whole core.",
                "type": "string", "enum": ["by-memory", "core"], "default": "by-memory",
            },
            "timeout_s": {
                "description": "A call that takes longer is ended, and fails the trial.",
                "type": "number", "minimum": 0.1, "maximum": 900, "default": 60,
            },
            "init_limit_s": {
                "description": "An instance that takes longer to start is ended, and started again within the call.",
                "type": "number", "minimum": 0.1, "maximum": 900, "default": 10,
            },
            "max_instances": {
                "description": "Instances at a time; a call that finds all of them busy is refused, and fails the trial.",
                "type": "integer", "minimum": 1, "maximum": 1000, "default": 1,
            },
            "routing": {
                "description": "Which instance a call goes to: the free one that was used last, or any of `max_instances` at random.",
                "type": "string", "enum": ["warm-first", "spread"], "default": "warm-first",
            },
            "handler": {
                "description": "What the runtime client is to call; the contender's name, if it is empty.",
                "type": "string", "default": "",
            },
            "payload": {
                "description": "A JSON file in the experiment's folder that is the event of each call; all parameters, if it is empty.",
                "type": "string", "default": "",
            },
            "rate_per_s": {
                "description": "Calls offered in a second, whatever becomes of them; 0 for one after another.",
                "type": "number", "minimum": 0, "maximum": 10_000, "default": 0,
            },
            "cores": {
                "description": "How many CPUs the instances are given; `all` is every one.",
                "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 4096 }, { "const": "all" }], "default": 1,
            },
        },
    })
}

fn pacing() -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "macro": {
                "description": "The macro's file, in the experiment's folder, in the notation of `kumite play`.",
                "type": "string", "default": "macro.txt",
            },
            "frames": {
                "description": "So many frames of the macro are played, over and over if it has fewer.",
                "type": "integer", "minimum": 1, "maximum": 216_000, "default": 600,
            },
            "warm_up_frames": {
                "description": "Frames of a play before that, which counts in no figure.",
                "type": "integer", "minimum": 0, "maximum": 216_000, "default": 60,
            },
            "fps": {
                "description": "Frames a second.",
                "type": "number", "minimum": 1, "maximum": 1000, "default": 59.94,
            },
            "schedule": {
                "description": "What a player keeps to: when each state is due, or how long each is held.",
                "type": "string", "enum": ["absolute", "relative"], "default": "absolute",
            },
            "load": {
                "description": "What else the machine does: nothing, or a busy thread on every CPU that is used.",
                "type": "string", "enum": ["none", "every-core"], "default": "none",
            },
            "ready_s": {
                "description": "A player that takes longer to be ready has failed.",
                "type": "number", "minimum": 0.1, "maximum": 600, "default": 30,
            },
            "cores": {
                "description": "How many CPUs the player is given beside the recorder's; `all` shares them with it.",
                "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 4096 }, { "const": "all" }], "default": 1,
            },
        },
    })
}

fn http() -> Schema {
    json_schema!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "method": {
                "description": "Request method; not CONNECT.",
                "type": "string", "default": "GET",
            },
            "path": {
                "description": "Request target: path and query.",
                "type": "string", "default": "/",
            },
            "body": {
                "description": "Request body.",
                "type": "string", "default": "",
            },
            "connections": {
                "description": "Keep-alive connections, each with one request in flight: the most of an open loop.",
                "type": "integer", "minimum": 1, "maximum": 100_000, "default": 50,
            },
            "rate_rps": {
                "description": "Requests a second, whatever the contender makes of them (open loop); 0 for a closed loop. Or steps, each with its length: `10@4s,40@6s,66@20s`.",
                "anyOf": [{ "type": "number", "minimum": 0, "maximum": 10_000_000 }, { "type": "string" }], "default": 0,
            },
            "arrivals": {
                "description": "How the requests of an open loop follow one another: evenly, or at random, the same in each trial.",
                "type": "string", "enum": ["even", "poisson"], "default": "even",
            },
            "burst_requests": {
                "description": "How many requests of an open loop come at once.",
                "type": "integer", "minimum": 1, "maximum": 100_000, "default": 1,
            },
            "duration_s": {
                "description": "Length of the measured window; not of a load in steps.",
                "type": "number", "minimum": 0.1, "maximum": 86_400, "default": 5,
            },
            "warm_up_s": {
                "description": "Time under load before the window; not of a load in steps.",
                "type": "number", "minimum": 0, "maximum": 3600, "default": 1,
            },
            "timeout_ms": {
                "description": "An answer that takes longer is a failure.",
                "type": "number", "minimum": 1, "maximum": 600_000, "default": 1000,
            },
            "server_cores": {
                "description": "How many CPUs the contender is given beside the load engine's; `all` shares them with it.",
                "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 4096 }, { "const": "all" }], "default": 1,
            },
            "ready_s": {
                "description": "A contender that takes longer to give its first right answer has failed.",
                "type": "number", "minimum": 0.1, "maximum": 600, "default": 30,
            },
            "disturbance": {
                "description": "What is done to the contender after the window: it is stopped for a time, or a burst of connections is opened.",
                "type": "string", "enum": ["none", "pause", "burst"], "default": "none",
            },
            "pause_s": {
                "description": "How long `pause` stops it.",
                "type": "number", "minimum": 0.1, "maximum": 60, "default": 2,
            },
            "burst_connections": {
                "description": "How many connections `burst` opens.",
                "type": "integer", "minimum": 1, "maximum": 100_000, "default": 4096,
            },
            "watch_s": {
                "description": "How long the contender is watched after the disturbance, or after the drop of a load in steps.",
                "type": "number", "minimum": 1, "maximum": 600, "default": 6,
            },
            "drop_to_rps": {
                "description": "What a load in steps falls to after the last one, for `watch_s`; 0 for none.",
                "type": "number", "minimum": 0, "maximum": 10_000_000, "default": 0,
            },
            "good_ms": {
                "description": "In a load in steps: an answer within it counts to goodput; `timeout_ms` by default.",
                "type": "number", "minimum": 1, "maximum": 600_000, "default": 1000,
            },
            "normal_ms": {
                "description": "In a load in steps: an answer within it is as in normal times, for recovery; `good_ms` by default.",
                "type": "number", "minimum": 1, "maximum": 600_000, "default": 1000,
            },
        },
    })
}

/// The `axes` table: a list of values for each parameter that is swept.
fn swept(kind: Kind) -> Schema {
    let list = |mut values: Value| {
        let object = values.as_object_mut();
        let description = object.and_then(|values| {
            values.remove("default");
            values.remove("description")
        });
        let mut list = json!({ "type": "array", "items": values, "minItems": 1, "uniqueItems": true });
        if let Some(description) = description {
            list["description"] = description;
        }
        list
    };
    let mut schema = fixed(kind);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        *properties =
            std::mem::take(properties).into_iter().map(|(name, of)| (name, list(of))).collect::<Map<_, _>>();
    }
    if let Some(others) = schema.get_mut("additionalProperties").filter(|others| others.is_object()) {
        *others = list(others.take());
    }
    schema
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kumite_record::{AxisValue, Point};

    use super::*;
    use crate::function::FunctionWorkload;
    use crate::http::HttpWorkload;
    use crate::pacing::PacingWorkload;
    use crate::spec::Answer;
    use crate::task::TaskWorkload;

    type Given = BTreeMap<String, AxisValue>;

    /// The workload as text, without what is only passed on.
    fn read(kind: Kind, given: &Given) -> Option<String> {
        match kind {
            Kind::Http => {
                let read = HttpWorkload::new(given, &Point::default(), &Answer::default()).ok()?;
                Some(format!("{read:?}"))
            }
            Kind::Task => {
                let read = TaskWorkload::new(given, &Point::default()).ok()?;
                Some(format!("{:?}", TaskWorkload { params: Value::Null, ..read }))
            }
            Kind::Function => {
                let read = FunctionWorkload::new(given, &Point::default()).ok()?;
                Some(format!("{:?}", FunctionWorkload { parameters: Given::new(), ..read }))
            }
            Kind::Pacing => Some(format!("{:?}", PacingWorkload::new(given, &Point::default()).ok()?)),
        }
    }

    fn accepts(kind: Kind, name: &str, value: &Value) -> bool {
        let value: AxisValue = serde_json::from_value(value.clone()).unwrap();
        read(kind, &[(name.to_owned(), value)].into()).is_some()
    }

    #[test]
    fn the_schema_says_what_a_workload_accepts() {
        for (kind, parameters) in [
            (Kind::Http, HttpWorkload::PARAMETERS),
            (Kind::Task, TaskWorkload::PARAMETERS),
            (Kind::Function, FunctionWorkload::PARAMETERS),
            (Kind::Pacing, PacingWorkload::PARAMETERS),
        ] {
            let schema = fixed(kind).to_value();
            let properties = schema["properties"].as_object().unwrap();
            let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
            names.sort_unstable();
            let mut known = parameters.to_vec();
            known.sort_unstable();
            assert_eq!(names, known);
            for (name, of) in properties {
                agrees(kind, name, of);
            }
        }
    }

    fn agrees(kind: Kind, name: &str, of: &Value) {
        let default: AxisValue = serde_json::from_value(of["default"].clone()).unwrap();
        let given = [(name.to_owned(), default)].into();
        assert_eq!(read(kind, &given), read(kind, &Given::new()), "default of {name}");
        for of in of["anyOf"].as_array().unwrap_or(&vec![of.clone()]) {
            for value in of["enum"].as_array().into_iter().flatten().chain(of.get("const")) {
                assert!(accepts(kind, name, value), "{name} {value}");
            }
            if let (Some(low), Some(high)) = (of["minimum"].as_f64(), of["maximum"].as_f64()) {
                assert!(accepts(kind, name, &of["minimum"]) && accepts(kind, name, &of["maximum"]), "{name}");
                let (below, above) = match of["type"].as_str() {
                    Some("integer") => ((low as i64 - 1).into(), (high as i64 + 1).into()),
                    _ => ((low - 0.01).into(), (high + 0.01).into()),
                };
                assert!(
                    !accepts(kind, name, &below) && !accepts(kind, name, &above),
                    "{name} {below} {above}"
                );
            }
        }
        let is_text = of["type"] == "string" && of["enum"].is_null();
        assert!(is_text || !accepts(kind, name, &"sure".into()), "{name}");
    }

    #[test]
    fn a_task_or_a_function_has_parameters_of_its_own() {
        assert!(!accepts(Kind::Http, "students", &30.into()));
        for kind in [Kind::Task, Kind::Function] {
            assert!(accepts(kind, "students", &30.into()));
            assert!(swept(kind).to_value()["additionalProperties"]["items"].is_object());
        }
        assert_eq!(swept(Kind::Http).to_value()["additionalProperties"], false);
    }
}
