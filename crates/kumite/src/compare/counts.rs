//! The flags for instruction counts, and the tool that counts.

use kumite_cache::user_cache;
use kumite_compare::{Counts, Margin};
use kumite_lab::tool_on_path;

use crate::exit::Failure;

#[derive(clap::Args)]
#[command(next_help_heading = "Instruction counts")]
pub struct CountArgs {
    /// Count instructions, too, once the times are known: under valgrind's callgrind, of all processes and threads but the
    /// shell; 3 runs of each command, 10 if their counts differ by more than 0.01 %. A count is no speed
    #[arg(long)]
    counts: bool,
    /// Counts whose ratio is this near to 1 are the same
    #[arg(
        long,
        value_name = "SHARE",
        default_value = "0.1%",
        requires = "counts",
        allow_hyphen_values = true
    )]
    count_margin: Margin,
}

impl CountArgs {
    pub fn is_given(&self) -> bool {
        self.counts
    }

    /// The way to count; `None` without `--counts`. An error if valgrind is missing, or if the user has no folder for a
    /// cache; it says what to do.
    pub fn counts(&self) -> Result<Option<Counts>, Failure> {
        if !self.counts {
            return Ok(None);
        }
        let valgrind = tool_on_path("--counts needs", "valgrind", "valgrind")
            .map_err(|error| Failure::Usage(kumite_lab::chain(&error)))?;
        let cache = user_cache().ok_or_else(|| {
            Failure::Usage(
                "--counts keeps callgrind's files in the cache: set HOME, or XDG_CACHE_HOME to a folder"
                    .to_owned(),
            )
        })?;
        Ok(Some(Counts {
            valgrind,
            annotate: tool_on_path("--counts needs", "callgrind_annotate", "valgrind").ok(),
            margin: self.count_margin.0,
            folder: cache.join("counts"),
            since: None,
        }))
    }
}
