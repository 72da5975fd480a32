//! The head of an answer, as far as it says where the answer ends.

use std::cell::RefCell;
use std::mem::MaybeUninit;

use super::chunked::Chunked;
use super::{Malformed, ParseState};
use crate::field::{is_text, is_token};

pub(crate) const HEAD_LIMIT: usize = 64 * 1024;
/// The number of headers that there is always room for; for more, memory is allocated.
const HEADERS_USUAL: usize = 128;
/// The length in bytes from which a head is unusually long.
pub(super) const LONG: usize = 4096;
/// The length in bytes of the shortest header.
const SHORTEST_HEADER: usize = "A:\n".len();

/// The facts of a head that decide where the answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    /// The head's length in bytes, its empty line included.
    pub length: usize,
    pub status: u16,
    pub framing: ParseState,
    pub keep_alive: bool,
}

const IS_TLS: Malformed = Malformed("the server speaks TLS: ask for https://");
const IS_HTTP2: Malformed =
    Malformed("the server speaks HTTP/2: ask with --http2 (in an experiment: protocol = \"h2c\")");
const NO_HTTP: Malformed = Malformed("it does not begin as an answer in HTTP/1 does");
const TOO_LONG: Malformed = Malformed("its head is longer than 64 KiB");
const NO_LENGTH: Malformed = Malformed("its Content-Length is no number");

/// The last head that was parsed. A server repeats its head byte for byte until the second in its `Date` changes, and
/// comparing is ten times cheaper than parsing. A head is parsed from the left and ends at its empty line, so equal
/// bytes always mean the same.
#[derive(Debug, Default)]
pub(crate) struct LastHead(RefCell<Option<(Vec<u8>, Head)>>);

impl LastHead {
    /// Parses a head at the front of `data`, or knows it from before; `None` if it is not complete.
    pub(super) fn parse(&self, data: &[u8]) -> Result<Option<Head>, Malformed> {
        let mut last = self.0.borrow_mut();
        if let Some((bytes, head)) = &*last
            && data.starts_with(bytes)
        {
            return Ok(Some(*head));
        }
        let head = parse(data, None)?;
        if let Some(head) = head {
            let (bytes, known) = last.get_or_insert_with(|| (Vec::new(), head));
            bytes.clear();
            bytes.extend_from_slice(&data[..head.length]);
            *known = head;
        }
        Ok(head)
    }
}

/// Parses a head at the front of `data`; `None` if it is not complete. The values of `Set-Cookie` are added to
/// `cookies`, each followed by a line feed, unless the head is an interim one.
pub(super) fn parse(data: &[u8], cookies: Option<&mut Vec<u8>>) -> Result<Option<Head>, Malformed> {
    let all = data.len();
    // Where a long head comes in many pieces, it is looked at again only with a new line.
    let data =
        if all > LONG { &data[..memchr::memrchr(b'\n', data).map_or(LONG, |at| at + 1)] } else { data };
    // httparse skips empty lines here; after the last answer they would be bytes nobody asked for.
    if !data.starts_with(b"H") {
        return Err(match data {
            // An alert of TLS, which a server that speaks it sends in answer to anything else.
            [21, 3, ..] => IS_TLS,
            // A frame of SETTINGS, which is of stream 0.
            [_, _, _, 4, _, 0, 0, 0, 0, ..] => IS_HTTP2,
            _ => NO_HTTP,
        });
    }
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_USUAL];
    let mut many = Vec::new();
    let mut parsed = httparse::Response::new(&mut []);
    let strict = httparse::ParserConfig::default();
    let mut status = strict.parse_response_with_uninit_headers(&mut parsed, data, &mut headers);
    if let Err(error) = status
        && may_pass(error, data)
    {
        many.reserve(HEAD_LIMIT / SHORTEST_HEADER);
        let mut lenient = httparse::ParserConfig::default();
        lenient.ignore_invalid_headers_in_responses(true);
        parsed = httparse::Response::new(&mut []);
        let room = many.spare_capacity_mut();
        status = lenient.parse_response_with_uninit_headers(&mut parsed, data, room);
    }
    let status = status.map_err(|error| match error {
        httparse::Error::TooManyHeaders => TOO_LONG,
        httparse::Error::Status | httparse::Error::Version => NO_HTTP,
        _ => Malformed("its head is no head of HTTP/1.1"),
    })?;
    let httparse::Status::Complete(length) = status else {
        return if all > HEAD_LIMIT { Err(TOO_LONG) } else { Ok(None) };
    };
    let (Some(status), Some(version)) = (parsed.code, parsed.version) else { return Err(NO_HTTP) };
    if length > HEAD_LIMIT {
        return Err(TOO_LONG);
    }
    if status < 100 || status == 101 {
        return Err(Malformed("its status is none that was asked for"));
    }

    let mut content_length = None;
    let mut chunked = false;
    let mut close = false;
    let mut keep_alive = false;
    for header in parsed.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            for value in header.value.split(|&b| b == b',') {
                let value = parse_length(value.trim_ascii())?;
                if content_length.replace(value).is_some_and(|earlier| earlier != value) {
                    return Err(Malformed("it has two lengths"));
                }
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || version == 0 || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed("its Transfer-Encoding is another than chunked"));
            }
            chunked = true;
        } else if header.name.eq_ignore_ascii_case("connection") {
            for token in header.value.split(|&b| b == b',').map(<[u8]>::trim_ascii) {
                close |= token.eq_ignore_ascii_case(b"close");
                keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
            }
        }
    }
    let framing = match (content_length, chunked) {
        (Some(_), true) => return Err(Malformed("it has a Content-Length beside a Transfer-Encoding")),
        (Some(length), false) => ParseState::Length(length),
        (None, true) => ParseState::Chunked(Chunked::START),
        (None, false) => ParseState::UntilClose,
    };
    if let Some(cookies) = cookies
        && status >= 200
    {
        for header in parsed.headers.iter().filter(|header| header.name.eq_ignore_ascii_case("set-cookie")) {
            cookies.extend_from_slice(header.value);
            cookies.push(b'\n');
        }
    }
    Ok(Some(Head { length, status, framing, keep_alive: !close && (version == 1 || keep_alive) }))
}

