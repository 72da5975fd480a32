//! The least that a load generator can cost: clients that send a fixed request and count the bytes of the answers, whose
//! length they are told. They parse, check and record nothing, and share no code with the engine.

#[forbid(unsafe_code)]
mod closed;
#[forbid(unsafe_code)]
mod counted;
#[forbid(unsafe_code)]
mod sleeping;
mod uring;

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};

/// How long answers are waited for after the last request.
const DRAIN: Duration = Duration::from_secs(1);

/// Offer load, count bytes, and print how many answers came
#[derive(Parser)]
struct Args {
    /// How it is done
    floor: Floor,
    /// Where the server listens on 127.0.0.1
    port: u16,
    /// Keep-alive connections
    connections: usize,
    /// How long requests are sent
    seconds: u64,
    /// The length of every answer
    answer_bytes: usize,
    /// Requests a second, for `sleeping`
    #[arg(default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
}

#[derive(Clone, Copy, ValueEnum)]
enum Floor {
    /// Closed loop: a `recv` and a `send` for each answer
    Epoll,
    /// Closed loop: multishot receive into provided buffers, batched sends
    #[value(name = "io_uring")]
    IoUring,
    /// Open loop: sleeps to each due time
    Sleeping,
}

fn main() -> Result<()> {
    let args = Args::parse();
    let sockets = connect(args.port, args.connections)?;
    let length = Duration::from_secs(args.seconds);
    let answers = match args.floor {
        Floor::Epoll => closed::run(&sockets, args.answer_bytes, length, DRAIN),
        Floor::IoUring => uring::run(&sockets, args.answer_bytes, length, DRAIN),
        Floor::Sleeping => sleeping::run(&sockets, args.answer_bytes, length, DRAIN, args.rate),
    }?;
    writeln!(std::io::stdout(), "requests {answers}").context("cannot print")
}

fn connect(port: u16, connections: usize) -> Result<Vec<TcpStream>> {
    (0..connections)
        .map(|_| {
            let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).context("cannot connect")?;
            socket.set_nodelay(true)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use kumite_testing::{Capability, lacks};

    use super::*;
    use crate::counted::REQUEST;

    const CONNECTIONS: usize = 3;
    const PIECES: [&[u8]; 2] = [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", b"\r\npong"];
    const LENGTH: Duration = Duration::from_millis(50);
    /// However slow the server is.
    const LONG: Duration = Duration::from_secs(60);

    /// Its count, and that of a server which answers in two pieces.
    fn counts(client: impl FnOnce(&[TcpStream], usize) -> Result<u64>) -> (u64, u64) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let sockets = connect(listener.local_addr().unwrap().port(), CONNECTIONS).unwrap();
        let serve = || {
            let (mut socket, _) = listener.accept().unwrap();
            socket.set_nodelay(true).unwrap();
            let (mut request, mut answered) = (vec![0; REQUEST.len()], 0);
            while socket.read_exact(&mut request).is_ok() {
                assert_eq!(request, REQUEST);
                // A client that has waited long enough is gone.
                answered += u64::from(PIECES.iter().all(|piece| socket.write_all(piece).is_ok()));
            }
            answered
        };
        thread::scope(|scope| {
            let served: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(serve)).collect();
            let counted = client(&sockets, PIECES.concat().len()).unwrap();
            drop(sockets);
            (counted, served.into_iter().map(|served| served.join().unwrap()).sum())
        })
    }

    fn has_uring() -> bool {
        match io_uring::IoUring::new(1) {
            Ok(_) => true,
            Err(error) => {
                lacks(Capability::IoUring, error);
                false
            }
        }
    }

    fn counts_all(run: fn(&[TcpStream], usize, Duration, Duration) -> Result<u64>) {
        let (counted, served) = counts(|sockets, bytes| run(sockets, bytes, LENGTH, LONG));
        assert!(counted == served && served >= CONNECTIONS as u64, "{counted} of {served}");
    }

    #[test]
    fn epoll_counts_what_the_server_answered() {
        counts_all(closed::run);
    }

    #[test]
    fn io_uring_counts_what_the_server_answered() {
        if has_uring() {
            counts_all(uring::run);
        }
    }

    #[test]
    fn sleeping_sends_at_its_rate_and_counts_what_the_server_answered() {
        let found = counts(|sockets, bytes| sleeping::run(sockets, bytes, LENGTH, LONG, 2000));
        assert_eq!(found, (100, 100));
    }

    #[test]
    fn an_answer_that_is_too_long_is_refused() {
        let refusal = |client: fn(&[TcpStream], usize, Duration, Duration) -> Result<u64>| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let sockets = connect(listener.local_addr().unwrap().port(), 1).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            server.write_all(b"four").unwrap();
            client(&sockets, 3, LENGTH, LONG).unwrap_err().to_string()
        };
        assert_eq!(refusal(closed::run), "an answer is too long");
        if has_uring() {
            assert_eq!(refusal(uring::run), "an answer is too long");
        }
    }
}
