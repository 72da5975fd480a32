//! The reader of answers, on the bytes of one connection.

use proptest::prelude::*;

use super::chunked::OVERHEAD_LIMIT;
use super::*;
use crate::check::{Check, JsonPart};
use crate::expect::HeaderCheck;

/// The end of reading a connection's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Complete(Answer),
    /// This number of bytes came after the answer.
    More(Answer, usize),
    ByClose(Answer),
    Cut,
    Malformed,
}

fn asked(body: Option<&[u8]>) -> Asked {
    let expect = Expect { equals: body.map(<[u8]>::to_vec), ..Expect::default() };
    Asked::new(false, false, expect, false)
}

/// Feeds pieces until the answer is complete.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, asked: &Asked) -> End {
    let mut reader = Reader::new();
    let mut complete = None;
    let mut more = 0;
    for piece in pieces {
        if complete.is_some() {
            more += piece.len();
            continue;
        }
        match reader.feed(piece, asked) {
            Ok(Some((answer, used))) => {
                complete = Some(answer);
                more = piece.len() - used;
            }
            Ok(None) => {}
            Err(Malformed(_)) => return End::Malformed,
        }
    }
    match (complete, reader.end(asked)) {
        (Some(answer), _) if more > 0 => End::More(answer, more),
        (Some(answer), _) => End::Complete(answer),
        (None, Some(answer)) => End::ByClose(answer),
        (None, None) => End::Cut,
    }
}

fn whole(text: &str, asked: &Asked) -> End {
    let result = read([text.as_bytes()], asked);
    assert_eq!(read(text.as_bytes().chunks(1), asked), result, "byte by byte: {text:?}");
    result
}

const RIGHT: Answer = Answer { status: 200, header_right: true, body_right: true, keep_alive: true };
const LAST: Answer = Answer { keep_alive: false, ..RIGHT };
const WRONG: Answer = Answer { body_right: false, ..RIGHT };

#[test]
fn an_answer_ends_where_its_framing_says() {
    use End::*;
    for (text, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong", Complete(RIGHT)),
        ("HTTP/1.1 200\r\ncontent-length:4\r\n\r\npong", Complete(RIGHT)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\npong", Complete(RIGHT)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4, 4\r\n\r\npong", Complete(RIGHT)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npink", Complete(WRONG)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\npon", Complete(WRONG)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npongs", Complete(WRONG)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", Complete(WRONG)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npong", Cut),
        ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\npong", More(WRONG, 1)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong\r\n", More(RIGHT, 2)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4, 5\r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: +4\r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\npong", Cut),
        // Until close.
        ("HTTP/1.1 200 OK\r\n\r\npong", ByClose(LAST)),
        ("HTTP/1.0 200 OK\r\n\r\npong", ByClose(LAST)),
        ("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\npong", ByClose(LAST)),
        ("HTTP/1.1 200 OK\r\n\r\npongs", ByClose(Answer { body_right: false, ..LAST })),
        ("HTTP/1.1 200 OK\r\n\r\n", ByClose(Answer { body_right: false, ..LAST })),
        // Keeping the connection.
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\npong", Complete(LAST)),
        ("HTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\nContent-Length: 4\r\n\r\npong", Complete(LAST)),
        ("HTTP/1.0 200 OK\r\nContent-Length: 4\r\n\r\npong", Complete(LAST)),
        ("HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 4\r\n\r\npong", Complete(RIGHT)),
        // Chunks.
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n\r\n", Complete(RIGHT)),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n1;a=b;c=\"d\"\r\np\r\n003 \r\nong\r\n00;x\r\nA: b\r\nC: d\r\n\r\n",
            Complete(RIGHT),
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\npongs\r\n0\r\n\r\n", Complete(WRONG)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n", Cut),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n", Cut),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n\r\nx", More(RIGHT, 1)),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npongs\r\n0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\npong\r\n0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\n0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\rpong\r\n0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-4\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x4\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx", Cut),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n: b\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: \0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4 x\r\npong\r\n0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\npong", Malformed),
        ("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", Malformed),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n4\r\npong\r\n0\r\n\r\n",
            Malformed,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            Malformed,
        ),
        // Interim answers.
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong",
            Complete(RIGHT),
        ),
        ("HTTP/1.1 100 Continue\r\n\r\n", Cut),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", Malformed),
        // Heads.
        ("", Cut),
        ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n", Cut),
        ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong", Malformed),
        ("HTTP/2.0 200 OK\r\nContent-Length: 4\r\n\r\npong", Malformed),
        ("HTTP/1.1 099 OK\r\nContent-Length: 4\r\n\r\npong", Malformed),
        ("HTTP/1.1 20 OK\r\nContent-Length: 4\r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nContent Length: 4\r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\npong", Malformed),
        ("SSH-2.0-x\r\n", Malformed),
        // Where no doubt would be needed: RFC 9110, section 2.5, would have it read.
        ("HTTP/1.2 200 OK\r\nContent-Length: 4\r\n\r\npong", Malformed),
        ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 4\r\n\r\npong", Complete(RIGHT)),
    ] {
        assert_eq!(whole(text, &asked(Some(b"pong"))), expected, "{text:?}");
    }
}

