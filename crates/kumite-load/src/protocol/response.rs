//! Reading an answer: where it ends, and whether it is the right one.
//!
//! The parser is fed whatever pieces the socket gives. It keeps no body unless a [`Check`](crate::Check) must see all
//! of it: each piece is compared with the expected body, or digested, as it passes. A head is copied only if it arrives in pieces, or differs
//! from the one before. An answer is [`Malformed`] if there is any doubt about where it ends, because what follows it
//! on the connection cannot be trusted:
//!
//! - a head that is not HTTP/1, or is longer than 64 KiB;
//! - `Content-Length` that is not a number, or several that differ, or one beside `Transfer-Encoding`;
//! - any `Transfer-Encoding` but the single word `chunked`, or one in an HTTP/1.0 answer;
//! - chunks whose lines do not end in CR LF, whose size is not hexadecimal or exceeds 64 bits, with words after the
//!   size that are no extension or trailers that are no headers, or with more than 64 KiB of either;
//! - `101 Switching Protocols`, which nobody asked for.
//!
//! Line feeds alone end the lines of a head too, as RFC 9112, section 2.2, allows. A malformed header (a blank in its
//! name, a control character in its value, a value over several lines) is passed over, as curl does, unless it could
//! be a header that decides where the answer ends. Minor versions above 1 are refused, though a client could read
//! them. `corpus.rs` lists where hyper reads differently.
//!
//! Bytes after the end of the answer are handed back, because only the caller knows whether they may be the next
//! answer. The framing is that of RFC 9112, section 6.3.

mod chunked;
#[cfg(test)]
mod corpus;
mod head;
mod held;
#[cfg(test)]
mod tests;

use sha2::{Digest, Sha256};

use crate::check::{BODY_LIMIT, EXCERPT, excerpt, shorten, whole_line};
use crate::expect::{Expect, Sha256Digest, WrongBody, WrongHeader};
use crate::record::log::{EXCERPT_BYTES, WrongStatus};
use crate::request::take::{Field, KeptAnswer};
use crate::sampled::SampledAnswer;
use chunked::Chunked;
pub(crate) use head::HEAD_LIMIT;
use head::{LONG, LastHead};
use held::Held;
pub(crate) use held::{HELD_LIMIT, HeldRoom};

/// The facts of a request that decide where its answer ends and what is right.
pub(crate) struct Asked {
    /// The method was HEAD: the answer has no body, whatever its head says.
    pub head_only: bool,
    /// The request said `Connection: close`.
    pub close: bool,
    /// The answer that is right.
    pub expect: Expect,
    /// The values of `Set-Cookie` are to be kept.
    pub cookies: bool,
    /// The beginning of the body is to be kept, for the log.
    pub wants_excerpt: bool,
    /// The parts of the answer that are to be kept whole, because values are taken from them.
    pub keep: Keep,
    /// The number of requests on their way whose answers are to be kept whole, because they were chosen as samples.
    pub samples: usize,
    /// The last head that was parsed, one for each thread.
    pub last_head: LastHead,
    /// The memory for bodies that are held, shared by all connections of a thread.
    pub held: HeldRoom,
}

/// Parts of an answer that are kept until the next one begins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Keep {
    pub head: bool,
    pub body: bool,
}

/// A complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answer {
    pub status: u16,
    /// The headers passed all checks.
    pub header_right: bool,
    /// The body passed all checks.
    pub body_right: bool,
    /// The connection may carry another request.
    pub keep_alive: bool,
}

/// The error that bytes are no well-formed answer, with the reason in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed(pub &'static str);

