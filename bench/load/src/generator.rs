use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use kumite_process::{Spawn, Tree, TreeEnd};

use crate::Percentiles;

/// How long a generator may take beyond the time of its load.
const OVERTIME: Duration = Duration::from_secs(20);
/// A look costs some 50 µs, and not on the generator's CPU clock.
const LOOK: Duration = Duration::from_millis(250);
/// The file with its output.
const SAID: &str = "said";

/// The load that a generator is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Ends with a slash.
    pub url: String,
    /// Keep-alive connections.
    pub connections: u32,
    /// For how long.
    pub seconds: u64,
    /// When requests are sent.
    pub shape: Shape,
}

/// When requests are sent, and what is wanted of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Whenever an answer has come.
    Closed,
    /// So many a second over all connections; the server stamps their arrivals.
    Open(u32),
    /// The same, and the generator is to report response times.
    Timed(u32),
    /// The same, and the server stops for a second in the middle.
    Stalled(u32),
}

impl Shape {
    /// Requests a second, if it has a schedule.
    pub fn rate_per_s(self) -> Option<u32> {
        match self {
            Shape::Closed => None,
            Shape::Open(rate) | Shape::Timed(rate) | Shape::Stalled(rate) => Some(rate),
        }
    }

    /// True if response times are wanted.
    pub fn is_timed(self) -> bool {
        matches!(self, Shape::Timed(_) | Shape::Stalled(_))
    }
}

/// A generator's own account of its load.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Said {
    /// Right answers, also those after the end.
    pub answers: u64,
    /// Response times, if it was asked for them.
    pub response_us: Percentiles,
}

/// The shell command of a load; none if the generator cannot offer it, or offers it in the same way as another one.
pub type Command = Box<dyn Fn(&Load) -> Option<String>>;

/// A way to offer load: a program, what to ask of it, and how to read what it prints.
pub struct Generator {
    /// In the tables.
    pub name: &'static str,
    /// A path, or a name on PATH.
    pub program: String,
    /// A shell's words: `$PROGRAM` is the program, and `$UNDER` the command that it runs under, often none.
    pub command: Command,
    /// Reads its output; none if that cannot be understood.
    pub said: fn(&str) -> Option<Said>,
    /// A peer takes part in fewer rounds.
    pub peer: bool,
}

impl Generator {
    /// Runs it to its end, pinned to `core`.
    pub(crate) fn run(
        &self,
        command: &str,
        (load, under): (&Load, &str),
        core: usize,
        dir: &Path,
        stop: &AtomicBool,
    ) -> Result<(TreeEnd, Said)> {
        let log = dir.join("generator.log");
        let env = [("PROGRAM", self.program.as_str()), ("UNDER", under)];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let command = format!("exec >{SAID}; {command}");
        let spawn =
            Spawn { command: &command, dir, env: &env, keeps: None, cores: &[core], log: &log, group: None };
        let mut tree = Tree::start(&spawn)?;
        let limit = Duration::from_secs(load.seconds) + OVERTIME;
        let began = Instant::now();
        while tree.wait(LOOK, stop)?.is_none() {
            if began.elapsed() > limit || stop.load(Ordering::Relaxed) {
                bail!("it was stopped after {:.1} s", began.elapsed().as_secs_f64());
            }
            // Its peak of memory is only to be had while it lives.
            tree.usage();
        }
        let ended = tree.stop(Duration::ZERO);
        let said = String::from_utf8_lossy(&fs::read(dir.join(SAID))?).into_owned();
        if !ended.status.is_some_and(|status| status.success()) {
            bail!("it failed: {} {}", fs::read_to_string(&log)?.trim(), last_line(&said));
        }
        match (self.said)(&said) {
            Some(said) => Ok((ended, said)),
            None => bail!("cannot understand what it printed: {}", last_line(&said)),
        }
    }
}

fn last_line(text: &str) -> String {
    text.trim().lines().last().unwrap_or("nothing").chars().take(200).collect()
}
