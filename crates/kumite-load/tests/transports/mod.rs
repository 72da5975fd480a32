//! What moves the bytes in tests.

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use kumite_load::{Error, Io, Limit, Load, Target};

/// io_uring; where the system has none, or forbids it, epoll in its place, and loudly.
pub fn uring() -> Io {
    static FOUND: OnceLock<Io> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let nobody = Target::plain("127.0.0.1:1".parse().unwrap());
        let limit = Limit { requests: Some(1), duration: None };
        let load = Load { io: Io::Uring, ..Load::new(nobody, limit) };
        match load.run(&AtomicBool::new(false), &mut |_| {}) {
            Err(Error::Uring(error)) => {
                eprintln!("NOT TESTED: io_uring ({error}); these tests use epoll in its place");
                Io::Epoll
            }
            _ => Io::Uring,
        }
    })
}
