//! The server as a generator meets it: a process, and bytes on sockets.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bench_load::Server;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

fn server() -> (Server, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(Path::new(env!("CARGO_BIN_EXE_bench-load")), &[], dir.path(), false).unwrap();
    (server, dir)
}

fn connect(server: &Server) -> TcpStream {
    let socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
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

fn pong_once(server: &Server) {
    let mut socket = connect(server);
    socket.write_all(GET).unwrap();
    pong(&mut socket);
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
fn keeps_what_http_1_0_asks_to_keep() {
    let (server, _dir) = server();
    let mut socket = connect(&server);
    for _ in 0..2 {
        socket.write_all(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").unwrap();
        let mut answer = [0; 121];
        socket.read_exact(&mut answer).unwrap();
        let answer = String::from_utf8(answer.to_vec()).unwrap();
        assert!(
            answer.contains("\r\nConnection: keep-alive\r\n") && answer.ends_with("\r\n\r\npong"),
            "{answer}"
        );
    }
    silent(&mut socket);
    assert_eq!(server.stop().unwrap().requests, 2);
}

#[test]
fn stamps_each_request_with_when_it_was_read() {
    let dir = tempfile::tempdir().unwrap();
    let start = |stamped| {
        Server::start(Path::new(env!("CARGO_BIN_EXE_bench-load")), &[], dir.path(), stamped).unwrap()
    };
    let now_ns = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    };
    let server = start(true);
    let mut socket = connect(&server);
    let mut around = Vec::new();
    for _ in 0..3 {
        let before = now_ns();
        socket.write_all(&[GET, GET].concat()).unwrap();
        pong(&mut socket);
        pong(&mut socket);
        around.push(before..now_ns());
    }
    let stamps = server.stop().unwrap().stamps_ns;
    assert_eq!(stamps.len(), 6);
    for (stamp, around) in stamps.iter().zip(around.iter().flat_map(|around| [around, around])) {
        assert!(around.contains(stamp), "{stamp} is not in {around:?}");
    }
    // Not the stamps of the one before.
    let server = start(false);
    pong_once(&server);
    assert!(server.stop().unwrap().stamps_ns.is_empty());
}

/// It is asked all the time, so that its stamps show when it stood still.
#[test]
fn a_stall_is_a_time_in_which_nothing_is_read() {
    let length = Duration::from_millis(100);
    let dir = tempfile::tempdir().unwrap();
    let mut server =
        Server::start(Path::new(env!("CARGO_BIN_EXE_bench-load")), &[], dir.path(), true).unwrap();
    let mut socket = connect(&server);
    let mut ask = || {
        socket.write_all(GET).unwrap();
        pong(&mut socket);
    };
    let over = AtomicBool::new(false);
    ask();
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                ask();
            }
            ask();
        });
        let stalled = server.stall(Duration::ZERO, length);
        over.store(true, Ordering::SeqCst);
        asking.join().unwrap();
        stalled.unwrap();
    });
    let stamps = server.stop().unwrap().stamps_ns;
    let longest = stamps.windows(2).map(|pair| Duration::from_nanos(pair[1] - pair[0])).max();
    assert!(longest >= Some(length), "{longest:?}");
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
    // Some leave, others take their places: once the server has seen them go.
    for mut leaves in sockets.drain(100..) {
        leaves.shutdown(Shutdown::Write).unwrap();
        assert_eq!(leaves.read(&mut [0]).unwrap(), 0);
    }
    sockets.extend((0..50).map(|_| connect(&server)));
    sockets.iter_mut().for_each(|socket| socket.write_all(GET).unwrap());
    sockets.iter_mut().for_each(pong);
    let served = server.stop().unwrap();
    assert_eq!((served.requests, served.connections), (750, 200));
}
