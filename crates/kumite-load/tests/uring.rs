//! The engine against servers that are known, over io_uring.

use transports::uring as io;

mod transports;
mod truth;
