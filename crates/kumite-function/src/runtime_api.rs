//! AWS's Runtime API (2018-06-01) for one instance. Each instance has a port of its own, which tells it from the
//! others.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_body_util::BodyExt;
use kumite_guard::{Connection, Limits, Site};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::runtime_protocol::{Answer, Rejected, RuntimeProtocol};

/// The most bytes of an answer, as AWS documents it.
pub(crate) const MOST_ANSWER_BYTES: usize = 6_291_556;
/// The most bytes that are read of an answer that is too long, before it is refused.
const MOST_READ_BYTES: usize = 16 * MOST_ANSWER_BYTES;

/// The header or trailer with the type of an error.
const ERROR_TYPE: &str = "lambda-runtime-function-error-type";

type Context = State<Arc<RuntimeProtocol>>;

/// The server of an instance's Runtime API; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct RuntimeApi {
    pub address: SocketAddr,
    task: JoinHandle<()>,
}

impl Drop for RuntimeApi {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl RuntimeApi {
    pub async fn start(protocol: Arc<RuntimeProtocol>) -> std::io::Result<RuntimeApi> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let task = tokio::spawn(serve(listener, address, protocol));
        Ok(RuntimeApi { address, task })
    }
}

async fn serve(listener: TcpListener, address: SocketAddr, protocol: Arc<RuntimeProtocol>) {
    let routes = Router::new()
        .route("/2018-06-01/runtime/invocation/next", get(next))
        .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
        .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
        .route("/2018-06-01/runtime/init/error", post(init_error))
        .fallback(unknown)
        .method_not_allowed_fallback(unknown)
        .with_state(Arc::clone(&protocol))
        .layer(from_fn_with_state(Site::new(address, "127.0.0.1"), guarded));
    // An instance uses a connection again after any time: it may have worked, or been frozen, for as long.
    let limits = Limits { idle: None, ..Limits::default() };
    let malformed = move |error: &hyper::Error| protocol.reject(format!("sent what is not HTTP: {error}"));
    kumite_guard::serve(listener, routes, limits, malformed).await;
}

/// Refuses requests from pages of other sites. They are not the instance's doing, and are not recorded as such.
async fn guarded(State(site): State<Site>, request: Request, next: Next) -> Response {
    match site.check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refused) => status(StatusCode::FORBIDDEN, "Forbidden", &refused.to_string()),
    }
}

async fn next(State(protocol): Context, Extension(connection): Extension<Connection>) -> Response {
    let event = match protocol.next(&connection).await {
        Ok(event) => event,
        Err(rejected) => return refused(rejected),
    };
    let mut headers = HeaderMap::new();
    let mut set = |name, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    set("content-type", "application/json");
    set("lambda-runtime-aws-request-id", &event.request_id);
    set("lambda-runtime-deadline-ms", &event.deadline_ms.to_string());
    set("lambda-runtime-invoked-function-arn", &event.arn);
    set("lambda-runtime-trace-id", &event.trace_id);
    if let Some(context) = &event.client_context {
        set("lambda-runtime-client-context", context);
    }
    (headers, event.payload).into_response()
}

async fn response(
    State(protocol): Context,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let mode = headers.get("lambda-runtime-function-response-mode");
    let streams = mode.is_some_and(|mode| mode.as_bytes().eq_ignore_ascii_case(b"streaming"));
    match read(body).await {
        Ok(Whole { error: Some(error), .. }) => accepted(protocol.answer(&id, error)),
        Ok(Whole { bytes, .. }) if bytes.len() <= MOST_ANSWER_BYTES => {
            accepted(protocol.answer(&id, Answer::Right(bytes.into())))
        }
        Ok(Whole { bytes, .. }) => {
            let message = format!(
                "Response payload size ({} bytes) exceeded maximum allowed payload size ({MOST_ANSWER_BYTES} bytes).",
                bytes.len()
            );
            let kind = "Function.ResponseSizeTooLarge";
            match protocol.answer(&id, Answer::Wrong(kind.to_owned(), document(kind, &message))) {
                Ok(()) => status(StatusCode::PAYLOAD_TOO_LARGE, "RequestEntityTooLarge", &message),
                Err(rejected) => refused(rejected),
            }
        }
        // A client that streams has begun to answer, and cannot begin once more.
        Err(why) if streams => {
            let (kind, message) = ("Runtime.TruncatedResponse", format!("The streamed response {why}."));
            let _ = protocol.answer(&id, Answer::Wrong(kind.to_owned(), document(kind, &message)));
            broken_off(&protocol, &why)
        }
        Err(why) => broken_off(&protocol, &why),
    }
}

async fn error(State(protocol): Context, Path(id): Path<String>, headers: HeaderMap, body: Body) -> Response {
    match read(body).await {
        Ok(Whole { bytes, .. }) => accepted(protocol.answer(&id, wrong(&headers, &bytes))),
        Err(why) => broken_off(&protocol, &why),
    }
}

