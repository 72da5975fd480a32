//! One instance of a function: a process tree in a control group of its own, with a Runtime API of its own.
//!
//! Where control groups cannot be had its CPU share and memory are not limited, and SIGSTOP freezes it. An instance that
//! is dropped has ended, with all that it started.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use kumite_process::{Control, Group, Spawn, Tree};
use rustix::event::{PollFd, PollFlags, poll};
use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};

use crate::Function;
use crate::environment::{KEPT, environment};
use crate::runtime_api::RuntimeApi;
use crate::runtime_protocol::RuntimeProtocol;

/// Of a core: what an instance is given in its init phase.
const INIT_SHARE: f64 = 1.0;
/// An instance that ends at SIGTERM does so in this time; more is not waited for, for callers wait meanwhile.
const GRACE: Duration = Duration::from_millis(200);

/// An instance could not be started, or not be given its share.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// It would have nobody to ask for events.
    #[error("its Runtime API cannot listen on 127.0.0.1: {0}")]
    Api(#[source] io::Error),
    /// Its process or its control group.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    /// The thread that was to start it came to an end.
    #[error("starting it failed: {0}")]
    Thread(#[from] JoinError),
    /// Nobody would know when it ends.
    #[error("its end cannot be watched: {0}")]
    Watch(#[source] io::Error),
}

/// The setting that all instances of a function share.
#[derive(Debug)]
pub(crate) struct Setting {
    pub function: Function,
    pub control: Control,
    pub arn: String,
    pub region: String,
    /// The folder of their logs.
    pub logs: PathBuf,
    /// Counts processes, so that each has a log of its own.
    pub started: AtomicU32,
}

/// A process of an instance that runs, or has ended by itself. What is dropped is ended.
#[derive(Debug)]
pub(crate) struct Instance {
    /// Counted from 1.
    pub number: u32,
    pub protocol: Arc<RuntimeProtocol>,
    pub began: Instant,
    /// Goes before the tree and its group, which wait for what runs in them.
    _api: RuntimeApi,
    exit: watch::Receiver<bool>,
    tree: Tree,
    group: Option<Group>,
    /// The group can freeze; else SIGSTOP stands in.
    freezes: bool,
    frozen: bool,
    log: PathBuf,
    /// The memory's share of a core, if it is limited.
    share: Option<f64>,
}

impl Instance {
    /// Starts one. In its init phase it has a whole core, with `throttled` its share from the beginning.
    pub async fn start(
        setting: &Arc<Setting>,
        number: u32,
        throttled: bool,
    ) -> Result<Instance, InstanceError> {
        let protocol = Arc::new(RuntimeProtocol::default());
        let api = RuntimeApi::start(Arc::clone(&protocol)).await.map_err(InstanceError::Api)?;
        let nth = setting.started.fetch_add(1, Ordering::Relaxed) + 1;
        let log = setting.logs.join(format!("{}-{number}-{nth}.log", setting.function.name));
        let env = environment(&setting.function, &setting.region, &api.address.to_string(), number);
        let share = setting.function.share().filter(|_| setting.control.cpu.is_ok());
        let (for_start, log_of_it) = (Arc::clone(setting), log.clone());
        let start = move || -> Result<(Tree, Option<Group>, Instant), kumite_process::Error> {
            let function = &for_start.function;
            let group = for_start.group()?;
            if let Some(group) = &group {
                if let Some(share) = share {
                    let now = if throttled { share } else { share.max(INIT_SHARE) };
                    group.limit_cpu(Some(now))?;
                }
                if for_start.control.memory.is_ok() {
                    group.limit_memory(u64::from(function.memory_mb) << 20)?;
                }
            }
            let began = Instant::now();
            let spawn = Spawn {
                command: &function.command,
                dir: &function.dir,
                env: &env,
                keeps: Some(&KEPT),
                cores: &function.cores,
                log: &log_of_it,
                group: group.as_ref(),
            };
            Ok((Tree::start(&spawn)?, group, began))
        };
        let (tree, group, began) = spawn_blocking(start).await??;
        let exit = tree.pidfd().try_clone_to_owned().and_then(until_readable);
        let exit = exit.map_err(InstanceError::Watch)?;
        let freezes = setting.control.freezer.is_ok();
        Ok(Instance {
            number,
            protocol,
            began,
            _api: api,
            exit,
            tree,
            group,
            freezes,
            frozen: false,
            log,
            share,
        })
    }

    /// The init phase is over.
    pub fn throttle(&mut self) -> Result<(), InstanceError> {
        match (&self.group, self.share) {
            (Some(group), Some(share)) => Ok(group.limit_cpu(Some(share))?),
            _ => Ok(()),
        }
    }

    /// Until its first process has ended.
    pub async fn ended(&self) {
        let mut exit = self.exit.clone();
        // Its thread tells before it ends.
        let _ = exit.wait_for(|ended| *ended).await;
    }

    /// The status of its first process, once that has ended.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.tree.exited().ok().flatten()
    }

    /// The kernel has killed a process of it for want of memory.
    pub fn ran_out_of_memory(&self) -> bool {
        self.group.as_ref().and_then(Group::oom_kills).is_some_and(|kills| kills > 0)
    }

    /// Lets it stand still; whether it will: callers are not to wait for one that has used up its share.
    pub fn freeze(&mut self) -> bool {
        self.frozen = match &self.group {
            Some(group) if self.freezes => group.begin_freeze().is_ok(),
            _ => self.tree.pause(),
        };
        self.frozen
    }

    /// Lets it go on; whether it had stood still.
    pub fn thaw(&mut self) -> bool {
        if !std::mem::take(&mut self.frozen) {
            return false;
        }
        match &self.group {
            Some(group) if self.freezes => group.thaw().is_ok(),
            _ => {
                self.tree.resume();
                true
            }
        }
    }

    /// CPU time of all that it ever started.
    pub fn cpu(&mut self) -> Option<Duration> {
        let of_group = self.group.as_ref().and_then(|group| group.cpu().ok());
        of_group.or_else(|| Some(self.tree.usage().cpu))
    }

    /// The most memory that it has had at a time: what its group was charged, which has children of a moment in it and what the
    /// kernel killed; or what was seen resident, which has pages that others were charged for.
    pub fn max_memory_bytes(&mut self) -> u64 {
        let charged = self.group.as_ref().and_then(Group::peak_memory_bytes).unwrap_or(0);
        charged.max(self.tree.usage().peak_rss_bytes)
    }

    /// The length of its log, in bytes.
    pub fn logged(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |data| data.len())
    }

    /// Its log from that byte on, at most the last `most` bytes; empty if it cannot be read.
    pub fn log_since(&self, since: u64, most: u64) -> String {
        use std::io::{Read, Seek, SeekFrom};
        let read = || -> io::Result<String> {
            let mut file = std::fs::File::open(&self.log)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(since.max(length.saturating_sub(most))))?;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().unwrap_or_default()
    }

    /// Ends it and all that it started.
    pub async fn end(self) {
        let end = move || {
            let Instance { _api, tree, group, .. } = self;
            tree.stop(GRACE);
            // Kills who has left the tree.
            drop(group);
        };
        let _ = spawn_blocking(end).await;
    }
}

impl Setting {
    /// A control group, if there is anything to be had from one.
    fn group(&self) -> Result<Option<Group>, kumite_process::Error> {
        let control = &self.control;
        if control.cpu.is_err() && control.memory.is_err() && control.freezer.is_err() {
            return Ok(None);
        }
        Group::new().map(Some)
    }
}

/// Is told once a descriptor can be read. A thread waits for it, for a process has its end told in no other way that needs
/// no unsafe code; it ends with the process.
fn until_readable(fd: OwnedFd) -> io::Result<watch::Receiver<bool>> {
    let (tell, told) = watch::channel(false);
    let wait = move || {
        while let Err(rustix::io::Errno::INTR) = poll(&mut [PollFd::new(&fd, PollFlags::IN)], None) {}
        let _ = tell.send(true);
    };
    std::thread::Builder::new().name("kumite-instance".to_owned()).stack_size(64 << 10).spawn(wait)?;
    Ok(told)
}
