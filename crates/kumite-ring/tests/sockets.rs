//! A ring and real sockets: what goes in comes out, whatever the other side does.

mod sockets {
    pub mod client;
}

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kumite_ring::{QUIET_BYTES, Ring, RingError};
use kumite_testing::{Capability, lacks};
use rustix::io::Errno;
use rustix::net::{AddressFamily, sockopt};

use crate::sockets::client::{Client, pattern, socket};

fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    // The standard library's 128 are fewer than some tests connect at once.
    rustix::net::listen(&listener, 1024).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Sends back what it gets, on any number of connections.
fn echo() -> SocketAddr {
    let (listener, address) = listen();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || bounce(stream.unwrap()));
        }
    });
    address
}

fn bounce(mut stream: TcpStream) {
    let mut buffer = vec![0; 100_000];
    while let Ok(len @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..len]).is_err() {
            return;
        }
    }
}

#[test]
fn an_echo_has_the_right_bytes() {
    let Some(mut client) = Client::new(2, &[b"shared bytes ", b"others "]) else { return };
    let v6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let v6_address = v6.local_addr().unwrap();
    thread::spawn(move || bounce(v6.accept().unwrap().0));
    client.connect(0, echo());
    client.connect(1, v6_address);
    client.until(|seen| seen.iter().all(|seen| seen.connected == Some(Ok(()))));
    for slot in 0..2 {
        client.ring.send_shared(slot, 0);
        client.ring.send_own(slot, b"and own ones, ".to_vec());
        client.ring.send_own(slot, Vec::new());
        client.ring.send_shared(slot, 1);
    }
    let expected = b"shared bytes and own ones, others ";
    client.until(|seen| seen.iter().all(|seen| seen.received.len() == expected.len()));
    for (slot, seen) in client.connections.iter().enumerate() {
        assert_eq!(seen.received, expected);
        assert_eq!(seen.sent, 0, "small sends are quiet");
        assert!(!client.ring.is_sending(slot));
    }
    assert!(client.ring.spare().capacity() > 0, "a vector that was sent can be had again");
}

#[test]
fn a_unix_socket_is_as_good() {
    let Some(mut client) = Client::new(2, &[b"ping"]) else { return };
    let path = std::env::temp_dir().join(format!("kumite-ring-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let answered = || {
            let mut stream = listener.accept().unwrap().0;
            let mut buffer = [0; 4];
            stream.read_exact(&mut buffer).unwrap();
            stream.write_all(&buffer).unwrap();
            stream
        };
        (0..3).map(|_| answered()).collect::<Vec<_>>()
    });
    client.connect_unix(1, &path.with_extension("missing"));
    client.until(|seen| seen[1].connected.is_some());
    assert_eq!(client.connections[1].connected, Some(Err(Errno::NOENT)));
    for _ in 0..3 {
        // Connected before the kernel has told that the older connection's receive is cancelled.
        client.connect_unix(0, &path);
        client.until(|seen| seen[0].connected == Some(Ok(())));
        client.ring.send_shared(0, 0);
        client.until(|seen| seen[0].received == b"ping");
    }
    server.join().unwrap();
    client.until(|seen| seen[0].ended);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn many_connections_do_not_mix() {
    const CONNECTIONS: usize = 400;
    let Some(mut client) = Client::new(CONNECTIONS, &[]) else { return };
    let (listener, address) = listen();
    // All connections on one thread, which answers in pieces, and the last connection first.
    let server = thread::spawn(move || {
        let mut streams: Vec<_> = (0..CONNECTIONS).map(|_| listener.accept().unwrap().0).collect();
        for _ in 0..3 {
            let asked: Vec<[u8; 8]> = streams
                .iter_mut()
                .map(|stream| {
                    let mut buffer = [0; 8];
                    stream.read_exact(&mut buffer).unwrap();
                    buffer
                })
                .collect();
            for half in 0..2 {
                for (stream, asked) in streams.iter_mut().zip(&asked).rev() {
                    stream.write_all(&asked[half * 4..][..4]).unwrap();
                }
            }
        }
    });
    client.connect_all(0..CONNECTIONS, address);
    let mut expected = vec![Vec::new(); CONNECTIONS];
    for round in 0..3_u32 {
        for (slot, expected) in expected.iter_mut().enumerate() {
            let mut bytes = client.ring.spare();
            bytes.extend_from_slice(&(slot as u32).to_be_bytes());
            bytes.extend_from_slice(&round.to_be_bytes());
            expected.extend_from_slice(&bytes);
            client.ring.send_own(slot, bytes);
        }
        let len = expected[0].len();
        client.until(|seen| seen.iter().all(|seen| seen.received.len() == len));
    }
    for (seen, expected) in client.connections.iter().zip(&expected) {
        assert_eq!(seen.received, *expected);
    }
    server.join().unwrap();
}

