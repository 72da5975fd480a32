//! AWS's Invoke API, as an SDK or the command line calls it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use kumite_guard::Site;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::function_state::{Call, FunctionState, MOST_PAYLOAD_BYTES, stopping};
use crate::lines::tail;
use crate::{Invocation, Refused};

/// The most bytes of a call that is not waited for: what AWS documents.
const MOST_EVENT_BYTES: usize = 1 << 20;
/// More is read, so that who sends too much is told how much it was.
const MOST_READ_BYTES: usize = 4 * MOST_PAYLOAD_BYTES;
/// Calls that wait or run without a caller, at most.
pub(crate) const MOST_QUEUED: usize = 10_000;
/// When a call that nobody waits for is tried again after it failed: as AWS does by default.
const RETRIES: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(120)];
/// And how long it waits if all instances are busy: from, to, for how long at most.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(60));
const OLDEST: Duration = Duration::from_secs(6 * 3600);

/// The functions that are served.
#[derive(Clone)]
pub(crate) struct Functions {
    pub by_name: Arc<BTreeMap<String, Arc<FunctionState>>>,
    /// For calls that nobody waits for.
    pub queue: Arc<Semaphore>,
    pub stop: tokio::sync::watch::Receiver<bool>,
}

impl Functions {
    pub fn named(&self, name: &str) -> Result<&Arc<FunctionState>, Refused> {
        self.by_name.get(name).ok_or_else(|| Refused::Unknown(name.to_owned()))
    }

    /// A call to its end, whether or not who made it waits for it.
    pub async fn call(&self, name: &str, call: Call) -> Result<Invocation, Refused> {
        let function = Arc::clone(self.named(name)?);
        Call::check(&call.payload, MOST_PAYLOAD_BYTES)?;
        match tokio::spawn(async move { function.call(call).await }).await {
            Ok(done) => done,
            Err(_) => Err(Refused::Stopping),
        }
    }

    /// A call that nobody waits for.
    fn enqueue(&self, name: &str, call: Call) -> Result<(), Refused> {
        let function = Arc::clone(self.named(name)?);
        Call::check(&call.payload, MOST_EVENT_BYTES)?;
        let most = u32::try_from(MOST_QUEUED).unwrap_or(u32::MAX);
        let queue = Arc::clone(&self.queue);
        let permit = queue.try_acquire_owned().map_err(|_| Refused::Throttled(most))?;
        let stop = self.stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = delivered(&function, call, permit) => {}
                () = stopping(stop) => {}
            }
        });
        Ok(())
    }
}

/// Tries until it succeeds, has failed as often as it may, or is too old.
async fn delivered(function: &FunctionState, call: Call, _permit: OwnedSemaphorePermit) {
    let mut retries = RETRIES.into_iter();
    let mut back_off = BACK_OFF.0;
    while call.offered.elapsed() < OLDEST {
        let wait = match function.call(Call { offered: Instant::now(), ..call.clone() }).await {
            Ok(Invocation { error: None, .. }) | Err(Refused::Stopping) => return,
            Err(Refused::Throttled(_)) => {
                back_off = (back_off * 2).min(BACK_OFF.1);
                back_off
            }
            Ok(_) | Err(_) => match retries.next() {
                Some(wait) => wait,
                None => return,
            },
        };
        tokio::time::sleep(wait).await;
    }
}

pub(crate) fn routes(functions: Functions, site: Site) -> Router {
    Router::new()
        .route("/2015-03-31/functions/{name}/invocations", post(invoke))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .layer(DefaultBodyLimit::max(MOST_READ_BYTES))
        .with_state(functions)
        .layer(from_fn_with_state(site, guarded))
}

async fn guarded(State(site): State<Site>, request: Request, next: Next) -> Response {
    match site.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => {
            let body =
                json!({ "Type": "User", "Message": refused.to_string(), "message": refused.to_string() });
            told(StatusCode::FORBIDDEN, "AccessDeniedException", &body)
        }
    }
}

