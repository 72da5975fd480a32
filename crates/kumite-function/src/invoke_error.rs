//! Errors of the Invoke API as AWS has them: the kind in a header, the message as JSON.

use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::Refused;

/// The response to a call that did not get to its function.
pub(crate) fn refused(why: &Refused) -> Response {
    let (status, kind) = match why {
        Refused::Unknown(_) => (StatusCode::NOT_FOUND, "ResourceNotFoundException"),
        Refused::Throttled(_) | Refused::QueueFull => {
            (StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException")
        }
        Refused::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "RequestTooLargeException"),
        Refused::Content(_) => (StatusCode::BAD_REQUEST, "InvalidRequestContentException"),
        Refused::Parameter(_) => (StatusCode::BAD_REQUEST, "InvalidParameterValueException"),
        Refused::Stopping | Refused::Start(_) => (StatusCode::INTERNAL_SERVER_ERROR, "ServiceException"),
    };
    let mut body = match why {
        Refused::Unknown(name) => user(&format!("Function not found: {name}")),
        Refused::Throttled(_) | Refused::QueueFull => user("Rate Exceeded."),
        Refused::TooLarge { bytes, most } => {
            user(&format!("{bytes} byte payload is too large for this invocation type (limit {most} bytes)"))
        }
        Refused::Content(_) | Refused::Parameter(_) => user(&why.to_string()),
        Refused::Stopping | Refused::Start(_) => document("Service", &why.to_string()),
    };
    if let Refused::Throttled(_) = why {
        body["Reason"] = "ReservedFunctionConcurrentInvocationLimitExceeded".into();
    }
    error_response(status, kind, &body)
}

/// The response to a request from another site, or for a host name that is not this host's.
pub(crate) fn forbidden(why: &str) -> Response {
    error_response(StatusCode::FORBIDDEN, "AccessDeniedException", &user(why))
}

/// The response to a request that the host does not know.
pub(crate) async fn unknown(method: axum::http::Method, uri: Uri) -> Response {
    let what = format!(
        "this host has no {method} {}; it has POST /2015-03-31/functions/NAME/invocations",
        uri.path()
    );
    error_response(StatusCode::NOT_FOUND, "UnknownOperationException", &user(&what))
}

fn user(message: &str) -> Value {
    document("User", message)
}

/// The JSON of an error. AWS's service model has `Message` for some errors and `message` for others; this one has
/// both.
fn document(at_fault: &str, message: &str) -> Value {
    json!({ "Type": at_fault, "Message": message, "message": message })
}

fn error_response(status: StatusCode, kind: &'static str, body: &Value) -> Response {
    let headers = [("content-type", "application/json"), ("x-amzn-errortype", kind)];
    (status, headers, body.to_string()).into_response()
}
