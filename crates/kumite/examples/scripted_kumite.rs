//! kumite with trials that are made up: each is what `script.toml` in the working folder says, and the clock goes on by what
//! they take. All else is real: builds, preparing, store, plan, verdicts, reports, exit codes, signals.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use kumite::World;
use kumite_host::Clock;
use kumite_lab::{Answered, Driver, Executor, Halt, Measured, Opening, Ready, TrialOrder};
use kumite_record::{AxisValue, Mark, Outcome, TrialPart};
use nix::sys::signal::{Signal, raise};
use serde::Deserialize;

/// Rules for trials. Each rule is of the trials that it describes; of several the later one adds to the earlier, or
/// replaces what that one says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    /// When kumite is started; now, where nothing is said.
    began: Option<Timestamp>,
    /// True if it waits between sittings, until there is a file `go`; else the clock goes on by them, and nobody waits.
    #[serde(default)]
    waits: bool,
    #[serde(default)]
    trial: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// Of which trials; of any, where nothing is said.
    contender: Option<String>,
    seq: Option<u32>,
    block: Option<u32>,
    #[serde(default)]
    at: BTreeMap<String, AxisValue>,

    takes_ms: Option<u64>,
    outcome: Option<Outcome>,
    reason: Option<String>,
    marks: Option<Vec<Mark>>,
    /// A number, or one for each block, over and over.
    #[serde(default)]
    metrics: BTreeMap<String, Numbers>,
    parts: Option<Vec<TrialPart>>,
    does: Option<Does>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Numbers {
    One(f64),
    Several(Vec<f64>),
}

/// Something that happens in the middle of a trial.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Does {
    /// It says that it has begun, by a file `begun`, and goes on when it is told to stop.
    Wait,
    /// kumite is killed.
    Kill,
}

impl Rule {
    fn is_of(&self, order: &TrialOrder) -> bool {
        self.contender.as_ref().is_none_or(|name| *name == order.contender.recorded())
            && self.seq.is_none_or(|seq| seq == order.seq)
            && self.block.is_none_or(|block| block == order.block)
            && self.at.iter().all(|(axis, value)| order.point.get(axis) == Some(value))
    }
}

impl Numbers {
    fn of(&self, block: u32) -> f64 {
        match self {
            Numbers::One(number) => *number,
            Numbers::Several(numbers) => numbers[block as usize % numbers.len()],
        }
    }
}

/// Begins when the program does, so that runs have dates of their own, and then goes on by what trials take.
struct Time {
    began: Timestamp,
    gone: Cell<Duration>,
}

impl Clock for Time {
    fn now(&self) -> Duration {
        self.gone.get()
    }

    fn timestamp(&self) -> Timestamp {
        self.began + self.gone.get()
    }
}

struct Scripted {
    time: Time,
}

struct Actor<'a> {
    script: Script,
    time: &'a Time,
}

impl World for Scripted {
    fn clock(&self) -> &dyn Clock {
        &self.time
    }

    fn wait(&self, until: Timestamp, stop: &AtomicBool) {
        if script().is_some_and(|script| script.waits) {
            wait(stop, || Path::new("go").exists());
        }
        let left = until.duration_since(self.time.timestamp());
        self.time.gone.set(self.time.gone.get() + Duration::try_from(left).unwrap_or_default());
    }

    fn open<'a>(&'a self, _of: &Opening<'a>) -> Result<Box<dyn Driver + 'a>, Halt> {
        Ok(Box::new(Actor { script: script().expect("a test writes script.toml"), time: &self.time }))
    }
}

/// None where nothing is measured.
fn script() -> Option<Script> {
    let text = std::fs::read_to_string("script.toml").ok()?;
    Some(toml::from_str(&text).expect("script.toml is right"))
}

/// Says so, and goes on when it is told to stop, or has what it waits for.
fn wait(stop: &AtomicBool, is_there: impl Fn() -> bool) {
    std::fs::write("begun", "").expect("a test's folder can be written");
    while !stop.load(Ordering::Relaxed) && !is_there() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Executor for Actor<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let mut measured = Measured::answered(None);
        let (mut takes, mut does) = (Duration::from_secs(1), None);
        for rule in self.script.trial.iter().filter(|rule| rule.is_of(order)) {
            takes = rule.takes_ms.map_or(takes, Duration::from_millis);
            does = rule.does.or(does);
            measured.outcome = rule.outcome.unwrap_or(measured.outcome);
            measured.reason = rule.reason.clone().or(measured.reason);
            measured.marks = rule.marks.clone().unwrap_or(measured.marks);
            let metrics = rule.metrics.iter().map(|(name, numbers)| (name.clone(), numbers.of(order.block)));
            measured.sample.metrics.extend(metrics);
            measured.sample.parts = rule.parts.clone().unwrap_or(measured.sample.parts);
        }
        match does {
            Some(Does::Wait) => wait(stop, || false),
            Some(Does::Kill) => raise(Signal::SIGKILL).expect("who asks for it can be killed"),
            None => {}
        }
        self.time.gone.set(self.time.gone.get() + takes);
        if stop.load(Ordering::Relaxed) {
            return Err(Halt::Interrupted);
        }
        if measured.outcome != Outcome::Ok {
            measured.sample = Default::default();
        }
        let ms = takes.as_secs_f64() * 1e3;
        Ok(Measured { ready_ms: Some(0.0), load_ms: Some(ms), ..measured })
    }
}

impl Driver for Actor<'_> {
    fn check(&mut self, _: &Ready, _: usize, _: &AtomicBool) -> Result<Answered, Halt> {
        unreachable!("`kumite check` starts contenders in every world")
    }
}

fn main() -> ExitCode {
    let began = script().and_then(|script| script.began).unwrap_or_else(Timestamp::now);
    kumite::main(&Scripted { time: Time { began, gone: Cell::default() } })
}
