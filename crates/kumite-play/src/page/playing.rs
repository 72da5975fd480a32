//! The thread that plays: one macro at a time, on a device that it alone has.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;

use super::{OpenDevice, PageError};
use crate::{Device, Ended, Pacing, Played, Schedule, play};

/// What is played now and next, and what came of what was.
pub(crate) struct Playing {
    desk: Mutex<Desk>,
    changed: Condvar,
}

#[derive(Default)]
struct Desk {
    numbered: u64,
    now: Option<Turn>,
    next: Option<Turn>,
    last: Option<Outcome>,
    over: bool,
}

/// What somebody asked to be played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A macro: it may take long.
    Macro,
    /// A button of the page: it is over in a moment, and whoever comes next waits for it.
    Press,
}

#[derive(Clone)]
pub(crate) struct Turn {
    /// Counted from 1 since the start of the server.
    pub number: u64,
    pub kind: Kind,
    pub schedule: Arc<Schedule>,
    /// States that were written.
    pub at: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Turn {
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[derive(Clone)]
pub(crate) struct Outcome {
    pub number: u64,
    pub kind: Kind,
    pub how: How,
    pub pacing: Option<Pacing>,
    pub real_time: bool,
}

#[derive(Clone, PartialEq, Eq)]
pub(crate) enum How {
    Whole,
    Stopped,
    Failed(String),
}

/// Another is being played.
#[derive(Debug)]
pub(crate) struct Busy;

impl Playing {
    /// Opens the device on the thread that will play, and waits for that.
    pub fn start(mut open: Box<OpenDevice>, fps: f64) -> Result<(Arc<Playing>, JoinHandle<()>), PageError> {
        let playing = Arc::new(Playing { desk: Mutex::default(), changed: Condvar::new() });
        let (opened, is_open) = mpsc::channel();
        let ours = Arc::clone(&playing);
        let thread = std::thread::Builder::new().name("kumite-play".to_owned()).spawn(move || {
            match open() {
                Ok(device) => {
                    let _ = opened.send(Ok(()));
                    ours.work(device, &mut open, fps);
                }
                Err(error) => drop(opened.send(Err(error))),
            };
        });
        let thread = thread.map_err(PageError::Start)?;
        match is_open.recv() {
            Ok(Ok(())) => Ok((playing, thread)),
            Ok(Err(error)) => Err(PageError::Device(error)),
            Err(_) => Err(PageError::Start(std::io::Error::other("opening the device panicked"))),
        }
    }

    /// Lets it be played, after a press that is in progress; in place of a macro that is, only if it is to replace it.
    pub fn play(&self, kind: Kind, schedule: Schedule, replace: bool) -> Result<u64, Busy> {
        let mut desk = self.desk();
        let long = desk.now.as_ref().filter(|now| now.kind == Kind::Macro);
        if (long.is_some() || desk.next.is_some()) && !replace {
            return Err(Busy);
        }
        if let Some(long) = long {
            long.stop();
        }
        desk.numbered += 1;
        let number = desk.numbered;
        let (at, stop) = (Arc::default(), Arc::default());
        desk.drop_next();
        desk.next = Some(Turn { number, kind, schedule: Arc::new(schedule), at, stop });
        self.changed.notify_one();
        Ok(number)
    }

    /// Ends what is played, and what waits. All is released within moments.
    pub fn stop(&self) {
        let mut desk = self.desk();
        desk.drop_next();
        if let Some(now) = &desk.now {
            now.stop();
        }
    }

    /// The same, and the thread ends.
    pub fn end(&self) {
        self.stop();
        self.desk().over = true;
        self.changed.notify_one();
    }

    /// What is played, or is about to be; and what came of the last one.
    pub fn look(&self) -> (Option<Turn>, Option<Outcome>) {
        let desk = self.desk();
        (desk.now.clone().or_else(|| desk.next.clone()), desk.last.clone())
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, device: Box<dyn Device>, open: &mut OpenDevice, fps: f64) {
        let mut device = Some(device);
        while let Some(turn) = self.take() {
            // One that failed was dropped, and is tried anew.
            let opened = match device.take() {
                Some(device) => Ok(device),
                None => open(),
            };
            let outcome = match opened {
                Ok(mut opened) => {
                    let played = || play(&turn.schedule, fps, &mut *opened, &turn.stop, &turn.at);
                    let outcome = turn.outcome(catch_unwind(AssertUnwindSafe(played)));
                    if !matches!(outcome.how, How::Failed(_)) {
                        device = Some(opened);
                    }
                    outcome
                }
                Err(error) => turn.ended(How::Failed(error.to_string())),
            };
            let mut desk = self.desk();
            desk.now = None;
            // A later one may have been given up meanwhile.
            if desk.last.as_ref().is_none_or(|last| last.number < outcome.number) {
                desk.last = Some(outcome);
            }
        }
    }

    /// Waits for the next; none if it is over.
    fn take(&self) -> Option<Turn> {
        let waits = |desk: &mut Desk| desk.next.is_none() && !desk.over;
        let mut desk = self.changed.wait_while(self.desk(), waits).unwrap_or_else(PoisonError::into_inner);
        desk.now = desk.next.take();
        desk.now.clone()
    }
}

impl Turn {
    fn outcome(&self, played: std::thread::Result<Played>) -> Outcome {
        let Ok(Played { ended, unreleased, pacing, real_time }) = played else {
            let why = "the player panicked; its message is where kumite was started";
            return self.ended(How::Failed(why.to_owned()));
        };
        let mut how = match ended {
            Ended::Whole => How::Whole,
            Ended::Stopped => How::Stopped,
            Ended::Failed(error) => How::Failed(error.to_string()),
        };
        if let Some(error) = unreleased {
            let why = if let How::Failed(why) = how { why } else { error.to_string() };
            how = How::Failed(format!("{why}; what was pressed may still be"));
        }
        Outcome { pacing, real_time, ..self.ended(how) }
    }

    /// Without having been played.
    fn ended(&self, how: How) -> Outcome {
        Outcome { number: self.number, kind: self.kind, how, pacing: None, real_time: false }
    }
}

impl Desk {
    /// Whoever asked for what waits is told.
    fn drop_next(&mut self) {
        if let Some(next) = self.next.take() {
            self.last = Some(next.ended(How::Stopped));
        }
    }
}
