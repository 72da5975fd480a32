//! Scenarios: the requests and sessions of a load, written as `[[request]]` and `[[session]]` in experiment.toml or in
//! the file of `kumite load --scenario`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kumite_load::{Request, Rows, Session, Step, Take, TakePlace, Target};
use kumite_record::{AxisValue, FileDigests, OutlookRequest, Within};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::driver::Answer;
use crate::parameter::Parameters;
use crate::toml_source::{SpecError, TomlSource};
use crate::unfit::Unfit;

/// The axis within trials whose values are the names of requests.
const AXIS: &str = "request";

/// A request of the load. Requests and sessions take turns on each connection, by weight.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFile {
    /// The name in results; by default the method and the path.
    pub name: Option<String>,
    /// The share of the turns; 1 if it is not given. For requests outside of sessions.
    pub weight: Option<u32>,
    /// The method: GET if it is not given, or POST if there is a body.
    pub method: Option<String>,
    /// The path with its query; `/` if it is not given.
    pub path: Option<String>,
    /// The headers besides Host and Content-Length.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Option<String>,
    /// The file with the body, relative to the file that names it. In place of `body`.
    pub body_file: Option<PathBuf>,
    /// The right answer; that of the whole file if it is not given.
    pub answer: Option<Answer>,
    /// The values that are taken from the answer, by name; `{{name}}` stands for one in later requests of the session.
    #[serde(default)]
    pub take: BTreeMap<String, TakeFile>,
    /// The pause before this request, in milliseconds. Not for the first one of a session.
    pub think_ms: Option<f64>,
}

/// Requests in order on one connection. Requests and sessions take turns on each connection, by weight.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionFile {
    /// The name in results.
    pub name: String,
    /// The share of the turns; 1 if it is not given.
    pub weight: Option<u32>,
    /// The requests, in order.
    pub request: Vec<RequestFile>,
}

/// The place of a value in an answer. One of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeFile {
    /// A JSON pointer into the body.
    pub json: Option<String>,
    /// A pattern with one group, which is the value.
    pub regex: Option<String>,
    /// A header's name.
    pub header: Option<String>,
    /// The name of a cookie that the answer sets.
    pub cookie: Option<String>,
}

/// The file of `kumite load --scenario`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scenario")]
pub(crate) struct ScenarioFile {
    /// The right answer to the requests that have none of their own.
    #[serde(default)]
    answer: Answer,
    /// The requests.
    #[serde(default)]
    request: Vec<RequestFile>,
    /// The sessions.
    #[serde(default)]
    session: Vec<SessionFile>,
    /// The headers of all requests. A request's own of the same name takes the place of one.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// The CSV file with a header row, of which each session has the next row: `{{column}}` stands for its value.
    csv: Option<PathBuf>,
    /// The cookies that the server gives on a connection are sent back on it.
    #[serde(default)]
    cookies: bool,
}

/// The keys of a scenario, from experiment.toml or from the file of `kumite load --scenario`.
#[derive(Debug)]
pub(crate) struct Written<'a> {
    pub request: &'a [RequestFile],
    pub session: &'a [SessionFile],
    pub headers: &'a BTreeMap<String, String>,
    pub csv: Option<&'a Path>,
    pub cookies: bool,
}

/// The axis of requests with these names. None if there are fewer than two.
pub(super) fn within<'a>(names: impl Iterator<Item = &'a str>) -> Option<Within> {
    let values: Vec<AxisValue> = names.map(|name| AxisValue::Text(name.to_owned())).collect();
    (values.len() > 1).then(|| Within { axis: AXIS.to_owned(), values })
}

/// A scenario as it was read, with the contents of the files that it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scenario {
    sessions: Vec<ScenarioSession>,
    /// The headers of all requests, also of the one that there is if the scenario has none.
    headers: Vec<(String, String)>,
    pub rows: Rows,
    /// True if the cookies that the server gives on a connection are sent back on it.
    pub cookies: bool,
    /// The digests of the files with bodies and rows.
    pub files: FileDigests,
}

/// The load that a scenario describes.
#[derive(Clone, Debug, Default)]
pub struct ScenarioLoad {
    /// The sessions. A request outside of sessions is a session of one request.
    pub sessions: Vec<Session>,
    /// The rows of the CSV file; empty if the scenario has none.
    pub rows: Rows,
    /// True if the cookies that the server gives on a connection are sent back on it.
    pub cookies: bool,
}

