//! The errors of making a ring.

use rustix::io::Errno;

/// An error of making a ring. After [`Missing`](Self::Missing), [`Forbidden`](Self::Forbidden) and [`Old`](Self::Old)
/// the sockets can still be served by epoll.
#[derive(Debug, thiserror::Error)]
pub enum RingError {
    /// The kernel has no io_uring (`ENOSYS`).
    #[error("this kernel has no io_uring, or a seccomp filter hides it; use epoll")]
    Missing,
    /// The kernel has io_uring, but this process may not use it (`EPERM`, `EACCES`).
    #[error(
        "io_uring is forbidden here, by the sysctl kernel.io_uring_disabled or a container's seccomp filter; use epoll"
    )]
    Forbidden,
    /// The kernel's io_uring lacks an operation or option that the ring needs (`EINVAL`).
    #[error("this kernel's io_uring is too old, Linux 6.1 is needed; use epoll")]
    Old,
    /// The limit of open files does not allow so many sockets (`EMFILE`).
    #[error("no {connections} sockets can be registered: raise the limit of open files (ulimit -n)")]
    Files {
        /// The number of sockets asked for.
        connections: usize,
    },
    /// The kernel refused a step for another reason, such as a lack of memory.
    #[error("io_uring: cannot {step}: {source}")]
    Refused {
        /// The step that failed, as a verb with its object: `set up a ring`.
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

/// The kernel's error number behind an error of the io-uring crate; `EIO` if there is none.
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
