//! A function, and the rules for its instances.

use std::path::PathBuf;
use std::time::Duration;

/// A function and the rules that it runs under.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name for callers: 1 to 64 ASCII letters, digits, `-` and `_`.
    pub name: String,
    /// The command that starts an instance, for `sh -c`. It is to be a runtime client, which finds the Runtime API by
    /// the variable `AWS_LAMBDA_RUNTIME_API`.
    pub command: String,
    /// The directory in which the command runs.
    pub dir: PathBuf,
    /// Variables of the function's environment, beside those that the host sets. A host does not start with a variable
    /// for which [`unfit_variable`](crate::unfit_variable) has a reason.
    pub env: Vec<(String, String)>,
    /// The value of `_HANDLER`: what the runtime client is to call.
    pub handler: String,
    /// The memory that an instance may use, in MB of 2^20 bytes. With [`Cpu::ByMemory`], the instance's CPU share
    /// follows from this number.
    pub memory_mb: u32,
    /// The rule for the CPU time of an instance.
    pub cpu: Cpu,
    /// The most time that the invoke phase of a call may take, a second initialization included.
    pub timeout: Duration,
    /// The most time from the start of an instance to its first request for an event. The process of a slower instance
    /// is ended, and started once more within the time-out of the call.
    pub init_limit: Duration,
    /// The most instances at a time. As many calls with a caller may be under way at a time; further ones are refused.
    /// Calls that nobody waits for are queued.
    pub max_instances: u32,
    /// The rule for the instance that a call goes to.
    pub routing: Routing,
    /// The rule for the billed duration in a REPORT line.
    pub billing: Billing,
    /// The numbers of the CPUs that instances may use, from 0 on; if empty, instances may use those of the host.
    pub cores: Vec<usize>,
}

/// The memory with which a function has one whole core, in MB of 2^20 bytes, as AWS documents it.
pub const MB_PER_CORE: f64 = 1769.0;

/// A rule for the CPU time of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cpu {
    /// In the invoke phase an instance has one core for each 1,769 MB of its memory. In the init phase it has as
    /// much, but at least a whole core.
    ByMemory,
    /// CPU time is not limited.
    Unlimited,
}

/// A rule for the instance that a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routing {
    /// Any of the free slots, by a random choice that this seed repeats. A call that gets an empty slot starts an
    /// instance there.
    Spread(u64),
    /// The free instance that was used last. A new one is started only if none is free.
    WarmFirst,
}

/// A rule for the billed time of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Billing {
    /// The invoke phase is billed, in steps of 100 ms; the init phase is free.
    Y2016,
    /// The init phase and the invoke phase are billed, in steps of 1 ms.
    Y2025,
}

impl Billing {
    /// The billed time of a call with these phases, rounded up to the next step, and at least one step.
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
    /// The CPU share of an instance in the invoke phase, in cores: 0.5 is half of a core, and 2 are two cores. None if
    /// CPU time is not limited.
    pub fn share(&self) -> Option<f64> {
        match self.cpu {
            Cpu::ByMemory => Some(f64::from(self.memory_mb) / MB_PER_CORE),
            Cpu::Unlimited => None,
        }
    }
}
