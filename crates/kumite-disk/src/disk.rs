//! A mount's life: from an empty folder to an empty folder, whatever happens in between.
//!
//! Two threads serve it: one answers the kernel, one answers reads that are due. [`Disk::serve`] and dropping end
//! both. The mount is removed even while files on it are open: a reader of a disk without a process would wait for
//! ever. Only SIGKILL leaves a dead mount behind; [`dead`](crate::dead) finds it.

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
use crate::{Error, LONGEST_DELAY, NoFuse, Report, write_files};

/// The name of slow disks' mounts in `/proc/self/mountinfo`.
pub(crate) const NAME: &str = "kumite-disk";
/// The longest time for which a stop goes unseen.
const LOOK: Duration = Duration::from_millis(50);
/// The longest wait for the thread of an unmounted disk. If the disk is in use and only fusermount3 could unmount it,
/// the thread goes on until the process ends.
const PATIENCE: Duration = Duration::from_secs(1);

/// A slow disk at work. It is unmounted when this is dropped.
#[derive(Debug)]
pub struct Disk {
    mount_point: PathBuf,
    start: Instant,
    queue: Arc<Queue>,
    unmounter: SessionUnmounter,
    /// The two threads; none once the disk has ended.
    threads: Option<Threads>,
}

#[derive(Debug)]
struct Threads {
    session: JoinHandle<io::Result<()>>,
    head: JoinHandle<()>,
}

impl Disk {
    /// Mounts a mirror of the plain files in `folder`, as they are now, at `mount_point`, an empty folder. Subfolders
    /// and links are left out. `delay` is that of a seek.
    ///
    /// # Errors
    ///
    /// If one of the folders does not exist, `folder` has no plain file, `mount_point` is not empty, the delay is
    /// zero or above [`LONGEST_DELAY`], or the system refuses.
    pub fn mount(folder: &Path, mount_point: &Path, delay: Duration) -> Result<Disk, Error> {
        if delay.is_zero() || delay > LONGEST_DELAY {
            return Err(Error::Delay(delay));
        }
        let mirror = Mirror::new(folder)?;
        let mount_point = empty_folder(mount_point)?;
        let queue = Arc::new(Queue::new(delay));
        let file_system = FileSystem { mirror, queue: Arc::clone(&queue) };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::RO, MountOption::FSName(NAME.to_owned())];
        let mut session =
            Session::new(file_system, &mount_point, &config).map_err(|error| Error::Fuse(missing(error)))?;
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

    /// The absolute path at which the disk is mounted.
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// Serves until `stop` is set, which is looked at every 50 ms, or until somebody else unmounts the disk. Then
    /// unmounts it, even if it is in use: reads that wait, and later ones, get an error.
    ///
    /// # Errors
    ///
    /// If the disk cannot be unmounted, or the kernel failed it.
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
            // Without root it was mounted by fusermount3, which unmounts it, too.
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

/// Tries whether a slow disk can be had: mounts one in the folder for temporary files, and unmounts it. (A container
/// may have the device and yet refuse to mount.)
///
/// # Errors
///
/// If there can be no slow disk here. The error says what is missing.
pub fn available() -> Result<(), Error> {
    let (files, mount_point) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write_files(files.path(), 1, 1)?;
    Disk::mount(files.path(), mount_point.path(), Duration::from_millis(1))?.end()
}

/// Unmounts whatever is mounted at `mount_point`, even if it is in use, and even the dead mount of a disk that was
/// killed by SIGKILL. Does nothing if nothing is mounted there.
///
/// # Errors
///
/// If there is no such path, or the process is not root and so may not. (A user's own disk can then be unmounted by
/// `fusermount3 -u -z`, which is not tried here.)
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

/// The part of FUSE that is missing, found by opening the device where the refusal does not tell.
fn missing(refusal: io::Error) -> NoFuse {
    match File::options().read(true).write(true).open("/dev/fuse") {
        Err(device) if device.kind() == io::ErrorKind::NotFound => NoFuse::NoDevice,
        Err(device) => NoFuse::ClosedDevice(device),
        Ok(_) if refusal.kind() == io::ErrorKind::NotFound => NoFuse::NoMounter,
        Ok(_) => NoFuse::Refused(refusal),
    }
}
