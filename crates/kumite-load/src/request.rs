//! Requests: one request, encoded once and sent again and again, or rendered with other values each time.

pub(crate) mod component;
pub(crate) mod cookies;
pub(crate) mod http2;
pub(crate) mod mix;
pub(crate) mod source;
pub(crate) mod take;
pub(crate) mod target;
pub(crate) mod template;

use crate::field::is_token;
use crate::request::component::Component;
use crate::request::target::Target;
use crate::request::template::{Given, TemplateError, TemplatePart, Variables};

/// A request as it is written, before names in double braces are replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, which is case-sensitive as in RFC 9110: `GET`, `POST`, …
    pub method: String,
    /// Names and values of the headers, in the order in which they are sent.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// The reason why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The method is not a token of RFC 9110.
    #[error("the method {method:?} is not an HTTP method name")]
    Method {
        /// The method that was given.
        method: String,
    },
    /// The method is CONNECT, which turns the connection into something else.
    #[error("the method CONNECT is not supported: its answer has no end")]
    Connect,
    /// A header's name is not a token of RFC 9110.
    #[error("the header name {name:?} is not an HTTP header name")]
    HeaderName {
        /// The name that was given.
        name: String,
    },
    /// A header's value holds a line break or another control character; only a tab is allowed.
    #[error("the value of the header {name:?} holds a control character")]
    HeaderValue {
        /// The header's name.
        name: String,
    },
    /// The target's path is empty, or holds a blank, a control character or a character outside ASCII.
    #[error("the path {path:?} is empty, or holds a blank, a control character or a character outside ASCII")]
    Path {
        /// The path that was given.
        path: String,
    },
    /// The request has a header that HTTP/2 does not have (RFC 9113, section 8.2.2).
    #[error("the header {name} is not allowed in HTTP/2, which has other means for it: leave it out")]
    NoHttp2Header {
        /// The header's name.
        name: String,
    },
    /// HTTP/2 cannot express the target: its authority, its path or the request's `Host` header is no part of a URL
    /// by RFC 3986, or is too long.
    #[error(
        "{authority}{path} or its Host header cannot be said in HTTP/2: it is no URL by RFC 3986, or too long"
    )]
    Http2 {
        /// The target's host and port.
        authority: String,
        /// The target's path.
        path: String,
    },
    /// The request has a `Cookie` header, though cookies of answers are to be sent back.
    #[error("the header Cookie is given, and cookies of answers are to be sent back: leave one of them out")]
    Cookies,
    /// A name in double braces cannot be replaced.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// A request made ready for one target.
#[derive(Debug)]
pub(crate) enum Prepared {
    /// A request of the same bytes each time.
    Fixed(Vec<u8>),
    /// A request that is rendered with other values each time.
    Varying {
        parts: Vec<TemplatePart>,
        /// The number of parts at the beginning of `parts` that are the head.
        head: usize,
        variables: Variables,
    },
}

impl Prepared {
    /// The length in bytes that no rendered request exceeds.
    pub fn longest(&self) -> usize {
        match self {
            Prepared::Fixed(bytes) => bytes.len(),
            Prepared::Varying { parts, variables, .. } => {
                parts.iter().map(|part| variables.longest(part)).sum()
            }
        }
    }

    /// The values that were taken from answers, by their index, each with where it is used.
    pub fn taken(&self) -> impl Iterator<Item = (usize, Component)> {
        let parts = if let Prepared::Varying { parts, .. } = self { &parts[..] } else { &[] };
        parts.iter().filter_map(|part| match part {
            TemplatePart::Taken(index, component) => Some((*index, *component)),
            _ => None,
        })
    }

    /// Appends the bytes of the next request to `out`.
    pub fn render(&self, given: &Given, out: &mut Vec<u8>) {
        match self {
            Prepared::Fixed(bytes) => out.extend_from_slice(bytes),
            Prepared::Varying { parts, head, variables } => variables.render(parts, *head, given, out),
        }
    }
}

impl Request {
    /// The bytes of this request for `target`, in HTTP/1.1. If names in double braces make requests differ, the bytes
    /// are those of the first request. An error if the request cannot be sent. Names of a CSV file's columns are
    /// unknown here, and so an error.
    ///
    /// Adds `Host`, and `Content-Length` if there is a body or the method usually has one (POST, PUT, PATCH). A header
    /// of the same name that the user gives is sent instead, unchecked: a wrong `Content-Length` may be just what is to
    /// be tested. If the user gives `Transfer-Encoding`, no `Content-Length` is added, and the body is sent as it is.
    pub fn encode(&self, target: &Target) -> Result<Vec<u8>, RequestError> {
        let mut bytes = Vec::new();
        let given = Given { seq: 0, connection: 0, cookies: None, values: &[] };
        self.prepare(target, &Variables::default(), false, &[])?.render(&given, &mut bytes);
        Ok(bytes)
    }

