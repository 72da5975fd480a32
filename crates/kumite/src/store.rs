//! The store: where it is, and what runs take from it.

use std::path::{Path, PathBuf};

use kumite_host::{cores, machine};
use kumite_record::{NoiseFloor, Store};

/// Where a store is within a folder of ours.
const FILE: &str = "results.db";

/// Which results store.
#[derive(clap::Args)]
pub struct Db {
    /// The results store [default: results.db in the nearest .kumite/, here or above, else with the user's data]
    #[arg(long = "db", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Db {
    /// The file that was named, or the one that is used by default.
    pub fn path(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(default_db)
    }
}

/// In the nearest `.kumite/`, here or above; else in `$XDG_DATA_HOME/kumite`, so that nothing is left where one happens to be.
pub fn default_db() -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let above = here.ancestors().map(|folder| folder.join(".kumite")).find(|folder| folder.is_dir());
    if let Some(folder) = above {
        return folder.strip_prefix(&here).map_or(folder.clone(), Path::to_owned).join(FILE);
    }
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = named("XDG_DATA_HOME").or_else(|| Some(named("HOME")?.join(".local/share")));
    data.map_or(PathBuf::from(".kumite"), |data| data.join("kumite")).join(FILE)
}

/// What a run or a comparison is to keep of the latest self-check of this machine.
pub fn noise_floor(store: &Store) -> Option<NoiseFloor> {
    let found = store.latest_selfcheck(&machine(cores())).ok().flatten();
    found.as_ref().map(NoiseFloor::of)
}
