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
    /// Answers with this status and body. The header `x-bytes` has the body's length.
    pub fn answer(mut self, status: u16, body: impl Into<Bytes>) {
        let body = body.into();
        let response = Response::builder().status(status).header("x-bytes", body.len()).body(()).unwrap();
        if let Ok(mut stream) = self.respond.send_response(response, false) {
            let _ = stream.send_data(body, true);
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

/// A server's conduct besides its answers.
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
pub const CONTINUATION: u8 = 9;

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

fn send(stream: &mut impl Write, frame: Frame) {
    let _ = stream.write_all(&bytes(&frame));
}

/// A frame as it is sent.
pub fn bytes((kind, flags, id, payload): &Frame) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[*kind, *flags], &id.to_be_bytes(), payload].concat()
}

/// The next frame; `None` if none comes any more.
pub fn receive(stream: &mut impl Read) -> Option<Frame> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).ok()?;
    let [a, b, c, kind, flags, id @ ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    stream.read_exact(&mut payload).ok()?;
    Some((kind, flags, u32::from_be_bytes(id), payload))
}

/// The numbers of settings in a frame.
pub const MAX_CONCURRENT_STREAMS: u8 = 3;
pub const INITIAL_WINDOW_SIZE: u8 = 4;

/// A frame that says this.
pub fn setting(which: u8, value: u32) -> Frame {
    (SETTINGS, 0, 0, [&[0, which][..], &value.to_be_bytes()].concat())
}

/// A server that changes its mind about how much it allows: none at all, or more, on each of its connections by itself.
/// It answers every request, the sooner or the later.
pub struct Moody {
    pub addr: SocketAddr,
    requests: Arc<AtomicU64>,
}

impl Moody {
    pub fn start(seed: u64, tls: Option<Arc<ServerConfig>>) -> Moody {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicU64::new(0));
        let counter = requests.clone();
        std::thread::spawn(move || {
            for (nth, stream) in (0..).zip(listener.incoming()) {
                let Ok(stream) = stream else { continue };
                let (counter, tls) = (counter.clone(), tls.clone());
                stream.set_nodelay(true).unwrap();
                std::thread::spawn(move || {
                    let mood = Mood::new(seed + nth, counter);
                    match tls {
                        None => mood.serve(&stream, &stream),
                        Some(config) => {
                            let session = rustls::ServerConnection::new(config).unwrap();
                            mood.serve(&stream, rustls::StreamOwned::new(session, &stream));
                        }
                    }
                });
            }
        });
        Moody { addr, requests }
    }

    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::SeqCst)
    }
}

struct Mood {
    state: u64,
    counter: Arc<AtomicU64>,
    waiting: Vec<u32>,
}

impl Mood {
    fn new(seed: u64, counter: Arc<AtomicU64>) -> Mood {
        Mood { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, counter, waiting: Vec::new() }
    }

    /// By xorshift64 (Marsaglia, 2003).
    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) as usize % most
    }

    fn serve(mut self, socket: &std::net::TcpStream, mut stream: impl Read + Write) {
        let mut preface = [0; 24];
        if stream.read_exact(&mut preface).is_err() {
            return;
        }
        let first = [0, 1, 4, 100][self.below(4)];
        send(&mut stream, setting(MAX_CONCURRENT_STREAMS, first));
        let mut came = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let patience = std::time::Duration::from_micros(200 + self.below(3000) as u64);
            socket.set_read_timeout(Some(patience)).unwrap();
            match stream.read(&mut buffer) {
                Ok(0) => return,
                Ok(n) => came.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
            while let Some(frame) = take(&mut came) {
                match frame {
                    (SETTINGS, 0, ..) => send(&mut stream, (SETTINGS, ACK, 0, Vec::new())),
                    (HEADERS | DATA, flags, id, _) if flags & END_STREAM != 0 => {
                        self.counter.fetch_add(1, Ordering::SeqCst);
                        self.waiting.push(id);
                    }
                    _ => {}
                }
            }
            if self.below(3) == 0 {
                let (which, value) = match self.below(2) {
                    0 => (MAX_CONCURRENT_STREAMS, [0, 0, 1, 3, 100][self.below(5)]),
                    _ => (INITIAL_WINDOW_SIZE, [0, 0, 5, 65_535][self.below(4)]),
                };
                send(&mut stream, setting(which, value));
            }
            for _ in 0..self.below(self.waiting.len() + 2).min(self.waiting.len()) {
                let nth = self.below(self.waiting.len());
                let id = self.waiting.swap_remove(nth);
                send(&mut stream, (HEADERS, END_HEADERS, id, vec![OK]));
                send(&mut stream, (DATA, END_STREAM, id, b"pong".to_vec()));
            }
        }
    }
}

/// The first of the frames that have come, if it is whole.
fn take(came: &mut Vec<u8>) -> Option<Frame> {
    let [a, b, c, kind, flags, id @ ..] = *came.first_chunk::<9>()?;
    let length = u32::from_be_bytes([0, a, b, c]) as usize;
    if came.len() < 9 + length {
        return None;
    }
    let payload = came[9..9 + length].to_vec();
    came.drain(..9 + length);
    Some((kind, flags, u32::from_be_bytes(id), payload))
}

/// A header field as HPACK has it, without compression and not to be remembered.
pub fn field(name: &str, value: &str) -> Vec<u8> {
    let length = |length: usize| match length {
        0..127 => vec![length as u8],
        _ => {
            let (mut rest, mut bytes) = (length - 127, vec![127]);
            while rest >= 128 {
                bytes.push((rest % 128 + 128) as u8);
                rest /= 128;
            }
            bytes.push(rest as u8);
            bytes
        }
    };
    [&[0x10][..], &length(name.len()), name.as_bytes(), &length(value.len()), value.as_bytes()].concat()
}
