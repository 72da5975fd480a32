//! The load engine's CPU for each request, beside wrk: same server, same cores, turn by turn.
//!
//! Every trial has a fresh server ([`server`], in a process of its own: [`Server`]) on the first CPU and a fresh
//! generator ([`Generator`]) on the last. A generator's CPU time is that of its whole process, start and report
//! included, and is divided by the requests that the *server* has answered.

mod generator;
pub mod server;
mod server_process;
mod table;
mod trial;

pub use generator::Generator;
pub use server_process::{Served, Server};
pub use table::{Cell, faults, table};
pub use trial::Trial;
