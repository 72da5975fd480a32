//! One measurement at a time: two would disturb each other.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;

/// Held while a run is measured; the system lets go of it when the process ends, however it ends.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of the results store in this folder, or says who has it.
    pub fn take(state: &Path) -> Result<Lock, String> {
        let path = state.join("measuring.lock");
        let cannot = |error| format!("cannot lock {}: {error}", path.display());
        let mut file = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&path)
            .map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                let _ = file.read_to_string(&mut owner);
                let owner = if owner.is_empty() { "unknown" } else { owner.trim() };
                return Err(format!(
                    "another kumite (process {owner}) is at work with this results store ({} is locked): wait for it to end",
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
        write().map_err(cannot)?;
        Ok(Lock { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_second_lock_is_refused_until_the_first_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take(folder.path()).unwrap();
        let refused = Lock::take(folder.path()).err().unwrap();
        assert!(refused.contains(&format!("(process {}) is at work", std::process::id())), "{refused}");
        drop(first);
        // What another test is just starting holds a copy of the file until it is executed.
        let began = Instant::now();
        while Lock::take(folder.path()).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60));
        }
    }
}
