//! What every driver does before its first trial.

use std::path::PathBuf;

use kumite_process::{become_subreaper, pin_thread};

use super::Opening;

/// Makes the folder of logs, and keeps this thread, and those it starts from now on, to the engine's CPUs. Returns that
/// folder, relative to the store's.
pub(super) fn settle(of: &Opening) -> Result<PathBuf, String> {
    let logs = PathBuf::from("logs").join(of.run);
    let here = of.state.join(&logs);
    std::fs::create_dir_all(&here).map_err(|error| format!("cannot make {}: {error}", here.display()))?;
    pin_thread(&of.cores.engine).map_err(|error| error.to_string())?;
    become_subreaper().map_err(|error| error.to_string())?;
    Ok(logs)
}
