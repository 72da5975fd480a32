//! The host: functions, their instances, and whoever calls them.

use std::net::SocketAddr;

use crate::{Function, Happening, Invocation, Refused};

/// Runs functions until it is stopped or dropped.
#[derive(Debug)]
pub struct Host {}

/// Why a host cannot run.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// It cannot listen there.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
}

/// What a host could not do for want of rights, in words; none if it does it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanting {
    /// CPU shares are not limited.
    pub cpu: Option<String>,
    /// Memory is not limited.
    pub memory: Option<String>,
    /// Instances are frozen by SIGSTOP instead of the cgroup's freezer.
    pub freezer: Option<String>,
}

impl Host {
    /// Starts a host for these functions; the Invoke API listens on `address` (port 0: any that is free). Logs of instances go
    /// to `logs`, a folder.
    pub fn start(
        functions: Vec<Function>,
        address: SocketAddr,
        logs: &std::path::Path,
    ) -> Result<Host, HostError> {
        let _ = (functions, address, logs);
        Ok(Host {})
    }

    /// Where the Invoke API listens.
    pub fn address(&self) -> SocketAddr {
        unimplemented!()
    }

    /// What could not be had on this machine.
    pub fn wanting(&self) -> Wanting {
        unimplemented!()
    }

    /// Calls a function and waits for its answer, as the Invoke API does. May be called from several threads.
    pub fn invoke(&self, name: &str, payload: Vec<u8>) -> Result<Invocation, Refused> {
        unimplemented!("{name} {payload:?}")
    }

    /// What has happened to the instances of a function until now, in the order of time.
    pub fn happenings(&self, name: &str) -> Vec<Happening> {
        unimplemented!("{name}")
    }

    /// Ends all instances; calls in flight are answered with an error. Returns what happened to the instances of each function,
    /// their end included.
    pub fn stop(self) -> std::collections::BTreeMap<String, Vec<Happening>> {
        unimplemented!()
    }
}
