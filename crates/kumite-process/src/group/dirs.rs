//! The folders of a group in each hierarchy, and the files in them by which it is controlled.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{self, GONE_WITHIN};
use super::hierarchies::{CgroupDir, Controller, Hierarchies, PREFIX};
use super::{Control, Version};
use crate::token::token;
use crate::{Error, Unavailable, guardian};

/// The time within which a group must be frozen. On a machine that is not busy milliseconds are enough, but the
/// kernel must come by each process, and some start others meanwhile.
const FROZEN_WITHIN: Duration = Duration::from_secs(5);
/// The time after which a group of version 1 that is still on its way is let go for an instant and frozen anew. One in which
/// processes start all the time may stay on its way for good; runc's authors found so, too.
const FROZEN_ANEW: Duration = Duration::from_millis(20);
const PERIOD_US: f64 = 20_000.0;
const LONGEST_PERIOD_US: f64 = 1_000_000.0;
const LEAST_QUOTA_US: f64 = 1_000.0;

/// The folder of a group for each controller, or why it has none.
#[derive(Debug)]
pub(crate) struct CgroupDirs {
    cpu: Result<CgroupDir, Unavailable>,
    accounts: Result<CgroupDir, Unavailable>,
    memory: Result<CgroupDir, Unavailable>,
    freezer: Result<CgroupDir, Unavailable>,
}

impl CgroupDirs {
    pub fn ours() -> CgroupDirs {
        guardian::post(Hierarchies::beginnings);
        CgroupDirs::below(Hierarchies::ours())
    }

    pub fn below(hierarchies: &Hierarchies) -> CgroupDirs {
        let group = format!("{PREFIX}{}", token());
        let dir = |controller| hierarchies.dir(&controller, &group);
        CgroupDirs {
            cpu: dir(Controller::CPU),
            accounts: dir(Controller::ACCOUNTS),
            memory: dir(Controller::MEMORY),
            freezer: dir(Controller::FREEZER),
        }
    }

    pub fn control(&self) -> Control {
        let version = |dir: &Result<CgroupDir, Unavailable>| {
            dir.as_ref().map(|it| it.version).map_err(Unavailable::clone)
        };
        Control { cpu: version(&self.cpu), memory: version(&self.memory), freezer: version(&self.freezer) }
    }

    /// The folders of the group, each once: controllers may share one.
    pub fn folders(&self) -> BTreeSet<PathBuf> {
        let all = [&self.cpu, &self.accounts, &self.memory, &self.freezer].into_iter().flatten();
        all.map(|dir| dir.folder.clone()).collect()
    }

    /// Moves the process with this id into the group, in all hierarchies. An error if the kernel refuses.
    pub fn join(&self, pid: i32) -> Result<(), Error> {
        self.folders().iter().try_for_each(|folder| write(folder, "cgroup.procs", &pid.to_string()))
    }

    pub fn limit_cpu(&self, share: Option<f64>) -> Result<(), Error> {
        let CgroupDir { version, folder } = had(&self.cpu, "limit CPU time")?;
        let limit =
            share.map(|share| quota_and_period_us(share).ok_or(Error::Share { share })).transpose()?;
        match (version, limit) {
            (Version::V1, limit) => {
                // The kernel might take neither the new quota with the old period, nor the old one with the new.
                write(folder, "cpu.cfs_quota_us", "-1")?;
                let Some((quota, period)) = limit else { return Ok(()) };
                write(folder, "cpu.cfs_period_us", &period.to_string())?;
                write(folder, "cpu.cfs_quota_us", &quota.to_string())
            }
            (Version::V2, Some((quota, period))) => write(folder, "cpu.max", &format!("{quota} {period}")),
            (Version::V2, None) => write(folder, "cpu.max", "max"),
        }
    }

    pub fn limit_memory(&self, bytes: u64) -> Result<(), Error> {
        let CgroupDir { version, folder } = had(&self.memory, "limit memory")?;
        let bytes = bytes.to_string();
        match version {
            Version::V1 if folder.join("memory.memsw.limit_in_bytes").exists() => {
                // The kernel takes no limit on memory and swap together that is below the one on memory alone.
                write(folder, "memory.memsw.limit_in_bytes", "-1")?;
                write(folder, "memory.limit_in_bytes", &bytes)?;
                write(folder, "memory.memsw.limit_in_bytes", &bytes)
            }
            // A kernel that does not count swap: then this group gets none when its limit is reached.
            Version::V1 => {
                write(folder, "memory.swappiness", "0")?;
                write(folder, "memory.limit_in_bytes", &bytes)
            }
            Version::V2 => {
                if folder.join("memory.swap.max").exists() {
                    write(folder, "memory.swap.max", "0")?;
                }
                write(folder, "memory.max", &bytes)
            }
        }
    }

    pub fn begin_freeze(&self) -> Result<(), Error> {
        let CgroupDir { version, folder } = had(&self.freezer, "freeze")?;
        match version {
            Version::V1 => write(folder, "freezer.state", "FROZEN"),
            Version::V2 => write(folder, "cgroup.freeze", "1"),
        }
    }

