//! However the network cuts what a server sends, and however the server cuts a body into chunks or frames, the outcome
//! is the same, on each protocol.

use proptest::prelude::*;

use super::stacked::{PROTOCOLS, Protocol, Stacked, in_frames, step};
use super::*;
use crate::Http;

/// A server whose words come in pieces of these sizes in bytes, over and over.
struct Cut<'a, S> {
    server: S,
    sizes: std::iter::Cycle<std::slice::Iter<'a, usize>>,
}

impl<S: Server> Server for Cut<'_, S> {
    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        let mut deeds = Deeds::new();
        for (at, deed) in self.server.receive(connection, at, bytes) {
            let Deed::Say(mut bytes) = deed else {
                deeds.push((at, deed));
                continue;
            };
            while !bytes.is_empty() {
                let size = self.sizes.next().map_or(bytes.len(), |size| bytes.len().min(*size));
                let rest = bytes.split_off(size);
                deeds.push((at, Deed::Say(bytes)));
                bytes = rest;
            }
        }
        deeds
    }
}

/// The outcome of three requests that are answered with this body, cut at these sizes by the server, and at those by
/// the network.
fn answered(protocol: Protocol, wanted: &[u8], body: &[u8], parts: &[usize], pieces: &[usize]) -> Outcome {
    let mut sizes = parts.iter().cycle();
    let mut rest = body;
    let mut cut = Vec::new();
    while let Some(size) = sizes.next().filter(|_| !rest.is_empty()) {
        let (part, after) = rest.split_at(rest.len().min(*size));
        cut.push(part);
        rest = after;
    }
    let server = Stacked::new(protocol, |visit, stream| {
        let answer = match protocol.http {
            Http::Http1 => in_chunks(&cut),
            Http::Http2 => in_frames(stream, &cut),
        };
        (visit.at + MS, answer)
    });
    let load = Load { sessions: vec![step("x", 0).into()], ..load(3) };
    let load = protocol.speaking(1, load).with_steps(|step| step.expect.equals = Some(wanted.to_vec()));
    run(&load, Cut { server, sizes: pieces.iter().cycle() })
}

fn in_chunks(parts: &[&[u8]]) -> Vec<u8> {
    let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for part in parts {
        answer.extend(format!("{:x}\r\n", part.len()).bytes());
        answer.extend_from_slice(part);
        answer.extend(b"\r\n");
    }
    answer.extend(b"0\r\n\r\n");
    answer
}

/// Answers in HTTP/1.1 that end where they should not, or break a rule, and what becomes of a request for each.
const NASTY: [(&str, bool, Failure); 8] = [
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npong", true, Failure::Closed),
    ("HTTP/1.1 200 OK\r\nContent-Le", true, Failure::Closed),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n", true, Failure::Closed),
    ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\npong", false, Failure::Malformed),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", false, Failure::Malformed),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\npong\r\n", false, Failure::Malformed),
    ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno", false, Failure::Status),
    ("HTTP/1.1 103 x\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\npink", true, Failure::Body),
];

/// A server that says this to each request, and ends the connection after it if it is to.
struct Nasty<'a> {
    says: &'a str,
    ends: bool,
}

impl Server for Nasty<'_> {
    fn receive(&mut self, _: u64, at: u64, _: &[u8]) -> Deeds {
        let end = self.ends.then_some((at + MS, Deed::End));
        [say(at + MS, self.says)].into_iter().chain(end).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 40, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn a_body_is_right_or_wrong_however_it_is_cut(
        body in prop::collection::vec(any::<u8>(), 1..2_000),
        parts in prop::collection::vec(1..400_usize, 1..8),
        pieces in prop::collection::vec(1..200_usize, 1..8),
        wrong_at in any::<prop::sample::Index>(),
    ) {
        let mut other = body.clone();
        other[wrong_at.index(body.len())] ^= 1;
        for protocol in PROTOCOLS {
            let right = answered(protocol, &body, &body, &parts, &pieces);
            prop_assert_eq!((right.ok, right.errors), (3, Errors::default()), "{:?}", right.first_wrong);
            let wrong = answered(protocol, &other, &body, &parts, &pieces);
            let whole = answered(protocol, &other, &body, &[body.len()], &[usize::MAX]);
            prop_assert_eq!(wrong.errors, Errors { body: 3, ..Errors::default() });
            prop_assert_eq!((wrong.first_wrong.is_some(), wrong.reconnects), (true, 0));
            prop_assert_eq!((whole.ok, whole.errors), (0, wrong.errors));
        }
    }

    #[test]
    fn a_nasty_answer_fails_alike_however_it_is_cut(
        pieces in prop::collection::vec(1..60_usize, 1..8),
    ) {
        for (says, ends, failure) in NASTY {
            let outcome = run(&load(3), Cut { server: Nasty { says, ends }, sizes: pieces.iter().cycle() });
            let failures: Vec<_> = outcome.log.iter().map(|it| it.failure).collect();
            prop_assert_eq!(failures, vec![Some(failure); 3], "{}: {:?}", says, outcome.first_wrong);
        }
    }
}