    /// Prepares this request for `target`, with these `variables` and the names of values that were `taken` before, and
    /// with a place for cookies if they are to be sent back.
    pub(crate) fn prepare(
        &self,
        target: &Target,
        variables: &Variables,
        cookies: bool,
        taken: &[String],
    ) -> Result<Prepared, RequestError> {
        self.check(&target.path, cookies)?;
        let mut parts = Vec::new();
        let text = |parts: &mut Vec<TemplatePart>, text: &str| parts.push(TemplatePart::Text(text.into()));
        let split = |parts: &mut Vec<TemplatePart>, bytes: &[u8], component| {
            variables.split(bytes, component, taken, parts)
        };
        text(&mut parts, &format!("{} ", self.method));
        split(&mut parts, target.path.as_bytes(), Component::Path)?;
        text(&mut parts, " HTTP/1.1\r\n");
        if !self.has("host") {
            text(&mut parts, &format!("Host: {}\r\n", target.authority));
        }
        for (name, value) in &self.headers {
            if !is_name(name) {
                return Err(RequestError::HeaderName { name: name.clone() });
            }
            if !value.bytes().all(|b| Component::HeaderValue.allows(b)) {
                return Err(RequestError::HeaderValue { name: name.clone() });
            }
            text(&mut parts, &format!("{name}: "));
            split(&mut parts, value.as_bytes(), Component::HeaderValue)?;
            text(&mut parts, "\r\n");
        }
        if cookies {
            parts.push(TemplatePart::Cookies);
        }
        let usual = matches!(self.method.as_str(), "POST" | "PUT" | "PATCH");
        if (usual || !self.body.is_empty()) && !self.has("content-length") && !self.has("transfer-encoding") {
            text(&mut parts, "Content-Length: ");
            parts.push(TemplatePart::Length);
            text(&mut parts, "\r\n");
        }
        text(&mut parts, "\r\n");
        let head = parts.len();
        if variables.rows.is_empty() && std::str::from_utf8(&self.body).is_err() {
            // In a body that is not text, two braces begin no name.
            parts.push(TemplatePart::Text(self.body.clone()));
        } else {
            split(&mut parts, &self.body, Component::Body)?;
        }

        let fixed = parts.iter().all(|part| matches!(part, TemplatePart::Text(_) | TemplatePart::Length));
        let varying = Prepared::Varying { parts, head, variables: variables.clone() };
        if !fixed {
            return Ok(varying);
        }
        let mut bytes = Vec::new();
        varying.render(&Given { seq: 0, connection: 0, cookies: None, values: &[] }, &mut bytes);
        Ok(Prepared::Fixed(bytes))
    }

    /// Refuses a request that cannot be sent to this path. Names and values of headers are checked only when they are
    /// encoded.
    fn check(&self, path: &str, cookies: bool) -> Result<(), RequestError> {
        if !is_name(&self.method) {
            return Err(RequestError::Method { method: self.method.clone() });
        }
        if self.method == "CONNECT" {
            return Err(RequestError::Connect);
        }
        if path.is_empty() || !path.bytes().all(|b| Component::Path.allows(b)) {
            return Err(RequestError::Path { path: path.to_owned() });
        }
        if cookies && self.has("cookie") {
            return Err(RequestError::Cookies);
        }
        Ok(())
    }

    /// Refuses headers that HTTP/2 does not have.
    pub(crate) fn check_http2(&self) -> Result<(), RequestError> {
        let odd = |name: &str, value: &str| match name.to_ascii_lowercase().as_str() {
            "connection" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" => true,
            "te" => value != "trailers",
            _ => false,
        };
        match self.headers.iter().find(|(name, value)| odd(name, value)) {
            Some((name, _)) => Err(RequestError::NoHttp2Header { name: name.clone() }),
            None => Ok(()),
        }
    }

    /// `true` if a header asks the server to close the connection after its answer.
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

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::cookies::Jar;
    use crate::request::template::Rows;