#[test]
fn an_answer_without_a_body_ends_with_its_head() {
    let nothing = asked(Some(b""));
    for status in [204, 304] {
        let answer = Answer { status, ..RIGHT };
        let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 4\r\n\r\n");
        assert_eq!(whole(&head, &nothing), End::Complete(answer));
        assert_eq!(whole(&format!("{head}pong"), &nothing), End::More(answer, 4));
        assert_eq!(whole(&format!("HTTP/1.1 {status} x\r\n\r\n"), &nothing), End::Complete(answer));
    }
    let head = Asked { head_only: true, ..asked(Some(b"")) };
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
    ] {
        assert_eq!(whole(text, &head), End::Complete(RIGHT), "{text:?}");
    }
}

#[test]
fn a_request_that_asked_to_close_makes_its_answer_the_last() {
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";
    assert_eq!(whole(text, &asked(None)), End::Complete(RIGHT));
    let close = Asked { close: true, ..asked(None) };
    assert_eq!(whole(text, &close), End::Complete(LAST));
}

#[test]
fn heads_are_bounded() {
    let head = |padding: usize| format!("HTTP/1.1 204 x\r\nA: {}\r\n\r\n", "b".repeat(padding));
    let fits = HEAD_LIMIT - head(0).len();
    for (padding, fine) in [(fits, true), (fits + 1, false)] {
        let text = head(padding);
        for size in [text.len(), 1000] {
            let result = read(text.as_bytes().chunks(size), &asked(None));
            assert_eq!(result == End::Complete(Answer { status: 204, ..RIGHT }), fine);
            assert_eq!(result == End::Malformed, !fine);
        }
    }
    let endless = vec![b'b'; HEAD_LIMIT];
    let pieces = [&b"HTTP/1.1 200 OK\r\nA: "[..], &endless];
    assert_eq!(read(pieces, &asked(None)), End::Malformed);
    let headers = |count: usize| format!("HTTP/1.1 204 x\r\n{}\r\n", "A: b\r\n".repeat(count));
    let limit = HEAD_LIMIT / 6;
    for count in [128, 129, 150, 5000, limit - 4, limit] {
        let result = read([headers(count).as_bytes()], &asked(None));
        assert_eq!(result == End::Malformed, count == limit, "{count}");
    }
}

#[test]
fn chunk_extensions_and_trailers_are_bounded() {
    let long = "x".repeat(OVERHEAD_LIMIT);
    for tail in [format!("1;{long}\r\np\r\n"), format!("0\r\nA: {long}"), "0".repeat(long.len() + 1)] {
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{tail}");
        assert_eq!(read(text.as_bytes().chunks(1000), &asked(None)), End::Malformed);
    }
}

#[test]
fn a_reader_is_used_again() {
    let asked = asked(Some(b"pong"));
    let mut reader = Reader::new();
    for (body, right) in [("pong", true), ("pink", false), ("pong", true)] {
        let text = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{body}\r\n0\r\n\r\n");
        let (first, second) = text.as_bytes().split_at(10);
        assert_eq!(reader.feed(first, &asked), Ok(None));
        assert_eq!(
            reader.feed(second, &asked),
            Ok(Some((Answer { body_right: right, ..RIGHT }, second.len())))
        );
        reader.reset();
    }
}

