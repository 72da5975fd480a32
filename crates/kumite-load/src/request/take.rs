//! Values that a session takes from an answer, for its later requests.

use crate::field::is_token;
use crate::json::Json;
use crate::request::component::Component;

/// The most bytes of a value.
pub(crate) const LONGEST: usize = 64 * 1024;

/// A value that a step takes from its answer. In later steps of the session its name in double braces stands for it.
#[derive(Debug, Clone)]
pub struct Take {
    /// The name of the value.
    pub name: String,
    /// The place of the value.
    pub place: TakePlace,
}

/// The place of a value in an answer.
#[derive(Debug, Clone)]
pub struct TakePlace(Place);

#[derive(Debug, Clone)]
enum Place {
    /// The value at this RFC 6901 pointer of a JSON body: a string without its quotes, anything else as it is written.
    Json(String),
    /// The one group of this pattern, where it first matches in the body.
    Regex(regex::bytes::Regex),
    /// The value of this header; of several the first.
    Header(String),
    /// The value of the cookie of this name that the answer sets.
    Cookie(String),
}

/// The reason why a text cannot be a place of a value.
#[derive(Debug, thiserror::Error)]
pub enum TakeError {
    /// The text is no RFC 6901 pointer.
    #[error(
        "{pointer:?} is not a JSON pointer: write it as /items/0/id, with ~1 for / and ~0 for ~ within a name"
    )]
    Pointer {
        /// The text that was given.
        pointer: String,
    },
    /// The pattern is no regular expression, or is too large.
    #[error("the pattern {pattern:?}: {source}")]
    Pattern {
        /// The pattern that was given.
        pattern: String,
        /// The error of the `regex` crate, which shows the place of a syntax error.
        source: regex::Error,
    },
    /// The pattern has no group, or several.
    #[error("the pattern {pattern:?} has {groups} groups, and must have one, which is the value: a(…)b")]
    Groups {
        /// The pattern that was given.
        pattern: String,
        /// The number of its groups.
        groups: usize,
    },
    /// The name cannot be that of a header or of a cookie.
    #[error("{name:?} is not the name of a header or a cookie")]
    Name {
        /// The name that was given.
        name: String,
    },
}

/// The reason why a value cannot be taken from an answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Untaken {
    #[error("the body is too long to be kept")]
    BodyNotKept,
    #[error("the body is no JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    #[error("the body has nothing at {0}")]
    NothingAt(String),
    #[error("the body has null at {0}")]
    NullAt(String),
    #[error("{0:?} does not match the body")]
    NoMatch(String),
    #[error("the answer has no header {0}")]
    NoHeader(String),
    #[error("the answer sets no cookie {0}")]
    NoCookie(String),
    #[error("the value has {bytes} bytes, more than {LONGEST}")]
    TooLong { bytes: usize },
    #[error("the value holds {found:?}, which a {} must not", used_in.in_words())]
    Unfit { found: char, used_in: Component },
}

impl TakePlace {
    /// The value at a JSON pointer in a JSON body: a string without its quotes, anything but null as it is written. An
    /// error if the text is no JSON pointer.
    pub fn json(pointer: &str) -> Result<TakePlace, TakeError> {
        let names = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
        if !names || !(pointer.is_empty() || pointer.starts_with('/')) {
            return Err(TakeError::Pointer { pointer: pointer.to_owned() });
        }
        Ok(TakePlace(Place::Json(pointer.to_owned())))
    }

    /// The text that the one group of a regular expression matches, where the expression first matches in the body. An
    /// error if the text is no regular expression, is too large, or does not have exactly one group.
    pub fn regex(pattern: &str) -> Result<TakePlace, TakeError> {
        let own = || pattern.to_owned();
        let regex = regex::bytes::Regex::new(pattern);
        let regex = regex.map_err(|source| TakeError::Pattern { pattern: own(), source })?;
        match regex.captures_len() - 1 {
            1 => Ok(TakePlace(Place::Regex(regex))),
            groups => Err(TakeError::Groups { pattern: own(), groups }),
        }
    }

