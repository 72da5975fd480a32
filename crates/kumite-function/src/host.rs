//! The host of functions: it starts their instances and takes calls.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread::JoinHandle;
use std::time::Duration;

use kumite_guard::{Limits, Site};
use kumite_process::{Control, Unavailable};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{oneshot, watch};

use crate::function_state::{Call, FunctionState, Tell, stopping};
use crate::instance::Setting;
use crate::invoke_api::{Functions, routes};
use crate::{Cpu, Function, InstanceEvent, Invocation, Refused, unfit_variable};

/// The region that a host says it is in.
const REGION: &str = "us-east-1";
/// The account number that AWS uses in its documentation.
const ACCOUNT: &str = "123456789012";
/// The time between two looks for calls in flight, when the host is stopped.
const LOOK: Duration = Duration::from_millis(5);
/// The most time that a host waits for its instances to end, which they do one after another.
const LAST_WAIT: Duration = Duration::from_secs(10);

/// A host, which runs functions until it is stopped or dropped.
pub struct Host {
    address: SocketAddr,
    functions: Functions,
    missing_rights: MissingRights,
    runtime: Handle,
    stop: watch::Sender<bool>,
    thread: Option<JoinHandle<()>>,
}

/// The reason why a host cannot run.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The host cannot listen on the address.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// A folder, of a function or for logs, does not exist or cannot be reached.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder, as it was given.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Two functions have this name, or no function can have it.
    #[error(
        "'{0}' is not a name for a function, or there are two of it: letters, digits, - and _, at most 64"
    )]
    Name(String),
    /// A variable cannot be set for a function.
    #[error("function {function}: the variable '{name}' is {why}")]
    Variable {
        /// The name of the function.
        function: String,
        /// The name of the variable.
        name: String,
        /// The reason and, where there is one, the remedy.
        why: &'static str,
    },
    /// The thread of the host, or its runtime, cannot be started.
    #[error("cannot start: {0}")]
    Thread(io::Error),
}

/// The means of control over instances that a host does not have on this machine, with the reason for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingRights {
    /// The reason why CPU shares are not limited; none if they are, or need not be.
    pub cpu: Option<Unavailable>,
    /// The reason why memory is not limited; none if it is.
    pub memory: Option<Unavailable>,
    /// The reason why instances are frozen by SIGSTOP instead of the cgroup's freezer; none if the freezer is used.
    pub freezer: Option<Unavailable>,
}

impl MissingRights {
    /// Finds the means that a host would lack on this machine. If `shares` is false, the host limits no CPU shares, and
    /// `cpu` is none.
    pub fn here(shares: bool) -> MissingRights {
        MissingRights::from_control(&Control::look(), shares)
    }

    fn from_control(control: &Control, shares: bool) -> MissingRights {
        MissingRights {
            cpu: control.cpu.clone().err().filter(|_| shares),
            memory: control.memory.clone().err(),
            freezer: control.freezer.clone().err(),
        }
    }

    /// A line for people for each field that has a reason: the effect, and the reason. No line if nothing is missing.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let line = |what: &str, why: &Option<Unavailable>| why.as_ref().map(|why| format!("{what}: {why}"));
        [
            line("CPU shares are not limited, and no figure is that of a small function", &self.cpu),
            line("memory is not limited", &self.memory),
            line("instances are stopped by SIGSTOP between calls", &self.freezer),
        ]
        .into_iter()
        .flatten()
    }
}

