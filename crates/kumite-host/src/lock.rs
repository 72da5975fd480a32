//! One measurement at a time: two would disturb each other.

use std::fs::{File, Permissions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Held while a run is measured; the system lets go of it when the process ends, however it ends.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of this machine, or says who has it. Tests have one of their own, in `$KUMITE_LOCK`.
    pub fn of_machine() -> Result<Lock, String> {
        let own = std::env::var_os("KUMITE_LOCK").map(PathBuf::from);
        Lock::take(&own.unwrap_or_else(|| {
            // A folder in which everybody may make files, and which is one for all.
            let shared =
                [Path::new("/run/lock"), Path::new("/tmp")].into_iter().find(|folder| folder.is_dir());
            shared.map_or_else(std::env::temp_dir, Path::to_owned).join("kumite-measuring.lock")
        }))
    }

    fn take(path: &Path) -> Result<Lock, String> {
        let cannot = |why: String| format!("cannot lock {}: {why}", path.display());
        let file = open(path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(format!(
                "another kumite ({}) is measuring on this machine ({} is locked): wait for it to end",
                holder(&file).map_or("a process that cannot be seen from here".to_owned(), |pid| format!(
                    "process {pid}"
                )),
                path.display()
            )),
            Err(TryLockError::Error(error)) => Err(cannot(error.to_string())),
        }
    }
}

/// Whoever may make files in that folder may have made anything under this name: so no link is followed, nobody who
/// writes to a pipe is waited for, and nothing is ever written. To lock what another user has made, one has only to read it.
fn open(path: &Path) -> Result<File, String> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open = || File::options().read(true).custom_flags(flags).open(path);
    let opened = match open() {
        // Another may make it meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => make(path).or_else(|_| open()),
        opened => opened,
    };
    let file = opened.map_err(|error| match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => "it is a symbolic link; remove it".to_owned(),
        _ => error.to_string(),
    })?;
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(file),
        Ok(_) => Err("it is no regular file; remove it".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// For everybody, whatever our own mask is.
fn make(path: &Path) -> std::io::Result<File> {
    let file = File::options().create_new(true).read(true).write(true).open(path)?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    Ok(file)
}

/// By what the kernel says.
fn holder(file: &File) -> Option<u32> {
    let inode = file.metadata().ok()?.ino();
    of_locks(&std::fs::read_to_string("/proc/locks").ok()?, inode)
}

/// `1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF`: who has the lock of this inode. A process of another namespace is 0.
fn of_locks(locks: &str, inode: u64) -> Option<u32> {
    let held = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, at, ..] = fields[..] else { return None };
        let of_inode = at.rsplit(':').next()?.parse() == Ok(inode);
        pid.parse().ok().filter(|pid| of_inode && *pid > 0)
    };
    locks.lines().find_map(held)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_second_lock_is_refused_until_the_first_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lock");
        let first = Lock::take(&file).unwrap();
        let refused = Lock::take(&file).err().unwrap();
        assert!(refused.contains(&format!("(process {}) is measuring", std::process::id())), "{refused}");
        drop(first);
        // What another test is just starting holds a copy of the file until it is executed.
        let began = Instant::now();
        while Lock::take(&file).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60));
        }
    }

    #[test]
    fn what_is_no_file_is_not_locked_and_what_is_in_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("victim"), "precious").unwrap();
        std::os::unix::fs::symlink(path("victim"), path("link")).unwrap();
        std::os::unix::fs::symlink(path("nothing"), path("dangling")).unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RWXU,
            0,
        )
        .unwrap();
        for (name, why) in [
            ("link", "it is a symbolic link; remove it"),
            ("dangling", "it is a symbolic link; remove it"),
            ("folder", "it is no regular file; remove it"),
            ("pipe", "it is no regular file; remove it"),
        ] {
            let refused = Lock::take(&path(name)).err().unwrap();
            assert_eq!(refused, format!("cannot lock {}: {why}", path(name).display()));
        }
        assert!(!path("nothing").exists());
        // Another's name for it is a name of it: it is locked, and left as it is.
        std::fs::hard_link(path("victim"), path("name")).unwrap();
        drop(Lock::take(&path("name")).unwrap());
        assert_eq!(std::fs::read_to_string(path("victim")).unwrap(), "precious");
    }

    #[test]
    fn who_has_a_lock_is_said_by_the_kernel_alone() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:01:77 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 12 fe:01:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 0 fe:01:78 0 EOF\n3: FLOCK  ADVISORY  WRITE 13 fe:01:77 0 EOF\n";
        assert_eq!(of_locks(locks, 77), Some(13));
        assert_eq!((of_locks(locks, 78), of_locks(locks, 7), of_locks("x\n\n", 77)), (None, None, None));
    }
}
