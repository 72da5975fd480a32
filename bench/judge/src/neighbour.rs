//! A neighbour on every CPU that comes and goes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use kumite_lab::Busy;
use kumite_process::available_cores;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How long it stays, and stays away: about a second.
const MS: std::ops::Range<u64> = 500..1_500;

/// Busy loops that start and stop, on each CPU for itself, until they are ended.
pub struct Neighbour {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Result<()>>>,
}

impl Neighbour {
    /// Begins away.
    pub fn on_every_cpu(seed: u64) -> Neighbour {
        let stop = Arc::new(AtomicBool::new(false));
        let comes_and_goes = |core: usize| {
            let stop = Arc::clone(&stop);
            thread::spawn(move || {
                let mut random = ChaCha8Rng::seed_from_u64(seed ^ (core as u64) << 32);
                let mut a_while = move || thread::sleep(Duration::from_millis(random.random_range(MS)));
                while !stop.load(Ordering::Relaxed) {
                    a_while();
                    let _busy = Busy::on(&[core])?;
                    a_while();
                }
                Ok(())
            })
        };
        let threads = available_cores().into_iter().map(comes_and_goes).collect();
        Neighbour { stop, threads }
    }

    /// Makes sure that it was there all the while.
    pub fn end(self) -> Result<()> {
        ensure!(!self.threads.is_empty(), "there is no CPU to be busy on");
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads {
            let ended = thread.join().ok().context("a neighbour ended in a panic")?;
            ended.context("the neighbour")?;
        }
        Ok(())
    }
}
