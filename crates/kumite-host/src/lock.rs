//! The lock by which one measurement at a time is made on a machine: two would disturb each other.

use std::fmt;
use std::fs::{File, Metadata, Permissions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

/// The number of tries to lock the file, if it is removed each time before it is locked.
const TRIES: usize = 10;
const LOOKS: usize = 3;

/// The time between two tries to take the lock while another process has it.
const EVERY: Duration = Duration::from_millis(100);

/// The reason why the lock of the machine was not taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another kumite measures on this machine, and has the lock. If the caller waited for the lock, the waiting time
    /// is over.
    #[error("another kumite ({holder}) is measuring on this machine ({} is locked): wait for it to end", path.display())]
    Taken {
        /// The path of the file that is locked.
        path: PathBuf,
        /// The process that has the lock, for messages only.
        holder: Holder,
    },
    /// The caller was told to stop while it waited for the lock.
    #[error("it was interrupted while it waited for another kumite ({holder})")]
    Interrupted {
        /// The process that had the lock.
        holder: Holder,
    },
    /// The lock's file cannot be made, opened or locked: by nobody, or not by this user.
    #[error("cannot lock {}: {source}", path.display())]
    Unusable {
        /// The path of the lock's file.
        path: PathBuf,
        /// The fault of the file, or the system's error.
        source: LockFileError,
    },
}

/// The process that has the lock, as the kernel shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// The process is in another pid namespace, has let go of the lock meanwhile, or is not shown by the kernel.
    Unseen,
    /// The process has this id here. It may have ended meanwhile.
    Process {
        /// The id of the process.
        pid: u32,
        /// The user of the process; `None` if it is our own, or if the process has just ended.
        user: Option<User>,
    },
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Holder::Unseen => f.write_str("a process that cannot be seen from here"),
            Holder::Process { pid, user: None } => write!(f, "process {pid}"),
            Holder::Process { pid, user: Some(user) } => write!(f, "process {pid} of {user}"),
        }
    }
}

/// The id of a user other than the one that this process runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User(u32);

impl User {
    /// The user of this id; `None` if it is our own.
    fn other(uid: u32) -> Option<User> {
        (uid != rustix::process::geteuid().as_raw()).then_some(User(uid))
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.0 {
            0 => f.write_str("root"),
            uid => write!(f, "user {uid}"),
        }
    }
}

/// The reason why the lock's file cannot be locked. The user in a variant is the owner of the file or link; `None` if
/// it belongs to the user of this process. The message names the owner and, if there is one, the remedy.
#[derive(Debug, thiserror::Error)]
pub enum LockFileError {
    /// The path is a symbolic link, which is not followed.
    #[error("it is a symbolic link{}; remove it", and_of(.0))]
    Link(Option<User>),
    /// The path is no regular file but a folder, a pipe or a device.
    #[error("it is no regular file{}; remove it", and_of(.0))]
    NoFile(Option<User>),
    /// This user may not read the file: it belongs to another one, or has a mode that lets nobody read it.
    #[error("nobody else may read it{}; have it removed", and_of(.0))]
    Unreadable(Option<User>),
    /// The file was removed each time before it could be locked.
    #[error("somebody removes it again and again")]
    Removed,
    /// The system refused to make, open or lock the file.
    #[error(transparent)]
    System(#[from] io::Error),
}

fn and_of(user: &Option<User>) -> String {
    user.map_or(String::new(), |user| format!(", and of {user}"))
}

/// The lock of the machine, held while a run is measured. It is let go of when this value is dropped, or when the
/// process ends, in whatever way.
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of this machine, without waiting. An error if another process has the lock, or if its file cannot
    /// be locked. The file is `$KUMITE_LOCK` if that is set, as in tests; else `kumite-measuring.lock` in `/run/lock`
    /// or `/tmp` if everybody may make files there, or in the folder for temporary files.
    pub fn of_machine() -> Result<Lock, LockError> {
        Lock::take(&path_of_machine())
    }