/// The state of reading one answer between two pieces of it.
#[derive(Debug)]
pub(crate) struct Reader {
    state: ParseState,
    /// The part of a head that has arrived; empty unless the head came in pieces. After the head: the body, if a
    /// check must see it whole, or, if the body is not the expected one, an excerpt of it from `excerpt_at` on.
    held: Vec<u8>,
    cookies: Vec<u8>,
    /// The head without its first line, if it is to be kept.
    kept_head: Vec<u8>,
    /// The answer is kept whole, because it may be that to a chosen request.
    is_sample: bool,
    /// The body is in `held`, whole.
    is_kept: bool,
    /// The share of the thread's room for bodies that `held` takes.
    taken: Held,
    /// The body found no room to be held.
    no_room: bool,
    /// The beginning of the body, if it is to be kept.
    excerpt: Vec<u8>,
    status: u16,
    keep_alive: bool,
    body_length: usize,
    /// The body has been as [`Expect::equals`] says so far.
    is_equal: bool,
    /// The position in a body that is not equal at which its excerpt begins, in bytes.
    excerpt_at: usize,
    /// The digest of the body so far; `None` before one was asked for.
    digest: Option<Box<Sha256>>,
    /// The first check of a header that failed; `None` if none did.
    wrong_header: Option<WrongHeader>,
    /// The first check of the whole body that failed; `None` if none did, or the body is not whole.
    wrong_body: Option<WrongBody>,
    /// The position in the last piece that was fed at which it is malformed, in bytes.
    malformed_at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParseState {
    Head,
    /// The body has this number of bytes still to come.
    Length(u64),
    UntilClose,
    Chunked(Chunked),
}

impl Asked {
    pub fn new(head_only: bool, close: bool, expect: Expect, cookies: bool) -> Asked {
        Asked {
            head_only,
            close,
            expect,
            cookies,
            wants_excerpt: false,
            keep: Keep::default(),
            samples: 0,
            last_head: LastHead::default(),
            held: HeldRoom::new(HELD_LIMIT),
        }
    }

    /// Returns `true` if the body is held until it is whole.
    fn holds_body(&self) -> bool {
        self.keep.body || !self.expect.checks.is_empty()
    }
}

impl Reader {
    pub fn new() -> Reader {
        Reader {
            state: ParseState::Head,
            held: Vec::new(),
            taken: Held::default(),
            no_room: false,
            cookies: Vec::new(),
            kept_head: Vec::new(),
            is_sample: false,
            is_kept: false,
            excerpt: Vec::new(),
            status: 0,
            keep_alive: false,
            body_length: 0,
            is_equal: true,
            excerpt_at: 0,
            digest: None,
            wrong_header: None,
            wrong_body: None,
            malformed_at: 0,
        }
    }

    /// Makes the reader ready for the next answer.
    pub fn reset(&mut self) {
        self.state = ParseState::Head;
        if self.held.capacity() > HEAD_LIMIT {
            self.held = Vec::new();
            self.taken.give_back();
        }
        self.held.clear();
        self.no_room = false;
        self.cookies.clear();
        self.kept_head.clear();
        self.is_sample = false;
        self.is_kept = false;
        self.excerpt.clear();
        self.body_length = 0;
        self.is_equal = true;
        self.excerpt_at = 0;
        if let Some(digest) = &mut self.digest {
            digest.reset();
        }
        self.wrong_header = None;
        self.wrong_body = None;
    }

    /// Begins an answer whose head was read elsewhere; the body follows by [`read_body`](Reader::read_body).
    pub fn begin<'h, I: Iterator<Item = (&'h [u8], &'h [u8])>>(
        &mut self,
        status: u16,
        fields: impl Fn() -> I,
        asked: &Asked,
    ) {
        self.status = status;
        self.is_sample = asked.samples > 0;
        self.wrong_header = asked.expect.wrong_header(fields);
    }

    /// `true` if the answer has no body, whatever its head says, because of its status or because the method was
    /// HEAD.
    pub fn is_bodiless(&self, asked: &Asked) -> bool {
        asked.head_only || matches!(self.status, 204 | 304)
    }

    /// The answer, once all of its body has been read by [`read_body`](Reader::read_body).
    pub fn finish(&mut self, asked: &Asked) -> Answer {
        self.answer(asked)
    }

