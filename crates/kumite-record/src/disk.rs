//! The document of `kumite disk`: what a slow disk did, as it counted it itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Lateness;

/// The life of a slow disk, as it counted it itself: the document that `kumite disk --json` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskResult {
    /// The version of this form.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command that repeats it.
    pub command: String,
    /// The folder at which the disk was mounted.
    pub mount_point: String,
    /// The time that each seek took, in microseconds.
    pub delay_us: f64,
    /// The time from mounting to the end, in seconds.
    pub seconds: f64,
    /// Files that were opened.
    pub opens: u64,
    /// Requests to read, those at the end of a file included. The kernel divides what a program reads at once into
    /// requests of 1 MiB.
    pub reads: u64,
    /// Reads that did not begin where the last read of the same open file ended, and so waited.
    pub seeks: u64,
    /// Bytes of files that were asked for.
    pub bytes: u64,
    /// True if its threads had real-time priority, so that others' work did not delay it.
    pub real_time: bool,
    /// How late the answers were for which a reader waited; none if there were none.
    pub late_us: Option<Lateness>,
}