    pub fn freeze(&self) -> Result<(), Error> {
        self.begin_freeze()?;
        let CgroupDir { version, folder } = had(&self.freezer, "freeze")?;
        let (answer, frozen) = match version {
            Version::V1 => ("freezer.state", "FROZEN"),
            Version::V2 => ("cgroup.events", "frozen 1"),
        };
        let last = Instant::now() + FROZEN_WITHIN;
        let mut anew = Instant::now() + FROZEN_ANEW;
        while !text(folder, answer)?.lines().any(|line| line == frozen) {
            let now = Instant::now();
            if matches!(version, Version::V1) && now >= anew {
                write(folder, "freezer.state", "THAWED")?;
                self.begin_freeze()?;
                anew = now + FROZEN_ANEW;
            }
            if now >= last {
                let late = format!("not frozen yet, after {FROZEN_WITHIN:?}");
                let late = io::Error::new(io::ErrorKind::TimedOut, late);
                return Err(Error::Group { path: folder.join(answer), source: late });
            }
            thread::sleep(Duration::from_micros(50));
        }
        Ok(())
    }

    pub fn thaw(&self) -> Result<(), Error> {
        let CgroupDir { version, folder } = had(&self.freezer, "thaw")?;
        match version {
            Version::V1 => write(folder, "freezer.state", "THAWED"),
            Version::V2 => write(folder, "cgroup.freeze", "0"),
        }
    }

    pub fn cpu(&self) -> Result<Duration, Error> {
        let CgroupDir { version, folder } = had(&self.accounts, "count CPU time")?;
        let (file, duration) = match version {
            Version::V1 => {
                let text = text(folder, "cpuacct.usage")?;
                ("cpuacct.usage", text.trim().parse().ok().map(Duration::from_nanos))
            }
            Version::V2 => ("cpu.stat", value(folder, "cpu.stat", "usage_usec").map(Duration::from_micros)),
        };
        let torn = || Error::Group { path: folder.join(file), source: io::ErrorKind::InvalidData.into() };
        duration.ok_or_else(torn)
    }

    pub fn throttled(&self) -> Option<Duration> {
        let CgroupDir { version, folder } = self.cpu.as_ref().ok()?;
        match version {
            Version::V1 => value(folder, "cpu.stat", "throttled_time").map(Duration::from_nanos),
            Version::V2 => value(folder, "cpu.stat", "throttled_usec").map(Duration::from_micros),
        }
    }

    pub fn oom_kills(&self) -> Option<u64> {
        let CgroupDir { version, folder } = self.memory.as_ref().ok()?;
        match version {
            Version::V1 => value(folder, "memory.oom_control", "oom_kill"),
            Version::V2 => value(folder, "memory.events", "oom_kill"),
        }
    }

    pub fn peak_memory_bytes(&self) -> Option<u64> {
        let CgroupDir { version, folder } = self.memory.as_ref().ok()?;
        let file = match version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        };
        text(folder, file).ok()?.trim().parse().ok()
    }

    pub fn kill(&self) -> Result<(), Error> {
        let folders = self.folders();
        match (folder::empty(&folders), folders.into_iter().next()) {
            (false, Some(path)) => {
                let why = format!("not everything in it has ended within {GONE_WITHIN:?} of a SIGKILL");
                Err(Error::Group { path, source: io::Error::new(io::ErrorKind::TimedOut, why) })
            }
            _ => Ok(()),
        }
    }

    /// Takes the freeze and the limit of CPU time away from the group: see [`folder::release`].
    pub fn release(&self) {
        folder::release(&self.folders());
    }

    pub fn remove(&self) {
        folder::remove(&self.folders());
    }
}

impl Control {
    /// Finds out which controllers can be used: makes a group, and removes it, which takes 0.4 ms, measured.
    pub fn look() -> Control {
        let dirs = CgroupDirs::ours();
        dirs.remove();
        dirs.control()
    }
}

fn had<'a>(dir: &'a Result<CgroupDir, Unavailable>, what: &'static str) -> Result<&'a CgroupDir, Error> {
    dir.as_ref().map_err(|source| Error::NoGroup { what, source: source.clone() })
}

fn quota_and_period_us(share: f64) -> Option<(u64, u64)> {
    let period = PERIOD_US.max((LEAST_QUOTA_US / share).ceil());
    let known = share.is_finite() && share > 0.0 && period <= LONGEST_PERIOD_US;
    known.then(|| ((share * period).round() as u64, period as u64))
}

fn write(folder: &Path, file: &str, text: &str) -> Result<(), Error> {
    let path = folder.join(file);
    folder::write(&path, text).map_err(|source| Error::Group { path, source })
}

fn text(folder: &Path, file: &str) -> Result<String, Error> {
    let path = folder.join(file);
    fs::read_to_string(&path).map_err(|source| Error::Group { path, source })
}

/// The value behind a name, in a file that has a name and a value on each line. `None` if the file cannot be read or
/// does not have it.
fn value<T: FromStr>(folder: &Path, file: &str, name: &str) -> Option<T> {
    let text = text(folder, file).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}