    /// Reads the next bytes. `Some` when they complete the answer, with the number of them that belong to it. After
    /// that, or after an error, the reader must be [`reset`](Reader::reset).
    pub fn feed(&mut self, data: &[u8], asked: &Asked) -> Result<Option<(Answer, usize)>, Malformed> {
        let mut rest = data;
        loop {
            match self.state {
                ParseState::Head => {
                    let Some(used) = self.read_head(rest, asked)? else { return Ok(None) };
                    rest = &rest[used..];
                    if self.state == ParseState::Length(0) {
                        break;
                    }
                }
                ParseState::Length(left) => {
                    let here = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    self.read_body(&rest[..here], asked);
                    rest = &rest[here..];
                    let left = left - here as u64;
                    self.state = ParseState::Length(left);
                    if left == 0 {
                        break;
                    }
                }
                ParseState::UntilClose => {
                    self.read_body(rest, asked);
                    return Ok(None);
                }
                ParseState::Chunked(chunked) => {
                    let read = self.read_chunked(chunked, rest, asked);
                    if read.is_err() {
                        // `malformed_at` was counted from the end of the piece.
                        self.malformed_at = data.len() - self.malformed_at;
                    }
                    let Some(after) = read? else { return Ok(None) };
                    rest = after;
                    break;
                }
            }
            if rest.is_empty() {
                return Ok(None);
            }
        }
        Ok(Some((self.answer(asked), data.len() - rest.len())))
    }

    /// The answer, if the end of the connection completes it; otherwise `None`.
    pub fn end(&mut self, asked: &Asked) -> Option<Answer> {
        (self.state == ParseState::UntilClose).then(|| self.answer(asked))
    }

    /// The values of the answer's `Set-Cookie` headers; none if they were not to be kept.
    pub fn cookies(&self) -> impl Iterator<Item = &[u8]> {
        self.cookies.split(|&b| b == b'\n').filter(|value| !value.is_empty())
    }

