//! Executes a plan, trial by trial, until its verdicts are in.
//!
//! Each trial is committed to the store before the next one begins, so a run that is killed at any moment loses the
//! trial in flight and nothing else, and can be resumed. What always holds:
//!
//! - Trials run in the plan's order. A trial is left out only if its cell is lost, no undecided claim needs it, or
//!   the store has it already. All of this is known before its block begins.
//! - A block with a void trial is made again as a whole, because a ratio is formed within one block. Void attempts
//!   stay in the store and are not judged.
//! - Early verdicts may end a run only between rounds. Whether a claim is decided is asked of the judge, whose error
//!   bound allows asking after each round.
//! - A failed contender is a result, and the run goes on. Besides early verdicts only `stop`, a time limit, a fault
//!   that all contenders share, and an error of the store end it early.
//!
//! It starts no process and reads no clock itself: an [`Executor`] makes the trials and a [`Clock`] tells the time.
//! Tests replace both, so interleaving, time limits and interruption are tested without waiting.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::Clock;
use kumite_record::{Saved, Store, StoreError, Trial};

use super::common_fault::common_fault;
use super::plan::{Block, Round};
use super::progress::{LOST_AFTER, Progress};
use super::session::Session;
use crate::driver::{Executor, Measured, TrialOrder};
use crate::halt::Halt;

/// The number of times that a void block is repeated. If it is void even then, it has no result.
const MOST_REPETITIONS: u32 = 3;

/// The end of a run's execution.
#[derive(Debug, Default, PartialEq)]
pub struct RunEnded {
    /// The reason why the run ended early: a time limit, `stop`, or a fault common to all contenders. None if it went
    /// to its end, or ended by early verdicts.
    pub cut_short: Option<String>,
    /// The trials and the time that early verdicts saved. None if they saved none, or if the run was cut short.
    pub saved: Option<Saved>,
}

/// An event in the execution of a run, for the caller.
pub enum Event<'a> {
    /// A trial was committed.
    Trial {
        /// The number of trials that have ended so far.
        done: usize,
        /// The number of trials that have ended and of those still expected, together. It may rise and fall during a
        /// run.
        total: usize,
        /// The estimated time of the rest, at the pace so far; at most the rest of the limit.
        left: Duration,
        /// The trial that ended.
        trial: &'a Trial,
    },
    /// The first round is complete. Has all trials so far.
    FirstRound(&'a [Trial]),
    /// A sentence that should be shown at once.
    Note(String),
}

/// Executes the plan until its verdicts are in. Every trial that ended is in the store; a trial that was in flight when
/// `stop` was set is not. An error if the store cannot keep a trial.
pub fn execute(
    session: &Session,
    executor: &mut dyn Executor,
    clock: &dyn Clock,
    store: &mut Store,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Event),
) -> Result<RunEnded, StoreError> {
    let progress = Progress::new(session, clock);
    let saved = Saved::default();
    let mut execution =
        Execution { session, executor, clock, store, stop, watch, progress, saved, announced: false };
    let cut_short = execution.rounds()?;
    let saved = execution.saved;
    Ok(RunEnded { saved: (cut_short.is_none() && saved.trials > 0).then_some(saved), cut_short })
}

/// The part of a run after the present block.
#[derive(Clone, Copy)]
struct Rest<'a> {
    /// The later blocks of the same round.
    blocks: &'a [Block],
    /// The rounds that are still to come.
    later: &'a [Round],
}

impl<'a> Rest<'a> {
    fn iter(self) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().chain(self.later.iter().flat_map(|round| &round.blocks))
    }
}

/// A run while it is executed.
struct Execution<'a> {
    session: &'a Session<'a>,
    executor: &'a mut dyn Executor,
    clock: &'a dyn Clock,
    store: &'a mut Store,
    stop: &'a AtomicBool,
    watch: &'a mut dyn FnMut(Event<'_>),
    progress: Progress<'a>,
    saved: Saved,
    announced: bool,
}

