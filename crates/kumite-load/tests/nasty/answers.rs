//! Nasty answers in HTTP/1.1, in the clear and in TLS.

use kumite_load::{Check, Errors, Expect, Http};

use crate::case::{Case, run_all};
use crate::scripted::{Part, Then};

pub const PONG: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const CUT: &str = "closed: the server closed the connection N ms after the request for http://SERVER/ was sent, without a whole answer";

#[test]
fn nasty_answers_in_the_clear_are_counted_bounded_and_said() {
    run_all(&cases("http"), Http::Http1, false);
}

#[test]
fn nasty_answers_in_tls_are_counted_bounded_and_said() {
    run_all(&cases("https"), Http::Http1, true);
}

fn once(text: impl AsRef<[u8]>) -> Part {
    Part::Once(text.as_ref().to_vec())
}

fn flood(text: impl AsRef<[u8]>) -> Part {
    Part::Flood(text.as_ref().to_vec())
}

/// A case of one answer that is sent at once.
fn says(name: &'static str, text: impl AsRef<[u8]>) -> Case {
    let part = once(text);
    Case::new(name, move |_| vec![part.clone()])
}

fn of(name: &'static str, parts: &[Part]) -> Case {
    let parts = parts.to_vec();
    Case::new(name, move |_| parts.clone())
}

fn malformed(errors: u64) -> Errors {
    Errors { malformed: errors, ..Errors::default() }
}

fn closed(errors: u64) -> Errors {
    Errors { closed: errors, ..Errors::default() }
}