/// More operations than a ring queues: it submits by itself, at any of them.
#[test]
fn a_full_queue_loses_nothing() {
    let Some(mut client) = Client::new(2, &[]) else { return };
    let address = echo();
    for sends in 1018..1028 {
        client.connect_all(0..1, address);
        for number in 0..sends {
            let mut bytes = client.ring.spare();
            bytes.push(number as u8);
            client.ring.send_own(0, bytes);
            // There is nothing to see yet; and what was not submitted is not free to be used again.
            assert!(client.ring.next().is_none());
        }
        client.connect_all(1..2, address);
        client.until(|seen| seen[0].received.len() == sends);
        let expected: Vec<u8> = (0..sends).map(|number| number as u8).collect();
        assert!(client.connections[0].received == expected, "other bytes came back from {sends} sends");
        client.close(0);
        client.close(1);
    }
}

#[test]
fn large_bodies_come_in_pieces_and_in_order() {
    let bodies = [pattern(3_000_000, 1), pattern(2_000_000, 2), pattern(10, 3), pattern(70_000, 4)];
    let Some(mut client) = Client::new(1, &[&bodies[1]]) else { return };
    client.connect_all(0..1, echo());
    client.ring.send_own(0, bodies[0].clone());
    client.ring.send_shared(0, 0);
    client.ring.send_own(0, bodies[2].clone());
    assert!(client.ring.is_sending(0));
    client.ring.send_own(0, bodies[3].clone());
    let expected = bodies.concat();
    client.until(|seen| seen[0].received.len() >= expected.len() && seen[0].sent == 4);
    assert!(client.connections[0].received == expected, "other bytes came back");
    assert!(!client.ring.is_sending(0));
}

#[test]
fn a_fin_is_told_after_the_last_byte() {
    let Some(mut client) = Client::new(1, &[b"late"]) else { return };
    let (listener, address) = listen();
    let server = thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        stream.write_all(b"all there is").unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut rest = [0; 4];
        stream.read_exact(&mut rest).unwrap();
        assert_eq!(rest, *b"late");
    });
    client.connect_all(0..1, address);
    client.until(|seen| seen[0].ended);
    assert_eq!(client.connections[0].received, b"all there is");
    // Our own side is still open.
    client.ring.send_shared(0, 0);
    client.once(0);
    server.join().unwrap();
    assert_eq!(client.connections[0].broken, None);
}

#[test]
fn a_reset_is_told() {
    let Some(mut client) = Client::new(1, &[]) else { return };
    let (listener, address) = listen();
    let server = thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    client.connect(0, address);
    client.until(|seen| seen[0].broken.is_some());
    server.join().unwrap();
    assert_eq!(client.connections[0].broken, Some(Errno::CONNRESET));
    // Neither is an error: a broken connection takes what it is given, and is closed once.
    client.ring.send_own(0, vec![1; 10_000]);
    assert!(!client.ring.is_sending(0));
    client.close(0);
    client.close(0);
    client.once(20_000_000);
}

#[test]
fn a_refused_connection_is_told_once() {
    let Some(mut client) = Client::new(2, &[b"x"]) else { return };
    let (listener, nobody) = listen();
    drop(listener);
    client.connect(0, nobody);
    client.until(|seen| seen[0].connected.is_some());
    assert_eq!(client.connections[0].connected, Some(Err(Errno::CONNREFUSED)));
    client.ring.send_shared(0, 0);
    client.once(20_000_000);
    // The slot is as good as new.
    client.connect_all(0..1, echo());
    client.ring.send_shared(0, 0);
    client.until(|seen| seen[0].received == b"x");
}

#[test]
fn a_slot_never_sees_an_older_connection() {
    let Some(mut client) = Client::new(1, &[b"a", b"b"]) else { return };
    let (old_listener, old) = listen();
    let (go, gone) = mpsc::channel();
    // Floods every connection.
    thread::spawn(move || {
        for stream in old_listener.incoming() {
            let mut stream = stream.unwrap();
            let go = go.clone();
            thread::spawn(move || {
                let asked = matches!(stream.read(&mut [0; 8]), Ok(1..));
                let _ = stream.write_all(&[b'!'; 50_000]);
                if asked {
                    let _ = go.send(());
                }
            });
        }
    });
    let new = echo();
    for round in 0..200 {
        client.connect_all(0..1, old);
        client.ring.send_shared(0, 0);
        match round % 4 {
            // Closed before the request was submitted: it must not go to the next connection.
            0 => {}
            1 => client.ring.submit().unwrap(),
            // Closed when the answer, or a part of it, is in the ring, unseen.
            2 => {
                client.ring.submit().unwrap();
                gone.recv().unwrap();
                client.ring.wait(1_000_000).unwrap();
            }
            _ => client.once(1_000_000),
        }
        client.close(0);
        if round % 3 == 0 {
            // Connected and closed within one submission.
            client.connect(0, old);
            client.close(0);
        }
        client.connect_all(0..1, new);
        client.ring.send_shared(0, 1);
        client.until(|seen| !seen[0].received.is_empty());
        assert_eq!(client.connections[0].received, b"b", "round {round}");
        client.close(0);
    }
}

