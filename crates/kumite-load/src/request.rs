//! What is sent: one request, encoded once and written again and again.

use crate::target::Target;

/// The request that every connection repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Case-sensitive, as in RFC 9110: `GET`, `POST`, …
    pub method: String,
    /// Names and values in the order they are sent.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The method is not a token of RFC 9110.
    #[error("the method {method:?} is not an HTTP method name")]
    Method {
        /// The method given.
        method: String,
    },
    /// A method that turns the connection into something else.
    #[error("the method CONNECT is not supported: its answer has no end")]
    Connect,
    /// A header's name is not a token of RFC 9110.
    #[error("the header name {name:?} is not an HTTP header name")]
    HeaderName {
        /// The name given.
        name: String,
    },
    /// A header's value holds a line break or another control character.
    #[error("the value of the header {name:?} holds a control character")]
    HeaderValue {
        /// The header's name.
        name: String,
    },
    /// The target's authority or path holds a blank, a control character or a character outside ASCII.
    #[error("the target {text:?} holds a blank, a control character or a character outside ASCII")]
    Target {
        /// The authority or path.
        text: String,
    },
}

impl Request {
    /// The bytes of this request for `target`, as HTTP/1.1.
    ///
    /// Adds `Host`, and `Content-Length` where there is a body or the method is one that usually has one (POST, PUT,
    /// PATCH). A header of the same name given by the user is sent instead, unchecked: a wrong `Content-Length` may be
    /// just what is to be tested. `Transfer-Encoding` given by the user also leaves `Content-Length` out; the body is
    /// then sent as it is.
    pub fn encode(&self, target: &Target) -> Result<Vec<u8>, RequestError> {
        if !is_token(&self.method) {
            return Err(RequestError::Method { method: self.method.clone() });
        }
        if self.method == "CONNECT" {
            return Err(RequestError::Connect);
        }
        for text in [&target.authority, &target.path] {
            if text.is_empty() || !text.bytes().all(|b| b.is_ascii_graphic()) {
                return Err(RequestError::Target { text: text.clone() });
            }
        }
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, target.path);
        if !self.has("host") {
            head += &format!("Host: {}\r\n", target.authority);
        }
        for (name, value) in &self.headers {
            if !is_token(name) {
                return Err(RequestError::HeaderName { name: name.clone() });
            }
            if value.bytes().any(|b| b.is_ascii_control() && b != b'\t') {
                return Err(RequestError::HeaderValue { name: name.clone() });
            }
            head += &format!("{name}: {value}\r\n");
        }
        let usual = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if (usual || !self.body.is_empty()) && !self.has("content-length") && !self.has("transfer-encoding") {
            head += &format!("Content-Length: {}\r\n", self.body.len());
        }
        head += "\r\n";
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        Ok(bytes)
    }

    /// Whether the server was asked to close the connection after its answer.
    pub(crate) fn asks_to_close(&self) -> bool {
        self.headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
            .flat_map(|(_, value)| value.split(','))
            .any(|token| token.trim().eq_ignore_ascii_case("close"))
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Target {
        Target {
            address: crate::Address::Tcp("127.0.0.1:80".parse().unwrap()),
            authority: "a:80".into(),
            path: "/x?y".into(),
        }
    }

    fn request(method: &str, headers: &[(&str, &str)], body: &str) -> Request {
        Request {
            method: method.into(),
            headers: headers.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            body: body.into(),
        }
    }

    #[test]
    fn what_is_sent() {
        for (request, bytes) in [
            (request("GET", &[], ""), "GET /x?y HTTP/1.1\r\nHost: a:80\r\n\r\n"),
            (request("POST", &[], ""), "POST /x?y HTTP/1.1\r\nHost: a:80\r\nContent-Length: 0\r\n\r\n"),
            (request("GET", &[], "hi"), "GET /x?y HTTP/1.1\r\nHost: a:80\r\nContent-Length: 2\r\n\r\nhi"),
            (
                request("PUT", &[("HOST", "b"), ("content-length", "9"), ("X", "")], "hi"),
                "PUT /x?y HTTP/1.1\r\nHOST: b\r\ncontent-length: 9\r\nX: \r\n\r\nhi",
            ),
            (
                request("POST", &[("Transfer-Encoding", "chunked")], "0\r\n\r\n"),
                "POST /x?y HTTP/1.1\r\nHost: a:80\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            ),
        ] {
            assert_eq!(String::from_utf8(request.encode(&target()).unwrap()).unwrap(), bytes);
        }
    }

    #[test]
    fn what_is_refused() {
        for (request, message) in [
            (request("", &[], ""), "the method \"\""),
            (request("GET /", &[], ""), "the method"),
            (request("CONNECT", &[], ""), "CONNECT"),
            (request("GET", &[("a b", "c")], ""), "header name \"a b\""),
            (request("GET", &[("a:", "c")], ""), "header name"),
            (request("GET", &[("a", "b\r\nc: d")], ""), "value of the header \"a\""),
            (request("GET", &[("a", "b\nc")], ""), "value of the header"),
            (request("GET", &[("a", "b\0")], ""), "value of the header"),
        ] {
            let error = request.encode(&target()).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let injected = Target { path: "/ HTTP/1.1\r\nX: y".into(), ..target() };
        assert!(matches!(request("GET", &[], "").encode(&injected), Err(RequestError::Target { .. })));
    }

    #[test]
    fn a_request_may_ask_to_close() {
        assert!(request("GET", &[("connection", "TE, Close")], "").asks_to_close());
        assert!(!request("GET", &[("connection", "keep-alive")], "").asks_to_close());
    }
}