async fn init_error(State(protocol): Context, headers: HeaderMap, body: Body) -> Response {
    match read(body).await {
        Ok(Whole { bytes, .. }) => accepted(protocol.init_error(wrong(&headers, &bytes))),
        Err(why) => broken_off(&protocol, &why),
    }
}

async fn unknown(State(protocol): Context, method: axum::http::Method, uri: Uri) -> Response {
    let path: String = uri.path().chars().take(200).collect();
    protocol.reject(format!("asked for {method} {path}, which the Runtime API does not have"));
    status(StatusCode::NOT_FOUND, "NotFound", "the Runtime API has no such resource")
}

/// A body that has come to its end, or is longer than is read.
struct Whole {
    /// The bytes, at most [`MOST_READ_BYTES`]. If there are more than [`MOST_ANSWER_BYTES`], only their number
    /// counts: the last ones are zeros.
    bytes: Bytes,
    /// The error in the trailers, if the function failed after it had begun to answer; none if it did not.
    error: Option<Answer>,
}

/// A body whose end did not come.
#[derive(Debug, thiserror::Error)]
#[error("broke off after {bytes} bytes: {source}")]
struct BrokenOff {
    /// The number of bytes that had come.
    bytes: usize,
    source: axum::Error,
}

async fn read(mut body: Body) -> Result<Whole, BrokenOff> {
    let mut bytes = Vec::new();
    let mut length = 0;
    let mut error = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|source| BrokenOff { bytes: length, source })?;
        let data = match frame.into_data() {
            Ok(data) => data,
            Err(other) => {
                error = other.into_trailers().ok().and_then(|trailers| failed_midway(&trailers));
                continue;
            }
        };
        length += data.len();
        if length <= MOST_ANSWER_BYTES + 1 {
            bytes.extend_from_slice(&data);
        } else if length > MOST_READ_BYTES {
            break;
        }
    }
    bytes.resize(length.min(MOST_READ_BYTES), 0);
    Ok(Whole { bytes: bytes.into(), error })
}

/// The error in the trailers of an answer; none if there is none. Its body is in base64, since it may have several
/// lines.
fn failed_midway(trailers: &HeaderMap) -> Option<Answer> {
    let encoded = trailers.get("lambda-runtime-function-error-body");
    if encoded.is_none() && !trailers.contains_key(ERROR_TYPE) {
        return None;
    }
    let encoded = encoded.map_or(&b""[..], |body| body.as_bytes());
    let body = BASE64_STANDARD.decode(encoded).unwrap_or_else(|_| encoded.to_vec());
    Some(wrong(trailers, &body))
}

/// The error that a function reports, with its type and its document. A body that is no JSON document of an error
/// becomes the message.
fn wrong(headers: &HeaderMap, body: &[u8]) -> Answer {
    #[derive(Deserialize)]
    struct Document {
        #[serde(rename = "errorType")]
        kind: Option<String>,
    }
    let header = headers.get(ERROR_TYPE).and_then(|value| value.to_str().ok());
    let header = header.map(str::to_owned);
    let body = &body[..body.len().min(MOST_ANSWER_BYTES)];
    match serde_json::from_slice::<Document>(body) {
        Ok(Document { kind }) => {
            Answer::Wrong(kind.or(header).unwrap_or_else(|| "Unhandled".to_owned()), body.to_vec())
        }
        Err(_) => {
            let kind = header.unwrap_or_else(|| "Runtime.Unknown".to_owned());
            let document = document(&kind, &String::from_utf8_lossy(body));
            Answer::Wrong(kind, document)
        }
    }
}

/// The JSON document of an error, as callers get it.
pub(crate) fn document(kind: &str, message: &str) -> Vec<u8> {
    serde_json::json!({ "errorType": kind, "errorMessage": message }).to_string().into_bytes()
}