fn cases(scheme: &str) -> Vec<Case> {
    let cut = CUT.replace("http:", &format!("{scheme}:"));
    let ends = |name, text: &str| says(name, text).then(Then::Close).fails(closed(3), &cut);
    let breaks = |name, text: &str, words: &str| says(name, text).fails(malformed(3), words);
    let mut cases = vec![
        says("nothing", "").then(Then::Close).fails(closed(3), &cut),
        ends("a head that is cut", "HTTP/1.1 200 OK\r\nContent-Le"),
        ends("a body that is cut", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npong"),
        ends(
            "a body of 16 EiB that is cut",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\npong",
        ),
        ends("a chunk that is cut", &format!("{CHUNKED}5\r\npong")),
        ends("chunks without a last one", &format!("{CHUNKED}4\r\npong\r\n")),
        ends("trailers that are cut", &format!("{CHUNKED}4\r\npong\r\n0\r\nA: b\r\n")),
        ends("an interim answer alone", "HTTP/1.1 100 Continue\r\n\r\n"),
    ];
    cases.extend([
        says("a body that ends with the connection", "HTTP/1.1 200 OK\r\n\r\npong").then(Then::Close),
        says("a body that ends with the connection, without a notice", "HTTP/1.1 200 OK\r\n\r\npong")
            .then(Then::Cut)
            .fails_in_tls(closed(3), &cut),
        says(
            "a right answer that is the last, and no notice",
            PONG.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
        )
        .then(Then::Cut),
        // The second request is on its way when the connection ends.
        says("a right answer, and then no notice", PONG).then(Then::Cut).read(2).fails(closed(1), &cut),
        of("single bytes", &[Part::Drop(PONG.into())]),
    ]);
    cases.extend([
        breaks(
            "two lengths",
            "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\npong",
            "malformed: it has two lengths; here: \"Content-Length: 5\"",
        ),
        breaks(
            "two lengths in one line",
            "HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\npong",
            "malformed: it has two lengths; here: \"Content-Length: 4, 5\"",
        ),
        breaks(
            "a length beside chunks",
            &CHUNKED.replace("\r\n\r\n", "\r\nContent-Length: 4\r\n\r\n0\r\n\r\n"),
            "malformed: it has a Content-Length beside a Transfer-Encoding; here: \"Content-Length: 4\"",
        ),
        breaks(
            "a length of more than 64 bits",
            "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\npong",
            "malformed: its Content-Length is no number; here: \"Content-Length: 18446744073709551616\"",
        ),
        breaks(
            "a chunk of more than 64 bits",
            &format!("{CHUNKED}10000000000000000\r\npong\r\n0\r\n\r\n"),
            "malformed: a chunk is longer than 64 bits can say; here: \"10000000000000000\"",
        ),
        breaks(
            "a chunk that is longer than it says",
            &format!("{CHUNKED}3\r\npong\r\n0\r\n\r\n"),
            "malformed: its chunks are not framed as chunks are; here: \"pong\"",
        ),
        breaks(
            "another transfer coding",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "malformed: its Transfer-Encoding is another than chunked; here: \"Transfer-Encoding: gzip, chunked\"",
        ),
        breaks(
            "another protocol",
            "SSH-2.0-x\r\n",
            "malformed: it does not begin as an answer in HTTP/1 does; here: \"SSH-2.0-x\"",
        ),
        breaks(
            "a switch of protocols",
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
            "malformed: its status is none that was asked for; here: \"HTTP/1.1 101 Switching Protocols\"",
        ),
        breaks(
            "a control character in a head",
            "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 4\r\n\r\npong",
            "malformed: its head is no head of HTTP/1.1; here: \"X: a\\0b\"",
        ),
        breaks("more than the answer", &format!("{PONG}s"), "malformed: more came than the answer has: \"s\""),
        breaks(
            "two answers",
            &PONG.repeat(2),
            "malformed: more came than the answer has: \"HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\npong\"",
        ),
        breaks(
            "a body where there is none",
            "HTTP/1.1 204 No Content\r\n\r\npong",
            "malformed: more came than the answer has: \"pong\"",
        ),
        says("another status", PONG.replace("200 OK", "999 Far"))
            .fails(Errors { status: 3, ..Errors::default() }, "status 999, 4 bytes"),
        says("a reset", "").then(Then::Reset).fails(
            Errors { reset: 3, ..Errors::default() },
            &cut.replace("closed: the server closed the connection", "reset: the connection broke off"),
        ),
    ]);
    let early = format!("HTTP/1.1 103 Early Hints\r\nLink: {}\r\n\r\n", "x".repeat(2_000));
    let timeout = Errors { timeout: 1, ..Errors::default() };
    let late = format!("timeout: no whole answer N ms after the request for {scheme}://SERVER/ was sent");
    let line = |start: &str, byte: &str| format!("\"{start}{}\"…", byte.repeat(400 - start.len()));
    let long_head = |line: &str| format!("malformed: its head is longer than 64 KiB; here: {line}");
    let long_chunk =
        |line: &str| format!("malformed: more than 64 KiB are framing of one chunk; here: {line}");
    cases.extend([
        of("a flood of interim answers before the right one", &[flood(&early), once(PONG)]).requests(1),
        of("interim answers without end", &[Part::Endless(early.clone().into())])
            .never_ends()
            .fails(timeout, &late),
        of("a body without end", &[once("HTTP/1.1 200 OK\r\n\r\n"), Part::Endless(vec![b'x'; 1_024])])
            .never_ends()
            .fails(timeout, &late),
        of("chunks without end", &[once(CHUNKED), Part::Endless(b"1\r\nx\r\n".to_vec())])
            .never_ends()
            .fails(timeout, &late),
        of("silence", &[Part::Wait]).never_ends().fails(timeout, &late),
        of("a flood of a body", &[once("HTTP/1.1 200 OK\r\n\r\n"), flood([b'x'; 1_024])])
            .then(Then::Close)
            .requests(1)
            .fails(
                Errors { body: 1, ..Errors::default() },
                &format!("status 200, 4194304 bytes {:?}, not \"pong\"", "x".repeat(80)),
            ),
        of(
            "a body that is longer than can be checked",
            &[vec![once("HTTP/1.1 200 OK\r\n\r\n")], vec![flood([b'x'; 1_024]); 5]].concat(),
        )
        .then(Then::Close)
        .requests(1)
        .expecting(Expect { checks: vec![Check::contains("y").unwrap()], ..Expect::default() })
        // 16 MiB are kept, and while they are moved to twice the room a half again.
        .more_bytes(25 << 20)
        .fails(
            Errors { body: 1, ..Errors::default() },
            "status 200, 20971520 bytes, more than the 16777216 that can be checked",
        ),
        of("headers without end", &[once("HTTP/1.1 200 OK\r\n"), flood("X: y\r\n")])
            .requests(1)
            // As many headers as a head can have, each with its place.
            .more_bytes(2 << 20)
            .fails(malformed(1), &long_head("\"X: y\"")),
        of("a header without end", &[once("HTTP/1.1 200 OK\r\nX: "), flood("y")])
            .requests(1)
            .fails(malformed(1), &long_head(&line("X: ", "y"))),
        of("an interim answer without end", &[once("HTTP/1.1 103 Early Hints\r\nX: "), flood("y")])
            .requests(1)
            .fails(malformed(1), &long_head(&line("X: ", "y"))),
        of("a chunk's extension without end", &[once(format!("{CHUNKED}4;x=")), flood("y")])
            .requests(1)
            .fails(malformed(1), &long_chunk(&line("", "y"))),
        of("a chunk's size without end", &[once(CHUNKED), flood("0")])
            .requests(1)
            .fails(malformed(1), &long_chunk(&line("", "0"))),
        of("trailers without end", &[once(format!("{CHUNKED}4\r\npong\r\n0\r\nX: ")), flood("y")])
            .requests(1)
            .fails(malformed(1), &long_chunk(&line("", "y"))),
        of("answers without end", &[flood(PONG)]).requests(1).fails(
            malformed(1),
            &format!("malformed: more came than the answer has: {:?}", &PONG.repeat(2)[..80]),
        ),
    ]);
    cases
}