#[derive(Clone, Debug)]
struct ScenarioSession {
    name: String,
    weight: u32,
    steps: Vec<ScenarioStep>,
}

#[derive(Clone, Debug)]
struct ScenarioStep {
    name: String,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    answer: Option<Answer>,
    takes: Vec<Take>,
    think: Duration,
}

/// The load of a file for `kumite load --scenario`, to be sent to the server of `target`. An error if the file, or one
/// that it names, cannot be read, says something that cannot be sent, or has no request.
pub fn read_scenario(file: &Path, target: &Target) -> Result<ScenarioLoad, SpecError> {
    of_source(&TomlSource::read(file)?, target)
}

/// The load of a text that is written like the file of `kumite load --scenario`. Errors call the text `name`. Files
/// that the text names are looked for in the folder of `name`.
pub fn scenario_of(name: &Path, text: String, target: &Target) -> Result<ScenarioLoad, SpecError> {
    of_source(&TomlSource { file: name.to_owned(), text }, target)
}

fn of_source(source: &TomlSource, target: &Target) -> Result<ScenarioLoad, SpecError> {
    let ScenarioFile { answer, request, session, headers, csv, cookies } = source.parse()?;
    of_a_server(source, &["answer"], &answer)?;
    let folder = source.file.parent().unwrap_or(Path::new(""));
    let written =
        Written { request: &request, session: &session, headers: &headers, csv: csv.as_deref(), cookies };
    let scenario = Scenario::read(source, Some(folder), &written)?;
    if scenario.is_empty() {
        return Err(source.error(0, "there is no [[request]] and no [[session]]: give at least one"));
    }
    let sessions = scenario.sessions(target, &answer, None).map_err(|unfit| source.error(0, unfit))?;
    Ok(ScenarioLoad { sessions, rows: scenario.rows, cookies })
}

/// Refuses a right answer that asks for what no load does.
fn of_a_server(source: &TomlSource, path: &[&str], answer: &Answer) -> Result<(), SpecError> {
    for (key, given) in [("checker", answer.checker.is_some()), ("same_output", answer.same_output)] {
        if given {
            let what = match key {
                "checker" => {
                    "`checker` is one for all requests: [answer] of experiment.toml has it, and `kumite load \
                              --check-with`"
                        .to_owned()
                }
                _ => format!("`{key}` is for other kinds than servers"),
            };
            return Err(source.error_at(&[path, &[key]].concat(), what));
        }
    }
    Ok(())
}

impl Scenario {
    /// Checks requests and sessions, and reads the files that they name, which are relative to `folder`. Without a
    /// folder, as for a run that is over, no file is read, and the bodies and rows from files are empty. The error
    /// names the place in `source`.
    pub fn read(
        source: &TomlSource,
        folder: Option<&Path>,
        written: &Written,
    ) -> Result<Scenario, SpecError> {
        let Written { request: requests, session: sessions, headers, csv, cookies } = *written;
        let mut reading = Reading { source, folder, headers, files: FileDigests::new() };
        let mut all = Vec::new();
        let mut names = BTreeSet::new();
        for (nth, request) in requests.iter().enumerate() {
            let nth = nth.to_string();
            let path = ["request", &nth];
            let step = reading.step(&path, request)?;
            for (key, given) in [("take", !request.take.is_empty()), ("think_ms", request.think_ms.is_some())]
            {
                if given {
                    let what = format!("`{key}` is for the requests of a [[session]]");
                    return Err(source.error_at(&[&path[..], &[key]].concat(), what));
                }
            }
            reading.check_name(&path, &step.name, &mut names)?;
            let weight = request.weight.unwrap_or(1);
            all.push(ScenarioSession { name: step.name.clone(), weight, steps: vec![step] });
        }
        for (nth, session) in sessions.iter().enumerate() {
            let nth = nth.to_string();
            let path = ["session", &nth];
            reading.check_name(&path, &session.name, &mut names)?;
            let mut steps = Vec::new();
            let mut step_names = BTreeSet::new();
            for (nth, request) in session.request.iter().enumerate() {
                let number = nth.to_string();
                let path = [&path[..], &["request", &number]].concat();
                let step = reading.step(&path, request)?;
                if request.weight.is_some() {
                    let what = "a session has a weight, and not each of its requests";
                    return Err(source.error_at(&[&path[..], &["weight"]].concat(), what));
                }
                if nth == 0 && !step.think.is_zero() {
                    let what = "the first request of a session has no pause before it: a session begins when it is due";
                    return Err(source.error_at(&[&path[..], &["think_ms"]].concat(), what));
                }
                reading.check_name(&path, &step.name, &mut step_names)?;
                steps.push(step);
            }
            if steps.is_empty() {
                return Err(source.error_at(&path, "a session has at least one [[session.request]]"));
            }
            all.push(ScenarioSession {
                name: session.name.clone(),
                weight: session.weight.unwrap_or(1),
                steps,
            });
        }
        let rows = csv.map(|file| reading.rows(file)).transpose()?.unwrap_or_default();
        let headers = headers.clone().into_iter().collect();
        Ok(Scenario { sessions: all, headers, rows, cookies, files: reading.files })
    }

