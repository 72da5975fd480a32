//! The thread that plays: one turn at a time, on a device that only this thread has.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::PageError;
use crate::{Device, DeviceError, OpenDevice, OpenError, Pacing, PlayEnd, Played, Schedule, play};

/// The number of frames between two plays in which everything is released. A game looks once in a frame, and would
/// take two presses in a row for one.
const RELEASED_FRAMES: f64 = 2.0;
/// The most turns that wait: fingers are faster than presses are played.
const MOST_WAITING: usize = 8;

/// The turns that are played now and next, and the outcome of the last one. The playing thread and the server share
/// them.
pub(crate) struct Playing {
    desk: Mutex<Desk>,
    changed: Condvar,
}

#[derive(Default)]
struct Desk {
    numbered: u64,
    now: Option<Turn>,
    waiting: VecDeque<Turn>,
    last: Option<Outcome>,
    over: bool,
}

/// The kind of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnKind {
    /// A macro, which may take long.
    Macro,
    /// A press of the page's button, which is short: later turns wait for it.
    Press,
}

#[derive(Clone)]
pub(crate) struct Turn {
    /// The number of the turn, counted from 1 since the start of the server.
    pub number: u64,
    pub kind: TurnKind,
    pub schedule: Arc<Schedule>,
    /// The number of states that were written, the release at the end of the schedule included.
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
    pub kind: TurnKind,
    pub how: How,
    pub pacing: Option<Pacing>,
    pub real_time: bool,
}

#[derive(Clone)]
pub(crate) enum How {
    Whole,
    Stopped,
    Failed(Arc<TurnFailure>),
}

/// The reason why a turn failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnFailure {
    /// The device failed in the turn before, and cannot be opened again.
    #[error("{0}")]
    Open(OpenError),
    #[error(transparent)]
    Device(DeviceError),
    /// The device could not be released. This is the first error of the play.
    #[error("{0}; what was pressed may still be")]
    Unreleased(DeviceError),
    #[error("the player panicked; its message is where kumite was started")]
    Panicked,
}

/// The error that a turn cannot be taken: a macro is played or waits, too many turns wait, or the server ends.
#[derive(Debug)]
pub(crate) struct Busy;

/// The thread that plays, with its turns and its device.
pub(crate) struct PlayerThread {
    pub playing: Arc<Playing>,
    pub thread: JoinHandle<()>,
    /// The [`Device::description`] of the device, as it was opened first; none if it has none.
    pub device: Option<String>,
}

impl Playing {
    /// Starts the thread that plays, and waits until it has opened the device. An error if the thread cannot be started
    /// or the device cannot be opened.
    pub fn start(mut open: Box<OpenDevice>, fps: f64) -> Result<PlayerThread, PageError> {
        let playing = Arc::new(Playing { desk: Mutex::default(), changed: Condvar::new() });
        let (opened, is_open) = mpsc::channel();
        let ours = Arc::clone(&playing);
        let thread = std::thread::Builder::new().name("kumite-play".to_owned()).spawn(move || {
            match open() {
                Ok(device) => {
                    let _ = opened.send(Ok(device.description()));
                    ours.work(device, &mut open, fps);
                }
                Err(error) => drop(opened.send(Err(error))),
            };
        });
        let thread = thread.map_err(PageError::Start)?;
        match is_open.recv() {
            Ok(Ok(device)) => Ok(PlayerThread { playing, thread, device }),
            Ok(Err(error)) => Err(PageError::Device(error)),
            Err(_) => Err(PageError::Start(std::io::Error::other("opening the device panicked"))),
        }
    }

    /// Takes a turn, to be played after presses that wait or are in progress, and returns its number. If a macro
    /// plays or waits, or if eight turns wait, the turn is refused, or with `replace` takes the place of that macro
    /// and of all that waits. After the end every turn is refused.
    pub fn play(&self, kind: TurnKind, schedule: Schedule, replace: bool) -> Result<u64, Busy> {
        let mut desk = self.desk();
        let mut before = desk.now.iter().chain(&desk.waiting);
        let is_busy = before.any(|turn| turn.kind == TurnKind::Macro) || desk.waiting.len() == MOST_WAITING;
        if desk.over || is_busy && !replace {
            return Err(Busy);
        }
        if replace {
            desk.drop_waiting();
            desk.now.iter().filter(|now| now.kind == TurnKind::Macro).for_each(Turn::stop);
        }
        desk.numbered += 1;
        let number = desk.numbered;
        let (at, stop) = (Arc::default(), Arc::default());
        desk.waiting.push_back(Turn { number, kind, schedule: Arc::new(schedule), at, stop });
        self.changed.notify_one();
        Ok(number)
    }

