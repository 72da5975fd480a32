//! The engine against servers that are known, over epoll.

use kumite_load::Io;

fn io() -> Option<Io> {
    Some(Io::Epoll)
}

mod truth;