    /// The value of a header; the first one if the header comes several times. An error if the name cannot be that of a
    /// header.
    pub fn header(name: &str) -> Result<TakePlace, TakeError> {
        Ok(TakePlace(Place::Header(checked(name)?)))
    }

    /// The value of a cookie that the answer sets. An error if the name cannot be that of a cookie.
    pub fn cookie(name: &str) -> Result<TakePlace, TakeError> {
        Ok(TakePlace(Place::Cookie(checked(name)?)))
    }

    pub(crate) fn is_in_body(&self) -> bool {
        matches!(self.0, Place::Json(_) | Place::Regex(_))
    }

    pub(crate) fn is_in_head(&self) -> bool {
        !self.is_in_body()
    }

    fn find<'a>(&self, answer: KeptAnswer<'a, impl Iterator<Item = Field<'a>>>) -> Result<Vec<u8>, Untaken> {
        match &self.0 {
            Place::Json(pointer) => {
                let body = Json::parse(answer.body.ok_or(Untaken::BodyNotKept)?).map_err(Untaken::NotJson)?;
                let found = body.at(pointer).ok_or_else(|| Untaken::NothingAt(pointer.clone()))?;
                found.text().ok_or_else(|| Untaken::NullAt(pointer.clone())).map(String::into_bytes)
            }
            Place::Regex(regex) => {
                let body = answer.body.ok_or(Untaken::BodyNotKept)?;
                let group = regex.captures(body).and_then(|captures| captures.get(1));
                let group = group.ok_or_else(|| Untaken::NoMatch(regex.as_str().to_owned()))?;
                Ok(group.as_bytes().to_vec())
            }
            Place::Header(name) => {
                let value = answer.values(name).next();
                Ok(value.ok_or_else(|| Untaken::NoHeader(name.clone()))?.to_vec())
            }
            Place::Cookie(name) => {
                let value = answer.values("set-cookie").find_map(|cookie| {
                    let pair = cookie.split(|&byte| byte == b';').next()?;
                    let at = pair.iter().position(|&byte| byte == b'=')?;
                    (pair[..at].trim_ascii() == name.as_bytes()).then(|| pair[at + 1..].trim_ascii())
                });
                Ok(value.ok_or_else(|| Untaken::NoCookie(name.clone()))?.to_vec())
            }
        }
    }
}

fn checked(name: &str) -> Result<String, TakeError> {
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(TakeError::Name { name: name.to_owned() });
    }
    Ok(name.to_owned())
}

/// The name and the value of a header.
pub(crate) type Field<'a> = (&'a [u8], &'a [u8]);

/// The parts of an answer that were kept for its values.
pub(crate) struct KeptAnswer<'a, F> {
    /// The whole body; `None` if it was too long to be kept.
    pub body: Option<&'a [u8]>,
    /// The headers in the order in which they came.
    pub fields: F,
}

