//! The place of this process in the cgroup hierarchies, and the making of a group below it.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use nix::errno::Errno;

use super::control::Version;
use super::folder::{self, processes};
use crate::Unavailable;
use crate::owner::Owner;
use crate::proc_fs::Stat;
use crate::token::token;

/// The beginning of every group's name; behind it comes the token of the group's owner.
pub(crate) const PREFIX: &str = "kumite-";

/// A controller of cgroups, and for each version the file that shows that a group has it.
#[derive(Debug)]
pub(crate) struct Controller {
    name: &'static str,
    v1_file: &'static str,
    v2_file: &'static str,
    /// In version 2 a group has this controller only if the group above gives it; without this flag every group has
    /// it.
    asked_for: bool,
}

impl Controller {
    pub const CPU: Controller =
        Controller { name: "cpu", v1_file: "cpu.cfs_quota_us", v2_file: "cpu.max", asked_for: true };
    pub const ACCOUNTS: Controller =
        Controller { name: "cpuacct", v1_file: "cpuacct.usage", v2_file: "cpu.stat", asked_for: false };
    pub const MEMORY: Controller = Controller {
        name: "memory",
        v1_file: "memory.limit_in_bytes",
        v2_file: "memory.max",
        asked_for: true,
    };
    pub const FREEZER: Controller =
        Controller { name: "freezer", v1_file: "freezer.state", v2_file: "cgroup.freeze", asked_for: false };
    const ALL: [Controller; 4] =
        [Controller::CPU, Controller::ACCOUNTS, Controller::MEMORY, Controller::FREEZER];
}

/// A group's folder in one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CgroupDir {
    pub version: Version,
    pub folder: PathBuf,
}

#[derive(Debug, Default)]
pub(crate) struct Hierarchies {
    /// The hierarchies of version 1: the controllers of each, and the folder of our group in it.
    v1: Vec<(Vec<String>, PathBuf)>,
    v2: Option<PathBuf>,
    mounts: Vec<PathBuf>,
    /// Files put into a new folder in place of those that the kernel would make.
    #[cfg(test)]
    pub files: Vec<(&'static str, &'static str)>,
}

