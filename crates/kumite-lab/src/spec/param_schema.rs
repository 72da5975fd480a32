//! The parameters of workloads, as the schema of experiment.toml describes them.

use schemars::{Schema, json_schema};
use serde_json::{Map, Value, json};

use crate::driver::{KINDS, Registration};
use crate::parameter::{MOST_CORES, Param, Takes};

/// Makes the tables `workload` and `axes` of an experiment and of its profiles depend on the kind.
pub(crate) fn by_kind(schema: &mut Schema) {
    // A request may name parameters of the experiment's own.
    let has_requests = json!({ "anyOf": [{ "required": ["request"] }, { "required": ["session"] }] });
    let of = |kind: &Registration, takes_others: bool, with_requests: Option<bool>| {
        let described = |mut table: Schema, what: &str| {
            table.insert("description".to_owned(), what.into());
            table.to_value()
        };
        let tables = |labels| {
            json!({
                "workload": described(fixed(kind, takes_others), "Fixed parameters."),
                "axes": described(swept(kind, takes_others, labels), "Parameters that are swept."),
            })
        };
        let mut all = tables(true).as_object().cloned().unwrap_or_default();
        let profiles = json!({
            "description": "What a profile overrides.", "additionalProperties": { "properties": tables(false) },
        });
        all.insert("profiles".to_owned(), profiles);
        let mut holds = json!({
            "properties": { "kind": { "description": "The kind.", "const": kind.name.as_str() } },
        });
        match with_requests {
            None => {}
            Some(true) => holds["allOf"] = json!([has_requests]),
            Some(false) => holds["not"] = has_requests.clone(),
        }
        json!({ "if": holds, "then": { "properties": all } })
    };
    let all = KINDS.into_iter().flat_map(|kind| match kind.keys.contains(&"request") {
        true => vec![of(kind, kind.takes_others, Some(false)), of(kind, true, Some(true))],
        false => vec![of(kind, kind.takes_others, None)],
    });
    schema.insert("allOf".to_owned(), all.collect::<Vec<Value>>().into());
}

/// The schema of the `workload` table of a kind: a value for each parameter, and for others if it `takes_others`.
fn fixed(kind: &Registration, takes_others: bool) -> Schema {
    let properties: Map<String, Value> =
        kind.params.iter().map(|param| (param.name.to_owned(), of_param(param))).collect();
    let others = match takes_others {
        true => json!({ "type": ["integer", "number", "string", "boolean"] }),
        false => false.into(),
    };
    json_schema!({ "type": "object", "additionalProperties": others, "properties": properties })
}

fn of_param(param: &Param) -> Value {
    let mut of = match &param.takes {
        Takes::Count { default, least, most } => {
            json!({ "type": "integer", "minimum": least, "maximum": most, "default": default })
        }
        Takes::Number { default, least, most } => {
            json!({ "type": "number", "minimum": least, "maximum": most, "default": default })
        }
        Takes::Steps { default, least, most } => {
            let number = json!({ "type": "number", "minimum": least, "maximum": most });
            json!({ "anyOf": [number, { "type": "string" }], "default": default })
        }
        Takes::Text { default } => json!({ "type": "string", "default": default }),
        Takes::Word(words) => json!({ "type": "string", "enum": words, "default": words[0] }),
        Takes::Flag => json!({ "type": "boolean", "default": false }),
        Takes::Cores => {
            let count = json!({ "type": "integer", "minimum": 1, "maximum": MOST_CORES });
            json!({ "anyOf": [count, { "const": "all" }], "default": 1 })
        }
    };
    let like = param.like.map_or(String::new(), |other| format!(" `{other}` by default."));
    of["description"] = format!("{}{like}", param.about).into();
    of
}

/// The schema of the `axes` table of a kind: a list of values for each parameter that is swept or, if `labels` is
/// true and it may be a text, a table of texts with labels.
fn swept(kind: &Registration, takes_others: bool, labels: bool) -> Schema {
    let list = |mut values: Value| {
        let object = values.as_object_mut();
        let description = object.and_then(|values| {
            values.remove("default");
            values.remove("description")
        });
        let may_be_text = match &values["type"] {
            Value::Array(types) => types.contains(&"string".into()),
            one => one == "string" && values["enum"].is_null(),
        };
        let mut list = json!({ "type": "array", "items": values, "minItems": 1, "uniqueItems": true });
        if labels && may_be_text {
            let text = json!({ "type": "string" });
            let about = "File with the text, relative to the experiment's folder.";
            let file = json!({
                "type": "object", "properties": { "file": { "type": "string", "description": about } }, "required": ["file"], "additionalProperties": false,
            });
            let texts = json!({ "anyOf": [text, file] });
            let table = json!({ "type": "object", "additionalProperties": texts, "minProperties": 1 });
            list = json!({ "anyOf": [list, table] });
        }
        if let Some(description) = description {
            list["description"] = description;
        }
        list
    };
    let mut schema = fixed(kind, takes_others);
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
    use kumite_record::AxisValue;

    use super::*;
    use crate::driver::function::FunctionWorkload;
    use crate::driver::task::TaskWorkload;
    use crate::driver::{Answer, Scenario};
    use crate::driver::{function, http, task};
    use crate::parameter::Parameters;

    /// The workload as text, without parameters that are only passed on. None if the parameters are refused.
    fn read(kind: &Registration, given: &Parameters) -> Option<String> {
        let read = (kind.workload)(given, &Answer::default(), &Scenario::default()).ok()?;
        Some(if kind.name == task::KIND.name {
            format!("{:?}", TaskWorkload { params: Value::Null, ..TaskWorkload::new(given).ok()? })
        } else if kind.name == function::KIND.name {
            let read = FunctionWorkload::new(given).ok()?;
            format!("{:?}", FunctionWorkload { parameters: Parameters::new(), ..read })
        } else {
            format!("{read:?}")
        })
    }

    fn accepts(kind: &Registration, name: &str, value: &Value) -> bool {
        let value: AxisValue = serde_json::from_value(value.clone()).unwrap();
        let mut given: Parameters = [(name.to_owned(), value)].into();
        // One connection of HTTP/1.1 carries one request, so that several need another protocol beside them.
        if name == "streams" {
            given.insert("protocol".to_owned(), AxisValue::Text("h2".to_owned()));
        }
        read(kind, &given).is_some()
    }

    #[test]
    fn the_schema_says_what_a_workload_accepts() {
        for kind in KINDS {
            let schema = fixed(kind, kind.takes_others).to_value();
            for (name, of) in schema["properties"].as_object().unwrap() {
                agrees(kind, name, of);
            }
        }
    }

    fn agrees(kind: &Registration, name: &str, of: &Value) {
        let default: AxisValue = serde_json::from_value(of["default"].clone()).unwrap();
        let given = [(name.to_owned(), default)].into();
        assert_eq!(read(kind, &given), read(kind, &Parameters::new()), "default of {name}");
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
        assert!(!accepts(&http::KIND, "students", &30.into()));
        for kind in [&task::KIND, &function::KIND] {
            assert!(accepts(kind, "students", &30.into()));
            assert!(
                swept(kind, kind.takes_others, false).to_value()["additionalProperties"]["items"].is_object()
            );
        }
        assert_eq!(swept(&http::KIND, false, true).to_value()["additionalProperties"], false);
    }
}
