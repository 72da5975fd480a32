//! Processes and control groups of trials that outlived them.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

/// In the environment of every process of a trial.
const MARK: &[u8] = b"KUMITE_TREE=";
/// The beginning of our control groups' names.
const GROUP: &str = "kumite-";

/// An error names every process and control group that is left.
pub fn nothing() -> Result<()> {
    let mut left = processes(Path::new("/proc"));
    groups(Path::new("/sys/fs/cgroup"), &mut left);
    if left.is_empty() { Ok(()) } else { Err(anyhow!("left behind: {}", left.join(", "))) }
}

fn processes(proc: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_ours = |folder: &PathBuf| {
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable.starts_with(MARK))
    };
    let say = |folder: PathBuf| {
        let command = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        format!("process {} ({})", folder.file_name().unwrap_or_default().to_string_lossy(), command.trim())
    };
    entries.filter(is_ours).map(say).collect()
}

fn groups(folder: &Path, left: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if entry.file_name().to_string_lossy().starts_with(GROUP) {
                left.push(entry.path().display().to_string());
            }
            groups(&entry.path(), left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_our_mark_and_a_group_with_our_name_are_found() {
        let place = tempfile::tempdir().unwrap();
        let write = |pid: &str, environment: &str| {
            let folder = place.path().join(pid);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("environ"), environment).unwrap();
            std::fs::write(folder.join("cmdline"), "server\0-p\0").unwrap();
        };
        write("7", "HOME=/\0KUMITE_TREE=1-2\0");
        write("8", "HOME=/KUMITE_TREE=\0");
        assert_eq!(processes(place.path()), ["process 7 (server -p)"]);
        std::fs::create_dir_all(place.path().join("cpu/kumite-7-1")).unwrap();
        let mut left = Vec::new();
        groups(place.path(), &mut left);
        assert_eq!(left, [place.path().join("cpu/kumite-7-1").display().to_string()]);
    }
}
