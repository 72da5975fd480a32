//! Checks of an answer's body.

use std::fmt::Write;
use std::sync::OnceLock;

use serde_json::Value;

use crate::json::Json;

/// The longest body in bytes (16 MiB) for a check that must see the whole body at once.
pub(crate) const BODY_LIMIT: usize = 16 * 1024 * 1024;
pub(crate) const EXCERPT: usize = 80;
/// The most bytes that are shown of a line that breaks the rules of HTTP.
const LINE: usize = 400;

/// A check that tells a right body from a wrong one. All but `Any` and `Equals` hold the body until it is whole. They
/// find a body wrong that is longer than 16 MiB, or for which there is no memory left: all connections together may
/// hold 512 MiB.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Check {
    /// Every body is right.
    #[default]
    Any,
    /// The body is exactly these bytes. They are compared as they come, so that no body is held.
    Equals(Vec<u8>),
    /// The body contains these bytes.
    Contains(Vec<u8>),
    /// The pattern matches somewhere in the body.
    Matches(Pattern),
    /// The body is JSON, and has a given value at a given place.
    Json(JsonCheck),
}

/// A value that a JSON body must have at a place. Two checks are equal if they ask for the same value at the same
/// place.
#[derive(Debug, Clone)]
pub struct JsonCheck {
    /// The place of the value, as an RFC 6901 pointer; empty for the whole body.
    pointer: String,
    /// The value asked for. Integers are equal if all their digits are, other numbers also if they are the same
    /// double; an integer equals no other number (3 is not 3.0). The order of keys does not matter.
    value: Json,
    /// The first body that was found right; unset before that. A body of the same bytes is right without being
    /// parsed.
    right: OnceLock<Vec<u8>>,
}

impl PartialEq for JsonCheck {
    fn eq(&self, other: &JsonCheck) -> bool {
        (&self.pointer, &self.value) == (&other.pointer, &other.value)
    }
}

impl Eq for JsonCheck {}

impl JsonCheck {
    fn allows(&self, body: &[u8]) -> bool {
        if self.right.get().is_some_and(|right| right == body) {
            return true;
        }
        let found = Json::parse(body).ok().and_then(|body| body.at(&self.pointer));
        let is_right = found.is_some_and(|found| found.is(&self.value));
        if is_right {
            self.right.get_or_init(|| body.to_vec());
        }
        is_right
    }
}

/// A regular expression over bytes, in the syntax of the `regex` crate. Two are equal if they are written alike.
#[derive(Debug, Clone)]
pub struct Pattern(regex::bytes::Regex);

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

/// Why a text cannot be made a check of a body.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The text to look for is empty.
    #[error("an empty text is in every body: give one that the body must contain")]
    Empty,
    /// The pattern is no regular expression, or is too large.
    #[error("the pattern {pattern:?}: {source}")]
    Pattern {
        /// The pattern that was given.
        pattern: String,
        /// The error of the `regex` crate, which shows the place of a syntax error.
        source: regex::Error,
    },
    /// The text has no `=` between pointer and value.
    #[error("{text:?} has no =: write POINTER=VALUE, for example /items/0/id=3")]
    NoValue {
        /// The text that was given.
        text: String,
    },
    /// The text before the `=` is no RFC 6901 pointer.
    #[error(
        "{pointer:?} is not a JSON pointer: write it as /items/0/id, with ~1 for / and ~0 for ~ within a name"
    )]
    Pointer {
        /// The text before the first `=`.
        pointer: String,
    },
}

impl Check {
    /// A check that the body contains `text`. An error if `text` is empty.
    pub fn contains(text: impl Into<Vec<u8>>) -> Result<Check, CheckError> {
        let text = text.into();
        if text.is_empty() { Err(CheckError::Empty) } else { Ok(Check::Contains(text)) }
    }

    /// A check that the regular expression `pattern` matches somewhere in the body. An error if it is no regular
    /// expression, or is too large.
    pub fn matches(pattern: &str) -> Result<Check, CheckError> {
        let regex = regex::bytes::Regex::new(pattern);
        let regex = regex.map_err(|source| CheckError::Pattern { pattern: pattern.to_owned(), source })?;
        Ok(Check::Matches(Pattern(regex)))
    }

