//! `kumite load --scenario` and `--from-har`: requests and sessions from a file.

use std::io::Read;
use std::path::{Path, PathBuf};

use kumite_har::{LARGEST, LONGEST_PAUSE_MS, Origin, Scenario};
use kumite_lab::{ScenarioLoad, SpecError, read_scenario, scenario_of};
use kumite_load::Target;

use super::request::unreadable;
use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
#[group(skip)]
pub struct Args {
    /// TOML file with requests and user sessions, in place of the path, the other flags of this section and the right
    /// answers: see docs/load-engine.md
    #[arg(long, value_name = "FILE", help_heading = "Request", conflicts_with_all = [
        "weights", "method", "body", "body_file", "headers", "content_type", "accept", "csv", "expect_status",
        "expect_header", "expect_header_regex", "expect_contains", "expect_regex", "expect_json", "expect_body",
        "expect_length", "expect_sha256", "from_har",
    ])]
    scenario: Option<PathBuf>,
    /// Browser's recording (HAR), whose requests to the URL's server are a session, without their secrets; in place of a
    /// scenario
    #[arg(long, value_name = "FILE", help_heading = "Request", conflicts_with_all = [
        "weights", "method", "body", "body_file", "headers", "content_type", "accept", "csv", "expect_status",
        "expect_header", "expect_header_regex", "expect_contains", "expect_regex", "expect_json", "expect_body",
        "expect_length", "expect_sha256",
    ])]
    from_har: Option<PathBuf>,
    /// Write the scenario of --from-har (- for standard output), for editing, and send nothing
    #[arg(long, value_name = "FILE", help_heading = "Request", requires = "from_har", conflicts_with_all = [
        "find_rate", "json", "markdown", "html",
    ])]
    write_scenario: Option<PathBuf>,
}

impl Args {
    /// True if `--scenario` or `--from-har` is given: its file has the requests and their right answers.
    pub fn is_given(&self) -> bool {
        self.scenario.is_some() || self.from_har.is_some()
    }

    /// Writes the scenario of a recording, if `--write-scenario` asks for it. Returns `true` if it was written. An
    /// error if the recording cannot be read, the file cannot be written, or there is not exactly one URL.
    pub fn write(&self, urls: &[String]) -> Result<bool, Failure> {
        let (Some(har), Some(file)) = (&self.from_har, &self.write_scenario) else { return Ok(false) };
        output::check_files([file].into_iter())?;
        let url = self.one_url(urls, "--from-har")?;
        output::write(file, &recorded(har, url)?.toml)?;
        Ok(true)
    }

    /// The load of the file, for the server of this target; `None` if no file is given. An error if the URL has a path,
    /// if there are several URLs, or if the file cannot be read.
    pub fn read(&self, urls: &[String], target: &Target) -> Result<Option<ScenarioLoad>, Failure> {
        let flag = match (&self.scenario, &self.from_har) {
            (None, None) => return Ok(None),
            (Some(_), _) => "--scenario",
            (None, Some(_)) => "--from-har",
        };
        let url = self.one_url(urls, flag)?;
        if target.path != "/" {
            return Err(Failure::Usage(format!(
                "{target}: with {flag} the file has the paths, and the URL only the server: leave out {}",
                target.path
            )));
        }
        let read = match &self.from_har {
            Some(har) => {
                let name = PathBuf::from(format!("{} as a scenario", har.display()));
                scenario_of(&name, recorded(har, url)?.toml, target)
            }
            None => self
                .scenario
                .as_deref()
                .map_or_else(|| Ok(Default::default()), |file| read_scenario(file, target)),
        };
        read.map(Some).map_err(|error: SpecError| Failure::Usage(error.to_string()))
    }

    /// The URL of the server.
    fn one_url<'u>(&self, urls: &'u [String], flag: &str) -> Result<&'u str, Failure> {
        match urls {
            [_, second, ..] => Err(Failure::Usage(format!(
                "with {flag} there is one URL, of the server: leave out {second}"
            ))),
            [url] => Ok(url),
            [] => Err(Failure::Usage("give the URL of the server".to_owned())),
        }
    }
}

/// The scenario of a recording for the server of a URL. Notes what is not in it.
fn recorded(file: &Path, url: &str) -> Result<Scenario, Failure> {
    let server = Origin::of(url).ok_or_else(|| {
        Failure::Usage(format!("{url:?} is not a URL: write http://host[:port] or https://…"))
    })?;
    let mut recording = Vec::new();
    std::fs::File::open(file)
        .and_then(|opened| opened.take(LARGEST as u64 + 1).read_to_end(&mut recording))
        .map_err(|error| unreadable("the recording", file, &error))?;
    let scenario = kumite_har::scenario(&recording, &server)
        .map_err(|error| Failure::Usage(format!("{}: {error}", file.display())))?;
    for line in notes(&scenario, &server) {
        output::note(&format!("{}: {line}", file.display()));
    }
    Ok(scenario)
}

/// The lines on what a recording gave and what it did not.
fn notes(scenario: &Scenario, server: &Origin) -> Vec<String> {
    let mut lines = vec![format!("a session of {} to {server}", counted(scenario.requests, "request"))];
    if !scenario.secrets.is_empty() {
        let secrets = scenario.secrets.iter().map(|(secret, requests)| match requests {
            1 => secret.to_string(),
            _ => format!("{secret} ({requests} requests)"),
        });
        lines.push(format!(
            "left out as secret: {}; what the load needs of it, write into a scenario: --write-scenario FILE",
            secrets.collect::<Vec<_>>().join(", ")
        ));
    }
    let not_taken = scenario.not_taken.iter().map(|(why, requests)| format!("{requests} {why}"));
    let elsewhere = (scenario.elsewhere > 0).then(|| format!("{} to elsewhere", scenario.elsewhere));
    let not_taken: Vec<String> = not_taken.chain(elsewhere).collect();
    if !not_taken.is_empty() {
        lines.push(format!("requests not taken: {}", not_taken.join(", ")));
    }
    if scenario.pauses_cut > 0 {
        let longest = LONGEST_PAUSE_MS / 1e3;
        lines.push(format!("{} of more than {longest} s cut to that", counted(scenario.pauses_cut, "pause")));
    }
    lines
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
