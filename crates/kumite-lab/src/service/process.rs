//! The process of a service, and the message if it ends too early.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Spawn, Tree};

use super::StartOrder;
use crate::error::{Error, Fault};
use crate::halt::Halt;
use kumite_process::{how_it_ended, last_lines};

/// The time between SIGTERM and SIGKILL.
pub(super) const GRACE: Duration = Duration::from_secs(3);

pub(super) struct Process {
    tree: Tree,
    log: PathBuf,
    cpu_before: Duration,
}

impl Process {
    pub fn start(
        command: &str,
        dir: &Path,
        env: &[(String, String)],
        order: &StartOrder,
    ) -> Result<Process, Error> {
        let spawn =
            Spawn { command, dir, env, keeps: None, cores: order.cores, log: &order.log, group: None };
        let tree = Tree::start(&spawn).map_err(Error::step("cannot be started"))?;
        Ok(Process { tree, log: order.log.clone(), cpu_before: Duration::ZERO })
    }

    /// Waits until `ready` is true. An error if the process ends before that, the limit passes, or `stop` is set.
    pub fn wait_ready(
        &mut self,
        limit: Duration,
        stop: &AtomicBool,
        mut ready: impl FnMut() -> bool,
    ) -> Result<(), Halt> {
        const LOOK: Duration = Duration::from_millis(5);
        let began = Instant::now();
        while !ready() {
            self.runs("before it was ready")?;
            Halt::if_set(stop)?;
            if began.elapsed() > limit {
                let log = last_lines(&self.log);
                let limit = limit.as_secs_f64();
                return Err(Halt::fault(format!("was not ready within {limit} s; its log: {log}")));
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    /// An error if the process has ended. The error says how the process ended, and by the words in `when` at what time
    /// this was noticed.
    pub fn runs(&mut self, when: &str) -> Result<(), Error> {
        match self.tree.exited()? {
            None => Ok(()),
            Some(status) => {
                let (how, log) = (how_it_ended(status), last_lines(&self.log));
                Err(Fault::new(format!("{how} {when}; its log: {log}")).into())
            }
        }
    }

    /// Waits for the process's end, for no longer than `limit`; it is no error if it still runs then. An error if it
    /// cannot be watched.
    pub fn wait(&mut self, limit: Duration) -> Result<(), Error> {
        self.tree.wait(limit, &AtomicBool::new(false))?;
        Ok(())
    }

    /// Starts the count of CPU time from zero.
    pub fn begin(&mut self) {
        self.cpu_before = self.tree.usage().cpu;
    }

    pub fn cpu(&mut self) -> Duration {
        self.tree.usage().cpu.saturating_sub(self.cpu_before)
    }

    /// Ends the process, with all that it has started.
    pub fn stop(self) {
        self.tree.stop(GRACE);
    }
}
