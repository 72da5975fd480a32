//! The answer that is expected of a request: every part that is given must match.
//!
//! The whole body, its length and its digest are checked as the body comes, so that no body is held for them. A
//! [`Check`] holds the body until it is whole.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::check::{Check, CheckError, EXCERPT, Pattern, excerpt};
use crate::field::is_token;

/// The answer that a request should have. Any other answer is a failure. By default every answer with a status of 2xx
/// is right.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expect {
    /// The expected status; `None` for any 2xx.
    pub status: Option<u16>,
    /// The checks of headers, all of which must pass.
    pub headers: Vec<HeaderCheck>,
    /// The exact bytes of the body; `None` for any body.
    pub equals: Option<Vec<u8>>,
    /// The length of the body in bytes; `None` for any length.
    pub length: Option<u64>,
    /// The SHA-256 digest of the body; `None` for any digest.
    pub sha256: Option<Sha256Digest>,
    /// The checks that must see the whole body, all of which must pass.
    pub checks: Vec<Check>,
}

/// A check of a header. If the header comes several times, one of its values must be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderCheck {
    /// The header's name, in any case.
    name: String,
    value: ExpectedValue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ExpectedValue {
    Equals(Vec<u8>),
    Matches(Pattern),
}

/// The SHA-256 digest of a body. It is parsed from 64 hexadecimal digits, and shown as such.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sha256Digest(pub(crate) [u8; 32]);

impl FromStr for Sha256Digest {
    type Err = CheckError;

    fn from_str(text: &str) -> Result<Sha256Digest, CheckError> {
        let wrong = || CheckError::Digest { text: text.to_owned() };
        let digits = text.as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, place) in bytes.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Sha256Digest(bytes))
    }
}

impl Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl HeaderCheck {
    /// A check that the header has this value, without blanks around it. An error if the name cannot be that of a
    /// header.
    pub fn equals(name: &str, value: &str) -> Result<HeaderCheck, CheckError> {
        HeaderCheck::new(name, ExpectedValue::Equals(value.trim_ascii().as_bytes().to_vec()))
    }

    /// A check that the pattern matches somewhere in the header's value. An error if the name cannot be that of a
    /// header.
    pub fn matches(name: &str, pattern: Pattern) -> Result<HeaderCheck, CheckError> {
        HeaderCheck::new(name, ExpectedValue::Matches(pattern))
    }

    fn new(name: &str, value: ExpectedValue) -> Result<HeaderCheck, CheckError> {
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(CheckError::HeaderName { name: name.to_owned() });
        }
        Ok(HeaderCheck { name: name.to_ascii_lowercase(), value })
    }

    fn allows(&self, value: &[u8]) -> bool {
        match &self.value {
            ExpectedValue::Equals(expected) => value == expected,
            ExpectedValue::Matches(pattern) => pattern.allows(value),
        }
    }
}

/// The first check of a header that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongHeader {
    /// The position of the check in [`Expect::headers`].
    nth: usize,
    /// The beginning of the header's first value; `None` if the header is not there.
    found: Option<Vec<u8>>,
}

/// The first part of an [`Expect`] that a body does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrongBody {
    Equals,
    Length,
    /// The body has this digest.
    Sha256(Sha256Digest),
    /// The check at this position in [`Expect::checks`] failed.
    Check(usize),
}

impl Expect {
    /// Returns `true` if the status is right.
    pub(crate) fn allows_status(&self, status: u16) -> bool {
        self.status.map_or((200..300).contains(&status), |expected| status == expected)
    }

    /// The first check of a header that these fields, names with values, do not pass; `None` if they pass all.
    pub(crate) fn wrong_header<'h, I: Iterator<Item = (&'h [u8], &'h [u8])>>(
        &self,
        fields: impl Fn() -> I,
    ) -> Option<WrongHeader> {
        self.headers.iter().enumerate().find_map(|(nth, check)| {
            let mut values = fields()
                .filter(|(name, _)| name.eq_ignore_ascii_case(check.name.as_bytes()))
                .map(|(_, value)| value.trim_ascii());
            let first = values.next();
            if first.into_iter().chain(values).any(|value| check.allows(value)) {
                return None;
            }
            let found = first.map(|value| value[..value.len().min(EXCERPT)].to_vec());
            Some(WrongHeader { nth, found })
        })
    }

    /// A wrong header in words, to stand behind a number of bytes.
    pub(crate) fn describe_header(&self, WrongHeader { nth, found }: &WrongHeader) -> String {
        let HeaderCheck { name, value } = &self.headers[*nth];
        match (found, value) {
            (None, _) => format!(", without the header {name}"),
            (Some(found), ExpectedValue::Equals(expected)) => {
                format!(", with the header {name}: {:?}, not {:?}", excerpt(found), excerpt(expected))
            }
            (Some(found), ExpectedValue::Matches(pattern)) => {
                let (found, pattern) = (excerpt(found), pattern.as_str());
                format!(", with the header {name}: {found:?}, which {pattern:?} does not match")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_right_if_one_of_its_values_is() {
        let head: &[(&[u8], &[u8])] =
            &[(b"Content-Type", b" text/html "), (b"vary", b"accept"), (b"Vary", b"origin")];
        let fields = || head.iter().copied();
        let pattern = |text| Pattern::new(text).unwrap();
        for (check, words) in [
            (HeaderCheck::equals("content-type", "text/html"), None),
            (HeaderCheck::equals("VARY", "origin "), None),
            (HeaderCheck::matches("vary", pattern("^or")), None),
            (
                HeaderCheck::equals("content-type", "text"),
                Some(r#", with the header content-type: "text/html", not "text""#),
            ),
            (
                HeaderCheck::matches("Vary", pattern("^x")),
                Some(r#", with the header vary: "accept", which "^x" does not match"#),
            ),
            (HeaderCheck::equals("etag", ""), Some(", without the header etag")),
        ] {
            let first = HeaderCheck::matches("vary", pattern("")).unwrap();
            let expect = Expect { headers: vec![first, check.unwrap()], ..Expect::default() };
            let wrong = expect.wrong_header(fields);
            assert_eq!(wrong.map(|wrong| expect.describe_header(&wrong)).as_deref(), words);
        }
    }

    #[test]
    fn a_digest_is_64_hexadecimal_digits() {
        let text = "9f86D081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let digest: Sha256Digest = text.parse().unwrap();
        assert_eq!((digest.0[0], digest.0[31], digest.to_string()), (0x9f, 0x08, text.to_ascii_lowercase()));
        for wrong in ["", &text[1..], &format!("+{}", &text[1..]), &"é".repeat(32)] {
            assert!(wrong.parse::<Sha256Digest>().is_err(), "{wrong}");
        }
        for wrong in ["", "content type", "é"] {
            assert!(HeaderCheck::equals(wrong, "").is_err(), "{wrong}");
        }
    }
}
