//! The scenario of a recording: a session of the requests to one server.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderName, HeaderValue, Method, Uri};
use jiff::Timestamp;
use serde::Serialize;

use crate::error::Error;
use crate::limits::{LONGEST_PAUSE_MS, MOST_REQUESTS};
use crate::origin::Origin;
use crate::recording::{self, Entry, PostData};
use crate::secret::{Secret, is_secret};
use crate::{body, form};

/// Headers that belong to a connection, or that the engine writes itself.
const OF_CONNECTION: [&str; 11] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The scenario of a recording, and what is not in it.
#[derive(Debug)]
pub struct Scenario {
    /// The scenario as TOML, in the form that `kumite load --scenario` reads: one session. Everything that was found to
    /// be secret is left out or replaced.
    pub toml: String,
    /// The number of requests of the session, at least 1.
    pub requests: usize,
    /// The number of pauses that were longer than [`LONGEST_PAUSE_MS`] and were cut to it.
    pub pauses_cut: usize,
    /// The secrets that were left out, with the number of requests that had each.
    pub secrets: BTreeMap<Secret, usize>,
    /// The numbers of requests to the same server that were not taken, by reason.
    pub not_taken: BTreeMap<NotTaken, usize>,
    /// The number of requests to other servers, and of entries that asked no server (`data:`, `blob:`, extensions).
    pub elsewhere: usize,
}

/// The reason why a request to the server is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NotTaken {
    /// The browser's own cache gave the answer, and the server was not asked.
    Cached,
    /// The recording has no answer to the request.
    Unanswered,
    /// The request turned its connection into something else, such as a WebSocket or a tunnel (`CONNECT`).
    Upgraded,
    /// The body that was sent is not in the recording, or is no text.
    NoBody,
    /// The body may hold a secret, and has a form in which a secret cannot be told from the rest.
    SecretBody,
}

impl std::fmt::Display for NotTaken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NotTaken::Cached => "answered by the browser's cache",
            NotTaken::Unanswered => "without an answer",
            NotTaken::Upgraded => "of a WebSocket or the like",
            NotTaken::NoBody => "whose body was not recorded, or is no text",
            NotTaken::SecretBody => "whose body may hold a secret that cannot be taken out",
        })
    }
}

#[derive(Serialize)]
struct File {
    session: [Session; 1],
}

#[derive(Serialize)]
struct Session {
    name: &'static str,
    request: Vec<Request>,
}

