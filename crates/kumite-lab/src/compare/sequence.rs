//! Block after block until the verdicts are reached, or what is allowed is spent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kumite_record::{Ended, Ratio};
use kumite_stats::fewest_blocks;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::judge::{Bar, Side, judge};
use crate::execute::Clock;

/// Judged after every block up to here; beyond, whenever there is one per cent more of them, so that judging stays
/// cheap beside the shortest commands.
const EVERY_BLOCK: usize = 200;
/// More than anybody waits for, and what memory allows.
const MOST_BLOCKS: usize = 1_000_000;

/// When it is enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    /// How often a verdict may be wrong, all of them taken together.
    pub alpha: f64,
    /// A ratio from 1 / (1 + margin) to 1 + margin is no difference.
    pub margin: f64,
    /// No verdict before so many blocks.
    pub min_blocks: usize,
    /// No more than these.
    pub max_blocks: Option<usize>,
    /// No block is begun that would end later, once there are `min_blocks`.
    pub budget: Duration,
    /// Of the order within the blocks.
    pub seed: u64,
    /// Which of them is the reference, by position.
    pub reference: usize,
}

impl Rules {
    /// What each pair may be wrong by, and the margin. `of` are compared.
    pub(crate) fn bar(&self, of: usize) -> Bar {
        Bar { alpha: self.alpha / of.saturating_sub(1).max(1) as f64, margin: self.margin.ln_1p() }
    }

    /// The fewest blocks with which a verdict on each of `of` is possible.
    pub fn fewest(&self, of: usize) -> usize {
        fewest_blocks(self.bar(of).alpha).unwrap_or(usize::MAX)
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progressed {
    /// Whole blocks so far.
    pub blocks: usize,
    /// Time since the first began.
    pub elapsed: Duration,
    /// The ratio of the first pair that has no verdict yet.
    pub ratio: Ratio,
}

/// Executes blocks.
pub(crate) trait Blocks {
    type Error;

    /// One block in this order; the value that is judged of each, by position, smaller being better. `None` if it was
    /// stopped.
    fn block(&mut self, order: &[usize], stop: &AtomicBool) -> Result<Option<Vec<f64>>, Self::Error>;
}

/// How it ended, and the time from the beginning of the first block to the end of the last.
pub(crate) fn until_decided<B: Blocks>(
    blocks: &mut B,
    of: usize,
    rules: &Rules,
    clock: &dyn Clock,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progressed),
) -> (Result<Ended, B::Error>, Duration) {
    let bar = rules.bar(of);
    let mut random = ChaCha8Rng::seed_from_u64(rules.seed);
    let mut order: Vec<usize> = (0..of).collect();
    let others: Vec<usize> = (0..of).filter(|other| *other != rules.reference).collect();
    let mut logs = vec![Vec::<f64>::new(); others.len()];
    let least = rules.min_blocks.max(rules.fewest(of));
    let most = rules.max_blocks.unwrap_or(MOST_BLOCKS).min(MOST_BLOCKS);
    let began = clock.now();
    let mut elapsed = Duration::ZERO;
    let mut look_at = least;
    for done in 1..=most {
        order.shuffle(&mut random);
        match blocks.block(&order, stop) {
            Ok(Some(values)) => {
                let reference = values[rules.reference].ln();
                logs.iter_mut()
                    .zip(&others)
                    .for_each(|(logs, other)| logs.push(reference - values[*other].ln()));
            }
            Ok(None) => return (Ok(Ended::Interrupted), elapsed),
            Err(error) => return (Err(error), elapsed),
        }
        elapsed = clock.now().saturating_sub(began);
        if done >= look_at {
            let judged: Vec<_> = logs.iter().map(|logs| judge(logs, bar)).collect();
            let undecided = judged.iter().find(|(side, _)| *side == Side::Unknown);
            let Some((_, ratio)) = undecided else { return (Ok(Ended::Decided), elapsed) };
            watch(Progressed { blocks: done, elapsed, ratio: *ratio });
            look_at = done + if done < EVERY_BLOCK { 1 } else { done / 100 };
        }
        if stop.load(Ordering::Relaxed) {
            return (Ok(Ended::Interrupted), elapsed);
        }
        if done >= rules.min_blocks && elapsed + elapsed / done as u32 > rules.budget {
            return (Ok(Ended::Budget), elapsed);
        }
    }
    (Ok(Ended::MaxRuns), elapsed)
}
