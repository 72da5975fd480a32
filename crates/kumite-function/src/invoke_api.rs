//! AWS's Invoke API, for calls by an SDK or the command line.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{CONTENT_LENGTH, EXPECT};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_body_util::BodyExt;
use kumite_guard::Site;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::function_state::{Call, FunctionState, MOST_PAYLOAD_BYTES};
use crate::invoke_error::{forbidden, refused, unknown};
use crate::lines::tail;
use crate::{ContentError, Invocation, ParameterError, Refused};

/// The most bytes of the payload of a call that is not waited for, as AWS documents it.
const MOST_EVENT_BYTES: usize = 1 << 20;
/// The most bytes of a client context in base64, as AWS documents it.
const MOST_CONTEXT_BYTES: usize = 3583;
/// The most bytes of a name with its region, account and qualifier, as AWS documents it.
const LONGEST_NAME: usize = 256;
const REQUEST_ID: &str = "x-amzn-requestid";

type GivenName = Result<Path<String>, PathRejection>;
type GivenQuery = Result<Query<Parameters>, QueryRejection>;
type Parameters = BTreeMap<String, String>;

/// The functions that are served, by name.
#[derive(Clone)]
pub(crate) struct Functions {
    pub by_name: Arc<BTreeMap<String, Arc<FunctionState>>>,
    pub stop: tokio::sync::watch::Receiver<bool>,
}

impl Functions {
    pub fn named(&self, name: &str) -> Result<&Arc<FunctionState>, Refused> {
        self.by_name.get(name).ok_or_else(|| Refused::Unknown(name.to_owned()))
    }

    /// Makes a call to its end, even if its caller goes away meanwhile. An error if the call was not made, or if it was
    /// cut off ([`Refused::Stopping`]).
    pub async fn call(&self, name: &str, call: Call) -> Result<Invocation, Refused> {
        let function = Arc::clone(self.named(name)?);
        Call::check(&call.payload, MOST_PAYLOAD_BYTES)?;
        match tokio::spawn(async move { function.call(call).await }).await {
            Ok(done) => done,
            Err(_) => Err(Refused::Stopping),
        }
    }

    /// Takes over a call that nobody waits for.
    fn enqueue(&self, name: &str, call: Call) -> Result<(), Refused> {
        let function = self.named(name)?;
        Call::check(&call.payload, MOST_EVENT_BYTES)?;
        function.enqueue(call)
    }
}

pub(crate) fn routes(functions: Functions, site: Site) -> Router {
    Router::new()
        .route("/2015-03-31/functions/{name}/invocations", post(invoke))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .with_state(functions)
        .layer(from_fn_with_state(site, guarded))
}

/// Refuses requests of other sites, and gives every response a request id.
async fn guarded(State(site): State<Site>, request: Request, next: Next) -> Response {
    let mut response = match site.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(why) => forbidden(&why.to_string()),
    };
    if !response.headers().contains_key(REQUEST_ID) {
        identify(&mut response, &Uuid::new_v4().to_string());
    }
    response
}

fn identify(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}

/// The kind of a call, from its header.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    RequestResponse,
    Event,
    DryRun,
}

