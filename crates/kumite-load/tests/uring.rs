//! What the engine says about servers that are known, over io_uring.

const IO: kumite_load::Io = kumite_load::Io::Uring;

mod truth;
