//! A run before it is begun: who would take part where, how many trials it would have, and what they can decide.

use std::time::Duration;

use crate::{Point, Prospects, Shard, Unavailable};

/// The outlook of a run on this machine, before it is begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// The experiment's name.
    pub experiment: String,
    /// The question that the experiment asks.
    pub question: String,
    /// The profile that was applied.
    pub profile: String,
    /// All contenders, those that are left out included.
    pub contenders: Vec<OutlookContender>,
    /// The requests that servers are sent, if there are several, in the order of the experiment's file; those of
    /// sessions included. Empty if there is one request, which the parameters describe.
    pub requests: Vec<OutlookRequest>,
    /// The points that can be measured.
    pub points: Vec<OutlookPoint>,
    /// The points that this machine cannot measure, with the reasons.
    pub unavailable: Vec<Unavailable>,
    /// The number of trials in a round, which is one block at every point.
    pub trials: usize,
    /// The shortest and the longest time for which contenders are under load in a round, summed over its trials. `None`
    /// if this cannot be known before the run.
    pub time: Option<[Duration; 2]>,
    /// The fewest and the most blocks at each point, in each sitting.
    pub blocks: [u32; 2],
    /// The verdicts that the blocks can lead to.
    pub prospects: Prospects,
    /// The claims that the profile does not judge, by id.
    pub not_judged: Vec<String>,
    /// The checks, by id.
    pub checks: Vec<String>,
    /// The sittings that are to be measured one after the other. None if the run is not one in sittings.
    pub sittings: Option<OutlookSittings>,
    /// The share of the blocks that is executed on this machine. None if all blocks are.
    pub shard: Option<Shard>,
}

/// The sittings of a run that is not begun yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutlookSittings {
    /// The number of sittings.
    pub number: u32,
    /// The time between the end of a sitting and the beginning of the next.
    pub apart: Duration,
}

/// A contender of a run that is not begun yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlookContender {
    /// The contender's name.
    pub name: String,
    /// The contender's concurrency model, in a phrase.
    pub model: String,
    /// The tools that the contender needs, each with the oldest version that will do.
    pub needs: Vec<String>,
    /// The reason why the contender is left out. None if it takes part.
    pub left_out: Option<String>,
}

/// A request of a run that is not begun yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlookRequest {
    /// The request's name.
    pub name: String,
    /// The request's method and path. A part that differs from request to request stands there as a name.
    pub what: String,
    /// The name of the session that the request is in. None for a plain request.
    pub session: Option<String>,
    /// The weight of the request's session, and the sum of the weights of all sessions: of so many sessions as the
    /// second says, as many as the first says are of this kind. A plain request is a session of one.
    pub turns: [u64; 2],
}

/// A point of a run that is not begun yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OutlookPoint {
    /// The values of the point's axes; empty if it is the only point of the run.
    pub point: Point,
    /// The names of the contenders that are tried at the point.
    pub contenders: Vec<String>,
}

impl Outlook {
    /// The largest number of blocks at each point, over all sittings.
    pub fn blocks_in_all(&self) -> u32 {
        self.sittings.map_or(1, |of| of.number).saturating_mul(self.blocks[1])
    }

    /// The names of the contenders that take part, in the experiment's order.
    pub fn taking_part(&self) -> impl Iterator<Item = &str> {
        let here = self.contenders.iter().filter(|contender| contender.left_out.is_none());
        here.map(|contender| contender.name.as_str())
    }
}