async fn invoke(
    State(functions): State<Functions>,
    name: GivenName,
    query: GivenQuery,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let offered = Instant::now();
    let header = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let taken = async {
        let name = named(name, query)?;
        let kind = kind_of(header("x-amz-invocation-type"))?;
        let client_context = header("x-amz-client-context").map(context).transpose()?;
        let most = if kind == Kind::Event { MOST_EVENT_BYTES } else { MOST_PAYLOAD_BYTES };
        let payload = payload(&headers, body, most).await?;
        // AWS passes the context on only with calls that are waited for.
        let client_context = client_context.filter(|_| kind == Kind::RequestResponse);
        Ok((name, kind, Call { client_context, offered, ..Call::new(payload) }))
    };
    let (name, kind, call) = match taken.await {
        Ok(taken) => taken,
        Err(why) => return refused(&why),
    };
    let id = call.request_id.clone();
    let done = match kind {
        Kind::RequestResponse => {
            let with_log = header("x-amz-log-type") == Some("Tail");
            functions.call(&name, call).await.map(|invocation| answer(invocation, with_log))
        }
        Kind::Event => functions.enqueue(&name, call).map(|()| StatusCode::ACCEPTED.into_response()),
        Kind::DryRun => {
            let checked = functions.named(&name).and_then(|_| Call::check(&call.payload, MOST_PAYLOAD_BYTES));
            checked.map(|()| StatusCode::NO_CONTENT.into_response())
        }
    };
    let mut response = done.unwrap_or_else(|why| refused(&why));
    identify(&mut response, &id);
    response
}

fn kind_of(header: Option<&str>) -> Result<Kind, ParameterError> {
    match header.unwrap_or("RequestResponse") {
        "RequestResponse" => Ok(Kind::RequestResponse),
        "Event" => Ok(Kind::Event),
        "DryRun" => Ok(Kind::DryRun),
        other => Err(ParameterError::Kind(other.to_owned())),
    }
}

/// The name of the function that a request asks for. A version other than `$LATEST` is unknown.
fn named(name: GivenName, query: GivenQuery) -> Result<String, Refused> {
    let Path(given) = name.map_err(ParameterError::from)?;
    let Query(query) = query.map_err(ParameterError::from)?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.:$".contains(c);
    if given.is_empty() || given.len() > LONGEST_NAME || !given.chars().all(is_name) {
        let shown = given.chars().take(LONGEST_NAME).collect::<String>();
        return Err(ParameterError::NoName(shown).into());
    }
    let (name, qualifier) = name_of(&given);
    let asked = query.get("Qualifier").map(String::as_str);
    if let (Some(one), Some(other)) = (qualifier, asked)
        && one != other
    {
        let (in_name, in_query) = (one.to_owned(), other.to_owned());
        return Err(ParameterError::TwoQualifiers { in_name, in_query }.into());
    }
    match qualifier.or(asked).filter(|qualifier| *qualifier != "$LATEST") {
        Some(other) => Err(Refused::Unknown(format!("{name}:{other}"))),
        None => Ok(name.to_owned()),
    }
}

/// The whole payload, or a refusal if it has more than `most` bytes or breaks off; an empty JSON object if there is
/// none.
async fn payload(headers: &HeaderMap, mut body: Body, most: usize) -> Result<Bytes, Refused> {
    let told = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if let Some(bytes) = told.filter(|bytes| *bytes > most) {
        // A caller that waits to be let in (`expect`) sends no more. Another one may read no answer before all is
        // sent.
        if !headers.contains_key(EXPECT) {
            tokio::spawn(async move { while let Some(Ok(_)) = body.frame().await {} });
        }
        return Err(Refused::TooLarge { bytes, most });
    }
    let (mut kept, mut bytes) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => {
                let data = frame.into_data().unwrap_or_default();
                bytes += data.len();
                if bytes <= most {
                    kept.extend_from_slice(&data);
                }
            }
            Err(_) if bytes > most => break,
            Err(source) => return Err(ContentError::BrokenOff { bytes, source }.into()),
        }
    }
    match bytes {
        0 => Ok(Bytes::from_static(b"{}")),
        _ if bytes > most => Err(Refused::TooLarge { bytes, most }),
        _ => Ok(kept.into()),
    }
}

/// The function's name and its qualifier, from a name, a partial ARN or an ARN.
fn name_of(given: &str) -> (&str, Option<&str>) {
    let rest = given.split_once("function:").map_or(given, |(_, rest)| rest);
    rest.split_once(':').map_or((rest, None), |(name, qualifier)| (name, Some(qualifier)))
}

