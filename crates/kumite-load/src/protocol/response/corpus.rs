//! Odd answers, legal and illegal, read by this reader and by hyper: every difference is listed with its reason.

use std::fmt;
use std::time::Duration;

use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::check::Check;

struct Case {
    name: &'static str,
    method: &'static str,
    bytes: Vec<u8>,
}

/// A client's reading of a connection's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reading {
    Answer { status: u16, body: Vec<u8>, reused: bool },
    Refused,
    Waits,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Reading::Refused => f.write_str("refused"),
            Reading::Waits => f.write_str("waits"),
            Reading::Answer { status, body, reused } => {
                write!(
                    f,
                    "{status} {:?}{}",
                    body.escape_ascii().to_string(),
                    if *reused { " kept" } else { "" }
                )
            }
        }
    }
}

/// This reader's reading of the bytes, followed by the connection's close if `close` is set.
fn ours(case: &Case, close: bool) -> Reading {
    // A check that holds the body.
    let expect = Expect { checks: vec![Check::Contains(b"x".to_vec())], ..Expect::default() };
    let asked = Asked::new(case.method == "HEAD", false, expect, false);
    let mut reader = Reader::new();
    let (answer, used) = match reader.feed(&case.bytes, &asked) {
        Err(Malformed(_)) => return Reading::Refused,
        Ok(Some(read)) => read,
        Ok(None) if !close => return Reading::Waits,
        Ok(None) => match reader.end(&asked) {
            None => return Reading::Refused,
            Some(answer) => (answer, case.bytes.len()),
        },
    };
    // Nothing is pipelined: what follows is nobody's answer, and the transport closes the connection.
    let reused = answer.keep_alive && !close && used == case.bytes.len();
    Reading::Answer { status: answer.status, body: reader.held.clone(), reused }
}

/// hyper's reading of the same bytes. The clock stands still and jumps when nothing is left to do, so no time passes.
async fn hypers(case: &Case, close: bool) -> Reading {
    const LONG: Duration = Duration::from_secs(60);
    let (client, mut server) = tokio::io::duplex(1 << 20);
    let bytes = case.bytes.clone();
    let server = tokio::spawn(async move {
        read_request(&mut server).await;
        server.write_all(&bytes).await.unwrap();
        if !close {
            read_request(&mut server).await;
            server.write_all(b"HTTP/1.1 299 x\r\nContent-Length: 0\r\n\r\n").await.ok();
            tokio::time::sleep(2 * LONG).await;
        }
    });
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(client)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = |method| {
        let request = hyper::Request::builder().method(method).uri("/").header("Host", "a");
        request.body(Empty::<Bytes>::new()).unwrap()
    };
    let exchange = async {
        let response = sender.send_request(request(case.method)).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes().to_vec();
        let reused = sender.ready().await.is_ok()
            && sender.send_request(request("GET")).await.is_ok_and(|second| second.status() == 299);
        Ok::<_, hyper::Error>(Reading::Answer { status, body, reused })
    };
    let seen = match tokio::time::timeout(LONG, exchange).await {
        Ok(Ok(seen)) => seen,
        Ok(Err(_)) => Reading::Refused,
        Err(_) => Reading::Waits,
    };
    server.abort();
    connection.abort();
    seen
}

async fn read_request(server: &mut tokio::io::DuplexStream) {
    let mut text = Vec::new();
    while !text.ends_with(b"\r\n\r\n") {
        match server.read_u8().await {
            Ok(byte) => text.push(byte),
            Err(_) => return,
        }
    }
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name, method, bytes: &[u8]| cases.push(Case { name, method, bytes: bytes.to_vec() });
    // With this head and this body.
    for (name, headers, body) in HEADERS {
        add(name, "GET", &[b"HTTP/1.1 200 OK\r\n", *headers, b"\r\n", *body].concat());
    }
    for (name, chunks) in CHUNKS {
        add(name, "GET", &[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *chunks].concat());
    }
    for (name, line) in LINES {
        add(name, "GET", &[*line, b"Content-Length: 4\r\n\r\npong"].concat());
    }
    for (name, method, text) in WHOLE {
        add(name, method, text);
    }
    let long = |size: usize| format!("HTTP/1.1 204 x\r\nA: {}\r\n\r\n", "b".repeat(size));
    add("head of 60 KiB", "GET", long(60 << 10).as_bytes());
    add("head of 70 KiB", "GET", long(70 << 10).as_bytes());
    let many = |count: usize| format!("HTTP/1.1 204 x\r\n{}\r\n", "A: b\r\n".repeat(count));
    add("100 headers", "GET", many(100).as_bytes());
    add("101 headers", "GET", many(101).as_bytes());
    add("129 headers", "GET", many(129).as_bytes());
    cases
}

