//! A run before it is begun: who would take part where, how many trials it would have, and what they can decide.

use std::time::Duration;

use crate::{Point, Prospects, Shard, Unavailable};

/// The outlook of a run on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The experiment's name.
    pub experiment: String,
    /// The question that it asks.
    pub question: String,
    /// The profile that was applied.
    pub profile: String,
    /// All contenders, those that are left out included.
    pub contenders: Vec<OutlookContender>,
    /// The points that can be measured.
    pub points: Vec<OutlookPoint>,
    /// The others.
    pub unavailable: Vec<Unavailable>,
    /// Trials in a block, over all points.
    pub trials: usize,
    /// The least and the most time that a block is under load, over all points; none if only trying it tells.
    pub time: Option<[Duration; 2]>,
    /// The fewest and the most blocks at each point, in each sitting.
    pub blocks: [u32; 2],
    /// The verdicts that the blocks can lead to.
    pub prospects: Prospects,
    /// The claims that the profile does not judge, by id.
    pub not_judged: Vec<String>,
    /// The checks, by id.
    pub checks: Vec<String>,
    /// The sittings that are measured one after the other; none if it is no run in sittings.
    pub sittings: Option<OutlookSittings>,
    /// The share of the blocks that is executed here; none if it is all of them.
    pub shard: Option<Shard>,
}

/// The sittings of a run that is not begun yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlookSittings {
    /// How many there are.
    pub number: u32,
    /// The time between the end of one and the beginning of the next.
    pub apart: Duration,
}

/// A contender of a run that is not begun yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlookContender {
    /// Its name.
    pub name: String,
    /// Its concurrency model, in a phrase.
    pub model: String,
    /// The tools that it needs.
    pub needs: Vec<String>,
    /// The reason why it is left out; none if it takes part.
    pub left_out: Option<String>,
}

/// A point of a run that is not begun yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlookPoint {
    /// The values of its axes; none where it is the only point.
    pub point: Point,
    /// The contenders that are tried there, by name.
    pub contenders: Vec<String>,
}

impl Outlook {
    /// The most blocks of all sittings together.
    pub fn blocks_in_all(&self) -> u32 {
        self.sittings.map_or(1, |of| of.number).saturating_mul(self.blocks[1])
    }

    /// The names of those that take part, in the experiment's order.
    pub fn taking_part(&self) -> impl Iterator<Item = &str> {
        let here = self.contenders.iter().filter(|contender| contender.left_out.is_none());
        here.map(|contender| contender.name.as_str())
    }
}
