//! Servers in HTTP/2: by the `h2` crate where they keep to the rules, frame by frame where they do not.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Builder, SendResponse};
use http::{Request, Response};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

/// One request, and its number, from 1.
pub struct Call {
    pub number: u64,
    pub request: Request<RecvStream>,
    pub respond: SendResponse<Bytes>,
}

impl Call {
    /// Answers with this status and body.
    pub fn answer(mut self, status: u16, body: impl Into<Bytes>) {
        let response = Response::builder().status(status).body(()).unwrap();
        if let Ok(mut stream) = self.respond.send_response(response, false) {
            let _ = stream.send_data(body.into(), true);
        }
    }

    /// The body of the request, read whole.
    pub async fn body(&mut self) -> Vec<u8> {
        let mut whole = Vec::new();
        while let Some(Ok(data)) = self.request.body_mut().data().await {
            whole.extend_from_slice(&data);
            let _ = self.request.body_mut().flow_control().release_capacity(data.len());
        }
        whole
    }
}

type Answer = dyn Fn(Call) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync;

/// What a server does that is not in its answers.
#[derive(Clone, Default)]
pub struct Manner {
    pub tls: Option<Arc<ServerConfig>>,
    /// It says goodbye after so many requests on a connection.
    pub goodbye_after: Option<u64>,
    pub max_streams: Option<u32>,
}

pub struct Server {
    pub addr: SocketAddr,
    requests: Arc<AtomicU64>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start<F>(manner: Manner, answer: impl Fn(Call) -> F + Send + Sync + 'static) -> Server
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let answer: Arc<Answer> = Arc::new(move |call| Box::pin(answer(call)));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let addr = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = oneshot::channel();
        let counter = requests.clone();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let accepting = async {
                    loop {
                        let (stream, _) = listener.accept().await.unwrap();
                        stream.set_nodelay(true).unwrap();
                        tokio::spawn(greet(stream, manner.clone(), counter.clone(), answer.clone()));
                    }
                };
                tokio::select! { () = accepting => {}, _ = stopped => {} }
            });
        });
        Server { addr, requests, stop: Some(stop), thread: Some(thread) }
    }

    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn greet(stream: tokio::net::TcpStream, manner: Manner, counter: Arc<AtomicU64>, answer: Arc<Answer>) {
    match manner.tls.clone() {
        None => serve(stream, manner, counter, answer).await,
        Some(config) => {
            if let Ok(stream) = tokio_rustls::TlsAcceptor::from(config).accept(stream).await {
                serve(stream, manner, counter, answer).await;
            }
        }
    }
}

async fn serve<S>(stream: S, manner: Manner, counter: Arc<AtomicU64>, answer: Arc<Answer>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = Builder::new();
    if let Some(max) = manner.max_streams {
        builder.max_concurrent_streams(max);
    }
    let Ok(mut connection) = builder.handshake(stream).await else { return };
    let mut here = 0;
    while let Some(Ok((request, respond))) = connection.accept().await {
        here += 1;
        let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
        tokio::spawn(answer(Call { number, request, respond }));
        if manner.goodbye_after == Some(here) {
            connection.graceful_shutdown();
        }
    }
}

/// One frame: its type, its flags, its stream, its payload.
pub type Frame = (u8, u8, u32, Vec<u8>);

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;

pub const ACK: u8 = 1;
pub const END_STREAM: u8 = 1;
pub const END_HEADERS: u8 = 4;
/// The head of an answer: `:status: 200`.
pub const OK: u8 = 0x88;

/// Serves so many connections, one after the other; each sends empty SETTINGS first, and then what `turn` makes of each
/// frame that comes.
pub fn frames(
    connections: usize,
    mut turn: impl FnMut(Frame) -> Vec<Frame> + Send + 'static,
) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        for stream in listener.incoming().take(connections) {
            let stream = stream.unwrap();
            // Or a second frame waits until the client's kernel acknowledges the first, 40 ms later.
            stream.set_nodelay(true).unwrap();
            converse(stream, &mut turn);
        }
    });
    (addr, thread)
}

/// Serves one connection of [`frames`].
pub fn converse(mut stream: impl Read + Write, mut turn: impl FnMut(Frame) -> Vec<Frame>) {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).unwrap();
    assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    send(&mut stream, (SETTINGS, 0, 0, Vec::new()));
    while let Some(frame) = receive(&mut stream) {
        turn(frame).into_iter().for_each(|frame| send(&mut stream, frame));
    }
}

fn send(stream: &mut impl Write, (kind, flags, id, payload): Frame) {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(id.to_be_bytes());
    bytes.extend(payload);
    let _ = stream.write_all(&bytes);
}

fn receive(stream: &mut impl Read) -> Option<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let [a, b, c, kind, flags, id @ ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some((kind, flags, u32::from_be_bytes(id), payload))
}
