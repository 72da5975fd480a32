//! The generators that people use, each in a file of its own: how it is asked, fairly, and how its output is read.
//!
//! All run pinned to one CPU, from which runtimes take how many threads to start.

mod ab;
mod bombardier;
mod h2load;
mod hey;
mod k6;
mod oha;
mod text;
mod vegeta;
mod wrk;
mod wrk2;

use crate::{Generator, Load, Said};

pub use wrk::WRK;

/// A program that may be installed.
pub struct Peer {
    /// Its name on PATH.
    pub program: &'static str,
    /// A shell command whose first line has its version.
    pub version: &'static str,
    /// How to get it.
    pub install: &'static str,
    /// The ways in which it is compared.
    pub ways: Vec<Generator>,
}

/// All that this bench knows.
pub fn peers() -> Vec<Peer> {
    vec![
        wrk::peer(),
        wrk2::peer(),
        ab::peer(),
        oha::peer(),
        hey::peer(),
        h2load::peer(),
        bombardier::peer(),
        k6::peer(),
        vegeta::peer(),
    ]
}

fn way(
    name: &'static str,
    program: &str,
    command: fn(&Load) -> Option<String>,
    said: fn(&str) -> Option<Said>,
) -> Generator {
    Generator { name, program: program.to_owned(), command: Box::new(command), said, peer: true }
}