    /// The names and values of the answer's headers; none if the head was not to be kept.
    fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        head::fields(&self.kept_head)
    }

    /// Keeps the headers of a head that was read elsewhere.
    pub fn keep_fields<'h>(&mut self, fields: impl Iterator<Item = (&'h [u8], &'h [u8])>) {
        for (name, value) in fields {
            [name, b":", value, b"\n"].iter().for_each(|part| self.kept_head.extend_from_slice(part));
        }
    }

    /// The parts of the answer that were kept, because values are taken from them.
    pub fn kept(&self) -> KeptAnswer<'_, impl Iterator<Item = Field<'_>>> {
        KeptAnswer { body: self.whole_body(), fields: self.fields() }
    }

    /// The body of the answer that is complete; `None` if it was not to be kept, or found no room.
    fn whole_body(&self) -> Option<&[u8]> {
        self.is_kept.then_some(&self.held[..])
    }

    /// `true` if the headers of the answer are to be kept.
    pub fn keeps_head(&self, asked: &Asked) -> bool {
        asked.keep.head || self.is_sample
    }

    /// The body is held until it is whole.
    fn holds_body(&self, asked: &Asked) -> bool {
        asked.holds_body() || self.is_sample
    }

    /// The complete answer as a sample, for the request of this name; `None` if the answer was not to be kept, or its
    /// body found no room.
    pub fn sample(&self, request: &str) -> Option<Box<SampledAnswer>> {
        let body = self.whole_body().filter(|_| self.is_sample)?.to_vec();
        let headers = self.fields().map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        Some(Box::new(SampledAnswer { request: request.to_owned(), status: self.status, headers, body }))
    }

    /// The answer's status, and the beginning of its body if that was to be kept.
    pub fn wrong_status(&self) -> WrongStatus {
        WrongStatus { status: self.status, text: String::from_utf8_lossy(&self.excerpt).into_owned() }
    }

    /// The bytes of memory that this reader holds.
    #[cfg(any(test, feature = "fuzzing"))]
    pub fn memory(&self) -> usize {
        self.held.capacity() + self.cookies.capacity() + self.excerpt.capacity() + self.kept_head.capacity()
    }

    /// A wrong answer in words: its status, its length, and the first check that it does not pass.
    pub fn describe(&self, asked: &Asked) -> String {
        let (expect, bytes) = (&asked.expect, self.body_length);
        let words = match (&self.wrong_header, self.wrong_body) {
            (Some(wrong), _) if expect.allows_status(self.status) => expect.describe_header(wrong),
            (_, None) => String::new(),
            (_, Some(WrongBody::Equals)) => self.describe_difference(asked),
            (_, Some(WrongBody::Length)) => {
                expect.length.map_or(String::new(), |length| format!(", not {length}"))
            }
            (_, Some(WrongBody::Sha256(found))) => {
                let digest = expect.sha256.map_or(String::new(), |digest| format!(", not {digest}"));
                format!(" whose SHA-256 digest is {found}{digest}")
            }
            (_, Some(WrongBody::Check(_))) if self.no_room => format!(
                ", which are not kept to be checked: all connections together may keep {} MiB; use fewer (-c)",
                HELD_LIMIT >> 20
            ),
            (_, Some(WrongBody::Check(_))) if bytes > BODY_LIMIT => {
                format!(", more than the {BODY_LIMIT} that can be checked")
            }
            (_, Some(WrongBody::Check(nth))) => expect.checks[nth].describe(&self.held),
        };
        format!("status {}, {bytes} bytes{words}", self.status)
    }

    /// A description of a body that is not the one that [`Expect::equals`] says.
    fn describe_difference(&self, asked: &Asked) -> String {
        let expected = asked.expect.equals.as_deref().unwrap_or_default();
        if self.is_equal || (self.body_length == 0) {
            return format!(" of {}", expected.len());
        }
        let found = if self.holds_body(asked) {
            self.held.get(self.excerpt_at..).unwrap_or_default()
        } else {
            &self.held
        };
        let place = match self.excerpt_at {
            0 => String::new(),
            at => format!(", from byte {at}:"),
        };
        let found = if found.is_empty() { String::new() } else { format!(" {:?}", excerpt(found)) };
        match expected.get(self.excerpt_at..).unwrap_or_default() {
            [] => format!("{place}{found} after its end"),
            rest => format!("{place}{found}, not {:?}", shorten(String::from_utf8_lossy(rest).into_owned())),
        }
    }

    /// Reads the head, and skips interim ones (1xx). Returns the number of bytes of `data` that it used; `None` if
    /// the head is not complete.
    fn read_head(&mut self, mut data: &[u8], asked: &Asked) -> Result<Option<usize>, Malformed> {
        let whole = data.len();
        while !data.is_empty() {
            let before = self.held.len();
            let text = if before == 0 {
                data
            } else {
                self.held.extend_from_slice(data);
                if before > LONG && self.held.len() <= HEAD_LIMIT && memchr::memchr(b'\n', data).is_none() {
                    return Ok(None);
                }
                &self.held
            };
            let head = if asked.cookies {
                head::parse(text, Some(&mut self.cookies))
            } else {
                asked.last_head.parse(text)
            };
            let head = match head {
                Ok(head) => head,
                Err(malformed) => {
                    self.malformed_at = whole - data.len();
                    return Err(malformed);
                }
            };
            let Some(head) = head else {
                if before == 0 {
                    self.held.extend_from_slice(data);
                }
                return Ok(None);
            };
            let is_interim = (100..200).contains(&head.status);
            self.is_sample = !is_interim && asked.samples > 0;
            if self.is_sample || !is_interim && asked.keep.head {
                let first = memchr::memchr(b'\n', text).map_or(0, |at| at + 1);
                self.kept_head.extend_from_slice(&text[first..head.length]);
            }
            if !is_interim && !asked.expect.headers.is_empty() {
                self.wrong_header = asked.expect.wrong_header(|| head::fields(&text[..head.length]));
            }
            self.held.clear();
            data = &data[head.length - before..];
            if is_interim {
                continue;
            }
            self.status = head.status;
            self.state = if self.is_bodiless(asked) { ParseState::Length(0) } else { head.framing };
            self.keep_alive = head.keep_alive && !asked.close && self.state != ParseState::UntilClose;
            return Ok(Some(whole - data.len()));
        }
        Ok(None)
    }

    /// Reads the next bytes of the body: checks them, or holds them for the check.
    pub fn read_body(&mut self, piece: &[u8], asked: &Asked) {
        let from = self.body_length;
        self.body_length = from.saturating_add(piece.len());
        if asked.wants_excerpt {
            self.excerpt.extend(piece.iter().take(EXCERPT_BYTES - self.excerpt.len()));
        }
        let expect = &asked.expect;
        if let Some(expected) = &expect.equals {
            self.compare(piece, from, expected, !self.holds_body(asked));
        }
        if expect.sha256.is_some() {
            self.digest.get_or_insert_default().update(piece);
        }
        if self.holds_body(asked) {
            if self.body_length <= BODY_LIMIT && !self.no_room {
                self.hold(piece, asked);
            } else {
                self.held.clear();
            }
        }
    }

    /// Compares a piece of the body, from byte `from` on, with the expected body. Keeps an excerpt from where they
    /// begin to differ, if `keeps` is `true`.
    fn compare(&mut self, piece: &[u8], from: usize, expected: &[u8], keeps: bool) {
        if !self.is_equal {
            let room = EXCERPT.saturating_sub(self.held.len());
            self.held.extend(piece.iter().take(if keeps { room } else { 0 }));
        } else if expected.get(from..self.body_length) != Some(piece) {
            self.is_equal = false;
            let same = piece.iter().zip(&expected[from..]).take_while(|(own, right)| own == right).count();
            let start = if from == 0 && same < EXCERPT { 0 } else { same };
            self.excerpt_at = from + start;
            self.held.extend(piece[start..].iter().take(if keeps { EXCERPT } else { 0 }));
        }
    }

    /// Holds more of a body that the check must see whole, if there is room for it.
    fn hold(&mut self, piece: &[u8], asked: &Asked) {
        let length = self.held.len() + piece.len();
        if length > self.held.capacity() && length > HEAD_LIMIT {
            let capacity = length.next_power_of_two().min(BODY_LIMIT).max(length);
            if !self.taken.grow_to(capacity, &asked.held) {
                self.no_room = true;
                self.held = Vec::new();
                self.taken.give_back();
                return;
            }
            self.held.reserve_exact(capacity - self.held.len());
        }
        self.held.extend_from_slice(piece);
    }

    /// The line at which the piece that was fed last is malformed, quoted. `piece` is that piece.
    pub fn offending_line(&self, piece: &[u8]) -> String {
        let from_there = piece.get(self.malformed_at..).unwrap_or_default();
        match self.state {
            ParseState::Head if self.held.is_empty() => whole_line(head::offending_line(from_there)),
            ParseState::Head => whole_line(head::offending_line(&self.held)),
            _ => {
                let before = piece.get(..self.malformed_at).unwrap_or_default();
                let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
                let end = memchr::memchr(b'\n', from_there).map_or(piece.len(), |at| self.malformed_at + at);
                whole_line(piece.get(start..end).unwrap_or_default().trim_ascii_end())
            }
        }
    }

    /// Reads chunks. Returns the bytes after the last chunk; `None` if it has not come yet.
    fn read_chunked<'a>(
        &mut self,
        mut chunked: Chunked,
        mut data: &'a [u8],
        asked: &Asked,
    ) -> Result<Option<&'a [u8]>, Malformed> {
        while let Some((&byte, rest)) = data.split_first() {
            let here = chunked.take_data(data.len());
            if here > 0 {
                self.read_body(&data[..here], asked);
                data = &data[here..];
                continue;
            }
            data = rest;
            match chunked.step(byte) {
                Ok(false) => {}
                Ok(true) => return Ok(Some(data)),
                Err(malformed) => {
                    self.malformed_at = data.len() + 1;
                    return Err(malformed);
                }
            }
        }
        self.state = ParseState::Chunked(chunked);
        Ok(None)
    }

    fn answer(&mut self, asked: &Asked) -> Answer {
        self.is_kept = (asked.keep.body || self.is_sample) && self.body_length <= BODY_LIMIT && !self.no_room;
        self.wrong_body = self.find_wrong_body(&asked.expect);
        Answer {
            status: self.status,
            header_right: self.wrong_header.is_none(),
            body_right: self.wrong_body.is_none(),
            keep_alive: self.keep_alive,
        }
    }

    /// The first check that the body, which is whole, does not pass.
    fn find_wrong_body(&mut self, expect: &Expect) -> Option<WrongBody> {
        let length = self.body_length;
        if expect.equals.as_ref().is_some_and(|expected| !self.is_equal || expected.len() != length) {
            return Some(WrongBody::Equals);
        }
        if expect.length.is_some_and(|expected| expected != length as u64) {
            return Some(WrongBody::Length);
        }
        if let Some(expected) = expect.sha256 {
            let found = Sha256Digest(self.digest.get_or_insert_default().finalize_reset().into());
            if found != expected {
                return Some(WrongBody::Sha256(found));
            }
        }
        let is_held = length <= BODY_LIMIT && !self.no_room;
        let wrong = expect.checks.iter().position(|check| !is_held || !check.allows(&self.held));
        wrong.map(WrongBody::Check)
    }
}
