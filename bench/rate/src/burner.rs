//! A server that burns a known time for each request: a thread for each connection, and nothing else.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";

/// Serves at $HOST:$PORT until it is ended. An error if it cannot listen there.
pub fn serve(ns: u64) -> Result<()> {
    let of = |name: &str| std::env::var(name).with_context(|| format!("no {name} in the environment"));
    let listener = TcpListener::bind((of("HOST")?.as_str(), of("PORT")?.parse::<u16>()?))?;
    for stream in listener.incoming() {
        let stream = stream?;
        // A client that goes is no fault.
        thread::spawn(move || answer(&stream, Duration::from_nanos(ns)));
    }
    Ok(())
}

/// Answers requests without a body, each after so much time of this thread's CPU.
fn answer(stream: &TcpStream, burn: Duration) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        if line == "\r\n" {
            let began = Instant::now();
            while began.elapsed() < burn {}
            (&mut &*stream).write_all(ANSWER)?;
        }
    }
}