impl<'a, F: Iterator<Item = Field<'a>>> KeptAnswer<'a, F> {
    fn values(self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        self.fields.filter(move |(own, _)| own.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}

/// A value to take, made ready: the index of its name in the session, and the strictest place in which it is used.
#[derive(Debug, Clone)]
pub(crate) struct Taking {
    pub take: Take,
    pub index: usize,
    pub used_in: Component,
}

impl Taking {
    /// The value, with the index of its name.
    pub fn value<'a>(
        &self,
        answer: KeptAnswer<'a, impl Iterator<Item = Field<'a>>>,
    ) -> Result<(usize, Vec<u8>), Untaken> {
        let value = self.take.place.find(answer)?;
        if value.len() > LONGEST {
            return Err(Untaken::TooLong { bytes: value.len() });
        }
        if let Some(at) = value.iter().position(|&byte| !self.used_in.allows(byte)) {
            let found = String::from_utf8_lossy(&value[at..]).chars().next().unwrap_or_default();
            return Err(Untaken::Unfit { found, used_in: self.used_in });
        }
        Ok((self.index, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expect;
    use crate::protocol::response::{Asked, Keep, Reader};

    const HEAD: &str =
        "HTTP/1.1 200 OK\r\nX-Id: 7\r\nx-id: 8\r\nSet-Cookie: a=b\r\nSet-Cookie: c = d=e ; Path=/\r\n";

    fn taken(place: TakePlace, used_in: Component, body: &str) -> Result<String, Untaken> {
        let taking = Taking { take: Take { name: "x".into(), place }, index: 3, used_in };
        let keep = Keep { head: taking.take.place.is_in_head(), body: taking.take.place.is_in_body() };
        let asked = Asked { keep, ..Asked::new(false, false, Expect::default(), false) };
        let mut reader = Reader::new();
        let answer = format!("{HEAD}Content-Length: {}\r\n\r\n{body}", body.len());
        assert!(reader.feed(answer.as_bytes(), &asked).unwrap().is_some());
        let (index, value) = taking.value(reader.kept())?;
        assert_eq!(index, 3);
        Ok(String::from_utf8(value).unwrap())
    }

    #[test]
    fn a_value_is_taken_from_its_place() {
        let json = |pointer| TakePlace::json(pointer).unwrap();
        let body = "{\"token\": \"a\\u00e9\\n\", \"n\": [1.50, {\"b\": 2}], \"no\": null}";
        for (place, value) in [
            (json("/token"), "aé\n"),
            (json("/n/0"), "1.50"),
            (json("/n/1"), "{\"b\":2}"),
            (TakePlace::regex("\"tok(.)n").unwrap(), "e"),
            (TakePlace::header("X-ID").unwrap(), "7"),
            (TakePlace::cookie("a").unwrap(), "b"),
            (TakePlace::cookie("c").unwrap(), "d=e"),
        ] {
            assert_eq!(taken(place.clone(), Component::Body, body).unwrap(), value, "{place:?}");
        }
        for (place, used_in, why) in [
            (json("/x"), Component::Body, "the body has nothing at /x"),
            (json("/no"), Component::Body, "the body has null at /no"),
            (json("/token"), Component::HeaderValue, "the value holds '\\n', which a header must not"),
            (json("/token"), Component::Path, "the value holds 'é', which a path must not"),
            (TakePlace::regex("tik(.)n").unwrap(), Component::Body, "\"tik(.)n\" does not match the body"),
            (TakePlace::header("x").unwrap(), Component::Body, "the answer has no header x"),
            (TakePlace::cookie("A").unwrap(), Component::Body, "the answer sets no cookie A"),
        ] {
            assert_eq!(taken(place.clone(), used_in, body).unwrap_err().to_string(), why, "{place:?}");
        }
        let long = "x".repeat(LONGEST + 1);
        let all = TakePlace::regex("(.*)").unwrap();
        assert_eq!(
            taken(all, Component::Body, &long).unwrap_err().to_string(),
            "the value has 65537 bytes, more than 65536"
        );
        assert_eq!(
            taken(json("/a"), Component::Body, "x").unwrap_err().to_string(),
            "the body is no JSON: expected value at line 1 column 1"
        );
    }

    #[test]
    fn a_place_that_is_none_is_refused() {
        assert!(matches!(TakePlace::json("a"), Err(TakeError::Pointer { .. })));
        assert!(matches!(TakePlace::json("/~2"), Err(TakeError::Pointer { .. })));
        assert!(matches!(TakePlace::regex("("), Err(TakeError::Pattern { .. })));
        assert!(matches!(TakePlace::regex("a"), Err(TakeError::Groups { groups: 0, .. })));
        assert!(matches!(TakePlace::regex("(a)(b)"), Err(TakeError::Groups { groups: 2, .. })));
        assert!(matches!(TakePlace::header("a b"), Err(TakeError::Name { .. })));
        assert!(matches!(TakePlace::cookie(""), Err(TakeError::Name { .. })));
    }
}