#[test]
fn a_connection_that_is_closed_is_closed_for_its_peer() {
    let Some(mut client) = Client::new(3, &[]) else { return };
    let (listener, address) = listen();
    client.connect_all(0..3, address);
    let mut peers: Vec<_> = (0..3).map(|_| listener.accept().unwrap().0).collect();
    // With nothing in flight but the receive; with a send that is stuck; with the ring itself.
    client.ring.send_own(1, vec![0; 20_000_000]);
    client.once(1_000_000);
    client.close(0);
    client.close(1);
    client.once(1_000_000);
    for peer in &mut peers {
        peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    }
    assert_eq!(peers[0].read(&mut [0; 8]).unwrap(), 0);
    let mut got = Vec::new();
    peers[1].read_to_end(&mut got).unwrap();
    assert!(!got.is_empty() && got.len() < 20_000_000, "{} bytes", got.len());
    drop(client);
    assert_eq!(peers[2].read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn more_comes_than_there_are_buffers() {
    const CONNECTIONS: usize = 300;
    const LEN: usize = 60_000;
    let Some(mut client) = Client::new(CONNECTIONS, &[]) else { return };
    let (listener, address) = listen();
    let server = thread::spawn(move || {
        let mut streams: Vec<_> = (0..CONNECTIONS).map(|_| listener.accept().unwrap().0).collect();
        for (seed, stream) in streams.iter_mut().enumerate() {
            stream.write_all(&pattern(LEN, seed as u32)).unwrap();
        }
        streams
    });
    client.connect_all(0..CONNECTIONS, address);
    // 18 MB wait in the sockets, several times what the buffers hold.
    let mut streams = server.join().unwrap();
    for _ in 0..2 {
        client.ring.wait(0).unwrap();
    }
    client.until(|seen| seen.iter().all(|seen| seen.received.len() >= LEN));
    // In the order of accepting, which is that of connecting only nearly.
    let mut expected: Vec<_> = (0..CONNECTIONS).map(|seed| pattern(LEN, seed as u32)).collect();
    let mut received: Vec<_> =
        client.connections.iter_mut().map(|seen| std::mem::take(&mut seen.received)).collect();
    expected.sort();
    received.sort();
    assert!(received == expected, "other bytes came");
    // And everything still works.
    streams.iter_mut().for_each(|stream| stream.write_all(b"more").unwrap());
    client.until(|seen| seen.iter().all(|seen| seen.received == b"more"));
}

#[test]
fn a_send_larger_than_the_sockets_buffer_waits_for_a_late_reader() {
    let Some(mut client) = Client::new(1, &[b"after it"]) else { return };
    let (listener, address) = listen();
    client.connect_all(0..1, address);
    let mut stream = listener.accept().unwrap().0;
    let body = pattern(30_000_000, 5);
    client.ring.send_own(0, body.clone());
    client.ring.send_shared(0, 0);
    for _ in 0..5 {
        client.once(10_000_000);
    }
    assert!(client.ring.is_sending(0));
    assert_eq!(client.connections[0].sent, 0);
    let reader = thread::spawn(move || {
        let mut got = vec![0; 30_000_008];
        stream.read_exact(&mut got).unwrap();
        got
    });
    client.until(|seen| seen[0].sent == 2);
    let got = reader.join().unwrap();
    assert!(got[..30_000_000] == body && got[30_000_000..] == *b"after it", "other bytes arrived");
}

/// A server that answers without reading, until the socket's buffer is full. Each answer has one byte; after it
/// `requests` are sent at once, `len` bytes each.
fn overfill(client: &mut Client, requests: usize, len: usize) -> (TcpStream, Vec<u8>) {
    let (listener, address) = listen();
    let socket = socket(AddressFamily::INET);
    sockopt::set_socket_send_buffer_size(&socket, 10_000).unwrap();
    client.connect_socket(0, socket, &address.into());
    client.until(|seen| seen[0].connected == Some(Ok(())));
    let mut stream = listener.accept().unwrap().0;
    stream.set_nodelay(true).unwrap();
    let mut asked = Vec::new();
    for round in 1.. {
        assert!(round < 10_000, "a socket took {} bytes that nobody read", asked.len());
        stream.write_all(b"!").unwrap();
        client.until(|seen| seen[0].received.len() == round);
        for request in 0..requests {
            let bytes = pattern(len, (round * requests + request) as u32);
            asked.extend_from_slice(&bytes);
            client.ring.send_own(0, bytes);
        }
        client.once(0);
        if client.ring.is_sending(0) || client.connections[0].broken.is_some() {
            break;
        }
    }
    (stream, asked)
}

#[test]
fn a_quiet_send_that_does_not_fit_is_sent_later() {
    let Some(mut client) = Client::new(1, &[b"after it"]) else { return };
    let (mut stream, mut asked) = overfill(&mut client, 1, QUIET_BYTES);
    assert!(client.ring.is_sending(0));
    client.ring.send_shared(0, 0);
    asked.extend_from_slice(b"after it");
    let reader = thread::spawn(move || {
        let mut got = vec![0; asked.len()];
        stream.read_exact(&mut got).unwrap();
        assert!(got == asked, "other bytes arrived");
        stream
    });
    client.until(|seen| seen[0].sent == 1);
    reader.join().unwrap();
    assert!(!client.ring.is_sending(0));
}

#[test]
fn when_the_order_of_requests_is_lost_the_connection_is_broken() {
    let Some(mut client) = Client::new(1, &[]) else { return };
    // It is not lost if just the last of several does not fit.
    for len in 500..530 {
        let (mut stream, asked) = overfill(&mut client, 6, len);
        let broken = client.connections[0].broken;
        client.close(0);
        client.once(1_000_000);
        let mut got = Vec::new();
        let _ = stream.read_to_end(&mut got);
        assert!(asked.starts_with(&got), "what arrived is not in order");
        if broken.is_some() {
            assert_eq!(broken, Some(Errno::AGAIN));
            return;
        }
    }
    panic!("30 times just the last of six did not fit");
}

/// Dropped with connects, receives and sends in flight; whatever was given to the kernel, or nothing if there is no io_uring.
fn drop_in_flight(listener: &TcpListener, submitted: bool) -> Option<()> {
    let address = listener.local_addr().unwrap();
    let mut client = Client::new(40, &[b"x"])?;
    client.connect_all(0..30, address);
    for slot in 0..10 {
        client.ring.send_own(slot, vec![0; STUCK]);
        client.ring.send_shared(10 + slot, 0);
    }
    (30..40).for_each(|slot| client.connect(slot, address));
    if submitted {
        client.ring.submit().unwrap();
    }
    drop(client);
    for _ in 0..30 {
        let mut stream = listener.accept().unwrap().0;
        let mut got = Vec::new();
        let _ = stream.read_to_end(&mut got);
        assert!(submitted || got.is_empty(), "what was not submitted was sent: {} bytes", got.len());
    }
    while listener.set_nonblocking(true).and_then(|()| listener.accept()).is_ok() {}
    listener.set_nonblocking(false).unwrap();
    Some(())
}

/// More than a socket takes.
const STUCK: usize = 10_000_000;

/// The memory of the process that can be written to.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmData:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Memory that the kernel does not let go of within a second is leaked. On a machine that stands still that may happen, but not
/// half of the time.
#[test]
fn a_ring_that_is_dropped_with_everything_in_flight_gives_its_memory_back() {
    const ROUNDS: usize = 10;
    let (listener, _) = listen();
    for submitted in [false, true] {
        let before = memory();
        for _ in 0..ROUNDS {
            let Some(()) = drop_in_flight(&listener, submitted) else { return };
        }
        let grown = memory().saturating_sub(before);
        assert!(grown < ROUNDS * 10 * STUCK / 2, "{grown} bytes more than before, {submitted}");
    }
}

#[test]
fn waiting_ends_when_the_time_is_over() {
    let Some(mut client) = Client::new(1, &[]) else { return };
    client.connect_all(0..1, echo());
    let started = Instant::now();
    client.once(30_500_000);
    assert!(started.elapsed() >= Duration::from_micros(30_500));
    client.once(0);
}

#[test]
fn more_sockets_than_the_kernel_can_register_are_an_error() {
    match Ring::new(1 << 21, Vec::new()) {
        Err(error @ RingError::Files { connections: 2_097_152 }) => {
            assert!(error.to_string().contains("ulimit -n"));
        }
        Err(error @ (RingError::Missing | RingError::Forbidden | RingError::Old)) => {
            lacks(Capability::IoUring, error);
            return;
        }
        other => panic!("{other:?}"),
    }
    assert!(Ring::new(0, Vec::new()).is_ok_and(|mut ring| ring.next().is_none()));
}
