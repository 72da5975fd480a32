//! The reading of requests: where each ends, and the few things in it that change the answer.
//!
//! A body is skipped and never kept. Bytes that are no request, or leave doubt where it ends, are [`Malformed`]: a
//! head that is not HTTP/1.0 or 1.1, is longer than 16 KiB, or has more than 64 headers; a `Content-Length` that is
//! not one number, or stands beside a `Transfer-Encoding`; any `Transfer-Encoding` but `chunked`, or one in HTTP/1.0;
//! malformed chunks, or more than 16 KiB of extensions on one or of trailers. So is a `delay` in the query that is
//! not one time. The framing is that of RFC 9112, section 6.3. A `Host` header is not asked for.

use std::mem::MaybeUninit;

use crate::notation::{duration, nanos};

const HEADERS_LIMIT: usize = 64;
/// The most bytes of a part that must have arrived whole to be understood: a head, a chunk's size, trailers.
const PART_LIMIT: usize = 16 * 1024;

/// The things in a request that change its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// True if the method is HEAD.
    pub head_only: bool,
    /// True for HTTP/1.0, whose clients must be told that a connection is kept.
    pub old: bool,
    /// True if the client lets the connection carry another request.
    pub keep_alive: bool,
    /// The delay that the request's query asks for, in ns; none if it asks for none.
    pub delay: Option<u64>,
}

/// The result of reading some input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Read {
    /// A request is complete.
    Request(Request),
    /// The head of a request is complete, and its client waits to be told (`100 Continue`) before it sends the body.
    Expectation,
    /// A part of a request was read. The unused rest must come again, with more behind it.
    Part,
}

/// The error of input that is not one well-formed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The reader of a connection's requests, and its place within one.
#[derive(Debug)]
pub(crate) struct Reader {
    state: ParseState,
    request: Request,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParseState {
    Head,
    /// The body, of which this many bytes are still to come.
    Length(u64),
    ChunkSize,
    /// A chunk, of which this many bytes are still to come.
    Chunk(u64),
    ChunkEnd,
    Trailers,
}

impl Reader {
    pub fn new() -> Reader {
        let request = Request { head_only: false, old: false, keep_alive: false, delay: None };
        Reader { state: ParseState::Head, request }
    }

    /// Reads on in `data`, at most up to the end of the request. Returns how many bytes were used, and the result. The
    /// error says which rule of HTTP the bytes break.
    pub fn read(&mut self, data: &[u8]) -> Result<(usize, Read), Malformed> {
        let mut used = 0;
        loop {
            let rest = &data[used..];
            let step = match self.state {
                ParseState::Head => {
                    let Some(head) = parse_head(rest)? else { return part(used, rest) };
                    self.request = head.request;
                    self.state = head.body;
                    let waits = head.expects && used + head.length == data.len();
                    if waits && self.state != ParseState::Length(0) {
                        return Ok((data.len(), Read::Expectation));
                    }
                    head.length
                }
                ParseState::Length(0) => {
                    self.state = ParseState::Head;
                    return Ok((used, Read::Request(self.request)));
                }
                _ if rest.is_empty() => return Ok((used, Read::Part)),
                ParseState::Length(left) => {
                    let here = left.min(rest.len() as u64);
                    self.state = ParseState::Length(left - here);
                    here as usize
                }
                ParseState::ChunkSize => {
                    let Some((length, next)) = parse_chunk_size(rest)? else { return part(used, rest) };
                    self.state = next;
                    length
                }
                ParseState::Chunk(left) => {
                    let here = left.min(rest.len() as u64);
                    self.state =
                        if here == left { ParseState::ChunkEnd } else { ParseState::Chunk(left - here) };
                    here as usize
                }
                ParseState::ChunkEnd => {
                    if !rest.starts_with(&b"\r\n"[..rest.len().min(2)]) {
                        return Err(Malformed);
                    }
                    if rest.len() < 2 {
                        return Ok((used, Read::Part));
                    }
                    self.state = ParseState::ChunkSize;
                    2
                }
                ParseState::Trailers => {
                    let Some(length) = parse_trailers(rest)? else { return part(used, rest) };
                    self.state = ParseState::Length(0);
                    length
                }
            };
            used += step;
        }
    }
}

/// The result for a part that begins in `rest` and is not whole yet: malformed if it is longer than `PART_LIMIT`.
fn part(used: usize, rest: &[u8]) -> Result<(usize, Read), Malformed> {
    if rest.len() > PART_LIMIT { Err(Malformed) } else { Ok((used, Read::Part)) }
}

struct Head {
    length: usize,
    request: Request,
    body: ParseState,
    expects: bool,
}

fn parse_head(data: &[u8]) -> Result<Option<Head>, Malformed> {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_LIMIT];
    let mut parsed = httparse::Request::new(&mut []);
    let length = match parsed.parse_with_uninit_headers(data, &mut headers).map_err(|_| Malformed)? {
        httparse::Status::Complete(length) if length <= PART_LIMIT => length,
        httparse::Status::Complete(_) => return Err(Malformed),
        httparse::Status::Partial => return Ok(None),
    };
    let old = parsed.version == Some(0);
    let (mut content_length, mut chunked, mut keep_alive, mut expects) = (None, false, !old, false);
    for header in parsed.headers.iter() {
        let is = |name: &str| header.name.eq_ignore_ascii_case(name);
        // A look at the length first: most headers are none of these.
        match header.name.len() {
            14 if is("content-length") => {
                let length = number(header.value).ok_or(Malformed)?;
                if content_length.replace(length).is_some_and(|before| before != length) {
                    return Err(Malformed);
                }
            }
            17 if is("transfer-encoding") => {
                if chunked || old || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                    return Err(Malformed);
                }
                chunked = true;
            }
            10 if is("connection") => {
                for word in header.value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
                    if word.eq_ignore_ascii_case(b"close") {
                        keep_alive = false;
                    } else if old && word.eq_ignore_ascii_case(b"keep-alive") {
                        keep_alive = true;
                    }
                }
            }
            6 if is("expect") => expects = !old && header.value.eq_ignore_ascii_case(b"100-continue"),
            _ => {}
        }
    }
    let body = match (chunked, content_length) {
        (true, Some(_)) => return Err(Malformed),
        (true, None) => ParseState::ChunkSize,
        (false, length) => ParseState::Length(length.unwrap_or(0)),
    };
    let delay = delay_of(parsed.path.unwrap_or_default())?;
    let request = Request { head_only: parsed.method == Some("HEAD"), old, keep_alive, delay };
    Ok(Some(Head { length, request, body, expects }))
}

