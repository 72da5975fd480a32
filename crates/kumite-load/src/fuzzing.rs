//! A property of the reader of answers that holds whatever bytes come; the fuzz target in `fuzz/` calls it.

use crate::check::{Check, JsonPart};
use crate::expect::{Expect, HeaderCheck};
use crate::protocol::response::{Answer, Asked, Malformed, Reader};
use crate::request::cookies::Jar;

/// Reads `input` as a connection's bytes: whole, byte by byte, and in pieces of changing size. Panics if the results
/// differ, if more bytes are used than given, or if much more memory is held than bytes came.
///
/// The first byte of `input` says what was asked, the second the sizes of the pieces; the rest is what the server
/// sent.
pub fn response(input: &[u8]) {
    let [what, sizes, bytes @ ..] = input else { return };
    let asked = asked(*what);
    let whole = read(bytes, &mut |_| usize::MAX, &asked);
    assert_eq!(read(bytes, &mut |_| usize::MAX, &asked), whole, "with a known head");
    assert_eq!(read(bytes, &mut |_| 1, &asked), whole, "byte by byte");
    let mut size = usize::from(*sizes);
    let mut next = |place: usize| {
        size = size.wrapping_mul(31).wrapping_add(place + 7) % 61;
        size + 1
    };
    assert_eq!(read(bytes, &mut next, &asked), whole, "in pieces");
}

fn asked(what: u8) -> Asked {
    let check = |check: Result<Check, _>| Expect { checks: check.into_iter().collect(), ..Expect::default() };
    let equals = |body: &[u8]| Expect { equals: Some(body.to_vec()), ..Expect::default() };
    let expect = match what >> 3 & 7 {
        0 => Expect::default(),
        1 => Expect {
            headers: HeaderCheck::equals("x", "y").into_iter().collect(),
            sha256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08".parse().ok(),
            ..Expect::default()
        },
        2 => equals(b"pong"),
        3 => equals(&[b'x'; 200]),
        4 => check(Check::contains("on")),
        5 => Expect { length: Some(4), ..check(Check::matches("^p.*g$")) },
        6 => Expect { equals: Some(b"pong".to_vec()), ..check(Check::contains("on")) },
        _ => check(JsonPart::parse("/a=3").map(|part| Check::json(vec![part]))),
    };
    Asked::new(what & 1 != 0, what & 2 != 0, expect, what & 4 != 0)
}

/// The result of reading a connection's bytes: the answers with their lengths, what followed them, and the cookies.
#[derive(Debug, PartialEq)]
struct Read {
    answers: Vec<(Answer, usize)>,
    last: Result<Option<Answer>, Malformed>,
    jar: Jar,
}

fn read(mut bytes: &[u8], size: &mut dyn FnMut(usize) -> usize, asked: &Asked) -> Read {
    let mut reader = Reader::new();
    let mut jar = Jar::default();
    let mut answers = Vec::new();
    let (mut length, mut all) = (0, 0);
    let last = loop {
        if bytes.is_empty() {
            break Ok(reader.end(asked));
        }
        let piece = &bytes[..size(bytes.len()).min(bytes.len())];
        let (answer, used) = match reader.feed(piece, asked) {
            Err(malformed) => break Err(malformed),
            Ok(None) => (None, piece.len()),
            Ok(Some((answer, used))) => (Some(answer), used),
        };
        assert!(used <= piece.len());
        bytes = &bytes[used..];
        length += used;
        all += used;
        // A vector at most doubles, from 8 bytes on.
        assert!(reader.memory() <= 4 * (all + 8));
        if let Some(answer) = answer {
            answers.push((answer, length));
            reader.cookies().for_each(|value| jar.set(value));
            assert!(!reader.describe(asked).is_empty());
            reader.reset();
            length = 0;
        }
    };
    Read { answers, last, jar }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_seeds_hold() {
        let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/response");
        let mut count = 0;
        for seed in std::fs::read_dir(seeds).unwrap() {
            let bytes = std::fs::read(seed.unwrap().path()).unwrap();
            for what in 0..64 {
                super::response(&[&[what], &bytes[1..]].concat());
            }
            count += 1;
        }
        assert!(count > 10);
    }
}
