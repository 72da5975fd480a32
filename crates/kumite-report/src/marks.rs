//! What a mark says of trials.

use kumite_record::Mark;

/// `were disturbed by other processes`, of one trial `was disturbed by other processes`.
pub fn of_trials(mark: Mark, count: usize) -> String {
    let (verb, rest) = words(mark);
    match (verb, count) {
        ("were", 1) => format!("was {rest}"),
        _ => format!("{verb} {rest}"),
    }
}

fn words(mark: Mark) -> (&'static str, &'static str) {
    match mark {
        Mark::GeneratorBound => ("left", "the load engine no room"),
        Mark::SharedCores => ("shared", "their CPUs with kumite"),
        Mark::IdleConnections => ("had", "connections that waited for nothing"),
        Mark::Unsteady => ("were", "not steady"),
        Mark::NotRecovered => ("had", "not recovered at the end"),
        Mark::TimesDisagree => ("told", "times that kumite's clock does not confirm"),
        Mark::NotThrottled => ("ran", "without their limits"),
        Mark::MemoryUncounted => ("had", "more memory than was seen, perhaps"),
        Mark::RecorderLate => ("were", "recorded late"),
        Mark::Stolen => ("lost", "CPU time to the hypervisor"),
        Mark::OtherProcesses => ("were", "disturbed by other processes"),
        Mark::ClockJumped => ("saw", "the clock jump"),
        Mark::Throttled => ("were", "slowed down from outside"),
        Mark::FrequencyChanged => ("saw", "a CPU change its speed"),
        Mark::Other(word) => ("were", word.as_str()),
    }
}
