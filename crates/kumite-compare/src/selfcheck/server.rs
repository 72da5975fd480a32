//! A small HTTP server for the self-check, with keep-alive and a thread for each connection.

use std::io::{Error, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use kumite_process::pin_thread;

pub(super) const BODY: &[u8] = b"pong";
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";
const LONGEST_REQUEST: usize = 16 << 10;

/// The behaviour of a server: the delay between request and answer, and a record of it.
pub(super) trait Behaviour: Send + Sync + 'static {
    /// Called when the request of this number, from 1, has been read. The answer follows when it returns.
    fn before_answer(&self, _nth: u64) {}
    /// Called before the answer is written, with the time since the request was read.
    fn answered(&self, _after: Duration) {}
}

/// The behaviour of answering at once.
pub(super) struct Prompt;

impl Behaviour for Prompt {}

/// A server on a free port of the loopback interface, until it is dropped.
pub(super) struct Server {
    pub(super) addr: SocketAddr,
    ending: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server on these CPUs, or on any if they may not be used.
    pub(super) fn start(cores: &[usize], behaviour: Arc<impl Behaviour>) -> Result<Server, Error> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let addr = listener.local_addr()?;
        let ending = Arc::new(AtomicBool::new(false));
        let (end, cores) = (Arc::clone(&ending), cores.to_vec());
        let accepting = thread::Builder::new().spawn(move || {
            // Threads inherit the CPUs.
            let _ = pin_thread(&cores);
            accept(&listener, &end, &behaviour);
        })?;
        Ok(Server { addr, ending, accepting: Some(accepting) })
    }
}

impl Drop for Server {
    /// Stops the server, and waits for the answers in progress. All connections must be closed by then.
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        let woken = TcpStream::connect(self.addr).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, end: &AtomicBool, behaviour: &Arc<impl Behaviour>) {
    let count = Arc::new(AtomicU64::new(0));
    let mut serving: Vec<JoinHandle<()>> = Vec::new();
    for stream in listener.incoming() {
        if end.load(Ordering::SeqCst) {
            break;
        }
        serving.retain(|thread| !thread.is_finished());
        let Ok(stream) = stream else { continue };
        let (count, behaviour) = (Arc::clone(&count), Arc::clone(behaviour));
        let thread = thread::Builder::new().spawn(move || {
            // An error means that the client has gone.
            let _ = serve(stream, &count, &*behaviour);
        });
        serving.extend(thread);
    }
    for thread in serving {
        let _ = thread.join();
    }
}

fn serve(mut stream: TcpStream, count: &AtomicU64, behaviour: &impl Behaviour) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let read = stream.read(&mut buffer)?;
        let came = Instant::now();
        seen.extend_from_slice(&buffer[..read]);
        if read == 0 || seen.len() > LONGEST_REQUEST {
            return Ok(());
        }
        if seen.ends_with(b"\r\n\r\n") {
            seen.clear();
            behaviour.before_answer(count.fetch_add(1, Ordering::Relaxed) + 1);
            behaviour.answered(came.elapsed());
            stream.write_all(ANSWER)?;
        }
    }
}
