//! Capabilities that a machine may lack, so that a test cannot be made there. There is no other reason to leave a
//! test out.

use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A capability that a test needs, and that a machine may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// A control group of the test's own that limits, counts or freezes.
    ControlGroup,
    /// A control group of the test's own that limits memory.
    MemoryLimit,
    /// A mounted cgroup v2 in which a group may be made.
    ControlGroupV2,
    /// Mounts by FUSE.
    Fuse,
    /// io_uring, with the features that kumite-ring needs.
    IoUring,
    /// A network namespace of the test's own, and `ip` to set it up.
    Namespaces,
    /// The program of Redis, for a test to start.
    Redis,
    /// Real-time priority (SCHED_FIFO) for an ordinary thread.
    RealTimePriority,
    /// At least two CPUs.
    TwoCpus,
    /// Counters of one's own processes by `perf_event_open`.
    PerfEvents,
    /// The program valgrind, with its tool callgrind.
    Valgrind,
}

impl Capability {
    /// The name of the capability, in messages and in `not-tested.txt`.
    pub fn name(self) -> &'static str {
        match self {
            Capability::ControlGroup => "control-group",
            Capability::MemoryLimit => "memory-limit",
            Capability::ControlGroupV2 => "control-group-v2",
            Capability::Fuse => "fuse",
            Capability::IoUring => "io-uring",
            Capability::Namespaces => "namespaces",
            Capability::Redis => "redis",
            Capability::RealTimePriority => "real-time-priority",
            Capability::TwoCpus => "two-cpus",
            Capability::PerfEvents => "perf-events",
            Capability::Valgrind => "valgrind",
        }
    }
}

/// Reports that the test of this thread is not made because its machine lacks something; `why` is the evidence. The
/// line goes to stderr, past the capture of tests' output, and to `not-tested.txt` of the target folder, where `cargo
/// xtask ci` counts it: a test that was not made must not look like one that passed.
pub fn lacks(capability: Capability, why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let line = format!("{} {test}: {}\n", capability.name(), why.to_string().replace('\n', " "));
    let _ = std::io::stderr().write_all(format!("NOT TESTED {line}").as_bytes());
    let target = target().expect("tests run below the target folder");
    let file = std::fs::OpenOptions::new().create(true).append(true).open(target.join("not-tested.txt"));
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the target folder can be written to");
}

/// The target folder, which Cargo marks as a cache; none if the test is not in one.
fn target() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    program.ancestors().find(|folder| folder.join("CACHEDIR.TAG").is_file()).map(Path::to_owned)
}
