//! A contender for the tests: `fake_protocols SPEAKS`, a server on $HOST:$PORT that answers in one protocol: `pong`, or
//! what a user who has logged in is told. SPEAKS is that protocol, or `asked` for $PROTOCOL; `forged` speaks h2 with a
//! certificate of its own, as all do that are given none. Where PORT is 0 it takes a free one, and says which.

use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

fn main() {
    let speaks = match std::env::args().nth(1).unwrap_or_default().as_str() {
        "asked" => given("PROTOCOL"),
        speaks => speaks.to_owned(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(serve(&speaks));
}

fn given(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is given"))
}

async fn serve(speaks: &str) {
    let (alpn, is_http2) = match speaks {
        "http" => (None, false),
        "h2c" => (None, true),
        "https" => (Some("http/1.1"), false),
        "h2" | "forged" => (Some("h2"), true),
        other => panic!("{other} is no protocol"),
    };
    let is_forged = speaks == "forged" || std::env::var_os("TLS_CERT").is_none();
    let tls = alpn.map(|alpn| acceptor(alpn, if is_forged { own() } else { of_kumite() }));
    let port = given("PORT").parse().unwrap();
    let listener = TcpListener::bind((given("HOST"), port)).await.unwrap();
    if port == 0 {
        println!("{}", listener.local_addr().unwrap().port());
    }
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let tls = tls.clone();
        tokio::spawn(async move {
            stream.set_nodelay(true).ok()?;
            match tls {
                Some(tls) => converse(tls.accept(stream).await.ok()?, is_http2).await,
                None => converse(stream, is_http2).await,
            }
        });
    }
}

type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

fn of_kumite() -> Identity {
    let certificate = CertificateDer::from_pem_file(given("TLS_CERT")).unwrap();
    (certificate, PrivateKeyDer::from_pem_file(given("TLS_KEY")).unwrap())
}

fn own() -> Identity {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    (made.cert.der().clone(), PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap())
}

fn acceptor(alpn: &str, (certificate, key): Identity) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = builder.unwrap().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    Arc::new(config).into()
}

async fn converse(stream: impl AsyncRead + AsyncWrite + Unpin, is_http2: bool) -> Option<()> {
    if is_http2 { http2(stream).await } else { http1(stream).await }
}

/// An answer to a request: its status, the cookie that it sets, and its body.
struct Answer {
    status: u16,
    cookie: Option<String>,
    body: &'static str,
}

/// `/login?NAME` sets a cookie, without which `/me?NAME` is refused. All else is answered by `pong`.
fn answer(path: &str, cookies: &str) -> Answer {
    match path.split_once('?') {
        Some(("/login", name)) => Answer { cookie: Some(format!("user={name}")), ..pong() },
        Some(("/me", name)) if cookies == format!("user={name}") => Answer { body: "me", ..pong() },
        Some(("/me", _)) => Answer { status: 403, body: "who?", ..pong() },
        _ => pong(),
    }
}

fn pong() -> Answer {
    Answer { status: 200, cookie: None, body: "pong" }
}

async fn http1(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
    let mut seen = Vec::new();
    loop {
        // Requests come one at a time.
        let end = loop {
            if let Some(at) = seen.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if stream.read_buf(&mut seen).await.ok()? == 0 {
                return None;
            }
            if !matches!(seen[0], b'G' | b'P') || seen.starts_with(b"PRI") {
                return stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").await.ok();
            }
        };
        let head = String::from_utf8_lossy(&seen[..end]).into_owned();
        let header = |name: &str| {
            let mut headers = head.lines().filter_map(|line| line.split_once(": "));
            headers.find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let end = end + header("content-length").map_or(0, |length| length.parse().unwrap());
        while seen.len() < end {
            if stream.read_buf(&mut seen).await.ok()? == 0 {
                return None;
            }
        }
        seen.drain(..end);
        let Answer { status, cookie, body } =
            answer(head.split(' ').nth(1)?, header("cookie").unwrap_or_default());
        let cookie = cookie.map(|cookie| format!("set-cookie: {cookie}\r\n")).unwrap_or_default();
        let text = format!("HTTP/1.1 {status} So\r\n{cookie}content-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(text.as_bytes()).await.ok()?;
        stream.flush().await.ok()?;
    }
}

async fn http2(stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
    let mut connection = h2::server::handshake(stream).await.ok()?;
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        tokio::spawn(async move {
            let path = request.uri().path_and_query()?.to_string();
            let crumbs = request.headers().get_all("cookie").iter();
            let crumbs: Vec<&str> = crumbs.map(|crumb| crumb.to_str().unwrap()).collect();
            let Answer { status, cookie, body: text } = answer(&path, &crumbs.join("; "));
            let mut body = request.into_body();
            while let Some(Ok(data)) = body.data().await {
                body.flow_control().release_capacity(data.len()).ok()?;
            }
            let mut head = Response::builder().status(status);
            if let Some(cookie) = cookie {
                head = head.header("set-cookie", cookie);
            }
            let mut answer = respond.send_response(head.body(()).unwrap(), false).ok()?;
            answer.send_data(Bytes::from_static(text.as_bytes()), true).ok()
        });
    }
    None
}
