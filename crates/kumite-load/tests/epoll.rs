//! What the engine says about servers that are known, over epoll.

fn io() -> kumite_load::Io {
    kumite_load::Io::Epoll
}

mod truth;
