//! The flags for the right answer to a request of `kumite load`.

use kumite_load::{Check, CheckError, Expect, HeaderCheck, JsonPart, Pattern, Sha256Digest};

use super::request::header;
use crate::exit::Failure;

#[derive(clap::Args)]
#[command(next_help_heading = "Right answers (all that is given must hold)")]
#[group(skip)]
pub struct Args {
    /// Status of a right answer [default: any 2xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    expect_status: Option<u16>,
    /// Header of a right answer, e.g. 'content-type: text/html' (may be given several times, as the next four)
    #[arg(long, value_name = "HEADER", value_parser = header)]
    expect_header: Vec<(String, String)>,
    /// Pattern that a header of a right answer matches, e.g. 'content-type: ^text/'
    #[arg(long, value_name = "NAME: REGEX", value_parser = header)]
    expect_header_regex: Vec<(String, String)>,
    /// Text in the body of a right answer
    #[arg(long, value_name = "TEXT")]
    expect_contains: Vec<String>,
    /// Pattern that the body of a right answer matches
    #[arg(long, value_name = "REGEX")]
    expect_regex: Vec<String>,
    /// Value in the JSON of a right answer, e.g. /items/0/id=3
    #[arg(long, value_name = "POINTER=VALUE")]
    expect_json: Vec<String>,
    /// Whole body of a right answer [default: any]
    #[arg(long, value_name = "TEXT")]
    expect_body: Option<String>,
    /// Length of the body of a right answer, in bytes
    #[arg(long, value_name = "BYTES")]
    expect_length: Option<u64>,
    /// SHA-256 digest of the body of a right answer
    #[arg(long, value_name = "DIGEST")]
    expect_sha256: Option<String>,
}

impl Args {
    pub fn expect(&self) -> Result<Expect, Failure> {
        self.checks().map_err(|error| Failure::Usage(error.to_string()))
    }

    fn checks(&self) -> Result<Expect, CheckError> {
        let mut headers = Vec::new();
        for (name, value) in &self.expect_header {
            headers.push(HeaderCheck::equals(name, value)?);
        }
        for (name, pattern) in &self.expect_header_regex {
            headers.push(HeaderCheck::matches(name, Pattern::new(pattern)?)?);
        }
        let mut checks = Vec::new();
        for text in &self.expect_contains {
            checks.push(Check::contains(text.clone())?);
        }
        for pattern in &self.expect_regex {
            checks.push(Check::matches(pattern)?);
        }
        if !self.expect_json.is_empty() {
            let parts = self.expect_json.iter().map(|text| JsonPart::parse(text));
            checks.push(Check::json(parts.collect::<Result<_, _>>()?));
        }
        let sha256: Option<Sha256Digest> = self.expect_sha256.as_deref().map(str::parse).transpose()?;
        Ok(Expect {
            status: self.expect_status,
            headers,
            equals: self.expect_body.clone().map(String::into_bytes),
            length: self.expect_length,
            sha256,
            checks,
        })
    }

    /// True if the command line asks for more of right answers than the default, any 2xx; also if one of these flags
    /// has a wrong value.
    pub fn is_given(&self) -> bool {
        !self.checks().is_ok_and(|expect| expect == Expect::default())
    }
}