/// The length of a line with a chunk's size, and the state after it; none if the line is not whole yet.
fn parse_chunk_size(data: &[u8]) -> Result<Option<(usize, ParseState)>, Malformed> {
    // The parser takes an empty line for a 0.
    if !data[0].is_ascii_hexdigit() {
        return Err(Malformed);
    }
    Ok(match httparse::parse_chunk_size(data).map_err(|_| Malformed)? {
        httparse::Status::Partial => None,
        httparse::Status::Complete((length, 0)) => Some((length, ParseState::Trailers)),
        httparse::Status::Complete((length, size)) => Some((length, ParseState::Chunk(size))),
    })
}

/// The length of all trailers; none if they are not whole yet.
fn parse_trailers(data: &[u8]) -> Result<Option<usize>, Malformed> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_LIMIT];
    Ok(match httparse::parse_headers(data, &mut headers).map_err(|_| Malformed)? {
        httparse::Status::Partial => None,
        httparse::Status::Complete((length, _)) => Some(length),
    })
}

/// A number of digits alone, without a sign; none for anything else.
fn number(value: &[u8]) -> Option<u64> {
    let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
    digits.then(|| std::str::from_utf8(value).ok()?.parse().ok()).flatten()
}

/// The time of `delay=TIME` in the query, in ns; of several, the first one. None if there is none; an error if the
/// text is no time.
fn delay_of(path: &str) -> Result<Option<u64>, Malformed> {
    let Some((_, query)) = path.split_once('?') else { return Ok(None) };
    let Some(text) = query.split('&').find_map(|part| part.strip_prefix("delay=")) else { return Ok(None) };
    duration(text).map(|delay| Some(nanos(delay))).ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: Request = Request { head_only: false, old: false, keep_alive: true, delay: None };
    const LAST: Request = Request { keep_alive: false, ..PLAIN };
    const OLD: Request = Request { old: true, keep_alive: false, ..PLAIN };

    /// All requests of the pieces, read as a connection does it; none if they are malformed.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Option<Vec<Request>> {
        let (mut reader, mut held, mut found) = (Reader::new(), Vec::new(), Vec::new());
        for piece in pieces {
            held.extend_from_slice(piece);
            loop {
                let (used, what) = reader.read(&held).ok()?;
                held.drain(..used);
                match what {
                    Read::Request(request) => found.push(request),
                    Read::Expectation => {}
                    Read::Part => break,
                }
            }
        }
        Some(found)
    }

    #[track_caller]
    fn assert_reads(text: &str, expected: Option<&[Request]>) {
        assert_eq!(read([text.as_bytes()]).as_deref(), expected, "{text:?}");
        assert_eq!(read(text.as_bytes().chunks(1)).as_deref(), expected, "{text:?}, byte by byte");
    }

    #[test]
    fn whole_requests_are_read_and_parts_are_not() {
        for (text, expected) in [
            ("", &[][..]),
            ("GET / HTTP/1.1\r\n", &[]),
            ("GET / HTTP/1.1\r\n\r\n", &[PLAIN]),
            ("\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", &[PLAIN]),
            ("HEAD / HTTP/1.1\r\n\r\n", &[Request { head_only: true, ..PLAIN }]),
            ("BREW /pot HTTP/1.1\r\n\r\n", &[PLAIN]),
            ("GET / HTTP/1.1\r\nconnection: Close\r\n\r\n", &[LAST]),
            ("GET / HTTP/1.1\r\nConnection: x, close\r\n\r\n", &[LAST]),
            ("GET / HTTP/1.1\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n", &[LAST]),
            ("GET / HTTP/1.0\r\n\r\n", &[OLD]),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", &[Request { keep_alive: true, ..OLD }]),
            ("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\nGET", &[PLAIN, OLD]),
        ] {
            assert_reads(text, Some(expected));
        }
    }

    #[test]
    fn bodies_are_skipped() {
        let next = "GET / HTTP/1.0\r\n\r\n";
        for body in [
            "Content-Length: 0\r\n\r\n",
            "Content-Length: 4\r\n\r\nping",
            "Content-Length: 4\r\nContent-Length: 4\r\n\r\nping",
            "Content-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding: Chunked\r\n\r\n4\r\nping\r\n0\r\n\r\n",
            "Transfer-Encoding: chunked\r\n\r\n00A;a=\"b\"\r\n0123456789\r\n1\r\n\n\r\n0\r\nTrailer: x\r\nMore: y\r\n\r\n",
            "Expect: 100-continue\r\nContent-Length: 4\r\n\r\nping",
        ] {
            let text = format!("POST / HTTP/1.1\r\n{body}");
            assert_reads(&format!("{text}{next}"), Some(&[PLAIN, OLD]));
            assert_reads(&text[..text.len() - 1], Some(&[]));
        }
    }

    #[test]
    fn a_malformed_request_is_refused() {
        for text in [
            "ping\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\npx",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n12345678901234567\r\n",
            "GET /?delay=soon HTTP/1.1\r\n\r\n",
            "GET /?delay=uniform:1ms..2ms HTTP/1.1\r\n\r\n",
        ] {
            assert_reads(text, None);
        }
    }

    #[test]
    fn a_delay_in_the_query_is_the_first_one() {
        for (path, delay) in [
            ("/", None),
            ("/delay=20ms", None),
            ("/?delays=20ms", None),
            ("/?delay=20ms", Some(20_000_000)),
            ("/x?a=b&delay=1.5us&delay=9s", Some(1500)),
            ("/?delay=0", Some(0)),
        ] {
            assert_reads(&format!("GET {path} HTTP/1.1\r\n\r\n"), Some(&[Request { delay, ..PLAIN }]));
        }
    }

    #[test]
    fn a_client_that_waits_for_100_continue_is_told_once() {
        let head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
        let mut reader = Reader::new();
        assert_eq!(reader.read(head), Ok((head.len(), Read::Expectation)));
        assert_eq!(reader.read(b""), Ok((0, Read::Part)));
        assert_eq!(reader.read(b"ping"), Ok((4, Read::Request(PLAIN))));
        let all = [&head[..], b"ping"].concat();
        assert_eq!(reader.read(&all), Ok((all.len(), Read::Request(PLAIN))), "it did not wait");
    }

    #[test]
    fn a_part_beyond_its_limit_is_refused() {
        let long = "x".repeat(PART_LIMIT);
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        for text in [
            format!("GET /{long}"),
            format!("GET /{long} HTTP/1.1\r\n\r\n"),
            format!("{chunked}1;{long}"),
            format!("{chunked}0\r\nTrailer: {long}"),
        ] {
            for size in [1000, text.len()] {
                assert_eq!(read(text.as_bytes().chunks(size)), None, "{:.80}", text);
            }
        }
        let headers = |count| format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(count));
        assert_reads(&headers(HEADERS_LIMIT), Some(&[PLAIN]));
        assert_eq!(read([headers(HEADERS_LIMIT + 1).as_bytes()]), None);
    }

    /// Sound requests behind each other, some with a byte changed, lost or added.
    fn near_requests() -> impl Strategy<Value = Vec<u8>> {
        let one = prop::sample::select(vec![
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /?delay=3ms HTTP/1.0\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nping",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;a=b\r\np\r\n3\r\ning\r\n0\r\nT: x\r\n\r\n",
        ]);
        let change = prop::option::of((any::<prop::sample::Index>(), 0..3, any::<u8>()));
        (prop::collection::vec(one, 1..4), change).prop_map(|(all, change)| {
            let mut text = all.concat().into_bytes();
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
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

        #[test]
        fn a_request_in_pieces_is_read_as_a_whole_one(text in near_requests(), cut in any::<prop::sample::Index>()) {
            let whole = read([&text[..]]);
            let (first, second) = text.split_at(cut.index(text.len() + 1));
            prop_assert_eq!(read([first, second]), whole.clone());
            prop_assert_eq!(read(text.chunks(1)), whole);
        }
    }
}
