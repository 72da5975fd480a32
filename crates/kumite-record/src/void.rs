//! The causes that make a trial void. They lie with the machine and with kumite, never with a contender.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason why a trial and its whole block do not count: kumite or the measured processes stood still meanwhile, too
/// much CPU time was stolen, or something that is needed for measuring was missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Void {
    /// The cause.
    pub what: VoidCause,
    /// The name of the process that was stopped. None if it was kumite itself, or the cause has no process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// The node on which the cause was. None for kumite's own machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The time for which the cause lasted, in milliseconds, as far as it is known; for `stolen`, the CPU time that was
    /// taken. 0 if the cause has no duration.
    pub lasted_ms: f64,
}

/// A cause that makes a trial void. A contender's figures and its silence are never one: they are results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VoidCause {
    /// The machine was suspended.
    Suspended,
    /// kumite itself was stopped or frozen, or its virtual machine stood still.
    KumiteStopped,
    /// A process that kumite had started was stopped by somebody else.
    ProcessStopped,
    /// The hypervisor took a large part of the CPU time.
    Stolen,
    /// A node with a role could not be reached.
    Unreachable,
    /// This machine had no local port left for a connection to the contender.
    NoPort,
    /// This machine could open no more connections.
    NoDescriptor,
}

impl VoidCause {
    /// The word for the cause in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            VoidCause::Suspended => "suspended",
            VoidCause::KumiteStopped => "kumite-stopped",
            VoidCause::ProcessStopped => "process-stopped",
            VoidCause::Stolen => "stolen",
            VoidCause::Unreachable => "unreachable",
            VoidCause::NoPort => "no-port",
            VoidCause::NoDescriptor => "no-descriptor",
        }
    }
}

/// Writes the cause as a clause, without the trial that it happened in.
impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.lasted_ms / 1e3;
        let digits = if seconds < 1.0 { 2 } else { 1 };
        let process = self.process.as_deref().unwrap_or("a process");
        let on = self.node.as_ref().map(|node| format!(" on {node}")).unwrap_or_default();
        match self.what {
            VoidCause::Suspended => write!(f, "the machine{on} slept for {seconds:.digits$} s"),
            VoidCause::KumiteStopped => write!(f, "kumite{on} was stopped for {seconds:.digits$} s"),
            VoidCause::ProcessStopped => write!(f, "{process}{on} was stopped for {seconds:.digits$} s"),
            VoidCause::Stolen => write!(f, "the hypervisor{on} took {seconds:.digits$} s of CPU time"),
            VoidCause::Unreachable => {
                let node = self.node.as_deref().unwrap_or("a node");
                write!(f, "the node {node} could not be reached for {seconds:.digits$} s")
            }
            VoidCause::NoPort => write!(
                f,
                "this machine{on} had no local port left for another connection (ask for fewer, or widen \
                 net.ipv4.ip_local_port_range)"
            ),
            VoidCause::NoDescriptor => write!(
                f,
                "this machine{on} could open no more connections (ask for fewer, or raise the limit: ulimit -n)"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_void_says_what_was_away_and_for_how_long() {
        let void = |what, lasted_ms| Void { what, process: None, node: None, lasted_ms };
        assert_eq!(void(VoidCause::KumiteStopped, 1234.0).to_string(), "kumite was stopped for 1.2 s");
        let process = Some("postgres".to_owned());
        let stopped = Void { process, ..void(VoidCause::ProcessStopped, 340.0) };
        assert_eq!(stopped.to_string(), "postgres was stopped for 0.34 s");
        let there = Void { node: Some("n1".to_owned()), ..void(VoidCause::KumiteStopped, 1234.0) };
        assert_eq!(there.to_string(), "kumite on n1 was stopped for 1.2 s");
        let cut = Void { what: VoidCause::Unreachable, ..there };
        assert_eq!(cut.to_string(), "the node n1 could not be reached for 1.2 s");
        assert_eq!(
            void(VoidCause::NoPort, 0.0).to_string(),
            "this machine had no local port left for another connection (ask for fewer, or widen net.ipv4.ip_local_port_range)"
        );
        let json = serde_json::to_value(&stopped).unwrap();
        assert_eq!(
            json,
            serde_json::json!({ "what": "process-stopped", "process": "postgres", "lasted_ms": 340.0 })
        );
    }
}
