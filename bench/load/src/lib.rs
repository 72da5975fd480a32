//! The load engine beside its peers: same server, same cores, turn by turn.
//!
//! Every trial has a fresh server ([`server`], in a process of its own: [`Server`]) on the first CPU and a fresh
//! generator ([`Generator`]) on the last. A generator's CPU time is that of its whole process, start and report
//! included, and is divided by the requests that the *server* has answered.
//!
//! A generator knows how to be asked and how to be read, a [`Measure`] what to ask of all of them, a [`Bench`] in which
//! order. Whether what is asked of the engine is met is computed of what was measured ([`Line`]).

mod acceptance;
mod bench;
mod cells;
mod floor;
mod generator;
mod grid;
mod kumite;
mod measure;
mod peers;
mod percentiles;
mod schedule;
pub mod server;
mod server_process;
mod trial;

pub use acceptance::{ENOUGH, Limit, Line, list};
pub use bench::{Bench, Effort, Point};
pub use cells::{Cells, spread};
pub use floor::generators as floors;
pub use generator::{Command, Generator, Load, Said, Shape};
pub use grid::Grid;
pub use kumite::generators as kumites;
pub use measure::{Measure, Section};
pub use peers::{Peer, peers};
pub use percentiles::Percentiles;
pub use schedule::Stop;
pub use server_process::{Served, Server};
pub use trial::{STALL, Trial};