impl Execution<'_> {
    /// Executes the rounds in order. Returns the reason if the run ended early other than by verdicts.
    fn rounds(&mut self) -> Result<Option<String>, StoreError> {
        let mut rounds = &self.session.plan.rounds[..];
        let mut is_first = true;
        while let [round, later @ ..] = rounds {
            if !is_first && self.is_decided_before(rounds) {
                break;
            }
            if let Some(why) = self.round(round, later)? {
                return Ok(Some(why));
            }
            if let Some(why) = common_fault(&self.progress.trials) {
                return Ok(Some(why));
            }
            if is_first {
                (self.watch)(Event::FirstRound(&self.progress.trials));
            }
            (rounds, is_first) = (later, false);
        }
        Ok(None)
    }

    /// Executes the blocks of a round. Returns the reason if the run ended in this round.
    fn round(&mut self, round: &Round, later: &[Round]) -> Result<Option<String>, StoreError> {
        let mut blocks = &round.blocks[..];
        while let [block, rest @ ..] = blocks {
            let rest = Rest { blocks: rest, later };
            self.progress.count_saved([block], &mut self.saved);
            if let Some(why) = self.over_limit(block, rest) {
                return Ok(Some(why));
            }
            if self.block(block, rest)?.is_break() {
                return Ok(Some(format!("it was interrupted after {} trials", self.progress.trials.len())));
            }
            self.compare_outputs();
            self.announce(rest);
            blocks = rest.blocks;
        }
        Ok(None)
    }

    /// True if the run may end before these rounds, which are all that are left: its verdicts are in, it has as many
    /// blocks as it must have, and it is no sitting of a planned length. If true, it notes what is saved; if not, which
    /// cells are still needed.
    fn is_decided_before(&mut self, rounds: &[Round]) -> bool {
        // The length of a sitting (`kumite again`) is planned: no verdict ends it.
        let may_end = self.session.run.sittings.is_empty();
        let is_late = |next: &&Round| next.index >= self.session.run.min_blocks;
        let Some(next) = rounds.first().filter(|next| may_end && is_late(next)) else {
            return false;
        };
        let needed = self.progress.look(next.index);
        self.saved.decided = needed.is_empty();
        if self.saved.decided {
            self.progress.count_saved(rounds.iter().flat_map(|round| &round.blocks), &mut self.saved);
        } else {
            self.progress.needed = Some(needed);
        }
        self.saved.decided
    }

    /// The reason to end the run, if this block would likely end after the time limit. None if it would not, if there
    /// is no limit, or if this execution has made no trial yet.
    fn over_limit(&self, block: &Block, rest: Rest) -> Option<String> {
        let to_try = self.progress.to_try([block], 0);
        let limit = self.session.limit?;
        let fits = self.progress.tried == 0
            || self.progress.spent() + self.progress.expected(&to_try) <= limit.time();
        (!fits).then(|| {
            let tried = self.progress.tried;
            let of = tried + to_try.len() + self.progress.to_try(rest.iter(), 0).len();
            format!("{limit} was spent after {tried} of at most {of} trials")
        })
    }

    /// Executes a block, and repeats it from its beginning while one of its trials is void. Breaks if `stop` is set.
    fn block(&mut self, block: &Block, rest: Rest) -> Result<ControlFlow<()>, StoreError> {
        for attempt in 0..=MOST_REPETITIONS {
            let block = block.attempt(attempt, self.session.run.seed);
            // A resumed run may have a void trial of this attempt already.
            if !self.progress.is_void(&block, attempt) && self.attempt(&block, attempt, rest)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !self.progress.is_void(&block, attempt) {
                self.count_failures(&block, attempt);
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Tries each contender of a block in its order. Ends at the first void trial. Breaks if `stop` is set.
    fn attempt(&mut self, block: &Block, attempt: u32, after: Rest) -> Result<ControlFlow<()>, StoreError> {
        for (place, &contender) in block.order.iter().enumerate() {
            if self.progress.kept(contender, block, attempt).is_some()
                || self.progress.is_lost(contender, block)
                || !self.progress.is_needed(contender, block)
            {
                continue;
            }
            let seq = self.progress.seq;
            let ready = self.session.drawn(contender, seq);
            let order = TrialOrder {
                seq,
                contender: &ready,
                point: &self.session.run.points[block.point],
                at: block.point,
                block: block.index,
            };
            let started = self.clock.timestamp();
            let tried = Halt::if_set(self.stop).and_then(|()| self.executor.trial(&order, self.stop));
            let Ok(measured) = Measured::or_failed(tried) else { return Ok(ControlFlow::Break(())) };
            let trial = self.progress.trial(&order, block, attempt, started, measured);
            self.store.commit(&self.session.run.id, &trial)?;
            let is_void = trial.void.is_some();
            self.progress.tried(contender, block, is_void);
            let rest = match (is_void, attempt < MOST_REPETITIONS) {
                (false, _) => &block.order[place + 1..],
                (true, true) => &block.order[..],
                (true, false) => &[],
            };
            let rest = Block { order: rest.to_vec(), ..*block };
            self.tell(&rest, attempt + u32::from(is_void), after, &trial);
            self.progress.keep(contender, block, trial);
            if is_void {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Reports a committed trial and, if it is void, what becomes of its block. `block` has the trials of the present
    /// block that are left at this attempt; `after` is the rest of the run.
    fn tell(&mut self, block: &Block, attempt: u32, after: Rest, trial: &Trial) {
        let mut left = self.progress.to_try(after.iter(), 0);
        left.extend(self.progress.to_try([block], attempt));
        let done = self.progress.trials.len() + 1;
        let (total, left) = (done + left.len(), self.progress.expected(&left));
        let of_limit = self.session.limit.map(|limit| limit.time().saturating_sub(self.progress.spent()));
        let left = of_limit.map_or(left, |of_limit| of_limit.min(left));
        (self.watch)(Event::Trial { done, total, left, trial });
        if let Some(void) = &trial.void {
            let block = self.session.run.cell(&format!("block {}", trial.block + 1), &trial.point);
            let then = match trial.attempt {
                MOST_REPETITIONS => format!("void in all {} attempts, no result", MOST_REPETITIONS + 1),
                _ => "measured again".to_owned(),
            };
            (self.watch)(Event::Note(format!("{block} is void: {void}; {then}")));
        }
    }

    /// Compares the outputs of contenders, once a block is complete. Reports each cell with a wrong output once.
    fn compare_outputs(&mut self) {
        for trial in self.progress.judge_outputs() {
            let cell = self.session.run.cell(&trial.contender, &trial.point);
            (self.watch)(Event::Note(format!("{cell}: {}", trial.reason.as_deref().unwrap_or_default())));
        }
    }

    /// Counts the failures of an attempt that is not void. Reports cells that failed too often to be tried again
    /// (lost).
    fn count_failures(&mut self, block: &Block, attempt: u32) {
        for trial in self.progress.count_failures(block, attempt) {
            let cell = self.session.run.cell(&trial.contender, &trial.point);
            let why = trial.reason.as_deref().unwrap_or_default();
            (self.watch)(Event::Note(format!(
                "{cell} failed {LOST_AFTER} times in a row and is not tried again: {why}"
            )));
        }
    }

    /// Reports once how long all trials will take, as soon as the real pace is known.
    fn announce(&mut self, rest: Rest) {
        // If the length of a trial is not known in advance, the pace at one point says little about the others.
        let is_known = rest.blocks.is_empty() || self.session.times.iter().all(Option::is_some);
        if !self.announced && self.progress.tried > 0 && is_known {
            self.announced = true;
            (self.watch)(Event::Note(self.progress.announcement(rest.iter())));
        }
    }
}

#[cfg(test)]
mod tests;
