//! Seeds for commands that are given none.

use kumite_host::Clock;

/// A seed from the time of day and the id of this process, so that it is most likely another each time. It has 32 bits,
/// which every JSON reader can hold exactly.
pub fn fresh(clock: &dyn Clock) -> u64 {
    let now = clock.timestamp().subsec_nanosecond() as u32;
    (u64::from(now) ^ u64::from(std::process::id()) << 8) & 0xffff_ffff
}

/// The command with `--seed` and the seed that was drawn at its end, so that it can be repeated. Unchanged if a seed
/// was given.
pub fn named(command: String, given: Option<u64>, drawn: u64) -> String {
    if given.is_some() { command } else { format!("{command} --seed {drawn}") }
}
