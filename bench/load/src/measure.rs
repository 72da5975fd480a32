//! The measurements, each in a file of its own that can run alone.

mod arrivals;
mod closed;
mod count;
mod requests;
mod stall;
mod syscalls;
mod ten_thousand;

use anyhow::Result;
use clap::ValueEnum;

use crate::acceptance::Line;
use crate::{Bench, Effort};

/// A measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Measure {
    /// CPU time and throughput in a closed loop at 1, 10, 50 and 1,000 connections.
    Closed,
    /// The same at 10,000, and memory.
    TenThousand,
    /// Response times beside those of the schedule, when the server stops for a second.
    Stall,
    /// How exactly requests arrive on their schedule.
    Arrivals,
    /// System calls for each request.
    Syscalls,
    /// Answers counted by generator and server.
    Count,
    /// CPU time by what is sent: plain requests, a mix with templates, steps of a session; and by an older kumite.
    Requests,
}

/// The result of a measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Markdown, with its heading.
    pub text: String,
    /// The bounds that it has to keep.
    pub lines: Vec<Line>,
    /// Faults of the bench's own, of kumite or of a floor, not of a peer.
    pub faults: Vec<String>,
}

impl Measure {
    /// The amount that it takes by default; `quick` only shows that all of it works.
    pub fn effort(self, quick: bool) -> Effort {
        let (rounds, peer_rounds, seconds, quick_seconds) = match self {
            Measure::Closed => (10, 3, 2, 1),
            Measure::TenThousand => (10, 1, 3, 2),
            Measure::Stall => (3, 1, 10, 4),
            Measure::Arrivals => (10, 3, 5, 2),
            Measure::Syscalls => (1, 1, 1, 1),
            Measure::Count => (3, 0, 2, 2),
            Measure::Requests => (10, 0, 2, 1),
        };
        match quick {
            true => Effort { rounds: 1, peer_rounds: peer_rounds.min(1), seconds: quick_seconds },
            false => Effort { rounds, peer_rounds, seconds },
        }
    }

    /// Does it.
    pub fn run(self, bench: &Bench, effort: Effort) -> Result<Section> {
        match self {
            Measure::Closed => closed::run(bench, effort),
            Measure::TenThousand => ten_thousand::run(bench, effort),
            Measure::Stall => stall::run(bench, effort),
            Measure::Arrivals => arrivals::run(bench, effort),
            Measure::Syscalls => syscalls::run(bench, effort),
            Measure::Count => count::run(bench, effort),
            Measure::Requests => requests::run(bench, effort),
        }
    }
}

/// How many rounds came to an end of those who are compared.
fn fewest(rounds: impl IntoIterator<Item = usize>) -> u32 {
    rounds.into_iter().min().unwrap_or_default() as u32
}
