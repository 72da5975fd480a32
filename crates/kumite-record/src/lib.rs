//! The versioned results format of kumite: what a run is, written down.
//!
//! Three layers, each usable without the next: the plain types ([`Run`], [`Trial`], [`Verdict`] …), the SQLite
//! [`Store`] that commits each trial before the next begins, and the [`Export`] document that others may rely on.

mod arrival;
mod call;
mod check;
mod command_metric;
mod comparison;
mod decider;
mod disk;
mod export;
mod found_rate;
mod gate;
mod kind;
mod load;
mod metric;
mod other_version;
mod play;
mod point;
mod role;
mod run;
mod same_output;
mod selfcheck;
mod shard;
mod store;
mod stub;
mod trial;
mod unit;
mod verdict;
mod void;
mod word;

pub use arrival::Arrival;
pub use call::{Call, Phase, PhaseKind};
pub use check::{Binds, Check, CheckOutcome, RedComparison};
pub use command_metric::CommandMetric;
pub use comparison::{
    Alone, ComparedCommand, ComparedNoise, ComparedPair, ComparedServer, ComparedTime, ComparedUse,
    Comparison, ComparisonEnd, Costs, Duet, ImportedRatio, JudgedMetric, Outlier, Ratio, Remaining, Speed,
    Thrift,
};
pub use decider::{Bound, Decider, Effect, EffectKind, Op, Side, Sides, Zone};
pub use disk::DiskResult;
pub use export::{Cell, CellSteadiness, Estimate, Export, SCHEMA};
pub use found_rate::{FoundRate, RateEstimate, RateTrial, RateVerdict, SearchEnd, VoidReason};
pub use gate::{ComparisonGate, GateBar, GateReason, GateState, PairGate, RunGate};
pub use kind::Kind;
pub use load::{Engine, Latency, LoadResult};
pub use metric::Metric;
pub use other_version::{OtherVersion, Part, Versioned};
pub use play::PlayResult;
pub use point::{AxisValue, Point};
pub use role::{Role, RoleElsewhere, Roles};
pub use run::{
    Contender, ContenderStatus, Cores, Digests, Machine, Published, PublishedRow, Question, Run, Saved,
    Service, Source, Unavailable, Within,
};
pub use same_output::{Votes, Written, judge_outputs, unlike_the_others};
pub use selfcheck::{
    ClockCheck, CpuCheck, DuetCheck, EngineCheck, EngineFigure, FalseVerdicts, NoiseFloor, Problem,
    SameTwice, SelfCheck, SmallestDifference,
};
pub use shard::{Merged, Node, Scope, Shard};
pub use store::{Named, Store, StoreError, StoredRun};
pub use stub::{Lateness, StubConnections, StubResult};
pub use trial::{
    Disturbance, Enough, Errors, Histogram, Job, JobEvent, Mark, Needs, Outcome, Sample, Series, Steadiness,
    SteadyClass, Trial, TrialPart, standing,
};
pub use unit::{Better, Unit};
pub(crate) use verdict::describe_tag;
pub use verdict::{Bet, CellName, Claim, Doubt, Foreign, NodeEffect, Reason, Rule, Verdict, Warning};
pub use void::{Void, VoidCause};
pub use word::Word;