impl Host {
    /// Starts a host for these functions. The Invoke API listens on `address`; with port 0, on any free port. The logs
    /// of instances go to the folder `logs`. `tell` gets the logs of init phases and of calls, and the news of
    /// instances that break the protocol or end. An error if a name, variable or folder of a function will not do,
    /// `logs` cannot be reached, the host cannot listen on `address`, or its thread cannot be started.
    pub fn start(
        functions: Vec<Function>,
        address: SocketAddr,
        logs: &Path,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Host, HostError> {
        check(&functions)?;
        let folder = |source| HostError::Folder { path: logs.to_owned(), source };
        let logs = logs.canonicalize().map_err(folder)?;
        let control = Control::look();
        let limits = functions.iter().any(|function| function.cpu == Cpu::ByMemory);
        let missing_rights = MissingRights::from_control(&control, limits);
        let (stop, stopped) = watch::channel(false);
        let tell: Arc<Tell> = Arc::new(tell);
        let mut by_name = BTreeMap::new();
        for mut function in functions {
            let folder = |source| HostError::Folder { path: function.dir.clone(), source };
            function.dir = function.dir.canonicalize().map_err(folder)?;
            let name = function.name.clone();
            let setting = Setting {
                arn: format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"),
                region: REGION.to_owned(),
                control: control.clone(),
                logs: logs.clone(),
                started: AtomicU32::new(0),
                function,
            };
            by_name.insert(name, Arc::new(FunctionState::new(setting, stopped.clone(), Arc::clone(&tell))));
        }
        let functions = Functions { by_name: Arc::new(by_name), stop: stopped };
        // One thread: a call is mostly waiting, and a host is not to take CPUs from what is measured.
        let runtime = Builder::new_current_thread().enable_all().build().map_err(HostError::Thread)?;
        let listen = |source| HostError::Listen { address, source };
        let listener = runtime.block_on(TcpListener::bind(address)).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let site = Site::new(address, &address.ip().to_string());
        let handle = runtime.handle().clone();
        let ours = functions.clone();
        let thread = std::thread::Builder::new().name("kumite-function".to_owned());
        let thread =
            thread.spawn(move || runtime.block_on(run(listener, site, ours))).map_err(HostError::Thread)?;
        Ok(Host { address, functions, missing_rights, runtime: handle, stop, thread: Some(thread) })
    }

    /// The address of the Invoke API.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The means of control over instances that this host lacks, with the reasons.
    pub fn missing_rights(&self) -> &MissingRights {
        &self.missing_rights
    }

    /// Calls a function and waits for its answer, as the Invoke API does. Several threads may call at once. An error if
    /// there is no such function, the call is throttled, the payload is too long or not JSON, no instance can be
    /// started, or the host stops. A failure of the function is no error: see [`Invocation::error`]. Panics inside an
    /// asynchronous task.
    pub fn invoke(&self, name: &str, payload: Vec<u8>) -> Result<Invocation, Refused> {
        let (functions, name, call) = (self.functions.clone(), name.to_owned(), Call::new(payload.into()));
        let (done, answer) = oneshot::channel();
        self.runtime.spawn(async move {
            let _ = done.send(functions.call(&name, call).await);
        });
        answer.blocking_recv().unwrap_or(Err(Refused::Stopping))
    }

    /// The events of a function's instances until now, in the order in which they were recorded: at most the last
    /// 100,000. A moment may be earlier than that of the event before. Empty for an unknown function.
    pub fn timeline(&self, name: &str) -> Vec<InstanceEvent> {
        self.functions.named(name).map(|function| function.timeline()).unwrap_or_default()
    }

    /// Refuses calls in flight and later ones, without waiting for the host's end: for use while other threads are
    /// still in [`Host::invoke`].
    pub fn give_up(&self) {
        let _ = self.stop.send(true);
    }

    /// Stops the host: calls in flight are refused, and all instances end. Returns the events of each function's
    /// instances, as [`Host::timeline`] has them. The end of an instance is among them if it came within 10 s.
    pub fn stop(mut self) -> BTreeMap<String, Vec<InstanceEvent>> {
        self.end();
        self.functions.by_name.iter().map(|(name, function)| (name.clone(), function.timeline())).collect()
    }

    fn end(&mut self) {
        self.give_up();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.end();
    }
}

/// Serves calls until the host is stopped, then ends all instances.
async fn run(listener: TcpListener, site: Site, functions: Functions) {
    let calls = kumite_guard::serve(listener, routes(functions.clone(), site), Limits::default(), |_| {});
    tokio::select! {
        () = calls => {}
        () = stopping(functions.stop.clone()) => {}
    }
    let all_end = async {
        loop {
            let mut quiet = true;
            for function in functions.by_name.values() {
                quiet &= function.end_idle().await;
            }
            if quiet {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    // Instances that still run are ended by being dropped.
    let _ = tokio::time::timeout(LAST_WAIT, all_end).await;
}

fn check(functions: &[Function]) -> Result<(), HostError> {
    let mut names = BTreeSet::new();
    for Function { name, env, .. } in functions {
        let is_name = (1..=64).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !is_name || !names.insert(name) {
            return Err(HostError::Name(name.clone()));
        }
        for (variable, _) in env {
            if let Some(why) = unfit_variable(variable) {
                let (function, name) = (name.clone(), variable.clone());
                return Err(HostError::Variable { function, name, why });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_that_does_not_end_is_closed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (_stop, stopped) = watch::channel(false);
        let functions = Functions { by_name: Arc::default(), stop: stopped };
        tokio::spawn(run(listener, Site::new(address, "127.0.0.1"), functions));
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"POST /2015-03-31/functions/f/invocations HTTP/1.1\r\n").await.unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer).await;
        assert_eq!(answer, "");
    }
}