    fn target() -> Target {
        Target {
            address: crate::Address::Tcp("127.0.0.1:80".parse().unwrap()),
            secure: false,
            authority: "a:80".parse().unwrap(),
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
    fn a_request_is_encoded_as_http1() {
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
    fn a_request_that_could_be_misread_is_refused() {
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
        assert!(matches!(request("GET", &[], "").encode(&injected), Err(RequestError::Path { .. })));
    }

    #[test]
    fn a_request_with_variables_varies_by_seq_and_row() {
        let rows = Rows::read("f", "id,text\n7,\"a\r\nb\"\n10,c\n".as_bytes()).unwrap();
        let variables = Variables { rows, seed: 1 };
        let given = |seq| Given { seq, connection: 3, cookies: None, values: &[] };
        let target = Target { path: "/{{id}}?{{seq}}".into(), ..target() };
        let post = request("POST", &[("X", "c{{connection}}")], "<{{text}}>");
        let prepared = post.prepare(&target, &variables, false, &[]).unwrap();
        let mut out = b"before ".to_vec();
        prepared.render(&given(0), &mut out);
        prepared.render(&given(9), &mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "before POST /7?0 HTTP/1.1\r\nHost: a:80\r\nX: c3\r\nContent-Length: 6\r\n\r\n<a\r\nb>\
             POST /10?9 HTTP/1.1\r\nHost: a:80\r\nX: c3\r\nContent-Length: 3\r\n\r\n<c>"
        );
        // A name that stands for nothing is not sent as it is written, wherever it is; what is no text has no names.
        let none = Variables::default();
        for forgotten in [
            post.prepare(&target, &none, false, &[]),
            request("GET", &[("X", "{{id}}")], "").prepare(&self::target(), &none, false, &[]),
            request("GET", &[], "{{id}}").prepare(&self::target(), &none, false, &[]),
            request("GET", &[], "").prepare(
                &Target { path: "/{{id}}".into(), ..self::target() },
                &none,
                false,
                &[],
            ),
        ] {
            let error = forgotten.unwrap_err().to_string();
            assert!(error.contains("is unknown") && error.contains("CSV file"), "{error}");
        }
        let bytes = Request { body: b"\xff{{id}}{{".to_vec(), ..request("GET", &[], "") };
        let bytes = bytes.encode(&self::target()).unwrap();
        assert!(bytes.ends_with(b"\r\n\r\n\xff{{id}}{{"));
        let braces = request("GET", &[], "a{{\"{{\"}}id}}").encode(&self::target()).unwrap();
        assert!(
            braces.ends_with(b"Content-Length: 7\r\n\r\na{{id}}"),
            "{:?}",
            String::from_utf8_lossy(&braces)
        );
        assert!(matches!(
            request("GET", &[], "x").prepare(&self::target(), &variables, false, &[]),
            Ok(Prepared::Fixed(_))
        ));
        for (request, message) in [
            (
                request("GET", &[("X", "{{text}}")], ""),
                "f, line 2: the value of \"text\" holds '\\r', which a header",
            ),
            (request("GET", &[("X", "{{y}}")], ""), "{{y}} is unknown"),
            (request("GET", &[], "{{"), "has {{ without }}"),
            (request("GET", &[("{{id}}", "")], ""), "header name"),
        ] {
            let error = request.prepare(&target, &variables, false, &[]).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn cookies_are_sent_back() {
        let mut jar = Jar::default();
        let prepared = request("GET", &[], "").prepare(&target(), &Variables::default(), true, &[]).unwrap();
        let sent = |jar: &Jar| {
            let mut out = Vec::new();
            prepared.render(&Given { seq: 0, connection: 0, cookies: Some(jar), values: &[] }, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(sent(&jar), "GET /x?y HTTP/1.1\r\nHost: a:80\r\n\r\n");
        jar.set(b"a=b; Path=/");
        assert_eq!(sent(&jar), "GET /x?y HTTP/1.1\r\nHost: a:80\r\nCookie: a=b\r\n\r\n");
        let twice =
            request("GET", &[("cookie", "a=b")], "").prepare(&target(), &Variables::default(), true, &[]);
        assert!(matches!(twice, Err(RequestError::Cookies)));
    }

    #[test]
    fn a_request_may_ask_to_close() {
        assert!(request("GET", &[("connection", "TE, Close")], "").asks_to_close());
        assert!(!request("GET", &[("connection", "keep-alive")], "").asks_to_close());
    }
}
