//! The probe of page faults: at the first touch of a page the kernel finds one, clears it and maps it.

use std::io;
use std::time::{Duration, Instant};

use crate::memory::Fresh;

const PAGES: u32 = 256;
const PAGE: usize = 4096;

/// Touches new pages in batches, for `time` and at least once. Returns the mean time of a page in each batch; mapping
/// and unmapping are not counted.
pub(crate) fn touched(time: Duration) -> io::Result<Vec<Duration>> {
    let began = Instant::now();
    let mut took = Vec::new();
    while took.is_empty() || began.elapsed() < time {
        let mut fresh = Fresh::map(PAGES as usize * PAGE)?;
        let first = Instant::now();
        fresh.words().iter_mut().step_by(PAGE / size_of::<u32>()).for_each(|word| *word = 1);
        took.push(first.elapsed() / PAGES);
    }
    Ok(took)
}
