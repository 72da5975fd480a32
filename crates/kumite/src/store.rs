//! The store: where it is, and what runs take from it.

use kumite_host::{cores, machine};
use kumite_record::{NoiseFloor, Store};

/// Where results are kept unless --db names another file.
pub const DEFAULT_DB: &str = ".kumite/results.db";

/// What a run or a comparison is to keep of the latest self-check of this machine.
pub fn noise_floor(store: &Store) -> Option<NoiseFloor> {
    let found = store.latest_selfcheck(&machine(cores())).ok().flatten();
    found.as_ref().map(NoiseFloor::of)
}
