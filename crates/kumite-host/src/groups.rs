//! The cgroups that this process is in, and their folders.

use std::path::Path;

use crate::system::System;

/// The cgroups of our own process, in each hierarchy.
pub(crate) struct Groups {
    /// The hierarchies of version 1, each by its controllers.
    v1: Vec<(Vec<String>, CgroupDir)>,
    /// Our cgroup in version 2. `None` if version 2 is not mounted, or the kernel names no cgroup of it.
    pub v2: Option<CgroupDir>,
    /// True if the kernel says in which cgroups the process is.
    pub known: bool,
}

#[derive(Clone)]
pub(crate) struct CgroupDir {
    mount: String,
    /// The folder of our cgroup; the mount point if the folder cannot be seen, as in a container.
    pub folder: String,
}

impl CgroupDir {
    /// The cgroup's folder and those above it, up to the mount point.
    pub fn upwards(&self) -> impl Iterator<Item = &str> {
        let inside = |folder: &&Path| folder.starts_with(&self.mount);
        Path::new(&self.folder).ancestors().take_while(inside).filter_map(Path::to_str)
    }
}

impl Groups {
    pub fn read(system: &System) -> Groups {
        let (ours, mounts) = (system.text("/proc/self/cgroup"), system.text("/proc/self/mounts"));
        let known = ours.is_some() && mounts.is_some();
        let mut groups = Groups { v1: Vec::new(), v2: None, known };
        let (ours, mounts) = (ours.unwrap_or_default(), mounts.unwrap_or_default());
        // Device, mount point, type, options.
        let mounts: Vec<Vec<&str>> = mounts.lines().map(|line| line.split(' ').collect()).collect();
        for line in ours.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let controllers: Vec<String> =
                controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
            let is_ours = |mount: &&Vec<&str>| match (mount.get(2), mount.get(3)) {
                (Some(&"cgroup2"), _) => controllers.is_empty(),
                (Some(&"cgroup"), Some(options)) => {
                    !controllers.is_empty()
                        && controllers.iter().all(|name| options.split(',').any(|o| o == name))
                }
                _ => false,
            };
            let Some(mount) = mounts.iter().find(is_ours).map(|mount| mount[1].to_owned()) else { continue };
            let folder = format!("{mount}{}", path.trim_end_matches('/'));
            let folder = if system.exists(&folder) { folder } else { mount.clone() };
            let dir = CgroupDir { mount, folder };
            match controllers.is_empty() {
                true => groups.v2 = Some(dir),
                false => groups.v1.push((controllers, dir)),
            }
        }
        groups
    }

    /// Our cgroup's folder in the hierarchy of version 1 that has this controller; `None` if no hierarchy has it.
    pub fn v1(&self, controller: &str) -> Option<&str> {
        self.v1_dir(controller).map(|dir| dir.folder.as_str())
    }

    /// The mount point of the hierarchy of version 1 that has this controller; `None` if no hierarchy has it.
    pub fn v1_mount(&self, controller: &str) -> Option<&str> {
        self.v1_dir(controller).map(|dir| dir.mount.as_str())
    }

    /// Our cgroups' folders, each followed by those above it: in the hierarchy of version 1 that has this controller,
    /// and in version 2.
    pub fn folders(&self, controller: &str) -> impl Iterator<Item = &str> {
        let first = self.v1_dir(controller).into_iter().flat_map(CgroupDir::upwards);
        first.chain(self.v2.iter().flat_map(CgroupDir::upwards))
    }

    pub fn v1_dir(&self, controller: &str) -> Option<&CgroupDir> {
        let has =
            |(controllers, _): &&(Vec<String>, CgroupDir)| controllers.iter().any(|name| name == controller);
        self.v1.iter().find(has).map(|(_, dir)| dir)
    }
}
