//! The right answer of a server, as the load engine checks it at a point.

use kumite_load::{Check, CheckError, Expect, HeaderCheck, Json, JsonPart, Pattern};
use serde_json::Value;

use super::answer::{HeaderValue, Length, parameter_of};
use crate::driver::Answer;
use crate::parameter::{Parameters, as_json};
use crate::unfit::Unfit;

impl Answer {
    /// The answer that the load engine expects if the workload has these parameters. The error names the key of a text
    /// or a pattern that cannot be used, for example because it refers to a parameter that is not given.
    pub fn expect(&self, parameters: &Parameters) -> Result<Expect, Unfit> {
        let text = |key, text: &str| resolved(key, text, parameters);
        let unfit = |key| move |error: CheckError| Unfit::of_answer(key, error.to_string());
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let check = match value {
                HeaderValue::Equals(value) => HeaderCheck::equals(name, &text("headers", value)?),
                HeaderValue::Matches(value) => {
                    Pattern::new(&value.matches).and_then(|pattern| HeaderCheck::matches(name, pattern))
                }
            };
            headers.push(check.map_err(unfit("headers"))?);
        }
        let mut checks = Vec::new();
        for given in self.contains.texts() {
            checks.push(Check::contains(text("contains", given)?).map_err(unfit("contains"))?);
        }
        checks.extend(self.matches.iter().cloned().map(Check::Matches));
        let mut parts = Vec::new();
        parts.extend(self.equals_json.as_ref().map(|value| JsonPart::whole(value.into())));
        for (pointer, value) in &self.at {
            let value = match value {
                Value::String(text) => referred("at", text, parameters)?.unwrap_or_else(|| value.clone()),
                _ => value.clone(),
            };
            parts.push(JsonPart::at(pointer, Json::from(&value)).map_err(unfit("at"))?);
        }
        if !parts.is_empty() {
            checks.push(Check::json(parts));
        }
        let equals = self.equals.as_ref().map(|given| text("equals", given)).transpose()?;
        let sha256 = self.sha256.as_ref().map(|given| text("sha256", given)).transpose()?;
        Ok(Expect {
            status: self.status,
            headers,
            equals: equals.map(String::into_bytes),
            length: self.length.as_ref().map(|length| bytes(length, parameters)).transpose()?,
            sha256: sha256.map(|digest| digest.parse().map_err(unfit("sha256"))).transpose()?,
            checks,
        })
    }
}

fn bytes(length: &Length, parameters: &Parameters) -> Result<u64, Unfit> {
    match length {
        Length::Bytes(bytes) => Ok(*bytes),
        Length::Parameter(given) => {
            let value = referred("length", given, parameters)?;
            value.and_then(|value| value.as_u64()).ok_or_else(|| {
                let what =
                    format!("`length` is a number of bytes, or a parameter that is one, not {given:?}");
                Unfit::of_answer("length", what)
            })
        }
    }
}

/// A text as it is meant: the value of the parameter if it is `$name`.
fn resolved(key: &'static str, text: &str, parameters: &Parameters) -> Result<String, Unfit> {
    Ok(match referred(key, text, parameters)? {
        Some(Value::String(text)) => text,
        Some(value) => value.to_string(),
        None => text.to_owned(),
    })
}

/// The value that a text of this key stands for, if it is `$name`, or `$$name` for the text itself. None for any other
/// text.
fn referred(key: &'static str, text: &str, parameters: &Parameters) -> Result<Option<Value>, Unfit> {
    let escaped = text.strip_prefix('$').filter(|rest| parameter_of(rest).is_some());
    if let Some(text) = escaped {
        return Ok(Some(text.into()));
    }
    let Some(name) = parameter_of(text) else { return Ok(None) };
    let value = parameters.get(name).map(as_json);
    value.map(Some).ok_or_else(|| {
        let what = format!(
            "`{key}` takes ${name}, and neither [workload] nor [axes] has '{name}' (write $${name} for the text itself)"
        );
        Unfit::of_answer(key, what)
    })
}

#[cfg(test)]
mod tests {
    use kumite_record::AxisValue;

    use super::*;

    fn answer(text: &str) -> Answer {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn each_key_is_a_check_and_a_parameter_has_its_value_at_the_point() {
        let digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let parameters = [
            ("body".to_owned(), AxisValue::Text("ping".into())),
            ("n".to_owned(), AxisValue::Int(7)),
            ("digest".to_owned(), AxisValue::Text(digest.into())),
        ]
        .into();
        let found = answer(
            r#"
            status = 201
            equals = "$body"
            equals_json = { a = 1 }
            at = { "/a" = "$n", "/b" = [1, "$n"], "/c" = "$$n" }
            contains = ["$n", "$5", "$$n"]
            matches = "^$n"
            headers = { content-type = { matches = "^text/" }, x-n = "$n" }
            length = "$n"
            sha256 = "$digest"
            "#,
        )
        .expect(&parameters)
        .unwrap();
        let json = |text: &str| Json::parse(text.as_bytes()).unwrap();
        let expected = Expect {
            status: Some(201),
            headers: vec![
                HeaderCheck::matches("content-type", Pattern::new("^text/").unwrap()).unwrap(),
                HeaderCheck::equals("x-n", "7").unwrap(),
            ],
            equals: Some(b"ping".to_vec()),
            length: Some(7),
            sha256: digest.parse().ok(),
            checks: vec![
                Check::contains("7").unwrap(),
                Check::contains("$5").unwrap(),
                Check::contains("$n").unwrap(),
                Check::matches("^$n").unwrap(),
                Check::json(vec![
                    JsonPart::whole(json("{\"a\":1}")),
                    JsonPart::at("/a", json("7")).unwrap(),
                    JsonPart::at("/b", json("[1,\"$n\"]")).unwrap(),
                    JsonPart::at("/c", json("\"$n\"")).unwrap(),
                ]),
            ],
        };
        assert_eq!(found, expected);
        assert_eq!(Answer::default().expect(&Parameters::new()).unwrap(), Expect::default());
    }
}
