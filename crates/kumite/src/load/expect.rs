//! The flags for the right answer to a request of `kumite load`.

use kumite_load::{Check, Expect};

use crate::exit::Failure;

#[derive(clap::Args)]
#[command(next_help_heading = "Right answers")]
#[group(skip)]
pub struct Args {
    /// Status of a right answer [default: any 2xx]
    #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(100..=599))]
    expect_status: Option<u16>,
    /// Whole body of a right answer [default: any]
    #[arg(long, value_name = "TEXT", group = "expected_body")]
    expect_body: Option<String>,
    /// Text in the body of a right answer
    #[arg(long, value_name = "TEXT", group = "expected_body")]
    expect_contains: Option<String>,
    /// Pattern that the body of a right answer matches
    #[arg(long, value_name = "REGEX", group = "expected_body")]
    expect_regex: Option<String>,
    /// Value in the JSON of a right answer, e.g. /items/0/id=3
    #[arg(long, value_name = "POINTER=VALUE", group = "expected_body")]
    expect_json: Option<String>,
}

impl Args {
    pub fn expect(&self) -> Result<Expect, Failure> {
        let body = match (&self.expect_body, &self.expect_contains, &self.expect_regex, &self.expect_json) {
            (Some(body), ..) => Ok(Check::Equals(body.clone().into_bytes())),
            (_, Some(text), ..) => Check::contains(text.clone()),
            (_, _, Some(pattern), _) => Check::matches(pattern),
            (.., Some(text)) => Check::json(text),
            _ => Ok(Check::Any),
        };
        Ok(Expect {
            status: self.expect_status,
            body: body.map_err(|error| Failure::Usage(error.to_string()))?,
        })
    }

    /// True if the command line says more of right answers than the default, any 2xx.
    pub fn is_given(&self) -> bool {
        let bodies = [&self.expect_body, &self.expect_contains, &self.expect_regex, &self.expect_json];
        self.expect_status.is_some() || bodies.iter().any(|body| body.is_some())
    }
}
