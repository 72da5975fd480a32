//! A function as the host is told of it.

use std::path::PathBuf;
use std::time::Duration;

/// A function and the rules it runs under.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name for callers: letters, digits, `-` and `_`, at most 64.
    pub name: String,
    /// Starts an instance: a runtime client that finds the Runtime API by its environment. Goes through `sh -c`.
    pub command: String,
    /// The directory that it runs in.
    pub dir: PathBuf,
    /// Set beside what the host sets.
    pub env: Vec<(String, String)>,
    /// `_HANDLER`: what the runtime client is to call.
    pub handler: String,
    /// Memory of an instance, in MB of 2^20 bytes. The CPU share follows from it.
    pub memory_mb: u32,
    /// The CPU time that it is given.
    pub cpu: Cpu,
    /// The most time that a call may take.
    pub timeout: Duration,
    /// How long an instance may take to ask for its first event before it is cut off.
    pub init_limit: Duration,
    /// Instances at a time, at most: its concurrency. A call that finds all of them busy is refused.
    pub max_instances: u32,
    /// The choice of the instance that a call goes to.
    pub routing: Routing,
    /// The rules of the billed duration in a REPORT line.
    pub billing: Billing,
    /// The CPUs instances may use; if empty, those of the host.
    pub cores: Vec<usize>,
}

/// MB of memory that come with one core: the figure AWS documents.
pub const MB_PER_CORE: f64 = 1769.0;

/// A rule by which an instance gets CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// In the init phase a core; in the invoke phase its memory's share: 1,769 MB are one core.
    ByMemory,
    /// No limit.
    Unlimited,
}

/// A rule by which a call gets its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// Any of the slots that are free, by a random choice that this seed repeats; a slot's instance is started by its first
    /// call.
    Spread(u64),
    /// The instance that was used last and is free; one is started only if there is none.
    WarmFirst,
}

/// The time of a call that is billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Billing {
    /// The invoke phase, in steps of 100 ms; the init phase is free.
    Y2016,
    /// The init phase and the invoke phase, in steps of 1 ms.
    Y2025,
}

impl Billing {
    /// The billed time of a call with these phases, rounded up to the next step.
    pub fn billed(self, init: Duration, invoke: Duration) -> Duration {
        let (time, step_ms) = match self {
            Billing::Y2016 => (invoke, 100),
            Billing::Y2025 => (init + invoke, 1),
        };
        let steps = time.as_nanos().div_ceil(step_ms * 1_000_000) as u64;
        Duration::from_millis(steps.max(1) * step_ms as u64)
    }
}

impl Function {
    /// The share of a core in the invoke phase; none if it is not limited.
    pub fn share(&self) -> Option<f64> {
        match self.cpu {
            Cpu::ByMemory => Some(f64::from(self.memory_mb) / MB_PER_CORE),
            Cpu::Unlimited => None,
        }
    }
}
