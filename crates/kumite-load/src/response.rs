//! Reading an answer: where it ends, and whether it is the right one.
//!
//! The parser is fed whatever pieces the socket gives. It keeps no body: each piece is compared with the expected body
//! as it passes. Only a head that arrives in pieces is copied. An answer that leaves any doubt about where it ends is
//! [`Malformed`], for what follows it on the connection cannot be trusted:
//!
//! - a head that is not HTTP/1, is longer than 64 KiB, or has more than 128 headers;
//! - `Content-Length` that is not a number, or several that differ, or one beside `Transfer-Encoding`;
//! - any `Transfer-Encoding` but the single word `chunked`, or one in an HTTP/1.0 answer;
//! - chunks whose lines do not end in CR LF, whose size is not hexadecimal or exceeds 64 bits, or with more than 64 KiB
//!   of extensions on one chunk, or of trailers;
//! - `101 Switching Protocols`, which nobody asked for;
//! - bytes after the end of the answer. (Those that arrive after the next request was sent are read as its answer.)
//!
//! The framing is that of RFC 9112, section 6.3.

use std::mem::MaybeUninit;

use crate::recorder::Failure;

const HEAD_LIMIT: usize = 64 * 1024;
const HEADERS_LIMIT: usize = 128;
const CHUNK_OVERHEAD_LIMIT: usize = 64 * 1024;
const EXCERPT: usize = 80;

/// What was asked, as far as it decides where the answer ends and what it should be.
pub(crate) struct Asked {
    /// The method was HEAD: no body, whatever the head says.
    pub head_only: bool,
    /// The request said `Connection: close`.
    pub close: bool,
    /// The status expected; none for any 2xx.
    pub status: Option<u16>,
    /// The body expected; none if any will do.
    pub body: Option<Vec<u8>>,
}

impl Asked {
    /// The answer, if it is right.
    pub fn judge(&self, answer: Answer) -> Result<Answer, Failure> {
        let status_right = match self.status {
            Some(expected) => answer.status == expected,
            None => (200..300).contains(&answer.status),
        };
        match (status_right, answer.body_right) {
            (true, true) => Ok(answer),
            (true, false) => Err(Failure::Body),
            (false, _) => Err(Failure::Status),
        }
    }
}

/// A complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub status: u16,
    /// The whole body is the expected one.
    pub body_right: bool,
    /// The connection may carry another request.
    pub keep_alive: bool,
}

/// The bytes are not one well-formed answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed;

