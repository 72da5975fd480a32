//! Request source: it gives the next request of a load, as bytes.

use std::sync::Arc;

use crate::request::cookies::Jar;
use crate::request::http2::Http2Request;
use crate::request::mix::Mix;
use crate::request::target::Address;
use crate::request::template::Given;
use crate::request::{Prepared, RequestError};
use crate::{Error, Http, Load, Target};

/// The requests of a load, one for each target.
#[derive(Clone)]
pub(crate) struct RequestSource {
    /// The address that all requests go to.
    pub address: Address,
    /// The requests that are the same each time, as bytes of HTTP/1.1.
    pub fixed: Vec<Box<[u8]>>,
    /// The requests of `fixed` in HTTP/2, index by index; empty if HTTP/1.1 is spoken.
    fixed_http2: Vec<Http2Request>,
    secure: bool,
    entries: Arc<[Entry]>,
    urls: Arc<[String]>,
    mix: Mix,
    /// The number of the next request. It grows by `step`, because threads take requests in turns.
    seq: u64,
    step: u64,
}

/// The request to one target: fixed, or rendered anew each time.
enum Entry {
    /// The request of this index in `fixed`.
    Fixed(usize),
    Varying(Prepared),
}

/// The next request to send.
pub(crate) enum NextRequest {
    /// The request of this index in [`RequestSource::fixed`].
    Fixed(usize),
    /// A request of these bytes, in HTTP/1.1.
    Bytes(Vec<u8>),
}

impl RequestSource {
    pub fn new(load: &Load) -> Result<RequestSource, Error> {
        let (first, _) = load.targets.first().ok_or_else(|| Error::NoTarget)?;
        let in_http2 = load.http == Http::Http2;
        if in_http2 {
            load.request.check_http2()?;
        }
        let (mut fixed, mut fixed_http2) = (Vec::new(), Vec::new());
        let mut entries = Vec::new();
        for (target, _) in &load.targets {
            let server = |target: &Target| (target.address.clone(), target.secure, target.authority.clone());
            if server(target) != server(first) {
                let [first, other] = [first, target].map(|target| target.authority.to_string());
                return Err(Error::SeveralServers { first, other });
            }
            let prepared = load.request.prepare(target, &load.variables, load.cookies)?;
            let http2 = in_http2.then(|| first_in_http2(&prepared, target)).transpose()?;
            entries.push(match prepared {
                Prepared::Fixed(bytes) => {
                    fixed.push(bytes.into_boxed_slice());
                    fixed_http2.extend(http2);
                    Entry::Fixed(fixed.len() - 1)
                }
                varying => Entry::Varying(varying),
            });
        }
        let weights: Vec<u32> = load.targets.iter().map(|(_, weight)| *weight).collect();
        Ok(RequestSource {
            address: first.address.clone(),
            fixed,
            fixed_http2,
            secure: first.secure,
            entries: entries.into(),
            urls: load.targets.iter().map(|(target, _)| target.to_string()).collect(),
            mix: Mix::new(&weights),
            seq: 0,
            step: 1,
        })
    }

    /// The requests of the thread of number `thread`, of `threads` that take the load's request numbers in turns.
    /// Each thread has its own turns among the targets.
    pub fn of_thread(&self, thread: usize, threads: usize) -> RequestSource {
        RequestSource { seq: thread as u64, step: threads as u64, ..self.clone() }
    }

    /// The next request, on the connection of this number, and the index of its target. A varying request is rendered
    /// into the vector that `spare` gives.
    pub fn next(
        &mut self,
        connection: u64,
        cookies: Option<&Jar>,
        spare: impl FnOnce() -> Vec<u8>,
    ) -> (usize, NextRequest) {
        let seq = self.seq;
        self.seq += self.step;
        let target = self.mix.next();
        let next = match &self.entries[target] {
            Entry::Fixed(which) => NextRequest::Fixed(*which),
            Entry::Varying(request) => {
                let mut bytes = spare();
                request.render(&Given { seq, connection, cookies }, &mut bytes);
                NextRequest::Bytes(bytes)
            }
        };
        (target, next)
    }

    /// Skips the next request, which counts although it is not sent, and returns the index of its target.
    pub fn next_target(&mut self) -> u32 {
        self.seq += self.step;
        self.mix.next() as u32
    }

    /// The URL of a target, for messages; empty if there is no such target.
    pub fn url(&self, target: u32) -> &str {
        self.urls.get(target as usize).map_or("", String::as_str)
    }

    /// `true` if there are several targets, so that a failure must say which one it is of.
    pub fn has_several(&self) -> bool {
        self.urls.len() > 1
    }

    /// The length in bytes that no request exceeds.
    pub fn longest(&self) -> usize {
        let of = |entry: &Entry| match entry {
            Entry::Fixed(which) => self.fixed[*which].len(),
            Entry::Varying(request) => request.longest(),
        };
        self.entries.iter().map(of).max().unwrap_or(0)
    }

    /// A request in HTTP/2; `None` if its values cannot be expressed in HTTP/2.
    pub fn http2(&self, next: NextRequest) -> Option<Http2Request> {
        match next {
            NextRequest::Fixed(which) => self.fixed_http2.get(which).cloned(),
            NextRequest::Bytes(bytes) => Http2Request::parse(&bytes, self.secure),
        }
    }
}

/// The first request to a target, in HTTP/2. An error if it cannot be expressed in HTTP/2.
fn first_in_http2(prepared: &Prepared, target: &Target) -> Result<Http2Request, RequestError> {
    let mut bytes = Vec::new();
    prepared.render(&Given { seq: 0, connection: 0, cookies: None }, &mut bytes);
    Http2Request::parse(&bytes, target.secure).ok_or_else(|| RequestError::Http2 {
        authority: target.authority.to_string(),
        path: target.path.clone(),
    })
}
