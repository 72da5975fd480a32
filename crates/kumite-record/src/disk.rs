//! The document of `kumite disk`: the work of a slow disk, by its own count.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Lateness;

/// The work of a slow disk, by its own count: the document that `kumite disk --json` writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiskResult {
    /// The version of the document's form.
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
    /// The number of times that a file was opened.
    pub opens: u64,
    /// Requests to read, those at the end of a file included. The kernel divides what a program reads at once into
    /// requests of 1 MiB.
    pub reads: u64,
    /// Reads that did not begin where the last read of the same open file ended. Each of them waited for `delay_us`,
    /// or longer behind other seeks. Reads at the end of a file are no seeks.
    pub seeks: u64,
    /// The bytes that reads got, those included that a read was to get and that failed, or were due when the disk
    /// ended.
    pub bytes: u64,
    /// True if the thread that answers reads had real-time priority, so that other work did not delay it.
    pub real_time: bool,
    /// How late the answers came for which a reader waited, in microseconds. None if there was no such answer.
    pub late_us: Option<Lateness>,
}
