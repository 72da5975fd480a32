//! The errors of a slow disk, each with the path that it is about and its cause.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// The reason why there can be no slow disk, or why it cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder to mirror does not exist, is no folder, or cannot be read.
    #[error("cannot read the folder {}: {source}; name one with the files to mirror", folder.display())]
    Folder {
        /// The path of the folder.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The folder to mirror has no plain files.
    #[error("there is no plain file in {}: put some there before it is mounted", .0.display())]
    NoFiles(PathBuf),
    /// The mount point does not exist, is no folder, or cannot be read.
    #[error("cannot mount at {}: {source}; name an empty folder", mount_point.display())]
    MountPoint {
        /// The path of the mount point.
        mount_point: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The mount point is not empty: its contents would be hidden.
    #[error("cannot mount at {}: there is something in it; name an empty folder", .0.display())]
    NotEmpty(PathBuf),
    /// The mount point has a dead mount, of a file system whose process was killed.
    #[error("cannot mount at {}: a dead mount is there, of a process that was killed; take it away with `umount -l {}` \
             or `fusermount3 -u {}`",
        mount_point.display(), mount_point.display(), mount_point.display())]
    Dead {
        /// The path of the mount point.
        mount_point: PathBuf,
    },
    /// The delay is zero, or above [`LONGEST_DELAY`](crate::LONGEST_DELAY).
    #[error("a delay of {0:?} makes no sense: it must be above 0 and at most {LONGEST:?}", LONGEST = crate::LONGEST_DELAY)]
    Delay(Duration),
    /// The disk cannot be mounted by FUSE.
    #[error("cannot mount by FUSE: {0}")]
    Fuse(#[source] NoFuse),
    /// The disk cannot be unmounted.
    #[error("cannot unmount {}: {source}; try `fusermount3 -u -z {}`", mount_point.display(), mount_point.display())]
    Unmount {
        /// The path of the mount point.
        mount_point: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file of [`write_files`](crate::write_files) cannot be written.
    #[error("cannot write {}: {source}", file.display())]
    Write {
        /// The path of the file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A thread of the disk could not be started, panicked, or got an error from the kernel; or
    /// [`available`](crate::available) could not make a folder for its trial.
    #[error("the disk cannot go on: {0}")]
    System(#[from] io::Error),
}

/// The reason why nothing can be mounted by FUSE: the part that is missing or, if none is, the refusal.
#[derive(Debug, thiserror::Error)]
pub enum NoFuse {
    /// The kernel has no FUSE, or the container does not have the device.
    #[error(
        "there is no /dev/fuse; load the kernel's module (`modprobe fuse`), or give the container the device \
         (`--device /dev/fuse`)"
    )]
    NoDevice,
    /// The device is there and cannot be opened, most often because this user may not.
    #[error("/dev/fuse may not be opened ({0}); be root, or give the container the device")]
    ClosedDevice(#[source] io::Error),
    /// The process is not root, and fusermount3, which is, is not installed.
    #[error(
        "it takes CAP_SYS_ADMIN or fusermount3, and neither is here; be root in a container with `--cap-add \
         SYS_ADMIN`, or install fuse3"
    )]
    NoMounter,
    /// The kernel or fusermount3 refused for another reason.
    #[error("{}", .0.to_string().trim_end())]
    Refused(#[source] io::Error),
}