    /// True if there is no request and no session. There may be headers, rows and cookies.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// The headers of all requests, with the values of these parameters in place of their names. An error if a header
    /// names a parameter that is not given.
    pub fn headers(&self, parameters: &Parameters) -> Result<Vec<(String, String)>, Unfit> {
        let header = |(name, value): &(String, String)| Ok((name.clone(), filled(value, parameters)?));
        self.headers.iter().map(header).collect()
    }

    /// The requests in their order, as they are shown before a run.
    pub fn outlook(&self) -> Vec<OutlookRequest> {
        let all = self.sessions.iter().map(|session| u64::from(session.weight)).sum();
        let of_session = |session: &ScenarioSession| {
            let of_step = |step: &ScenarioStep| OutlookRequest {
                name: step.name.clone(),
                what: format!("{} {}", step.method, step.path),
                session: (session.steps.len() > 1).then(|| session.name.clone()),
                turns: [session.weight.into(), all],
            };
            session.steps.iter().map(of_step).collect::<Vec<_>>()
        };
        self.sessions.iter().flat_map(of_session).collect()
    }

    /// The names of the requests, in their order.
    pub fn request_names(&self) -> impl Iterator<Item = &str> {
        self.sessions.iter().flat_map(|session| &session.steps).map(|step| step.name.as_str())
    }

    /// The axis of the requests: their names. None if there are fewer than two requests.
    pub fn within(&self) -> Option<Within> {
        within(self.request_names())
    }

    /// True if a session has several requests.
    pub fn has_sessions(&self) -> bool {
        self.sessions.iter().any(|session| session.steps.len() > 1)
    }

    /// Returns an error if requests of two sessions have the same name, so that figures by request would be mixed.
    pub fn check_names(&self, source: &TomlSource) -> Result<(), SpecError> {
        let mut names = BTreeSet::new();
        match self.request_names().find(|name| !names.insert(*name)) {
            None => Ok(()),
            Some(name) => {
                let what = format!(
                    "two requests are called '{name}', and figures are by the names of requests: give one another `name`"
                );
                Err(source.error_at(&["session"], what))
            }
        }
    }

    /// The names of the parameters that stand in requests and in their right answers.
    pub fn parameters(&self) -> BTreeSet<&str> {
        let steps = self.sessions.iter().flat_map(|session| &session.steps);
        let of_steps = steps.flat_map(|step| {
            let body = std::str::from_utf8(&step.body).unwrap_or_default();
            let headers = step.headers.iter().map(|(_, value)| value.as_str());
            let texts = headers.chain([step.path.as_str(), body]);
            let of_answer = step.answer.iter().flat_map(Answer::parameters);
            texts.flat_map(parameters_in).map(|(_, name)| name).chain(of_answer)
        });
        let of_all = self.headers.iter().flat_map(|(_, value)| parameters_in(value)).map(|(_, name)| name);
        of_steps.chain(of_all).collect()
    }

    /// The sessions for the server of this target. `$name` is replaced by the value of that parameter; without
    /// `parameters`, as in `kumite load`, it stays as it is. The error names the request that cannot be made.
    pub fn sessions(
        &self,
        target: &Target,
        answer: &Answer,
        parameters: Option<&Parameters>,
    ) -> Result<Vec<Session>, Unfit> {
        let session = |session: &ScenarioSession| {
            let step = |step: &ScenarioStep| {
                step.made(target, answer, parameters)
                    .map_err(|unfit| Unfit::new(format!("the request '{}': {unfit}", step.name)))
            };
            let steps = session.steps.iter().map(step).collect::<Result<_, _>>()?;
            Ok(Session { name: session.name.clone(), weight: session.weight, steps })
        };
        self.sessions.iter().map(session).collect()
    }
}

