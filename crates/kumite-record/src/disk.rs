//! The document of `kumite disk`: the work of a slow disk, by its own count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Lateness;

/// The work of a slow disk, by its own count: the document that `kumite disk --json` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskResult {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u32,
    /// The command line that repeats the measurement.
    pub command: String,
    /// The folder at which the disk was mounted.
    pub mount_point: String,
    /// The time that each seek took, in microseconds.
    pub delay_us: f64,
    /// The time from mounting to the end, in seconds.
    pub seconds: f64,
    /// The number of times that files were opened.
    pub opens: u64,
    /// The number of requests to read, including those at the end of a file. The kernel divides what a program reads at
    /// once into requests of 1 MiB.
    pub reads: u64,
    /// The number of reads that did not begin where the last read of the same open file ended. Each of them waited for
    /// `delay_us`, or longer behind other seeks. Reads at the end of a file are no seeks.
    pub seeks: u64,
    /// The number of bytes that reads got, including bytes of reads that failed, or were still to be answered when the
    /// disk ended.
    pub bytes: u64,
    /// True if the thread that answers reads had real-time priority, so that other work did not delay it.
    pub real_time: bool,
    /// The lateness of the answers for which a reader waited, in microseconds. `None` if there was no such answer.
    pub late_us: Option<Lateness>,
}
