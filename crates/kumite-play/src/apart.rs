//! A play on a thread of its own, so that a device that hangs cannot keep the caller from ending.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::device::{OpenDevice, OpenError};
use crate::player::{Played, play};
use crate::schedule::Schedule;

/// The time from one look at the thread of the play to the next.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a device has, after `stop` was set, to be opened or released.
const PATIENCE: Duration = Duration::from_secs(3);

/// The reason why there is no [`Played`]: the play did not begin, or how it ended is not known.
#[derive(Debug, thiserror::Error)]
pub enum ApartError {
    /// The thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The device cannot be opened.
    #[error("{0}")]
    Open(OpenError),
    /// The play was told to stop, and some 3 s later the device is still being opened.
    #[error("it was interrupted, and the device is still being opened: nothing was played")]
    Opening,
    /// The play was told to stop, and some 3 s later it has not ended, since the device takes nothing: what is
    /// pressed may stay pressed.
    #[error("it was interrupted, and the device takes nothing: what is pressed may stay pressed")]
    Hangs,
    /// The thread of the play panicked, as it does if the device does.
    #[error("the device panicked")]
    Panicked,
}

/// Opens the device, gives its description to `tell`, and plays. It returns within some 3 s after `stop` was set, even
/// if the device hangs. An error if the thread cannot be started, or the device cannot be opened or hangs. A device
/// that fails during the play is no error: [`Played`] says so.
pub fn play_apart(
    mut open: Box<OpenDevice>,
    fps: f64,
    schedule: Schedule,
    stop: &Arc<AtomicBool>,
    tell: impl FnOnce(Option<String>) + Send + 'static,
) -> Result<Played, ApartError> {
    let flag = Arc::clone(stop);
    let is_open = Arc::new(AtomicBool::new(false));
    let opened = Arc::clone(&is_open);
    let player = std::thread::Builder::new().name("player".to_owned()).spawn(move || {
        let mut device = open()?;
        opened.store(true, Ordering::Relaxed);
        tell(device.description());
        Ok(play(&schedule, fps, device.as_mut(), &flag, &AtomicUsize::new(0)))
    });
    let player = player.map_err(ApartError::Thread)?;
    let mut asked = None;
    while !player.is_finished() {
        if stop.load(Ordering::Relaxed) && asked.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
            let is_open = is_open.load(Ordering::Relaxed);
            return Err(if is_open { ApartError::Hangs } else { ApartError::Opening });
        }
        std::thread::sleep(LOOK);
    }
    player.join().map_err(|_| ApartError::Panicked)?.map_err(ApartError::Open)
}