type Bytes3 = (&'static str, &'static [u8], &'static [u8]);

const HEADERS: &[Bytes3] = &[
    ("plain", b"Content-Length: 4\r\n", b"pong"),
    ("length in lower case, no blank", b"content-length:4\r\n", b"pong"),
    ("length with tabs", b"Content-Length:\t 4 \t\r\n", b"pong"),
    ("length with zeros", b"Content-Length: 0004\r\n", b"pong"),
    ("length twice", b"Content-Length: 4\r\nContent-Length: 4\r\n", b"pong"),
    ("lengths that differ", b"Content-Length: 4\r\nContent-Length: 5\r\n", b"pongs"),
    ("length list", b"Content-Length: 4, 4\r\n", b"pong"),
    ("length list that differs", b"Content-Length: 4, 5\r\n", b"pongs"),
    ("length list with a gap", b"Content-Length: 4,,4\r\n", b"pong"),
    ("length with plus", b"Content-Length: +4\r\n", b"pong"),
    ("length with minus", b"Content-Length: -4\r\n", b"pong"),
    ("length in hexadecimal", b"Content-Length: 0x4\r\n", b"pong"),
    ("length with a fraction", b"Content-Length: 4.0\r\n", b"pong"),
    ("length with letters", b"Content-Length: 4a\r\n", b"pong"),
    ("length empty", b"Content-Length:\r\n", b"pong"),
    ("length with a blank within", b"Content-Length: 4 4\r\n", b"pong"),
    ("length of 2^64", b"Content-Length: 18446744073709551616\r\n", b"pong"),
    ("length of 2^64 - 1", b"Content-Length: 18446744073709551615\r\n", b"pong"),
    ("length of 2^63", b"Content-Length: 9223372036854775808\r\n", b"pong"),
    ("length 0", b"Content-Length: 0\r\n", b""),
    ("length 0 and bytes", b"Content-Length: 0\r\n", b"x"),
    ("bytes after the end", b"Content-Length: 4\r\n", b"pong!"),
    ("line end after the end", b"Content-Length: 4\r\n", b"pong\r\n"),
    (
        "an answer after the end",
        b"Content-Length: 4\r\n",
        b"pongHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    ),
    ("cut body", b"Content-Length: 5\r\n", b"pong"),
    ("no length", b"", b"pong"),
    ("no length, no body", b"", b""),
    ("no length, keep-alive", b"Connection: keep-alive\r\n", b"pong"),
    ("close", b"Connection: close\r\nContent-Length: 4\r\n", b"pong"),
    ("close in a list", b"Connection: x, CLOSE\r\nContent-Length: 4\r\n", b"pong"),
    (
        "close in a second header",
        b"Connection: keep-alive\r\nConnection: close\r\nContent-Length: 4\r\n",
        b"pong",
    ),
    ("closed is not close", b"Connection: closed\r\nContent-Length: 4\r\n", b"pong"),
    ("close and keep-alive", b"Connection: close, keep-alive\r\nContent-Length: 4\r\n", b"pong"),
    ("Keep-Alive: max=0", b"Keep-Alive: timeout=5, max=0\r\nContent-Length: 4\r\n", b"pong"),
    (
        "Keep-Alive: max=0 and close",
        b"Keep-Alive: max=0\r\nConnection: close\r\nContent-Length: 4\r\n",
        b"pong",
    ),
    ("Proxy-Connection: close", b"Proxy-Connection: close\r\nContent-Length: 4\r\n", b"pong"),
    ("upgrade offered", b"Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n", b"pong"),
    ("chunked and length", b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("length and chunked", b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("CHUNKED", b"TRANSFER-ENCODING: CHUNKED\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("gzip, chunked", b"Transfer-Encoding: gzip, chunked\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("chunked, gzip", b"Transfer-Encoding: chunked, gzip\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("gzip", b"Transfer-Encoding: gzip\r\n", b"pong"),
    ("identity", b"Transfer-Encoding: identity\r\n", b"pong"),
    ("identity and length", b"Transfer-Encoding: identity\r\nContent-Length: 4\r\n", b"pong"),
    ("empty coding", b"Transfer-Encoding:\r\n", b"pong"),
    (
        "chunked twice",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"4\r\npong\r\n0\r\n\r\n",
    ),
    ("chunked, chunked", b"Transfer-Encoding: chunked, chunked\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    (
        "gzip and chunked",
        b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
        b"4\r\npong\r\n0\r\n\r\n",
    ),
    ("chunked with a parameter", b"Transfer-Encoding: chunked;q=1\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("xchunked", b"Transfer-Encoding: xchunked\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("vertical tab before chunked", b"Transfer-Encoding: \x0bchunked\r\n", b"4\r\npong\r\n0\r\n\r\n"),
    ("obs-fold", b"A: b\r\n c\r\nContent-Length: 4\r\n", b"pong"),
    ("obs-fold of a length", b"Content-Length:\r\n 4\r\n", b"pong"),
    ("blank before the first header", b" A: b\r\nContent-Length: 4\r\n", b"pong"),
    ("blank before the colon", b"Content-Length : 4\r\n", b"pong"),
    ("tab before the colon", b"Content-Length\t: 4\r\n", b"pong"),
    ("blank within a name", b"Content Length: 4\r\n", b"pong"),
    ("no colon", b"Server\r\nContent-Length: 4\r\n", b"pong"),
    ("empty name", b": x\r\nContent-Length: 4\r\n", b"pong"),
    ("empty value", b"Server:\r\nX: \t \r\nContent-Length: 4\r\n", b"pong"),
    ("non-ASCII value", b"Server: \xc3\xbc\xff\r\nContent-Length: 4\r\n", b"pong"),
    ("non-ASCII name", b"S\xc3\xbc: x\r\nContent-Length: 4\r\n", b"pong"),
    ("odd token characters in a name", b"!#$%&'*+-.^_`|~09: x\r\nContent-Length: 4\r\n", b"pong"),
    ("bracket in a name", b"a[0]: x\r\nContent-Length: 4\r\n", b"pong"),
    ("NUL in a value", b"Server: a\0b\r\nContent-Length: 4\r\n", b"pong"),
    ("NUL in a name", b"A\0b: x\r\nContent-Length: 4\r\n", b"pong"),
    ("DEL in a value", b"Server: a\x7fb\r\nContent-Length: 4\r\n", b"pong"),
    ("bell in a value", b"Server: a\x07b\r\nContent-Length: 4\r\n", b"pong"),
    ("CR in a value", b"Server: a\rb\r\nContent-Length: 4\r\n", b"pong"),
    ("LF alone after a header", b"Server: x\nContent-Length: 4\r\n", b"pong"),
];

const CHUNKS: &[(&str, &[u8])] = &[
    ("chunks", b"1\r\np\r\n3\r\nong\r\n0\r\n\r\n"),
    ("no chunk", b"0\r\n\r\n"),
    ("size in both cases", b"a\r\n0123456789\r\nB\r\n0123456789a\r\n0\r\n\r\n"),
    ("size with zeros", b"0004\r\npong\r\n000\r\n\r\n"),
    ("size with 17 zeros", b"000000000000000004\r\npong\r\n0\r\n\r\n"),
    ("extension", b"4;a\r\npong\r\n0\r\n\r\n"),
    ("extension with a value", b"4;a=b;c=\"d\"\r\npong\r\n0;e=f\r\n\r\n"),
    ("extension after a blank", b"4 ; a = b\r\npong\r\n0\r\n\r\n"),
    ("extension with non-ASCII", b"4;a=\xff\r\npong\r\n0\r\n\r\n"),
    ("extension with LF", b"4;a\nb\r\npong\r\n0\r\n\r\n"),
    ("extension with CR", b"4;a\rb\r\npong\r\n0\r\n\r\n"),
    ("blank after the size", b"4 \r\npong\r\n0\r\n\r\n"),
    ("words after the size", b"4 x\r\npong\r\n0\r\n\r\n"),
    ("blank before the size", b" 4\r\npong\r\n0\r\n\r\n"),
    ("no size", b"\r\npong\r\n0\r\n\r\n"),
    ("extension without a size", b";a\r\npong\r\n0\r\n\r\n"),
    ("size with plus", b"+4\r\npong\r\n0\r\n\r\n"),
    ("size with minus", b"-4\r\npong\r\n0\r\n\r\n"),
    ("size with 0x", b"0x4\r\npong\r\n0\r\n\r\n"),
    ("size with an underscore", b"0_4\r\npong\r\n0\r\n\r\n"),
    ("size of 2^64 - 1", b"ffffffffffffffff\r\npong"),
    ("size of 2^64", b"10000000000000000\r\npong"),
    ("LF alone after the size", b"4\npong\r\n0\r\n\r\n"),
    ("LF alone after the chunk", b"4\r\npong\n0\r\n\r\n"),
    ("CR alone after the size", b"4\rpong\r\n0\r\n\r\n"),
    ("chunk longer than its size", b"4\r\npongs\r\n0\r\n\r\n"),
    ("chunk shorter than its size", b"5\r\npong\r\n0\r\n\r\n"),
    ("no last chunk", b"4\r\npong\r\n"),
    ("cut after the last chunk", b"4\r\npong\r\n0\r\n"),
    ("trailers", b"4\r\npong\r\n0\r\nA: b\r\nC:\r\n\r\n"),
    ("trailer that frames", b"4\r\npong\r\n0\r\nContent-Length: 9\r\n\r\n"),
    ("trailer with LF alone", b"4\r\npong\r\n0\r\nA: b\n\r\n"),
    ("trailer without a colon", b"4\r\npong\r\n0\r\nA\r\n\r\n"),
    ("trailer with NUL", b"4\r\npong\r\n0\r\nA: \0\r\n\r\n"),
    ("trailer with CR", b"4\r\npong\r\n0\r\nA: b\rc\r\n\r\n"),
    ("bytes after the chunks", b"4\r\npong\r\n0\r\n\r\nx"),
];

const LINES: &[(&str, &[u8])] = &[
    ("HTTP/1.0", b"HTTP/1.0 200 OK\r\n"),
    ("HTTP/1.0 keep-alive", b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n"),
    ("HTTP/1.0 keep-alive and close", b"HTTP/1.0 200 OK\r\nConnection: keep-alive, close\r\n"),
    ("HTTP/1.2", b"HTTP/1.2 200 OK\r\n"),
    ("HTTP/2.0", b"HTTP/2.0 200 OK\r\n"),
    ("HTTP/1", b"HTTP/1 200 OK\r\n"),
    ("HTTP/1.10", b"HTTP/1.10 200 OK\r\n"),
    ("http/1.1", b"http/1.1 200 OK\r\n"),
    ("ICY", b"ICY 200 OK\r\n"),
    ("no reason", b"HTTP/1.1 200 \r\n"),
    ("no reason, no blank", b"HTTP/1.1 200\r\n"),
    ("two blanks", b"HTTP/1.1  200 OK\r\n"),
    ("tab for a blank", b"HTTP/1.1\t200 OK\r\n"),
    ("non-ASCII reason", b"HTTP/1.1 200 \xc3\xbc\xff\r\n"),
    ("NUL in the reason", b"HTTP/1.1 200 a\0b\r\n"),
    ("CR in the reason", b"HTTP/1.1 200 a\rb\r\n"),
    ("LF alone after the first line", b"HTTP/1.1 200 OK\n"),
    ("status of two digits", b"HTTP/1.1 20 OK\r\n"),
    ("status of four digits", b"HTTP/1.1 2000 OK\r\n"),
    ("status 000", b"HTTP/1.1 000 x\r\n"),
    ("status 099", b"HTTP/1.1 099 x\r\n"),
    ("status 600", b"HTTP/1.1 600 x\r\n"),
    ("status 999", b"HTTP/1.1 999 x\r\n"),
    ("status with a sign", b"HTTP/1.1 +20 x\r\n"),
    ("CR LF in front", b"\r\nHTTP/1.1 200 OK\r\n"),
    ("LF in front", b"\nHTTP/1.1 200 OK\r\n"),
    ("blank in front", b" HTTP/1.1 200 OK\r\n"),
    ("100 in front", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
    ("100 with a length in front", b"HTTP/1.1 100 Continue\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n"),
    (
        "102, 103 and 199 in front",
        b"HTTP/1.1 102 x\r\n\r\nHTTP/1.1 103 x\r\nLink: a\r\n\r\nHTTP/1.1 199 x\r\n\r\nHTTP/1.1 200 OK\r\n",
    ),
    ("100 and an empty line in front", b"HTTP/1.1 100 Continue\r\n\r\n\r\nHTTP/1.1 200 OK\r\n"),
    ("204 with a length", b"HTTP/1.1 204 x\r\n"),
    ("205 with a length", b"HTTP/1.1 205 x\r\n"),
    ("404", b"HTTP/1.1 404 Not Found\r\n"),
];

const WHOLE: &[(&str, &str, &[u8])] = &[
    ("nothing", "GET", b""),
    ("cut head", "GET", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n"),
    ("cut first line", "GET", b"HTTP/1"),
    ("another protocol", "GET", b"SSH-2.0-x\r\n"),
    ("a body alone", "GET", b"<html></html>\r\n\r\n"),
    ("LF alone throughout", "GET", b"HTTP/1.1 200 OK\nContent-Length: 4\n\npong"),
    ("LF alone at the end of the head", "GET", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\npong"),
    ("no header", "GET", b"HTTP/1.1 200 OK\r\n\r\npong"),
    ("100 alone", "GET", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ("101", "GET", b"HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: y\r\n\r\n"),
    ("204", "GET", b"HTTP/1.1 204 x\r\n\r\n"),
    ("204 chunked", "GET", b"HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("204 with a length, no body", "GET", b"HTTP/1.1 204 x\r\nContent-Length: 4\r\n\r\n"),
    ("304", "GET", b"HTTP/1.1 304 x\r\n\r\n"),
    ("304 with a length", "GET", b"HTTP/1.1 304 x\r\nContent-Length: 4\r\n\r\n"),
    ("304 chunked", "GET", b"HTTP/1.1 304 x\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("HTTP/1.0 without a length", "GET", b"HTTP/1.0 200 OK\r\n\r\npong"),
    ("HTTP/1.0 keep-alive without a length", "GET", b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\npong"),
    (
        "HTTP/1.0 chunked",
        "GET",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n\r\n",
    ),
    (
        "HTTP/1.0 with chunked and length",
        "GET",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\npong",
    ),
    ("HEAD with a length", "HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"),
    ("HEAD chunked", "HEAD", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("HEAD without a length", "HEAD", b"HTTP/1.1 200 OK\r\n\r\n"),
    ("HEAD with a body", "HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong"),
    ("HEAD with bad lengths", "HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\n"),
    ("HEAD of HTTP/1.0", "HEAD", b"HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\n"),
];

/// The cases in which this reader and hyper differ: the name, this reader's reading, hyper's reading, and why ours is
/// right. Two readings with a semicolon are of the bytes alone, and of the bytes followed by a close.
const DIFFERENCES: &[(&str, &str, &str, &str)] = &[
    (
        "length of 2^64 - 1",
        "waits; refused",
        "refused",
        "a length above hyper's limit; RFC 9110, section 8.6, has none and asks to mind overflow",
    ),
    (
        "chunked and length",
        "refused",
        "200 \"pong\" kept; 200 \"pong\"",
        "RFC 9112, section 6.3, 3: `ought to be handled as an error`",
    ),
    ("length and chunked", "refused", "200 \"pong\" kept; 200 \"pong\"", "the same"),
    (
        "gzip, chunked",
        "refused",
        "200 \"pong\" kept; 200 \"pong\"",
        "RFC 9110, section 10.1.4: without TE no coding but chunked may be sent, and the body could not be checked",
    ),
    (
        "chunked, gzip",
        "refused",
        "waits; 200 \"4\\\\r\\\\npong\\\\r\\\\n0\\\\r\\\\n\\\\r\\\\n\"",
        "the same; where it ends only the close could tell",
    ),
    ("gzip", "refused", "waits; 200 \"pong\"", "the same"),
    ("identity", "refused", "waits; 200 \"pong\"", "RFC 9112, section 7, knows no such coding any more"),
    ("identity and length", "refused", "waits; 200 \"pong\"", "the same"),
    ("empty coding", "refused", "waits; 200 \"pong\"", "RFC 9112, section 6.1: there is at least one coding"),
    (
        "chunked twice",
        "refused",
        "200 \"pong\" kept; 200 \"pong\"",
        "RFC 9112, section 6.1: chunked must not be applied more than once",
    ),
    ("chunked, chunked", "refused", "200 \"pong\" kept; 200 \"pong\"", "the same"),
    ("gzip and chunked", "refused", "200 \"pong\" kept; 200 \"pong\"", "RFC 9110, section 10.1.4"),
    (
        "chunked with a parameter",
        "refused",
        "waits; 200 \"4\\\\r\\\\npong\\\\r\\\\n0\\\\r\\\\n\\\\r\\\\n\"",
        "RFC 9112, section 7.1: parameters should be treated as an error",
    ),
    (
        "xchunked",
        "refused",
        "waits; 200 \"4\\\\r\\\\npong\\\\r\\\\n0\\\\r\\\\n\\\\r\\\\n\"",
        "RFC 9110, section 10.1.4",
    ),
    (
        "obs-fold",
        "200 \"pong\" kept; 200 \"pong\"",
        "refused",
        "RFC 9112, section 5.2: a user agent reads it; it decides nothing",
    ),
    ("empty name", "200 \"pong\" kept; 200 \"pong\"", "refused", "curl reads it; it decides nothing"),
    ("non-ASCII name", "200 \"pong\" kept; 200 \"pong\"", "refused", "the same"),
    ("bracket in a name", "200 \"pong\" kept; 200 \"pong\"", "refused", "the same"),
    ("DEL in a value", "200 \"pong\" kept; 200 \"pong\"", "refused", "the same"),
    ("bell in a value", "200 \"pong\" kept; 200 \"pong\"", "refused", "the same"),
    (
        "trailer with LF alone",
        "refused",
        "waits; refused",
        "RFC 9112, section 2.2, allows it to the end of a head; hyper waits for a CR and refuses then",
    ),
    (
        "CR LF in front",
        "refused",
        "200 \"pong\" kept; 200 \"pong\"",
        "RFC 9112, section 2.2: only servers are to skip empty lines",
    ),
    ("LF in front", "refused", "200 \"pong\" kept; 200 \"pong\"", "the same"),
    ("100 and an empty line in front", "refused", "200 \"pong\" kept; 200 \"pong\"", "the same"),
    ("101", "refused", "101 \"\"", "RFC 9110, section 7.8: not without an Upgrade in the request"),
    (
        "HEAD with bad lengths",
        "refused",
        "200 \"\" kept; 200 \"\"",
        "RFC 9110, section 8.6: a sender must not; the end is not in doubt",
    ),
    (
        "head of 70 KiB",
        "refused",
        "204 \"\" kept; 204 \"\"",
        "a limit of ours; RFC 9112, section 3, names none",
    ),
    ("101 headers", "204 \"\" kept; 204 \"\"", "refused", "a limit of hyper's"),
    ("129 headers", "204 \"\" kept; 204 \"\"", "refused", "the same"),
];

#[tokio::test(start_paused = true)]
async fn differences_from_hyper_are_listed() {
    let mut found = Vec::new();
    for case in &cases() {
        let ours = [ours(case, false), ours(case, true)];
        let hypers = [hypers(case, false).await, hypers(case, true).await];
        let words = |[open, closed]: &[Reading; 2]| match open {
            _ if open == closed => open.to_string(),
            _ => format!("{open}; {closed}"),
        };
        if ours != hypers {
            found.push((case.name, words(&ours), words(&hypers)));
        }
    }
    assert!(cases().len() > 150);
    let listed: Vec<_> = DIFFERENCES
        .iter()
        .map(|&(name, ours, hypers, _)| (name, ours.to_owned(), hypers.to_owned()))
        .collect();
    assert_eq!(found, listed);
}