impl ScenarioStep {
    fn made(&self, target: &Target, answer: &Answer, parameters: Option<&Parameters>) -> Result<Step, Unfit> {
        let text = |text: &str| match parameters {
            Some(parameters) => filled(text, parameters),
            None => Ok(text.to_owned()),
        };
        let header = |(name, value): &(String, String)| Ok((name.clone(), text(value)?));
        let body = match std::str::from_utf8(&self.body) {
            Ok(body) => text(body)?.into_bytes(),
            Err(_) => self.body.clone(),
        };
        let none = Parameters::new();
        let answer = self.answer.as_ref().unwrap_or(answer);
        Ok(Step {
            name: self.name.clone(),
            target: Target { path: text(&self.path)?, ..target.clone() },
            request: Request {
                method: self.method.clone(),
                headers: self.headers.iter().map(header).collect::<Result<_, Unfit>>()?,
                body,
            },
            expect: answer.expect(parameters.unwrap_or(&none))?,
            takes: self.takes.clone(),
            think: self.think,
        })
    }
}

/// The places of parameters in a text, each with its name. `$$` is none.
fn parameters_in(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let found = at + text[at..].find('$')?;
            let rest = &text[found + 1..];
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            at = found + 1 + end.max(usize::from(rest.starts_with('$')));
            if end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit()) {
                return Some((found, &rest[..end]));
            }
        }
    })
}

/// A text with the values of the parameters that it names.
fn filled(text: &str, parameters: &Parameters) -> Result<String, Unfit> {
    let mut filled = String::new();
    let mut from = 0;
    for (at, name) in parameters_in(text) {
        let value = parameters.get(name).ok_or_else(|| {
            Unfit::new(format!(
                "there is no parameter '{name}' for ${name}: give it in [workload] or [axes], or write $${name} for the \
                 text itself"
            ))
        })?;
        filled += &text[from..at].replace("$$", "$");
        filled += &value.to_string();
        from = at + 1 + name.len();
    }
    Ok(filled + &text[from..].replace("$$", "$"))
}

/// A file that is being read, for errors with their place.
struct Reading<'a> {
    source: &'a TomlSource,
    /// The folder of the files that it names. None if they are not to be read.
    folder: Option<&'a Path>,
    /// The headers of all requests.
    headers: &'a BTreeMap<String, String>,
    /// The digests of the files that were read so far.
    files: FileDigests,
}

impl Reading<'_> {
    fn step(&mut self, path: &[&str], file: &RequestFile) -> Result<ScenarioStep, SpecError> {
        let at = |key: &str, what: String| self.source.error_at(&[path, &[key]].concat(), what);
        let body = match (&file.body, &file.body_file) {
            (Some(_), Some(_)) => {
                let what = "a request has either `body` or `body_file`: leave one of them out";
                return Err(at("body_file", what.to_owned()));
            }
            (Some(body), None) => Some(body.clone().into_bytes()),
            (None, Some(file)) => Some(match self.folder {
                None => Vec::new(),
                Some(folder) => content(folder, file, &mut self.files)?,
            }),
            (None, None) => None,
        };
        let think_ms = file.think_ms.unwrap_or(0.0);
        let think = Duration::try_from_secs_f64(think_ms / 1e3)
            .map_err(|_| at("think_ms", format!("a pause of {think_ms} ms cannot be: give 0 or more")))?;
        if let Some(answer) = &file.answer {
            of_a_server(self.source, &[path, &["answer"]].concat(), answer)?;
        }
        let mut takes = Vec::new();
        for (name, take) in &file.take {
            let place = place(take)
                .map_err(|unfit| self.source.error_at(&[path, &["take", name]].concat(), unfit))?;
            takes.push(Take { name: name.clone(), place });
        }
        let default_method = if body.is_some() { "POST" } else { "GET" };
        let method = file.method.as_deref().unwrap_or(default_method).to_owned();
        let request_path = file.path.as_deref().unwrap_or("/").to_owned();
        Ok(ScenarioStep {
            name: file.name.clone().unwrap_or_else(|| format!("{method} {request_path}")),
            method,
            path: request_path,
            headers: self.headers_of(file),
            body: body.unwrap_or_default(),
            answer: file.answer.clone(),
            takes,
            think,
        })
    }

    fn check_name(&self, path: &[&str], name: &str, names: &mut BTreeSet<String>) -> Result<(), SpecError> {
        if name.trim().is_empty() {
            return Err(self.source.error_at(&[path, &["name"]].concat(), "a name is not empty"));
        }
        if !names.insert(name.to_owned()) {
            let what = format!(
                "two are called '{name}', which results could not tell apart: give one another `name`"
            );
            return Err(self.source.error_at(&[path, &["name"]].concat(), what));
        }
        Ok(())
    }

    /// The headers of a request: its own, and those of all requests that have no other value here.
    fn headers_of(&self, file: &RequestFile) -> Vec<(String, String)> {
        let is_own = |name: &str| file.headers.keys().any(|own| own.eq_ignore_ascii_case(name));
        let of_all = self.headers.iter().filter(|(name, _)| !is_own(name));
        of_all.chain(&file.headers).map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    fn rows(&mut self, file: &Path) -> Result<Rows, SpecError> {
        let Some(folder) = self.folder else { return Ok(Rows::default()) };
        let text = content(folder, file, &mut self.files)?;
        let rows = Rows::read(&folder.join(file).display().to_string(), &text[..]);
        rows.map_err(|error| self.source.error_at(&["csv"], error.to_string()))
    }
}