    /// Takes the lock of this machine as [`of_machine`](Self::of_machine) does, but waits while another process has the
    /// lock. [`LockError::Taken`] if another process still has it after `most`; [`LockError::Interrupted`] if `stop` is
    /// set meanwhile. Calls `tell` with the holder when the waiting begins, and whenever another process is seen to
    /// have the lock.
    pub fn of_machine_within(
        most: Duration,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Holder),
    ) -> Result<Lock, LockError> {
        Lock::take_within(&path_of_machine(), most, stop, tell)
    }

    fn take_within(
        path: &Path,
        most: Duration,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Holder),
    ) -> Result<Lock, LockError> {
        let began = Instant::now();
        let mut told = None;
        loop {
            let taken = match Lock::take(path) {
                Err(taken @ LockError::Taken { .. }) => taken,
                done => return done,
            };
            let LockError::Taken { holder, .. } = taken else { return Err(taken) };
            if stop.load(Ordering::Relaxed) {
                return Err(LockError::Interrupted { holder });
            }
            // Between two holders there may be a moment without one.
            if told.is_none() || (holder != Holder::Unseen && told != Some(holder)) {
                tell(holder);
                told = Some(holder);
            }
            let left = most.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(taken);
            }
            std::thread::sleep(EVERY.min(left));
        }
    }

    fn take(path: &Path) -> Result<Lock, LockError> {
        let unusable = |source| LockError::Unusable { path: path.to_owned(), source };
        for _ in 0..TRIES {
            let file = open(path).map_err(unusable)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, path) => return Ok(Lock { _file: file }),
                // Somebody has removed the file meanwhile, and whoever comes next locks another.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(LockError::Taken { path: path.to_owned(), holder: holder(&file) });
                }
                Err(TryLockError::Error(error)) => return Err(unusable(error.into())),
            }
        }
        Err(unusable(LockFileError::Removed))
    }
}

fn path_of_machine() -> PathBuf {
    if let Some(own) = std::env::var_os("KUMITE_LOCK") {
        return own.into();
    }
    let mode =
        |folder: &Path| std::fs::metadata(folder).ok().filter(Metadata::is_dir).map(|found| found.mode());
    let shared = [Path::new("/run/lock"), Path::new("/tmp")]
        .into_iter()
        .find(|folder| mode(folder).is_some_and(is_for_all));
    shared.map_or_else(std::env::temp_dir, Path::to_owned).join("kumite-measuring.lock")
}

/// `true` if everybody may make files in a folder of this mode, and nobody may remove those of others.
fn is_for_all(mode: u32) -> bool {
    mode & 0o1003 == 0o1003
}

/// `true` if `path` still leads to this open file.
fn is_at(file: &File, path: &Path) -> bool {
    let same = |at: Metadata, held: Metadata| (at.dev(), at.ino()) == (held.dev(), held.ino());
    std::fs::symlink_metadata(path).ok().zip(file.metadata().ok()).is_some_and(|(at, held)| same(at, held))
}

/// Opens the lock's file, and makes it if it is missing. An error if that cannot be, or if it is no regular file.
///
/// Whoever may make files in the folder may have put anything under this name. So no link is followed, no pipe is
/// waited for, nothing is written, and nothing in the file is believed. To lock the file one need only read it, so
/// users of one machine exclude each other, whoever made it. A user who keeps it locked keeps others from measuring,
/// just as one who measures does; the message names that user.
fn open(path: &Path) -> Result<File, LockFileError> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let open = || File::options().read(true).custom_flags(flags).open(path);
    let opened = match open() {
        // Another process may make the file meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => make(path).or_else(|_| open()),
        opened => opened,
    };
    let file = opened.map_err(|error| match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => LockFileError::Link(User::other(found.uid())),
        Ok(found) if error.kind() == ErrorKind::PermissionDenied => {
            LockFileError::Unreadable(User::other(found.uid()))
        }
        _ => error.into(),
    })?;
    let found = file.metadata()?;
    if found.is_file() { Ok(file) } else { Err(LockFileError::NoFile(User::other(found.uid()))) }
}

/// Makes the lock's file readable for everybody, whatever our own umask is. An error if it is there already.
fn make(path: &Path) -> std::io::Result<File> {
    let file = File::options().create_new(true).read(true).write(true).open(path)?;
    file.set_permissions(Permissions::from_mode(0o644))?;
    Ok(file)
}

fn holder(file: &File) -> Holder {
    // A list that others change while it is read may lack a lock.
    let locks = || std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let inode = file.metadata().ok().map(|found| found.ino());
    let pid = inode.and_then(|inode| (0..LOOKS).find_map(|_| holder_pid(&locks(), inode)));
    pid.map_or(Holder::Unseen, |pid| {
        let owner = std::fs::metadata(format!("/proc/{pid}")).ok();
        Holder::Process { pid, user: owner.and_then(|found| User::other(found.uid())) }
    })
}

