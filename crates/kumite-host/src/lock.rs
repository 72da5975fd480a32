//! One measurement at a time: two would disturb each other.

use std::fs::{File, Permissions, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

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
        let cannot = |error| format!("cannot lock {}: {error}", path.display());
        // What another user has made is opened as it is: to lock it, one need not be able to write to it.
        let opened = File::options().read(true).write(true).open(path).or_else(|_| File::open(path));
        let mut file = opened.or_else(|_| make(path)).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = file.read_to_string(&mut owner);
                let owner = if owner.is_empty() { "unknown" } else { owner.trim() };
                return Err(format!(
                    "another kumite (process {owner}) is measuring on this machine ({} is locked): wait for it to end",
                    path.display()
                ));
            }
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let mut write = || {
            file.set_len(0)?;
            file.rewind()?;
            writeln!(file, "{}", std::process::id())
        };
        // For whoever is refused; nothing hangs on it.
        let _ = write();
        Ok(Lock { _file: file })
    }
}

/// For everybody, whatever our own mask is.
fn make(path: &Path) -> std::io::Result<File> {
    let file = File::options().create(true).truncate(false).read(true).write(true).open(path)?;
    file.set_permissions(Permissions::from_mode(0o666))?;
    Ok(file)
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
}
