use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use fuser::{Config, MountOption, Session, SessionUnmounter};
use rustix::io::Errno;
use rustix::mount::UnmountFlags;

use crate::file_system::FileSystem;
use crate::mirror::Mirror;
use crate::priority::take_real_time;
use crate::queue::Queue;
use crate::{Error, LONGEST_DELAY, Report, write_files};

/// By which mounts of ours are known.
pub(crate) const NAME: &str = "kumite-disk";
/// How long a stop may go unseen.
const LOOK: Duration = Duration::from_millis(50);
/// How long the session of an unmounted disk may take to end. One that is in use does not, where only fusermount3
/// could unmount it; it then ends with the process.
const PATIENCE: Duration = Duration::from_secs(1);

/// A slow disk at work. It is unmounted when it is dropped.
#[derive(Debug)]
pub struct Disk {
    mount_point: PathBuf,
    start: Instant,
    queue: Arc<Queue>,
    unmounter: SessionUnmounter,
    /// None once it is ended.
    threads: Option<Threads>,
}

#[derive(Debug)]
struct Threads {
    session: JoinHandle<io::Result<()>>,
    head: JoinHandle<()>,
}

impl Disk {
    /// Mounts a mirror of the plain files in `folder`, as they are now, at `mount_point`, an empty folder. Subfolders
    /// and links are not in it.
    ///
    /// # Errors
    ///
    /// If there are no such folders, the delay is zero or above [`LONGEST_DELAY`], or the system refuses.
    pub fn mount(folder: &Path, mount_point: &Path, delay: Duration) -> Result<Disk, Error> {
        if delay.is_zero() || delay > LONGEST_DELAY {
            return Err(Error::Delay(delay));
        }
        let mirror = Mirror::of(folder)?;
        let mount_point = empty_folder(mount_point)?;
        let queue = Arc::new(Queue::new(delay));
        let file_system = FileSystem { mirror, queue: Arc::clone(&queue) };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::RO, MountOption::FSName(NAME.to_owned())];
        let mut session =
            Session::new(file_system, &mount_point, &config).map_err(|error| refusal(&error))?;
        let start = Instant::now();
        let unmounter = session.unmount_callable();
        let head = Arc::clone(&queue);
        let threads = Threads {
            head: thread::Builder::new().name("disk-head".to_owned()).spawn(move || head.answer_in_time())?,
            session: thread::Builder::new().name("disk".to_owned()).spawn(|| {
                take_real_time();
                session.run()
            })?,
        };
        Ok(Disk { mount_point, start, queue, unmounter, threads: Some(threads) })
    }

    /// Where it is mounted: an absolute path.
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// Serves until `stop` is set, which is looked at every 50 ms, or somebody else unmounts it. Then unmounts it,
    /// even if it is in use: reads that wait, and all that come, get an error.
    ///
    /// # Errors
    ///
    /// If it cannot be unmounted, or the kernel failed it.
    pub fn serve(mut self, stop: &AtomicBool) -> Result<Report, Error> {
        while !stop.load(Ordering::Relaxed) && !self.is_over() {
            thread::sleep(LOOK);
        }
        self.end()?;
        Ok(Report { duration: self.start.elapsed(), ..self.queue.report() })
    }

    fn is_over(&self) -> bool {
        self.threads.as_ref().is_none_or(|threads| threads.session.is_finished())
    }

    fn end(&mut self) -> Result<(), Error> {
        if !self.is_over() {
            self.unmount()?;
        }
        let Some(Threads { session, head }) = self.threads.take() else { return Ok(()) };
        self.queue.stop();
        // It does not panic.
        let _ = head.join();
        let until = Instant::now() + PATIENCE;
        while !session.is_finished() && Instant::now() < until {
            thread::sleep(Duration::from_millis(1));
        }
        if session.is_finished() {
            let ended = session.join().unwrap_or_else(|_| Err(io::Error::other("its thread has panicked")));
            match ended {
                // The kernel says so to whoever asks for work in the very moment of unmounting.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                ended => ended?,
            }
        }
        Ok(())
    }

    fn unmount(&mut self) -> Result<(), Error> {
        match unmount(&self.mount_point) {
            // Who is not root has mounted by fusermount3, and unmounts by it.
            Err(Error::Unmount { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => self
                .unmounter
                .unmount()
                .map_err(|source| Error::Unmount { mount_point: self.mount_point.clone(), source }),
            done => done,
        }
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Whether there can be a slow disk here; if not, what is missing, in words. Mounts one in the folder for temporary
/// files, and unmounts it: a container may have the device and refuse to mount, and nothing else tells.
///
/// # Errors
///
/// If there cannot.
pub fn available() -> Result<(), String> {
    let try_it = || -> Result<(), Error> {
        let (files, mount_point) = (tempfile::tempdir()?, tempfile::tempdir()?);
        write_files(files.path(), 1, 1)?;
        Disk::mount(files.path(), mount_point.path(), Duration::from_millis(1))?.end()
    };
    try_it().map_err(|error| error.to_string())
}

/// Unmounts what is mounted there, even if it is in use, and the dead mount that a disk leaves which was killed by
/// SIGKILL. If nothing is mounted there, nothing is done.
///
/// # Errors
///
/// If there is no such path, or the process is not root (`fusermount3 -u -z` then does it).
pub fn unmount(mount_point: &Path) -> Result<(), Error> {
    // FORCE has the kernel end what waits in it, DETACH takes it away while files in it are open.
    let flags = UnmountFlags::FORCE | UnmountFlags::DETACH | UnmountFlags::NOFOLLOW;
    match rustix::mount::unmount(mount_point, flags) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(errno) => Err(Error::Unmount { mount_point: mount_point.to_owned(), source: errno.into() }),
    }
}

fn empty_folder(mount_point: &Path) -> Result<PathBuf, Error> {
    let look = || -> io::Result<(PathBuf, bool)> {
        let absolute = mount_point.canonicalize()?;
        let is_empty = std::fs::read_dir(&absolute)?.next().is_none();
        Ok((absolute, is_empty))
    };
    match look() {
        Ok((absolute, true)) => Ok(absolute),
        Ok((absolute, false)) => Err(Error::NotEmpty(absolute)),
        Err(error) if error.kind() == io::ErrorKind::NotConnected => {
            Err(Error::Dead { mount_point: mount_point.to_owned() })
        }
        Err(source) => Err(Error::MountPoint { mount_point: mount_point.to_owned(), source }),
    }
}

/// What is missing, as far as it can be told from what was refused.
fn refusal(error: &io::Error) -> Error {
    let missing = match File::options().read(true).write(true).open("/dev/fuse") {
        Err(device) if device.kind() == io::ErrorKind::NotFound => {
            "there is no /dev/fuse; load the kernel's module (`modprobe fuse`), or give the container the device \
             (`--device /dev/fuse`)"
                .to_owned()
        }
        Err(device) => format!("/dev/fuse may not be opened ({device}); be root, or give the container the device"),
        Ok(_) if error.kind() == io::ErrorKind::NotFound => {
            "it takes CAP_SYS_ADMIN or fusermount3, and neither is here; be root in a container with `--cap-add \
             SYS_ADMIN`, or install fuse3"
                .to_owned()
        }
        Ok(_) => error.to_string().trim_end().to_owned(),
    };
    Error::Fuse(missing)
}