/// The id of the process that has the lock on this inode, from `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 1234
/// fe:01:5678 0 EOF`. `None` if there is none, or it is in another pid namespace, where its id is 0.
fn holder_pid(locks: &str, inode: u64) -> Option<u32> {
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
    use super::*;

    #[test]
    fn a_second_lock_is_refused_until_the_first_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lock");
        let first = Lock::take(&file).unwrap();
        let Err(LockError::Taken { path, holder }) = Lock::take(&file) else { panic!() };
        assert_eq!((path, holder), (file.clone(), Holder::Process { pid: std::process::id(), user: None }));
        drop(first);
        // A process that another test is just starting holds a copy of the file until it is executed.
        let began = Instant::now();
        while Lock::take(&file).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60));
        }
    }

    #[test]
    fn who_waits_has_the_lock_when_it_is_free_and_is_told_once_for_whom_it_waits() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lock");
        let mut first = Some(Lock::take(&file).unwrap());
        let mut told = Vec::new();
        let stop = AtomicBool::new(false);
        let taken = Lock::take_within(&file, Duration::from_secs(60), &stop, &mut |holder| {
            told.push(holder);
            first = None;
        });
        assert!(taken.is_ok());
        assert_eq!(told, [Holder::Process { pid: std::process::id(), user: None }]);
    }

    #[test]
    fn nobody_waits_longer_than_was_said_nor_when_told_to_stop() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lock");
        let _first = Lock::take(&file).unwrap();
        let stop = AtomicBool::new(false);
        let waited = Lock::take_within(&file, Duration::from_millis(1), &stop, &mut |_| {});
        assert!(matches!(waited, Err(LockError::Taken { .. })));
        // Only the second look sees it.
        let waited =
            Lock::take_within(&file, Duration::MAX, &stop, &mut |_| stop.store(true, Ordering::Relaxed));
        assert!(matches!(waited, Err(LockError::Interrupted { .. })));
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
            let refused = Lock::take(&path(name)).err().unwrap().to_string();
            assert_eq!(refused, format!("cannot lock {}: {why}", path(name).display()));
        }
        assert!(!path("nothing").exists());
        // Another's name for it is a name of it: it is locked, and left as it is.
        std::fs::hard_link(path("victim"), path("name")).unwrap();
        drop(Lock::take(&path("name")).unwrap());
        assert_eq!(std::fs::read_to_string(path("victim")).unwrap(), "precious");
    }

    /// Whoever may remove the file may make another: it is the one at the path that counts.
    #[test]
    fn a_file_that_is_not_there_any_more_is_no_lock() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = open(&path).unwrap();
        assert!(is_at(&file, &path));
        std::fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path));
        let other = open(&path).unwrap();
        assert!(is_at(&other, &path) && !is_at(&file, &path));
    }

    #[test]
    fn the_folder_is_one_in_which_all_may_make_files_and_remove_only_theirs() {
        assert!(is_for_all(0o41777));
        assert!(!is_for_all(0o40755) && !is_for_all(0o40777) && !is_for_all(0o41770));
    }

    /// A lock of another user excludes like one of ours, and is named as theirs. (Root may give files away.)
    #[test]
    fn a_file_of_another_user_is_locked_like_ours_and_named_where_it_cannot_be() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("lock"), "").unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        let theirs = rustix::process::geteuid().as_raw() + 4711;
        let given = |name| std::os::unix::fs::chown(path(name), Some(theirs), None).is_ok();
        let (owner, is_given) = match given("lock") && given("folder") {
            true => (format!(", and of user {theirs}"), true),
            false => (String::new(), false),
        };
        let lock = Lock::take(&path("lock")).unwrap();
        assert!(matches!(Lock::take(&path("lock")), Err(LockError::Taken { .. })));
        drop(lock);
        assert_eq!(is_given, std::fs::metadata(path("lock")).unwrap().uid() == theirs);
        let refused = Lock::take(&path("folder")).err().unwrap().to_string();
        let words =
            format!("cannot lock {}: it is no regular file{owner}; remove it", path("folder").display());
        assert_eq!(refused, words);
        assert_eq!((User(0).to_string(), User(7).to_string()), ("root".to_owned(), "user 7".to_owned()));
    }

    #[test]
    fn who_has_a_lock_is_said_by_the_kernel_alone() {
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:01:77 0 EOF\n1: -> FLOCK  ADVISORY  WRITE 12 fe:01:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 0 fe:01:78 0 EOF\n3: FLOCK  ADVISORY  WRITE 13 fe:01:77 0 EOF\n";
        assert_eq!(holder_pid(locks, 77), Some(13));
        assert_eq!(
            (holder_pid(locks, 78), holder_pid(locks, 7), holder_pid("x\n\n", 77)),
            (None, None, None)
        );
    }
}
