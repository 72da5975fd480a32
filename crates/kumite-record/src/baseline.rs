//! A baseline: a command that was measured and kept on an earlier day, and is measured again beside other commands.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CommandCounts, ComparedCounts, Estimate, Machine};

/// A baseline that was used in a comparison. The figures here are those of the day on which it was saved: no verdict on
/// time rests on them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedBaseline {
    /// The name under which the baseline was saved.
    pub name: String,
    /// The beginning of the comparison from which the baseline was saved.
    pub saved: Timestamp,
    /// The machine on which the baseline was saved.
    pub machine: Machine,
    /// The median of the wall times of that day. None if the command had no runs then.
    pub wall_s: Option<Estimate>,
    /// The instruction counts of that day, or the reason why there are none. None if it was saved without `--counts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<CommandCounts>,
    /// The program that was kept. None if a revision was kept in place of a program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<KeptProgram>,
}

/// The instruction counts of commands, compared with the counts that a baseline had on the day on which it was saved.
/// The baseline itself cannot be measured again on this machine, so no times are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CountsSince {
    /// The baseline.
    pub baseline: ComparedBaseline,
    /// The comparison of each command with the baseline, by the command's name. The baseline is `b` of the ratio.
    pub commands: BTreeMap<String, ComparedCounts>,
}

/// The program of a baseline, kept as it was on the day on which it was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptProgram {
    /// The first word of the command, in place of which the kept program is run.
    pub word: String,
    /// The size of the program, in bytes.
    pub bytes: u64,
    /// The BLAKE3 digest of the program, in hexadecimal digits.
    pub digest: String,
    /// The architecture of the machine that the program was kept on, such as `x86_64`.
    pub arch: String,
}
