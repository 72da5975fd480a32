//! `kumite load --scenario`: requests and sessions from a file.

use std::path::PathBuf;

use kumite_lab::read_scenario;
use kumite_load::{Rows, Session, Target};

use crate::exit::Failure;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// TOML file with requests and user sessions, in place of the path, the other flags of this section and the right
    /// answers: see docs/load-engine.md
    #[arg(long, value_name = "FILE", help_heading = "Request", conflicts_with_all = [
        "weights", "method", "body", "body_file", "headers", "content_type", "accept", "csv", "expect_status",
        "expect_header", "expect_header_regex", "expect_contains", "expect_regex", "expect_json", "expect_body",
        "expect_length", "expect_sha256",
    ])]
    scenario: Option<PathBuf>,
}

impl Args {
    pub fn is_given(&self) -> bool {
        self.scenario.is_some()
    }

    /// The sessions and rows of the file, for the server of this target; none if there is no file. An error if the URL
    /// says more than the server, or there are several.
    pub fn read(&self, urls: &[String], target: &Target) -> Result<Option<(Vec<Session>, Rows)>, Failure> {
        let Some(file) = &self.scenario else { return Ok(None) };
        if let [_, second, ..] = urls {
            return Err(Failure::Usage(format!(
                "with --scenario there is one URL, of the server: leave out {second}"
            )));
        }
        if target.path != "/" {
            return Err(Failure::Usage(format!(
                "{target}: with --scenario the file has the paths, and the URL only the server: leave out {}",
                target.path
            )));
        }
        read_scenario(file, target).map(Some).map_err(|error| Failure::Usage(error.to_string()))
    }
}