/// The state of one answer between two pieces of it.
#[derive(Debug)]
pub(crate) struct Reader {
    place: Place,
    /// The part of a head that has arrived; empty unless it came in pieces. After the head: what a wrong body had where
    /// it first differed.
    held: Vec<u8>,
    status: u16,
    keep_alive: bool,
    body_length: usize,
    body_right: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Head,
    /// Bytes of the body still to come.
    Length(u64),
    UntilClose,
    Chunked(Chunked),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Chunked {
    at: ChunkPlace,
    /// Bytes of this chunk: read so far from its size line, then still to come.
    left: u64,
    /// Bytes since the last chunk's data: size, extensions, trailers.
    overhead: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChunkPlace {
    FirstDigit,
    Digits,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
}

impl Reader {
    pub fn new() -> Reader {
        Reader {
            place: Place::Head,
            held: Vec::new(),
            status: 0,
            keep_alive: false,
            body_length: 0,
            body_right: true,
        }
    }

    /// Makes it ready for the next answer.
    pub fn reset(&mut self) {
        self.place = Place::Head;
        self.held.clear();
        self.body_length = 0;
        self.body_right = true;
    }

    /// Takes the next bytes; `Some` when they complete the answer. It must be [`reset`](Reader::reset) after that, or
    /// after an error.
    pub fn feed(&mut self, mut data: &[u8], asked: &Asked) -> Result<Option<(Answer, usize)>, Malformed> {
        let given = data.len();
        let complete = |reader: &Reader, rest: &[u8]| Ok(Some((reader.answer(asked), given - rest.len())));
        loop {
            match self.place {
                Place::Head => {
                    let Some(used) = self.read_head(data, asked)? else { return Ok(None) };
                    data = &data[used..];
                    if self.place == Place::Length(0) {
                        return complete(self, data);
                    }
                }
                Place::Length(left) => {
                    let here = usize::try_from(left).map_or(data.len(), |left| left.min(data.len()));
                    self.read_body(&data[..here], asked);
                    data = &data[here..];
                    let left = left - here as u64;
                    self.place = Place::Length(left);
                    if left == 0 {
                        return complete(self, data);
                    }
                }
                Place::UntilClose => {
                    self.read_body(data, asked);
                    return Ok(None);
                }
                Place::Chunked(chunked) => {
                    let Some(rest) = self.read_chunked(chunked, data, asked)? else { return Ok(None) };
                    return complete(self, rest);
                }
            }
            if data.is_empty() {
                return Ok(None);
            }
        }
    }

    /// The connection was closed: `Some` if that is how this answer ends.
    pub fn end(&mut self, asked: &Asked) -> Option<Answer> {
        (self.place == Place::UntilClose).then(|| self.answer(asked))
    }

    /// A wrong answer in words: its status, and its body where that differs from the expected one.
    pub fn describe(&self) -> String {
        let body = String::from_utf8_lossy(&self.held);
        let body = if self.held.is_empty() { String::new() } else { format!(" {:?}", body) };
        format!("status {}, {} bytes{body}", self.status, self.body_length)
    }

    /// Reads the head, skipping interim ones (1xx); the number of bytes of `data` used, or none if it isn't complete.
    fn read_head(&mut self, mut data: &[u8], asked: &Asked) -> Result<Option<usize>, Malformed> {
        let whole = data.len();
        while !data.is_empty() {
            let before = self.held.len();
            let head = if before == 0 {
                parse_head(data)?
            } else {
                self.held.extend_from_slice(data);
                parse_head(&self.held)?
            };
            let Some(head) = head else {
                if before == 0 {
                    self.held.extend_from_slice(data);
                }
                return Ok(None);
            };
            self.held.clear();
            data = &data[head.length - before..];
            if (100..200).contains(&head.status) {
                continue;
            }
            self.status = head.status;
            let bodiless = asked.head_only || matches!(head.status, 204 | 304);
            self.place = if bodiless { Place::Length(0) } else { head.framing };
            self.keep_alive = head.keep_alive && !asked.close && self.place != Place::UntilClose;
            return Ok(Some(whole - data.len()));
        }
        Ok(None)
    }

    fn read_body(&mut self, piece: &[u8], asked: &Asked) {
        let from = self.body_length;
        self.body_length = from.saturating_add(piece.len());
        if let Some(expected) = &asked.body {
            let right = expected.get(from..self.body_length) == Some(piece);
            if self.body_right && !right {
                self.held.extend_from_slice(&piece[..piece.len().min(EXCERPT)]);
            }
            self.body_right &= right;
        }
    }

    /// Reads chunks; the bytes after the last one, or none if it has not come yet.
    fn read_chunked<'a>(
        &mut self,
        mut chunked: Chunked,
        mut data: &'a [u8],
        asked: &Asked,
    ) -> Result<Option<&'a [u8]>, Malformed> {
        use ChunkPlace::*;
        while let Some((&byte, rest)) = data.split_first() {
            if chunked.at == Data {
                let here = usize::try_from(chunked.left).map_or(data.len(), |left| left.min(data.len()));
                self.read_body(&data[..here], asked);
                data = &data[here..];
                chunked.left -= here as u64;
                if chunked.left == 0 {
                    chunked.at = DataCr;
                }
                continue;
            }
            data = rest;
            chunked.at = match (chunked.at, byte) {
                (FirstDigit | Digits, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                    let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                    chunked.left = chunked.left.checked_mul(16).ok_or(Malformed)? + digit;
                    chunked.overhead += 1;
                    Digits
                }
                (Digits | Extension, b'\r') => SizeLf,
                (Digits, b';' | b' ' | b'\t') => Extension,
                (Extension, byte) if byte != b'\n' => {
                    chunked.overhead += 1;
                    Extension
                }
                (SizeLf, b'\n') if chunked.left == 0 => TrailerStart,
                (SizeLf, b'\n') => {
                    chunked.overhead = 0;
                    Data
                }
                (DataCr, b'\r') => DataLf,
                (DataLf, b'\n') => FirstDigit,
                (TrailerStart, b'\r') => EndLf,
                (EndLf, b'\n') => return Ok(Some(data)),
                (Trailer, b'\r') => TrailerLf,
                (TrailerLf, b'\n') => TrailerStart,
                (TrailerStart | Trailer, byte) if byte != b'\n' => {
                    chunked.overhead += 1;
                    Trailer
                }
                _ => return Err(Malformed),
            };
            if chunked.overhead > CHUNK_OVERHEAD_LIMIT {
                return Err(Malformed);
            }
        }
        self.place = Place::Chunked(chunked);
        Ok(None)
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let whole = asked.body.as_ref().is_none_or(|expected| expected.len() == self.body_length);
        Answer { status: self.status, body_right: self.body_right && whole, keep_alive: self.keep_alive }
    }
}

