//! The form of a recording: HAR 1.2 as Firefox and Chromium write it, as far as it is used here.

use serde::Deserialize;
use serde_json::error::Category;

use crate::error::Error;
use crate::limits::LARGEST;

#[derive(Deserialize)]
struct Recording {
    log: Option<Log>,
}

#[derive(Deserialize)]
struct Log {
    entries: Option<Vec<Entry>>,
}

/// A request with its answer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entry {
    pub started_date_time: String,
    /// The time until the answer was whole, in ms. `None` or below 0 if the browser did not know it.
    pub time: Option<f64>,
    pub request: Request,
    pub response: Option<Response>,
    /// Present if Chromium's own cache gave the answer.
    #[serde(rename = "_fromCache")]
    pub from_cache: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    pub method: String,
    pub url: String,
    #[serde(default)]
    pub headers: Vec<Header>,
    pub post_data: Option<PostData>,
    pub body_size: Option<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Header {
    pub name: String,
    pub value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PostData {
    #[serde(default)]
    pub mime_type: String,
    pub text: Option<String>,
    pub encoding: Option<String>,
}

#[derive(Deserialize)]
pub(crate) struct Response {
    /// 0 if there was no answer.
    pub status: f64,
}

/// The entries of a recording, in its order. There is at least one.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Entry>, Error> {
    if bytes.len() > LARGEST {
        return Err(Error::TooLarge);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::NotUtf8 { line, column: before.len() - line_start + 1 }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let recording: Recording = serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line().max(1), error.column().max(1));
        match error.classify() {
            Category::Data => Error::NotHar { line, column },
            Category::Io | Category::Syntax | Category::Eof => Error::NotJson { line, column },
        }
    })?;
    let entries = recording.log.and_then(|log| log.entries).ok_or(Error::NoEntries)?;
    if entries.is_empty() { Err(Error::Empty) } else { Ok(entries) }
}