    /// Ends what is played, and what waits. Everything is released within moments.
    pub fn stop(&self) {
        self.desk().stop();
    }

    /// Stops what is played, drops what waits, and lets the thread end after that. Does not wait for it.
    pub fn end(&self) {
        let mut desk = self.desk();
        desk.stop();
        desk.over = true;
        self.changed.notify_one();
    }

    /// The turn that is played or comes next, and the outcome of the last one; each is `None` if there is none.
    pub fn look(&self) -> (Option<Turn>, Option<Outcome>) {
        let desk = self.desk();
        (desk.now.as_ref().or(desk.waiting.front()).cloned(), desk.last.clone())
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, device: Box<dyn Device>, open: &mut OpenDevice, fps: f64) {
        let mut device = Some(device);
        let mut released = None::<Instant>;
        while let Some(turn) = self.take() {
            // A device that failed was dropped, and is opened anew.
            let opened = match device.take() {
                Some(device) => Ok(device),
                None => open(),
            };
            let outcome = match opened {
                Ok(mut opened) => {
                    let since = released.map_or(Duration::MAX, |released| released.elapsed());
                    std::thread::sleep(Duration::from_secs_f64(RELEASED_FRAMES / fps).saturating_sub(since));
                    let played = || play(&turn.schedule, fps, &mut *opened, &turn.stop, &turn.at);
                    let outcome = turn.outcome(catch_unwind(AssertUnwindSafe(played)));
                    released = Some(Instant::now());
                    if !matches!(outcome.how, How::Failed(_)) {
                        device = Some(opened);
                    }
                    outcome
                }
                Err(error) => turn.failed(TurnFailure::Open(error)),
            };
            let mut desk = self.desk();
            desk.now = None;
            // A later turn may have been given up meanwhile.
            if desk.last.as_ref().is_none_or(|last| last.number < outcome.number) {
                desk.last = Some(outcome);
            }
        }
    }

    /// Waits for the next turn, and takes it; none if the server ends.
    fn take(&self) -> Option<Turn> {
        let waits = |desk: &mut Desk| desk.waiting.is_empty() && !desk.over;
        let mut desk = self.changed.wait_while(self.desk(), waits).unwrap_or_else(PoisonError::into_inner);
        desk.now = desk.waiting.pop_front();
        desk.now.clone()
    }
}

impl Turn {
    fn outcome(&self, played: std::thread::Result<Played>) -> Outcome {
        let Ok(Played { ended, unreleased, pacing, real_time }) = played else {
            return self.failed(TurnFailure::Panicked);
        };
        let outcome = match (ended, unreleased) {
            (PlayEnd::Failed(error), Some(_)) | (_, Some(error)) => {
                self.failed(TurnFailure::Unreleased(error))
            }
            (PlayEnd::Failed(error), None) => self.failed(TurnFailure::Device(error)),
            (PlayEnd::Whole, None) => self.ended(How::Whole),
            (PlayEnd::Stopped, None) => self.ended(How::Stopped),
        };
        Outcome { pacing, real_time, ..outcome }
    }

    fn failed(&self, failure: TurnFailure) -> Outcome {
        self.ended(How::Failed(Arc::new(failure)))
    }

    /// The outcome of a turn, as yet without figures of a play.
    fn ended(&self, how: How) -> Outcome {
        Outcome { number: self.number, kind: self.kind, how, pacing: None, real_time: false }
    }
}

impl Desk {
    fn stop(&mut self) {
        self.drop_waiting();
        self.now.iter().for_each(Turn::stop);
    }

    /// Drops the turns that wait. The outcome of the last one says that it was stopped.
    fn drop_waiting(&mut self) {
        if let Some(last) = self.waiting.drain(..).next_back() {
            self.last = Some(last.ended(How::Stopped));
        }
    }
}