    /// A check of a JSON body, from `POINTER=VALUE`. The text after the first `=` is taken as JSON, or as a plain
    /// string if it is not JSON. An error if there is no `=`, or no JSON pointer before it.
    pub fn json(text: &str) -> Result<Check, CheckError> {
        let (pointer, value) =
            text.split_once('=').ok_or_else(|| CheckError::NoValue { text: text.to_owned() })?;
        let names = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if !names || !(pointer.is_empty() || pointer.starts_with('/')) {
            return Err(CheckError::Pointer { pointer: pointer.to_owned() });
        }
        let value = Json::parse(value.as_bytes()).unwrap_or_else(|_| Json::from(&Value::from(value)));
        Ok(Check::Json(JsonCheck { pointer: pointer.to_owned(), value, right: OnceLock::new() }))
    }

    /// A check that the whole body is this JSON value.
    pub fn json_value(value: Json) -> Check {
        Check::Json(JsonCheck { pointer: String::new(), value, right: OnceLock::new() })
    }

    /// Returns `true` if the check must see the whole body at once.
    pub(crate) fn holds_body(&self) -> bool {
        !matches!(self, Check::Any | Check::Equals(_))
    }

    /// Returns `true` if the whole body is right.
    pub(crate) fn allows(&self, body: &[u8]) -> bool {
        match self {
            Check::Any => true,
            Check::Equals(expected) => body == expected,
            Check::Contains(text) => memchr::memmem::find(body, text).is_some(),
            Check::Matches(pattern) => pattern.0.is_match(body),
            Check::Json(json) => json.allows(body),
        }
    }

    /// A description of a wrong body, to stand behind a number of bytes; it begins with a blank or a comma. `body`
    /// has the bytes that were held, which begin at byte `from` of the whole body.
    pub(crate) fn describe(&self, body: &[u8], from: usize) -> String {
        let mut words = String::new();
        if !body.is_empty() {
            write!(words, " {:?}", excerpt(body)).ok();
        }
        match self {
            Check::Any => {}
            Check::Equals(expected) => {
                match expected.get(from..).unwrap_or_default() {
                    [] => write!(words, " after its end"),
                    rest => write!(words, ", not {:?}", shorten(String::from_utf8_lossy(rest).into_owned())),
                }
                .unwrap_or_default();
            }
            Check::Contains(text) => write!(words, " without {:?}", excerpt(text)).unwrap_or_default(),
            Check::Matches(pattern) => {
                write!(words, " that {:?} does not match", pattern.0.as_str()).unwrap_or_default();
            }
            Check::Json(JsonCheck { pointer, value, .. }) => {
                let place = if pointer.is_empty() { "it" } else { pointer };
                match Json::parse(body) {
                    Err(error) => write!(words, " that are not JSON: {error}"),
                    Ok(body) => match body.at(pointer) {
                        None => write!(words, " with nothing at {place}"),
                        Some(found) => {
                            let [found, value] = [&found, value].map(|it| shorten(it.to_string()));
                            write!(words, " where {place} is {found}, not {value}")
                        }
                    },
                }
                .unwrap_or_default();
            }
        }
        words
    }
}

/// A line that a server sent, quoted, without anything that a terminal would act on. It is cut after 400 bytes.
pub(crate) fn whole_line(line: &[u8]) -> String {
    let cut = &line[..line.len().min(LINE)];
    let rest = if cut.len() < line.len() { "…" } else { "" };
    format!("{:?}{rest}", String::from_utf8_lossy(cut))
}

pub(crate) fn excerpt(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(&bytes[..bytes.len().min(EXCERPT)])
}