/// Feeds the bytes in pieces of `size` and returns the answers with their lengths, one after the other.
fn read_all(mut bytes: &[u8], size: usize, asked: &Asked) -> Vec<(Answer, usize)> {
    let mut reader = Reader::new();
    let mut answers = Vec::new();
    let mut used_before = 0;
    while !bytes.is_empty() {
        let piece = &bytes[..size.min(bytes.len())];
        let used = match reader.feed(piece, asked).unwrap() {
            Some((answer, used)) => {
                answers.push((answer, used_before + used));
                used_before = 0;
                reader.reset();
                used
            }
            None => {
                used_before += piece.len();
                piece.len()
            }
        };
        bytes = &bytes[used..];
    }
    answers
}

#[test]
fn answers_may_follow_each_other() {
    let plain = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\nA: b\r\n\r\n";
    let wrong = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npongs";
    let texts = [plain, chunked, chunked, wrong, plain, "HTTP/1.1 204 x\r\n\r\n", plain];
    let asked = asked(Some(b"pong"));
    let answers = texts.map(|text| {
        let status = if text.contains("204") { 204 } else { 200 };
        (Answer { status, body_right: text != wrong && status == 200, ..RIGHT }, text.len())
    });
    let bytes = texts.concat();
    for size in 1..=bytes.len() {
        assert_eq!(read_all(bytes.as_bytes(), size, &asked), answers, "in pieces of {size}");
    }
}

#[test]
fn a_check_of_the_whole_body_sees_all_of_it() {
    let answer = |body: &str, size: usize, checks: &[Check]| {
        let expect = Expect { checks: checks.to_vec(), ..Expect::default() };
        let asked = Asked::new(false, false, expect, false);
        let (first, second) = body.split_at(body.len() / 2);
        let text = format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            first.len(),
            second.len()
        );
        let mut reader = Reader::new();
        let mut right = None;
        for piece in text.as_bytes().chunks(size) {
            right = reader.feed(piece, &asked).unwrap().map(|(answer, _)| answer.body_right);
        }
        (right, reader.describe(&asked))
    };
    for (check, wanted, other, words) in [
        (Check::contains("on").unwrap(), "pong", "pink", "status 200, 4 bytes \"pink\" without \"on\""),
        (
            Check::matches("^p.*g$").unwrap(),
            "pong",
            "pink",
            "status 200, 4 bytes \"pink\" that \"^p.*g$\" does not match",
        ),
        (
            Check::json(vec![JsonPart::parse("/1=2").unwrap()]),
            "[1,2]",
            "[1,3]",
            "status 200, 5 bytes \"[1,3]\" where /1 is 3, not 2",
        ),
    ] {
        for size in [1, 7, 1000] {
            assert_eq!(
                answer(wanted, size, std::slice::from_ref(&check)),
                (Some(true), format!("status 200, {} bytes", wanted.len()))
            );
            assert_eq!(answer(other, size, std::slice::from_ref(&check)), (Some(false), words.to_owned()));
        }
    }
    let large = "x".repeat(BODY_LIMIT + 2);
    let check = [Check::contains("x").unwrap()];
    assert_eq!(answer(&large[2..], 100_000, &check).0, Some(true));
    let (right, words) = answer(&large[1..], 100_000, &check);
    assert_eq!(right, Some(false));
    assert_eq!(words, "status 200, 16777217 bytes, more than the 16777216 that can be checked");
    assert_eq!(answer(&large, 100_000, &[]).0, Some(true), "what needs no body may be any length");
}

#[test]
fn a_wrong_body_is_described() {
    let expected = format!("{}pong", "x".repeat(100));
    for (body, size, words) in [
        ("nope", 1000, &*format!("status 200, 4 bytes \"nope\", not \"{}…\"", "x".repeat(80))),
        ("", 1000, "status 200, 0 bytes of 104"),
        (&expected[..9], 1000, "status 200, 9 bytes of 104"),
        (
            &format!("{}pint", "x".repeat(100)),
            1000,
            "status 200, 104 bytes, from byte 101: \"int\", not \"ong\"",
        ),
        (&format!("{expected}s"), 1000, "status 200, 105 bytes, from byte 104: \"s\" after its end"),
        (&format!("{expected}sss"), 1, "status 200, 107 bytes, from byte 104: \"sss\" after its end"),
    ] {
        let asked = asked(Some(expected.as_bytes()));
        let text = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        let mut reader = Reader::new();
        for piece in text.as_bytes().chunks(size) {
            reader.feed(piece, &asked).unwrap();
        }
        assert_eq!(reader.describe(&asked), words);
    }
}

