//! A contender that is talked with line by line: its start, its lines, and its end.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use kumite_process::{Heard, Spawn, Talk, Tree};

use crate::driver::log::{check_size, last_lines, trim};
use crate::error::Error;
use crate::halt::Halt;
use kumite_process::how_it_ended;

/// The most bytes that a line may have, with its end.
pub(crate) const LINE_LIMIT: usize = 16 << 20;
/// The time between the end of the contender's input, or SIGTERM, and the next harder measure.
const GRACE: Duration = Duration::from_secs(3);
/// The time between two looks at whether all is to end.
const LOOK: Duration = Duration::from_millis(50);
/// The most bytes of a line that a message shows.
const SHOWN: usize = 200;

/// A started contender that is talked with line by line.
pub(crate) struct LineProcess {
    tree: SharedTree,
    pub talk: Talk,
    log: PathBuf,
    started: Instant,
}

/// The processes of a contender, shared so that one thread can look at what they use while another talks to them.
#[derive(Clone)]
pub(crate) struct SharedTree(Arc<Mutex<Tree>>);

impl SharedTree {
    pub fn lock(&self) -> MutexGuard<'_, Tree> {
        self.0.lock().expect("nobody panics while holding the tree")
    }
}

impl LineProcess {
    pub fn start(spawn: &Spawn) -> Result<LineProcess, Error> {
        let started = Instant::now();
        let (tree, talk) = Tree::start_talking(spawn, LINE_LIMIT)?;
        let tree = SharedTree(Arc::new(Mutex::new(tree)));
        Ok(LineProcess { tree, talk, log: spawn.log.to_owned(), started })
    }

    pub fn tree(&self) -> SharedTree {
        self.tree.clone()
    }

    pub fn since_start(&self) -> Duration {
        self.started.elapsed()
    }

    /// Closes the contender's input.
    pub fn close(&mut self) {
        self.talk.close();
    }

    /// The contender's exit status. None if the contender does not end before `limit` has passed or `stop` is set, or
    /// if its status cannot be read.
    pub fn exited(&mut self, limit: Duration, stop: &AtomicBool) -> Option<ExitStatus> {
        self.tree.lock().wait(limit, stop).ok().flatten()
    }

    /// A sentence about the first line that has come from the contender though nothing was asked. None if no line has
    /// come so far. Does not wait.
    pub fn unasked(&mut self) -> Option<String> {
        match self.talk.hear(Duration::ZERO) {
            Ok(Heard::Line(line, _)) => {
                Some(format!("it wrote a line that nobody asked for: {}", shown(&line)))
            }
            Ok(Heard::TooLong) => Some("it writes on and on, and nobody asked".to_owned()),
            _ => None,
        }
    }

    /// Closes the contender's input, and ends the contender if that is not enough. Returns what was wrong with its end,
    /// in words: a line after its last answer, a status other than 0, processes that it left behind, or no end within
    /// [`GRACE`]. `None` if nothing was.
    pub fn end(mut self) -> Option<String> {
        self.talk.close();
        let mut tree = Arc::into_inner(self.tree.0).and_then(|tree| tree.into_inner().ok())?;
        let until = Instant::now() + GRACE;
        let mut unasked = None;
        // The contender's output is read to its end: it could not end while it waits for us to read.
        let status = loop {
            match self.talk.hear(LOOK) {
                Ok(Heard::Line(line, _)) => {
                    unasked.get_or_insert_with(|| format!("it wrote {} after its last answer", shown(&line)));
                }
                Ok(Heard::Ended(_)) => {
                    break tree.wait(until - Instant::now().min(until), &AtomicBool::new(false));
                }
                Ok(Heard::Nothing) if Instant::now() < until => {}
                _ => break tree.exited(),
            }
            if Instant::now() >= until {
                break tree.exited();
            }
        };
        let stopped = tree.stop(GRACE);
        trim(&self.log);
        if unasked.is_some() {
            return unasked;
        }
        match status {
            Ok(Some(status)) if !status.success() => {
                let (how, log) = (how_it_ended(status), last_lines(&self.log));
                Some(format!("it {how} at the end of its input; its log: {log}"))
            }
            Ok(Some(_)) if stopped.left_behind > 0 => {
                let left = stopped.left_behind;
                Some(format!("it ended and left {left} of its processes behind, which were killed"))
            }
            Ok(Some(_)) => None,
            _ => Some(format!("it did not end within {} s of the end of its input", GRACE.as_secs())),
        }
    }

    /// Writes these bytes to the contender. Returns the time at which the writing began. An error if the contender
    /// does not read them within `limit`, or has ended. `doing` names the step in messages.
    pub fn write(
        &mut self,
        bytes: &[u8],
        limit: Duration,
        doing: &str,
        stop: &AtomicBool,
    ) -> Result<Instant, Halt> {
        let began = Instant::now();
        let said = self.talk.say(bytes, limit, stop);
        Halt::if_set(stop)?;
        match said {
            Ok(true) => Ok(began),
            Ok(false) => Err(Halt::fault(format!(
                "it did not read the request of {doing} within {} s; its log: {}",
                limit.as_secs_f64(),
                last_lines(&self.log)
            ))),
            // The contender has ended, or closed its input: its end tells which.
            Err(_) => Err(Halt::fault(self.gone(doing))),
        }
    }

    /// Waits for the contender's next line. Returns it with the time at which it came. An error if none has come by
    /// `until`, if the contender has ended, or if its line or its log is too long. `limit` and `doing`, the step, are
    /// for messages.
    pub fn line(
        &mut self,
        until: Instant,
        limit: Duration,
        doing: &str,
        stop: &AtomicBool,
    ) -> Result<(Vec<u8>, Instant), Halt> {
        loop {
            let wait = until.saturating_duration_since(Instant::now()).min(LOOK);
            let heard = self.talk.hear(wait).map_err(Error::step("cannot read its answers"))?;
            Halt::if_set(stop)?;
            self.check_log()?;
            match heard {
                Heard::Line(line, came) => return Ok((line, came)),
                Heard::TooLong => {
                    return Err(Halt::fault(format!(
                        "it wrote {} MiB without the end of a line in {doing}",
                        LINE_LIMIT >> 20
                    )));
                }
                Heard::Ended(_) => return Err(Halt::fault(self.gone(doing))),
                Heard::Nothing if Instant::now() >= until => {
                    return Err(Halt::fault(format!(
                        "it gave no answer to {doing} within {} s; its log: {}",
                        limit.as_secs_f64(),
                        last_lines(&self.log)
                    )));
                }
                Heard::Nothing => {}
            }
        }
    }

    /// Returns a fault if the contender's log has become too long.
    pub fn check_log(&self) -> Result<(), Halt> {
        check_size(&self.log).map_or(Ok(()), |too_much| Err(Halt::fault(too_much)))
    }

    /// The reason why nothing more comes from the contender, in words: it ended, and how (it is given [`GRACE`] to
    /// end); or it closed its input or output.
    pub fn gone(&self, doing: &str) -> String {
        let status = self.tree.lock().wait(GRACE, &AtomicBool::new(false)).ok().flatten();
        let how = status.map_or("closed its input or output".to_owned(), how_it_ended);
        format!("it {how} in {doing}; its log: {}", last_lines(&self.log))
    }
}

/// The beginning of a line in quotes, with special characters escaped.
pub(crate) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    let more = if line.len() > SHOWN { "…" } else { "" };
    format!("'{}{more}'", text.escape_debug())
}