/// The content of a file that a scenario names. Its digest is noted under that name.
fn content(folder: &Path, named: &Path, files: &mut FileDigests) -> Result<Vec<u8>, SpecError> {
    let file = folder.join(named);
    let content = std::fs::read(&file).map_err(|source| SpecError::Read { file, source })?;
    files.insert(named.display().to_string(), blake3::hash(&content).to_hex().to_string());
    Ok(content)
}

fn place(take: &TakeFile) -> Result<TakePlace, Unfit> {
    let TakeFile { json, regex, header, cookie } = take;
    let place = match (json, regex, header, cookie) {
        (Some(pointer), None, None, None) => TakePlace::json(pointer),
        (None, Some(pattern), None, None) => TakePlace::regex(pattern),
        (None, None, Some(name), None) => TakePlace::header(name),
        (None, None, None, Some(name)) => TakePlace::cookie(name),
        _ => return Err(Unfit::new("a value has one place: `json`, `regex`, `header` or `cookie`")),
    };
    place.map_err(|error| Unfit::new(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = r#"
answer = { status = 200 }
[[request]]
path = "/search"
weight = 3
[[session]]
name = "buy"
[[session.request]]
path = "/login"
body = '{"user":"{{seq}}"}'
headers = { content-type = "application/json" }
take = { token = { json = "/token" } }
[[session.request]]
name = "pay"
method = "PUT"
path = "/pay"
headers = { x-token = "{{token}}" }
think_ms = 1.5
answer = { status = 201, equals = "ok" }
"#;

    fn read(text: &str) -> Result<Scenario, SpecError> {
        let source = TomlSource { file: "s.toml".into(), text: text.to_owned() };
        let file: ScenarioFile = source.parse()?;
        let written = Written {
            request: &file.request,
            session: &file.session,
            headers: &file.headers,
            csv: file.csv.as_deref(),
            cookies: file.cookies,
        };
        Scenario::read(&source, Some(Path::new("")), &written)
    }

    fn target() -> Target {
        Target::plain("127.0.0.1:80".parse().unwrap())
    }

    #[test]
    fn a_scenario_becomes_sessions() {
        let answer = Answer { status: Some(200), ..Answer::default() };
        let sessions = read(SHOP).unwrap().sessions(&target(), &answer, None).unwrap();
        let [search, buy] = &sessions[..] else { panic!("{sessions:?}") };
        assert_eq!((search.name.as_str(), search.weight, search.steps.len()), ("GET /search", 3, 1));
        assert_eq!((buy.name.as_str(), buy.weight), ("buy", 1));
        let [login, pay] = &buy.steps[..] else { panic!("{buy:?}") };
        assert_eq!((login.name.as_str(), login.request.method.as_str()), ("POST /login", "POST"));
        assert_eq!((login.expect.status, pay.expect.status), (Some(200), Some(201)));
        assert_eq!((login.takes[0].name.as_str(), pay.think), ("token", Duration::from_micros(1_500)));
        assert_eq!((pay.name.as_str(), pay.target.path.as_str()), ("pay", "/pay"));
    }

    #[test]
    fn the_files_of_bodies_and_rows_are_told_by_their_digests() {
        let files = |text: &str| read(text).unwrap().files.into_iter().collect::<Vec<_>>();
        let digest = blake3::hash(&std::fs::read("Cargo.toml").unwrap()).to_hex().to_string();
        let expected = [("Cargo.toml".to_owned(), digest)];
        assert_eq!(files("[[request]]\nbody_file = 'Cargo.toml'\n"), expected);
        let rows = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(&rows, "name\nann\n").unwrap();
        let [(name, digest)] = &files(&format!("csv = {:?}\n[[request]]\n", rows.path()))[..] else {
            panic!()
        };
        let expected = blake3::hash(b"name\nann\n").to_hex();
        assert_eq!((name.as_str(), digest.as_str()), (rows.path().to_str().unwrap(), expected.as_str()));
        assert_eq!(files("[[request]]\nbody = 'Cargo.toml'\n"), []);
    }

    #[test]
    fn a_parameter_stands_in_path_headers_and_body() {
        let text =
            "[[request]]\npath = \"/$size?a=$$b\"\nbody = \"$size$ $\"\nheaders = { x = \"$name-1\" }\n";
        let scenario = read(text).unwrap();
        let mut parameters = Parameters::from([("size".to_owned(), kumite_record::AxisValue::Int(8))]);
        let made =
            |parameters: &Parameters| scenario.sessions(&target(), &Answer::default(), Some(parameters));
        let missing = made(&parameters).unwrap_err().to_string();
        assert_eq!(
            missing,
            "the request 'POST /$size?a=$$b': there is no parameter 'name' for $name: give it in [workload] or [axes], or \
             write $$name for the text itself"
        );
        parameters.insert("name".to_owned(), kumite_record::AxisValue::Text("x".to_owned()));
        let made = made(&parameters).unwrap();
        let step = &made[0].steps[0];
        assert_eq!((step.target.path.as_str(), step.request.body.as_slice()), ("/8?a=$b", &b"8$ $"[..]));
        assert_eq!(step.request.headers, [("x".to_owned(), "x-1".to_owned())]);
    }

    #[test]
    fn a_scenario_that_cannot_be_is_refused_with_its_place() {
        for (text, expected) in [
            ("[[request]]\nthink_ms = 1\n", "s.toml:2:1: `think_ms` is for the requests of a [[session]]"),
            (
                "[[request]]\n[[request]]\n",
                "s.toml:2:1: two are called 'GET /', which results could not tell apart: give one another `name`",
            ),
            (
                "[[request]]\nbody = 'a'\nbody_file = 'b'\n",
                "s.toml:3:1: a request has either `body` or `body_file`: leave one of them out",
            ),
            (
                "[[session]]\nname = 'a'\n[[session.request]]\nthink_ms = 1\n",
                "s.toml:4:1: the first request of a session has no pause before it: a session begins when it is due",
            ),
            (
                "[[session]]\nname = 'a'\n[[session.request]]\nweight = 1\n",
                "s.toml:4:1: a session has a weight, and not each of its requests",
            ),
            (
                "[[session]]\nname = 'a'\n[[session.request]]\ntake = { t = {} }\n",
                "s.toml:4:10: a value has one place: `json`, `regex`, `header` or `cookie`",
            ),
            (
                "[[session]]\nname = 'a'\n[[session.request]]\ntake = { t = { regex = 'a' } }\n",
                "s.toml:4:10: the pattern \"a\" has 0 groups, and must have one, which is the value: a(…)b",
            ),
            (
                "[[request]]\nthink = 1\n",
                "s.toml:2:1: unknown key `think` (known: `name`, \
             `weight`, `method`, `path`, `headers`, `body`, `body_file`, `answer`, `take`, `think_ms`)",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected, "{text}");
        }
        let of_all = "answer = { checker = 'x' }\n[[request]]\n".to_owned();
        assert_eq!(
            scenario_of(Path::new("s.toml"), of_all, &target()).unwrap_err().to_string(),
            "s.toml:1:12: `checker` is one for all requests: [answer] of experiment.toml has it, and `kumite load \
             --check-with`"
        );
    }
}
