//! The least that a load generator can cost: clients that send a fixed request and count the bytes of the answers, whose
//! length they are told. They parse, check and record nothing, and share no code with the engine.

#[forbid(unsafe_code)]
mod closed;
#[forbid(unsafe_code)]
mod counted;
#[forbid(unsafe_code)]
mod sleeping;
#[cfg(test)]
#[path = "../../../tests/still.rs"]
#[forbid(unsafe_code)]
mod still;
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
        Floor::Epoll => closed::run(&sockets, args.answer_bytes, length),
        Floor::IoUring => uring::run(&sockets, args.answer_bytes, length),
        Floor::Sleeping => sleeping::run(&sockets, args.answer_bytes, length, args.rate),
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

    use super::*;
    use crate::counted::REQUEST;
    use crate::still::undisturbed;

    const CONNECTIONS: usize = 3;
    const PIECES: [&[u8]; 2] = [b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", b"\r\npong"];
    const LENGTH: Duration = Duration::from_millis(200);

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

    #[test]
    fn all_count_what_the_server_answered() {
        // Answers are not waited for for ever.
        let counted = undisturbed(LENGTH / 2, || {
            [
                counts(|sockets, bytes| closed::run(sockets, bytes, LENGTH)),
                counts(|sockets, bytes| uring::run(sockets, bytes, LENGTH)),
                counts(|sockets, bytes| sleeping::run(sockets, bytes, LENGTH, 500)),
            ]
        });
        let Some([epoll, uring, sleeping]) = counted else { return };
        for (counted, served) in [epoll, uring] {
            assert!(counted == served && served > 10, "{counted} of {served}");
        }
        assert_eq!(sleeping, (100, 100));
    }

    #[test]
    fn an_answer_that_is_too_long_is_refused() {
        let refusal = |client: fn(&[TcpStream], usize, Duration) -> Result<u64>| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let sockets = connect(listener.local_addr().unwrap().port(), 1).unwrap();
            let (mut server, _) = listener.accept().unwrap();
            server.write_all(b"four").unwrap();
            client(&sockets, 3, LENGTH).unwrap_err().to_string()
        };
        assert_eq!([closed::run, uring::run].map(refusal), ["an answer is too long"; 2]);
    }
}
