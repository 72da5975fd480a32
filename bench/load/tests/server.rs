//! The server as a generator meets it: a process, and bytes on sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use bench_load::Server;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn server() -> (Server, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(Path::new(env!("CARGO_BIN_EXE_bench-load")), &[], dir.path()).unwrap();
    (server, dir)
}

fn connect(server: &Server) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    socket.set_nodelay(true).unwrap();
    socket
}

/// Reads one answer to its end, and no further.
fn pong(socket: &mut TcpStream) {
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"\r\n\r\npong") {
        socket.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {answer:?}"));
        answer.push(byte[0]);
    }
    let answer = String::from_utf8(answer).unwrap();
    assert!(
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\r\nContent-Length: 4\r\n"),
        "{answer}"
    );
}

fn silent(socket: &mut TcpStream) {
    socket.set_nonblocking(true).unwrap();
    assert_eq!(socket.read(&mut [0]).map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    socket.set_nonblocking(false).unwrap();
}

#[test]
fn answers_over_and_over_on_one_connection_and_counts() {
    let (server, _dir) = server();
    let mut socket = connect(&server);
    for _ in 0..100 {
        socket.write_all(GET).unwrap();
        pong(&mut socket);
    }
    silent(&mut socket);
    assert_eq!(server.stop().unwrap().requests, 100);
}

#[test]
fn nobody_asked() {
    let (server, _dir) = server();
    let _idle = connect(&server);
    assert_eq!(server.stop().unwrap().requests, 0);
}

#[test]
fn a_request_in_pieces_is_one_request() {
    let (server, _dir) = server();
    let (mut slow, mut other) = (connect(&server), connect(&server));
    for cut in 1..GET.len() {
        slow.write_all(&GET[..cut]).unwrap();
        // Answered by the one thread of the server, so the first piece was read before.
        other.write_all(GET).unwrap();
        pong(&mut other);
        silent(&mut slow);
        slow.write_all(&GET[cut..]).unwrap();
        pong(&mut slow);
    }
    let pieces = GET.len() as u64 - 1;
    assert_eq!(server.stop().unwrap().requests, 2 * pieces);
}

#[test]
fn two_requests_in_one_piece_are_two() {
    let (server, _dir) = server();
    let mut socket = connect(&server);
    socket.write_all(&[GET, GET, &GET[..7]].concat()).unwrap();
    pong(&mut socket);
    pong(&mut socket);
    socket.write_all(&GET[7..]).unwrap();
    pong(&mut socket);
    assert_eq!(server.stop().unwrap().requests, 3);
}

#[test]
fn closes_when_asked_to() {
    let (server, _dir) = server();
    let mut socket = connect(&server);
    socket.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\ncoNNection: Close\r\n\r\n").unwrap();
    pong(&mut socket);
    assert_eq!(socket.read(&mut [0]).unwrap(), 0, "the end of the connection");
    // The place is free for another.
    let mut next = connect(&server);
    next.write_all(GET).unwrap();
    pong(&mut next);
    assert_eq!(server.stop().unwrap().requests, 2);
}

#[test]
fn a_head_without_end_is_not_kept_for_ever() {
    let (server, _dir) = server();
    let mut socket = connect(&server);
    // The server may close while this is under way, and with bytes unread, which is a reset.
    let _ = socket.write_all(&[b'a'; 64 * 1024]);
    match socket.read(&mut [0]) {
        Ok(count) => assert_eq!(count, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    assert_eq!(server.stop().unwrap().requests, 0);
}

#[test]
fn many_connections_at_once() {
    let (server, _dir) = server();
    let mut sockets: Vec<_> = (0..200).map(|_| connect(&server)).collect();
    for _ in 0..3 {
        sockets.iter_mut().for_each(|socket| socket.write_all(GET).unwrap());
        sockets.iter_mut().for_each(pong);
    }
    // Some leave, others take their places.
    sockets.truncate(100);
    sockets.extend((0..50).map(|_| connect(&server)));
    sockets.iter_mut().for_each(|socket| socket.write_all(GET).unwrap());
    sockets.iter_mut().for_each(pong);
    let served = server.stop().unwrap();
    assert_eq!((served.requests, served.connections), (750, 200));
}