#[derive(Serialize)]
struct Request {
    name: String,
    method: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    think_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<String>,
    answer: Answer,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    headers: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Answer {
    status: u16,
}

/// Makes a session of the requests that a recording has to this server, in the order in which they began. An error if
/// the bytes are no recording in HAR 1.2, if an entry is wrong, or if there is no request to take or more than
/// [`MOST_REQUESTS`].
///
/// - A request has its method, path, headers and body. Its right answer has the status that was recorded.
/// - The pause before a request lasts from the end of all earlier answers to its beginning, in whole ms and at most
///   [`LONGEST_PAUSE_MS`]. There is none if the request began before those answers ended.
/// - Headers of the connection are left out, and so are secrets (see [`Secret`]).
pub fn scenario(recording: &[u8], server: &Origin) -> Result<Scenario, Error> {
    let entries = recording::read(recording)?;
    let mut elsewhere: BTreeMap<Origin, usize> = BTreeMap::new();
    let (mut nowhere, mut here) = (0, Vec::new());
    for (nth, entry) in entries.into_iter().enumerate() {
        match origin(nth, &entry)? {
            Some((origin, uri)) if origin == *server => here.push(timed(nth, entry, uri)?),
            Some((origin, _)) => *elsewhere.entry(origin).or_default() += 1,
            None => nowhere += 1,
        }
    }
    if here.is_empty() {
        let mut recorded: Vec<(Origin, usize)> = elsewhere.into_iter().collect();
        recorded.sort_by_key(|(_, requests)| std::cmp::Reverse(*requests));
        return Err(Error::OtherOrigins { asked: server.clone(), recorded });
    }
    here.sort_by_key(|timed| timed.began);
    let mut made = Making::default();
    for timed in &here {
        made.add(timed)?;
    }
    if made.requests.is_empty() {
        let why = made.not_taken.iter().map(|(why, requests)| format!("{requests} {why}")).collect();
        return Err(Error::NoneTaken { asked: server.clone(), why });
    }
    if made.requests.len() > MOST_REQUESTS {
        return Err(Error::TooMany { asked: server.clone(), requests: made.requests.len() });
    }
    let requests = made.requests.len();
    let file = File { session: [Session { name: "recorded", request: made.requests }] };
    Ok(Scenario {
        toml: toml::to_string_pretty(&file).expect("texts and numbers are written as TOML"),
        requests,
        pauses_cut: made.pauses_cut,
        secrets: made.secrets,
        not_taken: made.not_taken,
        elsewhere: elsewhere.values().sum::<usize>() + nowhere,
    })
}

/// An entry with its times.
struct Timed {
    nth: usize,
    entry: Entry,
    uri: Uri,
    began: Timestamp,
    /// The time from beginning to whole answer, in ms.
    took: f64,
}

/// The server of an entry and its URL; none if the browser asked no server.
fn origin(nth: usize, entry: &Entry) -> Result<Option<(Origin, Uri)>, Error> {
    let url = entry.request.url.as_str();
    let lower = url.get(..8).unwrap_or(url).to_ascii_lowercase();
    if !lower.starts_with("http://") && !lower.starts_with("https://") {
        return Ok(None);
    }
    let wrong =
        Error::At { entry: nth, key: "request.url", what: "this is no URL: take the entry out of the file" };
    let Ok(uri) = url.parse::<Uri>() else { return Err(wrong) };
    match Origin::of_uri(&uri) {
        Some(origin) => Ok(Some((origin, uri))),
        None => Err(wrong),
    }
}

fn timed(nth: usize, entry: Entry, uri: Uri) -> Result<Timed, Error> {
    let began = entry.started_date_time.parse().map_err(|_| Error::At {
        entry: nth,
        key: "startedDateTime",
        what: "this is no time of ISO 8601 with its offset, such as 2026-01-31T12:00:00.000Z: take the entry out of the file",
    })?;
    let took = entry.time.filter(|time| *time > 0.0).unwrap_or(0.0);
    Ok(Timed { nth, entry, uri, began, took })
}

#[derive(Default)]
struct Making {
    requests: Vec<Request>,
    names: BTreeMap<String, usize>,
    /// The time at which the last answer of those before was whole, in ms.
    answered: Option<f64>,
    pauses_cut: usize,
    secrets: BTreeMap<Secret, usize>,
    not_taken: BTreeMap<NotTaken, usize>,
}

impl Making {
    fn add(&mut self, timed: &Timed) -> Result<(), Error> {
        let Timed { nth, entry, uri, .. } = timed;
        let at = |key, what| Error::At { entry: *nth, key, what };
        let status = entry.response.as_ref().map_or(0.0, |response| response.status);
        if entry.from_cache.is_some() {
            return self.leave_out(NotTaken::Cached);
        }
        let method = entry.request.method.as_str();
        if status == 101.0 || method == "CONNECT" {
            return self.leave_out(NotTaken::Upgraded);
        }
        if status <= 0.0 {
            return self.leave_out(NotTaken::Unanswered);
        }
        if !(100.0..=599.0).contains(&status) {
            return Err(at(
                "response.status",
                "this is no status from 100 to 599: take the entry out of the file",
            ));
        }
        if Method::from_bytes(method.as_bytes()).is_err() {
            return Err(at("request.method", "this is no method of HTTP: take the entry out of the file"));
        }
        let Ok(body) = sent_body(&entry.request) else { return self.leave_out(NotTaken::NoBody) };
        let mut secrets = Vec::new();
        let body = match body {
            None => None,
            Some((text, media_type)) => {
                let Some((text, taken)) = body::clean(&text, media_type) else {
                    return self.leave_out(NotTaken::SecretBody);
                };
                secrets.extend(taken);
                Some(text)
            }
        };
        let headers =
            headers(&entry.request.headers, &mut secrets).map_err(|what| at("request.headers", what))?;
        if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
            secrets.push(Secret::User);
        }
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let (path, taken) = form::clean_url(path);
        secrets.extend(taken.into_iter().map(|name| Secret::Query { name }));
        secrets.sort_unstable();
        secrets.dedup();
        for secret in secrets {
            *self.secrets.entry(secret).or_default() += 1;
        }
        let think_ms = self.pause(timed);
        let name = format!("{method} {}", path.split('?').next().unwrap_or(&path));
        let request = Request {
            name: self.name(name),
            method: method.to_owned(),
            path: literal(&path),
            think_ms,
            body: body.map(|body| literal(&body)),
            answer: Answer { status: status as u16 },
            headers,
        };
        self.requests.push(request);
        Ok(())
    }

