//! The transports that tests use.

use std::sync::atomic::AtomicBool;

use kumite_load::{Error, Io, Limit, Load, Target};
use kumite_testing::{Capability, lacks};

/// io_uring; none where the system has none, or forbids it.
pub fn uring() -> Option<Io> {
    let nobody = Target::plain("127.0.0.1:1".parse().unwrap());
    let limit = Limit { requests: Some(1), duration: None };
    let load = Load { io: Io::Uring, ..Load::new(nobody, limit) };
    match load.run(&AtomicBool::new(false), &mut |_| {}) {
        Err(Error::Uring(error)) => {
            lacks(Capability::IoUring, error);
            None
        }
        _ => Some(Io::Uring),
    }
}
