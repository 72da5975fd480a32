//! Why there is no ring.

use rustix::io::Errno;

/// Why a ring could not be made. After the first three the sockets can still be served by epoll.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The kernel has no io_uring (`ENOSYS`).
    #[error("this kernel has no io_uring, or a seccomp filter hides it; use epoll")]
    Missing,
    /// io_uring is there, and this process may not use it (`EPERM`, `EACCES`).
    #[error(
        "io_uring is forbidden here, by the sysctl kernel.io_uring_disabled or a container's seccomp filter; use epoll"
    )]
    Forbidden,
    /// The kernel's io_uring does not know what the ring is built on (`EINVAL`).
    #[error("this kernel's io_uring is too old, Linux 6.1 is needed; use epoll")]
    Old,
    /// More sockets than the limit of open files allows (`EMFILE`).
    #[error("no {connections} sockets can be registered: raise the limit of open files (ulimit -n)")]
    Files {
        /// How many were wanted.
        connections: usize,
    },
    /// Anything else, such as a lack of memory.
    #[error("io_uring: cannot {step}: {source}")]
    Refused {
        /// The step that failed: `set up a ring`.
        step: &'static str,
        /// The kernel's error.
        source: Errno,
    },
}

impl RingError {
    pub(crate) fn from_step(step: &'static str, error: &std::io::Error) -> RingError {
        match errno(error) {
            Errno::NOSYS => RingError::Missing,
            Errno::PERM | Errno::ACCESS => RingError::Forbidden,
            Errno::INVAL => RingError::Old,
            source => RingError::Refused { step, source },
        }
    }
}

/// The io-uring crate's errors are all of the kernel, so they have a number.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_answers_are_told_apart() {
        let from_errno = |errno: Errno| RingError::from_step("set up a ring", &errno.into());
        assert!(matches!(from_errno(Errno::NOSYS), RingError::Missing));
        assert!(matches!(from_errno(Errno::PERM), RingError::Forbidden));
        assert!(matches!(from_errno(Errno::ACCESS), RingError::Forbidden));
        assert!(matches!(from_errno(Errno::INVAL), RingError::Old));
        assert!(matches!(from_errno(Errno::NOMEM), RingError::Refused { step: "set up a ring", .. }));
    }
}