    fn leave_out(&mut self, why: NotTaken) -> Result<(), Error> {
        *self.not_taken.entry(why).or_default() += 1;
        Ok(())
    }

    /// The pause before a request, in ms; none if there is none.
    fn pause(&mut self, timed: &Timed) -> Option<u64> {
        let began = timed.began.as_nanosecond() as f64 / 1e6;
        let pause = self.answered.map_or(0.0, |answered| began - answered);
        self.answered = Some(self.answered.unwrap_or(began).max(began + timed.took));
        self.pauses_cut += usize::from(pause > LONGEST_PAUSE_MS);
        let pause = pause.clamp(0.0, LONGEST_PAUSE_MS).round() as u64;
        (pause > 0).then_some(pause)
    }

    /// A name that no request before has.
    fn name(&mut self, name: String) -> String {
        let times = self.names.entry(name.clone()).or_default();
        *times += 1;
        match *times {
            1 => name,
            // A path has no blank, so no other name is like this one.
            nth => format!("{name} ({nth})"),
        }
    }
}

/// The body of a request with its media type; `None` if the request has none. An error if a body was sent that is not
/// known as text.
fn sent_body(request: &recording::Request) -> Result<Option<(String, &str)>, NotTaken> {
    let Some(PostData { mime_type, text, encoding }) = &request.post_data else {
        let sent = request.body_size.is_some_and(|size| size > 0.0);
        return if sent { Err(NotTaken::NoBody) } else { Ok(None) };
    };
    let text = match (text, encoding.as_deref()) {
        (None, _) if request.body_size == Some(0.0) => return Ok(None),
        (None, _) => return Err(NotTaken::NoBody),
        (Some(text), None | Some("")) => text.clone(),
        (Some(text), Some("base64")) => {
            let bytes = STANDARD.decode(text).map_err(|_| NotTaken::NoBody)?;
            String::from_utf8(bytes).map_err(|_| NotTaken::NoBody)?
        }
        (Some(_), Some(_)) => return Err(NotTaken::NoBody),
    };
    // What a browser could not write as text stands there as this character.
    if text.contains('\u{fffd}') { Err(NotTaken::NoBody) } else { Ok(Some((text, mime_type))) }
}

/// The headers that are sent, by their names in lower case. One that comes several times is one with a list. Adds what
/// was taken to `secrets`. An error tells the fault.
fn headers(
    recorded: &[recording::Header],
    secrets: &mut Vec<Secret>,
) -> Result<BTreeMap<String, String>, &'static str> {
    let mut headers: BTreeMap<String, String> = BTreeMap::new();
    for recording::Header { name, value } in recorded {
        let name = name.to_ascii_lowercase();
        // `:authority` and its like are HTTP/2's own.
        if name.starts_with(':') || OF_CONNECTION.contains(&name.as_str()) {
            continue;
        }
        if is_secret(&name) {
            secrets.push(Secret::Header { name });
            continue;
        }
        if HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err("one has a name that is none of HTTP: take it out of the file");
        }
        if HeaderValue::from_str(value).is_err() {
            return Err("one has a control character in its value: take it out of the file");
        }
        // The page that led here may have had a secret in its URL.
        let (value, taken) = match name.as_str() {
            "referer" => {
                let (value, had_user) = form::without_user(value);
                secrets.extend(had_user.then_some(Secret::User));
                form::clean_url(&value)
            }
            _ => (value.clone(), Vec::new()),
        };
        secrets.extend(taken.into_iter().map(|name| Secret::Query { name }));
        let value = literal(&value);
        headers.entry(name).and_modify(|list| *list += &format!(", {value}")).or_insert(value);
    }
    Ok(headers)
}

/// A text in which no braces begin a name.
fn literal(text: &str) -> String {
    text.replace("{{", "{{\"{{\"}}")
}
