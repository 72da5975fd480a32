//! A caller of the Invoke API, for the command line.

use std::io;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::{Request, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::Builder;

/// The kind of a call, in the words of the Invoke API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invocations {
    /// The caller waits for the answer.
    RequestResponse,
    /// The call is handed over, and nobody waits for its answer.
    Event,
    /// The call is only checked, and not made.
    DryRun,
}

/// A host's reply to a call.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status: 200, 202 or 204 if the call was taken.
    pub status: u16,
    /// The function's answer, or the JSON document of a refusal or of the function's error; empty if the call was
    /// only handed over or checked.
    pub payload: Vec<u8>,
    /// AWS's name of the refusal, such as `TooManyRequestsException`; none if the call was taken, or if what answered
    /// does not name it.
    pub refused: Option<String>,
    /// True if the function was called and failed.
    pub function_error: bool,
    /// The end of the call's log; none if the host sent none.
    pub log: Option<String>,
}

/// The refusal of a call by a host.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The refusal's name, the status and the host's message. If the name or the message is missing: the status and the
    /// whole payload.
    pub words: String,
    /// True if the refusal is about what the caller sent. False if the host takes no calls now, or no calls of this
    /// caller.
    pub is_callers: bool,
}

impl Reply {
    /// The refusal in this reply; none if the call was taken.
    pub fn refusal(&self) -> Option<Refusal> {
        let status = self.status;
        if [200, 202, 204].contains(&status) {
            return None;
        }
        let document = serde_json::from_slice::<serde_json::Value>(&self.payload).ok();
        let message = document.as_ref().and_then(|document| document.get("message")?.as_str());
        let words = match (&self.refused, message) {
            (Some(kind), Some(message)) => format!("{kind} (status {status}): {message}"),
            _ => format!("status {status}: {}", String::from_utf8_lossy(&self.payload)),
        };
        // Of the statuses for a caller's mistakes, 403 and 429 are not about what the caller sent.
        let is_callers = (400..500).contains(&status) && ![403, 429].contains(&status);
        Some(Refusal { words, is_callers })
    }
}

/// The reason why there is no reply to a call.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No function can have this name.
    #[error("'{0}' is not a function's name")]
    Name(String),
    /// The URL cannot be read, names no host, or is not `http`.
    #[error("'{0}' is not the URL of a host, such as http://127.0.0.1:9001")]
    Endpoint(String),
    /// The host gave no whole answer.
    #[error("no answer from {endpoint}: {source}; is `kumite function serve` running there?")]
    Unanswered {
        /// The URL of the host, as it was given.
        endpoint: String,
        /// The error of the exchange.
        source: ExchangeError,
    },
}

/// The reason why a request has no whole answer.
#[derive(Debug, thiserror::Error)]
pub enum ExchangeError {
    /// The connection, or the runtime that it needs, could not be made.
    #[error(transparent)]
    Connect(#[from] io::Error),
    /// The connection ended early, or carried what is not HTTP.
    #[error(transparent)]
    Http(#[from] hyper::Error),
    /// The answer was not whole within this time.
    #[error("nothing came within {} s", .0.as_secs_f64())]
    TooLate(Duration),
}

/// Calls a function at a host, and waits for the reply for at most `limit`. `endpoint` is the URL of the host, with the
/// scheme `http`. An error if the name cannot be that of a function, the URL cannot be used, the host cannot be
/// reached, or the reply is not whole in time. A reply that reports a failure of the function is no error.
pub fn invoke_at(
    endpoint: &str,
    name: &str,
    kind: Invocations,
    payload: Vec<u8>,
    limit: Duration,
) -> Result<Reply, ClientError> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_:$".contains(c);
    if name.is_empty() || !name.chars().all(is_of_name) {
        return Err(ClientError::Name(name.to_owned()));
    }
    let not_one = || ClientError::Endpoint(endpoint.to_owned());
    let uri: Uri = endpoint.parse().map_err(|_| not_one())?;
    let (Some("http"), Some(host)) = (uri.scheme_str(), uri.host()) else { return Err(not_one()) };
    let address = (host.trim_matches(['[', ']']).to_owned(), uri.port_u16().unwrap_or(80));
    let kind = match kind {
        Invocations::RequestResponse => "RequestResponse",
        Invocations::Event => "Event",
        Invocations::DryRun => "DryRun",
    };
    let request = Request::post(format!("/2015-03-31/functions/{name}/invocations"))
        .header("host", uri.authority().map_or("", |authority| authority.as_str()))
        .header("x-amz-invocation-type", kind)
        .header("x-amz-log-type", "Tail")
        .body(Full::new(Bytes::from(payload)))
        .map_err(|_| not_one())?;
    let reply =
        Builder::new_current_thread().enable_all().build().map_err(ExchangeError::from).and_then(|runtime| {
            let reply =
                runtime.block_on(async { tokio::time::timeout(limit, exchange(address, request)).await });
            reply.unwrap_or(Err(ExchangeError::TooLate(limit)))
        });
    reply.map_err(|source| ClientError::Unanswered { endpoint: endpoint.to_owned(), source })
}

async fn exchange(address: (String, u16), request: Request<Full<Bytes>>) -> Result<Reply, ExchangeError> {
    let stream = TcpStream::connect(address).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let response = sender.send_request(request).await?;
    let status = response.status().as_u16();
    let function_error = response.headers().contains_key("x-amz-function-error");
    let refused = response.headers().get("x-amzn-errortype").and_then(|kind| kind.to_str().ok());
    let refused = refused.map(str::to_owned);
    let log = response.headers().get("x-amz-log-result").and_then(|log| BASE64_STANDARD.decode(log).ok());
    let payload = response.into_body().collect().await?.to_bytes().to_vec();
    let log = log.map(|log| String::from_utf8_lossy(&log).into_owned());
    Ok(Reply { status, payload, refused, function_error, log })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_in_the_hosts_words_and_says_whose_fault_it_is() {
        let refusal = |status, refused: Option<&str>, payload: &str| {
            let (refused, payload) = (refused.map(str::to_owned), payload.as_bytes().to_vec());
            Reply { status, payload, refused, function_error: false, log: None }.refusal()
        };
        assert_eq!(refusal(200, None, "{}"), None);
        let unknown = refusal(404, Some("NotFound"), "{\"message\": \"no f\"}").unwrap();
        assert_eq!((unknown.words.as_str(), unknown.is_callers), ("NotFound (status 404): no f", true));
        let busy = refusal(429, Some("TooMany"), "{\"message\": \"busy\"}").unwrap();
        assert!(!busy.is_callers);
        let other = refusal(502, None, "<html>").unwrap();
        assert_eq!((other.words.as_str(), other.is_callers), ("status 502: <html>", false));
    }

    #[test]
    fn a_name_that_no_function_has_is_refused_before_anything_is_sent() {
        for name in ["", "a b", "a/b"] {
            let called =
                invoke_at("http://127.0.0.1:1", name, Invocations::DryRun, vec![], Duration::from_secs(1));
            assert!(matches!(called, Err(ClientError::Name(_))), "{name}");
        }
    }
}
