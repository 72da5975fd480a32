//! The versioned results format of kumite: what a run is, written down.
//!
//! Three layers, each usable without the next: the plain types ([`Run`], [`Trial`], [`Verdict`] …), the SQLite
//! [`Store`] that commits each trial before the next begins, and the [`Export`] document that others may rely on.

mod comparison;
mod export;
mod load;
mod point;
mod run;
mod store;
mod trial;
mod verdict;

pub use comparison::{
    ComparedCommand, ComparedNoise, ComparedPair, ComparedServer, ComparedTime, ComparedUse, Comparison,
    Costs, Duet, Ended, ImportedRatio, Ratio, Remaining, Speed, Thrift,
};
pub use export::{Cell, Estimate, Export, SCHEMA};
pub use load::{Engine, Latency, LoadResult};
pub use point::{AxisValue, Point};
pub use run::{Contender, ContenderStatus, Cores, Machine, Published, PublishedRow, Question, Run, Source};
pub use store::{Store, StoreError};
pub use trial::{Disturbance, Errors, Histogram, Mark, Outcome, Sample, Series, Trial};
pub use verdict::{Claim, EffectKind, Verdict, Warning};
