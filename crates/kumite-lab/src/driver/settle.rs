//! What every driver does before its first trial.

use std::path::Path;

use kumite_process::{become_subreaper, pin_thread};
use kumite_record::Cores;

/// Makes the folder of logs, and keeps this thread, and those it starts from now on, to the engine's CPUs.
pub(crate) fn settle(logs: &Path, cores: &Cores) -> Result<(), String> {
    std::fs::create_dir_all(logs).map_err(|error| format!("cannot make {}: {error}", logs.display()))?;
    pin_thread(&cores.engine).map_err(|error| error.to_string())?;
    become_subreaper().map_err(|error| error.to_string())
}