fn shorten(mut text: String) -> String {
    if text.len() > EXCERPT {
        text.truncate(text.floor_char_boundary(EXCERPT));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_tells_right_bodies_from_wrong_ones() {
        for (check, right, wrong) in [
            (Check::contains("pong").unwrap(), &["pong", "a pong b"][..], &["", "pon g", "PONG"][..]),
            (Check::contains("\0\u{ff}").unwrap(), &["x\0\u{ff}"], &["\0"]),
            (Check::matches("^[0-9]{2}$").unwrap(), &["12"], &["1", "123", "12\n"]),
            (Check::matches("id=\\d+").unwrap(), &["<a id=7>"], &["id="]),
            (
                Check::json("/a/b=3").unwrap(),
                &["{\"a\":{\"b\":3,\"c\":4}}"],
                &[
                    "{\"a\":{\"b\":4}}",
                    "{\"a\":{\"b\":\"3\"}}",
                    "{\"a\":{\"b\":3.0}}",
                    "{\"a\":3}",
                    "{\"a\":{\"b\":3}} x",
                    "",
                ],
            ),
            (
                Check::json("/fib=354224848179261915075").unwrap(),
                &["{\"fib\":354224848179261915075}"],
                &["{\"fib\":354224848179261915000}", "{\"fib\":3.54224848179261915075e20}"],
            ),
            (Check::json("/a=ok").unwrap(), &["{\"a\":\"ok\"}"], &["ok"]),
            (Check::json("/a=\"3\"").unwrap(), &["{\"a\":\"3\"}"], &["{\"a\":3}"]),
            (Check::json("/a=").unwrap(), &["{\"a\":\"\"}"], &["{\"a\":null}"]),
            (Check::json("/a=b=c").unwrap(), &["{\"a\":\"b=c\"}"], &["{\"a\":\"b\"}"]),
            (Check::json("/x~1y/1=null").unwrap(), &["{\"x/y\":[0,null]}"], &["{\"x/y\":[null]}"]),
            (Check::json("={\"b\":1,\"a\":2}").unwrap(), &["{ \"a\": 2, \"b\": 1 }"], &["{}"]),
        ] {
            for body in right {
                assert!(check.allows(body.as_bytes()), "{check:?} {body:?}");
            }
            for body in wrong {
                assert!(!check.allows(body.as_bytes()), "{check:?} {body:?}");
            }
        }
        assert!(Check::matches("(?-u)\\xff").unwrap().allows(b"a\xff"), "bytes need not be UTF-8");
    }

    #[test]
    fn a_json_body_is_right_however_it_is_written_and_its_bytes_are_parsed_once() {
        let value = Json::parse(r#"{"a": [1, "é"], "b": null}"#.as_bytes()).unwrap();
        let check = Check::json_value(value.clone());
        let Check::Json(json) = &check else { panic!("{check:?}") };
        for wrong in ["", "{}", r#"{"a":[1.0,"é"],"b":null}"#, r#"{"a":[1,"é"],"b":null} x"#] {
            assert!(!check.allows(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(json.right.get(), None);
        let first = "{\"b\":null, \"a\":[1,\"\\u00e9\"]}\n";
        for right in [first, r#"{"a":[1,"é"],"b":null}"#, first] {
            assert!(check.allows(right.as_bytes()), "{right}");
        }
        assert_eq!(json.right.get().map(Vec::as_slice), Some(first.as_bytes()));
        assert!(!check.allows(b"{}"), "another body is parsed as before");
        assert_eq!(check, Check::json_value(value), "what was seen is no part of what is asked");
    }

    #[test]
    fn a_text_that_is_no_check_is_refused() {
        for (result, message) in [
            (Check::contains(""), "empty"),
            (Check::matches("a("), "the pattern \"a(\": "),
            (Check::json("/a"), "\"/a\" has no ="),
            (Check::json("a=3"), "\"a\" is not a JSON pointer"),
            (Check::json("/a~2=3"), "not a JSON pointer"),
            (Check::json("/a~=3"), "not a JSON pointer"),
        ] {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_wrong_body_is_described() {
        let long = "x".repeat(200);
        for (check, body, words) in [
            (Check::contains("pong").unwrap(), "pink", " \"pink\" without \"pong\"".to_owned()),
            (Check::contains("pong").unwrap(), "", " without \"pong\"".to_owned()),
            (Check::Equals(b"pong".to_vec()), "pang", " \"pang\", not \"pong\"".to_owned()),
            (Check::contains("a").unwrap(), &*long, format!(" {:?} without \"a\"", "x".repeat(80))),
            (Check::matches("p.ng").unwrap(), "nope", " \"nope\" that \"p.ng\" does not match".to_owned()),
            (Check::json("/a=3").unwrap(), "{\"a\":4}", " \"{\\\"a\\\":4}\" where /a is 4, not 3".to_owned()),
            (Check::json("/b=3").unwrap(), "{}", " \"{}\" with nothing at /b".to_owned()),
            (Check::json("=3").unwrap(), "4", " \"4\" where it is 4, not 3".to_owned()),
            (
                Check::json("/a=3").unwrap(),
                "{",
                " \"{\" that are not JSON: EOF while parsing an object at line 1 column 1".to_owned(),
            ),
        ] {
            assert!(!check.allows(body.as_bytes()));
            assert_eq!(check.describe(body.as_bytes(), 0), words);
        }
    }
}