#[test]
fn the_first_check_that_fails_is_described_and_all_must_hold() {
    let right = "pong".repeat(25);
    let expect = || Expect {
        status: Some(200),
        headers: vec![HeaderCheck::equals("x-a", "1").unwrap()],
        equals: Some(right.clone().into_bytes()),
        length: Some(100),
        sha256: Sha256Digest(Sha256::digest(&right).into()).into(),
        checks: vec![Check::contains("gp").unwrap(), Check::matches("g$").unwrap()],
    };
    let other = format!("{}pink", "pong".repeat(24));
    let digest = "d5ca8276fbd2fbe4bd0ccb8f8f3f9fd49d4bc1a6aab7c1f0b9bfa3b1f4d63d35";
    let short = Expect { equals: None, ..expect() };
    for (expect, status, headers, body, words) in [
        (expect(), 200, "X-A: 1\r\n", &right, "200, 100 bytes"),
        (expect(), 200, "X-A: 2\r\nX-A:1\r\n", &right, "200, 100 bytes"),
        (expect(), 200, "", &other, "200, 100 bytes, without the header x-a"),
        (expect(), 200, "X-A: 2\r\n", &right, "200, 100 bytes, with the header x-a: \"2\", not \"1\""),
        (expect(), 500, "", &right, "500, 100 bytes"),
        (expect(), 200, "X-A: 1\r\n", &other, "200, 100 bytes, from byte 97: \"ink\", not \"ong\""),
        (short.clone(), 200, "X-A: 1\r\n", &other[..99].to_owned(), "200, 99 bytes, not 100"),
        (
            Expect { length: None, sha256: digest.parse().ok(), ..short.clone() },
            200,
            "X-A: 1\r\n",
            &right,
            &format!(
                "200, 100 bytes whose SHA-256 digest is {}, not {digest}",
                Sha256Digest(Sha256::digest(&right).into())
            ),
        ),
        (
            Expect { sha256: None, ..short.clone() },
            200,
            "X-A: 1\r\n",
            &other.replace("gp", "gq"),
            &format!("200, 100 bytes {:?} without \"gp\"", &other.replace("gp", "gq")[..80]),
        ),
    ] {
        let is_right = status == 200 && words == "200, 100 bytes";
        let asked = Asked::new(false, false, expect, false);
        let text = format!("HTTP/1.1 {status} OK\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len());
        let mut reader = Reader::new();
        // Nothing of one answer is left for the next.
        for size in [1, 7, 1000, 7] {
            let mut answer = None;
            for piece in text.as_bytes().chunks(size) {
                answer = reader.feed(piece, &asked).unwrap();
            }
            let (answer, _) = answer.unwrap();
            assert_eq!(reader.describe(&asked), format!("status {words}"));
            assert_eq!(
                answer.header_right && answer.body_right && asked.expect.allows_status(status),
                is_right,
                "{words}"
            );
            reader.reset();
        }
    }
}

#[test]
fn a_digest_holds_no_body() {
    let body = "x".repeat(BODY_LIMIT + 2);
    let sha256 = Some(Sha256Digest(Sha256::digest(&body).into()));
    let expect = Expect { sha256, length: Some(body.len() as u64), ..Expect::default() };
    let asked = Asked::new(false, false, expect, false);
    let mut reader = Reader::new();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
    assert_eq!(reader.feed(head.as_bytes(), &asked), Ok(None));
    let mut answer = None;
    for piece in body.as_bytes().chunks(1 << 16) {
        answer = reader.feed(piece, &asked).unwrap();
        assert_eq!(reader.memory(), 0);
    }
    assert!(answer.unwrap().0.body_right);
}

#[test]
fn cookies_are_given_when_wanted() {
    let text = b"HTTP/1.1 103 x\r\nSet-Cookie: no=1\r\n\r\nHTTP/1.1 204 x\r\nset-cookie: a=b; Path=/\r\nSet-Cookie:\r\nX: y\r\nSET-COOKIE: c=d\r\n\r\n";
    for size in [1, 10, 1000] {
        for (wanted, values) in [(true, &[&b"a=b; Path=/"[..], b"c=d"][..]), (false, &[])] {
            let asked = Asked::new(false, false, Expect::default(), wanted);
            let mut reader = Reader::new();
            for _ in 0..2 {
                for piece in text.chunks(size) {
                    reader.feed(piece, &asked).unwrap();
                }
                assert_eq!(reader.cookies().collect::<Vec<_>>(), values);
                reader.reset();
            }
        }
    }
}

/// Texts near an answer: sound ones, put together from parts, some with a byte changed, lost or added.
fn near_answers() -> impl Strategy<Value = Vec<u8>> {
    let head = prop::sample::select(vec![
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.0 200 OK\r\n",
        "HTTP/1.1 503 No\r\n",
        "HTTP/1.1 204 x\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
    ]);
    let headers = prop::collection::vec(
        prop::sample::select(vec![
            "Content-Length: 4\r\n",
            "Content-Length: 9\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Connection: close\r\n",
            "Server: x\r\n",
            "X:\t y z \r\n",
        ]),
        0..3,
    );
    let body = prop::sample::select(vec![
        "pong",
        "",
        "4\r\npong\r\n0\r\n\r\n",
        "1;a=b\r\np\r\n3\r\nong\r\n0\r\nT: x\r\n\r\n",
    ]);
    let change = prop::option::of((any::<prop::sample::Index>(), 0..3, any::<u8>()));
    (head, headers, body, change).prop_map(|(head, headers, body, change)| {
        let mut text = format!("{head}{}\r\n{body}", headers.concat()).into_bytes();
        if let Some((index, how, byte)) = change {
            let index = index.index(text.len());
            match how {
                0 => text[index] = byte,
                1 => drop(text.remove(index)),
                _ => text.insert(index, byte),
            }
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn an_answer_in_pieces_is_read_as_if_whole(
        text in near_answers(),
        mut cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let asked = asked(Some(b"pong"));
        cuts.sort_by_key(|cut| cut.index(text.len() + 1));
        let mut pieces = Vec::new();
        let mut from = 0;
        for cut in cuts {
            let to = cut.index(text.len() + 1);
            pieces.push(&text[from..to]);
            from = to;
        }
        pieces.push(&text[from..]);
        let result = read([&text[..]], &asked);
        prop_assert_eq!(read(pieces, &asked), result);
        prop_assert_eq!(read(text.chunks(1), &asked), result);
    }

    #[test]
    fn any_bytes_are_safe(text in prop::collection::vec(any::<u8>(), 0..300)) {
        let asked = asked(None);
        prop_assert_eq!(read([&text[..]], &asked), read(text.chunks(1), &asked));
        let chunked = [&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..], &text].concat();
        prop_assert_eq!(read([&chunked[..]], &asked), read(chunked.chunks(1), &asked));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    /// A reader that has read another head before reads each text as one that has not.
    #[test]
    fn a_known_head_says_what_it_said(
        texts in prop::collection::vec((near_answers(), 0..3_usize), 1..6),
    ) {
        let used = asked(Some(b"pong"));
        for (text, extra) in texts.iter().chain(&texts) {
            let longer = [&text[..], &text[..text.len().min(*extra * 20)]].concat();
            for text in [text, &longer] {
                let fresh = read([&text[..]], &asked(Some(b"pong")));
                prop_assert_eq!(read([&text[..]], &used), fresh);
                prop_assert_eq!(read(text.chunks(30), &used), fresh);
            }
        }
    }
}

/// Headers that curl reads too, those that it does not, and those that it reads but that leave in doubt where the
/// answer ends.
#[test]
fn a_header_that_is_none_is_passed_over_unless_it_could_be_one_of_framing() {
    for (line, passes) in [
        ("Bad Name: v", true),
        ("X : v", true),
        (": v", true),
        ("B(d: v", true),
        ("S\u{fc}: v", true),
        ("X: a\u{1}b", true),
        ("X: a\r\n  b", true),
        ("X: a\r\n\tb\r\n c", true),
        ("No colon", false),
        ("X: a\0b", false),
        ("X: a\rb", false),
        ("Content-Length : 4", false),
        ("Content Length: 4", false),
        ("Content-Length\u{1}: 4", false),
        ("Transfer Encoding: chunked", false),
        ("Transfer-Encoding: chun\u{1}ked", false),
        ("Connection : close", false),
        ("Content-Length:\r\n 4", false),
    ] {
        for head in
            [format!("Content-Length: 4\r\nA: b\r\n{line}"), format!("A: b\r\n{line}\r\nContent-Length: 4")]
        {
            let text = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\npong");
            let asked = asked(None);
            let all = read([text.as_bytes()], &asked);
            assert_eq!(all != End::Malformed, passes, "{text:?} {all:?}");
            assert_eq!(read(text.as_bytes().chunks(1), &asked), all, "{text:?}");
        }
    }
    for first in
        ["X: a\r\nContent-Length: 4\r\n 5", "A: b\r\nContent-Length: 4\r\n 5", " X: a\r\nContent-Length: 4"]
    {
        let text = format!("HTTP/1.1 200 OK\r\n{first}\r\n\r\npong");
        assert_eq!(whole(&text, &asked(None)), End::Malformed, "{text:?}");
    }
}

#[test]
fn the_line_that_breaks_the_rules_is_shown() {
    let long = format!("X-L: {}\r\n", "0".repeat(300));
    for (text, line) in [
        (
            format!("HTTP/1.1 200 OK\r\n{long}No colon\u{1b}[31m\r\nA: b\r\n\r\n"),
            r#""No colon\u{1b}[31m""#.to_owned(),
        ),
        (format!("HTTP/1.1 200 OK\r\n{long}Content-Length: x\r\n\r\n"), "\"Content-Length: x\"".to_owned()),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA: b\r\nContent-Length: 2\r\n\r\n".to_owned(),
            "\"Content-Length: 2\"".to_owned(),
        ),
        ("HTTP/1.1 100 Continue\r\n\r\nFTP/1 200\r\n\r\n".to_owned(), "\"FTP/1 200\"".to_owned()),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\nzz;x\r\n0\r\n\r\n".to_owned(),
            "\"zz;x\"".to_owned(),
        ),
        (format!("{}\r\n\r\n", "x".repeat(500)), format!("\"{}\"…", "x".repeat(400))),
    ] {
        let mut reader = Reader::new();
        assert!(reader.feed(text.as_bytes(), &asked(None)).is_err(), "{text}");
        assert_eq!(reader.offending_line(text.as_bytes()), line);
        // In pieces, a head is held until it is whole.
        let mut reader = Reader::new();
        if text.contains("colon") {
            let (a, b) = text.as_bytes().split_at(30);
            assert_eq!(reader.feed(a, &asked(None)), Ok(None));
            assert!(reader.feed(b, &asked(None)).is_err());
            assert_eq!(reader.offending_line(b), line);
        }
    }
}

/// All connections of a thread have one room for bodies that are to be whole.
#[test]
fn bodies_that_are_held_share_a_room() {
    let asked = Asked {
        held: HeldRoom::new(300_000),
        ..Asked::new(
            false,
            false,
            Expect { checks: vec![Check::Contains(b"y".to_vec())], ..Expect::default() },
            false,
        )
    };
    let text = format!("HTTP/1.1 200 OK\r\nContent-Length: 200001\r\n\r\n{}y", "x".repeat(200_000));
    let (mut first, mut second) = (Reader::new(), Reader::new());
    let half = text.len() - 1000;
    assert_eq!(first.feed(&text.as_bytes()[..half], &asked), Ok(None));
    let (answer, _) = second.feed(text.as_bytes(), &asked).unwrap().unwrap();
    let words = second.describe(&asked);
    assert!(!answer.body_right && words.contains("all connections together may keep 512 MiB"), "{words}");
    assert!(first.feed(&text.as_bytes()[half..], &asked).unwrap().unwrap().0.body_right);
    first.reset();
    for reader in [&mut first, &mut second] {
        reader.reset();
        assert!(reader.feed(text.as_bytes(), &asked).unwrap().unwrap().0.body_right);
        reader.reset();
    }
    let (mut first, mut second) = (Reader::new(), Reader::new());
    assert_eq!(first.feed(&text.as_bytes()[..half], &asked), Ok(None));
    drop(first);
    assert!(second.feed(text.as_bytes(), &asked).unwrap().unwrap().0.body_right);
}
