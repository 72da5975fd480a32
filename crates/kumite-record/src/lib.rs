//! The versioned results format of kumite: a run, written down.
//!
//! Three layers, each usable without the next: the plain types ([`Run`], [`Trial`], [`Verdict`] …), the SQLite
//! [`Store`] that commits each trial before the next begins, and the [`Export`] document that others may rely on.

mod amiss;
mod answers_checked;
mod arrival;
mod baseline;
mod call;
mod check;
mod command_metric;
mod comparison;
mod control;
mod counts;
mod decider;
mod diagnosis;
mod disk;
mod estimate;
mod export;
mod found_rate;
mod gate;
mod id;
mod kind;
mod left_out;
mod load;
mod machine;
mod mark;
mod metric;
mod near;
mod near_tie;
mod node;
mod other_version;
mod outlook;
mod play;
mod point;
mod probe;
mod prospect;
mod ratio;
mod read;
mod redact;
mod remaining;
mod repetition;
mod replication;
mod role;
mod rule;
mod run;
mod same_output;
mod schema;
mod selfcheck;
mod shard;
mod sitting;
mod slo_result;
mod store;
mod stub;
mod tag;
mod trial;
mod unit;
mod verdict;
mod void;
mod warning;
mod word;
mod written;

pub use amiss::{Amiss, Lost};
pub use answers_checked::{AnswersChecked, RequestChecked};
pub use arrival::Arrival;
pub use baseline::{ComparedBaseline, CountsSince, KeptProgram};
pub use call::{Call, Phase, PhaseKind};
pub use check::{Binds, Check, CheckOutcome, RedComparison};
pub use command_metric::{CommandMetric, NoCommandMetric};
pub use comparison::{
    Alone, ComparedCommand, ComparedDoubt, ComparedNoise, ComparedPair, ComparedProbe, ComparedRevision,
    ComparedServer, ComparedTime, ComparedUse, Comparison, ComparisonEnd, Costs, Duet, ImportedRatio,
    JudgedMetric, Outlier, Speed, Thrift,
};
pub use control::{Control, ControlRatio};
pub use counts::{
    CommandCounts, ComparedCounts, CountRatio, CountState, Counting, FunctionCounts, Uncounted,
};
pub use decider::{Bound, Decider, Effect, EffectKind, Op, Side, Sides, Zone};
pub use diagnosis::{Diagnosis, Equipment, Finding, Fitness, NeedFound, NodeFindings};
pub use disk::DiskResult;
pub use estimate::Estimate;
pub use export::{Cell, CellSteadiness, Export};
pub use found_rate::{FoundRate, RateEstimate, RateTrial, RateVerdict, SearchEnd, VoidReason};
pub use gate::{ComparisonGate, GateBar, GateDoubt, GateReason, GateState, PairGate, RunGate};
pub use kind::Kind;
pub use left_out::{ComparedFailures, FailedRuns, FailureVerdict, LeftOut, LeftOutReason, OneFailed};
pub use load::{Engine, IdleConnections, Latency, LoadResult, RequestResult, SessionResult};
pub use machine::{Cores, Machine};
pub use mark::Mark;
pub use metric::Metric;
pub use near::{it_has, meant, near, there_are};
pub use near_tie::{NearTie, NearTies, Remedy, RunPlace};
pub use node::Node;
pub use other_version::{OtherVersion, Part, Versioned};
pub use outlook::{Outlook, OutlookContender, OutlookPoint, OutlookRequest, OutlookSittings};
pub use play::PlayResult;
pub use point::{AxisValue, FileDigests, Labels, Point, TooLong};
pub use probe::Probe;
pub use prospect::{Prospect, Prospects};
pub use ratio::Ratio;
pub use read::{Document, ReadError};
pub use redact::without_secrets;
pub use remaining::Remaining;
pub use replication::{
    ClaimPair, Differing, Intervals, PairOutcome, Replication, RunDifference, RunParts, Untold,
};
pub use role::{NotARole, Role, RoleElsewhere, Roles};
pub use rule::Rule;
pub use run::{
    Contender, ContenderStatus, Digests, Published, PublishedRow, Question, Run, RunRevision, Saved, Service,
    Source, Unavailable, Within, short_commit,
};
pub use same_output::{Votes, judge_outputs, unlike_the_others};
pub use schema::SCHEMA;
pub use selfcheck::{
    CalmProbe, ClockCheck, CpuCheck, DuetCheck, EngineCheck, EngineFigure, FalseVerdicts, NoiseFloor,
    Problem, SameTwice, SelfCheck, SmallestDifference,
};
pub use shard::{Merged, Scope, Shard};
pub use sitting::{NextSitting, SITTINGS_APART, Sitting, SittingEffect, SittingSide, apart};
pub use slo_result::{SloEnd, SloGate, SloResult, SloVerdict};
pub use store::{Named, NotRescued, Store, StoreError, StoredRun};
pub use stub::{Lateness, StubConnections, StubResult};
pub(crate) use tag::describe_tag;
pub use trial::{
    Disturbance, Enough, Errors, Histogram, Job, JobEvent, Needs, Outcome, Sample, Series, Steadiness,
    SteadyClass, Trial, TrialPart, standing,
};
pub use unit::{Better, Unit};
pub use verdict::{AllRounds, Bet, CellName, Claim, Doubt, Foreign, NodeEffect, Reason, Verdict};
pub use void::{Void, VoidCause};
pub use warning::Warning;
pub use word::Word;
pub use written::Written;
