//! Checks that must see the whole body of an answer.

use std::sync::OnceLock;

use serde_json::Value;

use crate::json::Json;

/// The longest body in bytes (16 MiB) for a check that must see the whole body at once.
pub(crate) const BODY_LIMIT: usize = 16 * 1024 * 1024;
pub(crate) const EXCERPT: usize = 80;
/// The most bytes that are shown of a line that breaks the rules of HTTP.
const LINE: usize = 400;

/// A check that must see the whole body. A body is wrong if it is longer than 16 MiB, or if there is no memory left to
/// hold it: all connections together hold at most 512 MiB of bodies longer than 64 KiB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Check {
    /// The body contains these bytes.
    Contains(Vec<u8>),
    /// The pattern matches somewhere in the body.
    Matches(Pattern),
    /// The body is JSON, and has the given values at the given places.
    Json(JsonCheck),
}

/// Values that a JSON body must have at places. Two checks are equal if they ask for the same values at the same
/// places.
#[derive(Debug, Clone)]
pub struct JsonCheck {
    parts: Vec<JsonPart>,
    /// The first body that was found right; unset before that. A body of the same bytes is right without being
    /// parsed.
    right: OnceLock<Vec<u8>>,
}

/// A value that a JSON body must have at a place.
#[derive(Debug, Clone)]
pub struct JsonPart {
    /// The place of the value, as an RFC 6901 pointer; empty for the whole body.
    pointer: String,
    /// The value asked for. Integers are equal if all their digits are, other numbers also if they are the same
    /// double. The order of keys does not matter.
    value: Json,
    /// An integer may be written with a point or an exponent: 3 is 3.0.
    is_like: bool,
}

impl PartialEq for JsonCheck {
    fn eq(&self, other: &JsonCheck) -> bool {
        self.parts == other.parts
    }
}

impl Eq for JsonCheck {}

impl PartialEq for JsonPart {
    fn eq(&self, other: &JsonPart) -> bool {
        (&self.pointer, &self.value, self.is_like) == (&other.pointer, &other.value, other.is_like)
    }
}

impl Eq for JsonPart {}

impl JsonPart {
    /// A check that the whole body is this value. An integer equals no number that is written with a point or an
    /// exponent.
    pub fn whole(value: Json) -> JsonPart {
        JsonPart { pointer: String::new(), value, is_like: false }
    }

    /// A check that the body has this value at `pointer` (RFC 6901). Numbers may be written in another way: 3 and 3.0
    /// are the same. An error if `pointer` is no JSON pointer.
    pub fn at(pointer: &str, value: Json) -> Result<JsonPart, CheckError> {
        Ok(JsonPart { pointer: checked_pointer(pointer)?, value, is_like: true })
    }

    /// Reads `POINTER=VALUE`. The text after the first `=` is taken as JSON, or as a plain string if it is not JSON.
    /// An integer equals no number that is written with a point or an exponent. An error if there is no `=`, or no
    /// JSON pointer before it.
    pub fn parse(text: &str) -> Result<JsonPart, CheckError> {
        let (pointer, value) =
            text.split_once('=').ok_or_else(|| CheckError::NoValue { text: text.to_owned() })?;
        let pointer = checked_pointer(pointer)?;
        let value = Json::parse(value.as_bytes()).unwrap_or_else(|_| Json::from(&Value::from(value)));
        Ok(JsonPart { pointer, value, is_like: false })
    }

    fn allows(&self, body: &Json) -> bool {
        body.at(&self.pointer).is_some_and(|found| match self.is_like {
            true => found.is_like(&self.value),
            false => found.is(&self.value),
        })
    }

    /// A description of a JSON body in which this part is wrong.
    fn describe(&self, body: &Json) -> String {
        let place = if self.pointer.is_empty() { "it" } else { &self.pointer };
        match body.at(&self.pointer) {
            None => format!(" with nothing at {place}"),
            Some(found) => {
                let [found, value] = [&found, &self.value].map(|it| shorten(it.to_string()));
                format!(" where {place} is {found}, not {value}")
            }
        }
    }
}

