//! The choice among the system interfaces that move the bytes of a load.

/// The system interface that moves the bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Io {
    /// io_uring if the system has it and allows it, otherwise epoll.
    #[default]
    Auto,
    /// epoll, which every Linux has.
    Epoll,
    /// io_uring; an error if it cannot be used.
    Uring,
}

impl std::fmt::Display for Io {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Io::Auto => "auto",
            Io::Epoll => "epoll",
            Io::Uring => "io_uring",
        })
    }
}
