//! JSON without its secrets. What is no secret keeps the characters that it was written with, so numbers keep their
//! digits.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::secret::{INSTEAD, Secret, is_secret};

/// The deepest nesting in which secrets are looked for.
const DEEPEST: usize = 100;

/// The result of taking the secrets out of a text.
pub(crate) enum Cleaned {
    /// The text, with what was taken from it.
    Clean(String, Vec<Secret>),
    /// The text is nested deeper than secrets are looked for.
    TooDeep,
    /// The text is no JSON.
    Other,
}

/// A text of JSON without its secrets. If there are none it is the same text.
pub(crate) fn clean(text: &str) -> Cleaned {
    let Ok(value) = serde_json::from_str::<&RawValue>(text) else {
        // The parser gives up on deep nesting, and that is no reason to look no further.
        let nested = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count() > DEEPEST;
        let begins = text.trim_start().starts_with(['{', '[']);
        return if nested && begins { Cleaned::TooDeep } else { Cleaned::Other };
    };
    let mut cleaning = Cleaning { out: String::new(), taken: Vec::new() };
    match cleaning.value(value, "", false, DEEPEST) {
        None => Cleaned::TooDeep,
        Some(()) if cleaning.taken.is_empty() => Cleaned::Clean(text.to_owned(), Vec::new()),
        Some(()) => Cleaned::Clean(cleaning.out, cleaning.taken),
    }
}

/// True if a text is JSON with a secret in it, or too deep to know.
pub(crate) fn holds_secret(text: &str) -> bool {
    let begins = text.trim_start().starts_with(['{', '[']);
    begins
        && match clean(text) {
            Cleaned::Clean(_, taken) => !taken.is_empty(),
            Cleaned::TooDeep => true,
            Cleaned::Other => false,
        }
}

struct Cleaning {
    out: String,
    taken: Vec<Secret>,
}

impl Cleaning {
    /// Writes a value; `None` if it is too deep.
    fn value(&mut self, value: &RawValue, at: &str, secret: bool, deepest: usize) -> Option<()> {
        let deepest = deepest.checked_sub(1)?;
        let text = value.get();
        match text.as_bytes().first()? {
            b'{' => {
                let Members(members) = serde_json::from_str(text).ok()?;
                self.out.push('{');
                for (nth, (name, value)) in members.iter().enumerate() {
                    let comma = if nth == 0 { "" } else { "," };
                    self.out += &format!("{comma}{}:", serde_json::Value::from(name.as_ref()));
                    // Numbers of tokens are counts (`max_tokens`).
                    let is_count = name.to_ascii_lowercase().ends_with("tokens") && is_number(value.get());
                    let secret = secret || (is_secret(name) && !is_count);
                    let name = name.replace('~', "~0").replace('/', "~1");
                    self.value(value, &format!("{at}/{name}"), secret, deepest)?;
                }
                self.out.push('}');
            }
            b'[' => {
                let values: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                self.out.push('[');
                for (nth, value) in values.into_iter().enumerate() {
                    self.out += if nth == 0 { "" } else { "," };
                    self.value(value, &format!("{at}/{nth}"), secret, deepest)?;
                }
                self.out.push(']');
            }
            b'"' if secret
                || serde_json::from_str::<Cow<str>>(text).is_ok_and(|text| holds_secret(&text)) =>
            {
                self.out += &format!("\"{INSTEAD}\"");
                self.taken.push(Secret::Body { name: at.to_owned() });
            }
            _ if secret && is_number(text) => {
                self.out.push('0');
                self.taken.push(Secret::Body { name: at.to_owned() });
            }
            _ => self.out += text,
        }
        Some(())
    }
}

fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// The members of an object in their order, also those whose name comes twice.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Members<'a>, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    members.push((Cow::Owned(name), value));
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> (String, Vec<String>) {
        match clean(text) {
            Cleaned::Clean(text, taken) => (text, taken.iter().map(ToString::to_string).collect()),
            Cleaned::TooDeep => ("too deep".to_owned(), Vec::new()),
            Cleaned::Other => ("no JSON".to_owned(), Vec::new()),
        }
    }

    #[test]
    fn what_is_no_secret_keeps_its_value_and_its_type() {
        let (text, taken) = cleaned(
            r#"{"n": 12345678901234567890123, "x": 1.0, "e": 1e5, "password": "p", "pin": 1234, "max_tokens": 9.50,
            "remember_password": true, "session": {"id": "s", "nr": -1, "of": ["t", null]}, "a/b": [{"Token": "t"}], "é": "\u00e9"}"#,
        );
        assert_eq!(
            text,
            r#"{"n":12345678901234567890123,"x":1.0,"e":1e5,"password":"***","pin":0,"max_tokens":9.50,"remember_password":true,"session":{"id":"***","nr":0,"of":["***",null]},"a/b":[{"Token":"***"}],"é":"\u00e9"}"#
        );
        assert_eq!(
            taken,
            [
                "body /password",
                "body /pin",
                "body /session/id",
                "body /session/nr",
                "body /session/of/0",
                "body /a~1b/0/Token"
            ]
        );
    }

    #[test]
    fn json_without_a_secret_is_the_same_text_and_what_is_none_is_told() {
        let text = "{ \"a\" : [ 1.50 ,2 ] }\n";
        assert_eq!(cleaned(text), (text.to_owned(), Vec::new()));
        assert_eq!(cleaned("a=b").0, "no JSON");
        assert_eq!(cleaned(&"[".repeat(100_000)).0, "too deep");
        assert_eq!(cleaned(&format!("{}{}", "[".repeat(120), "]".repeat(120))).0, "too deep");
        assert_eq!(cleaned(r#"{"a":"{\"token\":1}"}"#).0, r#"{"a":"***"}"#);
        assert_eq!(cleaned(r#"{"token":"a","token":"b"}"#).0, r#"{"token":"***","token":"***"}"#);
    }
}
