//! The parameters of an http workload as the schema describes them. What counts is what [`super::HttpWorkload`] accepts;
//! the test holds the two together.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The `workload` table: a value for each parameter.
pub(crate) struct Fixed;

impl JsonSchema for Fixed {
    fn schema_name() -> Cow<'static, str> {
        "Workload".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        fixed()
    }
}

/// The `axes` table: a list of values for each parameter that is swept.
pub(crate) struct Swept;

impl JsonSchema for Swept {
    fn schema_name() -> Cow<'static, str> {
        "Axes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        swept()
    }
}

fn fixed() -> Schema {
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
                "description": "Keep-alive connections, each with one request in flight.",
                "type": "integer", "minimum": 1, "maximum": 100_000, "default": 50,
            },
            "rate_rps": {
                "description": "Requests a second, whatever the contender makes of them (open loop); 0 for a closed loop.",
                "type": "number", "minimum": 0, "maximum": 10_000_000, "default": 0,
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
                "description": "Length of the measured window.",
                "type": "number", "minimum": 0.1, "maximum": 86_400, "default": 5,
            },
            "warm_up_s": {
                "description": "Time under load before the window.",
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
                "description": "How long the contender is watched after the disturbance.",
                "type": "number", "minimum": 1, "maximum": 600, "default": 6,
            },
        },
    })
}

fn swept() -> Schema {
    let mut schema = fixed();
    let properties = schema.get_mut("properties").and_then(|properties| properties.as_object_mut());
    for parameter in properties.into_iter().flat_map(|properties| properties.values_mut()) {
        let (description, mut values) = (parameter["description"].take(), parameter.take());
        if let Some(values) = values.as_object_mut() {
            values.retain(|key, _| key != "default" && key != "description");
        }
        let list = json_schema!({
            "description": description, "type": "array", "items": values, "minItems": 1, "uniqueItems": true,
        });
        *parameter = list.to_value();
    }
    schema
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Point};
    use serde_json::Value;

    use super::*;
    use crate::http::HttpWorkload;
    use crate::spec::Answer;

    fn accepts(name: &str, value: &Value) -> bool {
        let value: AxisValue = serde_json::from_value(value.clone()).unwrap();
        HttpWorkload::new(&[(name.to_owned(), value)].into(), &Point::default(), &Answer::default()).is_ok()
    }

    #[test]
    fn the_schema_says_what_a_workload_accepts() {
        let schema = fixed().to_value();
        let properties = schema["properties"].as_object().unwrap();
        let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
        names.sort_unstable();
        let mut known = HttpWorkload::PARAMETERS.to_vec();
        known.sort_unstable();
        assert_eq!(names, known);
        let none = HttpWorkload::new(&Default::default(), &Point::default(), &Answer::default()).unwrap();
        for (name, of) in properties {
            let default: AxisValue = serde_json::from_value(of["default"].clone()).unwrap();
            let given = [(name.clone(), default)].into();
            let given = HttpWorkload::new(&given, &Point::default(), &Answer::default()).unwrap();
            assert_eq!(format!("{given:?}"), format!("{none:?}"), "default of {name}");
            for of in of["anyOf"].as_array().unwrap_or(&vec![of.clone()]) {
                for value in of["enum"].as_array().into_iter().flatten().chain(of.get("const")) {
                    assert!(accepts(name, value), "{name} {value}");
                }
                if let (Some(low), Some(high)) = (of["minimum"].as_f64(), of["maximum"].as_f64()) {
                    assert!(accepts(name, &of["minimum"]) && accepts(name, &of["maximum"]), "{name}");
                    let (below, above) = match of["type"].as_str() {
                        Some("integer") => ((low as i64 - 1).into(), (high as i64 + 1).into()),
                        _ => ((low - 0.01).into(), (high + 0.01).into()),
                    };
                    assert!(!accepts(name, &below) && !accepts(name, &above), "{name} {below} {above}");
                }
            }
            let is_text = of["type"] == "string" && of["enum"].is_null();
            assert!(is_text || !accepts(name, &"sure".into()), "{name}");
        }
    }
}