/// The client context for a runtime client: a JSON object, with only the characters that a header may have.
fn context(encoded: &str) -> Result<String, ContentError> {
    if encoded.len() > MOST_CONTEXT_BYTES {
        return Err(ContentError::LongContext(MOST_CONTEXT_BYTES));
    }
    let decoded = BASE64_STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let object = decoded.filter(|text| serde_json::from_str::<BTreeMap<String, IgnoredAny>>(text).is_ok());
    let object = object.ok_or(ContentError::NoContext)?;
    let mut line = String::new();
    for character in object.trim().chars() {
        match character {
            // In JSON a control character can only stand between two words.
            c if c.is_ascii_control() => line.push(' '),
            c if c.is_ascii() => line.push(c),
            c => {
                let units = c
                    .encode_utf16(&mut [0; 2])
                    .iter()
                    .map(|unit| format!("\\u{unit:04x}"))
                    .collect::<String>();
                line.push_str(&units);
            }
        }
    }
    Ok(line)
}

fn answer(invocation: Invocation, with_log: bool) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("x-amz-executed-version", HeaderValue::from_static("$LATEST"));
    if invocation.error.is_some() {
        headers.insert("x-amz-function-error", HeaderValue::from_static("Unhandled"));
    }
    if let (true, Ok(log)) = (with_log, HeaderValue::from_str(&tail(&invocation.log))) {
        headers.insert("x-amz-log-result", log);
    }
    (headers, invocation.payload).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_may_be_named_in_three_ways() {
        let cases = [
            ("hello", ("hello", None)),
            ("hello:$LATEST", ("hello", Some("$LATEST"))),
            ("123456789012:function:hello", ("hello", None)),
            ("arn:aws:lambda:us-east-1:123456789012:function:hello", ("hello", None)),
            ("arn:aws:lambda:us-east-1:123456789012:function:hello:7", ("hello", Some("7"))),
        ];
        for (given, expected) in cases {
            assert_eq!(name_of(given), expected, "{given}");
        }
    }

    #[test]
    fn a_client_context_is_a_json_object_in_base64_and_comes_in_one_line() {
        let of = |text: &str| context(&BASE64_STANDARD.encode(text));
        for (text, expected) in [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("{\n  \"a\": 1.50\r\n}\n", r#"{   "a": 1.50  }"#),
            (r#"{"a":"x\ny"}"#, r#"{"a":"x\ny"}"#),
            (r#"{"ü":"😀"}"#, r#"{"\u00fc":"\ud83d\ude00"}"#),
        ] {
            assert_eq!(of(text).unwrap(), expected, "{text}");
            let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(parsed(expected), parsed(text));
        }
        for text in ["{", "[1]", "\"text\"", "", "{\"a\":\"\n\"}"] {
            assert!(of(text).is_err(), "{text}");
        }
        assert!(context("?").is_err());
        assert!(context(&BASE64_STANDARD.encode(b"{\"a\":\"\xff\"}")).is_err());
        assert!(of(&format!("{{\"a\":\"{}\"}}", "x".repeat(2700))).is_err(), "it is too long");
    }

    #[test]
    fn what_is_no_name_is_told_apart_from_what_is_not_there() {
        let of = |name: &str, qualifier: Option<&str>| {
            let query = qualifier.map(|qualifier| ("Qualifier".to_owned(), qualifier.to_owned()));
            named(Ok(Path(name.to_owned())), Ok(Query(query.into_iter().collect())))
        };
        assert_eq!(of("f", Some("$LATEST")).unwrap(), "f");
        assert_eq!(of("f:$LATEST", Some("$LATEST")).unwrap(), "f");
        assert!(matches!(of("f", Some("7")), Err(Refused::Unknown(name)) if name == "f:7"));
        for (name, qualifier) in [("a b", None), ("ü", None), ("f:1", Some("2")), (&"f".repeat(257), None)] {
            assert!(matches!(of(name, qualifier), Err(Refused::Parameter(_))), "{name} {qualifier:?}");
        }
    }
}