async fn invoke(
    State(functions): State<Functions>,
    Path(name): Path<String>,
    Query(query): Query<BTreeMap<String, String>>,
    headers: HeaderMap,
    payload: Bytes,
) -> Response {
    let offered = Instant::now();
    let header = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let (name, qualifier) = name_of(&name);
    if let Some(other) = qualifier.or(query.get("Qualifier").map(String::as_str)).filter(|q| *q != "$LATEST")
    {
        return refused(&Refused::Unknown(format!("{name}:{other}")));
    }
    // A call without a payload is one with an empty document.
    let payload = if payload.is_empty() { b"{}".to_vec() } else { payload.to_vec() };
    let client_context = match header("x-amz-client-context").map(context) {
        None => None,
        Some(Ok(context)) => Some(context),
        Some(Err(why)) => return invalid(&why),
    };
    let call = Call { client_context, offered, ..Call::new(payload) };
    let id = call.request_id.clone();
    let mut response = match header("x-amz-invocation-type").unwrap_or("RequestResponse") {
        "RequestResponse" => match functions.call(name, call).await {
            Ok(invocation) => answer(invocation, header("x-amz-log-type") == Some("Tail")),
            Err(why) => refused(&why),
        },
        "Event" => match functions.enqueue(name, call) {
            Ok(()) => StatusCode::ACCEPTED.into_response(),
            Err(why) => refused(&why),
        },
        "DryRun" => {
            let checked = functions.named(name).and_then(|_| Call::check(&call.payload, MOST_PAYLOAD_BYTES));
            checked.map_or_else(|why| refused(&why), |()| StatusCode::NO_CONTENT.into_response())
        }
        other => invalid(&format!(
            "the invocation type '{}' is none of RequestResponse, Event and DryRun",
            other.escape_debug()
        )),
    };
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert("x-amzn-requestid", id);
    }
    response
}

/// The name in a name, a partial ARN or an ARN, and its qualifier.
fn name_of(given: &str) -> (&str, Option<&str>) {
    let rest = given.split_once("function:").map_or(given, |(_, rest)| rest);
    rest.split_once(':').map_or((rest, None), |(name, qualifier)| (name, Some(qualifier)))
}

fn context(encoded: &str) -> Result<String, String> {
    let decoded =
        BASE64_STANDARD.decode(encoded).map_err(|_| "the client context is not base64".to_owned())?;
    let text = String::from_utf8(decoded).map_err(|_| "the client context is not UTF-8".to_owned())?;
    serde_json::from_str::<serde::de::IgnoredAny>(&text)
        .map_err(|_| "the client context is not JSON".to_owned())?;
    Ok(text)
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

/// As AWS says it: its kind in a header, the rest as JSON.
fn refused(why: &Refused) -> Response {
    let user = |message: String| json!({ "Type": "User", "Message": message, "message": message });
    let (status, kind, body) = match why {
        Refused::Unknown(name) => {
            (StatusCode::NOT_FOUND, "ResourceNotFoundException", user(format!("Function not found: {name}")))
        }
        Refused::Throttled(_) => (StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException", {
            let mut body = user("Rate Exceeded.".to_owned());
            body["Reason"] = "ReservedFunctionConcurrentInvocationLimitExceeded".into();
            body
        }),
        Refused::TooLarge { bytes, most } => (
            StatusCode::PAYLOAD_TOO_LARGE,
            "RequestTooLargeException",
            user(format!("{bytes} byte payload is too large for this invocation type (limit {most} bytes)")),
        ),
        Refused::NotJson(why) => (
            StatusCode::BAD_REQUEST,
            "InvalidRequestContentException",
            user(format!("Could not parse request body into json: {why}")),
        ),
        Refused::Stopping | Refused::Start(_) => {
            let body = json!({ "Type": "Service", "Message": why.to_string(), "message": why.to_string() });
            let kind = match why {
                Refused::Stopping => "ServiceException",
                _ => "InvalidRuntimeException",
            };
            (StatusCode::INTERNAL_SERVER_ERROR, kind, body)
        }
    };
    told(status, kind, &body)
}

fn invalid(why: &str) -> Response {
    let body = json!({ "Type": "User", "Message": why, "message": why });
    told(StatusCode::BAD_REQUEST, "InvalidParameterValueException", &body)
}

async fn unknown(method: axum::http::Method, uri: Uri) -> Response {
    let what = format!(
        "this host has no {method} {}; it has POST /2015-03-31/functions/NAME/invocations",
        uri.path()
    );
    told(StatusCode::NOT_FOUND, "UnknownOperationException", &json!({ "Type": "User", "message": what }))
}

fn told(status: StatusCode, kind: &'static str, body: &serde_json::Value) -> Response {
    let headers = [("content-type", "application/json"), ("x-amzn-errortype", kind)];
    (status, headers, body.to_string()).into_response()
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
    fn a_client_context_is_json_in_base64() {
        assert_eq!(context(&BASE64_STANDARD.encode("{\"a\":1}")), Ok("{\"a\":1}".to_owned()));
        assert!(context("?").unwrap_err().contains("base64"));
        assert!(context(&BASE64_STANDARD.encode("{")).unwrap_err().contains("JSON"));
    }
}
