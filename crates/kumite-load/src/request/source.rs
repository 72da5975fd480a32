//! Messages: what the next request is, as bytes.

use std::sync::Arc;

use crate::protocol::http2;
use crate::request::cookies::Jar;
use crate::request::mix::Mix;
use crate::request::target::Address;
use crate::request::template::Given;
use crate::request::{Prepared, RequestError};
use crate::{Error, Http, Load, Target};

/// The requests of a run, one for each target.
#[derive(Clone)]
pub(crate) struct Messages {
    /// Where all of them go.
    pub address: Address,
    /// Those that are the same each time.
    pub fixed: Vec<Box<[u8]>>,
    /// The same in HTTP/2, if that is spoken.
    fixed_http2: Vec<http2::Message>,
    secure: bool,
    messages: Arc<[Message]>,
    mix: Mix,
    /// The number of the next request: threads take them in turns.
    seq: u64,
    step: u64,
}

enum Message {
    /// The fixed one of this number.
    Fixed(usize),
    Varying(Prepared),
}

/// The next request.
pub(crate) enum Next {
    /// The fixed one of this number.
    Fixed(usize),
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Messages {
    /// Those of a load.
    pub fn new(load: &Load) -> Result<Messages, Error> {
        let (first, _) = load.targets.first().ok_or_else(|| Error::Targets("there is none".to_owned()))?;
        let in_http2 = load.http == Http::Http2;
        if in_http2 {
            load.request.check_http2()?;
        }
        let (mut fixed, mut fixed_http2) = (Vec::new(), Vec::new());
        let mut messages = Vec::new();
        for (target, _) in &load.targets {
            let server = |target: &Target| (target.address.clone(), target.secure, target.authority.clone());
            if server(target) != server(first) {
                return Err(Error::Targets(format!("{} and {} differ", first.authority, target.authority)));
            }
            let prepared = load.request.prepare(target, load.variables.as_ref(), load.cookies)?;
            let http2 = in_http2.then(|| first_in_http2(&prepared, target)).transpose()?;
            messages.push(match prepared {
                Prepared::Fixed(bytes) => {
                    fixed.push(bytes.into_boxed_slice());
                    fixed_http2.extend(http2);
                    Message::Fixed(fixed.len() - 1)
                }
                varying => Message::Varying(varying),
            });
        }
        let weights: Vec<u32> = load.targets.iter().map(|(_, weight)| *weight).collect();
        Ok(Messages {
            address: first.address.clone(),
            fixed,
            fixed_http2,
            secure: first.secure,
            messages: messages.into(),
            mix: Mix::new(&weights),
            seq: 0,
            step: 1,
        })
    }

    /// Those of one of so many threads.
    pub fn of_thread(&self, thread: usize, threads: usize) -> Messages {
        Messages { seq: thread as u64, step: threads as u64, ..self.clone() }
    }

    /// The next request, on the connection of this number.
    pub fn next(&mut self, connection: u64, cookies: Option<&Jar>, spare: impl FnOnce() -> Vec<u8>) -> Next {
        let seq = self.seq;
        self.seq += self.step;
        match &self.messages[self.mix.next()] {
            Message::Fixed(which) => Next::Fixed(*which),
            Message::Varying(message) => {
                let mut bytes = spare();
                message.render(&Given { seq, connection, cookies }, &mut bytes);
                Next::Bytes(bytes)
            }
        }
    }

    /// A request in HTTP/2; none if what it stands for this time cannot be said there.
    pub fn http2(&self, next: Next) -> Option<http2::Message> {
        match next {
            Next::Fixed(which) => self.fixed_http2.get(which).cloned(),
            Next::Bytes(bytes) => http2::Message::parse(&bytes, self.secure),
        }
    }
}

/// The first request in HTTP/2.
fn first_in_http2(prepared: &Prepared, target: &Target) -> Result<http2::Message, RequestError> {
    let mut bytes = Vec::new();
    prepared.render(&Given { seq: 0, connection: 0, cookies: None }, &mut bytes);
    http2::Message::parse(&bytes, target.secure).ok_or_else(|| RequestError::Http2 {
        authority: target.authority.to_string(),
        path: target.path.clone(),
    })
}
