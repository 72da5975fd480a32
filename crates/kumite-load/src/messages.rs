//! Messages: what the next request is, as bytes.

use std::sync::Arc;

use crate::cookies::Jar;
use crate::mix::Mix;
use crate::request::Prepared;
use crate::target::Address;
use crate::template::Given;
use crate::{Error, Load, Target};

/// The requests of a run, one for each target.
#[derive(Clone)]
pub(crate) struct Messages {
    /// Where all of them go.
    pub address: Address,
    /// Those that are the same each time.
    pub fixed: Vec<Box<[u8]>>,
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
        let mut fixed = Vec::new();
        let mut messages = Vec::new();
        for (target, _) in &load.targets {
            let server = |target: &Target| (target.address.clone(), target.secure, target.authority.clone());
            if server(target) != server(first) {
                return Err(Error::Targets(format!("{} and {} differ", first.authority, target.authority)));
            }
            messages.push(match load.request.prepare(target, load.variables.as_ref(), load.cookies)? {
                Prepared::Fixed(bytes) => {
                    fixed.push(bytes.into_boxed_slice());
                    Message::Fixed(fixed.len() - 1)
                }
                varying => Message::Varying(varying),
            });
        }
        let weights: Vec<u32> = load.targets.iter().map(|(_, weight)| *weight).collect();
        Ok(Messages {
            address: first.address.clone(),
            fixed,
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
}