fn checked_pointer(pointer: &str) -> Result<String, CheckError> {
    let names = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if names && (pointer.is_empty() || pointer.starts_with('/')) {
        Ok(pointer.to_owned())
    } else {
        Err(CheckError::Pointer { pointer: pointer.to_owned() })
    }
}

impl JsonCheck {
    fn allows(&self, body: &[u8]) -> bool {
        if self.right.get().is_some_and(|right| right == body) {
            return true;
        }
        let parsed = Json::parse(body);
        let is_right = parsed.is_ok_and(|body| self.parts.iter().all(|part| part.allows(&body)));
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

impl Pattern {
    /// A pattern in the syntax of the `regex` crate. An error if the text is no regular expression, or is too large.
    pub fn new(pattern: &str) -> Result<Pattern, CheckError> {
        let regex = regex::bytes::Regex::new(pattern);
        regex.map(Pattern).map_err(|source| CheckError::Pattern { pattern: pattern.to_owned(), source })
    }

    pub(crate) fn allows(&self, bytes: &[u8]) -> bool {
        self.0.is_match(bytes)
    }

    pub(crate) fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// The reason why a text cannot be made a check.
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
    /// The text is no SHA-256 digest.
    #[error("{text:?} is no SHA-256 digest: it has 64 hexadecimal digits, as sha256sum prints them")]
    Digest {
        /// The text that was given.
        text: String,
    },
    /// The name cannot be that of a header.
    #[error("{name:?} is not a header's name: write it as content-type")]
    HeaderName {
        /// The name that was given.
        name: String,
    },
    /// The text has no `=` between pointer and value.
    #[error("{text:?} has no =: write POINTER=VALUE, for example /items/0/id=3")]
    NoValue {
        /// The text that was given.
        text: String,
    },
    /// The text is no RFC 6901 pointer.
    #[error(
        "{pointer:?} is not a JSON pointer: write it as /items/0/id, with ~1 for / and ~0 for ~ within a name"
    )]
    Pointer {
        /// The pointer that was given; in `POINTER=VALUE` it is the text before the first `=`.
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
        Pattern::new(pattern).map(Check::Matches)
    }

    /// A check that the body is JSON, and has all these values. Without any, every JSON body is right.
    pub fn json(parts: Vec<JsonPart>) -> Check {
        Check::Json(JsonCheck { parts, right: OnceLock::new() })
    }

    /// Returns `true` if the whole body is right.
    pub(crate) fn allows(&self, body: &[u8]) -> bool {
        match self {
            Check::Contains(text) => memchr::memmem::find(body, text).is_some(),
            Check::Matches(pattern) => pattern.allows(body),
            Check::Json(json) => json.allows(body),
        }
    }