impl Hierarchies {
    /// The hierarchies, with the groups in which this process was when this was first called: it may move into a
    /// group of its own later.
    pub fn ours() -> &'static Hierarchies {
        static OURS: OnceLock<Hierarchies> = OnceLock::new();
        OURS.get_or_init(|| Hierarchies::at(Path::new("/")))
    }

    /// The hierarchies as `proc/self/cgroup` and the mount points below this root tell them.
    pub fn at(root: &Path) -> Hierarchies {
        let text = |file| fs::read_to_string(root.join(file)).unwrap_or_default();
        let (ours, mounts) = (text("proc/self/cgroup"), text("proc/self/mounts"));
        // Device, mount point, type, options.
        let mounts: Vec<Vec<&str>> = mounts.lines().map(|line| line.split(' ').collect()).collect();
        let mut found = Hierarchies::default();
        for line in ours.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let controllers: Vec<String> =
                controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            let is_v2 = controllers.is_empty();
            let is_useful = Controller::ALL.iter().any(|one| controllers.iter().any(|name| name == one.name));
            let is_ours = |mount: &&Vec<&str>| match (mount.get(2), mount.get(3)) {
                (Some(&"cgroup2"), _) => is_v2,
                (Some(&"cgroup"), Some(options)) => {
                    is_useful && controllers.iter().all(|name| options.split(',').any(|o| o == name))
                }
                _ => false,
            };
            let Some(mount) = mounts.iter().find(is_ours) else { continue };
            let mount = root.join(mount[1].trim_start_matches('/'));
            // A container may not see the folder that it is in, and what it sees as the mount point is that folder.
            let path = path.trim_matches('/');
            let folder = mount.join(path);
            let hidden = path.is_empty() || path.contains("..") || !folder.is_dir();
            let folder = if hidden { mount.clone() } else { folder };
            found.mounts.push(mount);
            match is_v2 {
                true => found.v2 = Some(folder),
                false => found.v1.push((controllers, folder)),
            }
        }
        found
    }

    /// The path prefixes of all groups of this owner, which is this process.
    pub fn beginnings(owner: &Owner) -> Vec<PathBuf> {
        Hierarchies::ours().bases().map(|base| base.join(format!("{PREFIX}{owner}-"))).collect()
    }

    /// The folders in which our groups are made.
    pub fn bases(&self) -> impl Iterator<Item = &Path> {
        self.v1.iter().map(|(_, base)| base.as_path()).chain(self.v2.as_deref())
    }

    pub fn mounts(&self) -> &[PathBuf] {
        &self.mounts
    }

    /// Makes the group's folder in the hierarchy of this controller, if it is not there yet. Version 1 is used if it
    /// has the controller and lets us, else version 2. The error says why neither can be used.
    pub fn dir(&self, controller: &Controller, group: &str) -> Result<CgroupDir, Unavailable> {
        let has = |(controllers, _): &&(Vec<String>, PathBuf)| {
            controllers.iter().any(|name| name == controller.name)
        };
        let v1 = self.v1.iter().find(has).map(|(_, base)| {
            self.make(base, group, controller.v1_file)
                .map(|folder| CgroupDir { version: Version::V1, folder })
        });
        let v2 = || {
            let base = self.v2.as_deref()?;
            let asked = if controller.asked_for { ask_for(base, controller.name) } else { Ok(()) };
            let folder = asked.and_then(|()| self.make(base, group, controller.v2_file));
            Some(folder.map(|folder| CgroupDir { version: Version::V2, folder }))
        };
        match v1 {
            Some(Ok(dir)) => Ok(dir),
            Some(Err(why)) => v2().and_then(Result::ok).ok_or(why),
            None => v2().unwrap_or(Err(Unavailable::Unmounted { controller: controller.name })),
        }
    }

    fn make(&self, base: &Path, group: &str, file: &'static str) -> Result<PathBuf, Unavailable> {
        let folder = base.join(group);
        let made = match fs::create_dir(&folder) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            made => made.map(|()| true).map_err(|error| Unavailable::refused(base, &error))?,
        };
        #[cfg(test)]
        for (file, text) in &self.files {
            fs::write(folder.join(file), text).unwrap();
        }
        if folder.join(file).exists() {
            return Ok(folder);
        }
        if made {
            let _ = fs::remove_dir(&folder);
        }
        Err(Unavailable::NoFile { group: base.to_owned(), file })
    }
}

/// Has version 2 give this controller to the groups below `base`.
fn ask_for(base: &Path, controller: &'static str) -> Result<(), Unavailable> {
    let has = |file| {
        let text = fs::read_to_string(base.join(file)).unwrap_or_default();
        text.split_whitespace().any(|name| name == controller)
    };
    if !has("cgroup.controllers") {
        return Err(Unavailable::Undelegated { group: base.to_owned(), controller });
    }
    if has("cgroup.subtree_control") {
        return Ok(());
    }
    let ask = || folder::write(&base.join("cgroup.subtree_control"), &format!("+{controller}"));
    match ask() {
        Err(error) if error.kind() == ErrorKind::ResourceBusy => {
            make_room(base)?;
            ask().map_err(|error| Unavailable::refused(base, &error))
        }
        asked => asked.map_err(|error| Unavailable::refused(base, &error)),
    }
}

/// Moves our processes out of `base` into a group of their own, because a group of version 2 that gives controllers
/// to those below it may have no processes itself. An error if others' processes are in it: those are not ours to
/// move.
fn make_room(base: &Path) -> Result<(), Unavailable> {
    let refused = |error: io::Error| Unavailable::refused(base, &error);
    if processes(base).map_err(refused)?.into_iter().any(|pid| !descends_from_us(pid)) {
        return Err(Unavailable::Shared { group: base.to_owned() });
    }
    let own = base.join(format!("{PREFIX}{}", token()));
    fs::create_dir(&own).map_err(refused)?;
    // A process that is to be moved may start another one before that.
    for _ in 0..10 {
        for pid in processes(base).map_err(refused)? {
            match folder::write(&own.join("cgroup.procs"), &pid.to_string()) {
                Err(error) if error.raw_os_error() != Some(Errno::ESRCH as i32) => {
                    return Err(refused(error));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn descends_from_us(pid: i32) -> bool {
    let us = std::process::id().cast_signed();
    let parent = |pid: &i32| Stat::read(*pid).map(|stat| stat.parent);
    std::iter::successors(Some(pid), parent).take(1000).any(|pid| pid == us)
}