fn accepted(result: Result<(), Rejected>) -> Response {
    match result {
        Ok(()) => {
            let json = [("content-type", "application/json")];
            (StatusCode::ACCEPTED, json, r#"{"status":"OK"}"#).into_response()
        }
        Err(rejected) => refused(rejected),
    }
}

fn refused(rejected: Rejected) -> Response {
    match rejected {
        Rejected::OtherRequest => {
            status(StatusCode::BAD_REQUEST, "InvalidRequestID", "it is not the request of now")
        }
        Rejected::OutOfTurn => status(StatusCode::FORBIDDEN, "InvalidStateTransition", "not in this state"),
    }
}

fn broken_off(protocol: &RuntimeProtocol, why: &BrokenOff) -> Response {
    protocol.reject(format!("answered something that {why}"));
    status(StatusCode::BAD_REQUEST, "InvalidRequest", &why.to_string())
}

fn status(status: StatusCode, kind: &str, message: &str) -> Response {
    (status, [("content-type", "application/json")], document(kind, message)).into_response()
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;
    use crate::runtime_protocol::Event;

    /// Sends a raw request, and returns all that comes back.
    async fn reply(address: SocketAddr, text: &str) -> String {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }

    fn get(path: &str, headers: &str) -> String {
        format!("GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")
    }

    #[tokio::test]
    async fn a_page_of_another_site_takes_no_event_and_ends_no_instance() {
        let protocol = Arc::new(RuntimeProtocol::default());
        let api = RuntimeApi::start(Arc::clone(&protocol)).await.unwrap();
        let ours = format!("Host: {}\r\n", api.address);
        for headers in [
            "Host: evil.example\r\n".to_owned(),
            format!("{ours}Origin: http://evil.example\r\n"),
            format!("{ours}Sec-Fetch-Site: cross-site\r\n"),
        ] {
            for path in ["/2018-06-01/runtime/invocation/next", "/nothing"] {
                let answer = reply(api.address, &get(path, &headers)).await;
                assert!(answer.starts_with("HTTP/1.1 403"), "{path} {headers}: {answer}");
            }
        }
        assert!(reply(api.address, &get("/nothing", &ours)).await.starts_with("HTTP/1.1 404"));
    }

    /// Sends a streamed answer whose body is `rest`, in chunks, and returns it as the host has understood it.
    async fn streamed(rest: &str) -> Answer {
        let protocol = Arc::new(RuntimeProtocol::default());
        let api = RuntimeApi::start(Arc::clone(&protocol)).await.unwrap();
        let host = format!("Host: {}\r\n", api.address);
        protocol.give(Event { request_id: "1".to_owned(), ..Event::default() });
        let asked = reply(api.address, &get("/2018-06-01/runtime/invocation/next", &host)).await;
        assert!(asked.starts_with("HTTP/1.1 200"), "{asked}");
        let path = "/2018-06-01/runtime/invocation/1/response";
        let head = format!(
            "POST {path} HTTP/1.1\r\n{host}Lambda-Runtime-Function-Response-Mode: streaming\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        );
        let mut stream = TcpStream::connect(api.address).await.unwrap();
        stream.write_all(format!("{head}{rest}").as_bytes()).await.unwrap();
        let _ = stream.shutdown().await;
        protocol.answered().await
    }

    #[tokio::test]
    async fn a_streamed_answer_says_in_its_trailers_that_it_failed() {
        let kind = "Lambda-Runtime-Function-Error-Type";
        let body = "Lambda-Runtime-Function-Error-Body";
        let json = r#"{"errorType":"Own","errorMessage":"two\nlines"}"#;
        let encoded = |text: &str| BASE64_STANDARD.encode(text);
        let cases = [
            (format!("4\r\nhalf\r\n0\r\n{kind}: Boom\r\n\r\n"), "Boom", ""),
            (format!("0\r\n{kind}: Boom\r\n{body}: {}\r\n\r\n", encoded(json)), "Own", "two\nlines"),
            (format!("1\r\n{{\r\n0\r\n{body}: {}\r\n\r\n", encoded(json)), "Own", "two\nlines"),
            (format!("0\r\n{kind}: Boom\r\n{body}: {}\r\n\r\n", encoded("no JSON")), "Boom", "no JSON"),
            (format!("0\r\n{kind}: Boom\r\n{body}: not base64\r\n\r\n"), "Boom", "not base64"),
        ];
        for (rest, kind, message) in cases {
            let Answer::Wrong(found, document) = streamed(&rest).await else { panic!("{rest} is taken") };
            let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
            assert_eq!(found, kind, "{rest}");
            assert_eq!(document, serde_json::json!({ "errorType": kind, "errorMessage": message }), "{rest}");
        }
        for trailers in ["", "X-Other: Boom\r\n"] {
            let rest = format!("4\r\nhalf\r\n0\r\n{trailers}\r\n");
            assert_eq!(streamed(&rest).await, Answer::Right(b"half".to_vec()), "{rest}");
        }
    }

    #[tokio::test]
    async fn a_streamed_answer_that_breaks_off_is_an_error() {
        for rest in ["4\r\nhalf\r\n", "4\r\nha", ""] {
            let Answer::Wrong(kind, document) = streamed(rest).await else { panic!("{rest} is taken") };
            let document = String::from_utf8(document).unwrap();
            assert_eq!(kind, "Runtime.TruncatedResponse");
            assert!(document.contains("The streamed response broke off after"), "{document}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_end_is_closed() {
        let api = RuntimeApi::start(Arc::new(RuntimeProtocol::default())).await.unwrap();
        assert_eq!(reply(api.address, "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\n").await, "");
    }
}
