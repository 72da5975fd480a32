//! The two directions of a link, with signs of life beside the frames, also while nothing is asked.
//!
//! A thread gives a sign each second and takes the agent's, whenever nobody else holds the ends; a holder does the
//! same. So an agent that is asked nothing for an hour still knows that its driver is alive, and a cut is counted
//! when it happens. Lines that come meanwhile wait in order, up to a limit; beyond it the pipe fills, and the agent
//! waits. The thread ends with the link.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use kumite_process::{Heard, Talk};

use crate::frame::{decode, encode};
use crate::life::{SIGN_EVERY, Signs};
use crate::message::{Ask, Tell};

/// The most lines that wait while nobody listens.
const MOST_WAITING: usize = 1000;
const LOOK: Duration = Duration::from_millis(250);

/// The two ends of a link, shared with the thread that gives and takes signs.
pub(crate) struct Wire(Arc<Mutex<Ends>>);

struct Ends {
    talk: Talk,
    waiting: VecDeque<(Vec<u8>, Instant)>,
    /// The account of signs; none until the agent has said who it is, since anything else gives no signs.
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

    /// Begins to give signs, and to expect them.
    pub fn keep_alive(&mut self) {
        let now = Instant::now();
        self.ends().alive = Some(Alive { signs: Signs::begin(now), signed: now });
        let ends = Arc::downgrade(&self.0);
        std::thread::spawn(move || keep(&ends));
    }

    /// Writes bytes to the agent, as [`Talk::say`] does. `false` if the agent had not taken all of them when `limit`
    /// was over or `stop` was set. An error if the way to the agent is broken.
    pub fn say(&mut self, bytes: &[u8], limit: Duration, stop: &AtomicBool) -> io::Result<bool> {
        self.ends().talk.say(bytes, limit, stop)
    }

    /// The next line of the agent, as [`Talk::hear`] gives it, except that signs of life are left out. An error if
    /// reading fails.
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

    /// The time for which the way was cut since the last call of this method; zero before signs are expected.
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
    /// Gives a sign if one is due. A frame as short as that is written whole or not at all.
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

/// The beginning of an agent's sign. It is checked first, so that no other frame is decoded twice.
const SIGN: &[u8] = br#"{"tell":"alive","#;
