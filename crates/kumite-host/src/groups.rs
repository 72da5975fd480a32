//! The cgroups that this process is in.

use std::path::Path;

use crate::system::System;

/// The groups of our own process.
pub(crate) struct Groups {
    /// Controllers, mount point and folder of each of version 1.
    v1: Vec<(Vec<String>, CgroupDir)>,
    pub v2: Option<CgroupDir>,
    /// The kernel says where it is.
    pub known: bool,
}

#[derive(Clone)]
pub(crate) struct CgroupDir {
    mount: String,
    /// The folder of our group, or the mount point where the folder cannot be seen.
    pub folder: String,
}

impl CgroupDir {
    /// The folder and those above it, up to the mount point.
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

    /// Our folder in the hierarchy of version 1 that has this controller.
    pub fn v1(&self, controller: &str) -> Option<&str> {
        self.v1_dir(controller).map(|dir| dir.folder.as_str())
    }

    /// Where the hierarchy of version 1 that has this controller is mounted.
    pub fn v1_mount(&self, controller: &str) -> Option<&str> {
        self.v1_dir(controller).map(|dir| dir.mount.as_str())
    }

    /// Our folders in the hierarchies that have this controller, and those above them.
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