struct Head {
    /// In bytes, with the empty line.
    length: usize,
    status: u16,
    framing: Place,
    keep_alive: bool,
}

/// Parses a head at the front of `data`; none if it isn't complete.
fn parse_head(data: &[u8]) -> Result<Option<Head>, Malformed> {
    // httparse skips empty lines here; after the last answer they would be bytes nobody asked for.
    if !data.starts_with(b"H") {
        return Err(Malformed);
    }
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_LIMIT];
    let mut parsed = httparse::Response::new(&mut []);
    let status = httparse::ParserConfig::default()
        .parse_response_with_uninit_headers(&mut parsed, data, &mut headers)
        .map_err(|_| Malformed)?;
    let httparse::Status::Complete(length) = status else {
        return if data.len() > HEAD_LIMIT { Err(Malformed) } else { Ok(None) };
    };
    let (Some(status), Some(version)) = (parsed.code, parsed.version) else { return Err(Malformed) };
    if length > HEAD_LIMIT || status < 100 || status == 101 {
        return Err(Malformed);
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
                    return Err(Malformed);
                }
            }
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || version == 0 || !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(Malformed);
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
        (Some(_), true) => return Err(Malformed),
        (Some(length), false) => Place::Length(length),
        (None, true) => Place::Chunked(Chunked { at: ChunkPlace::FirstDigit, left: 0, overhead: 0 }),
        (None, false) => Place::UntilClose,
    };
    Ok(Some(Head { length, status, framing, keep_alive: !close && (version == 1 || keep_alive) }))
}

fn parse_length(digits: &[u8]) -> Result<u64, Malformed> {
    if digits.is_empty() {
        return Err(Malformed);
    }
    digits.iter().try_fold(0_u64, |value, &byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0')).ok_or(Malformed)?;
        value.checked_mul(10).and_then(|value| value.checked_add(digit)).ok_or(Malformed)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What became of a connection's bytes up to its close.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum End {
        Complete(Answer),
        ByClose(Answer),
        Cut,
        Malformed,
    }

    fn asked(body: Option<&[u8]>) -> Asked {
        Asked { head_only: false, close: false, status: None, body: body.map(<[u8]>::to_vec) }
    }

    /// Feeds pieces until the answer is complete. What follows it must be malformed in the same piece or be left over, so
    /// a left-over counts as malformed: the transport would see it as the next answer's beginning, or as nobody's.
    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, asked: &Asked) -> End {
        let mut reader = Reader::new();
        let mut complete = None;
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            if complete.is_some() {
                return End::Malformed;
            }
            match reader.feed(piece, asked) {
                Ok(Some((_, used))) if used < piece.len() => return End::Malformed,
                Ok(answer) => complete = answer.map(|(answer, _)| answer),
                Err(Malformed) => return End::Malformed,
            }
        }
        match (complete, reader.end(asked)) {
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

    const RIGHT: Answer = Answer { status: 200, body_right: true, keep_alive: true };
    const LAST: Answer = Answer { keep_alive: false, ..RIGHT };
    const WRONG: Answer = Answer { body_right: false, ..RIGHT };

    #[test]
    fn framing() {
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
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\npong", Malformed),
            ("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong\r\n", Malformed),
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
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npong\r\n0\r\n\r\nx", Malformed),
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
        ] {
            assert_eq!(whole(text, &asked(Some(b"pong"))), expected, "{text:?}");
        }
    }

    #[test]
    fn answers_without_a_body() {
        let nothing = asked(Some(b""));
        for status in [204, 304] {
            let answer = Answer { status, ..RIGHT };
            let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 4\r\n\r\n");
            assert_eq!(whole(&head, &nothing), End::Complete(answer));
            assert_eq!(whole(&format!("{head}pong"), &nothing), End::Malformed);
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
    fn what_was_asked_decides_too() {
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
        assert_ne!(whole(&headers(HEADERS_LIMIT), &asked(None)), End::Malformed);
        assert_eq!(whole(&headers(HEADERS_LIMIT + 1), &asked(None)), End::Malformed);
    }

    #[test]
    fn chunk_extensions_and_trailers_are_bounded() {
        let long = "x".repeat(CHUNK_OVERHEAD_LIMIT);
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
            let text =
                format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{body}\r\n0\r\n\r\n");
            let (first, second) = text.as_bytes().split_at(10);
            assert_eq!(reader.feed(first, &asked), Ok(None));
            assert_eq!(
                reader.feed(second, &asked),
                Ok(Some((Answer { body_right: right, ..RIGHT }, second.len())))
            );
            reader.reset();
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
        fn pieces_make_no_difference(
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
}