    /// A description of a wrong body, to stand behind a number of bytes.
    pub(crate) fn describe(&self, body: &[u8]) -> String {
        let words = match self {
            Check::Contains(text) => format!(" without {:?}", excerpt(text)),
            Check::Matches(pattern) => format!(" that {:?} does not match", pattern.as_str()),
            Check::Json(JsonCheck { parts, .. }) => match Json::parse(body) {
                Err(error) => format!(" that are not JSON: {error}"),
                Ok(body) => {
                    let wrong = parts.iter().find(|part| !part.allows(&body));
                    wrong.map_or(String::new(), |part| part.describe(&body))
                }
            },
        };
        if body.is_empty() { words } else { format!(" {:?}{words}", excerpt(body)) }
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

pub(crate) fn shorten(mut text: String) -> String {
    if text.len() > EXCERPT {
        text.truncate(text.floor_char_boundary(EXCERPT));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(parts: &[&str]) -> Check {
        Check::json(parts.iter().map(|text| JsonPart::parse(text).unwrap()).collect())
    }

    #[test]
    fn a_check_tells_right_bodies_from_wrong_ones() {
        for (check, right, wrong) in [
            (Check::contains("pong").unwrap(), &["pong", "a pong b"][..], &["", "pon g", "PONG"][..]),
            (Check::contains("\0\u{ff}").unwrap(), &["x\0\u{ff}"], &["\0"]),
            (Check::matches("^[0-9]{2}$").unwrap(), &["12"], &["1", "123", "12\n"]),
            (Check::matches("id=\\d+").unwrap(), &["<a id=7>"], &["id="]),
            (
                json(&["/a/b=3"]),
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
                json(&["/fib=354224848179261915075"]),
                &["{\"fib\":354224848179261915075}"],
                &["{\"fib\":354224848179261915000}", "{\"fib\":3.54224848179261915075e20}"],
            ),
            (json(&["/a=ok"]), &["{\"a\":\"ok\"}"], &["ok"]),
            (json(&["/a=\"3\""]), &["{\"a\":\"3\"}"], &["{\"a\":3}"]),
            (json(&["/a="]), &["{\"a\":\"\"}"], &["{\"a\":null}"]),
            (json(&["/a=b=c"]), &["{\"a\":\"b=c\"}"], &["{\"a\":\"b\"}"]),
            (json(&["/x~1y/1=null"]), &["{\"x/y\":[0,null]}"], &["{\"x/y\":[null]}"]),
            (json(&["/a=1", "/b/0=2"]), &["{\"a\":1,\"b\":[2]}"], &["{\"a\":1}", "{\"a\":2,\"b\":[2]}"]),
            (
                Check::json(vec![JsonPart::at("/a", Json::parse(b"3").unwrap()).unwrap()]),
                &["{\"a\":3}", "{\"a\":3.0}"],
                &["{\"a\":4}", "3"],
            ),
            (json(&["={\"b\":1,\"a\":2}"]), &["{ \"a\": 2, \"b\": 1 }"], &["{}"]),
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
        let check = Check::json(vec![JsonPart::whole(value.clone())]);
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
        assert_eq!(
            check,
            Check::json(vec![JsonPart::whole(value)]),
            "what was seen is no part of what is asked"
        );
    }

    #[test]
    fn a_text_that_is_no_check_is_refused() {
        for (result, message) in [
            (Check::contains(""), "empty"),
            (Check::matches("a("), "the pattern \"a(\": "),
            (JsonPart::parse("/a").map(|part| Check::json(vec![part])), "\"/a\" has no ="),
            (JsonPart::parse("a=3").map(|part| Check::json(vec![part])), "\"a\" is not a JSON pointer"),
            (JsonPart::parse("/a~2=3").map(|part| Check::json(vec![part])), "not a JSON pointer"),
            (JsonPart::parse("/a~=3").map(|part| Check::json(vec![part])), "not a JSON pointer"),
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
            (Check::contains("a").unwrap(), &*long, format!(" {:?} without \"a\"", "x".repeat(80))),
            (Check::matches("p.ng").unwrap(), "nope", " \"nope\" that \"p.ng\" does not match".to_owned()),
            (json(&["/a=3"]), "{\"a\":4}", " \"{\\\"a\\\":4}\" where /a is 4, not 3".to_owned()),
            (
                json(&["/a=4", "/b=3"]),
                "{\"a\":4,\"b\":5}",
                " \"{\\\"a\\\":4,\\\"b\\\":5}\" where /b is 5, not 3".to_owned(),
            ),
            (json(&["/b=3"]), "{}", " \"{}\" with nothing at /b".to_owned()),
            (json(&["=3"]), "4", " \"4\" where it is 4, not 3".to_owned()),
            (
                json(&["/a=3"]),
                "{",
                " \"{\" that are not JSON: EOF while parsing an object at line 1 column 1".to_owned(),
            ),
        ] {
            assert!(!check.allows(body.as_bytes()));
            assert_eq!(check.describe(body.as_bytes()), words);
        }
    }
}
