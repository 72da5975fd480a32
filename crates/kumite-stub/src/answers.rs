//! The few answers that a stub gives, made in advance.

use crate::request::Request;

/// The line for a client that has sent a head and waits before it sends the body.
pub(crate) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
const MALFORMED: &[u8] = b"malformed request\n";

/// An answer, by the few things in which answers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub kind: AnswerKind,
    /// True if another request may follow on the connection.
    pub keep_alive: bool,
    old: bool,
    head_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    Success,
    Failure,
    Malformed,
}

impl Answer {
    pub fn to(request: &Request, kind: AnswerKind, keep_alive: bool) -> Answer {
        Answer { kind, keep_alive, old: request.old, head_only: request.head_only }
    }

    /// The answer to a request that cannot be understood.
    pub const MALFORMED: Answer =
        Answer { kind: AnswerKind::Malformed, keep_alive: false, old: false, head_only: false };

    /// The index of the answer's form among those of its kind.
    fn version(self) -> usize {
        match (self.keep_alive, self.old) {
            (true, false) => 0,
            (true, true) => 1,
            (false, _) => 2,
        }
    }
}

/// The bytes of all answers, by kind and form.
#[derive(Debug)]
pub(crate) struct Answers([[Prepared; 3]; 3]);

#[derive(Debug)]
struct Prepared {
    bytes: Vec<u8>,
    head: usize,
}

impl Answers {
    pub fn new(status: u16, failure_status: u16, body: &[u8]) -> Answers {
        let versions = |status, body| {
            ["", "Connection: keep-alive\r\n", "Connection: close\r\n"]
                .map(|connection| prepare(status, connection, body))
        };
        Answers([versions(status, body), versions(failure_status, body), versions(400, MALFORMED)])
    }

    pub fn bytes(&self, answer: Answer) -> &[u8] {
        let prepared = &self.0[answer.kind as usize][answer.version()];
        if answer.head_only { &prepared.bytes[..prepared.head] } else { &prepared.bytes }
    }
}

fn prepare(status: u16, connection: &str, body: &[u8]) -> Prepared {
    let reason = match status {
        200 => "OK",
        204 => "No Content",
        304 => "Not Modified",
        400 => "Bad Request",
        404 => "Not Found",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Stub",
    };
    // An answer with one of these has no body, and a 204 must not even have a Content-Length.
    let bodiless = matches!(status, 204 | 304);
    let content = if bodiless {
        String::new()
    } else {
        format!("Content-Type: text/plain\r\nContent-Length: {}\r\n", body.len())
    };
    let mut bytes = format!("HTTP/1.1 {status} {reason}\r\n{content}{connection}\r\n").into_bytes();
    let head = bytes.len();
    if !bodiless {
        bytes.extend_from_slice(body);
    }
    Prepared { bytes, head }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_answer_has_its_bytes() {
        let answers = Answers::new(200, 503, b"pong");
        let get = Request { head_only: false, old: false, keep_alive: true, delay: None };
        let (old, head) = (Request { old: true, ..get }, Request { head_only: true, ..get });
        for (request, kind, keep_alive, text) in [
            (
                get,
                AnswerKind::Success,
                true,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npong",
            ),
            (
                old,
                AnswerKind::Success,
                true,
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\npong",
            ),
            (
                head,
                AnswerKind::Failure,
                false,
                "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\
                 Connection: close\r\n\r\n",
            ),
        ] {
            let bytes = answers.bytes(Answer::to(&request, kind, keep_alive));
            assert_eq!(String::from_utf8_lossy(bytes), text);
        }
        assert!(answers.bytes(Answer::MALFORMED).starts_with(b"HTTP/1.1 400 Bad Request\r\n"));
        let empty = Answers::new(204, 500, b"pong");
        assert_eq!(
            empty.bytes(Answer::to(&get, AnswerKind::Success, true)),
            b"HTTP/1.1 204 No Content\r\n\r\n"
        );
    }
}