/// `true` if a head that was refused with this error still leaves no doubt about where the answer ends, because it
/// only has many headers, or its faulty lines do not matter. It is then read without faulty lines, as curl does:
/// names with blanks or other characters that they must not have, values with control characters, and lines that
/// continue on the next one.
fn may_pass(error: httparse::Error, data: &[u8]) -> bool {
    use httparse::Error::{HeaderName, HeaderValue, NewLine, TooManyHeaders};
    if error == TooManyHeaders {
        return true;
    }
    // A longer one is refused anyhow.
    let data = &data[..data.len().min(HEAD_LIMIT)];
    let mut decides = true;
    matches!(error, HeaderName | HeaderValue | NewLine)
        && lines(data).skip(1).all(|line| {
            if line.starts_with(b" ") || line.starts_with(b"\t") {
                return !decides;
            }
            let Some(colon) = memchr::memchr(b':', line) else { return false };
            let (name, value) = (&line[..colon], &line[colon + 1..]);
            let is_right =
                !name.is_empty() && name.iter().all(|&b| is_token(b)) && value.iter().all(|&b| is_text(b));
            decides = is_of_framing(name);
            (is_right || !decides) && !line.contains(&0) && !line.contains(&b'\r')
        })
}

/// The whole lines of a head, without their ends.
fn lines(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = memchr::memrchr(b'\n', data).map_or(0, |end| end + 1);
    data[..whole]
        .split_inclusive(|&b| b == b'\n')
        .map(|line| &line[..line.len() - 1])
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .take_while(|line| !line.is_empty())
}

/// The names and values of the headers in the lines of a head. Malformed ones are passed over, as [`parse`] does.
pub(super) fn fields(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines(head).filter_map(|line| {
        let colon = memchr::memchr(b':', line)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        (name.iter().all(|&b| is_token(b)) && value.iter().all(|&b| is_text(b))).then_some((name, value))
    })
}

/// `true` if this name decides where the answer or the connection ends, or could be taken for one that does.
fn is_of_framing(name: &[u8]) -> bool {
    let letters: Vec<u8> =
        name.iter().filter(|b| b.is_ascii_alphabetic()).map(u8::to_ascii_lowercase).collect();
    matches!(&letters[..], b"contentlength" | b"transferencoding" | b"connection")
}

/// The line from which on a malformed head is malformed.
pub(super) fn offending_line(data: &[u8]) -> &[u8] {
    let data = &data[..data.len().min(HEAD_LIMIT)];
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', data).map(|at| at + 1).collect();
    let is_wrong = |end: usize| parse(&[&data[..end], b"\r\n"].concat(), None).is_err();
    let nth = ends.partition_point(|&end| !is_wrong(end));
    let start = if nth == 0 { 0 } else { ends[nth - 1] };
    data[start..ends.get(nth).copied().unwrap_or(data.len())].trim_ascii_end()
}

fn parse_length(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() {
        return Err(NO_LENGTH);
    }
    digits.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0')).ok_or(NO_LENGTH)?;
        value.checked_mul(10).and_then(|value| value.checked_add(digit)).ok_or(NO_LENGTH)
    })
}
