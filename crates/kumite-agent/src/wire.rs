//! The two directions of a link, with signs of life beside the frames, also while nobody asks for anything.
//!
//! A thread of its own gives a sign a second and takes the agent's, whenever nobody else holds the ends; whoever holds them
//! does it himself. So an agent that is asked nothing for an hour still knows that its driver is there, and a cut is counted
//! when it was and not when somebody next looks. Lines that come meanwhile wait, in order, up to a bound; then the pipe fills,
//! and the agent waits. The thread ends with the link.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use kumite_process::{Heard, Talk};

use crate::frame::{decode, encode};
use crate::life::{SIGN_EVERY, Signs};
use crate::message::{Ask, Tell};

/// Lines that may wait while nobody listens.
const MOST_WAITING: usize = 1000;
const LOOK: Duration = Duration::from_millis(250);

/// The ends, shared with the thread that gives signs and takes them.
pub(crate) struct Wire(Arc<Mutex<Ends>>);

struct Ends {
    talk: Talk,
    waiting: VecDeque<(Vec<u8>, Instant)>,
    /// None until the agent has said who it is: what is no agent gives no signs.
    alive: Option<Alive>,
}

struct Alive {
    signs: Signs,
    signed: Instant,
}

impl Wire {
    pub fn new(talk: Talk) -> Wire {
        Wire(Arc::new(Mutex::new(Ends { talk, waiting: VecDeque::new(), alive: None })))
    }

    /// From now on signs are given, and expected.
    pub fn keep_alive(&mut self) {
        let now = Instant::now();
        self.ends().alive = Some(Alive { signs: Signs::begin(now), signed: now });
        let ends = Arc::downgrade(&self.0);
        std::thread::spawn(move || keep(&ends));
    }

    /// As [`Talk::say`].
    pub fn say(&mut self, bytes: &[u8], limit: Duration, stop: &AtomicBool) -> io::Result<bool> {
        self.ends().talk.say(bytes, limit, stop)
    }

    /// As [`Talk::hear`], without the signs.
    pub fn hear(&mut self, limit: Duration) -> io::Result<Heard> {
        let mut ends = self.ends();
        ends.sign();
        match ends.waiting.pop_front() {
            Some((line, came)) => Ok(Heard::Line(line, came)),
            None => ends.hear(limit),
        }
    }

    pub fn close(&mut self) {
        self.ends().talk.close();
    }

    /// The time for which nothing has come; none before signs are expected.
    pub fn silence(&self) -> Option<Duration> {
        self.ends().alive.as_ref().map(|alive| alive.signs.silence(Instant::now()))
    }

    /// The time for which the way was cut, since this was asked last.
    pub fn cut_off(&mut self) -> Duration {
        self.ends().alive.as_mut().map_or(Duration::ZERO, |alive| alive.signs.cut_off())
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        // A panic leaves no half frame behind: a frame is written whole, or the link ends.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Gives and takes signs until the link is gone, whenever nobody else holds its ends.
fn keep(ends: &Weak<Mutex<Ends>>) {
    loop {
        std::thread::sleep(LOOK);
        let Some(ends) = ends.upgrade() else { return };
        if let Ok(mut ends) = ends.try_lock() {
            ends.sign();
            while ends.waiting.len() < MOST_WAITING
                && let Ok(Heard::Line(line, came)) = ends.hear(Duration::ZERO)
            {
                ends.waiting.push_back((line, came));
            }
        }
    }
}

impl Ends {
    /// Gives a sign if one is due. A frame that is so short is written whole or not at all.
    fn sign(&mut self) {
        if let Some(alive) = self.alive.as_mut().filter(|alive| alive.signed.elapsed() >= SIGN_EVERY) {
            alive.signed = Instant::now();
            // An agent that cannot take it, or has ended, is noticed by its silence.
            let _ = self.talk.say(&encode(&Ask::Alive), Duration::ZERO, &AtomicBool::new(false));
        }
    }

    /// The next line that is no sign.
    fn hear(&mut self, limit: Duration) -> io::Result<Heard> {
        let until = Instant::now() + limit;
        loop {
            let heard = self.talk.hear(until.saturating_duration_since(Instant::now()))?;
            let Heard::Line(line, came) = &heard else { return Ok(heard) };
            let Some(alive) = &mut self.alive else { return Ok(heard) };
            alive.signs.heard(*came);
            match line.starts_with(SIGN).then(|| decode(line)) {
                Some(Ok(Tell::Alive { at_ms })) => alive.signs.sign(*came, Duration::from_millis(at_ms)),
                _ => return Ok(heard),
            }
        }
    }
}

/// How an agent's sign begins, so that no other frame is decoded twice.
const SIGN: &[u8] = br#"{"tell":"alive","#;
