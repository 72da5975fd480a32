//! A server that counts its requests by connection and path, in HTTP/1.1 or HTTP/2, in the clear or in TLS.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use bytes::Bytes;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::oneshot;

/// The requests that were answered, by connection, from 1, and the first part of the path.
pub type Asked = BTreeMap<(u64, String), u64>;

pub struct Server {
    pub addr: SocketAddr,
    asked: Arc<Mutex<Asked>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(http2: bool, tls: Option<Arc<ServerConfig>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // A thousand connections are not to wait for the kernel's second try, a second later.
        rustix::net::listen(&listener, 1024).unwrap();
        listener.set_nonblocking(true).unwrap();
        let addr = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Asked::new()));
        let (stop, stopped) = oneshot::channel();
        let counted = asked.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let accepting = async {
                    for connection in 1.. {
                        let (stream, _) = listener.accept().await.unwrap();
                        stream.set_nodelay(true).unwrap();
                        let site =
                            Site { connection, tokens: BTreeSet::new(), given: 0, asked: counted.clone() };
                        let tls = tls.clone();
                        tokio::spawn(async move {
                            match tls {
                                None => serve(stream, http2, site).await,
                                Some(config) => {
                                    let stream =
                                        tokio_rustls::TlsAcceptor::from(config).accept(stream).await?;
                                    serve(stream, http2, site).await
                                }
                            }
                        });
                    }
                };
                tokio::select! { () = accepting => {}, _ = stopped => {} }
            });
        });
        Server { addr, asked, stop: Some(stop), thread: Some(thread) }
    }

    /// Ends the server, and returns all that it has answered.
    pub fn stop(mut self) -> Asked {
        self.end();
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a connection is answered.
struct Site {
    connection: u64,
    /// The tokens that were given on this connection, and not yet given back.
    tokens: BTreeSet<String>,
    given: u64,
    asked: Arc<Mutex<Asked>>,
}

impl Site {
    /// The body of an answer: a token for `/login`, and `pong` for what else is asked with one, or needs none. A token
    /// is good on its connection, for one `/me` and one `/bye`, in this order.
    fn answer(&mut self, path: &str) -> String {
        let (name, token) = path[1..].split_once('/').unwrap();
        let known = match name {
            "login" => {
                self.given += 1;
                self.tokens.insert(format!("{}-{}", self.connection, self.given))
            }
            "me" => self.tokens.remove(token) && self.tokens.insert(format!("{token}-met")),
            "bye" => self.tokens.remove(&format!("{token}-met")),
            _ => true,
        };
        *self.asked.lock().unwrap().entry((self.connection, name.to_owned())).or_default() += 1;
        match (known, name) {
            (true, "login") => format!("{{\"token\":\"{}-{}\"}}", self.connection, self.given),
            (true, _) => "pong".to_owned(),
            (false, _) => format!("a stranger to connection {}", self.connection),
        }
    }
}

async fn serve<S>(stream: S, http2: bool, site: Site) -> std::io::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    match http2 {
        false => serve_text(stream, site).await,
        true => serve_frames(stream, site).await.map_err(std::io::Error::other),
    }
}

async fn serve_text(mut stream: impl AsyncRead + AsyncWrite + Unpin, mut site: Site) -> std::io::Result<()> {
    let mut seen = Vec::new();
    while stream.read_buf(&mut seen).await? > 0 {
        if !seen.ends_with(b"\r\n\r\n") {
            continue;
        }
        let text = String::from_utf8(std::mem::take(&mut seen)).unwrap();
        assert_eq!(text.matches("\r\n\r\n").count(), 1, "a request before the last was answered");
        let body = site.answer(text.split(' ').nth(1).unwrap());
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answer.as_bytes()).await?;
        stream.flush().await?;
    }
    Ok(())
}

async fn serve_frames(stream: impl AsyncRead + AsyncWrite + Unpin, mut site: Site) -> Result<(), h2::Error> {
    let mut connection = h2::server::handshake(stream).await?;
    while let Some(call) = connection.accept().await {
        let (request, mut respond) = call?;
        let body = site.answer(request.uri().path());
        respond.send_response(http::Response::new(()), false)?.send_data(Bytes::from(body), true)?;
    }
    Ok(())
}
