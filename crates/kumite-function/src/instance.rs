//! An instance of a function: a process tree in a control group of its own, with a Runtime API of its own.
//!
//! Without control groups its CPU share and memory are not limited, and SIGSTOP freezes it. Dropping an instance ends
//! it, with all that it started.

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

/// The share of a core that an instance has in its init phase, unless its own is larger.
const INIT_SHARE: f64 = 1.0;
/// The time that an instance has to end after SIGTERM. It is short, since callers wait meanwhile.
const GRACE: Duration = Duration::from_millis(200);

/// The reason why an instance could not be started, or not be given its CPU share.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// The Runtime API of the instance cannot listen.
    #[error("its Runtime API cannot listen on 127.0.0.1: {0}")]
    Api(#[source] io::Error),
    /// The process could not be started, or its control group could not be made or limited.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    /// The task that was to start the process panicked or was cancelled.
    #[error("starting it failed: {0}")]
    Thread(#[from] JoinError),
    /// The end of the process cannot be watched.
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
    /// The folder for the logs of instances.
    pub logs: PathBuf,
    /// The number of processes started so far: it gives each a log of its own.
    pub started: AtomicU32,
}

/// The process of an instance, which runs or has ended by itself. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Instance {
    /// The number of the instance, counted from 1 for each function.
    pub number: u32,
    pub protocol: Arc<RuntimeProtocol>,
    pub began: Instant,
    /// The Runtime API. It is dropped before the tree and the group, which wait for what runs in them.
    _api: RuntimeApi,
    exit: watch::Receiver<bool>,
    tree: Tree,
    group: Option<Group>,
    /// True if the control group can freeze; false if SIGSTOP stands in.
    freezes: bool,
    frozen: bool,
    log: PathBuf,
    /// The share of a core in the invoke phase; none if it is not limited.
    share: Option<f64>,
}

impl Instance {
    /// Starts an instance. In its init phase it has at least a whole core; if `throttled`, it has its CPU share from
    /// the beginning. An error if its process, its control group or its Runtime API cannot be started.
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

    /// Limits the CPU time to the share of the invoke phase, once the init phase is over. Does nothing if CPU time is
    /// not to be limited, or cannot be on this machine. An error if the kernel refuses the limit.
    pub fn throttle(&mut self) -> Result<(), InstanceError> {
        match (&self.group, self.share) {
            (Some(group), Some(share)) => Ok(group.limit_cpu(Some(share))?),
            _ => Ok(()),
        }
    }

    /// Waits until the first process of the instance has ended.
    pub async fn ended(&self) {
        let mut exit = self.exit.clone();
        // The thread that waits tells before it ends.
        let _ = exit.wait_for(|ended| *ended).await;
    }

    /// The status of the first process; none while it has not ended, or if the status cannot be had.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        self.tree.exited().ok().flatten()
    }

    /// True if the kernel has killed a process of the instance for want of memory. Never true without a control
    /// group.
    pub fn ran_out_of_memory(&self) -> bool {
        self.group.as_ref().and_then(Group::oom_kills).is_some_and(|kills| kills > 0)
    }

    /// Freezes the instance. With the freezer of a control group, returns `true` as soon as the freezing has begun,
    /// since an instance that has used up its share takes long to stand still. With SIGSTOP, waits until the instance
    /// stands still, for at most 5 s. `false` if the freezing failed.
    pub fn freeze(&mut self) -> bool {
        self.frozen = match &self.group {
            Some(group) if self.freezes => group.begin_freeze().is_ok(),
            _ => self.tree.pause(),
        };
        self.frozen
    }

    /// Lets the instance go on. True if it had been frozen and could be thawed.
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

    /// The CPU time of all that the instance ever started, by its control group or else by its process tree.
    pub fn cpu(&mut self) -> Duration {
        let of_group = self.group.as_ref().and_then(|group| group.cpu().ok());
        of_group.unwrap_or_else(|| self.tree.usage().cpu)
    }

    /// The most memory at a time, in bytes: the larger of two figures. The group's charge covers short-lived children
    /// and what the kernel killed; resident memory covers pages that others were charged for.
    pub fn max_memory_bytes(&mut self) -> u64 {
        let charged = self.group.as_ref().and_then(Group::peak_memory_bytes).unwrap_or(0);
        charged.max(self.tree.usage().peak_rss_bytes)
    }

    /// The length of the log, in bytes; 0 if it cannot be read.
    pub fn logged(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |data| data.len())
    }

    /// The log from byte `since` on, at most the last `most` bytes; empty if it cannot be read.
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

    /// Ends the instance and all that it started.
    pub async fn end(self) {
        let end = move || {
            let Instance { _api, tree, group, .. } = self;
            tree.stop(GRACE);
            // This kills processes that have left the tree.
            drop(group);
        };
        let _ = spawn_blocking(end).await;
    }
}

impl Setting {
    /// A new control group; none if control groups can limit or freeze nothing here.
    fn group(&self) -> Result<Option<Group>, kumite_process::Error> {
        let control = &self.control;
        if control.cpu.is_err() && control.memory.is_err() && control.freezer.is_err() {
            return Ok(None);
        }
        Group::new().map(Some)
    }
}

/// Becomes true once `fd` can be read. A thread of its own waits for that, and ends with the process.
fn until_readable(fd: OwnedFd) -> io::Result<watch::Receiver<bool>> {
    let (tell, told) = watch::channel(false);
    let wait = move || {
        while let Err(rustix::io::Errno::INTR) = poll(&mut [PollFd::new(&fd, PollFlags::IN)], None) {}
        let _ = tell.send(true);
    };
    std::thread::Builder::new().name("kumite-instance".to_owned()).stack_size(64 << 10).spawn(wait)?;
    Ok(told)
}
